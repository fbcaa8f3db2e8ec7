"""Two options against each other: differences, break-even months, rate of return, crossover utilisation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.engine.errors import NoAnswerError
from apps.engine.factors import evaluate
from apps.engine.figures import Figures
from apps.engine.finance import crossover_utilisation, effective_annual_rate, irr, mirr, monthly_rate

Floats = NDArray[np.float64]

BREAK_EVENS = {
    "break_even_month": "cumulative_usd",
    "break_even_month_net": "cumulative_net_usd",
    "discounted_break_even_month": "cumulative_discounted_usd",
}
HALF_A_CENT = 0.005
CURVE_STEPS = 20


def break_even_months(first: Floats, second: Floats) -> Floats:
    """Return the first month in which the first falls below the second after it was above, NaN where it never does.

    Parameters
    ----------
    first, second : ndarray, shape (months, draws)
        Cumulative cash. [USD]

    Returns
    -------
    ndarray, shape (draws,)
        Months from signature. Being below from the start is no break-even: nothing was ever to be made good.
    """
    difference = first - second
    if difference.shape[1] < 64:  # walking down few columns is quicker at once than month by month
        above_before = np.logical_or.accumulate(difference > HALF_A_CENT, axis=0)
        back_below = above_before & (difference < -HALF_A_CENT)
        return np.where(back_below.any(axis=0), back_below.argmax(axis=0), np.nan)
    month = np.full(difference.shape[1], np.nan)
    was_above = np.zeros(difference.shape[1], dtype=bool)
    for i, gap in enumerate(difference):
        fell = was_above & (gap < -HALF_A_CENT)
        if fell.any():
            month[fell & np.isnan(month)] = i
        was_above |= gap > HALF_A_CENT
    return month


def no_break_even_reason(first: Floats, second: Floats) -> str:
    """Return why two paths of cumulative cash have no break-even month, shape (months,)."""
    if (first - second > HALF_A_CENT).any():
        return "The first option has still cost more at the horizon."
    if (first - second < -HALF_A_CENT).any():
        return "The first option never costs more than the second, so there is nothing to make good."
    return "Both options cost the same in every month."


def rate_of_return(first: Figures, second: Figures, discount_rate: float) -> dict[str, Any]:
    """Return the annual rate of return of paying for the first in place of the second, or why there is none."""
    flows = all_flows(second) - all_flows(first)
    flows = np.where(np.abs(flows) < HALF_A_CENT, 0.0, flows)
    result: dict[str, Any] = {"value": None, "mirr": None, "reason": None}
    try:
        result["value"] = effective_annual_rate(irr(flows))
    except (NoAnswerError, OverflowError) as error:
        result["reason"] = str(error)
    try:
        rate = float(monthly_rate(discount_rate))
        result["mirr"] = effective_annual_rate(mirr(cashflows=flows, finance_rate=rate, reinvest_rate=rate))
    except (NoAnswerError, OverflowError) as error:
        result["reason"] = result["reason"] or str(error)
    return result


def all_flows(figures: Figures) -> Floats:
    flows = figures.cash.flows[:, 0].copy()
    flows[-1] += _first(figures.cash.at_horizon)
    return flows


def crossover(first: Figures, second: Figures) -> dict[str, Any]:
    """Return the share of hours in use from which the first, owned, is cheaper than the second, rented by the hour.

    Power follows use, everything else of the first is fixed. The price of the second is its cost per installed hour,
    and the curve runs over prices around it.
    """
    result: dict[str, Any] = {"value": None, "reason": None, "curve": []}
    kinds = [{phase.kind for phase in figures.option.phases} for figures in (first, second)]
    if not kinds[0] or "cloud" in kinds[0] or kinds[1] != {"cloud"}:
        return result | {"reason": "It compares an owned or leased option with a cloud option."}
    hours, cloud_hours = (_first(figures.cash.supply.installed_gpu_hours) for figures in (first, second))
    if hours <= 0 or cloud_hours <= 0:
        return result | {"reason": "One of the options supplies no hours before the horizon."}
    power = sum(
        _first(first.cash.amounts[line.key] * first.clock.profile_total(line.timing))
        for line in first.option.lines
        if line.category == "power" and not line.not_given
    )
    fixed = _first(first.totals["nominal_usd"]) - _first(first.cash.bridged_total) - power
    own_price = _first(second.totals["nominal_usd"]) / cloud_hours

    def share(prices: Floats) -> Floats:
        return crossover_utilisation(
            fixed_usd=fixed, hours=hours, running_usd_per_hour=power / hours, cloud_usd_per_hour=prices
        )

    value = float(share(np.array([own_price]))[0])
    if np.isnan(value):
        result["reason"] = "An hour of running the first costs no less than an hour of the second."
    elif value > 1:
        result["reason"] = "The second is cheaper even if every hour is used."
    else:
        result["value"] = value
    prices = own_price * np.linspace(0.25, 2.5, CURVE_STEPS - 1)
    curve = share(prices)
    result["curve"] = [
        [float(price), float(point) if 0 <= point <= 1 else None] for price, point in zip(prices, curve, strict=True)
    ]
    return result


def _first(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def discount_rate_of(figures: Figures, document: Any) -> float:
    """Return the discount rate a set of figures was computed with."""
    return _first(evaluate(document.discount_rate, figures.clock.values))
