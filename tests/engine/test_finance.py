"""Formulas of finance against an independent library, and what they refuse."""

from datetime import date

import numpy as np
import numpy_financial as npf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.engine import finance
from apps.engine.errors import InputError, NoAnswerError

rates = st.floats(-0.3, 1.0).filter(lambda r: abs(r) > 1e-6)
periods = st.integers(1, 120)
amounts = st.floats(1, 1e7)


@settings(max_examples=100, deadline=None)
@given(rate=rates, n=periods, principal=amounts)
def test_level_payment_and_future_value_agree_with_numpy_financial(rate, n, principal):
    payment = finance.level_payment(principal=principal, rate=rate, periods=n)
    assert payment == pytest.approx(-npf.pmt(rate, n, principal), rel=1e-7)
    ours = finance.future_value(present_value=-principal, payment=-10.0, rate=rate, periods=n)
    assert ours == pytest.approx(npf.fv(rate, n, -10.0, -principal), rel=1e-7)


@settings(max_examples=100, deadline=None)
@given(rate=rates, flows=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_present_value_agrees_with_numpy_financial_and_excels_with_one_period_more(rate, flows):
    ours = finance.present_value(rate_per_period=rate, cashflows=flows)
    assert ours == pytest.approx(npf.npv(rate, flows), rel=1e-9, abs=1e-6)
    assert finance.excel_npv(rate_per_period=rate, cashflows=flows) == pytest.approx(ours / (1 + rate), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(price=st.floats(10, 1e5), gains=st.lists(st.floats(1, 1e5), min_size=1, max_size=40))
def test_internal_rate_is_where_the_present_value_is_zero(price, gains):
    flows = [-price, *gains]
    rate = finance.irr(flows)
    assert finance.present_value(rate_per_period=rate, cashflows=flows) == pytest.approx(
        0, abs=1e-6 * (price + sum(gains))
    )


def test_modified_rate_agrees_with_numpy_financial():
    flows = [-1000, 300, -50, 600, 700]
    ours = finance.mirr(cashflows=flows, finance_rate=0.1, reinvest_rate=0.05)
    assert ours == pytest.approx(npf.mirr(flows, 0.1, 0.05))


@pytest.mark.parametrize(
    ("flows", "text"), [([1, 2], "never change sign"), ([-1, 5, -6], "change sign 2 times"), ([0, 0], "never")]
)
def test_flows_without_a_unique_rate_get_a_reason(flows, text):
    with pytest.raises(NoAnswerError, match=text):
        finance.irr(flows)


def test_dated_flows_use_years_of_365_days():
    flows = [-10000, 2750, 4250, 3250, 2750]
    days = [date(2008, 1, 1), date(2008, 3, 1), date(2008, 10, 30), date(2009, 2, 15), date(2009, 4, 1)]
    assert finance.xnpv(annual_rate=0.09, cashflows=flows, dates=days) == pytest.approx(2086.6476, abs=1e-4)
    assert finance.xirr(cashflows=flows, dates=days) == pytest.approx(0.373362535, abs=1e-8)


def test_payback_is_counted_within_the_period():
    assert finance.payback_period([-100, 40, 40, 40]) == pytest.approx(2.5)
    assert finance.payback_period([-100, 60, 60], rate_per_period=0.1) == pytest.approx(1.916667, abs=1e-6)
    with pytest.raises(NoAnswerError):
        finance.payback_period([-100, 40])


def test_fixed_declining_balance_rounds_its_rate_to_three_decimals():
    schedule = finance.fixed_declining_balance(cost=1_000_000, salvage=100_000, life=6, first_year_months=7)
    published = [186083.33, 259639.42, 176814.44, 120410.64, 81999.64, 55841.76, 15845.10]
    assert schedule == pytest.approx(published, abs=0.01)
    assert len(finance.fixed_declining_balance(cost=1000, salvage=100, life=5)) == 5


@settings(max_examples=50, deadline=None)
@given(cost=st.floats(1, 1e6), share=st.floats(0, 1), life=st.integers(1, 40))
def test_schedules_that_reach_the_salvage_write_off_what_was_paid_less_it(cost, share, life):
    book = {"cost": cost, "salvage": cost * share, "life": life}
    expected = pytest.approx(cost * (1 - share), abs=1e-6 * cost)
    assert finance.sum_of_digits(**book).sum() == expected
    assert finance.declining_balance(**book, switch=True).sum() == expected
    assert finance.straight_line(**book) * life == expected


def test_depreciation_by_use_ends_when_the_life_is_used_up():
    used = finance.units_of_use(cost=1000, salvage=100, life_units=300, used_units=[100, 150, 200, 5])
    assert used == pytest.approx([300, 450, 150, 0])
    assert finance.percent_schedule(basis=100).sum() == pytest.approx(100)


def test_an_annuity_without_interest_is_the_number_of_periods():
    assert finance.annuity_factor([0.0, 1e-12], 24) == pytest.approx([24, 24])


def test_crossover_utilisation_does_not_exist_where_the_cloud_is_no_dearer_than_running():
    curve = finance.crossover_utilisation_of_a_year(
        fixed_usd_per_gpu_year=8760, running_usd_per_hour=0.5, cloud_usd_per_hour=[0.4, 0.5, 2.5]
    )
    assert np.isnan(curve[:2]).all()
    assert curve[2] == pytest.approx(0.5)
    with pytest.raises(NoAnswerError, match="No break-even"):
        finance.break_even_hours(capex_usd=1, owned_usd_per_hour=2, cloud_usd_per_hour=2)


def test_a_commitment_not_used_in_an_hour_is_lost():
    bill = finance.commitment_bill(commit_usd_per_hour=1.0, demand_usd_per_hour=[0.75, 1.5])
    assert bill["unused"] == pytest.approx([0.25, 0])
    assert bill["on_demand"] == pytest.approx([0, 0.5])
    assert bill["total"] == pytest.approx([1, 1.5])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: finance.annuity_factor(-1.0, 3), "interest_rate"),
        (lambda: finance.annuity_factor(0.1, 0), "periods"),
        (lambda: finance.irr([1.0, float("nan")]), "cashflows"),
        (lambda: finance.straight_line(cost=1, salvage=0, life=0), "life"),
        (lambda: finance.fixed_declining_balance(cost=1, salvage=0, life=1, first_year_months=13), "first_year_months"),
        (lambda: finance.xnpv(annual_rate=0.1, cashflows=[1, 2], dates=[date(2026, 1, 1)]), "dates"),
        (lambda: finance.units_of_use(cost=1, salvage=0, life_units=0, used_units=[1]), "life_units"),
        (lambda: finance.commitment_schedule(commit_usd_per_hour=1, hours=1, upfront_share=2), "upfront_share"),
        (lambda: finance.monthly_rate(float("inf")), "effective_annual_rate"),
        (
            lambda: finance.crossover_utilisation(fixed_usd=1, hours=0, running_usd_per_hour=0, cloud_usd_per_hour=1),
            "hours",
        ),
    ],
)
def test_a_number_outside_its_range_is_refused_by_name(call, name):
    with pytest.raises(InputError) as refusal:
        call()
    assert refusal.value.name == name
    assert "must be" in str(refusal.value)
