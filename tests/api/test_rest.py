"""The REST API shows what the screens show, to those who may see it, and words every error as a problem document."""

import csv
import io
import json
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import AuditEntry, Role
from apps.analyses import registry
from apps.analyses.canonical import canonical_json
from apps.analyses.models import AnalysisRun
from apps.analyses.rules import evaluate
from apps.api import problems, views
from apps.api.sweep_csv import sweep_csv
from tests import factories
from tests.web.conftest import Case, make_case

pytestmark = pytest.mark.django_db
State = AnalysisRun.State

OF_ASSESSMENT = ["assessment", "options", "quotes", "rules", "runs"]
OF_RUN = ["run", "run_inputs", "run_results", "run_sweep"]


@pytest.fixture
def case() -> Case:
    return make_case()


@pytest.fixture
def owner(case: Case) -> Browser:
    return signed_in(case.user)


def signed_in(person: Any, **options: Any) -> Browser:
    browser = Browser(**options)
    browser.force_login(person)
    return browser


def of(name: str, row: Any) -> str:
    return reverse(f"api:{name}", args=[row.pk])


def a_problem(answer: Any, status: int) -> dict[str, Any]:
    """The body, once it is known to be a problem document with that status."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["Cache-Control"] == "private, no-store"
    body = answer.json()
    jsonschema.validate(body, problems.SCHEMA)
    assert body["status"] == status
    return body


def post(browser: Browser, address: str, body: Any = None, **headers: str) -> Any:
    return browser.post(address, json.dumps(body or {}), content_type="application/json", headers=headers)


def finish(run: AnalysisRun) -> AnalysisRun:
    """Compute a queued run as a worker does; how workers get there is tested elsewhere."""
    results = registry.engine_of(run.kind).compute(json.loads(run.inputs_json), lambda stage, done, total: None)
    run.results_json = canonical_json(results)
    run.state = State.SUCCEEDED
    run.save()
    return run


# Reading --------------------------------------------------------------------------------------------------------------
def test_clients_are_those_in_which_the_person_holds_a_role(case, owner):
    factories.make_client(name="Another")
    body = owner.get(reverse("api:clients")).json()
    assert body["count"] == 1
    assert body["results"][0]["name"] == "Larkmere Robotics"
    assert body["results"][0]["organisation"]["name"] == case.assessment.client.organisation.name


def test_times_are_utc_with_z_and_no_answer_is_kept_in_a_cache(case, owner):
    answer = owner.get(of("assessment", case.assessment))
    created = answer.json()["created_at"]
    assert created.endswith("Z")
    assert datetime.fromisoformat(created) == case.assessment.created_at
    assert answer["Cache-Control"] == "private, no-store"


def test_assessments_are_filtered_by_client_and_state(case, owner):
    other = factories.make_client()
    factories.make_membership(client=other, user=case.user)
    draft = factories.make_assessment(client=other)
    address = reverse("api:assessments")

    def found(**asked: Any) -> list[str]:
        return [row["id"] for row in owner.get(address, asked).json()["results"]]

    assert found() == [str(draft.pk), str(case.assessment.pk)]
    assert found(client=other.pk) == [str(draft.pk)]
    assert found(state="in_review") == [str(case.assessment.pk)]
    assert found(client=factories.make_client().pk) == found(client=uuid.uuid4()) == []


def test_lists_come_in_pages(case, owner):
    factories.make_assessment(client=case.assessment.client)
    body = owner.get(reverse("api:assessments"), {"page_size": 1}).json()
    assert (body["count"], len(body["results"])) == (2, 1)
    second = owner.get(body["next"]).json()
    assert second["results"][0]["id"] == str(case.assessment.pk)
    a_problem(owner.get(reverse("api:assessments"), {"page": 9}), 404)


def test_options_have_their_phases_staff_and_evidence(case, owner):
    body = owner.get(of("options", case.assessment)).json()
    assert [option["letter"] for option in body] == ["A", "B", "B+", "C"]
    assert body[0]["staff"][0]["fte_likely"] == "1.5"
    assert body[0]["phases"][0]["configuration"]["template"] == "dgx_class"
    assert [answer["level"] for answer in body[3]["evidence"]] == ["claim", "none", "claim"]


def test_pinned_quotes_have_their_lines_with_exact_prices_and_their_currency(case, owner):
    body = owner.get(of("quotes", case.assessment)).json()
    assert [(quote["number"], quote["version"], quote["pinned_by"]) for quote in body] == [
        ("VC-2291", 2, ["A"]),
        ("QR-118", 1, ["B"]),
        ("QR-118", 2, ["B+"]),
        ("NC-77", 1, ["C"]),
    ]
    line = body[0]["lines"][0]
    assert [line[name] for name in ("quantity", "unit_price_low", "unit_price_likely", "currency")] == [
        "16",
        "275000",
        "295000",
        "USD",
    ]
    assert body[3]["lines"][0]["unit_price_likely"] == "2.25"
    assert body[3]["lines"][2]["unit_price_low"] is None
    assert {quote["id"] for quote in body} == {
        option["phases"][0]["quote_version"] for option in owner.get(of("options", case.assessment)).json()
    }


def test_a_version_pinned_by_two_options_stands_once_with_both_letters(case, owner):
    version = case.assessment.options.get(letter="A").phases.get().quote_version
    option = factories.make_option(assessment=case.assessment, letter="D", slot=5)
    factories.make_option_phase(option=option, quote_version=version)
    body = owner.get(of("quotes", case.assessment)).json()
    assert [quote["pinned_by"] for quote in body] == [["A", "D"], ["B"], ["B+"], ["C"]]


def test_rules_are_the_hits_of_the_rule_engine(case, owner):
    body = owner.get(of("rules", case.assessment)).json()
    hits = evaluate(case.assessment)
    assert [(hit["rule_id"], hit["option_letter"], hit["what"]) for hit in body] == [
        (hit.rule_id, hit.option_letter, hit.what) for hit in hits
    ]
    assert any(hit["open_gate"] for hit in body)


def test_inputs_and_results_are_the_stored_bytes(case, owner):
    inputs, results = owner.get(of("run_inputs", case.run)), owner.get(of("run_results", case.run))
    assert inputs.content.decode() == case.run.inputs_json
    assert results.content.decode() == case.run.results_json
    assert results["Content-Type"] == "application/json"
    assert AuditEntry.objects.filter(action="run.exported", subject_id=case.run.pk).count() == 2


def test_a_run_without_an_answer_has_no_results_yet(case, owner):
    run = factories.make_analysis_run(assessment=case.assessment)
    body = a_problem(owner.get(of("run_results", run)), 409)
    assert "queued" in body["detail"]
    assert owner.get(of("run_inputs", run)).status_code == 200
    assert not AuditEntry.objects.filter(subject_id=run.pk, subject__endswith="results").exists()


def test_a_run_tells_where_it_stands(case, owner):
    run = factories.make_analysis_run(
        assessment=case.assessment,
        state=State.RUNNING,
        stage="draws",
        progress_done=5,
        progress_total=10,
        requested_by=case.user,
    )
    body = owner.get(of("run", run)).json()
    assert (body["state"], body["stage"], body["progress_done"], body["progress_total"]) == ("running", "draws", 5, 10)
    assert body["requested_by"] == str(case.user)
    run.state, run.error = State.FAILED, "The worker was lost."
    run.save()
    assert owner.get(of("run", run)).json()["error"] == "The worker was lost."


def test_runs_of_an_assessment_are_listed_newest_first_and_filtered(case, owner):
    queued = factories.make_analysis_run(assessment=case.assessment, number=99)
    factories.make_analysis_run(client=case.assessment.client)
    address = of("runs", case.assessment)
    assert [run["id"] for run in owner.get(address).json()["results"]] == [str(queued.pk), str(case.run.pk)]
    assert [run["id"] for run in owner.get(address, {"state": "succeeded"}).json()["results"]] == [str(case.run.pk)]


# Starting and cancelling ----------------------------------------------------------------------------------------------
def test_a_requested_run_is_accepted_with_its_address(case, owner):
    case.assessment.draws = 128
    case.assessment.save()
    answer = post(owner, of("runs", case.assessment), {"kind": "tco"})
    assert answer.status_code == 202
    body = answer.json()
    assert (body["state"], body["draws"]) == ("queued", 128)
    assert owner.get(answer["Location"]).json() == body


def test_equal_inputs_give_the_run_that_exists(case, owner):
    answer = post(owner, of("runs", case.assessment))
    assert (answer.status_code, answer.json()["id"]) == (202, str(case.run.pk))


def test_a_scenario_of_the_assessment_is_computed_and_any_other_is_unknown(case, owner):
    scenario = factories.make_scenario(assessment=case.assessment, overrides={"discount_rate": {"likely": "0.05"}})
    address = of("runs", case.assessment)
    body = post(owner, address, {"scenario": str(scenario.pk)}).json()
    assert body["scenario"] == str(scenario.pk)
    foreign, sibling = factories.make_scenario(), factories.make_scenario(client=case.assessment.client)
    answers = [post(owner, address, {"scenario": str(key)}) for key in (foreign.pk, sibling.pk, uuid.uuid4())]
    assert len({answer.content for answer in answers}) == 1
    assert a_problem(answers[0], 400)["errors"][0]["path"] == "scenario"


def test_what_is_wrong_is_named_by_its_path(case, owner):
    address = of("runs", case.assessment)

    def paths(body: Any) -> list[str]:
        return [error["path"] for error in a_problem(post(owner, address, body), 400)["errors"]]

    assert paths({"kind": "wishes"}) == ["kind"]
    assert paths({"kind": "tco_sweep"}) == ["axes"]
    assert paths({"kind": "tco_sweep", "axes": [{"input": "discount_rate", "values": ["0.1", "x"]}]}) == [
        "axes.0.values.1"
    ]
    assert paths({"axes": [{"input": "discount_rate", "values": ["0.1"]}]}) == ["axes"]
    assert paths({"draws": 5}) == ["draws"]
    assert paths([1]) == [""]


def test_inputs_that_the_engine_refuses_are_told_at_once(case, owner):
    sweep = {"kind": "tco_sweep", "axes": [{"input": "no such input", "values": ["0.1"]}]}
    body = a_problem(post(owner, of("runs", case.assessment), sweep), 422)
    assert "no such input" in body["detail"]
    empty = factories.make_assessment(client=case.assessment.client)
    a_problem(post(owner, of("runs", empty)), 422)


def test_a_full_queue_is_too_many_requests(case, owner, settings):
    settings.RUNS_QUEUED_PER_CLIENT = 0
    case.assessment.draws = 64
    case.assessment.save()
    answer = post(owner, of("runs", case.assessment))
    a_problem(answer, 429)
    assert int(answer["Retry-After"]) > 0


def test_a_queued_run_is_cancelled_at_once_and_a_running_one_is_asked_to_stop(case, owner):
    queued = factories.make_analysis_run(assessment=case.assessment)
    running = factories.make_analysis_run(assessment=case.assessment, state=State.RUNNING)
    assert post(owner, of("run_cancel", queued)).json()["state"] == "cancelled"
    answer = post(owner, of("run_cancel", running))
    assert (answer.status_code, answer.json()["state"], answer.json()["cancel_requested"]) == (202, "running", True)
    assert post(owner, of("run_cancel", case.run)).json()["state"] == "succeeded"


def test_a_sweep_is_requested_and_its_table_holds_the_numbers_of_its_results(case, owner):
    axes = [
        {"input": "discount_rate", "values": ["0.05", "0.1"]},
        {"input": "residual_fraction.compute", "values": ["0", "0.10", "0.2"]},
    ]
    body = post(owner, of("runs", case.assessment), {"kind": "tco_sweep", "axes": axes}).json()
    assert body["progress_total"] == 6
    run = AnalysisRun.objects.of_client(case.assessment.client).get(pk=body["id"])
    a_problem(owner.get(of("run_sweep", run)), 409)
    results = json.loads(finish(run).results_json)
    answer = owner.get(of("run_sweep", run), headers={"Accept": "text/csv"})
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    head, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert head[:3] == ["discount_rate", "residual_fraction.compute", "A nominal [USD]"]
    assert [row[:2] for row in rows] == [[a, b] for a in ("0.05", "0.1") for b in ("0", "0.1", "0.2")]
    assert [[float(cell) for cell in row[2:]] for row in rows] == [
        nominal + npv for nominal, npv in zip(results["nominal_usd"], results["npv_usd"], strict=True)
    ]


def test_no_text_of_a_sweep_is_run_by_a_spreadsheet():
    document = {"base": {"currency": "EUR"}}
    results = {
        "axes": [{"input": "=input", "values": ["-0.5"]}],
        "options": ["=A"],
        "nominal_usd": [[-1e-07]],
        "npv_usd": [[1.1]],
    }
    text = sweep_csv(document, results)
    assert text == "\ufeff'=input,'=A nominal [EUR],'=A NPV [EUR]\r\n-0.5,-1e-07,1.1\r\n"


def test_a_run_that_is_no_sweep_has_no_table(case, owner):
    a_problem(owner.get(of("run_sweep", case.run)), 404)


# Who may see and do what ----------------------------------------------------------------------------------------------
def test_another_clients_rows_are_answered_as_unknown_ones_byte_for_byte(case):
    stranger = signed_in(factories.make_member(factories.make_client()))
    unknown = uuid.uuid4()
    pairs = [(name, case.assessment.pk) for name in OF_ASSESSMENT] + [(name, case.run.pk) for name in OF_RUN]
    answers = [stranger.get(reverse(f"api:{name}", args=[key])) for name, pk in pairs for key in (pk, unknown)]
    for name, pk in (("runs", case.assessment.pk), ("run_cancel", case.run.pk)):
        answers += [post(stranger, reverse(f"api:{name}", args=[key])) for key in (pk, unknown)]
    answers += [stranger.get("/api/v1/no/such/address"), stranger.get("/api/v1/runs/no-id/"), stranger.put("/api/v1/x")]
    for answer in answers:
        a_problem(answer, 404)
    assert len({answer.content for answer in answers}) == 1
    case.run.refresh_from_db()
    assert case.run.cancel_requested is False


def test_a_viewer_reads_but_starts_cancels_and_downloads_nothing(case):
    viewer = signed_in(factories.make_member(case.assessment.client, Role.VIEWER))
    for name in OF_ASSESSMENT:
        assert viewer.get(of(name, case.assessment)).status_code == 200
    assert viewer.get(of("run", case.run)).status_code == 200
    before = AnalysisRun.objects.of_client(case.assessment.client).count()
    body = a_problem(post(viewer, of("runs", case.assessment)), 403)
    assert body["detail"] == "Your role in this client does not allow this."
    a_problem(post(viewer, of("run_cancel", case.run)), 403)
    a_problem(viewer.get(of("run_results", case.run)), 403)
    a_problem(viewer.get(of("run_inputs", case.run)), 403)
    assert AnalysisRun.objects.of_client(case.assessment.client).count() == before


def test_nobody_is_let_in_without_a_session(case):
    addresses = [of(name, case.assessment) for name in OF_ASSESSMENT] + [of(name, case.run) for name in OF_RUN]
    addresses += [reverse(f"api:{name}") for name in ("clients", "assessments", "openapi")] + ["/api/v1/nothing"]
    for address in addresses:
        answer = Browser().get(address)
        a_problem(answer, 401)
        assert answer["WWW-Authenticate"] == "Session"


def test_unsafe_methods_need_the_csrf_token(case):
    browser = signed_in(case.user, enforce_csrf_checks=True)
    address = of("runs", case.assessment)
    assert "CSRF" in a_problem(post(browser, address), 403)["detail"]
    browser.get(reverse("web:portfolio"))
    token = "a" * 32
    browser.cookies[settings.CSRF_COOKIE_NAME] = token
    assert post(browser, address, **{"X-CSRFToken": token}).status_code == 202


def test_a_script_signs_in_as_the_guide_says(case):
    script = Browser(enforce_csrf_checks=True)
    login = reverse("account_login")
    script.get(login)
    form = {
        "login": case.user.email,
        "password": factories.PASSWORD,
        "csrfmiddlewaretoken": script.cookies[settings.CSRF_COOKIE_NAME].value,
    }
    script.post(login, form)
    assert script.get(reverse("api:clients")).status_code == 200
    token = script.cookies[settings.CSRF_COOKIE_NAME].value
    assert post(script, of("runs", case.assessment), **{"X-CSRFToken": token}).status_code == 202


def test_who_must_set_up_one_time_codes_first_is_told_so(case, owner):
    organisation = case.assessment.client.organisation
    organisation.one_time_codes_required = True
    organisation.save()
    assert a_problem(owner.get(reverse("api:clients")), 403)["detail"] == "Set up one-time codes first."


# Errors ---------------------------------------------------------------------------------------------------------------
def test_a_method_a_format_or_a_body_that_is_not_taken_is_a_problem_document(case, owner):
    answer = owner.delete(of("run", case.run))
    a_problem(answer, 405)
    assert answer["Allow"] == "GET, HEAD"
    a_problem(owner.options(of("run", case.run)), 405)
    a_problem(owner.post(of("runs", case.assessment), {"kind": "tco"}), 415)
    a_problem(owner.post(of("runs", case.assessment), "{", content_type="application/json"), 400)
    a_problem(owner.get(of("run", case.run), headers={"Accept": "image/png"}), 406)
    a_problem(owner.get(reverse("api:assessments"), {"client": "x"}), 400)


@pytest.mark.parametrize(("fault", "status"), [(RuntimeError("secret"), 500), (OperationalError("secret"), 503)])
def test_a_fault_of_ours_is_told_without_its_insides(case, owner, monkeypatch, fault, status):
    def fail(*_: Any) -> None:
        raise fault

    monkeypatch.setattr(views, "run_of", fail)
    answer = owner.get(of("run", case.run), headers={"X-Request-ID": "abcdefgh-1234"})
    body = a_problem(answer, status)
    assert body["reference"] == "abcdefgh-123"
    assert "secret" not in answer.content.decode()


# Cost -----------------------------------------------------------------------------------------------------------------
def test_the_number_of_queries_does_not_depend_on_the_number_of_rows(case, owner):
    def counts() -> dict[str, int]:
        found = {}
        addresses = {name: of(name, case.assessment) for name in OF_ASSESSMENT}
        addresses |= {"run": of("run", case.run), "results": of("run_results", case.run)}
        addresses |= {name: reverse(f"api:{name}") for name in ("clients", "assessments")}
        for name, address in addresses.items():
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert owner.get(address).status_code == 200
            found[name] = len(queries)
        return found

    counts()
    before = counts()
    client = case.assessment.client
    for number in range(4):
        other = factories.make_client()
        factories.make_membership(client=other, user=case.user)
        factories.make_assessment(client=client)
        version = factories.make_quote_version(client=client)
        factories.make_quote_line(quote_version=version)
        option = factories.make_option(assessment=case.assessment, letter=f"X{number}")
        factories.make_option_phase(option=option, quote_version=version)
        factories.make_option_staff(option=option)
        factories.make_evidence_answer(option=option)
        factories.make_analysis_run(assessment=case.assessment, requested_by=factories.make_user())
    assert counts() == before
    assert max(before.values()) <= 18, before


# The document ---------------------------------------------------------------------------------------------------------
def generated() -> tuple[dict[str, Any], bytes]:
    from drf_spectacular.drainage import GENERATOR_STATS, reset_generator_stats
    from drf_spectacular.generators import SchemaGenerator
    from drf_spectacular.renderers import OpenApiYamlRenderer

    reset_generator_stats()
    schema = SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS, "drf-spectacular has warnings; manage.py spectacular prints them."
    return schema, OpenApiYamlRenderer().render(schema, renderer_context={})


def test_the_openapi_document_is_the_one_checked_in():
    _schema, text = generated()
    path = Path(settings.BASE_DIR) / "docs/schemas/openapi.yaml"
    assert path.read_bytes() == text, (
        "Write it anew: manage.py spectacular --file docs/schemas/openapi.yaml --validate --fail-on-warn"
    )


def test_the_openapi_document_is_served_and_names_every_address(case, owner):
    from apps.api.urls import urlpatterns

    answer = owner.get(reverse("api:openapi"))
    served = json.loads(answer.content)
    assert served["paths"].keys() == generated()[0]["paths"].keys()
    assert len(served["paths"]) == len(urlpatterns) - 2  # all but the document itself and the address of all others
    for path in served["paths"].values():
        for operation in path.values():
            assert "application/problem+json" in operation["responses"]["default"]["content"]


def test_answers_have_the_fields_that_the_document_promises(case, owner):
    document = json.loads(owner.get(reverse("api:openapi")).content)

    def check(path: str, answer: Any, method: str = "get") -> None:
        schema = document["paths"][path][method]["responses"][str(answer.status_code)]["content"]["application/json"]
        # OpenAPI 3.0 writes null as nullable, which JSON schema does not know
        schema = json.loads(json.dumps({**schema["schema"], "components": document["components"]}))
        jsonschema.validate(answer.json(), _with_null(schema))

    of_assessment = "/api/v1/assessments/{assessment_id}/"
    check("/api/v1/clients/", owner.get(reverse("api:clients")))
    check("/api/v1/assessments/", owner.get(reverse("api:assessments")))
    check(of_assessment, owner.get(of("assessment", case.assessment)))
    for name in ("options", "quotes", "rules", "runs"):
        check(f"{of_assessment}{name}/", owner.get(of(name, case.assessment)))
    check("/api/v1/runs/{run_id}/", owner.get(of("run", case.run)))
    check(f"{of_assessment}runs/", post(owner, of("runs", case.assessment)), "post")


def _with_null(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _with_null(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") is True else plain
