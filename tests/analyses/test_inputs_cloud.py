"""Rented accelerators, shared sites and phases in the cost document: what is billed in which month, to the cent."""

import json
from decimal import Decimal

import pytest
from django.core.management import call_command

from apps.accounts.permissions import SYSTEM
from apps.analyses.canonical import canonical_json
from apps.analyses.inputs import tco_document
from apps.analyses.models import Scenario
from apps.assumptions.services import set_assumption
from apps.engine import tco
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration
from apps.reports.workbook import tco_workbook
from tests.factories import (
    make_assessment,
    make_client,
    make_option,
    make_option_phase,
    make_option_staff,
    make_quote,
    make_quote_line,
    make_quote_version,
    make_rack_configuration,
    make_vendor,
)
from tests.reports.recalculation import errors, numbers, recalculated

pytestmark = pytest.mark.django_db
RESERVED = RackConfiguration.Template.CLOUD_RESERVED
ON_DEMAND = RackConfiguration.Template.CLOUD_ON_DEMAND
ZEROS = (
    "residual_fraction.compute", "residual_fraction.fabric", "residual_fraction.storage", "insurance_fraction_per_year",
    "fabric_support_fraction_per_year", "storage_support_fraction_per_year", "staff_escalation_fraction_per_year",
)  # fmt: skip
HOURLY_80 = 80 * 2 * 730  # a month


@pytest.fixture
def assessment(db):
    """36 months at 9 %, no demand stated."""
    call_command("load_assumptions", verbosity=0)
    client = make_client()
    values = {"discount_rate": "0.09", "staff_usd_per_year": "120000", "facility_usd_per_kw_month": "200"}
    for key, likely in {**values, **dict.fromkeys(ZEROS, "0")}.items():
        set_assumption(by=SYSTEM, client=client, key=key, likely=Decimal(likely), source="A test")
    return make_assessment(client=client, name="A case", draws=64)


def hourly(quantity="80", price="2.00", **values):
    return {
        "kind": "cloud", "comparison_key": "gpu_rental", "charge": "recurring", "period": "hour", "unit": "GPU",
        "quantity": Decimal(quantity), "unit_price_likely": None if price is None else Decimal(price),
        "description": "GPU rental", **values,
    }  # fmt: skip


def quote_of(client, lines, **values):
    quote = make_quote(vendor=make_vendor(client=client), number="Q-1")
    version = make_quote_version(quote=quote, version=1, **values)
    for position, line in enumerate(lines, start=1):
        make_quote_line(quote_version=version, position=position, **line)
    return version


def option_of(assessment, letter="C", **values):
    return make_option(assessment=assessment, letter=letter, **{"facility": "none", **values})


def rent(option, *lines, lead=None, configuration=None, **phase):
    """A cloud phase of 80 accelerators, 8 a node."""
    weeks = dict(zip(("lead_weeks_low", "lead_weeks_likely", "lead_weeks_high"), lead, strict=True)) if lead else {}
    values = {"template": RESERVED, "n_accelerators": 80, "accelerators_per_node": 8} | (configuration or {})
    return make_option_phase(
        option=option,
        configuration=make_rack_configuration(client=option.client, **values),
        quote_version=quote_of(option.client, lines, **weeks),
        position=option.phases.count() + 1,
        **phase,
    )


def own(option, n_accelerators=80, load_kw=None, lead=None, **phase):
    """A phase of bought machines that costs nothing but its site."""
    weeks = dict(zip(("lead_weeks_low", "lead_weeks_likely", "lead_weeks_high"), lead, strict=True)) if lead else {}
    return make_option_phase(
        option=option,
        configuration=make_rack_configuration(
            client=option.client,
            n_accelerators=n_accelerators,
            it_load_kw_likely=None if load_kw is None else Decimal(load_kw),
            it_load_basis="typical",
        ),
        quote_version=quote_of(option.client, [], **weeks),
        position=option.phases.count() + 1,
        **phase,
    )


def wants(assessment, *steps):
    assessment.demand = [{"from_month": str(month), "n_accelerators": wanted} for month, wanted in steps]
    assessment.save()


