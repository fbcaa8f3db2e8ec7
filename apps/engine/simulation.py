"""Every draw through the cost model, chunk by chunk; what is kept of it, and its summary."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.engine.comparisons import BREAK_EVENS, break_even_months
from apps.engine.draws import Sampler
from apps.engine.errors import EngineError
from apps.engine.factors import Value
from apps.engine.figures import (
    HOURS,
    TOTALS,
    Figures,
    cumulative_discounted,
    cumulative_paid,
    discount_factors,
    option_figures,
    phase_months,
)
from apps.engine.records import Document
from apps.engine.timing import over_months

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]

CHUNK_DRAWS = 4096
"""Draws computed at once: the months of one option then stay in the cache of a core."""
DETAIL_DRAWS = 16384
"""Draws that also give bands by month, totals by line and break-even months; the first ones, a power of two."""
UNIT_COSTS = ("installed", "available", "productive")


@dataclass(kw_only=True)
class Samples:
    """What is kept of the draws of a run. Arrays end in the axis of draws."""

    totals: dict[str, dict[str, Floats]] = field(default_factory=dict)
    periods: dict[str, Floats] = field(default_factory=dict)
    monthly: dict[str, dict[str, Floats]] = field(default_factory=dict)
    lines: dict[str, dict[str, Floats]] = field(default_factory=dict)
    break_evens: dict[tuple[str, str], dict[str, Floats]] = field(default_factory=dict)


def draw_totals(
    document: Document,
    first_draw: int,
    last_draw: int,
    *,
    chunk_draws: int = CHUNK_DRAWS,
    out: Mapping[str, Floats] | None = None,
    progress: Progress | None = None,
) -> dict[str, Floats]:
    """Return nominal cost, present value and periods of every option for a stretch of draws.

    Returns
    -------
    dict of ndarray, shape (2 + periods, last_draw - first_draw)
        One array an option: `nominal_usd`, `npv_usd`, then the periods. [USD] Written into `out` where it is given, so
        that workers can share memory. Values depend neither on the stretch nor on the size of a chunk.
    """
    n = last_draw - first_draw
    result = dict(out or {})
    done = 0
    for values in Sampler.of(document).chunks(first_draw, last_draw, chunk_draws):
        size = min(chunk_draws, n - done)
        discount = discount_factors(document, values)
        for option in document.options:
            figures = option_figures(document, option, values, discount)
            if option.key not in result:
                result[option.key] = np.empty((2 + figures.by_period.shape[0], n))
            block = result[option.key][:, done : done + size]
            block[0], block[1] = figures.totals["nominal_usd"], figures.totals["npv_usd"]
            block[2:] = figures.by_period
        done += size
        if progress is not None:
            progress("cash flows", done, n)
    for key, block in result.items():
        refuse_not_finite(key, block[:2])
    return result


def simulate(document: Document, *, chunk_draws: int = CHUNK_DRAWS, progress: Progress | None = None) -> Samples:
    """Return the draws of a whole run."""
    samples, n, done = Samples(), document.draws, 0
    for values in Sampler.of(document).chunks(0, n, chunk_draws):
        size = min(chunk_draws, n - done)
        n_detail = max(0, min(DETAIL_DRAWS - done, size))
        discount = discount_factors(document, values)
        chunk = {o.key: option_figures(document, o, values, discount) for o in document.options}
        for key, figures in chunk.items():
            _keep_totals(samples, key, figures, (done, size, n))
        if n_detail:
            _keep_detail(samples, chunk, (done, n_detail, min(n, DETAIL_DRAWS)))
        done += size
        if progress is not None:
            progress("cash flows", done, n)
    for key, totals in samples.totals.items():
        refuse_not_finite(key, totals["nominal_usd"])
        refuse_not_finite(key, totals["npv_usd"])
    return samples


def refuse_not_finite(option_key: str, values: Floats) -> None:
    """Raise if any draw of an option has no finite value."""
    bad = np.count_nonzero(~np.isfinite(values))
    if bad:
        raise EngineError(
            f"{bad} draws of option {option_key} have no finite cost: a division by zero or a number out of range "
            "within the ranges of its inputs."
        )


def own_totals(figures: Figures) -> dict[str, Value | None]:
    """Return every figure of an option that has a distribution: money, hours, dates and cost per hour."""
    supply = figures.cash.supply
    result: dict[str, Value | None] = {name: figures.totals[name] for name in TOTALS}
    result |= {name: getattr(supply, name) for name in HOURS}
    result["pflop_days"] = supply.pflop_days
    result |= phase_months(figures)
    return result | unit_costs(figures)


def unit_costs(figures: Figures) -> dict[str, Value | None]:
    """Return nominal cash without the bridging cloud, per hour and per PFLOP-day of the option's own capacity."""
    cash, supply = figures.cash, figures.cash.supply
    cost = figures.totals["nominal_usd"] - cash.bridged_total
    result: dict[str, Value | None] = {"own_capacity_usd": cost}
    for name in UNIT_COSTS:
        result[f"usd_per_gpu_hour_{name}"] = _ratio(cost, getattr(supply, f"{name}_gpu_hours"))
    result["usd_per_pflop_day"] = None if supply.pflop_days is None else _ratio(cost, supply.pflop_days)
    return result


