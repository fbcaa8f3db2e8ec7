"""Formulas of finance: annuities, present values, rates of return, depreciation. Rates are fractions a period."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.engine.checks import finite, fraction, not_negative, positive, rate
from apps.engine.errors import InputError, NoAnswerError
from apps.engine.units import DAYS_PER_YEAR, HOURS_PER_MONTH, HOURS_PER_YEAR, MONTHS_PER_YEAR

Floats = NDArray[np.float64]

MACRS_5_YEAR_PERCENT = (20.0, 32.0, 19.2, 11.52, 11.52, 5.76)
"""IRS Publication 946, table A-1: 5-year property, half-year convention."""


def annuity_factor(interest_rate: ArrayLike, periods: ArrayLike) -> Floats:
    r"""Return the present value of one dollar at the end of each of n periods.

    Parameters
    ----------
    interest_rate : array_like, shape (...)
        Rate of one period; 0 is allowed. [-]
    periods : array_like, shape (...)
        Number of periods, whole or not. [-]

    Returns
    -------
    ndarray, shape (...)
        :math:`(1 - (1 + r)^{-n}) / r`, or n when r is 0. [-]

    Raises
    ------
    InputError
        If the rate is not above -1 or the number of periods not above zero.

    References
    ----------
    R. Brealey, S. Myers, F. Allen, "Principles of Corporate Finance", chapter 2.
    """
    r = rate("interest_rate", interest_rate)
    n = positive("periods", periods)
    safe = np.where(r == 0, 1.0, r)
    # expm1 and log1p keep the digits that 1 - (1 + r)^-n loses for small r
    return np.where(r == 0, n * np.ones_like(r), -np.expm1(-n * np.log1p(safe * (r != 0))) / safe)


def level_payment(*, principal: ArrayLike, rate: ArrayLike, periods: ArrayLike) -> Floats:
    """Return the equal payment at the end of each period that repays a principal, shape (...). [USD a period]"""
    return np.asarray(principal, dtype=np.float64) / annuity_factor(rate, periods)


def future_value(*, present_value: ArrayLike, payment: ArrayLike, rate: ArrayLike, periods: ArrayLike) -> Floats:
    """Return what a sum and level payments at period ends grow to; paid in is negative, as in Excel's FV."""
    growth = (1 + np.asarray(rate, dtype=np.float64)) ** np.asarray(periods)
    return -(np.asarray(present_value) * growth + np.asarray(payment) * growth * annuity_factor(rate, periods))


def present_value(*, rate_per_period: float, cashflows: ArrayLike) -> float:
    """Return the present value of flows, the first of which is paid now (period 0) and not discounted."""
    flows = finite("cashflows", cashflows)
    rate("rate_per_period", rate_per_period)
    return float(np.sum(flows * (1 + rate_per_period) ** -np.arange(flows.size, dtype=np.float64)))


def excel_npv(*, rate_per_period: float, cashflows: ArrayLike) -> float:
    """Return what Excel's NPV shows: the first flow is taken to be paid at the end of period 1."""
    return present_value(rate_per_period=rate_per_period, cashflows=cashflows) / (1 + rate_per_period)


def monthly_rate(effective_annual_rate: ArrayLike) -> Floats:
    """Return the rate a month that compounds to an effective annual rate: (1 + a)^(1/12) - 1."""
    return (1 + rate("effective_annual_rate", effective_annual_rate)) ** (1 / MONTHS_PER_YEAR) - 1


def nominal_monthly_rate(nominal_annual_rate: ArrayLike) -> Floats:
    """Return the rate a month of a nominal annual rate that is charged by the month: a / 12."""
    return rate("nominal_annual_rate", nominal_annual_rate) / MONTHS_PER_YEAR


def effective_annual_rate(rate_per_month: float) -> float:
    """Return the annual rate to which a rate a month compounds."""
    return float((1 + rate_per_month) ** MONTHS_PER_YEAR - 1)


def nominal_rate(*, real_rate: float, inflation: float) -> float:
    """Return the nominal rate of a real one: (1 + n) = (1 + r)(1 + i)."""
    return (1 + real_rate) * (1 + inflation) - 1


def sign_changes(cashflows: ArrayLike) -> int:
    """Return how often flows change sign, zeros left out."""
    signs = np.sign(finite("cashflows", cashflows))
    signs = signs[signs != 0]
    return int(np.count_nonzero(signs[1:] != signs[:-1]))