def document_of(assessment, **arguments):
    return json.loads(canonical_json(tco_document(assessment, **arguments)))


def answer(assessment, letter="C", **arguments):
    return tco.total_cost_of_ownership(document_of(assessment, **arguments))["options"][letter]


def nominal(assessment, letter="C", **arguments):
    return answer(assessment, letter, **arguments)["nominal_usd"]["likely"]


def rows(assessment, letter="C"):
    """Totals by row of what has a price; cloud for unmet demand is left out."""
    found = {}
    for line in answer(assessment, letter)["lines"]:
        if not line["not_given"] and line["row"] != "bridge":
            found[line["row"]] = found.get(line["row"], 0) + line["total_usd"]["likely"]
    return found


# Units ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("unit", ["GPU", "GPUs", "gpu-hour", "GPU-h", "USD/GPU-hour", "accelerator", "Accelerators"])
def test_a_price_by_the_accelerator_counts_accelerators(assessment, unit):
    rent(option_of(assessment), hourly(unit=unit))
    assert nominal(assessment) == pytest.approx(4_204_800)


@pytest.mark.parametrize("unit", ["node", "Nodes", "node-hour", "8-GPU node", "GPU instance", "instance-hours"])
def test_a_price_by_the_node_counts_the_accelerators_of_its_nodes(assessment, unit):
    rent(option_of(assessment), hourly("10", "16", unit=unit))
    assert nominal(assessment) == pytest.approx(4_204_800)


def test_a_price_by_the_node_without_accelerators_per_node_is_refused(assessment):
    rent(option_of(assessment), hourly("10", "16", unit="node"), configuration={"accelerators_per_node": None})
    with pytest.raises(InputError, match="accelerators per node is not given"):
        tco_document(assessment)


@pytest.mark.parametrize("unit", ["", "pod", "lot", "GPU per node"])
def test_an_hourly_price_by_another_unit_is_refused(assessment, unit):
    rent(option_of(assessment), hourly(unit=unit))
    with pytest.raises(InputError, match=r"C\.gpu_rental, unit"):
        tco_document(assessment)


def test_hours_of_nodes_beyond_the_demand_are_counted_in_accelerators(assessment):
    wants(assessment, (0, 60))
    rent(option_of(assessment), hourly("10", "16", unit="node"))
    assert rows(assessment) == pytest.approx({"gpu_rental": 3_153_600, "gpu_commitment_unused": 1_051_200})


def test_an_on_demand_price_by_the_node_bills_the_accelerators_wanted(assessment):
    wants(assessment, (0, 60))
    rent(option_of(assessment), hourly("10", "16", unit="node"), configuration={"template": ON_DEMAND})
    assert rows(assessment) == pytest.approx({"gpu_on_demand": 3_153_600})


@pytest.mark.parametrize("template", [RESERVED, ON_DEMAND])
def test_a_price_for_no_accelerators_costs_nothing_and_stands_there(assessment, template):
    rent(option_of(assessment), hourly("0"), configuration={"template": template})
    found = answer(assessment)["lines"]
    assert [(line["key"], line["total_usd"]["likely"]) for line in found] == [("C.gpu_rental", 0)]
    assert "nothing is billed" in found[0]["formula"]


def test_no_nodes_beside_a_tranche_do_not_change_it(assessment):
    rent(option_of(assessment), hourly(), hourly("0", "9", description="Burst"))
    assert nominal(assessment) == pytest.approx(4_204_800)


# Tranches -------------------------------------------------------------------------------------------------------------
def test_the_commitments_of_several_hourly_prices_add_up(assessment):
    rent(option_of(assessment), hourly("40", "2.00"), hourly("40", "2.50"))
    assert nominal(assessment) == pytest.approx(4_730_400)
    assert set(rows(assessment)) == {"gpu_rental"}


def test_a_demand_below_the_tranches_leaves_hours_of_the_last_one_unused(assessment):
    wants(assessment, (0, 60))
    rent(option_of(assessment), hourly("40", "2.00"), hourly("40", "2.50"))
    month = 730 * 36
    assert rows(assessment) == pytest.approx({"gpu_rental": (80 + 50) * month, "gpu_commitment_unused": 50 * month})
    assert nominal(assessment) == pytest.approx(4_730_400)


