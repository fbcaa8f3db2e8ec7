"""The cost document: what stands in it follows from stored facts alone."""

import json
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from django.core.management import call_command
from django.test.utils import CaptureQueriesContext

from apps.accounts.permissions import SYSTEM
from apps.analyses.canonical import canonical_json
from apps.analyses.inputs import tco_document
from apps.analyses.models import Scenario
from apps.assumptions.services import set_assumption
from apps.engine import tco
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration
from tests.factories import (
    make_assessment,
    make_client,
    make_fx_rate,
    make_option,
    make_option_phase,
    make_option_staff,
    make_quote,
    make_quote_line,
    make_quote_version,
    make_rack_configuration,
    make_vendor,
)

pytestmark = pytest.mark.django_db
MONTHS_PER_WEEK = Fraction(84, 365)


def case_client():
    """A client with the figures that all options of demo case 1 share."""
    client = make_client()
    for key, likely in SHARED.items():
        set_assumption(by=SYSTEM, client=client, key=key, likely=Decimal(likely), source="A test")
    return client


SHARED = {
    "discount_rate": "0.09",
    "residual_fraction.compute": "0.15",
    "residual_fraction.fabric": "0.20",
    "residual_fraction.storage": "0.10",
    "fabric_support_fraction_per_year": "0.05",
    "storage_support_fraction_per_year": "0.08",
    "insurance_fraction_per_year": "0",
    "staff_usd_per_year": "160000",
    "facility_usd_per_kw_month": "190",
    "bridge_usd_per_gpu_hour": "2.40",
}


def case_assessment():
    return make_assessment(
        client=case_client(),
        name="A case",
        draws=64,
        demand=[{"from_month": "9", "n_accelerators": "128"}],
        fx_date=date(2026, 11, 24),
    )


@pytest.fixture
def assessment(db):
    call_command("load_assumptions", verbosity=0)
    return case_assessment()


def version(client, name, *, lead, acceptance, **values):
    quote = make_quote(vendor=make_vendor(client=client, name=name), number="Q-1")
    return make_quote_version(quote=quote, version=1, lead_weeks_likely=lead, acceptance_weeks=acceptance, **values)


def lines(quote_version, *rows):
    for position, (kind, row, quantity, price, extra) in enumerate(rows, start=1):
        values = {"charge": "one_off", "unit": "piece", "source_ref": f"Lines!H{position + 1}", **extra}
        make_quote_line(
            quote_version=quote_version,
            position=position,
            kind=kind,
            comparison_key=row,
            description=row,
            quantity=Decimal(quantity),
            unit_price_likely=None if price is None else Decimal(price),
            **values,
        )


YEARLY_8 = {"charge": "recurring", "period": "year", "percent_of": "compute"}


def owned_option(assessment, letter="A", **phase):
    quoted = version(assessment.client, f"Velmora {letter}", lead=Decimal(30), acceptance=Decimal(3))
    lines(
        quoted,
        ("compute", "compute_nodes", 16, "295000", {}),
        ("fabric", "switches", 6, "48000", {}),
        ("fabric", "links", 256, "1900", {}),
        ("storage", "storage", 1, "600000", {}),
        ("service", "installation", 1, "190000", {}),
        ("support", "compute_support", 1, "8", YEARLY_8),
    )
    option = make_option(assessment=assessment, letter=letter, facility="colocation")
    configuration = make_rack_configuration(
        client=assessment.client, name=f"Nodes {letter}", it_load_kw_likely=Decimal(187), it_load_basis="typical"
    )
    make_option_phase(option=option, configuration=configuration, quote_version=quoted, position=1, **phase)
    make_option_staff(option=option, role="Operations", fte_likely=Decimal("1.5"), starts="signature")
    return option


HOURLY = {"charge": "recurring", "period": "hour", "unit": "GPU"}
MONTHLY = {"charge": "recurring", "period": "month"}


def cloud_option(assessment, letter="C", quantity=128, configuration=None, **phase):
    quoted = version(assessment.client, f"Nimbrel {letter}", lead=Decimal(3), acceptance=Decimal(0))
    lines(
        quoted,
        ("cloud", "gpu_rental", quantity, "2.25", HOURLY),
        ("storage", "storage_rental", 450, "75", MONTHLY),
        ("cloud", "egress", 1, "1000", MONTHLY),
        ("service", "installation", 1, "25000", {}),
    )
    option = make_option(assessment=assessment, letter=letter, facility="none")
    values = {"template": RackConfiguration.Template.CLOUD_RESERVED, "n_accelerators": 128, "name": f"Cloud {letter}"}
    made = make_rack_configuration(client=assessment.client, **values | (configuration or {}))
    make_option_phase(option=option, configuration=made, quote_version=quoted, position=1, **phase)
    make_option_staff(option=option, role="Operations", fte_likely=Decimal("0.75"), starts="signature")
    return option