def irr(cashflows: ArrayLike) -> float:
    """Return the internal rate of return a period of flows that change sign once.

    Raises
    ------
    NoAnswerError
        If the flows never change sign (no rate) or more than once (the rate need not be unique, Descartes' rule).

    Notes
    -----
    With one change of sign the present value has exactly one root above -1, so a bracket finds it.
    """
    flows = _invests_once(cashflows)
    return _root(flows, np.arange(flows.size, dtype=np.float64))


def _invests_once(cashflows: ArrayLike) -> Floats:
    flows = finite("cashflows", cashflows)
    changes = sign_changes(flows)
    if changes == 0:
        raise NoAnswerError("No internal rate of return: the flows never change sign.")
    if changes > 1:
        raise NoAnswerError(f"No unique internal rate of return: the flows change sign {changes} times.")
    return flows


def _root(flows: Floats, times: Floats) -> float:
    """Return the rate at which flows are worth nothing, in terms of growth g = ln(1 + rate)."""

    def worth(growth: float) -> float:
        exponent = -growth * times
        return float(np.sum(flows * np.exp(exponent - exponent.max())))

    reach = 1.0
    while worth(-reach) * worth(reach) > 0:
        reach *= 2
        if reach * times[-1] > 1e6:
            raise NoAnswerError("No internal rate of return: it lies beyond any rate that can be written.")
    growth = _bracketed_root(worth, -reach, reach)
    if growth > 700:
        raise NoAnswerError("No internal rate of return: it lies beyond any rate that can be written.")
    return float(np.expm1(growth))


