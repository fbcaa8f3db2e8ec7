"""Rules on stored assessments: the first demo case with a real run, and small ones made for one fact each."""

import json
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import transaction

from apps import engine
from apps.accounts.models import AuditEntry, Role
from apps.accounts.permissions import SYSTEM
from apps.analyses import inputs, registry
from apps.analyses.canonical import canonical_json
from apps.analyses.models import AnalysisRun, RuleWaiver
from apps.analyses.rules import RuleHit, RunDocuments, evaluate, gates_of, ranked_letters, ready_to_sign
from apps.analyses.rules.services import waive, withdraw_waiver
from apps.analyses.spec_loading import load_spec
from apps.assessments.models import Assessment, Option
from apps.assumptions import services as assumptions
from apps.assumptions.product_defaults import load_assumptions, load_claims
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration
from tests.factories import (
    make_analysis_run,
    make_assessment,
    make_client,
    make_evidence_answer,
    make_fx_rate,
    make_member,
    make_option,
    make_option_phase,
    make_option_staff,
    make_quote_line,
    make_quote_version,
    make_rack_configuration,
)

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 30)
DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
Template = RackConfiguration.Template


@pytest.fixture(autouse=True)
def defaults(db: None) -> None:
    load_assumptions()
    load_claims()


def hits(assessment: Assessment, rule_id: str, letter: str | None = None, **values: Any) -> list[RuleHit]:
    found = evaluate(assessment, **{"today": TODAY} | values)
    return [hit for hit in found if hit.rule_id == rule_id and hit.option_letter == letter]


def computed(assessment: Assessment, **changes: Any) -> AnalysisRun:
    """A succeeded run of the assessment, computed here by the real engine."""
    document = json.loads(canonical_json(inputs.tco_document(assessment) | {"draws": 512} | changes))
    results = registry.engine_of("tco").compute(document, lambda *_progress: None)
    return make_analysis_run(
        assessment=assessment,
        state=AnalysisRun.State.SUCCEEDED,
        inputs_json=canonical_json(document),
        results_json=canonical_json(results),
        engine_version=engine.__version__,
    )


