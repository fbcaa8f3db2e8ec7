"""The cash of one option, month by month, for one set of values or for a stretch of draws at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from apps.engine.accrual import start_of_service
from apps.engine.factors import Value, evaluate
from apps.engine.financing import Schedule, lease_schedule, loan_schedule
from apps.engine.records import Anchor, Monthly, Once, Option, Tax
from apps.engine.tax import TaxFlows, tax_flows
from apps.engine.timing import A_MOMENT, Clock, Matrix, Months, over_months
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
    """What one option pays. Outflows are positive; matrices have shape (horizon + 1, draws).

    `paid` is everything by month but disposal, and but what is settled at the horizon. `resold` is disposal before the
    horizon, None where there is none, and `resold_at_horizon` disposal there; both are negative.
    """

    paid: Matrix
    settled: Value
    resold: Matrix | None
    resold_at_horizon: Value
    capital: Value
    schedules: list[Schedule] = field(default_factory=list)
    bridged: Matrix | None = None
    bridged_total: Value = 0.0
    tax: TaxFlows | None = None
    amounts: dict[str, Value] = field(default_factory=dict)
    supply: Supply

    @property
    def flows(self) -> Matrix:
        """Everything by month but what falls on the horizon as a settlement."""
        return self.paid if self.resold is None else self.paid + self.resold

    @property
    def at_horizon(self) -> Value:
        """Everything that is settled at the horizon."""
        return self.settled + self.resold_at_horizon

    @property
    def resale(self) -> Value:
        """All proceeds of disposal, as a negative number."""
        early = 0.0 if self.resold is None else over_months(self.resold)
        return self.resold_at_horizon + early

    @property
    def financing(self) -> Value:
        """What loans and leases add: payments and settlements less what was drawn."""
        return sum((over_months(part.cash) + part.settlement for part in self.schedules), 0.0)


def line_amounts(option: Option, values: Values, clock: Clock) -> dict[str, Value]:
    """Return the signed amount of every line: the product of its factors, times the lines it is a percentage of.

    A residual is a percentage of what is in service when it is paid: machines that have not come by then have not been
    used, may not even have been paid for, and leave nothing to sell.
    """
    lines = {line.key: line for line in option.lines}
    amounts: dict[str, Value] = {}
    for line in option.ordered_lines:
        if line.not_given:
            amounts[line.key] = 0.0
            continue
        amount: Value = float(line.sign)
        for factor in line.factors:
            amount = amount * evaluate(factor, values)
        if line.percent_of:
            bases = [amounts[key] for key in line.percent_of]
            if line.group == "residual":
                at = clock.date(start_of_service(line))
                bases = [
                    base * _is_by(clock.date(start_of_service(lines[key])), at)
                    for key, base in zip(line.percent_of, bases, strict=True)
                ]
            amount = amount * sum(bases, 0.0)
        amounts[line.key] = amount
    return amounts


def _is_by(date: Value, limit: Value) -> Value:
    """Return 1 where a date is not after the limit, else 0."""
    return np.where(np.asarray(date) <= np.asarray(limit) + A_MOMENT, 1.0, 0.0)


def option_cash(option: Option, values: Values, clock: Clock, tax: Tax | None = None) -> Cash:
    """Return the cash of an option.

    Lines that are paid at the same times are added before they are spread over the months, so that a draw costs one
    product a line and one spread a timing.
    """
    amounts = line_amounts(option, values, clock)
    cash = _spread(option, amounts, clock)
    cash.amounts = amounts
    principal: Value = sum((amounts[line.key] for line in option.lines if line.group == "capital"), 0.0)
    cash.schedules = financing_schedules(option, principal, clock)
    for schedule in cash.schedules:
        cash.paid += schedule.cash
        cash.settled = cash.settled + schedule.settlement
    cash.supply = option_supply(option, clock)
    if option.bridge is not None and cash.supply.unmet_by_month is not None:
        price = evaluate(option.bridge.usd_per_gpu_hour, values)
        cash.bridged = cash.supply.unmet_by_month * price
        cash.bridged_total = cash.supply.unmet_gpu_hours * price
        cash.paid += cash.bridged
    if tax is not None:
        cash.tax = tax_flows(
            option=option,
            amounts=amounts,
            schedules=cash.schedules,
            bridged=cash.bridged,
            tax=tax,
            clock=clock,
        )
        cash.paid += cash.tax.running
        cash.settled = cash.settled + cash.tax.on_disposal
    return cash


def _spread(option: Option, amounts: Mapping[str, Value], clock: Clock) -> Cash:
    """Return the cash of the lines, spread over the months."""
    book = _Book(clock)
    windows: dict[tuple[Anchor, Anchor], list[tuple[Monthly, Value]]] = {}
    for (timing, group, settles), keys in option.buckets.items():
        amount: Value = sum((amounts[key] for key in keys), 0.0)
        if isinstance(timing, Monthly):
            windows.setdefault((timing.start, timing.end), []).append((timing, amount))
        else:
            book.pay_once(timing, amount, group=group, settles=settles)
    for window, parts in windows.items():
        book.pay_monthly(window, parts)
    return Cash(
        paid=book.paid[:-1],
        settled=book.settled,
        resold=None if book.resold is None else book.resold[:-1],
        resold_at_horizon=book.resold_at_horizon,
        capital=book.capital,
        supply=_NO_SUPPLY,
    )


class _Book:
    """Adds payments up by month. One row more than there are months takes what falls after the horizon."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.draws = np.arange(clock.n_draws)
        self.paid = self._empty()
        self.resold: Matrix | None = None
        self.settled: Value = 0.0
        self.resold_at_horizon: Value = 0.0
        self.capital: Value = 0.0

    def _empty(self) -> Matrix:
        return np.zeros((self.clock.horizon + 2, self.clock.n_draws))

    def pay_once(self, timing: Once, amount: Value, *, group: str, settles: bool) -> None:
        """Enter the milestones of lines; what settles at the horizon is kept apart from the last month."""
        for share, month in self.clock.payments(timing):
            part = amount * share
            if group == "capital":
                self.capital = self.capital + part * self.clock.is_paid(month)
            if settles:
                at_horizon = np.atleast_1d(month) == self.clock.horizon
                self._settle(part * at_horizon, group)
                part = part * ~at_horizon
                if isinstance(month, int) and at_horizon[0]:
                    continue
            if group == "residual":
                self.resold = self._empty() if self.resold is None else self.resold
                self._enter(self.resold, month, part)
            else:
                self._enter(self.paid, month, part)

    def _settle(self, part: Value, group: str) -> None:
        if group == "residual":
            self.resold_at_horizon = self.resold_at_horizon + part
        else:
            self.settled = self.settled + part

    def _enter(self, matrix: Matrix, month: Months, part: Value) -> None:
        if isinstance(month, int):
            matrix[month] += part
        else:
            matrix[month, self.draws] += part

    def pay_monthly(self, window: tuple[Anchor, Anchor], parts: list[tuple[Monthly, Value]]) -> None:
        """Enter lines of one window: its shares times their amounts at the prices of each year."""
        shares, rows = self.clock.window(*window), self.clock.year_rows()
        levels: list[Value] = [0.0] * len(rows)
        for timing, amount in parts:
            upfront = self.clock.worth(timing.upfront_share, 0.0)
            if timing.upfront_share is not None:
                month = self.clock.month_paid(self.clock.date(timing.start))
                self._enter(self.paid, month, amount * upfront * self.clock.window_total(timing))
            later = amount * (1.0 - upfront)
            levels = [
                level + later * price for level, price in zip(levels, self.clock.price_levels(timing), strict=True)
            ]
        for year, level in zip(rows, levels, strict=True):
            self.paid[year] += shares[year] * level


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
        demanded_gpu_hours=0.0 if wanted is None else over_months(wanted),
        unmet_gpu_hours=0.0 if unmet is None else over_months(unmet),
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
        wanted = wanted + clock.shares(start, end) * (evaluate(n_accelerators, clock.values) * HOURS_PER_MONTH)
    missing = wanted
    for phase in option.phases:
        hours = evaluate(phase.n_accelerators, clock.values) * HOURS_PER_MONTH
        had = clock.window(Anchor("ready", phase.key), Anchor("end", phase.key)) * hours
        missing = np.subtract(missing, had, out=had) if had.shape[1] >= missing.shape[1] else missing - had
    return wanted, np.maximum(missing, 0.0)
