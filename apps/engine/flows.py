"""The cash of one option, month by month, for one set of values or for a stretch of draws at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from apps.engine.document import Anchor, Option, Tax
from apps.engine.factors import Value, evaluate
from apps.engine.financing import Schedule, lease_schedule, loan_schedule
from apps.engine.tax import TaxFlows, tax_flows
from apps.engine.timing import Clock, Matrix
from apps.engine.units import HOURS_PER_DAY, HOURS_PER_MONTH

Values = Mapping[str, Value]


@dataclass(kw_only=True)
class Supply:
    """GPU-hours of one option over the horizon, one a draw."""

    installed_gpu_hours: Value
    available_gpu_hours: Value
    productive_gpu_hours: Value
    pflop_days: Value | None
    demanded_gpu_hours: Value
    unmet_gpu_hours: Value
    unmet_by_month: Matrix | None


@dataclass(kw_only=True)
class Cash:
    """What one option pays: `paid` and `resale` by month, `settled` at the horizon. Outflows are positive."""

    paid: Matrix
    settled: Value
    resale: Matrix
    capital: Value
    operating: Value
    schedules: list[Schedule] = field(default_factory=list)
    bridged: Matrix | None = None
    tax: TaxFlows | None = None
    amounts: dict[str, Value] = field(default_factory=dict)
    supply: Supply


def line_amounts(option: Option, values: Values) -> dict[str, Value]:
    """Return the signed amount of every line: the product of its factors, times the lines it is a percentage of."""
    amounts: dict[str, Value] = {}
    for line in option.ordered_lines:
        if line.not_given:
            amounts[line.key] = 0.0
            continue
        amount: Value = float(line.sign)
        for factor in line.factors:
            amount = amount * evaluate(factor, values)
        if line.percent_of:
            amount = amount * sum((amounts[key] for key in line.percent_of), 0.0)
        amounts[line.key] = amount
    return amounts


def option_cash(option: Option, values: Values, clock: Clock, tax: Tax | None = None) -> Cash:
    """Return the cash of an option.

    Lines that are paid at the same times are added before they are spread over the months, so that a draw costs one
    product a line and one spread a timing.
    """
    amounts = line_amounts(option, values)
    cash = _spread(option, amounts, clock)
    cash.amounts = amounts
    principal: Value = sum((amounts[line.key] for line in option.lines if line.group == "capital"), 0.0)
    cash.schedules = financing_schedules(option, principal, clock)
    for schedule in cash.schedules:
        cash.paid = cash.paid + schedule.cash
        cash.settled = cash.settled + schedule.settlement
    cash.supply = option_supply(option, clock)
    if option.bridge is not None and cash.supply.unmet_by_month is not None:
        cash.bridged = cash.supply.unmet_by_month * evaluate(option.bridge.usd_per_gpu_hour, values)
        cash.paid = cash.paid + cash.bridged
        cash.operating = cash.operating + cash.bridged.sum(axis=0)
    if tax is not None:
        cash.tax = tax_flows(
            option=option,
            amounts=amounts,
            schedules=cash.schedules,
            bridged=cash.bridged,
            tax=tax,
            clock=clock,
        )
        cash.paid = cash.paid + cash.tax.running
        cash.settled = cash.settled + cash.tax.on_disposal
    if np.size(cash.settled) > cash.paid.shape[1]:
        cash.paid = np.repeat(cash.paid, np.size(cash.settled), axis=1)
    return cash


def _spread(option: Option, amounts: Mapping[str, Value], clock: Clock) -> Cash:
    """Return the cash of the lines, spread over the months."""
    zero = np.zeros((clock.horizon + 1, 1))
    paid, resale = zero, zero
    settled: Value = 0.0
    totals: dict[str, Value] = {"capital": 0.0, "operating": 0.0}
    for (timing, group, settles), keys in option.buckets.items():
        amount: Value = sum((amounts[key] for key in keys), 0.0)
        spread = clock.profile(timing) * amount
        if group == "residual":
            resale = _added(resale, spread)
            continue
        kind = "capital" if group == "capital" else "operating"
        totals[kind] = totals[kind] + amount * clock.profile_total(timing)
        if settles:
            settled = settled + spread[-1]
            spread[-1] = 0.0
        paid = _added(paid, spread)
    return Cash(paid=paid, settled=settled, resale=resale, supply=_NO_SUPPLY, **totals)


def _added(total: Matrix, part: Matrix) -> Matrix:
    """Return the sum, in place of the first where its shape allows it."""
    if total.shape[1] >= part.shape[1] and total.shape[1] > 1:
        total += part
        return total
    return total + part


def financing_schedules(option: Option, principal: Value, clock: Clock) -> list[Schedule]:
    """Return the flows of a loan or a lease of the capital lines; none when they are paid in cash."""
    financing = option.financing
    if financing.kind == "loan":
        return [
            loan_schedule(
                principal=principal * clock.worth(financing.share, 1.0),
                annual_rate=clock.worth(financing.annual_rate, 0.0),
                term_months=financing.term_months,
                horizon_months=clock.horizon,
            )
        ]
    if financing.kind == "lease" and financing.starts is not None:
        return [
            lease_schedule(
                principal=principal,
                annual_rate=clock.worth(financing.annual_rate, 0.0),
                residual_share=clock.worth(financing.residual_share, 0.0),
                term_months=financing.term_months,
                start=clock.landing(clock.date(financing.starts)),
                horizon_months=clock.horizon,
            )
        ]
    return []


_NO_SUPPLY = Supply(
    installed_gpu_hours=0.0,
    available_gpu_hours=0.0,
    productive_gpu_hours=0.0,
    pflop_days=None,
    demanded_gpu_hours=0.0,
    unmet_gpu_hours=0.0,
    unmet_by_month=None,
)


def option_supply(option: Option, clock: Clock) -> Supply:
    """Return the GPU-hours an option supplies from ready to end, and those it falls short of demand.

    Installed hours take off availability, then occupancy and goodput; a factor that is not given counts as 1 here, and
    the cost per hour that needs it is not given.
    """
    installed: Value = 0.0
    available: Value = 0.0
    productive: Value = 0.0
    pflop_days: Value | None = 0.0 if option.phases else None
    for phase in option.phases:
        start, end = clock.date(Anchor("ready", phase.key)), clock.date(Anchor("end", phase.key))
        hours = evaluate(phase.n_accelerators, clock.values) * clock.elapsed(start, end) * HOURS_PER_MONTH
        up = hours * clock.worth(phase.availability, 1.0)
        useful = up * clock.worth(phase.occupancy, 1.0) * clock.worth(phase.goodput, 1.0)
        installed, available, productive = installed + hours, available + up, productive + useful
        if phase.peak_tflops is None or phase.mfu is None or pflop_days is None:
            pflop_days = None
        else:
            speed = clock.worth(phase.peak_tflops, 0.0) / 1000 * clock.worth(phase.mfu, 0.0)
            pflop_days = pflop_days + useful / HOURS_PER_DAY * speed
    wanted, unmet = _demand(option, clock)
    return Supply(
        installed_gpu_hours=installed,
        available_gpu_hours=available,
        productive_gpu_hours=productive,
        pflop_days=pflop_days,
        demanded_gpu_hours=0.0 if wanted is None else wanted.sum(axis=0),
        unmet_gpu_hours=0.0 if unmet is None else unmet.sum(axis=0),
        unmet_by_month=unmet,
    )


def _demand(option: Option, clock: Clock) -> tuple[Matrix | None, Matrix | None]:
    """Return GPU-hours wanted and missing in each month; a step of demand holds until the next one."""
    if not option.demand:
        return None, None
    steps = sorted(option.demand, key=lambda step: step[0])
    ends = [step[0] for step in steps[1:]] + [float(clock.horizon)]
    wanted: Matrix = np.zeros((clock.horizon + 1, 1))
    for (start, n_accelerators), end in zip(steps, ends, strict=True):
        wanted = wanted + clock.shares(start, end) * evaluate(n_accelerators, clock.values)
    had: Matrix = np.zeros((clock.horizon + 1, 1))
    for phase in option.phases:
        shares = clock.window(Anchor("ready", phase.key), Anchor("end", phase.key))
        had = had + shares * evaluate(phase.n_accelerators, clock.values)
    return wanted * HOURS_PER_MONTH, np.maximum(wanted - had, 0.0) * HOURS_PER_MONTH
