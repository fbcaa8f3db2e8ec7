"""The figures of one option from its cash: totals, present values, periods, cumulative cash."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.engine.factors import Value, evaluate
from apps.engine.finance import annuity_factor
from apps.engine.flows import Cash, option_cash
from apps.engine.records import Anchor, Document, Option
from apps.engine.tax import year_ends
from apps.engine.timing import Clock, Matrix, over_months, running_total
from apps.engine.units import MONTHS_PER_YEAR

Floats = NDArray[np.float64]

TOTALS = (
    "nominal_usd",
    "npv_usd",
    "eac_usd_per_year",
    "capital_usd",
    "residual_usd",
    "monthly_operating_usd",
)
HOURS = ("installed_gpu_hours", "available_gpu_hours", "productive_gpu_hours", "demanded_gpu_hours", "unmet_gpu_hours")


@dataclass(kw_only=True)
class Figures:
    """One option for one set of values, or for a stretch of draws."""

    option: Option
    clock: Clock
    cash: Cash
    discount: Matrix
    totals: dict[str, Value]
    by_period: Matrix


def discount_factors(document: Document, values: Mapping[str, Value]) -> Matrix:
    """Return (1 + r)^(-m/12) by month, shape (horizon + 1, draws or 1)."""
    rate = np.asarray(evaluate(document.discount_rate, values), dtype=np.float64)
    month = (1.0 + rate) ** (-1.0 / MONTHS_PER_YEAR)
    factors = np.empty((document.horizon_months + 1, rate.size))
    factors[0] = 1.0
    for i in range(document.horizon_months):
        np.multiply(factors[i], month, out=factors[i + 1])
    return factors


def period_names(horizon_months: int) -> list[str]:
    """Return the names of the periods: month 0, the years, and what falls on the horizon."""
    years = len(year_ends(horizon_months))
    return ["month 0", *(f"year {year}" for year in range(1, years + 1)), f"month {horizon_months}"]


def by_period(flows: Matrix, settled: Value) -> Matrix:
    """Return flows by month as month 0, years and settlements, shape (periods, draws)."""
    ends = year_ends(flows.shape[0] - 1)
    rows = [flows[0]]
    start = 1
    for end in ends:
        rows.append(over_months(flows[start : end + 1]))
        start = end + 1
    return np.stack(np.broadcast_arrays(*rows, np.asarray(settled)))


def option_figures(document: Document, option: Option, values: Mapping[str, Value], discount: Matrix) -> Figures:
    """Return the figures of one option."""
    clock = Clock(option, values, document.horizon_months)
    with np.errstate(all="ignore"):  # callers refuse what is not finite, and name the option
        cash = option_cash(option, values, clock, document.tax)
    flows = cash.flows
    periods = by_period(flows, cash.at_horizon)
    nominal = over_months(periods)
    npv = over_months(flows * discount) + cash.at_horizon * discount[-1]
    rate = evaluate(document.discount_rate, values)
    tax = 0.0 if cash.tax is None else over_months(cash.tax.running) + cash.tax.on_disposal
    operating = nominal - cash.capital - cash.resale - cash.financing - tax
    totals = {
        "nominal_usd": nominal,
        "npv_usd": npv,
        "eac_usd_per_year": npv / annuity_factor(rate, document.horizon_months / MONTHS_PER_YEAR),
        "capital_usd": cash.capital,
        "residual_usd": 0.0 - cash.resale,
        "monthly_operating_usd": operating / document.horizon_months,
    }
    return Figures(option=option, clock=clock, cash=cash, discount=discount, totals=totals, by_period=periods)


def cumulative_paid(figures: Figures) -> Matrix:
    """Return what was paid up to each month, proceeds of disposal left out."""
    total = running_total(figures.cash.paid)
    total[-1] += figures.cash.settled
    return total


def cumulative_discounted(figures: Figures) -> Matrix:
    """Return the present value of everything paid up to each month, proceeds of disposal included."""
    total = running_total(figures.cash.flows * figures.discount)
    total[-1] += figures.cash.at_horizon * figures.discount[-1]
    return total


def phase_months(figures: Figures) -> dict[str, Value]:
    """Return delivery, ready and end of each phase in months from signature, under `phase:event`."""
    return {
        f"{phase.key}:{event}": figures.clock.date(Anchor(event, phase.key))
        for phase in figures.option.phases
        for event in ("delivery", "ready", "end")
    }
