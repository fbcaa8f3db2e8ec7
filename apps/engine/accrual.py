"""When a line is consumed: depreciation of what is capital, expense of the rest, and the balances between."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from apps.engine.factors import Value
from apps.engine.records import Anchor, Line, Monthly, Once
from apps.engine.timing import Clock, Matrix, over_months, running_total


@dataclass(kw_only=True)
class Balances:
    """What stands between cash and accrual at the end of each month, shape (horizon + 1, draws)."""

    net_book_value: Matrix
    prepaid: Matrix
    payable: Matrix


def start_of_service(line: Line) -> Anchor:
    """Return when a line starts to be consumed: as given, or with its last milestone."""
    if line.in_service is not None:
        return line.in_service
    if isinstance(line.timing, Once):
        return line.timing.milestones[-1][1]
    return line.timing.start


def accrual_profile(line: Line, clock: Clock) -> Matrix:
    """Return the share of a line's amount that is consumed in each month.

    Capital is written down straight line from its start of service over its life, without a life up to the horizon;
    what is disposed of at the horizon loses its last book value there. An expense is consumed in the window it is paid
    for, over its life where it has one, or at once.
    """
    key = _consumption(line)
    if key not in clock.accruals:
        clock.accruals[key] = _depreciation(line, clock) if line.treatment == "capital" else _expense(line, clock)
    return clock.accruals[key]


def _consumption(line: Line) -> tuple[Any, ...]:
    """Return what decides how a line is consumed; lines that agree in it share a profile."""
    return line.timing, line.treatment, line.life_months, line.in_service, line.disposed_at_horizon


def _expense(line: Line, clock: Clock) -> Matrix:
    if isinstance(line.timing, Monthly):
        return clock.escalated(line.timing)
    start = clock.date(start_of_service(line))
    if line.life_months is None:
        return clock.on(start) * clock.profile_total(line.timing)
    life = clock.worth(line.life_months, 1.0)
    return clock.shares(start, start + life) / life


def recognised_profile(line: Line, clock: Clock) -> Matrix:
    """Return the share of a capital line that is on the books: all of it from its start of service."""
    return np.cumsum(clock.on(clock.date(start_of_service(line))), axis=0)


def _depreciation(line: Line, clock: Clock) -> Matrix:
    start = clock.date(start_of_service(line))
    life: Value
    if line.life_months is None:
        life = np.maximum(clock.horizon - np.asarray(start), 1.0)
    else:
        life = clock.worth(line.life_months, 1.0)
    charge = clock.shares(start, start + life) / life
    # what was consumed before signature counts in month 0
    charge[0] = charge[0] + np.clip(-np.asarray(start) / life, 0.0, 1.0)
    if line.disposed_at_horizon:
        charge[-1] = charge[-1] + recognised_profile(line, clock)[-1] - over_months(charge)
    return charge


def balances(lines: Iterable[Line], amounts: Mapping[str, Value], clock: Clock) -> Balances:
    """Return the balances of lines: cumulative cash less cumulative accrual, by what it stands for.

    A line paid before it is consumed is prepaid, one consumed before it is paid is payable; a line with a negative
    amount the other way round. Capital is on the books from its start of service.
    """
    zero = np.zeros((clock.horizon + 1, 1))
    result = Balances(net_book_value=zero, prepaid=zero, payable=zero)
    sums: dict[tuple[Any, ...], Value] = {}
    examples: dict[tuple[Any, ...], Line] = {}
    for line in lines:
        key = (*_consumption(line), bool(np.all(np.asarray(amounts[line.key]) < 0)))
        sums[key] = sums.get(key, 0.0) + amounts[line.key]
        examples.setdefault(key, line)
    for key, amount in sums.items():
        line, negative = examples[key], key[-1]
        consumed = running_total(accrual_profile(line, clock))
        ahead, paid = -consumed, clock.cumulative(line.timing)
        if line.treatment == "capital":
            recognised = recognised_profile(line, clock)
            result.net_book_value = result.net_book_value + _money(recognised - consumed) * amount
            ahead = -recognised
        ahead = _money(paid + ahead)
        before, after = np.maximum(ahead, 0.0) * amount, np.maximum(-ahead, 0.0) * amount
        result.prepaid = result.prepaid + (-after if negative else before)
        result.payable = result.payable + (-before if negative else after)
    return result


def _money(shares: Matrix) -> Matrix:
    """Return shares of an amount without what rounding leaves."""
    return np.where(np.abs(shares) < 1e-12 * len(shares), 0.0, shares)