def test_accelerators_beyond_all_tranches_are_billed_once_at_the_on_demand_rate(assessment):
    rent(
        option_of(assessment), hourly("40", "2.00"), hourly("40", "2.50"),
        configuration={"n_accelerators": 100, "on_demand_usd_per_gpu_hour": Decimal(4)},
    )  # fmt: skip
    assert rows(assessment) == pytest.approx({"gpu_rental": 4_730_400, "gpu_on_demand": 20 * 4 * 730 * 36})


def test_accelerators_beyond_tranches_of_different_prices_need_an_on_demand_rate(assessment):
    rent(option_of(assessment), hourly("40", "2.00"), hourly("40", "2.50"), configuration={"n_accelerators": 100})
    with pytest.raises(InputError, match="on-demand rate is not given"):
        tco_document(assessment)


def test_on_demand_prices_are_used_in_the_order_of_the_quote(assessment):
    wants(assessment, (0, 60))
    rent(option_of(assessment), hourly("40", "2.00"), hourly("40", "2.50"), configuration={"template": ON_DEMAND})
    assert rows(assessment) == pytest.approx({"gpu_on_demand": (80 + 50) * 730 * 36})


def test_tranches_one_after_the_other_do_not_count_as_one_commitment(assessment):
    rent(
        option_of(assessment), hourly("80", "2.00", term_months=Decimal(12)),
        hourly("80", "1.50", starts="month", start_month=Decimal(12)),
        configuration={"n_accelerators": 100, "on_demand_usd_per_gpu_hour": Decimal(4)},
    )  # fmt: skip
    first, second, beyond = 160 * 730 * 12, 120 * 730 * 24, 20 * 4 * 730 * 36
    assert rows(assessment) == pytest.approx({"gpu_rental": first + second, "gpu_on_demand": beyond})


def test_accelerators_priced_by_the_month_are_not_billed_again_on_demand(assessment):
    rent(option_of(assessment), hourly("40", "2.00"), hourly("40", "1460", period="month"))
    assert nominal(assessment) == pytest.approx(4_204_800)


def test_a_tranche_without_a_price_is_not_billed_at_that_of_another(assessment):
    rent(option_of(assessment), hourly("40", "2.00"), hourly("40", None))
    assert nominal(assessment) == pytest.approx(2_102_400)
    assert [line["not_given"] for line in answer(assessment)["lines"]] == [False, True]


# Times of a line ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"escalation_fraction_per_year": Decimal("0.10")}, 4_639_296),
        ({"term_months": Decimal(12)}, 1_401_600),
        ({"starts": "month", "start_month": Decimal(6)}, 3_504_000),
        ({"starts": "month", "start_month": Decimal(6), "term_months": Decimal(12)}, 1_401_600),
    ],
)
def test_an_hourly_price_keeps_its_own_rise_term_and_start(assessment, fields, expected):
    rent(option_of(assessment), hourly(**fields))
    assert nominal(assessment) == pytest.approx(expected)


def test_the_term_of_an_hourly_price_holds_beside_a_demand(assessment):
    wants(assessment, (0, 60), (6, 100))
    rent(option_of(assessment), hourly(term_months=Decimal(12)))
    assert rows(assessment) == pytest.approx(
        {"gpu_rental": 60 * 2 * 730 * 6 + HOURLY_80 * 6, "gpu_commitment_unused": 20 * 2 * 730 * 6}
    )


def test_accelerators_billed_as_used_at_the_price_of_a_line_rise_with_it(assessment):
    rent(
        option_of(assessment), hourly(escalation_fraction_per_year=Decimal("0.10")),
        configuration={"template": ON_DEMAND},
    )  # fmt: skip
    assert nominal(assessment) == pytest.approx(4_639_296)


