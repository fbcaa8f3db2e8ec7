"""Requests, reuse, limits and permissions of runs."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.utils import timezone

from apps.accounts.models import AuditEntry, OutboxMessage, Role
from apps.accounts.permissions import SYSTEM
from apps.analyses import selectors, services
from apps.analyses.canonical import canonical_json, sha256_of
from apps.analyses.models import AnalysisRun, RunChunk
from apps.engine.errors import InputError
from tests import factories

pytestmark = pytest.mark.django_db
State = AnalysisRun.State


@pytest.fixture(autouse=True)
def small_engines(settings: Any) -> None:
    settings.RUN_ENGINES_MODULE = "tests.analyses.engines"


@pytest.fixture
def assessment() -> Any:
    return factories.make_assessment()


def document(**values: Any) -> dict[str, Any]:
    return {"steps": 3, "draws": 64, "seed": 7, "price": Decimal("295000.00"), **values}


def request(assessment: Any, by: Any = SYSTEM, **values: Any) -> AnalysisRun:
    return services.request_run(by=by, assessment=assessment, kind="test_count", document=document(**values))


def test_a_request_freezes_canonical_inputs_with_their_hash(assessment: Any) -> None:
    owner = factories.make_member(assessment.client)
    run = request(assessment, by=owner)
    assert run.inputs_json == '{"draws":64,"price":"295000","seed":7,"steps":3}'
    assert run.inputs_sha256 == sha256_of(run.inputs_json)
    assert (run.number, run.state, run.seed, run.draws) == (1, State.QUEUED, 7, 64)
    assert (run.requested_by, run.progress_total, run.engine_version) == (owner, 3, "1.0.0")
    entry = AuditEntry.objects.get(subject_id=run.pk)
    assert (entry.action, entry.actor, entry.client) == ("run.requested", owner, assessment.client)


def test_equal_inputs_give_the_run_that_exists_while_it_waits_and_when_it_is_done(assessment: Any) -> None:
    first = request(assessment)
    assert request(assessment, price=Decimal("295000")) == first
    finish(first)
    assert request(assessment) == first
    assert request(assessment, seed=8).number == 2
    elsewhere = factories.make_assessment(client=assessment.client)
    assert request(elsewhere) != first


def test_equal_inputs_are_computed_again_after_a_failure_or_by_another_engine(assessment: Any) -> None:
    first = request(assessment)
    AnalysisRun.objects.system("test").filter(pk=first.pk).update(state=State.FAILED, error="lost")
    second = request(assessment)
    assert second.number == 2
    AnalysisRun.objects.system("test").filter(pk=second.pk).update(engine_version="0.9")
    assert request(assessment).number == 3


def finish(run: AnalysisRun, results: dict[str, Any] | None = None) -> None:
    AnalysisRun.objects.system("test").filter(pk=run.pk).update(
        state=State.SUCCEEDED, results_json=canonical_json(results or {"a": 1}), finished_at=timezone.now()
    )


def test_bad_inputs_are_refused_before_anything_is_queued(assessment: Any) -> None:
    with pytest.raises(InputError, match="steps is 0; it must be at least 1"):
        request(assessment, steps=0)
    assert not AnalysisRun.objects.system("test").exists()


def test_inputs_without_canonical_form_are_refused(assessment: Any) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        request(assessment, price=float("nan"))


def test_only_roles_that_may_run_do(assessment: Any) -> None:
    viewer = factories.make_member(assessment.client, role=Role.VIEWER)
    with pytest.raises(PermissionDenied):
        request(assessment, by=viewer)
    stranger = factories.make_member(factories.make_client())
    run = request(assessment)
    for act in (services.cancel_run, services.delete_run, services.retry_run):
        with pytest.raises(Http404):
            act(by=stranger, run=run)


def test_a_rolled_back_request_wakes_nobody(assessment: Any, django_capture_on_commit_callbacks: Any) -> None:
    def request_and_fail() -> None:
        with transaction.atomic():
            request(assessment)
            raise LookupError

    with django_capture_on_commit_callbacks() as callbacks:
        with pytest.raises(LookupError):
            request_and_fail()
        assert not AnalysisRun.objects.system("test").exists()
    assert callbacks == []


def test_a_waiting_run_is_cancelled_at_once_and_a_running_one_is_asked_to_stop(assessment: Any) -> None:
    run = request(assessment)
    assert services.cancel_run(by=SYSTEM, run=run).state == State.CANCELLED
    run = request(assessment)
    AnalysisRun.objects.system("test").filter(pk=run.pk).update(state=State.RUNNING, attempt=1)
    run = services.cancel_run(by=SYSTEM, run=run)
    assert (run.state, run.cancel_requested) == (State.RUNNING, True)
    assert selectors.queue_text(run) == "stopping"
    assert request(assessment) != run, "a run that is being cancelled is no answer for somebody else"


def test_cancelling_a_finished_run_changes_nothing(assessment: Any) -> None:
    run = request(assessment)
    finish(run)
    assert services.cancel_run(by=SYSTEM, run=run).state == State.SUCCEEDED


def test_a_failed_run_is_retried_on_its_frozen_inputs(assessment: Any) -> None:
    run = request(assessment)
    with pytest.raises(services.NotRetriableError, match="Run 1 is queued"):
        services.retry_run(by=SYSTEM, run=run)
    AnalysisRun.objects.system("test").filter(pk=run.pk).update(state=State.FAILED, error="lost")
    again = services.retry_run(by=SYSTEM, run=run)
    assert (again.number, again.inputs_json, again.state) == (2, run.inputs_json, State.QUEUED)


def test_a_split_run_is_cancelled_with_its_waiting_chunks(assessment: Any) -> None:
    split = {"points": 25, "chunk_points": 10}
    run = services.request_run(by=SYSTEM, assessment=assessment, kind="test_split", document=split)
    assert (run.n_chunks, run.progress_total) == (3, 25)
    services.cancel_run(by=SYSTEM, run=run)
    assert set(RunChunk.objects.of_client(run.client).values_list("state", flat=True)) == {State.CANCELLED}


def test_deleting_a_run_leaves_the_audit_entries(assessment: Any) -> None:
    run = request(assessment)
    services.delete_run(by=SYSTEM, run=run)
    assert not AnalysisRun.objects.system("test").exists()
    actions = AuditEntry.objects.filter(subject_id=run.pk).order_by("at").values_list("action", flat=True)
    assert list(actions) == ["run.requested", "run.cancelled", "run.deleted"]


def test_selectors_show_only_the_users_own_clients(assessment: Any) -> None:
    owner = factories.make_member(assessment.client)
    stranger = factories.make_member(factories.make_client())
    run = request(assessment)
    finish(run, {"answer": 42})
    assert list(selectors.runs_visible_to(owner)) == [run]
    assert not selectors.runs_visible_to(stranger).exists()
    found = selectors.latest_succeeded(owner, assessment, kind="test_count")
    assert found is not None
    assert selectors.results_of(found) == {"answer": 42}
    assert selectors.inputs_of(found)["price"] == "295000"
    assert selectors.latest_succeeded(stranger, assessment, kind="test_count") is None


def test_the_queue_text_says_where_a_run_stands(assessment: Any) -> None:
    run = request(assessment)
    assert selectors.queue_text(run) == "queued, waiting for the worker"
    run.state, run.stage, run.progress_done, run.progress_total = State.RUNNING, "draws", 2048, 8192
    assert selectors.queue_text(run) == "draws: 2,048 of 8,192 draws"
    run.state = State.SUCCEEDED
    assert selectors.queue_text(run) == "succeeded"


def test_differences_are_told_in_words() -> None:
    price = {"label": "GPU price", "unit": "USD", "likely": "1000", "low": None, "high": None, "source": {}}
    tariff = {"label": "Tariff", "unit": "USD/kWh", "likely": "0.08", "low": "0.06", "high": "0.1", "source": {}}
    line = {"key": "A.x", "label": "Nodes", "factors": ["n"]}
    then = {"inputs": {"p": price, "t": tariff}, "options": [{"key": "A", "name": "Own", "lines": [line]}], "draws": 8}
    now = json.loads(json.dumps(then))
    assert selectors.differences_between(then, now) == []
    now["inputs"]["p"]["likely"] = "1100"
    del now["inputs"]["t"]
    now["options"][0]["lines"][0]["factors"] = ["m"]
    now["options"].append({"key": "B", "name": "Rent", "lines": []})
    now["draws"] = 16
    assert selectors.differences_between(then, now) == [
        "GPU price: 1000 USD, now 1100 USD.",
        "Tariff is no longer used; it was 0.08 (0.06 to 0.1) USD/kWh.",
        "Option A: line “Nodes” is composed otherwise.",
        "Option B (Rent) is new.",
        "draws: 8, now 16.",
    ]


def test_the_outbox_takes_a_key_once_and_tries_a_failing_effect_again(settings: Any) -> None:
    from apps.accounts import outbox

    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9  # nobody answers there
    mail = {"to": ["a@example.test"], "subject": "s", "body": "b"}
    assert outbox.post(unique_key="k", kind="mail", payload=mail)
    assert not outbox.post(unique_key="k", kind="mail", payload=mail)
    assert outbox.deliver_due() == 0
    message = OutboxMessage.objects.get()
    assert (message.attempts, message.sent_at) == (1, None)
    assert "Connection" in message.error
    assert outbox.deliver_due() == 0
    message.refresh_from_db()
    assert message.attempts == 1, "not before its time"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    OutboxMessage.objects.update(claimed_until=timezone.now())
    assert outbox.deliver_due() == 1
    assert outbox.deliver_due() == 0
    with pytest.raises(ValueError, match="kind is 'fax'"):
        outbox.post(unique_key="x", kind="fax", payload={})