# The first demo case ------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def stored_larkmere(django_db_setup: None, django_db_blocker: Any) -> Iterator[Any]:
    """The demo case, imported once for this module and rolled back after it; each test rolls its own changes back."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_assumptions()
        spec = json.loads((DEMO / "larkmere.json").read_text())
        yield load_spec(spec, by=SYSTEM, client=make_client(fictional=True)).pk
        transaction.set_rollback(True)


@pytest.fixture
def larkmere(stored_larkmere: Any) -> Assessment:
    return Assessment.objects.system("the test's own").select_related("client__organisation").get(pk=stored_larkmere)


def test_the_first_demo_case_says_what_its_story_needs(larkmere: Assessment) -> None:
    run = computed(larkmere)
    found = evaluate(larkmere, today=TODAY)
    by_rule = {(hit.rule_id, hit.option_letter): hit for hit in found}

    fabric = by_rule["F1", "C"]
    assert (fabric.severity, fabric.waived, fabric.open_gate) == ("gate", True, False)
    assert "Ines Varga" in str(fabric.waived_by)
    assert "oversubscription" in fabric.what
    assert fabric.supplier == "Nimbrel Cloud"
    assert ("F1", "A") not in by_rule
    assert ("F1", "B") not in by_rule

    staff = by_rule["T1", "B"]
    assert staff.severity in ("info", "amber")
    assert staff.value_text.startswith("3.25 FTE")
    assert "0.93 M USD less to buy than A" in staff.what
    options = json.loads(run.results_json)["options"]
    cost = sum(line["total_usd"]["likely"] for line in options["B"]["lines"] if line["category"] == "staff")
    dearer = options["A"]["nominal_usd"]["likely"] - options["B"]["nominal_usd"]["likely"]
    assert staff.threshold_text == f"break-even {3.25 + dearer / (cost / 3.25):.1f} FTE"
    assert ("T1", "A") not in by_rule

    views = by_rule["T6", None]
    assert views.severity == "banner"
    assert "A costs less nominally" in views.what
    assert json.loads(run.results_json)["ranking"]["nominal"][0] == "B"
    ranking = ranked_letters(found, json.loads(run.results_json)["ranking"]["nominal"])
    assert "C" in ranking.letters
    assert not ready_to_sign(found)
    assert [hit.severity for hit in found] == sorted(
        (hit.severity for hit in found), key=["gate", "red", "amber", "banner", "info"].index
    )


def test_an_open_gate_unranks_its_option_alone(larkmere: Assessment) -> None:
    computed(larkmere)
    waiver = RuleWaiver.objects.of_client(larkmere.client).get(rule_id="F1")
    withdraw_waiver(by=SYSTEM, waiver=waiver)
    found = evaluate(larkmere, today=TODAY)
    assert [hit.rule_id for hit in gates_of(found, "C")] == ["F1"]
    ranking = ranked_letters(found, ["B", "A", "C"])
    assert (ranking.letters, list(ranking.unranked)) == (("B", "A"), ["C"])


def test_without_a_run_the_rules_that_need_one_say_so(larkmere: Assessment) -> None:
    for rule_id in ("T6", "T8", "E4"):
        (found,) = hits(larkmere, rule_id)
        assert (found.severity, found.not_given, found.value_text) == ("info", True, "not given")


def test_another_discount_rate_of_an_older_run_does_not_count(larkmere: Assessment) -> None:
    older = computed(larkmere)
    failed = make_analysis_run(assessment=larkmere, state=AnalysisRun.State.QUEUED, number=older.number + 5)
    assert not hits(larkmere, "T6")[0].not_given
    assert hits(larkmere, "T6", run=failed)[0].not_given


@pytest.mark.parametrize("n_options", [1, 12])
def test_the_number_of_queries_does_not_grow_with_the_options(
    n_options: int, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    assessment = make_assessment()
    for number in range(n_options):
        option = make_option(assessment=assessment, letter=f"X{number}", slot=number)
        version = make_quote_version(client=assessment.client)
        make_quote_line(quote_version=version, currency="EUR")
        make_option_phase(option=option, quote_version=version)
        make_option_staff(option=option)
        make_evidence_answer(option=option, question=1)
    with django_assert_max_num_queries(10):
        evaluate(assessment, today=TODAY)


# One fact each ------------------------------------------------------------------------------------------------------
def option_with(assessment: Assessment | None = None, letter: str = "A", **values: Any) -> Option:
    option = make_option(assessment=assessment or make_assessment(), letter=letter)
    quote_version = values.pop("quote_version", None)
    configuration = make_rack_configuration(client=option.client, **values)
    make_option_phase(option=option, configuration=configuration, quote_version=quote_version)
    return option


FABRIC = {"nics_per_node": 8, "nic_gbit_per_s": 400, "topology": "two_tier", "oversubscription": 1}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (FABRIC, None),
        (FABRIC | {"nic_gbit_per_s": None}, "NIC speed; bisection"),
        (FABRIC | {"topology": ""}, "topology; bisection"),
        (FABRIC | {"n_accelerators": None}, "bisection"),
        ({"n_accelerators": 8}, None),
        ({"template": Template.INFERENCE_FLEET}, None),
    ],
)
def test_f1_names_the_missing_facts_of_the_fabric(values: dict[str, Any], named: str | None) -> None:
    found = hits(option_with(**values).assessment, "F1", "A")
    assert [hit.what for hit in found] == ([f"Not given: {named}"] if named else [])


def test_t1_asks_for_the_staff_of_disaggregated_racks() -> None:
    option = option_with(template=Template.DISAGGREGATED)
    assert [hit.severity for hit in hits(option.assessment, "T1", "A")] == ["gate"]
    make_option_staff(option=option)
    assert [(hit.severity, hit.not_given) for hit in hits(option.assessment, "T1", "A")] == [("info", True)]


def test_t2_and_t3_read_the_pinned_quote_version() -> None:
    assessment = make_assessment(signature_date=date(2026, 12, 15))
    version = make_quote_version(
        client=assessment.client, lead_weeks_likely=Decimal(20),
        delivery_commitment="none", valid_until=date(2026, 12, 14),
    )  # fmt: skip
    option_with(assessment, template=Template.RACK_SCALE, quote_version=version)
    assert hits(assessment, "T2", "A")[0].value_text == "20 weeks"
    late = hits(assessment, "T3", "A")[0]
    assert (late.severity, late.value_text, late.threshold_text) == ("red", "14 Dec 2026", "signature 15 Dec 2026")


def test_a_rule_whose_threshold_rests_on_a_contested_claim_says_so() -> None:
    assessment = make_assessment()
    version = make_quote_version(client=assessment.client, lead_weeks_likely=Decimal(20), delivery_commitment="none")
    option_with(assessment, template=Template.RACK_SCALE, quote_version=version)
    found = hits(assessment, "T2", "A")[0]
    assert (found.contested, found.threshold_key, found.threshold_version) == (True, "rule.T2.min_lead_weeks", 1)


def test_a_changed_threshold_of_the_client_counts() -> None:
    assessment = make_assessment()
    version = make_quote_version(client=assessment.client, lead_weeks_likely=Decimal(20), delivery_commitment="none")
    option_with(assessment, template=Template.RACK_SCALE, quote_version=version)
    assumptions.set_assumption(
        by=SYSTEM, client=assessment.client, key="rule.T2.min_lead_weeks", likely=Decimal(12), source="Own purchases"
    )
    assert hits(assessment, "T2", "A") == []


def test_t4_is_closed_by_what_finance_confirms() -> None:
    assessment = make_assessment()
    version = make_quote_version(client=assessment.client, tax_excluded=None, currency="EUR")
    make_quote_line(quote_version=version, currency="EUR")
    option_with(assessment, quote_version=version)
    found = hits(assessment, "T4")[0]
    assert found.what == "Not confirmed: date of exchange rates; discount rate; tax basis"
    assert found.blocks == ("sign_off",)
    assumptions.set_assumption(
        by=SYSTEM, client=assessment.client, key="discount_rate", likely=Decimal("0.09"), source="Treasury"
    )
    make_fx_rate(client=assessment.client, rate_date=date(2026, 11, 20))
    assessment.fx_date, assessment.tax = date(2026, 11, 20), {"enabled": False}
    assessment.save()
    version.tax_excluded = True
    version.save()
    assert hits(assessment, "T4") == []


@pytest.mark.parametrize(
    ("values", "severity", "value"),
    [
        ({"rack_power_kw": 132, "site_rack_limit_kw": 40, "it_load_basis": "typical"}, "red", "132 kW a rack"),
        ({"rack_power_kw": 30, "site_rack_limit_kw": 40, "it_load_basis": "nameplate"}, "red", "nameplate"),
        ({"rack_power_kw": 30, "site_rack_limit_kw": 40, "it_load_basis": "typical"}, None, None),
        ({"rack_power_kw": 30, "it_load_basis": "typical"}, "info", "not given"),
    ],
)
def test_t5_compares_racks_with_the_site(values: dict[str, Any], severity: str | None, value: str | None) -> None:
    option = option_with(cooling="air", site_cooling="air", **values)
    found = hits(option.assessment, "T5", "A")
    assert [(hit.severity, hit.value_text) for hit in found] == ([(severity, value)] if severity else [])


def test_t7_wants_availability_or_goodput_of_the_vendor() -> None:
    option = option_with()
    found = hits(option.assessment, "T7", "A")[0]
    assert (found.value_text, found.threshold_key, found.contested) == ("not given", None, False)
    other = option_with(goodput_likely=Decimal("0.9"))
    assert hits(other.assessment, "T7", "A") == []
    other.assumptions = {"occupancy_fraction": {"likely": "0.97", "source": "plan"}}
    other.save()
    assert hits(other.assessment, "T7", "A")[0].value_text == "0.97"


def test_c3_wants_an_owned_option_computed_beside_a_large_reservation(larkmere: Assessment) -> None:
    computed(larkmere)
    assert hits(larkmere, "C3", "C") == []
    configurations = RackConfiguration.objects.of_client(larkmere.client).filter(template=Template.CLOUD_RESERVED)
    configurations.update(n_accelerators=1024)
    assert hits(larkmere, "C3", "C") == []
    shorter = computed(larkmere, horizon_months=24)
    found = hits(larkmere, "C3", "C", run=shorter)
    assert [(hit.severity, hit.blocks) for hit in found] == [("gate", ("ranking", "sign_off"))]


def test_t8_names_market_prices_older_than_the_limit(larkmere: Assessment) -> None:
    assumptions.withdraw_assumption(
        by=SYSTEM, client=larkmere.client, assessment_id=larkmere.pk, key="facility_usd_per_kw_month"
    )
    computed(larkmere)
    found = hits(larkmere, "T8")[0]
    assert "Colocation as of 2025-12" in found.what
    assert found.value_text == "334 days"


def test_e4_names_a_recalled_figure_among_the_largest_drivers(larkmere: Assessment) -> None:
    assumptions.withdraw_assumption(by=SYSTEM, client=larkmere.client, key="staff_usd_per_year")
    assumptions.set_assumption(
        by=SYSTEM, client=larkmere.client, key="rule.E4.n_drivers", likely=Decimal(10), source="A wider look"
    )
    computed(larkmere)
    found = hits(larkmere, "E4")
    assert len(found) == 1
    assert "Loaded pay" in found[0].what


# Waivers ------------------------------------------------------------------------------------------------------------
def test_a_waiver_lives_from_a_named_reason_to_its_withdrawal() -> None:
    option = option_with()
    assessment = option.assessment
    architect = make_member(assessment.client, Role.ARCHITECT)
    waiver = waive(by=architect, assessment=assessment, rule_id="F1", option=option, reason="measured on site")
    (found,) = hits(assessment, "F1", "A")
    assert (found.waived_by, found.waiver_reason, found.open_gate) == (str(architect), "measured on site", False)
    with pytest.raises(InputError):
        waive(by=architect, assessment=assessment, rule_id="F1", option=option, reason="again")
    withdraw_waiver(by=architect, waiver=waiver)
    assert hits(assessment, "F1", "A")[0].open_gate
    with pytest.raises(InputError):
        withdraw_waiver(by=architect, waiver=waiver)
    waive(by=architect, assessment=assessment, rule_id="F1", option=option, reason="measured again")
    actions = AuditEntry.objects.filter(client=assessment.client).values_list("action", flat=True)
    assert sorted(actions) == ["rule.waived", "rule.waived", "rule.waiver_withdrawn"]


def test_a_waiver_counts_for_its_option_alone() -> None:
    option = option_with()
    other = option_with(option.assessment, letter="B")
    waive(
        by=SYSTEM,
        assessment=option.assessment,
        rule_id="F1",
        option=option,
        reason="measured",
        waived_by_name="A. Person",
    )
    assert not hits(option.assessment, "F1", "A")[0].open_gate
    assert hits(option.assessment, "F1", other.letter)[0].open_gate


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rule_id": "Z9"}, "rule"),
        ({"rule_id": "T4"}, "option"),
        ({"option": None}, "option"),
        ({"reason": " "}, "reason"),
        ({"waived_by_name": ""}, "waived by"),
    ],
)
def test_a_waiver_that_says_too_little_is_refused(change: dict[str, Any], named: str) -> None:
    option = option_with()
    good = {"rule_id": "F1", "option": option, "reason": "measured", "waived_by_name": "A. Person"}
    with pytest.raises(InputError) as refusal:
        waive(by=SYSTEM, assessment=option.assessment, **good | change)
    assert refusal.value.name == named


def test_an_option_of_another_assessment_cannot_be_waived() -> None:
    option = option_with()
    with pytest.raises(InputError):
        waive(
            by=SYSTEM, assessment=make_assessment(client=option.client), rule_id="F1", option=option, reason="x",
            waived_by_name="A. Person",
        )  # fmt: skip


@pytest.mark.parametrize("role", [Role.ANALYST, Role.FINANCE_REVIEWER, Role.VIEWER])
def test_only_owners_and_architects_waive(role: str) -> None:
    option = option_with()
    user = make_member(option.client, role)
    with pytest.raises(PermissionDenied):
        waive(by=user, assessment=option.assessment, rule_id="F1", option=option, reason="measured")


def test_the_baseline_is_no_candidate_and_gets_no_hits() -> None:
    option = option_with()
    Option.objects.of_client(option.client).filter(pk=option.pk).update(baseline=True)
    assert [hit for hit in evaluate(option.assessment, today=TODAY) if hit.option_letter] == []


def test_documents_that_a_page_has_read_give_the_same_hits(larkmere: Assessment) -> None:
    run = computed(larkmere)
    documents = RunDocuments(inputs=json.loads(run.inputs_json), results=json.loads(run.results_json))
    assert evaluate(larkmere, documents=documents, today=TODAY) == evaluate(larkmere, run=run, today=TODAY)
