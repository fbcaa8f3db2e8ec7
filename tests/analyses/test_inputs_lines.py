"""Quoted lines, ranges and bounds: what a line costs is what its fields say, and what cannot be is refused."""

import json
from decimal import Decimal

import pytest
from django.core.management import call_command

from apps.accounts.permissions import SYSTEM
from apps.analyses.canonical import canonical_json
from apps.analyses.inputs import tco_document
from apps.analyses.models import Scenario
from apps.assessments.services import create_option, update_phase
from apps.assumptions.models import AssumptionValue
from apps.assumptions.services import set_assumption
from apps.engine import tco
from apps.engine.errors import InputError
from tests.factories import (
    make_assessment,
    make_client,
    make_option,
    make_option_phase,
    make_quote,
    make_quote_line,
    make_quote_version,
    make_rack_configuration,
    make_vendor,
)

pytestmark = pytest.mark.django_db
YEARLY = {"charge": "recurring", "period": "year"}


@pytest.fixture
def assessment(db):
    call_command("load_assumptions", verbosity=0)
    client = make_client()
    for key in ("insurance_fraction_per_year", "storage_support_fraction_per_year"):
        set_assumption(by=SYSTEM, client=client, key=key, likely=Decimal(0), source="A test")
    set_assumption(
        by=SYSTEM, client=client, key="fabric_support_fraction_per_year", likely=Decimal("0.05"), source="A test"
    )
    return make_assessment(client=client, horizon_months=36, draws=64)


@pytest.fixture
def option(assessment):
    """10 nodes at 100,000 and 2 switches at 20,000, compute support at 8 % a year, no site."""
    made = make_option(assessment=assessment, letter="A", facility="none")
    configuration = make_rack_configuration(client=assessment.client, name="Nodes", n_accelerators=80)
    quoted = make_quote_version(
        quote=make_quote(vendor=make_vendor(client=assessment.client, name="Velmora"), number="Q-1"), version=1
    )
    make_option_phase(option=made, configuration=configuration, quote_version=quoted, position=1)
    add(quoted, 1, "compute", "Nodes", 10, "100000")
    add(quoted, 2, "fabric", "Switches", 2, "20000")
    add(quoted, 3, "support", "Compute support", 1, "8", percent_of="compute", **YEARLY)
    return made


def add(version, position, kind, description, quantity, price, **values):
    return make_quote_line(
        quote_version=version,
        position=position,
        kind=kind,
        description=description,
        quantity=Decimal(quantity),
        unit_price_likely=None if price is None else Decimal(price),
        **{"charge": "one_off", "unit": "piece"} | values,
    )


def version_of(option):
    return option.phases.get().quote_version


def change(option, position, **values):
    line = version_of(option).lines.get(position=position)
    for name, value in values.items():
        setattr(line, name, value)
    line.save()


def document_of(option, **arguments):
    return json.loads(canonical_json(tco_document(option.assessment, **arguments)))


def amounts(document):
    found = tco.total_cost_of_ownership(document)["options"]["A"]["lines"]
    return {line["key"]: line["total_usd"]["likely"] for line in found}


def line_of(document, key):
    return next(line for line in document["options"][0]["lines"] if line["key"] == key)


def unit_of_support(document):
    (unit,) = [entry["unit"] for entry in document["inputs"].values() if entry["label"].endswith("percentage")]
    return unit


# Percentage lines -----------------------------------------------------------------------------------------------------
def test_a_discount_on_a_percentage_line_counts(option):
    assert amounts(document_of(option))["A.compute_support"] == pytest.approx(240_000)
    change(option, 3, discount_fraction=Decimal("0.5"))
    document = document_of(option)
    assert amounts(document)["A.compute_support"] == pytest.approx(120_000)
    assert line_of(document, "A.compute_support")["formula"] == "percentage × (1 − discount) × price of compute ÷ 12"


def test_a_discount_on_a_price_counts_and_is_said(option):
    change(option, 1, discount_fraction=Decimal("0.1"))
    document = document_of(option)
    assert amounts(document)["A.compute_nodes"] == pytest.approx(900_000)
    assert line_of(document, "A.compute_nodes")["formula"] == "quantity × unit price × (1 − discount)"