# Share of a quote -----------------------------------------------------------------------------------------------------
def test_a_share_of_a_cloud_quote_takes_that_share_of_rental_and_accelerators(assessment):
    rent(option_of(assessment), hourly(), quantity_scale=Decimal("0.5"))
    found = answer(assessment)
    assert found["nominal_usd"]["likely"] == pytest.approx(2_102_400)
    assert found["supply"]["installed_gpu_hours"]["likely"] == pytest.approx(40 * 730 * 36)


def test_a_share_of_own_machines_brings_that_share_of_accelerators(assessment):
    wants(assessment, (0, 80))
    own(option_of(assessment, bridge={"usd_per_gpu_hour": "3"}), quantity_scale=Decimal("0.5"))
    found = answer(assessment)
    assert found["supply"]["installed_gpu_hours"]["likely"] == pytest.approx(40 * 730 * 36)
    assert found["nominal_usd"]["likely"] == pytest.approx(40 * 3 * 730 * 36)


def test_the_accelerators_a_phase_names_win_over_its_share(assessment):
    rent(option_of(assessment), hourly(), quantity_scale=Decimal("0.5"), n_accelerators=40)
    other = option_of(assessment, "D")
    rent(other, hourly("160"), quantity_scale=Decimal("0.5"), n_accelerators=64)
    assert answer(assessment)["supply"]["installed_gpu_hours"]["likely"] == pytest.approx(40 * 730 * 36)
    assert answer(assessment, "D")["supply"]["installed_gpu_hours"]["likely"] == pytest.approx(64 * 730 * 36)
    assert nominal(assessment, "D") == pytest.approx(4_204_800)


# Committed power ------------------------------------------------------------------------------------------------------
def site(assessment, committed_kw="200"):
    return option_of(assessment, "A", facility="colocation", committed_kw=Decimal(committed_kw))


def test_committed_power_is_billed_over_phases_that_follow_each_other(assessment):
    option = site(assessment)
    own(option, load_kw=100, end_month=Decimal(18))
    own(option, load_kw=100, order_month=Decimal(18))
    assert nominal(assessment, "A") == pytest.approx(1_440_000)


def test_loads_add_up_only_while_their_phases_overlap(assessment):
    option = site(assessment)
    own(option, load_kw=150, end_month=Decimal(18))
    own(option, load_kw=150, order_month=Decimal(12))
    assert nominal(assessment, "A") == pytest.approx(200 * 200 * 36 + 100 * 200 * 6)


def test_a_second_phase_ordered_later_raises_the_bill_from_its_delivery(assessment):
    option = site(assessment)
    own(option, load_kw=150)
    own(option, load_kw=150, order_month=Decimal(12))
    assert nominal(assessment, "A") == pytest.approx(200 * 200 * 12 + 300 * 200 * 24)


def test_committed_power_is_billed_between_two_phases(assessment):
    option = site(assessment)
    own(option, load_kw=250, end_month=Decimal(12))
    own(option, load_kw=100, order_month=Decimal(24))
    assert nominal(assessment, "A") == pytest.approx(250 * 200 * 12 + 200 * 200 * 24)


def test_phases_listed_in_another_order_cost_the_same(assessment):
    option = site(assessment)
    own(option, load_kw=150, order_month=Decimal(12))
    own(option, load_kw=150, end_month=Decimal(18))
    assert nominal(assessment, "A") == pytest.approx(200 * 200 * 36 + 100 * 200 * 6)


def brute_force_power(loads, committed):
    """The bill of a site in steps of a thousandth of a month; phases as (load, start, end)."""
    first, last = min(start for _, start, _ in loads), max(end for *_, end in loads)
    moments = [k / 1000 + 0.0005 for k in range(36_000) if first <= k / 1000 + 0.0005 < last]
    return sum(max(committed, sum(load for load, a, b in loads if a <= t < b)) * 200 for t in moments) / 1000


@pytest.mark.parametrize("weeks", [(4, 10, 90), (4, 40, 90), (4, 85, 90)])
def test_power_is_exact_whichever_of_two_uncertain_deliveries_comes_first(assessment, weeks):
    option = site(assessment)
    own(option, load_kw=150, lead=[Decimal(w) for w in weeks], end_month=Decimal(30))
    own(option, load_kw=120, lead=[Decimal(w) for w in (10, 50, 80)])
    own(option, load_kw=60, order_month=Decimal(6), end_month=Decimal(24))
    month = 84 / 365
    phases = [(150, weeks[1] * month, 30), (120, 50 * month, 36), (60, 6, 24)]
    expected = brute_force_power(phases, 200)
    assert nominal(assessment, "A") == pytest.approx(expected, rel=1e-3)