def document_of(assessment, **arguments):
    return json.loads(canonical_json(tco_document(assessment, **arguments)))


def nominal(document, letter):
    return tco.total_cost_of_ownership(document)["options"][letter]["nominal_usd"]["likely"]


def lines_of(document, letter):
    option = next(option for option in document["options"] if option["key"] == letter)
    return {line["key"]: line for line in option["lines"]}


def totals(document, letter):
    found = tco.total_cost_of_ownership(document)["options"][letter]["lines"]
    return {line["key"]: line["total_usd"]["likely"] for line in found}


def test_option_a_costs_what_a_hand_calculation_gives_to_the_cent(assessment):
    owned_option(assessment)
    nodes, fabric, storage, installation = 16 * 295_000, 6 * 48_000 + 256 * 1_900, 600_000, 190_000
    months_running = 36 - 30 * MONTHS_PER_WEEK  # from delivery to the horizon
    support = (nodes * Fraction(8, 100) + fabric * Fraction(5, 100) + storage * Fraction(8, 100)) / 12 * months_running
    facility = 187 * 190 * months_running
    staff = Fraction(3, 2) * 160_000 * 3
    residual = nodes * Fraction(15, 100) + fabric * Fraction(20, 100) + storage * Fraction(10, 100)
    by_hand = nodes + fabric + storage + installation + support + facility + staff - residual
    assert nominal(document_of(assessment), "A") == pytest.approx(float(by_hand), abs=0.005)
    assert float(by_hand) == pytest.approx(8_241_113.97, abs=0.005)


def test_option_c_costs_what_a_hand_calculation_gives_to_the_cent(assessment):
    cloud_option(assessment)
    months_running = 36 - 3 * MONTHS_PER_WEEK
    monthly = 128 * Fraction(225, 100) * 730 + 450 * 75 + 1_000
    by_hand = 25_000 + monthly * months_running + Fraction(3, 4) * 160_000 * 3
    assert nominal(document_of(assessment), "C") == pytest.approx(float(by_hand), abs=0.005)
    assert float(by_hand) == pytest.approx(9_035_496.22, abs=0.005)


def test_a_late_option_bridges_its_demand_with_cloud(assessment):
    owned_option(assessment, order_month=Decimal(3))
    ready = 3 + 33 * MONTHS_PER_WEEK
    expected = 128 * 730 * Fraction(240, 100) * (ready - 9)
    assert totals(document_of(assessment), "A")["A.bridge"] == pytest.approx(float(expected), abs=0.005)


def test_the_baseline_is_not_bridged(assessment):
    option = owned_option(assessment)
    option.baseline = True
    option.save()
    assert document_of(assessment)["options"][0]["bridge"] is None


def test_the_engine_accepts_the_document_of_every_kind_of_option(assessment):
    owned_option(assessment)
    cloud_option(assessment)
    tco.check_document(document_of(assessment))


def test_every_input_carries_label_unit_and_source(assessment):
    owned_option(assessment)
    for key, entry in document_of(assessment)["inputs"].items():
        assert entry["label"], key
        assert entry["unit"], key
        assert entry["source"]["kind"] in {"quote", "assumption", "configuration", "option", "catalogue", "fx"}, key
    source = document_of(assessment)["inputs"]["velmora-a.q-1.compute_nodes.unit_price"]["source"]
    assert (source["text"], source["ref"], source["version"]) == ("Velmora A Q-1", "Lines!H2", "1")


def test_the_document_holds_no_database_ids_and_no_clock_times(assessment):
    option = owned_option(assessment)
    text = canonical_json(tco_document(assessment))
    phase = option.phases.first()
    for row in (assessment, option, phase, phase.configuration, phase.quote_version, assessment.client):
        assert str(row.pk) not in text
    assert str(assessment.created_at.year) + "-" + assessment.created_at.strftime("%m-%dT") not in text