@pytest.mark.parametrize("discount", ["-0.1", "1.5"])
def test_a_discount_beyond_the_price_is_refused_with_its_place(option, discount):
    change(option, 1, discount_fraction=Decimal(discount))
    with pytest.raises(InputError, match="Velmora Q-1, line 1, discount"):
        document_of(option)


@pytest.mark.parametrize(
    ("values", "unit", "formula", "amount"),
    [
        ({"period": "year"}, "% a year", "percentage × price of compute ÷ 12", 240_000),
        ({"period": "month"}, "% a month", "percentage × price of compute", 36 * 80_000),
        ({"charge": "one_off", "period": ""}, "% of price", "percentage × price of compute", 80_000),
    ],
)
def test_unit_and_formula_of_a_percentage_say_what_is_computed(option, values, unit, formula, amount):
    change(option, 3, **values)
    document = document_of(option)
    line = line_of(document, "A.compute_support")
    assert (unit_of_support(document), line["formula"]) == (unit, formula)
    assert amounts(document)["A.compute_support"] == pytest.approx(amount)


def test_a_percentage_by_the_hour_is_refused(option):
    change(option, 3, period="hour")
    with pytest.raises(InputError, match="Velmora Q-1, line 3, period is hour; it must be one of month, year"):
        document_of(option)


def test_a_percentage_is_not_multiplied_by_a_count_of_months(option):
    change(option, 3, quantity=Decimal(36), unit="month")
    with pytest.raises(
        InputError, match=r"Velmora Q-1, line 3, quantity is 36; .*quantity of a percentage line must be 1"
    ):
        document_of(option)


# Included lines -------------------------------------------------------------------------------------------------------
def test_support_that_the_quote_includes_is_not_charged_again(option):
    assert amounts(document_of(option))["A.fabric_support"] == pytest.approx(40_000 * 0.05 * 3)
    add(version_of(option), 4, "support", "Fabric support", 1, None, included=True, **YEARLY)
    assert "A.fabric_support" not in amounts(document_of(option))


def test_support_of_all_hardware_that_the_quote_includes_covers_the_fabric(option):
    add(version_of(option), 4, "support", "Support", 1, None, included=True, percent_of="hardware", **YEARLY)
    assert "A.fabric_support" not in amounts(document_of(option))


def test_insurance_that_the_quote_includes_is_not_charged_again(option, assessment):
    set_assumption(
        by=SYSTEM,
        client=assessment.client,
        key="insurance_fraction_per_year",
        likely=Decimal("0.01"),
        source="A test",
    )
    assert amounts(document_of(option))["A.insurance"] == pytest.approx(1_040_000 * 0.01 * 3)
    add(version_of(option), 4, "service", "Insurance", 1, None, included=True, comparison_key="insurance", **YEARLY)
    assert "A.insurance" not in amounts(document_of(option))


def test_an_included_line_itself_costs_nothing(option):
    before = amounts(document_of(option))
    add(version_of(option), 4, "service", "Rack rails", 1, None, included=True)
    assert amounts(document_of(option)) == before


# Zero is a value ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("zero", [0, "0", 0.0, "0.00"])
def test_a_rate_and_a_share_of_zero_are_values(option, zero):
    option.financing = {"kind": "loan", "share": zero, "annual_rate": zero, "term_months": 36}
    option.save()
    inputs = document_of(option)["inputs"]
    assert inputs["A.financing.share"]["likely"] == "0"
    assert inputs["A.financing.annual_rate"]["likely"] == "0"


def test_a_loan_of_no_months_is_refused_and_a_missing_term_is_three_years(option):
    option.financing = {"kind": "loan", "annual_rate": "0.08"}
    option.save()
    assert document_of(option)["options"][0]["financing"]["term_months"] == 36
    option.financing = {"kind": "loan", "annual_rate": "0.08", "term_months": 0}
    option.save()
    with pytest.raises(InputError, match=r"financing\.term_months is 0"):
        document_of(option)


def test_a_share_of_more_than_the_capital_is_refused(option):
    option.financing = {"kind": "loan", "share": "1.2", "annual_rate": "0.08", "term_months": 36}
    option.save()
    with pytest.raises(InputError, match="from 0 to 1"):
        document_of(option)


