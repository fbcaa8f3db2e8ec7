"""When a line is consumed: depreciation of what is capital, expense of the rest, and the balances between."""

from dataclasses import dataclass

import numpy as np

from apps.engine.document import Anchor, Line, Monthly, Once
from apps.engine.factors import Value
from apps.engine.timing import Clock, Matrix


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

    Capital is written down straight line from its start of service over its life, without a life up to the horizon; what
    is disposed of at the horizon loses its last book value there. An expense is consumed in the window it is paid for,
    over its life where it has one, or at once.
    """
    if line.treatment == "capital":
        return _depreciation(line, clock)
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
        charge[-1] = charge[-1] + recognised_profile(line, clock)[-1] - charge.sum(axis=0)
    return charge


def line_balances(line: Line, amount: Value, cash: Matrix, clock: Clock) -> tuple[Matrix, Balances]:
    """Return what a line accrues by month, and its balances: cumulative cash less cumulative accrual.

    `cash` is everything the line pays by month, settlements included.
    """
    accrued = accrual_profile(line, clock) * amount
    consumed = np.cumsum(accrued, axis=0)
    paid = np.cumsum(cash, axis=0)
    if line.treatment == "capital":
        recognised = recognised_profile(line, clock) * amount
        book, ahead = recognised - consumed, paid - recognised
    else:
        book, ahead = np.zeros_like(consumed), paid - consumed
    scale = float(np.max(np.abs(amount)) if np.size(amount) else 0.0) + 1.0
    book[np.abs(book) < 1e-9 * scale] = 0.0  # rounding, not money
    ahead[np.abs(ahead) < 1e-9 * scale] = 0.0
    # a discount or a refund is a negative line: its sides are turned round
    direction = np.where(np.asarray(amount) < 0, -1.0, 1.0)
    return accrued, Balances(
        net_book_value=book,
        prepaid=np.maximum(ahead * direction, 0.0) * direction,
        payable=np.maximum(-ahead * direction, 0.0) * direction,
    )
