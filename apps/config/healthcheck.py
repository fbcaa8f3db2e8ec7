"""Health checks of the containers: `python -m apps.config.healthcheck live|ready|scheduler`; exit code 0 is healthy."""

import os
import sys
import urllib.error
import urllib.request

SWEEP_SEEN_WITHIN_S = 60


def main(kind: str) -> int:
    return scheduler() if kind == "scheduler" else web(kind)


def scheduler() -> int:
    """Whether the database holds a sweep of the last minute."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    import django
    from django.db import DatabaseError
    from django.utils import timezone

    django.setup()
    from apps.analyses.models import SweepBeat

    try:
        newest = SweepBeat.objects.order_by("-at").first()
    except DatabaseError:
        return 1
    if newest is None or (timezone.now() - newest.at).total_seconds() > SWEEP_SEEN_WITHIN_S:
        return 1
    return 0


def web(kind: str) -> int:
    """Whether the web process of this container answers 200."""
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