def test_a_figure_of_financing_that_is_no_number_is_refused_by_its_name(option):
    option.financing = {"kind": "loan", "annual_rate": "cheap"}
    option.save()
    with pytest.raises(InputError, match="Loan, nominal rate, option A is cheap; it must be a number"):
        document_of(option)


# One-sided ranges -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("low", "high"), [("90000", None), (None, "130000")])
def test_a_range_with_one_side_keeps_it_and_ends_at_likely(option, low, high):
    change(option, 1, **{f"unit_price_{name}": Decimal(end) for name, end in (("low", low), ("high", high)) if end})
    (price,) = [
        entry
        for entry in document_of(option)["inputs"].values()
        if entry["label"].startswith("Compute nodes") and entry["label"].endswith("unit price")
    ]
    assert (price["low"], price["high"]) == (low or "100000", high or "100000")
    assert price["distribution"] == "triangular"


def test_lead_time_assumption_and_configuration_keep_a_single_bound(option, assessment):
    quoted = version_of(option)
    quoted.lead_weeks_likely, quoted.lead_weeks_high = Decimal(20), Decimal(30)
    quoted.save()
    configuration = option.phases.get().configuration
    configuration.goodput_likely, configuration.goodput_low = Decimal("0.9"), Decimal("0.8")
    configuration.save()
    set_assumption(
        by=SYSTEM,
        client=assessment.client,
        key="discount_rate",
        likely=Decimal("0.09"),
        high=Decimal("0.14"),
        source="A test",
    )
    inputs = document_of(option)["inputs"]
    found = {key: (inputs[key]["low"], inputs[key]["high"]) for key in ("discount_rate", "nodes.goodput")}
    assert found == {"discount_rate": ("0.09", "0.14"), "nodes.goodput": ("0.8", "0.9")}
    assert [(e["low"], e["high"]) for e in inputs.values() if e["label"].startswith("Lead time")] == [("20", "30")]


def test_a_range_out_of_order_on_its_one_side_is_refused(option):
    change(option, 1, unit_price_low=Decimal(110_000))
    with pytest.raises(InputError, match="rising order"):
        document_of(option)


def scenario(option, key, **values):
    return Scenario(client=option.client, assessment=option.assessment, name="S", overrides={key: dict(values)})


def test_a_scenario_keeps_a_single_bound(option):
    changed = document_of(option, scenario=scenario(option, "discount_rate", likely="0.08", high="0.1"))
    entry = changed["inputs"]["discount_rate"]
    assert (entry["low"], entry["likely"], entry["high"]) == ("0.08", "0.08", "0.1")


# Bounds ---------------------------------------------------------------------------------------------------------------
OUT_OF_BOUNDS = [
    ("residual_fraction.compute", "2", "from 0 to 1"),
    ("residual_fraction.compute", "-0.1", "from 0 to 1"),
    ("goodput_fraction", "1.01", "from 0 to 1"),
    ("power.pue", "0.9", "at least 1"),
    ("fabric_support_fraction_per_year", "-0.01", "at least 0"),
    ("discount_rate", "-1", "at least -0.99"),
]


@pytest.mark.parametrize(("key", "value", "requirement"), OUT_OF_BOUNDS)
def test_an_assumption_beyond_its_bounds_is_refused_with_key_value_and_bounds(assessment, key, value, requirement):
    with pytest.raises(InputError) as error:
        set_assumption(by=SYSTEM, client=assessment.client, key=key, likely=Decimal(value), source="A test")
    assert (error.value.name, error.value.value, error.value.requirement) == (key, value, requirement)


def test_the_high_of_an_assumption_is_checked_too(assessment):
    with pytest.raises(InputError, match=r"mfu_fraction is 1\.2"):
        set_assumption(
            by=SYSTEM,
            client=assessment.client,
            key="mfu_fraction",
            likely=Decimal("0.4"),
            high=Decimal("1.2"),
            source="A test",
        )


def test_an_option_cannot_assume_what_is_out_of_bounds_or_unknown(assessment):
    for key, value, told in (
        ("power.pue", "0.5", "power.pue is 0.5; it must be at least 1"),
        ("residual_fraction.gpu", "0.5", "key is residual_fraction.gpu; it must be an assumption that the product"),
    ):
        with pytest.raises(InputError, match=told):
            create_option(
                by=SYSTEM,
                assessment=assessment,
                letter="B",
                name="B",
                values={"assumptions": {key: {"likely": value, "source": "A test"}}},
            )