def test_equal_facts_of_two_clients_give_equal_bytes(assessment):
    texts = []
    for each in (assessment, case_assessment()):
        option = owned_option(each)
        option.name = "Owned"
        option.save()
        texts.append(canonical_json(tco_document(each)))
    assert texts[0] == texts[1]


def test_the_number_of_queries_does_not_depend_on_the_number_of_options(assessment, django_assert_num_queries):
    from django.db import connection

    owned_option(assessment, "O1")
    with CaptureQueriesContext(connection) as one:
        tco_document(assessment)
    for number in range(2, 51):
        owned_option(assessment, f"O{number}")
    with django_assert_num_queries(len(one)):
        document = tco_document(assessment)
    assert len(document["options"]) == 50
    assert len(one) <= 8


def test_a_line_without_a_price_is_not_given_and_never_zero(assessment):
    option = owned_option(assessment)
    quoted = option.phases.first().quote_version
    make_quote_line(
        quote_version=quoted, position=9, kind="software", comparison_key="scheduler", description="Scheduler",
        unit_price_likely=None,
    )  # fmt: skip
    document = document_of(assessment)
    line = lines_of(document, "A")["A.scheduler"]
    assert line["not_given"] is True
    assert line["factors"] == []
    assert any("Scheduler" in text for text in tco.total_cost_of_ownership(document)["options"]["A"]["warnings"])


def test_an_included_line_costs_nothing_and_warns_of_nothing(assessment):
    option = owned_option(assessment)
    make_quote_line(
        quote_version=option.phases.first().quote_version, position=9, kind="software", comparison_key="scheduler",
        unit_price_likely=None, included=True,
    )  # fmt: skip
    assert "A.scheduler" not in lines_of(document_of(assessment), "A")


def test_versions_of_a_quote_share_the_inputs_they_do_not_change(assessment):
    first = owned_option(assessment)
    old = first.phases.first().quote_version
    new = make_quote_version(quote=old.quote, version=2, lead_weeks_likely=Decimal(30), acceptance_weeks=Decimal(3))
    lines(new, ("compute", "compute_nodes", 16, "295000", {}), ("fabric", "switches", 7, "48000", {}))
    second = make_option(assessment=assessment, letter="A+", facility="none")
    make_option_phase(option=second, configuration=first.phases.first().configuration, quote_version=new, position=1)
    document = document_of(assessment)
    price = lines_of(document, "A+")["A+.compute_nodes"]["factors"][1]
    assert price == lines_of(document, "A")["A.compute_nodes"]["factors"][1]
    assert lines_of(document, "A+")["A+.switches"]["factors"][0] == "velmora-a.q-1.v2.switches.quantity"


def test_support_in_the_quote_replaces_the_assumption(assessment):
    option = owned_option(assessment)
    make_quote_line(
        quote_version=option.phases.first().quote_version, position=9, kind="support",
        comparison_key="fabric_storage_support", description="Fabric support", quantity=1,
        unit_price_likely=Decimal(4), charge="recurring", period="year", percent_of="fabric",
    )  # fmt: skip
    keys = lines_of(document_of(assessment), "A")
    assert keys["A.fabric_storage_support"]["percent_of"] == ["A.switches", "A.links"]
    assert "A.fabric_support" not in keys
    assert keys["A.storage_support"]["row"] == "fabric_storage_support"


def test_an_option_may_assume_something_of_its_own(assessment):
    option = owned_option(assessment)
    option.assumptions = {"facility_usd_per_kw_month": {"likely": "210", "source": "Site offer"}}
    option.save()
    document = document_of(assessment)
    assert lines_of(document, "A")["A.facility"]["factors"][1] == "A.facility_usd_per_kw_month"
    assert document["inputs"]["A.facility_usd_per_kw_month"]["source"]["kind"] == "option"


def test_committed_power_is_billed_when_the_load_is_below_it(assessment):
    option = owned_option(assessment)
    option.committed_kw = Decimal(250)
    option.save()
    expected = 250 * 190 * (36 - 30 * MONTHS_PER_WEEK)
    assert totals(document_of(assessment), "A")["A.facility"] == pytest.approx(float(expected), abs=0.005)