def _ratio(cost: Value, quantity: Value) -> Value:
    """Return a quotient, not a number where there is nothing to divide by."""
    amount = np.asarray(quantity, dtype=np.float64)
    return np.where(amount > 0, cost / np.where(amount > 0, amount, 1.0), np.nan)


def _keep(store: dict[str, Floats], name: str, value: Value, place: tuple[int, int, int]) -> None:
    """Write a stretch of draws into its array; the array is made with the first stretch."""
    start, size, n = place
    array = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if name not in store:
        store[name] = np.empty((*array.shape[:-1], n))
    store[name][..., start : start + size] = array if array.shape[-1] == 1 else array[..., :size]


def _keep_totals(samples: Samples, key: str, figures: Figures, place: tuple[int, int, int]) -> None:
    store = samples.totals.setdefault(key, {})
    for name, value in own_totals(figures).items():
        if value is not None:
            _keep(store, name, value, place)


def _keep_detail(samples: Samples, chunk: Mapping[str, Figures], place: tuple[int, int, int]) -> None:
    paths = {key: monthly_paths(figures) for key, figures in chunk.items()}
    for key, path in paths.items():
        store = samples.monthly.setdefault(key, {})
        for name in ("cumulative_usd", "cumulative_net_usd"):
            _keep(store, name, path[name], place)
        _keep_lines(samples, key, chunk[key], place)
    for first in chunk:
        for second in chunk:
            if first != second:
                found = samples.break_evens.setdefault((first, second), {})
                for name, path_name in BREAK_EVENS.items():
                    _keep(found, name, break_even_months(paths[first][path_name], paths[second][path_name]), place)


def monthly_paths(figures: Figures) -> dict[str, Floats]:
    """Return cumulative cash of an option by month: paid, the same less the residual of the horizon, discounted."""
    paid = cumulative_paid(figures)
    return {
        "cumulative_usd": paid,
        "cumulative_net_usd": paid - figures.totals["residual_usd"],
        "cumulative_discounted_usd": cumulative_discounted(figures),
    }


def _keep_lines(samples: Samples, key: str, figures: Figures, place: tuple[int, int, int]) -> None:
    store = samples.lines.setdefault(key, {})
    cash, clock = figures.cash, figures.clock
    for line in figures.option.bought_lines:
        _keep(store, line.key, np.atleast_1d(cash.amounts[line.key] * clock.profile_total(line.timing)), place)
    if cash.bridged is not None:
        _keep(store, f"{key}.bridge", cash.bridged_total, place)
    for schedule in cash.schedules:
        _keep(store, f"{key}.{schedule.kind}_payments", over_months(schedule.payments), place)
        _keep(store, f"{key}.{schedule.kind}_settlement", schedule.settlement, place)
        if schedule.kind == "loan":
            _keep(store, f"{key}.loan_drawn", -over_months(schedule.drawn), place)
    if cash.tax is not None:
        _keep(store, f"{key}.tax_saved", over_months(cash.tax.running), place)
        _keep(store, f"{key}.tax_on_disposal", np.atleast_1d(cash.tax.on_disposal), place)


def quantiles(samples: Floats, probabilities: tuple[float, ...] = (0.1, 0.5, 0.9)) -> Floats:
    """Return quantiles along the last axis by linear interpolation, shape (probabilities, ...)."""
    n = samples.shape[-1]
    places = [probability * (n - 1) for probability in probabilities]
    lower = [int(place) for place in places]
    upper = [min(place + 1, n - 1) for place in lower]
    ordered = np.sort(samples, axis=-1)  # vectorised in numpy, and twice as fast as a partition at six places
    return np.stack(
        [
            ordered[..., a] + (ordered[..., b] - ordered[..., a]) * (place - a)
            for place, a, b in zip(places, lower, upper, strict=True)
        ]
    )


def number_or_null(value: Any) -> float | None:
    """Return a plain float, or None where there is no finite number."""
    number = float(np.asarray(value).reshape(-1)[0])
    return number if np.isfinite(number) else None


def summary(likely: Value | None, samples: Floats | None, *, whole: bool = False) -> dict[str, float | None]:
    """Return likely, P10, P50, P90 and mean; draws without a finite value are left out.

    Of `whole` values, such as months, the percentiles are the lower of the two neighbours and not between them.
    """
    result: dict[str, float | None] = {"likely": None if likely is None else number_or_null(likely)}
    if samples is not None:
        samples = samples if np.isfinite(samples).all() else samples[np.isfinite(samples)]
    if samples is None or samples.size == 0:
        return result | {"p10": None, "p50": None, "p90": None, "mean": None}
    p10, p50, p90 = (math.floor(value) if whole else float(value) for value in quantiles(samples))
    return result | {"p10": p10, "p50": p50, "p90": p90, "mean": float(np.mean(samples))}