def test_what_was_stored_before_its_bounds_is_refused_by_the_builder(option):
    option.assumptions = {"residual_fraction.compute": {"likely": "2", "source": "A test"}}
    option.save()
    with pytest.raises(InputError, match=r"residual_fraction\.compute is 2; it must be from 0 to 1"):
        document_of(option)


@pytest.mark.parametrize(
    ("key", "value"),
    [("residual_fraction.compute", "2"), ("availability_fraction", "1.5"), ("nodes.n_accelerators", "-8")],
)
def test_a_scenario_cannot_go_beyond_the_bounds(option, key, value):
    with pytest.raises(InputError, match=key):
        document_of(option, scenario=scenario(option, key, likely=value))


@pytest.mark.parametrize("value", ["many", None, True, "NaN"])
def test_a_scenario_value_that_is_no_number_is_refused_by_its_key(option, value):
    with pytest.raises(InputError, match=r"discount_rate, likely is .*must be a number"):
        document_of(option, scenario=scenario(option, "discount_rate", likely=value))


def test_a_scenario_cannot_go_beyond_the_bounds_of_what_an_option_assumes(option):
    option.assumptions = {"residual_fraction.compute": {"likely": "0.2", "source": "A test"}}
    option.save()
    with pytest.raises(InputError, match=r"A\.residual_fraction\.compute is 2"):
        document_of(option, scenario=scenario(option, "A.residual_fraction.compute", likely="2"))


def test_every_assumption_that_is_a_number_has_a_bound(assessment):
    rows = AssumptionValue.objects.filter(organisation__isnull=True, client__isnull=True)
    assert [row.key for row in rows if row.minimum is None and not row.text] == []


# Extra lines ----------------------------------------------------------------------------------------------------------
GUARD = {"kind": "service", "description": "Guard", "charge": "recurring", "period": "month", "unit_price_likely": 100}


def test_the_discount_of_an_extra_line_counts(option):
    option.extra_lines = [GUARD | {"discount": "0.5"}]
    option.save()
    assert amounts(document_of(option))["A.guard"] == pytest.approx(36 * 50)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"period": None}, "Option A, extra line 1, period is not given"),
        ({"period": "week"}, "Option A, extra line 1, period is week"),
        ({"unit_price_likely": "many"}, "Option A, extra line 1, unit_price_likely is many"),
        ({"quantity": -1}, "Option A, extra line 1, quantity is -1"),
        ({"kind": "gold"}, "Option A, extra line 1, kind is gold"),
        ({"quantitty": 3}, "Option A, extra line 1, quantitty is 3; it must be left out"),
        ({"description": ["x"]}, "Option A, extra line 1, description"),
    ],
)
def test_an_extra_line_that_cannot_be_used_is_refused_by_its_place(option, values, told):
    option.extra_lines = [GUARD | values]
    option.save()
    with pytest.raises(InputError, match=told):
        document_of(option)


# Phases and payment ---------------------------------------------------------------------------------------------------
def test_phases_that_end_one_another_in_a_circle_are_refused(option):
    first = option.phases.get()
    second = make_option_phase(option=option, configuration=first.configuration, position=2, ends_when_ready=1)
    with pytest.raises(InputError, match="circle"):
        update_phase(by=SYSTEM, phase=first, values={"ends_when_ready": 2})
    first.refresh_from_db()
    first.ends_when_ready = second.position
    first.save()
    with pytest.raises(InputError, match="1 → 2 → 1"):
        document_of(option)


def test_days_to_pay_move_the_milestones(option):
    quoted = version_of(option)
    quoted.payment_milestones = [{"share": "1", "anchor": "signature"}]
    quoted.save()
    assert paid_in(option) == 0
    quoted.terms = {"payment_days": {"value": "90", "ref": "Terms!B3"}}
    quoted.save()
    document = document_of(option)
    assert document["inputs"]["velmora.q-1.payment_days"]["source"]["ref"] == "Terms!B3"
    assert paid_in(option) == 3


def paid_in(option):
    """The month in which nodes are paid."""
    found = tco.total_cost_of_ownership(document_of(option))["options"]["A"]
    paid = found["monthly"]["cash_usd"]
    return next(month for month, amount in enumerate(paid) if abs(amount) > 500_000)