def test_metered_power_counts_pue_and_leaves_the_load_factor_to_nameplates(assessment):
    option = owned_option(assessment)
    option.facility = "metered"
    option.save()
    typical = lines_of(document_of(assessment), "A")["A.electricity"]
    assert "power.pue" in typical["factors"]
    assert "power.load_factor" not in typical["factors"]
    configuration = option.phases.first().configuration
    configuration.it_load_basis = "nameplate"
    configuration.save()
    assert "power.load_factor" in lines_of(document_of(assessment), "A")["A.electricity"]["factors"]


def test_a_foreign_currency_is_converted_with_the_latest_rate_on_or_before_the_date(assessment):
    option = owned_option(assessment)
    quoted = option.phases.first().quote_version
    quoted.lines.filter(position=1).update(currency="EUR")
    for day, rate in (("2026-11-20", "1.10"), ("2026-11-24", "1.12"), ("2026-11-25", "9")):
        make_fx_rate(client=assessment.client, rate=Decimal(rate), rate_date=day)
    document = document_of(assessment)
    assert lines_of(document, "A")["A.compute_nodes"]["factors"][-1] == "fx.EUR.USD"
    assert document["inputs"]["fx.EUR.USD"]["likely"] == "1.12"
    assert document["inputs"]["fx.EUR.USD"]["source"]["date"] == "2026-11-24"


def test_a_rate_stored_the_other_way_round_is_turned(assessment):
    option = owned_option(assessment)
    option.phases.first().quote_version.lines.filter(position=1).update(currency="EUR")
    make_fx_rate(client=assessment.client, base="USD", quote="EUR", rate=Decimal("0.8"), rate_date="2026-11-20")
    assert document_of(assessment)["inputs"]["fx.EUR.USD"]["likely"] == "1.25"


def test_a_missing_rate_is_refused_with_pair_and_date(assessment):
    option = owned_option(assessment)
    option.phases.first().quote_version.lines.filter(position=1).update(currency="GBP")
    with pytest.raises(InputError, match=r"fx\.GBP\.USD is not given.*GBP and USD.*2026-11-24"):
        tco_document(assessment)


def test_payment_milestones_spread_the_capital_lines(assessment):
    option = owned_option(assessment)
    quoted = option.phases.first().quote_version
    quoted.payment_milestones = [
        {"share": "0.3", "anchor": "signature"},
        {"share": "0.7", "anchor": "acceptance", "offset_weeks": "4"},
    ]
    quoted.save()
    milestones = lines_of(document_of(assessment), "A")["A.compute_nodes"]["timing"]["milestones"]
    assert [part["at"]["event"] for part in milestones] == ["signature", "ready"]
    assert nominal(document_of(assessment), "A") == pytest.approx(8_241_113.97, abs=0.005)


def test_a_phase_may_end_when_another_is_ready(assessment):
    option = owned_option(assessment)
    cloud = cloud_option(assessment, "C").phases.first()
    make_option_phase(
        option=option, configuration=cloud.configuration, quote_version=cloud.quote_version, position=2,
        ends_when_ready=1, quantity_scale=Decimal("0.5"), n_accelerators=64,
    )  # fmt: skip
    document = document_of(assessment)
    rental = lines_of(document, "A")["A.gpu_rental"]
    assert rental["timing"]["to"] == {"event": "ready", "phase": "A.1", "month": None, "offset_months": None}
    expected = 64 * Fraction(225, 100) * 730 * (33 - 3) * MONTHS_PER_WEEK
    assert totals(document, "A")["A.gpu_rental"] == pytest.approx(float(expected), abs=0.005)
    assert totals(document, "A")["A.installation.2"] == pytest.approx(25_000)


def test_hours_committed_but_not_wanted_are_billed_on_a_line_of_their_own(assessment):
    assessment.demand = [{"from_month": "0", "n_accelerators": "32"}, {"from_month": "9", "n_accelerators": "128"}]
    assessment.save()
    cloud_option(assessment)
    document = document_of(assessment)
    found = totals(document, "C")
    start = 3 * MONTHS_PER_WEEK
    assert found["C.gpu_commitment_unused"] == pytest.approx(float(96 * Fraction(225, 100) * 730 * (9 - start)))
    assert nominal(document, "C") == pytest.approx(9_035_496.22, abs=0.005)


