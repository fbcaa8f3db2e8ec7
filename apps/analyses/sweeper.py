"""The periodic sweep: whatever a lost message or a lost worker has left behind goes on or ends with a reason.

Every step is a compare-and-set, so any number of schedulers may sweep at the same moment.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from celery.beat import ScheduleEntry, Scheduler
from django.conf import settings
from django.db import close_old_connections, transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.accounts import outbox
from apps.analyses import chunks as split
from apps.analyses import ends, queue_files, wake
from apps.analyses.claims import chunks, running_runs, runs
from apps.analyses.models import AnalysisRun, SweepBeat

log = structlog.get_logger(__name__)
State = AnalysisRun.State
BEAT_NAME: Final = "sweep"
BATCH: Final = 50


def sweep() -> dict[str, int]:
    """Go over the whole queue once and return what was done, by name. One failing step does not stop the others."""
    steps: dict[str, Callable[[], int]] = {
        "runs_ended": end_abandoned_runs,
        "split_runs_ended": end_abandoned_chunks,
        "split_runs_merged": merge_complete,
        "runs_resent": resend_runs,
        "chunks_resent": resend_chunks,
        "outbox_sent": outbox.deliver_due,
        "messages_removed": queue_files.remove_stale,
    }
    done: dict[str, int] = {}
    for name, step in steps.items():
        try:
            done[name] = step()
        except Exception:
            log.exception("sweep.failed", step=name)
            close_old_connections()
    SweepBeat.objects.update_or_create(name=BEAT_NAME, defaults={"at": timezone.now()})
    if any(done.values()):
        log.info("sweep.done", **{name: n for name, n in done.items() if n})
    return done


def last_sweep() -> datetime | None:
    """When any scheduler last finished a sweep; None before the first."""
    return SweepBeat.objects.filter(name=BEAT_NAME).values_list("at", flat=True).first()


def _lapsed(now: datetime) -> Q:
    return Q(state=State.RUNNING, lease_until__lt=now)


def _over_hard_limit(now: datetime) -> Q:
    """The worker's parent has killed the process for its time: there is no point in another attempt."""
    return Q(started_at__lt=now - timedelta(seconds=settings.CELERY_TASK_TIME_LIMIT)) & Q(
        heartbeat_at__gte=F("started_at") + timedelta(seconds=settings.CELERY_TASK_SOFT_TIME_LIMIT)
    )


def end_abandoned_runs() -> int:
    """Runs whose holder is gone and that must not be tried again: cancelled, over their time, or lost too often."""
    now = timezone.now()
    lapsed = runs().filter(_lapsed(now), n_chunks=0)
    ended = 0
    for rows, state, error in (
        (lapsed.filter(cancel_requested=True), State.CANCELLED, ""),
        (lapsed.filter(_over_hard_limit(now)), State.FAILED, ends.time_limit_text()),
        (lapsed.filter(attempt__gte=settings.RUN_MAX_ATTEMPTS), State.FAILED, ends.lost_text()),
    ):
        for run in rows[:BATCH]:
            with transaction.atomic():
                row = runs().filter(_lapsed(now), pk=run.pk, attempt=run.attempt)
                ended += ends.end_run(run.pk, row, state, error=error)
            wake.wake_next_of_client(run.client_id)
    return ended


def end_abandoned_chunks() -> int:
    """Split runs one of whose chunks was lost too often, and those somebody has cancelled."""
    now = timezone.now()
    ended = 0
    lost = chunks().filter(_lapsed(now), attempt__gte=settings.RUN_MAX_ATTEMPTS)
    for chunk in lost[:BATCH]:
        with transaction.atomic():
            row = chunks().filter(_lapsed(now), pk=chunk.pk, attempt=chunk.attempt)
            if row.update(state=State.FAILED, error=ends.lost_text(), lease_until=None):
                ended += split.fail_run(chunk.run_id, ends.lost_text())
    over = runs().exclude(state__in=[State.QUEUED, State.RUNNING]).values("pk")
    chunks().filter(_lapsed(now), run_id__in=over).update(state=State.CANCELLED, lease_until=None)
    return ended


def merge_complete() -> int:
    """Split runs whose last worker died between its chunk and the merge."""
    waiting = runs().filter(state=State.RUNNING, n_chunks__gt=0, cancel_requested=False)
    return sum(split.merge_if_complete(pk) for pk in waiting.values_list("pk", flat=True)[:BATCH])


def resend_runs() -> int:
    """Wake a worker for runs whose message is lost: those whose lease lapsed, and those next in line of each client."""
    now = timezone.now()
    lapsed = runs().filter(_lapsed(now), n_chunks=0, attempt__lt=settings.RUN_MAX_ATTEMPTS).filter(wake.unheard())
    sent = 0
    for run in [*lapsed[:BATCH], *_next_in_line(now)]:
        if not wake.resend_for_run(run.pk, seen=run.message_sent_at):
            break  # the broker is away, or another scheduler is at it
        sent += 1
    return sent


def _next_in_line(now: datetime) -> Iterator[AnalysisRun]:
    """Queued runs that their client's limit would let start, oldest first, if their message is old or gone."""
    by_client: dict[Any, list[AnalysisRun]] = defaultdict(list)
    for run in (
        runs().filter(state=State.QUEUED).defer("inputs_json", "results_json").order_by("created_at")[: BATCH * 20]
    ):
        by_client[run.client_id].append(run)
    resend_before = now - timedelta(seconds=settings.RUN_RESEND_AFTER_S)
    for client_id, queued in by_client.items():
        places = settings.RUNS_RUNNING_PER_CLIENT - running_runs(client_id, now).count()
        for run in queued[: max(places, 0)]:
            if run.message_sent_at is None or run.message_sent_at < resend_before:
                yield run


def resend_chunks() -> int:
    """Wake workers for chunks whose message or worker is lost, up to the messages a split run may have in flight."""
    now = timezone.now()
    sent = 0
    for run_id in runs().filter(state=State.RUNNING, n_chunks__gt=0).values_list("pk", flat=True)[:BATCH]:
        of_run = chunks().filter(run_id=run_id)
        heard = of_run.filter(state=State.QUEUED).exclude(wake.unheard()).count()
        waiting = of_run.filter(Q(state=State.QUEUED) | _lapsed(now)).filter(wake.unheard()).order_by("index")
        for chunk in waiting[: max(wake.CHUNKS_IN_FLIGHT - heard, 0)]:
            if not wake.resend_for_chunk(chunk.pk, seen=chunk.message_sent_at):
                return sent
            sent += 1
    return sent


class SweepScheduler(Scheduler):
    """Celery's beat, but its entries run here instead of waiting in the queue behind the runs they look after."""

    producer = None  # beat would wait for the broker; the sweep has to go on without one

    def apply_async(self, entry: ScheduleEntry, producer: Any = None, advance: bool = True, **_: Any) -> None:
        if advance:
            self.reserve(entry)
        close_old_connections()
        try:
            self.app.tasks[entry.task].run(*(entry.args or ()))
        finally:
            close_old_connections()
