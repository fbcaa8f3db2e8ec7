"""When money moves: anchors in months from signature, and the share of a line that falls on each month."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from apps.engine.factors import Factor, Value, evaluate
from apps.engine.records import Anchor, Monthly, Once, Option, Timing
from apps.engine.units import MONTHS_PER_WEEK, MONTHS_PER_YEAR

Matrix = NDArray[np.float64]
"""Months by draws, shape (horizon + 1, draws), or (horizon + 1, 1) where no draw differs."""

Months = int | NDArray[np.intp]
"""One month, or one a draw."""

A_MOMENT = 1e-9  # months; rounding noise must not push a date into the next month


def running_total(flows: Matrix) -> Matrix:
    """Return cumulative sums over the months; row by row, as numpy walks down columns slowly."""
    if flows.shape[1] < 64:
        return np.cumsum(flows, axis=0)
    result = np.empty_like(flows)
    result[0] = flows[0]
    for month in range(1, len(flows)):
        np.add(result[month - 1], flows[month], out=result[month])
    return result


def over_months(flows: Matrix) -> NDArray[np.float64]:
    """Return sums over the months, shape (draws,), added in their order however many draws there are."""
    return flows.sum(axis=0) if flows.shape[1] > 1 else np.cumsum(flows, axis=0)[-1]


class Clock:
    """Dates and monthly shares of one option for one set of values; each is worked out once."""

    def __init__(self, option: Option, values: Mapping[str, Value], horizon_months: int) -> None:
        self.values, self.horizon = values, horizon_months
        self.phases = {phase.key: phase for phase in option.phases}
        self.n_draws = next((value.size for value in values.values() if isinstance(value, np.ndarray)), 1)
        self.months = np.arange(horizon_months + 1.0)[:, None]
        self._windows: dict[tuple[Anchor, Anchor], Matrix] = {}
        self._profiles: dict[Timing, Matrix] = {}
        self._totals: dict[Timing, Value] = {}
        self._payments: dict[Once, list[tuple[Value, Months]]] = {}
        self._year_shares: dict[tuple[Anchor, Anchor], list[Value]] = {}
        self._cumulative: dict[Timing, Matrix] = {}
        self.accruals: dict[Any, Matrix] = {}
        self._dates: dict[Anchor, Value] = {}

    def worth(self, factor: Factor | None, missing: float) -> Value:
        """Return the value of a factor, or what stands for a missing one."""
        return missing if factor is None else evaluate(factor, self.values)

    def date(self, anchor: Anchor) -> Value:
        """Return the months from signature to an anchor."""
        if anchor not in self._dates:
            self._dates[anchor] = self._event(anchor) + self.worth(anchor.offset_months, 0.0)
        return self._dates[anchor]

    def _event(self, anchor: Anchor) -> Value:
        match anchor.event:
            case "signature":
                return 0.0
            case "month":
                return anchor.month
            case "horizon":
                return float(self.horizon)
            case "delivery":
                phase = self.phases[cast("str", anchor.phase)]
                return phase.order_month + self.worth(phase.lead_weeks, 0.0) * MONTHS_PER_WEEK
            case "ready":
                phase = self.phases[cast("str", anchor.phase)]
                waiting = self.worth(phase.acceptance_weeks, 0.0) * MONTHS_PER_WEEK
                return self.date(Anchor("delivery", anchor.phase)) + waiting
            case _:
                return self.date(self.phases[cast("str", anchor.phase)].end)

    def window(self, start: Anchor, end: Anchor) -> Matrix:
        """Return the share of each month that lies between two anchors; month 0 has no length."""
        key = (start, end)
        if key not in self._windows:
            self._windows[key] = self.shares(self.date(start), self.date(end))
        return self._windows[key]

    def shares(self, start: Value, end: Value) -> Matrix:
        """Return the share of each month that lies between two dates."""
        inside: Matrix = np.minimum(self.months, end)
        inside = inside - np.maximum(self.months - 1.0, start)
        np.maximum(inside, 0.0, out=inside)
        inside[0] = 0.0
        return inside

    def elapsed(self, start: Value, end: Value) -> Value:
        """Return the months between two dates, as far as they lie before the horizon."""
        if isinstance(start, float) and isinstance(end, float):
            return max(min(end, float(self.horizon)) - max(start, 0.0), 0.0)
        return np.maximum(np.minimum(end, float(self.horizon)) - np.maximum(start, 0.0), 0.0)

    def landing(self, date: Value) -> NDArray[np.intp]:
        """Return the month at whose end a date is paid: 0 at or before signature, horizon + 1 for never."""
        month = np.ceil(np.asarray(date) - A_MOMENT)
        return np.clip(month, 0, self.horizon + 1).astype(np.intp).reshape(-1)

    def on(self, date: Value, share: Value = 1.0) -> Matrix:
        """Return the profile of one payment at a date."""
        month = self.landing(date)
        n = max(month.size, np.size(share))
        profile = np.zeros((self.horizon + 2, n))
        profile[month if month.size == n else np.full(n, month[0]), np.arange(n)] = share
        return profile[:-1]

    def profile(self, timing: Timing) -> Matrix:
        """Return what a line pays in each month for an amount of one dollar, or of one dollar a whole month."""
        if timing not in self._profiles:
            self._profiles[timing] = self._once(timing) if isinstance(timing, Once) else self._monthly(timing)
        return self._profiles[timing]

    def payments(self, timing: Once) -> list[tuple[Value, Months]]:
        """Return the shares of a line that is paid once, and the months they are paid in."""
        if timing not in self._payments:
            self._payments[timing] = [
                (self.worth(share, 0.0), self.month_paid(self.date(at))) for share, at in timing.milestones
            ]
        return self._payments[timing]

    def month_paid(self, date: Value) -> Months:
        """Return the month at whose end a date is paid, one number where all draws agree."""
        month = self.landing(date)
        return int(month[0]) if month.size == 1 else month

    def year_rows(self) -> list[slice]:
        """Return the months of each year from signature, month 0 left out."""
        starts = range(1, self.horizon + 1, MONTHS_PER_YEAR)
        return [slice(start, min(start + MONTHS_PER_YEAR, self.horizon + 1)) for start in starts]

    def year_shares(self, start: Anchor, end: Anchor) -> list[Value]:
        """Return the months of a window that lie in each year."""
        key = (start, end)
        if key not in self._year_shares:
            window = self.window(start, end)
            self._year_shares[key] = [over_months(window[rows]) for rows in self.year_rows()]
        return self._year_shares[key]

    def price_levels(self, timing: Monthly) -> list[Value]:
        """Return what has become of a price of one dollar in each year."""
        rate = self.worth(timing.escalation, 0.0)
        return [(1.0 + rate) ** year for year in range(len(self.year_rows()))]

    def window_total(self, timing: Monthly) -> Value:
        """Return the sum over a window for an amount of one dollar a whole month."""
        years = zip(self.year_shares(timing.start, timing.end), self.price_levels(timing), strict=True)
        return sum((share * level for share, level in years), np.zeros(1))

    def profile_total(self, timing: Timing) -> Value:
        """Return what a line pays up to the horizon for an amount of one dollar, shape (draws,) or (1,)."""
        if timing not in self._totals:
            self._totals[timing] = (
                self.window_total(timing) if isinstance(timing, Monthly) else self._share_paid(timing)
            )
        return self._totals[timing]

    def _share_paid(self, timing: Once) -> Value:
        """Return the share of a line that is paid by the horizon."""
        parts = (share * self.is_paid(month) for share, month in self.payments(timing))
        return sum(parts, np.zeros(1))

    def is_paid(self, month: Months) -> Matrix:
        """Return 1 where a month lies before or on the horizon, 0 elsewhere; shape (draws,) or (1,)."""
        return (np.atleast_1d(month) <= self.horizon).astype(np.float64)

    def cumulative(self, timing: Timing) -> Matrix:
        """Return the cumulative sums of a profile."""
        if timing not in self._cumulative:
            self._cumulative[timing] = running_total(self.profile(timing))
        return self._cumulative[timing]

    def _once(self, timing: Once) -> Matrix:
        parts = [self.on(self.date(at), self.worth(share, 0.0)) for share, at in timing.milestones]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def escalated(self, timing: Monthly) -> Matrix:
        """Return what is consumed in each month of a window, prices raised once a year."""
        shares = self.window(timing.start, timing.end)
        rate = self.worth(timing.escalation, 0.0)
        if isinstance(rate, float) and rate == 0.0:
            return shares
        years = np.floor(np.maximum(self.months - 1.0, 0.0) / MONTHS_PER_YEAR)
        return shares * (1.0 + rate) ** years

    def _monthly(self, timing: Monthly) -> Matrix:
        consumed = self.escalated(timing)
        upfront = self.worth(timing.upfront_share, 0.0)
        if isinstance(upfront, float) and upfront == 0.0:
            return consumed
        whole = over_months(consumed)
        return consumed * (1.0 - upfront) + self.on(self.date(timing.start)) * (upfront * whole)
