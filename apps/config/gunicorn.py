"""How gunicorn serves Spinecut: `gunicorn -c python:apps.config.gunicorn apps.config.wsgi`."""

import json
import os
from datetime import datetime, timedelta
from typing import Any

from gunicorn.glogging import Logger

from apps.config.env import env_int, env_str
from apps.config.logging import without_tokens


class JsonAccessLogger(Logger):  # type: ignore[misc, unused-ignore]
    """One JSON object per answered request, without query strings, bodies, cookies and tokens."""

    def access(self, resp: Any, req: Any, environ: dict[str, Any], request_time: timedelta) -> None:
        if not self.cfg.accesslog:
            return
        headers = {str(name).lower(): value for name, value in resp.headers}
        line = {
            "event": "request",
            "timestamp": datetime.now().astimezone().isoformat(),
            "method": environ.get("REQUEST_METHOD"),
            "path": without_tokens(str(environ.get("PATH_INFO"))),
            "status": int(str(resp.status).split()[0]),
            "bytes": getattr(resp, "sent", None),
            "milliseconds": round(request_time.total_seconds() * 1000, 1),
            "request_id": headers.get("x-request-id"),
            "process": os.getpid(),
        }
        self.access_log.info(json.dumps(line, ensure_ascii=True))


bind = env_str("WEB_BIND", "127.0.0.1:8000")
workers = env_int("WEB_WORKERS", 2)
threads = env_int("WEB_THREADS", 4)
worker_class = "gthread"
timeout = 60  # s without a sign of life before a worker is replaced
graceful_timeout = 25  # s for requests in flight when the server stops; the supervisor waits 30
keepalive = 5
max_requests = 0  # memory does not grow with requests, so nothing is restarted by count
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - heartbeats must not wait for a disk
accesslog = env_str("WEB_ACCESS_LOG", "-")
access_log_format = "%(message)s"
errorlog = "-"
loglevel = "warning"
logger_class = JsonAccessLogger
control_socket_disable = True
forwarded_allow_ips = env_str("WEB_TRUSTED_PROXIES", "127.0.0.1,::1")
logconfig_dict: dict[str, Any] = {}
