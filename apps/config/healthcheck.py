"""Ask the web process of this container whether it is alive: `python -m apps.config.healthcheck [live|ready]`."""

import os
import sys
import urllib.error
import urllib.request


def main(kind: str) -> int:
    port = os.environ.get("WEB_BIND", "127.0.0.1:8000").rsplit(":", 1)[1]
    host = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].lstrip(".")
    request = urllib.request.Request(f"http://127.0.0.1:{port}/health/{kind}", headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=4) as answer:  # noqa: S310 - a fixed address of this machine
            return 0 if answer.status == 200 else 1
    except (urllib.error.URLError, OSError):
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "live"))