# Cloud beside own machines --------------------------------------------------------------------------------------------
def test_on_demand_cloud_beside_own_machines_bills_what_they_do_not_meet(assessment):
    wants(assessment, (0, 100))
    option = option_of(assessment)
    own(option)
    rent(option, hourly(price="4"), configuration={"template": ON_DEMAND})
    assert nominal(assessment) == pytest.approx(2_102_400)


def test_the_order_in_which_phases_are_listed_does_not_matter_beside_own_machines(assessment):
    wants(assessment, (0, 100))
    option = option_of(assessment)
    rent(option, hourly(price="4"), configuration={"template": ON_DEMAND})
    own(option)
    assert nominal(assessment) == pytest.approx(2_102_400)


def test_on_demand_cloud_is_billed_whole_until_own_machines_are_ready(assessment):
    wants(assessment, (0, 100), (24, 60))
    option = option_of(assessment)
    rent(option, hourly(price="4"), configuration={"template": ON_DEMAND})
    own(option, order_month=Decimal(6), end_month=Decimal(30))
    before, beside, after = 80 * (6 - 0), 20 * (24 - 6), 60 * (36 - 30)
    assert rows(assessment) == pytest.approx({"gpu_on_demand": (before + beside + after) * 4 * 730})


def test_two_clouds_billed_as_used_share_what_is_left_in_the_order_of_phases(assessment):
    wants(assessment, (0, 150))
    option = option_of(assessment)
    own(option, n_accelerators=40)
    rent(option, hourly(price="4"), configuration={"template": ON_DEMAND})
    rent(option, hourly(price="5"), configuration={"template": ON_DEMAND})
    assert nominal(assessment) == pytest.approx((80 * 4 + 30 * 5) * 730 * 36)


def test_commitments_come_before_what_is_billed_as_used(assessment):
    wants(assessment, (0, 100))
    option = option_of(assessment)
    rent(option, hourly(price="4"), configuration={"template": ON_DEMAND})
    rent(option, hourly(price="2"))
    assert rows(assessment) == pytest.approx({"gpu_rental": 4_204_800, "gpu_on_demand": 2_102_400})


def test_commitments_that_own_machines_make_needless_are_not_used(assessment):
    wants(assessment, (0, 100))
    option = option_of(assessment)
    own(option)
    rent(option, hourly())
    assert rows(assessment) == pytest.approx({"gpu_rental": 1_051_200, "gpu_commitment_unused": 3_153_600})


@pytest.mark.parametrize("likely", [12, 60, 120])
def test_burst_follows_an_uncertain_delivery(assessment, likely):
    wants(assessment, (0, 100), (12, 70), (20, 130))
    option = option_of(assessment)
    rent(option, hourly(price="4"), configuration={"template": ON_DEMAND}, order_month=Decimal(2))
    own(option, lead=[Decimal(w) for w in (10, likely, 130)], end_month=Decimal(30))
    ready = likely * 84 / 365
    moments = [k / 1000 + 0.0005 for k in range(2000, 36_000)]

    def billed(t):
        wanted = 100 if t < 12 else 70 if t < 20 else 130
        return min(80, max(0, wanted - (80 if ready <= t < 30 else 0)))

    expected = sum(billed(t) for t in moments) / 1000 * 4 * 730
    assert rows(assessment)["gpu_on_demand"] == pytest.approx(expected, rel=1e-3)


def test_a_range_of_the_demand_moves_what_is_billed_as_used(assessment):
    wants(assessment, (0, {"low": "40", "likely": "60", "high": "80"}))
    rent(option_of(assessment), hourly(), configuration={"template": ON_DEMAND})
    found = answer(assessment)["nominal_usd"]
    assert found["likely"] == pytest.approx(3_153_600)
    assert found["p10"] < 3_153_600 < found["p90"]


