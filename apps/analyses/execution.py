"""The work of one wake-up: claim, compute outside any transaction, and write the one end of the attempt."""

import json
import time
import traceback
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, connection, transaction

from apps.analyses import chunks, ends, registry, wake
from apps.analyses.canonical import canonical_json, results_sha256
from apps.analyses.claims import Claimed, claim_chunk, claim_run, runs
from apps.analyses.keeper import Keeper, Reason, Stopped
from apps.analyses.models import AnalysisRun
from apps.engine.errors import EngineError

log = structlog.get_logger(__name__)
State = AnalysisRun.State
T = TypeVar("T")

DATABASE_TRIES = 6  # with waits of 0.5, 1, 2, 4 and 8 s: a restart of PostgreSQL takes less


def execute_run(run_id: uuid.UUID | str, *, worker: str = "") -> bool:
    """Compute the run, or what is fairer to compute first. False if there was nothing to claim."""
    return _execute(claim_run(uuid.UUID(str(run_id)), worker=worker))


def execute_chunk(chunk_id: uuid.UUID | str, *, worker: str = "") -> bool:
    """Compute the chunk, or what is fairer to compute first. False if there was nothing to claim."""
    return _execute(claim_chunk(uuid.UUID(str(chunk_id)), worker=worker))


def _execute(claimed: Claimed | None) -> bool:
    if claimed is None:
        return False
    with structlog.contextvars.bound_contextvars(run_id=str(claimed.run_id), attempt=claimed.attempt):
        log.info("run.started", kind=claimed.kind, chunk=claimed.index if claimed.chunk_id else None)
        end = _compute(claimed)
        ended = persistently(end)
        log.info("run.ended" if ended else "run.superseded", kind=claimed.kind)
        persistently(lambda: _after(claimed))
    return True


def _compute(claimed: Claimed) -> Callable[[], bool]:
    """Call the engine; return the write that ends the attempt: with its answer, or with the reason for none."""
    try:
        document: dict[str, Any] = json.loads(runs().values_list("inputs_json", flat=True).get(pk=claimed.run_id))
        connection.close()  # nothing is held while the engine works
        engine = registry.engine_of(claimed.kind)
        with Keeper(claimed, total=engine.total(document), end_by_force=end_stopped) as keeper:
            if claimed.chunk_id is None:
                results = engine.compute(document, keeper.progress)
            else:
                assert engine.compute_chunk is not None, "only engines that split have chunks"
                results = engine.compute_chunk(document, claimed.index, keeper.progress)
        text = canonical_json(results)
    except Stopped as stopped:
        reason = stopped.reason
        return lambda: end_stopped(claimed, reason)
    except EngineError as error:  # the inputs are at fault, and it says how
        message = str(error)
        return lambda: fail(claimed, message)
    except MemoryError:
        return lambda: end_stopped(claimed, Reason.MEMORY)
    except SoftTimeLimitExceeded:
        return lambda: end_stopped(claimed, Reason.TIME)
    except Exception:  # we are at fault: the log has the trace, the user a reference to it
        reference = uuid.uuid4().hex[:8]
        log.error("run.crashed", reference=reference, trace=traceback.format_exc())
        return lambda: fail(claimed, ends.crash_text(reference))
    return lambda: succeed(claimed, results, text)


def succeed(claimed: Claimed, results: dict[str, Any], text: str) -> bool:
    """Write the answer, the audit entry and the end state together. False if the attempt no longer holds the run."""
    if claimed.chunk_id is not None:
        return chunks.succeed(claimed, text)
    with transaction.atomic():
        if ends.end_run(
            claimed.run_id,
            claimed.mine().filter(cancel_requested=False),
            State.SUCCEEDED,
            results_json=text,
            results_sha256=results_sha256(results),
            numpy_version=str(results.get("numpy_version", "")),
        ):
            return True
    return end_stopped(claimed, Reason.CANCELLED)  # writes nothing either if another attempt holds the run


def fail(claimed: Claimed, error: str) -> bool:
    """Write why there is no answer. False if the attempt no longer holds the run."""
    if claimed.chunk_id is not None:
        return chunks.fail(claimed, error)
    with transaction.atomic():
        return ends.end_run(claimed.run_id, claimed.mine(), State.FAILED, error=error)


def end_stopped(claimed: Claimed, reason: Reason) -> bool:
    """End an attempt that was stopped; one that lost its run to another writes nothing."""
    if reason is Reason.TIME:
        return fail(claimed, ends.time_limit_text())
    if reason is Reason.MEMORY:
        return fail(claimed, ends.memory_limit_text())
    if reason is Reason.LOST:
        return False
    if claimed.chunk_id is not None:
        return chunks.cancel(claimed)
    with transaction.atomic():
        return ends.end_run(claimed.run_id, claimed.mine().filter(cancel_requested=True), State.CANCELLED)


def _after(claimed: Claimed) -> None:
    """What the end of an attempt makes possible: the merge of a split run, the client's next run."""
    if claimed.chunk_id is not None:
        wake.wake_next_chunk(claimed.run_id)
        chunks.merge_if_complete(claimed.run_id)
    wake.wake_next_of_client(claimed.client_id)


def persistently(write: Callable[[], T]) -> T:
    """Call `write`, again if the database was away for a moment. Each write is a compare-and-set, so twice is once."""
    for tried in range(DATABASE_TRIES):
        try:
            return write()
        except (OperationalError, InterfaceError) as error:
            if tried == DATABASE_TRIES - 1 or connection.in_atomic_block:
                raise
            log.warning("run.database_away", error=type(error).__name__)
            connection.close()
            time.sleep(0.5 * 2**tried)
    raise AssertionError("the loop returns or raises")
