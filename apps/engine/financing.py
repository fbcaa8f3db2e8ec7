"""Loans and leases of the capital lines: what is paid, what of it is interest, what is still owed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.engine.factors import Value
from apps.engine.finance import level_payment
from apps.engine.timing import Matrix
from apps.engine.units import MONTHS_PER_YEAR


@dataclass(kw_only=True)
class Schedule:
    """One loan or lease. Months by draws; outflows are positive.

    `cash` leaves out `settlement`, which is paid at the horizon. `owed` is the debt at the end of each month after
    everything was paid. `interest` and `depreciation` are its cost as accrued.
    """

    kind: str
    drawn: Matrix
    payments: Matrix
    settlement: NDArray[np.float64]
    interest: Matrix
    owed: Matrix
    depreciation: Matrix
    right_of_use: Matrix

    @property
    def cash(self) -> Matrix:
        """What is paid in each month, without the settlement."""
        return self.payments - self.drawn


def loan_schedule(*, principal: Value, annual_rate: Value, term_months: int, horizon_months: int) -> Schedule:
    """Return a loan drawn at signature and paid back in level payments; the rest is repaid at the horizon.

    Parameters
    ----------
    principal : float or ndarray, shape (draws,)
        What is drawn in month 0. [USD]
    annual_rate : float or ndarray, shape (draws,)
        Nominal annual rate, charged by the month at one twelfth. [-]
    term_months, horizon_months : int
        Number of level payments, and the month in which the run ends.
    """
    debt = np.atleast_1d(np.asarray(principal, dtype=np.float64))
    rate = np.asarray(annual_rate) / MONTHS_PER_YEAR
    payment = level_payment(principal=debt, rate=rate, periods=term_months)
    shape = (horizon_months + 1, payment.size)
    drawn, payments, interest, owed = (np.zeros(shape) for _ in range(4))
    drawn[0] = owed[0] = debt
    for month in range(1, horizon_months + 1):
        interest[month] = owed[month - 1] * rate
        payments[month] = payment if month <= term_months else 0.0
        owed[month] = owed[month - 1] + interest[month] - payments[month]
        if month >= term_months:
            owed[month] = 0.0  # what rounding leaves
    settlement = owed[-1].copy()
    owed[-1] = 0.0
    zero = np.zeros(shape)
    return Schedule(
        kind="loan",
        drawn=drawn,
        payments=payments,
        settlement=settlement,
        interest=interest,
        owed=owed,
        depreciation=zero,
        right_of_use=zero,
    )


def lease_schedule(
    *,
    principal: Value,
    annual_rate: Value,
    residual_share: Value,
    term_months: int,
    start: NDArray[np.intp],
    horizon_months: int,
) -> Schedule:
    """Return a lease with level payments in arrears, the first one month after the month in which it starts.

    The lessor gets back the machines and with them the residual share of the principal, so the payments only cover the
    rest. Payments that fall after the horizon are bought out there at their present value. The right of use is worth
    the present value of the payments and is written down evenly over the term (IFRS 16).

    Parameters
    ----------
    principal, annual_rate, residual_share : float or ndarray, shape (draws,)
        What the lessor pays [USD], the implicit nominal annual rate, and what he counts on at the end, as a share.
    start : ndarray of int, shape (draws,) or (1,)
        Month at whose end the machines are handed over.
    """
    debt = np.atleast_1d(np.asarray(principal, dtype=np.float64))
    rate = np.asarray(annual_rate) / MONTHS_PER_YEAR
    liability = debt - debt * residual_share / (1 + rate) ** term_months
    payment = level_payment(principal=liability, rate=rate, periods=term_months)
    n = max(payment.size, start.size)
    payment, liability = np.broadcast_to(payment, n), np.broadcast_to(liability, n)
    shape = (horizon_months + 1, n)
    payments, interest, owed, depreciation = (np.zeros(shape) for _ in range(4))
    for month in range(horizon_months + 1):
        before = owed[month - 1] if month else np.zeros(n)
        running = (month > start) & (month <= start + term_months)
        interest[month] = before * rate
        payments[month] = np.where(running, payment, 0.0)
        depreciation[month] = np.where(running, liability / term_months, 0.0)
        owed[month] = before + interest[month] - payments[month] + np.where(month == start, liability, 0.0)
        owed[month] = np.where(month >= start + term_months, 0.0, owed[month])  # what rounding leaves
    right_of_use = np.cumsum(np.where(np.arange(horizon_months + 1)[:, None] == start, liability, 0.0), axis=0)
    right_of_use = right_of_use - np.cumsum(depreciation, axis=0)
    settlement = owed[-1].copy()
    owed[-1] = 0.0
    depreciation[-1] += right_of_use[-1]
    right_of_use[-1] = 0.0
    return Schedule(
        kind="lease",
        drawn=np.zeros(shape),
        payments=payments,
        settlement=settlement,
        interest=interest,
        owed=owed,
        depreciation=depreciation,
        right_of_use=right_of_use,
    )