def test_a_scenario_of_less_demand_shows_hours_not_used(assessment):
    wants(assessment, (0, 80))
    rent(option_of(assessment), hourly())
    scenario = Scenario(
        client=assessment.client, assessment=assessment, name="Less", overrides={"demand.0": {"likely": "60"}}
    )
    found = {line["row"]: line["total_usd"]["likely"] for line in answer(assessment, scenario=scenario)["lines"]}
    assert found.pop("bridge") == 0
    assert found == pytest.approx({"gpu_rental": 3_153_600, "gpu_commitment_unused": 1_051_200})


# What lasts as long as the option -------------------------------------------------------------------------------------
@pytest.mark.parametrize("ends", [(12, 24), (24, 12)])
def test_staff_and_extra_lines_last_until_the_last_phase_ends(assessment, ends):
    line = {"kind": "service", "comparison_key": "network", "description": "Line", "quantity": "1", "unit": "line",
            "unit_price_likely": "1000", "charge": "recurring", "period": "month"}  # fmt: skip
    option = option_of(assessment, extra_lines=[line])
    make_option_staff(option=option, fte_likely=Decimal(1), starts="signature")
    for end in ends:
        own(option, end_month=Decimal(end))
    assert rows(assessment) == pytest.approx({"staff": 240_000, "network": 24_000})


def test_staff_last_until_the_later_of_two_uncertain_ends(assessment):
    option = option_of(assessment)
    make_option_staff(option=option, fte_likely=Decimal(1), starts="signature")
    own(option, ends_when_ready=3)
    own(option, end_month=Decimal(12))
    own(option, lead=[Decimal(20), Decimal(60), Decimal(70)], end_month=Decimal(13))
    assert rows(assessment)["staff"] == pytest.approx(10_000 * 60 * 84 / 365)


def test_the_term_of_an_extra_line_ends_with_the_option_at_the_latest(assessment):
    line = {"kind": "service", "comparison_key": "network", "description": "Line", "quantity": "1", "unit": "line",
            "unit_price_likely": "1000", "charge": "recurring", "period": "month", "term_months": "12"}  # fmt: skip
    option = option_of(assessment, extra_lines=[line])
    own(option, ends_when_ready=2)
    own(option, lead=[Decimal(20), Decimal(30), Decimal(70)], end_month=Decimal(10))
    assert rows(assessment)["network"] == pytest.approx(10_000)


def test_staff_start_with_the_first_delivery_whatever_is_listed_first(assessment):
    option = option_of(assessment)
    make_option_staff(option=option, fte_likely=Decimal(1), starts="delivery")
    own(option, order_month=Decimal(12))
    own(option, order_month=Decimal(6))
    assert rows(assessment)["staff"] == pytest.approx(10_000 * 30)


# The workbook ---------------------------------------------------------------------------------------------------------
@pytest.mark.libreoffice
def test_the_workbook_recalculates_windows_that_follow_uncertain_dates(assessment, soffice, tmp_path):
    wants(assessment, (0, 100), (12, 70), (20, 130))
    option = option_of(assessment, facility="colocation", committed_kw=Decimal(200))
    make_option_staff(option=option, fte_likely=Decimal(1), starts="delivery")
    rent(option, hourly("8", "32", unit="node"), hourly("3", "16", unit="node", term_months=Decimal(9)), lead=(1, 3, 8))
    rent(option, hourly(price="4"), configuration={"template": ON_DEMAND}, order_month=Decimal(2))
    own(option, load_kw=150, lead=(10, 60, 130), end_month=Decimal(30))
    own(option, n_accelerators=16, load_kw=120, lead=(10, 50, 80))
    document = document_of(assessment)
    results = tco.total_cost_of_ownership(document)
    written = tco_workbook(document, results, {"date": "2026-11-24"})
    computed = recalculated(soffice, {"case": written}, tmp_path)["case"]
    assert errors(computed) == []
    before, after = numbers(written), numbers(computed)
    assert {cell: after[cell] for cell in before if abs(before[cell] - after[cell]) > 0.01} == {}
