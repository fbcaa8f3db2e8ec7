"""Who computes what: a worker claims a run or a chunk by one conditional UPDATE and holds it by a lease."""

import uuid
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Literal

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone

from apps.analyses import wake
from apps.analyses.models import AnalysisRun, RunChunk

State = AnalysisRun.State
Verdict = Literal["go on", "cancelled", "lost"]
CLAIM_LOCK: Final = 5_194_301  # any number that nothing else in the database uses for an advisory lock


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """One attempt at a run or at a chunk of it. Every write goes through `mine`, so a late attempt writes nothing."""

    run_id: uuid.UUID
    client_id: uuid.UUID
    kind: str
    attempt: int
    chunk_id: uuid.UUID | None = None
    index: int = 0

    def mine(self) -> QuerySet[Any]:
        """The claimed row as long as this attempt holds it; no row as soon as it does not."""
        rows: QuerySet[Any] = (
            runs().filter(pk=self.run_id) if self.chunk_id is None else chunks().filter(pk=self.chunk_id)
        )
        return rows.filter(attempt=self.attempt, state=State.RUNNING)

    def beat(self, *, stage: str, done: int, total: int) -> Verdict:
        """Extend the lease and write the progress, and return whether to go on."""
        now = timezone.now()
        values: dict[str, Any] = {"lease_until": now + lease(), "heartbeat_at": now, "progress_done": done}
        if self.chunk_id is None:
            values |= {"stage": stage, "progress_total": total}
        if not self.mine().update(**values):
            return "lost"
        run = runs().filter(pk=self.run_id, state=State.RUNNING)
        if self.chunk_id is not None:
            sums = chunks().filter(run_id=self.run_id).aggregate(done=Sum("progress_done"))
            run.update(progress_done=sums["done"] or 0, stage=stage, heartbeat_at=now)
        cancel = run.values_list("cancel_requested", flat=True).first()
        return "go on" if cancel is False else "cancelled"


def runs() -> QuerySet[AnalysisRun]:
    return AnalysisRun.objects.system("queue")


def chunks() -> QuerySet[RunChunk]:
    return RunChunk.objects.system("queue")


def lease() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_S)


def held(now: datetime) -> Q:
    """Rows that a worker holds."""
    return Q(state=State.RUNNING, lease_until__gte=now)


def free(now: datetime) -> Q:
    """Rows that a worker may take: queued, or taken by one that has not been heard of since its lease ended."""
    return Q(state=State.QUEUED) | Q(state=State.RUNNING, lease_until__lt=now)


def claim_run(run_id: uuid.UUID, *, worker: str) -> Claimed | None:
    """Take the run, or what is fairer to take first; None if there is nothing to do for this message."""
    with transaction.atomic():
        _one_claim_at_a_time()
        run = runs().filter(free(timezone.now()), pk=run_id).first()
        if run is None:
            return None
        fairer = _claim_fairer(run.client_id, worker=worker)
        if fairer is not None:  # this run's message was used up for another client's
            transaction.on_commit(partial(wake.wake_for_run, run_id), robust=True)
            return fairer
        return _take(run, worker=worker)


def claim_chunk(chunk_id: uuid.UUID, *, worker: str) -> Claimed | None:
    """Take the chunk, or what is fairer to take first; None if there is nothing to do for this message."""
    with transaction.atomic():
        _one_claim_at_a_time()
        waiting = chunks().filter(free(timezone.now()), pk=chunk_id, run__state=State.RUNNING)
        chunk = waiting.select_related("run").first()
        if chunk is None:
            return None
        fairer = _claim_fairer(chunk.client_id, worker=worker)
        if fairer is not None:
            transaction.on_commit(partial(wake.wake_for_chunk, chunk_id), robust=True)
            return fairer
        return _take_chunk(chunk, worker=worker)


def _one_claim_at_a_time() -> None:
    """Let claims wait for each other until the caller's transaction ends: each has to see what the others hold.

    Otherwise two workers that become free together both find that a client holds nothing, and both serve it. On SQLite
    a transaction holds the write lock from its start.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])


def running_runs(client_id: uuid.UUID, now: datetime) -> QuerySet[AnalysisRun]:
    """Runs that count against the client's limit: held by a worker, or split and under way."""
    return runs().filter(held(now) | Q(state=State.RUNNING, n_chunks__gt=0), client_id=client_id)