def _bracketed_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a root between two points of different sign: false position by the Illinois rule, and bisection."""
    at_low, at_high = function(low), function(high)
    for i in range(200):
        middle = (low * at_high - high * at_low) / (at_high - at_low) if i % 4 < 3 else (low + high) / 2
        if not low < middle < high:
            middle = (low + high) / 2
        value = function(middle)
        if value == 0 or middle in (low, high) or high - low < 1e-15 * (1 + abs(middle)):
            return middle
        if (value > 0) == (at_high > 0):
            high, at_high, at_low = middle, value, at_low / 2
        else:
            low, at_low, at_high = middle, value, at_high / 2
    return (low + high) / 2


def mirr(*, cashflows: ArrayLike, finance_rate: float, reinvest_rate: float) -> float:
    """Return the modified internal rate of return a period, as Excel's MIRR.

    Outflows are discounted at the finance rate, inflows compounded at the reinvestment rate.

    Raises
    ------
    NoAnswerError
        If there is no inflow or no outflow.
    """
    flows = finite("cashflows", cashflows)
    if flows.size < 2 or not (flows > 0).any() or not (flows < 0).any():
        raise NoAnswerError("No modified rate of return: it needs a payment and a receipt.")
    times = np.arange(flows.size, dtype=np.float64)
    paid = np.sum(np.where(flows < 0, -flows, 0.0) * (1 + finance_rate) ** -times)
    got = np.sum(np.where(flows > 0, flows, 0.0) * (1 + reinvest_rate) ** (times[-1] - times))
    return float((got / paid) ** (1 / times[-1]) - 1)


def xnpv(*, annual_rate: float, cashflows: ArrayLike, dates: Sequence[date]) -> float:
    """Return the present value of dated flows on the first date, a year being 365 days (Excel's XNPV)."""
    flows = finite("cashflows", cashflows)
    rate("annual_rate", annual_rate)
    return float(np.sum(flows * (1 + annual_rate) ** -_years(dates, flows.size)))


def xirr(*, cashflows: ArrayLike, dates: Sequence[date]) -> float:
    """Return the annual rate at which dated flows are worth nothing, a year being 365 days (Excel's XIRR).

    Raises
    ------
    NoAnswerError
        If the flows, in the order of their dates, do not change sign exactly once.
    """
    flows = finite("cashflows", cashflows)
    years = _years(dates, flows.size)
    order = np.argsort(years, kind="stable")
    return _root(_invests_once(flows[order]), years[order] - years[order][0])


def _years(dates: Sequence[date], n_flows: int) -> Floats:
    if len(dates) != n_flows:
        raise InputError("dates", len(dates), f"as many as the flows, {n_flows}")
    return np.array([(day - dates[0]).days for day in dates], dtype=np.float64) / DAYS_PER_YEAR


def payback_period(cashflows: ArrayLike, *, rate_per_period: float = 0.0) -> float:
    """Return the periods until the flows have paid themselves back, straight line within a period.

    Raises
    ------
    NoAnswerError
        If they never do.
    """
    flows = finite("cashflows", cashflows)
    balance = np.cumsum(flows * (1 + rate_per_period) ** -np.arange(flows.size, dtype=np.float64))
    late = np.flatnonzero(balance < 0)
    if late.size == 0:
        return 0.0
    last = int(late[-1])
    if last == flows.size - 1:
        raise NoAnswerError("No payback: the flows have not paid themselves back by the last period.")
    return float(last + balance[last] / (balance[last] - balance[last + 1]))


def equivalent_annual_cost(*, npv: ArrayLike, annual_rate: ArrayLike, years: ArrayLike) -> Floats:
    """Return the level cost a year with the same present value, shape (...). [USD a year]"""
    return level_payment(principal=npv, rate=annual_rate, periods=years)


def straight_line(*, cost: ArrayLike, salvage: ArrayLike, life: ArrayLike) -> Floats:
    """Return the depreciation a period when value falls evenly over the life, shape (...)."""
    return (finite("cost", cost) - finite("salvage", salvage)) / positive("life", life)


def sum_of_digits(*, cost: float, salvage: float, life: int) -> Floats:
    """Return depreciation by period, falling by equal steps: shape (life,)."""
    positive("life", life)
    digits = np.arange(life, 0, -1, dtype=np.float64)
    return (cost - salvage) * digits / digits.sum()


def declining_balance(*, cost: float, salvage: float, life: int, factor: float = 2.0, switch: bool = False) -> Floats:
    """Return depreciation by period at factor / life of the balance, never below the salvage: shape (life,).

    With `switch` it goes over to straight line where that is more, as Excel's VDB; without, as DDB.
    """
    positive("life", life)
    positive("factor", factor)
    schedule, book = np.zeros(life), float(cost)
    for i in range(life):
        charge = min(book * min(factor / life, 1.0), max(book - salvage, 0.0))
        if switch:
            charge = max(charge, max(book - salvage, 0.0) / (life - i))
        schedule[i] = charge
        book -= charge
    return schedule


def fixed_declining_balance(*, cost: float, salvage: float, life: int, first_year_months: int = 12) -> Floats:
    """Return depreciation by year as Excel's DB: the rate is rounded to three decimals, the first year may be short.

    Shape (life,), or (life + 1,) when the first year is short and the rest of it is made up at the end.
    """
    positive("cost", cost)
    positive("life", life)
    if not 1 <= first_year_months <= MONTHS_PER_YEAR:
        raise InputError("first_year_months", first_year_months, f"from 1 to {MONTHS_PER_YEAR}")
    yearly = round(1 - (not_negative("salvage", salvage).item() / cost) ** (1 / life), 3)
    share = first_year_months / MONTHS_PER_YEAR
    schedule = [cost * yearly * share]
    for _ in range(1, life):
        schedule.append((cost - sum(schedule)) * yearly)
    if first_year_months < MONTHS_PER_YEAR:
        schedule.append((cost - sum(schedule)) * yearly * (1 - share))
    return np.array(schedule)


def percent_schedule(*, basis: float, percent: ArrayLike = MACRS_5_YEAR_PERCENT) -> Floats:
    """Return depreciation by year by a table of percentages, by default US MACRS 5-year property: shape (years,)."""
    return basis * not_negative("percent", percent) / 100


def units_of_use(*, cost: float, salvage: float, life_units: float, used_units: ArrayLike) -> Floats:
    """Return depreciation by use, such as GPU-hours, until the life is used up: shape of used_units."""
    used = np.cumsum(not_negative("used_units", used_units))
    spent = np.minimum(used / positive("life_units", life_units), 1.0)
    return (cost - salvage) * np.diff(spent, prepend=0.0)


def break_even_hours(*, capex_usd: float, owned_usd_per_hour: float, cloud_usd_per_hour: float) -> float:
    """Return the hours of use after which owning has cost as much as renting: capex / (cloud - running).

    Raises
    ------
    NoAnswerError
        If an hour of the cloud costs no more than an hour of running the own machine.
    """
    if cloud_usd_per_hour <= owned_usd_per_hour:
        raise NoAnswerError(
            "No break-even: an hour in the cloud costs no more than an hour of running the own machine."
        )
    return float(capex_usd) / (cloud_usd_per_hour - owned_usd_per_hour)


def crossover_utilisation(
    *, fixed_usd: float, hours: float, running_usd_per_hour: float, cloud_usd_per_hour: ArrayLike
) -> Floats:
    """Return the share of hours in use from which owning is cheaper, one a cloud price; NaN where none is.

    Parameters
    ----------
    fixed_usd : float
        What one machine, or all, cost over `hours` whether used or not. [USD]
    hours : float
        Hours for which they are there. [h]
    running_usd_per_hour : float
        What an hour of use costs on top. [USD/h]
    cloud_usd_per_hour : array_like, shape (...)
        Price of an hour in the cloud, paid only when used. [USD/h]

    Notes
    -----
    u* = F / (h (c - v)). There is none where c <= v. A value above 1 means that owning is never cheaper.
    """
    margin = finite("cloud_usd_per_hour", cloud_usd_per_hour) - running_usd_per_hour
    positive("hours", hours)
    return np.where(margin > 0, fixed_usd / (hours * np.where(margin > 0, margin, 1.0)), np.nan)


def crossover_utilisation_of_a_year(
    *, fixed_usd_per_gpu_year: float, running_usd_per_hour: float, cloud_usd_per_hour: ArrayLike
) -> Floats:
    """Return the crossover utilisation of one accelerator over a year of 8,760 hours."""
    return crossover_utilisation(
        fixed_usd=fixed_usd_per_gpu_year,
        hours=HOURS_PER_YEAR,
        running_usd_per_hour=running_usd_per_hour,
        cloud_usd_per_hour=cloud_usd_per_hour,
    )


def option_to_wait(
    *, investment: float, price_now: float, price_up: float, price_down: float, prob_up: float, rate_per_year: float
) -> tuple[float, float]:
    """Return the worth today of investing now, and of waiting a year to see whether the yearly price went up or down.

    The price of this year is earned at once, the price of next year for ever after. Who waits invests only in the
    states in which that pays. The difference of the two is the value of the option.

    References
    ----------
    A. Dixit, R. Pindyck, "Investment under Uncertainty", 1994, chapter 2.
    """
    fraction("prob_up", prob_up)
    positive("rate_per_year", rate_per_year)

    def perpetuity(price: float) -> float:
        return price * (1 + rate_per_year) / rate_per_year  # the first one at once

    expected = prob_up * price_up + (1 - prob_up) * price_down
    now = -investment + price_now + perpetuity(expected) / (1 + rate_per_year)
    up, down = (max(perpetuity(price) - investment, 0.0) for price in (price_up, price_down))
    return now, (prob_up * up + (1 - prob_up) * down) / (1 + rate_per_year)


@dataclass(frozen=True, kw_only=True)
class CommitmentSchedule:
    """How a commitment of so much an hour is billed over its term."""

    upfront_usd: float
    usd_per_hour: float
    usd_per_month: float
    first_period_usd: float
    effective_usd_per_hour: float


def commitment_schedule(*, commit_usd_per_hour: float, hours: float, upfront_share: float) -> CommitmentSchedule:
    """Return what a commitment bills upfront and later (cash), and what one hour of it costs as consumed (accrual).

    The first period is the first hour: what is paid upfront, and the rest of that hour.
    """
    fraction("upfront_share", upfront_share)
    whole = commit_usd_per_hour * float(positive("hours", hours))
    later = commit_usd_per_hour * (1 - upfront_share)
    return CommitmentSchedule(
        upfront_usd=whole * upfront_share,
        usd_per_hour=later,
        usd_per_month=later * HOURS_PER_MONTH,
        first_period_usd=whole * upfront_share + later,
        effective_usd_per_hour=commit_usd_per_hour,
    )


def commitment_bill(
    *, commit_usd_per_hour: float, demand_usd_per_hour: ArrayLike, on_demand_usd_per_committed_usd: float = 1.0
) -> dict[str, Floats]:
    """Return what hours under a spend commitment cost: what is not used in an hour is lost, the rest is on demand.

    Parameters
    ----------
    commit_usd_per_hour : float
        What is paid every hour, used or not, valued at committed rates. [USD/h]
    demand_usd_per_hour : array_like, shape (...)
        What the use of each hour is worth at committed rates. [USD/h]
    on_demand_usd_per_committed_usd : float
        Price of use above the commitment, relative to committed rates. [-]

    Returns
    -------
    dict of ndarray, shape (...)
        `used`, `unused`, `commitment`, `on_demand`, `total`. [USD/h]
    """
    demand = not_negative("demand_usd_per_hour", demand_usd_per_hour)
    used = np.minimum(demand, commit_usd_per_hour)
    overage = (demand - used) * on_demand_usd_per_committed_usd
    commitment = np.full_like(demand, commit_usd_per_hour)
    return {
        "used": used,
        "unused": commitment - used,
        "commitment": commitment,
        "on_demand": overage,
        "total": commitment + overage,
    }
