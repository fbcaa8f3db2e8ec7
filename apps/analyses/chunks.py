"""Split runs: the end of each chunk, and the merge by whichever worker finds all of them finished."""

import json
import uuid

import structlog
from django.db import transaction
from django.utils import timezone

from apps.analyses import ends, registry
from apps.analyses.canonical import canonical_json, results_sha256
from apps.analyses.claims import Claimed, chunks, runs
from apps.analyses.models import AnalysisRun, RunChunk

log = structlog.get_logger(__name__)
State = AnalysisRun.State


def create(run: AnalysisRun) -> None:
    """Write the queued chunks of a run that is being requested."""
    RunChunk.objects.bulk_create(
        [RunChunk(client=run.client, run=run, index=index) for index in range(run.n_chunks)], batch_size=200
    )


def succeed(claimed: Claimed, text: str) -> bool:
    """Keep one chunk's part of the answer. False if the attempt no longer holds the chunk."""
    return bool(claimed.mine().update(state=State.SUCCEEDED, results_json=text, lease_until=None))


def fail(claimed: Claimed, error: str) -> bool:
    """One chunk without an answer ends the whole run, with the chunk's reason."""
    with transaction.atomic():
        if not claimed.mine().update(state=State.FAILED, error=error, lease_until=None):
            return False
        return fail_run(claimed.run_id, error)


def fail_run(run_id: uuid.UUID, error: str) -> bool:
    """End a split run as failed and let go of what is still queued; inside the caller's transaction."""
    if not ends.end_run(run_id, runs().filter(pk=run_id, state=State.RUNNING), State.FAILED, error=error):
        return False
    drop_queued(run_id)
    return True


def cancel(claimed: Claimed) -> bool:
    """The run of this chunk is over or shall be cancelled: the chunk ends without an answer."""
    return bool(claimed.mine().update(state=State.CANCELLED, lease_until=None))


def drop_queued(run_id: uuid.UUID) -> None:
    """No worker shall take further chunks of a run that has ended."""
    chunks().filter(run_id=run_id, state=State.QUEUED).update(state=State.CANCELLED)


def merge_if_complete(run_id: uuid.UUID) -> bool:
    """Put the chunks together if all are there; True for the one caller whose write ended the run.

    Called after the commit of a chunk, so the last of two that finish at once sees both. Both may merge; one wins.
    """
    run = runs().filter(pk=run_id, state=State.RUNNING, cancel_requested=False).first()
    if run is None or chunks().filter(run_id=run_id).exclude(state=State.SUCCEEDED).exists():
        return False
    merge = registry.engine_of(run.kind).merge
    assert merge is not None, "only engines that split have chunks"
    parts = chunks().filter(run_id=run_id).order_by("index").values_list("results_json", flat=True)
    results = merge(json.loads(run.inputs_json), [json.loads(part) for part in parts])
    text = canonical_json(results)
    with transaction.atomic():
        ended = ends.end_run(
            run_id,
            runs().filter(pk=run_id, state=State.RUNNING, cancel_requested=False),
            State.SUCCEEDED,
            results_json=text,
            results_sha256=results_sha256(results),
            numpy_version=str(results.get("numpy_version", "")),
        )
        if ended:  # the merged answer holds what the chunks held
            chunks().filter(run_id=run_id).update(results_json="", updated_at=timezone.now())
    if ended:
        log.info("run.merged", run=str(run_id), n_chunks=run.n_chunks)
    return ended