def _take(run: AnalysisRun, *, worker: str) -> Claimed | None:
    """Claim the run, inside the caller's transaction. A split run is started, and its first chunk claimed."""
    now = timezone.now()
    row = runs().filter(pk=run.pk)
    if running_runs(run.client_id, now).exclude(pk=run.pk).count() >= settings.RUNS_RUNNING_PER_CLIENT:
        row.filter(state=State.QUEUED).update(message_sent_at=None)  # the end of one of the others sends the next
        return None
    if run.n_chunks:
        return _take_first_chunk(run.pk, worker=worker) if _start_split(run, now) else None
    free_row = row.filter(free(now), attempt__lt=settings.RUN_MAX_ATTEMPTS, cancel_requested=False)
    attempt = _claim_row(free_row, row, worker=worker, now=now, heartbeat_at=now, started_at=now, stage="")
    if attempt is None:
        return None
    return Claimed(run_id=run.pk, client_id=run.client_id, kind=run.kind, attempt=attempt)


def _claim_row(free_row: QuerySet[Any], row: QuerySet[Any], *, worker: str, now: datetime, **values: Any) -> int | None:
    """The one UPDATE that decides; returns the number of the attempt, or None if somebody else was first."""
    taken = free_row.update(
        state=State.RUNNING, attempt=F("attempt") + 1, worker=worker[:120], lease_until=now + lease(), **values
    )
    return int(row.values_list("attempt", flat=True).get()) if taken else None


def _start_split(run: AnalysisRun, now: datetime) -> bool:
    """Queued to running, without a holder: its chunks are what workers hold."""
    started = runs().filter(pk=run.pk, state=State.QUEUED, cancel_requested=False)
    if not started.update(state=State.RUNNING, attempt=1, started_at=now, lease_until=None):
        return False
    first = chunks().filter(run=run, state=State.QUEUED).order_by("index")[: wake.CHUNKS_IN_FLIGHT]
    ids = list(first.values_list("pk", flat=True))
    chunks().filter(pk__in=ids).update(message_sent_at=now)
    for chunk_id in ids[1:]:  # the first is ours
        transaction.on_commit(partial(wake.wake_for_chunk, chunk_id), robust=True)
    return True


def _take_first_chunk(run_id: uuid.UUID, *, worker: str) -> Claimed | None:
    chunk = chunks().filter(run_id=run_id, state=State.QUEUED).select_related("run").order_by("index").first()
    return _take_chunk(chunk, worker=worker) if chunk else None


def _take_chunk(chunk: RunChunk, *, worker: str) -> Claimed | None:
    now = timezone.now()
    row = chunks().filter(pk=chunk.pk)
    # No join here: PostgreSQL checks the conditions again on a row it waited for, but not those of a subquery.
    free_row = row.filter(
        free(now), attempt__lt=settings.RUN_MAX_ATTEMPTS, run_id__in=runs().filter(state=State.RUNNING).values("pk")
    )
    attempt = _claim_row(free_row, row, worker=worker, now=now, heartbeat_at=now)
    if attempt is None:
        return None
    return Claimed(
        run_id=chunk.run_id,
        client_id=chunk.client_id,
        kind=chunk.run.kind,
        attempt=attempt,
        chunk_id=chunk.pk,
        index=chunk.index,
    )


def _claim_fairer(client_id: uuid.UUID, *, worker: str) -> Claimed | None:
    """Claim the oldest waiting work of a client that holds fewer slots than this one, if there is any."""
    now = timezone.now()
    slots = Counter[uuid.UUID]()
    for rows in (runs(), chunks()):
        for owner, n in rows.filter(held(now)).order_by().values_list("client_id").annotate(n=Count("pk")):
            slots[owner] += n
    if not slots[client_id]:
        return None
    richer = [owner for owner, n in slots.items() if n >= slots[client_id]]
    waiting_runs = runs().filter(state=State.QUEUED).exclude(client_id__in=richer).order_by("created_at")
    for run in waiting_runs[:5]:
        claimed = _take(run, worker=worker)
        if claimed is not None:
            return claimed
    waiting = chunks().filter(state=State.QUEUED, run__state=State.RUNNING).exclude(client_id__in=richer)
    for chunk in waiting.select_related("run").order_by("created_at", "index")[:5]:
        claimed = _take_chunk(chunk, worker=worker)
        if claimed is not None:
            return claimed
    return None
