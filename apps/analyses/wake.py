"""Messages that wake a worker. Each holds the id of a row and nothing else; losing or doubling one is harmless."""

import uuid
from datetime import datetime, timedelta

import structlog
from celery import current_app
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from apps.analyses.models import AnalysisRun, RunChunk

log = structlog.get_logger(__name__)

EXECUTE_RUN = "apps.analyses.tasks.execute_run"
EXECUTE_CHUNK = "apps.analyses.tasks.execute_chunk"
CHUNKS_IN_FLIGHT = 16  # messages of one split run; more would only pile up in front of other clients' runs
EXPIRES_S = 60  # the sweep sends a fresh message long before; old ones would only pile up behind a long run


def wake_for_run(run_id: uuid.UUID) -> bool:
    """Send the wake-up of a run. False if the broker did not take it: the sweep will try again."""
    if _send(EXECUTE_RUN, run_id):
        return True
    AnalysisRun.objects.system("queue").filter(pk=run_id).update(message_sent_at=None)
    return False


def wake_for_chunk(chunk_id: uuid.UUID) -> bool:
    """Send the wake-up of a chunk. False if the broker did not take it: the sweep will try again."""
    if _send(EXECUTE_CHUNK, chunk_id):
        return True
    RunChunk.objects.system("queue").filter(pk=chunk_id).update(message_sent_at=None)
    return False


def resend_for_run(run_id: uuid.UUID, *, seen: datetime | None) -> bool:
    """Send again, once, however many processes saw that the last message is of `seen`."""
    rows = AnalysisRun.objects.system("queue").filter(pk=run_id, message_sent_at=seen)
    return bool(rows.update(message_sent_at=timezone.now())) and wake_for_run(run_id)


def resend_for_chunk(chunk_id: uuid.UUID, *, seen: datetime | None) -> bool:
    """Send again, once, however many processes saw that the last message is of `seen`."""
    rows = RunChunk.objects.system("queue").filter(pk=chunk_id, message_sent_at=seen)
    return bool(rows.update(message_sent_at=timezone.now())) and wake_for_chunk(chunk_id)


def unheard() -> Q:
    """Rows whose last message is gone, or so old that it is taken for lost."""
    return Q(message_sent_at__isnull=True) | Q(
        message_sent_at__lt=timezone.now() - timedelta(seconds=settings.RUN_RESEND_AFTER_S)
    )


def wake_next_of_client(client_id: uuid.UUID) -> None:
    """A run of the client has ended: the oldest one that was held back by the client's limit may start."""
    queued = AnalysisRun.objects.system("queue").filter(client_id=client_id, state=AnalysisRun.State.QUEUED)
    waiting = queued.filter(unheard()).order_by("created_at").values_list("pk", "message_sent_at").first()
    if waiting is not None:
        resend_for_run(waiting[0], seen=waiting[1])


def wake_next_chunk(run_id: uuid.UUID) -> None:
    """A chunk of the run has ended: one more of those without a message gets its own."""
    queued = RunChunk.objects.system("queue").filter(run_id=run_id, state=AnalysisRun.State.QUEUED)
    waiting = queued.filter(message_sent_at=None).order_by("index").values_list("pk", flat=True).first()
    if waiting is not None:
        resend_for_chunk(waiting, seen=None)


def _send(task: str, row_id: uuid.UUID) -> bool:
    try:
        current_app.send_task(task, args=[str(row_id)], expires=EXPIRES_S, retry=False, ignore_result=True)
    except Exception as error:  # each transport raises its own; none of them may break the request
        log.warning("wake.failed", task=task, row=str(row_id), error=f"{type(error).__name__}: {error}")
        return False
    return True
