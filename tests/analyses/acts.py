"""What an agent can do in an installation. Arguments and answers are plain JSON values."""

import threading
import time
import uuid
from datetime import timedelta
from typing import Any

from celery import current_app
from django.contrib.auth.hashers import make_password
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from apps.accounts.models import AuditEntry, Client, Membership, Organisation, OutboxMessage, User
from apps.accounts.permissions import SYSTEM
from apps.analyses import claims, services, sweeper, wake
from apps.analyses.models import AnalysisRun, RunChunk, SweepBeat
from apps.assessments.models import Assessment
from apps.engine.errors import EngineError

_serial = iter(range(1, 10**6))


def make_client(name: str) -> str:
    """A client with an owner and one assessment; returns the id of the assessment."""
    organisation = Organisation.objects.create(name=name)
    client = Client.objects.create(organisation=organisation, name=name)
    owner = User.objects.create(email=f"owner-{client.pk}@example.test", password=make_password(None))
    Membership.objects.create(client=client, user=owner, role="owner")
    return str(Assessment.objects.create(client=client, name=f"Assessment of {name}").pk)


def _assessment(assessment_id: str) -> Assessment:
    return Assessment.objects.system("test").select_related("client").get(pk=assessment_id)


def _owner(assessment: Assessment) -> User:
    return User.objects.get(memberships__client=assessment.client)


def request(
    *, assessment: str, kind: str = "test_count", n: int = 1, equal: bool = False, **document: Any
) -> list[str]:
    """Request runs on different documents, or on equal ones."""
    asked = _assessment(assessment)
    owner = _owner(asked)
    defaults = {"steps": 3, "draws": 100, "seed": 7}
    run_ids = []
    for _number in range(n):
        content = {**defaults, **document, **({} if equal else {"serial": f"{time.time_ns()}-{next(_serial)}"})}
        run_ids.append(str(services.request_run(by=owner, assessment=asked, kind=kind, document=content).pk))
    return run_ids


def request_document(*, assessment: str, kind: str, document: dict[str, Any]) -> str:
    """Request a run of a real engine."""
    asked = _assessment(assessment)
    return str(services.request_run(by=_owner(asked), assessment=asked, kind=kind, document=document).pk)


def request_sweep(*, assessment: str, axes: list[dict[str, Any]], base: dict[str, Any]) -> str:
    asked = _assessment(assessment)
    return str(services.request_sweep(by=_owner(asked), assessment=asked, axes=axes, base=base).pk)


def request_timed(**values: Any) -> dict[str, Any]:
    """Request one run and tell how long the caller waited."""
    started = time.monotonic()
    run_ids = request(**values)
    return {"run": run_ids[0], "seconds": time.monotonic() - started}


def request_until_refused(*, assessment: str) -> dict[str, Any]:
    taken = 0
    try:
        while taken < 100:
            request(assessment=assessment, steps=1)
            taken += 1
    except EngineError as error:
        return {"taken": taken, "error": str(error)}
    return {"taken": taken, "error": ""}


def look(*, run_ids: list[str]) -> list[dict[str, Any]]:
    """The runs, in the order of their ids."""
    rows = {str(run.pk): run for run in AnalysisRun.objects.system("test").filter(pk__in=run_ids)}
    names = ("number", "state", "stage", "attempt", "worker", "error", "progress_done", "progress_total", "n_chunks")
    names += ("inputs_json", "inputs_sha256", "results_json", "results_sha256")
    return [
        {name: getattr(rows[run_id], name) for name in names}
        | {
            "id": run_id,
            "over": rows[run_id].is_over,
            "sent": rows[run_id].message_sent_at is not None,
            "started": str(rows[run_id].started_at or ""),
            "finished": str(rows[run_id].finished_at or ""),
            "took_s": (rows[run_id].finished_at - rows[run_id].created_at).total_seconds()
            if rows[run_id].finished_at
            else None,
        }
        for run_id in run_ids
        if run_id in rows
    ]


def look_at_chunks(*, run_id: str) -> list[dict[str, Any]]:
    chunks = RunChunk.objects.system("test").filter(run_id=run_id).order_by("index")
    return list(chunks.values("index", "state", "attempt", "worker", "error"))


def cancel(*, run_id: str) -> str:
    return services.cancel_run(by=SYSTEM, run=AnalysisRun.objects.system("test").get(pk=run_id)).state


def delete(*, run_id: str) -> None:
    services.delete_run(by=SYSTEM, run=AnalysisRun.objects.system("test").get(pk=run_id))


