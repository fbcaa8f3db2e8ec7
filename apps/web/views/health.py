"""Whether this installation is alive and whether it is ready, for supervisors and load balancers; no sign-in."""

import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path

import structlog
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.analyses.models import SweepBeat

log = structlog.get_logger(__name__)

SWEEP_SEEN_WITHIN = timedelta(seconds=60)


class NotReadyError(Exception):
    """One part of the installation does not work; the text is fit for anybody to read."""


@never_cache
@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """This process answers; nothing else is looked at."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Every part that a user needs works: 200 with `ok` or `degraded`, else 503 with the part that fails."""
    parts: dict[str, str] = {}
    for name, check in REQUIRED.items():
        try:
            check()
            parts[name] = "ok"
        except (NotReadyError, DatabaseError, OSError) as error:
            log.warning("not ready", part=name, reason=type(error).__name__)
            parts[name] = str(error) if isinstance(error, NotReadyError) else "failed"
    broken = any(state != "ok" for state in parts.values())
    parts["redis"] = _redis()
    status = "failed" if broken else ("degraded" if parts["redis"] == "away" else "ok")
    return JsonResponse({"status": status, "parts": parts}, status=503 if broken else 200)


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()


def _migrations() -> None:
    _refuse_open_migrations()


@cache  # applied migrations stay applied while a process lives; a failure is not remembered
def _refuse_open_migrations() -> None:
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise NotReadyError("migrations have not been applied")


def _storage() -> None:
    folder = Path(default_storage.path(""))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"ready")


def _sweep() -> None:
    newest = SweepBeat.objects.order_by("-at").first()
    if newest is None:
        raise NotReadyError("the sweep has not run yet")
    age = timezone.now() - newest.at
    if age > SWEEP_SEEN_WITHIN:
        raise NotReadyError(f"the sweep last ran {age.total_seconds():.0f} s ago")


def _redis() -> str:
    """`ok`, `away`, or `not used`; the product works, slower, without it."""
    if not settings.REDIS_URL:
        return "not used"
    import redis

    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1)
    try:
        client.ping()
    except (redis.RedisError, OSError):
        return "away"
    finally:
        client.close()
    return "ok"


REQUIRED: dict[str, Callable[[], None]] = {
    "database": _database,
    "migrations": _migrations,
    "storage": _storage,
    "sweep": _sweep,
}
