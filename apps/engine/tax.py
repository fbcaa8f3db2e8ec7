"""Taxes saved by deductions, as a switch: what is deducted in which year, and what of it saves cash."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from apps.engine.accrual import accrual_profile, recognised_profile, start_of_service
from apps.engine.factors import Value, evaluate
from apps.engine.finance import MACRS_5_YEAR_PERCENT
from apps.engine.financing import Schedule
from apps.engine.records import Line, Option, Tax
from apps.engine.timing import Clock, Matrix, over_months
from apps.engine.units import MONTHS_PER_YEAR


@dataclass(kw_only=True)
class TaxFlows:
    """Tax of one option. Cash: outflows are positive, so taxes saved are negative."""

    running: Matrix
    on_disposal: Value
    carried_forward: Value


def tax_flows(
    *,
    option: Option,
    amounts: Mapping[str, Value],
    schedules: list[Schedule],
    bridged: Matrix | None,
    tax: Tax,
    clock: Clock,
) -> TaxFlows:
    """Return the taxes an option saves and pays.

    Deductions are expenses as they accrue, tax depreciation, interest of a loan and payments of a lease; they are
    settled at the end of each year from signature, the last year at the horizon. With full absorption other income of
    the buyer absorbs them at once. With carry-forward there is no other income: they wait, and only save the tax on a
    gain from disposal.
    """
    running: Matrix = np.zeros((clock.horizon + 1, 1))
    disposal: Value = np.zeros(1)
    for line in option.bought_lines:
        amount = amounts[line.key]
        if line.group == "residual":
            disposal = disposal + over_months(clock.profile(line.timing) * amount)
        elif line.treatment == "capital":
            charge = _tax_depreciation(line, tax, clock)
            running = running + charge * amount
            if line.disposed_at_horizon:
                left = recognised_profile(line, clock)[-1] - over_months(charge)
                disposal = disposal + left * amount
        else:
            running = running + accrual_profile(line, clock) * amount
    for schedule in schedules:
        running = running + (schedule.interest if schedule.kind == "loan" else schedule.payments)
        if schedule.kind == "lease":
            disposal = disposal + schedule.settlement
    if bridged is not None:
        running = running + bridged
    return _absorbed(running, disposal, evaluate(tax.rate, clock.values), tax.absorption)


def _absorbed(deductions: Matrix, disposal: Value, rate: Value, absorption: str) -> TaxFlows:
    """Return the cash that deductions by month save, settled by year."""
    if absorption == "full":
        return TaxFlows(running=-rate * _by_year(deductions), on_disposal=-rate * disposal, carried_forward=0.0)
    pool = over_months(deductions)
    gain = np.maximum(-np.asarray(disposal), 0.0)
    pool = pool + np.maximum(np.asarray(disposal), 0.0)
    return TaxFlows(
        running=np.zeros_like(deductions),
        on_disposal=rate * np.maximum(gain - pool, 0.0),
        carried_forward=np.maximum(pool - gain, 0.0),
    )


def year_ends(horizon_months: int) -> list[int]:
    """Return the last month of each year from signature; the last year ends at the horizon."""
    years = -(-horizon_months // MONTHS_PER_YEAR)
    return [min(MONTHS_PER_YEAR * year, horizon_months) for year in range(1, years + 1)]


def _by_year(by_month: Matrix) -> Matrix:
    """Return amounts by month, moved to the end of their years; month 0 belongs to the first."""
    result = np.zeros_like(by_month)
    start = 0
    for end in year_ends(by_month.shape[0] - 1):
        result[end] = over_months(by_month[start : end + 1])
        start = end + 1
    return result


def _tax_depreciation(line: Line, tax: Tax, clock: Clock) -> Matrix:
    """Return the share of a capital line that tax law writes off in each month up to the horizon."""
    start = clock.date(start_of_service(line))
    if tax.method == "first_year":
        return clock.on(start)
    if tax.method == "straight_line":
        life = clock.worth(tax.life_months, 1.0)
        return clock.shares(start, start + life) / life
    month = clock.landing(start)
    first_year = np.maximum(month - 1, 0) // MONTHS_PER_YEAR
    charge = np.zeros((clock.horizon + 1, month.size))
    for year, end in enumerate(year_ends(clock.horizon)):
        age = year - first_year
        known = (age >= 0) & (age < len(MACRS_5_YEAR_PERCENT)) & (month <= clock.horizon)
        charge[end] = np.where(known, np.take(MACRS_5_YEAR_PERCENT, np.where(known, age, 0)) / 100, 0.0)
    return charge