def retry(*, run_id: str) -> str:
    return str(services.retry_run(by=SYSTEM, run=AnalysisRun.objects.system("test").get(pk=run_id)).pk)


def wake_many(*, run_id: str, n: int) -> None:
    for _number in range(n):
        wake.wake_for_run(run_id)  # type: ignore[arg-type]


def send_nonsense() -> None:
    """Messages for a run that never was, for one that is no id at all, and for an unknown task."""
    for task, row in ((wake.EXECUTE_RUN, str(uuid.uuid4())), (wake.EXECUTE_CHUNK, "no id"), ("no.such.task", "1")):
        current_app.send_task(task, args=[row], retry=False, ignore_result=True)


def audit_actions(*, run_id: str) -> list[str]:
    return list(AuditEntry.objects.filter(subject_id=run_id).order_by("at").values_list("action", flat=True))


def outbox() -> list[dict[str, Any]]:
    return [
        {"key": message.unique_key, "sent": message.sent_at is not None, "attempts": message.attempts}
        for message in OutboxMessage.objects.order_by("created_at")
    ]


def request_and_roll_back(*, assessment: str) -> int:
    """Request a run in a transaction that fails; returns how many runs the assessment has afterwards."""
    try:
        with transaction.atomic():
            request(assessment=assessment)
            raise LookupError
    except LookupError:
        return AnalysisRun.objects.system("test").filter(assessment_id=assessment).count()


def request_in_slow_transaction(*, assessment: str, seconds: float) -> str:
    with transaction.atomic():
        run_id = request(assessment=assessment)[0]
        time.sleep(seconds)
    return run_id


def claim(*, run_id: str, at: float) -> int | None:
    """Try to claim at a moment that several agents share; returns the number of the attempt."""
    connection.ensure_connection()
    time.sleep(max(0.0, at - time.time()))
    claimed = claims.claim_run(run_id, worker="agent")  # type: ignore[arg-type]
    return claimed.attempt if claimed else None


def claim_in_threads(*, run_id: str, n: int) -> list[int]:
    """Claim in n threads at once; returns the attempts that were given."""
    barrier = threading.Barrier(n)
    given: list[int] = []

    def try_it() -> None:
        try:
            barrier.wait()
            claimed = claims.claim_run(run_id, worker="thread")  # type: ignore[arg-type]
            if claimed:
                given.append(claimed.attempt)
        finally:
            connection.close()

    threads = [threading.Thread(target=try_it) for _number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return given


def lapse(*, run_id: str) -> None:
    """Make the lease of a run end in the past, as if its worker had not been heard of."""
    AnalysisRun.objects.system("test").filter(pk=run_id).update(lease_until=timezone.now() - timedelta(seconds=1))


def request_at(*, at: float, n: int, **values: Any) -> list[int]:
    """Request n runs from a moment on that several agents share; returns their numbers."""
    time.sleep(max(0.0, at - time.time()))
    return [run["number"] for run in look(run_ids=request(n=n, **values))]


def sweep() -> dict[str, int]:
    return sweeper.sweep()


def sweep_age_s() -> float | None:
    beat = SweepBeat.objects.filter(name=sweeper.BEAT_NAME).first()
    return (timezone.now() - beat.at).total_seconds() if beat else None


def running_by_client() -> dict[str, int]:
    rows = AnalysisRun.objects.system("test").filter(state="running").values_list("assessment_id", flat=True)
    counts: dict[str, int] = {}
    for assessment in rows:
        counts[str(assessment)] = counts.get(str(assessment), 0) + 1
    return counts


def owner_address(*, assessment: str) -> str:
    return _owner(_assessment(assessment)).email


def nothing_is_locked() -> bool:
    """Whether a claim or a write could go on at once: no stopped process holds a lock."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with transaction.atomic():
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [claims.CLAIM_LOCK])
                return bool(cursor.fetchone()[0])
        cursor.execute("PRAGMA busy_timeout = 200")
        try:
            cursor.execute("BEGIN IMMEDIATE")
            cursor.execute("ROLLBACK")
            return True
        except OperationalError:
            return False
        finally:
            cursor.execute("PRAGMA busy_timeout = 20000")


def cancel_everything() -> None:
    for run in AnalysisRun.objects.system("test").filter(state__in=["queued", "running"]):
        services.cancel_run(by=SYSTEM, run=run)


def everything_is_over() -> bool:
    return not AnalysisRun.objects.system("test").filter(state__in=["queued", "running"]).exists()
