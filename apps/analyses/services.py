"""What people do with runs: request, sweep, cancel, retry, delete."""

import json
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from apps import engine
from apps.accounts import audit
from apps.accounts.models import Client, User
from apps.accounts.permissions import Actor, require
from apps.analyses import chunks, ends, registry, wake
from apps.analyses.canonical import canonical_json, sha256_of
from apps.analyses.models import AnalysisRun, Scenario
from apps.assessments.models import Assessment
from apps.engine.errors import EngineError

State = AnalysisRun.State


class QueueFullError(EngineError):
    """The client has as many runs waiting as it may have; the message says how many and what to do."""


class NotRetriableError(EngineError):
    """The run has an answer or may still get one, so there is nothing to try again."""


def request_run(
    *,
    by: Actor,
    assessment: Assessment,
    kind: str = AnalysisRun.Kind.TCO,
    scenario: Scenario | None = None,
    document: dict[str, Any] | None = None,
) -> AnalysisRun:
    """Freeze the assessment's inputs and queue the engine on them; the run is saved and its worker woken on commit.

    Equal inputs of the same assessment give the run that exists: finished, running or queued. Raises `EngineError` at
    once if the engine would refuse the inputs, or if too many runs of the client are waiting.
    """
    require(by, assessment.client, "run")
    if document is None:
        from apps.analyses import inputs

        document = inputs.tco_document(assessment, scenario=scenario)
    text = canonical_json(document)
    document = json.loads(text)  # what the worker will read, decimals as text
    registry.engine_of(kind).check(document)
    return _queue(by=by, assessment=assessment, kind=kind, scenario=scenario, document=document, text=text)


def request_sweep(
    *,
    by: Actor,
    assessment: Assessment,
    axes: list[dict[str, Any]],
    base: dict[str, Any] | None = None,
    chunk_points: int = 500,
) -> AnalysisRun:
    """Queue one calculation for every combination of the axes' values, split so that all workers share it.

    `axes` is a list of {"input": key, "values": [decimal text, …]}, the last one changing fastest.
    """
    if base is None:
        from apps.analyses import inputs

        base = inputs.tco_document(assessment)
    document = {"schema": "spinecut.tco-sweep/1", "base": base, "axes": axes, "chunk_points": chunk_points}
    return request_run(by=by, assessment=assessment, kind=AnalysisRun.Kind.TCO_SWEEP, document=document)


def retry_run(*, by: Actor, run: AnalysisRun) -> AnalysisRun:
    """Queue a new run on the frozen inputs of one that failed or was cancelled."""
    require(by, run.client, "run")
    run.refresh_from_db()
    if run.state not in (State.FAILED, State.CANCELLED):
        raise NotRetriableError(
            _("%(run)s is %(state)s; only failed and cancelled runs can be started again.")
            % {"run": run, "state": run.get_state_display()}
        )
    document = json.loads(run.inputs_json)
    registry.engine_of(run.kind).check(document)
    return _queue(
        by=by, assessment=run.assessment, kind=run.kind, scenario=run.scenario, document=document, text=run.inputs_json
    )


@transaction.atomic
def _queue(
    *,
    by: Actor,
    assessment: Assessment,
    kind: str,
    scenario: Scenario | None,
    document: dict[str, Any],
    text: str,
) -> AnalysisRun:
    # Two requests for one client wait for each other: for the number, the limit, and equal inputs. PostgreSQL locks the
    # client's row; on SQLite a transaction holds the write lock from its start.
    Client.objects.select_for_update(no_key=True).get(pk=assessment.client_id)
    digest = sha256_of(text)
    equal = _equal_run(assessment, kind, digest)
    if equal is not None:
        return equal
    _refuse_beyond_limit(assessment.client)
    runs = AnalysisRun.objects.of_client(assessment.client)
    highest = runs.filter(assessment=assessment).aggregate(highest=Max("number"))["highest"] or 0
    base = document.get("base", document)
    work = registry.engine_of(kind)
    run = AnalysisRun.objects.create(
        client=assessment.client,
        assessment=assessment,
        scenario=scenario,
        number=highest + 1,
        kind=kind,
        inputs_json=text,
        inputs_sha256=digest,
        engine_version=engine.__version__,
        seed=base.get("seed", assessment.seed),
        draws=base.get("draws", assessment.draws),
        n_chunks=work.n_chunks(document),
        progress_total=work.total(document),
        requested_by=by if isinstance(by, User) else None,
        message_sent_at=timezone.now(),
    )
    chunks.create(run)
    _record(by, "run.requested", run)
    # A failing broker must not fail the request: the run is there, and the sweep sends its message again.
    transaction.on_commit(partial(wake.wake_for_run, run.pk), robust=True)
    return run


def _equal_run(assessment: Assessment, kind: str, digest: str) -> AnalysisRun | None:
    """The run that has computed these inputs with this engine, or is about to."""
    alive = Q(state__in=[State.QUEUED, State.RUNNING], cancel_requested=False) | Q(state=State.SUCCEEDED)
    return (
        AnalysisRun.objects.of_client(assessment.client)
        .filter(alive, assessment=assessment, kind=kind, inputs_sha256=digest, engine_version=engine.__version__)
        .order_by("number")
        .first()
    )


def _refuse_beyond_limit(client: Client) -> None:
    limit = settings.RUNS_QUEUED_PER_CLIENT
    if AnalysisRun.objects.of_client(client).filter(state=State.QUEUED).count() >= limit:
        raise QueueFullError(
            _("%(limit)d runs of this client are waiting already, the most there may be. Wait for one or cancel one.")
            % {"limit": limit}
        )


def cancel_run(*, by: Actor, run: AnalysisRun) -> AnalysisRun:
    """Cancel a queued run at once, ask the worker of a running one to stop, and return the run as it is now.

    The worker takes seconds. A run that is over stays as it is. A cancelled run never becomes succeeded.
    """
    require(by, run.client, "run")
    row = AnalysisRun.objects.of_client(run.client).filter(pk=run.pk)
    with transaction.atomic():
        ended = ends.end_run(run.pk, row.filter(state=State.QUEUED), State.CANCELLED, actor=by, cancel_requested=True)
        # Nobody holds a split run, so it ends here; the workers of its chunks notice at their next heartbeat.
        split = row.filter(state=State.RUNNING, n_chunks__gt=0)
        ended = ended or ends.end_run(run.pk, split, State.CANCELLED, actor=by, cancel_requested=True)
        if ended:
            chunks.drop_queued(run.pk)
        elif row.filter(state=State.RUNNING, cancel_requested=False).update(cancel_requested=True):
            _record(by, "run.cancel_requested", run)
    if ended:
        wake.wake_next_of_client(run.client_id)
    run.refresh_from_db()
    return run


@transaction.atomic
def delete_run(*, by: Actor, run: AnalysisRun) -> None:
    """Remove a run with its inputs and results; one that runs is cancelled first, so its worker writes nothing more."""
    require(by, run.client, "run")
    row = AnalysisRun.objects.of_client(run.client).filter(pk=run.pk)
    alive = row.filter(state__in=[State.QUEUED, State.RUNNING])
    ends.end_run(run.pk, alive, State.CANCELLED, actor=by, cancel_requested=True)
    _record(by, "run.deleted", run)
    client_id = run.client_id
    row.delete()
    transaction.on_commit(partial(wake.wake_next_of_client, client_id), robust=True)


def _record(by: Actor, action: str, run: AnalysisRun) -> None:
    audit.record(
        actor=by, action=action, client=run.client, subject=str(run), subject_id=run.pk, details={"kind": run.kind}
    )