def test_accelerators_beyond_the_commitment_are_billed_as_wanted(assessment):
    assessment.demand = [{"from_month": "0", "n_accelerators": "100"}]
    assessment.save()
    cloud_option(
        assessment, configuration={"committed_fraction": Decimal("0.5"), "on_demand_usd_per_gpu_hour": Decimal(3)}
    )
    found = totals(document_of(assessment), "C")
    months_running = 36 - 3 * MONTHS_PER_WEEK
    assert found["C.gpu_rental"] == pytest.approx(float(64 * Fraction(225, 100) * 730 * months_running))
    assert found["C.gpu_on_demand"] == pytest.approx(float(36 * 3 * 730 * months_running))
    assert "C.gpu_commitment_unused" not in found


def test_on_demand_capacity_without_demand_is_billed_whole(assessment):
    assessment.demand = []
    assessment.save()
    cloud_option(assessment, configuration={"template": RackConfiguration.Template.CLOUD_ON_DEMAND})
    found = totals(document_of(assessment), "C")
    assert found["C.gpu_on_demand"] == pytest.approx(float(128 * Fraction(225, 100) * 730 * (36 - 3 * MONTHS_PER_WEEK)))


def test_spot_costs_more_than_its_rate_by_the_time_it_loses(assessment):
    assessment.demand = []
    assessment.save()
    spot = {
        "committed_fraction": Decimal(0), "spot_share": Decimal(1), "spot_usd_per_gpu_hour": Decimal(1),
        "on_demand_usd_per_gpu_hour": Decimal(3), "spot_interruptions_per_hour": Decimal("0.1"),
        "checkpoint_minutes": Decimal(3), "checkpoint_interval_minutes": Decimal(60), "restart_minutes": Decimal(30),
    }  # fmt: skip
    cloud_option(assessment, configuration=spot)
    lost = Fraction(3, 60) + Fraction(1, 10) * (Fraction(1, 2) + Fraction(1, 2))
    expected = 128 * (1 + lost) * 730 * (36 - 3 * MONTHS_PER_WEEK)
    assert totals(document_of(assessment), "C")["C.gpu_spot"] == pytest.approx(float(expected))


def test_a_spot_share_without_its_rate_is_refused(assessment):
    assessment.demand = []
    assessment.save()
    cloud_option(assessment, configuration={"committed_fraction": Decimal(0), "spot_share": Decimal("0.5")})
    with pytest.raises(InputError, match="spot rate"):
        tco_document(assessment)


def test_a_scenario_changes_its_inputs_and_leaves_the_base(assessment):
    owned_option(assessment)
    key = "velmora-a.q-1.compute_nodes.unit_price"
    scenario = Scenario(
        client=assessment.client, assessment=assessment, name="Cheaper", overrides={key: {"likely": "280000"}}
    )
    assert document_of(assessment, scenario=scenario)["inputs"][key]["likely"] == "280000"
    assert "before: 295000" in document_of(assessment, scenario=scenario)["inputs"][key]["source"]["text"]
    assert document_of(assessment)["inputs"][key]["likely"] == "295000"


def test_a_scenario_with_an_unknown_input_is_refused(assessment):
    owned_option(assessment)
    scenario = Scenario(
        client=assessment.client, assessment=assessment, name="S", overrides={"no.such": {"likely": "1"}}
    )
    with pytest.raises(InputError, match=r"no\.such"):
        tco_document(assessment, scenario=scenario)


def test_insurance_extra_lines_and_loan_reach_the_engine(assessment):
    option = owned_option(assessment)
    option.financing = {"kind": "loan", "share": "0.8", "annual_rate": "0.08", "term_months": 36}
    option.extra_lines = [
        {"kind": "service", "comparison_key": "decommissioning", "description": "Removal", "quantity": "1",
         "unit_price_likely": "50000", "charge": "one_off", "starts": "month", "start_month": "36"}
    ]  # fmt: skip
    option.save()
    set_assumption(
        by=SYSTEM, client=assessment.client, key="insurance_fraction_per_year", likely=Decimal("0.004"), source="A test"
    )
    document = document_of(assessment)
    tco.check_document(document)
    found = totals(document, "A")
    assert found["A.decommissioning"] == 50_000
    assert found["A.insurance"] > 0


def test_an_option_without_a_phase_is_refused_by_its_letter(assessment):
    make_option(assessment=assessment, letter="E")
    with pytest.raises(InputError, match="Option E"):
        tco_document(assessment)


def test_a_dropped_option_is_left_out(assessment):
    owned_option(assessment)
    dropped = cloud_option(assessment)
    dropped.dropped_reason = "Too dear"
    dropped.save()
    assert [option["key"] for option in document_of(assessment)["options"]] == ["A"]
