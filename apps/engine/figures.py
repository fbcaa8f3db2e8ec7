"""The figures of one option from its cash: totals, present values, periods, cumulative cash."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.engine.accrual import start_of_service
from apps.engine.document import Anchor, Document, Once, Option
from apps.engine.factors import Value, evaluate
from apps.engine.finance import annuity_factor
from apps.engine.flows import Cash, is_paid_by_lessor, option_cash
from apps.engine.tax import year_ends
from apps.engine.timing import Clock, Matrix
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
    factors = np.empty((document.horizon_months + 1, rate.size))
    factors[0] = 1.0
    factors[1:] = (1.0 + rate) ** (-1.0 / MONTHS_PER_YEAR)
    return np.multiply.accumulate(factors, axis=0)


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
        rows.append(flows[start : end + 1].sum(axis=0))
        start = end + 1
    return np.stack(np.broadcast_arrays(*rows, np.asarray(settled)))


def option_figures(document: Document, option: Option, values: Mapping[str, Value], discount: Matrix) -> Figures:
    """Return the figures of one option."""
    clock = Clock(option, values, document.horizon_months)
    cash = option_cash(option, values, clock, document.tax)
    flows = cash.paid + cash.resale
    settled = cash.settled + cash.resale[-1]
    flows[-1] -= cash.resale[-1]
    periods = by_period(flows, settled)
    nominal = periods.sum(axis=0)
    npv = (flows * discount).sum(axis=0) + settled * discount[-1]
    rate = evaluate(document.discount_rate, values)
    years = document.horizon_months / MONTHS_PER_YEAR
    totals = {
        "nominal_usd": nominal,
        "npv_usd": npv,
        "eac_usd_per_year": npv / annuity_factor(rate, years),
        "capital_usd": cash.capital,
        "residual_usd": -cash.resale.sum(axis=0),
        "monthly_operating_usd": cash.operating / document.horizon_months,
    }
    return Figures(option=option, clock=clock, cash=cash, discount=discount, totals=totals, by_period=periods)


def cumulative_paid(figures: Figures) -> Matrix:
    """Return what was paid up to each month, proceeds of disposal left out."""
    total = np.cumsum(figures.cash.paid, axis=0)
    total[-1] += figures.cash.settled
    return total


def cumulative_discounted(figures: Figures) -> Matrix:
    """Return the present value of everything paid up to each month, proceeds of disposal included."""
    total = np.cumsum((figures.cash.paid + figures.cash.resale) * figures.discount, axis=0)
    total[-1] += figures.cash.settled * figures.discount[-1]
    return total


def resale_value(figures: Figures) -> Matrix:
    """Return what the machines would fetch at the end of each month, shape (horizon + 1, draws or 1).

    Up to their start of service that is what was paid for them; from there it falls in a straight line to the residual
    at the horizon. A residual that is no percentage of other lines grows in a straight line from signature.
    """
    option, clock, amounts = figures.option, figures.clock, figures.cash.amounts
    lines = {line.key: line for line in option.lines}
    value: Matrix = np.zeros((clock.horizon + 1, 1))
    for line in option.lines:
        if line.group != "residual" or line.not_given or is_paid_by_lessor(option, line):
            continue
        residual = -(clock.profile(line.timing) * amounts[line.key]).sum(axis=0)
        bases = [lines[key] for key in line.percent_of if isinstance(lines[key].timing, Once)]
        paid = [clock.profile(base.timing) * amounts[base.key] for base in bases]
        cost = sum((part.sum(axis=0) for part in paid), np.zeros(1))
        if not bases or not np.all(cost):
            value = value + residual * clock.months / clock.horizon
            continue
        kept = residual / cost
        for base, part in zip(bases, paid, strict=True):
            start = clock.date(start_of_service(base))
            age = np.clip((clock.months - start) / np.maximum(clock.horizon - np.asarray(start), 1e-9), 0.0, 1.0)
            value = value + np.cumsum(part, axis=0) - part.sum(axis=0) * (1.0 - kept) * age
    return value


def phase_months(figures: Figures) -> dict[str, Value]:
    """Return delivery, ready and end of each phase in months from signature, under `phase:event`."""
    return {
        f"{phase.key}:{event}": figures.clock.date(Anchor(event, phase.key))
        for phase in figures.option.phases
        for event in ("delivery", "ready", "end")
    }
