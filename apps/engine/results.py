"""The results document: options, ranking and comparisons as plain numbers that JSON can hold."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.engine.comparisons import (
    BREAK_EVENS,
    all_flows,
    break_even_months,
    crossover,
    discount_rate_of,
    no_break_even_reason,
    rate_of_return,
)
from apps.engine.figures import HOURS, TOTALS, Figures, by_period
from apps.engine.records import Anchor, Document, Option
from apps.engine.rows import Row, option_balances, option_rows, row_results
from apps.engine.simulation import (
    Samples,
    monthly_paths,
    number_or_null,
    own_totals,
    quantiles,
    summary,
)
from apps.engine.tax import year_ends

Floats = NDArray[np.float64]

UNIT_COSTS = (
    "usd_per_gpu_hour_installed",
    "usd_per_gpu_hour_available",
    "usd_per_gpu_hour_productive",
    "usd_per_pflop_day",
)
FACTORS_NEEDED = {
    "usd_per_gpu_hour_installed": (),
    "usd_per_gpu_hour_available": ("availability",),
    "usd_per_gpu_hour_productive": ("availability", "occupancy", "goodput"),
    "usd_per_pflop_day": ("availability", "occupancy", "goodput", "peak_tflops", "mfu"),
}


def option_results(document: Document, figures: Figures, samples: Samples) -> dict[str, Any]:
    """Return everything the results say of one option."""
    option, key = figures.option, figures.option.key
    likely, drawn = own_totals(figures), samples.totals.get(key, {})
    rows = option_rows(figures)
    periods = [float(value) for value in figures.by_period[:, 0]]
    reasons = unit_cost_reasons(option, likely)
    accrual = _sum(row.accrual for row in rows)
    flows = all_flows(figures)
    return {
        **{name: summary(likely[name], drawn.get(name)) for name in TOTALS},
        "by_year_usd": [*periods[:-2], periods[-2] + periods[-1]],
        "by_period_usd": periods,
        "npv_by_period_usd": _npv_by_period(figures, rows),
        "by_category_usd": _grouped(rows, "category"),
        "by_group_usd": _grouped(rows, "group"),
        "lines": row_results(rows, figures, [_line_total(row, samples.lines.get(key)) for row in rows]),
        "monthly": _monthly(figures, rows, samples, flows, accrual),
        "accrual_by_year_usd": _by_year(accrual),
        "supply": {
            "phases": [
                {
                    "key": phase.key,
                    "label": phase.label,
                    "kind": phase.kind,
                    **{
                        f"{event}_month": summary(likely[f"{phase.key}:{event}"], drawn.get(f"{phase.key}:{event}"))
                        for event in ("delivery", "ready", "end")
                    },
                }
                for phase in option.phases
            ],
            **{name: summary(likely[name], drawn.get(name)) for name in HOURS},
            "pflop_days": None
            if likely["pflop_days"] is None
            else summary(likely["pflop_days"], drawn.get("pflop_days")),
        },
        "unit_costs": {
            **{name: None if name in reasons else summary(likely[name], drawn.get(name)) for name in UNIT_COSTS},
            "own_capacity_usd": summary(likely["own_capacity_usd"], drawn.get("own_capacity_usd")),
            "basis": "nominal cash",
            "reasons": reasons,
        },
        "tax_deductions_carried_forward_usd": (
            None if figures.cash.tax is None else number_or_null(figures.cash.tax.carried_forward)
        ),
        "warnings": warnings(document, figures),
    }


def unit_cost_reasons(option: Option, likely: dict[str, Any]) -> dict[str, str]:
    """Return why a cost per hour does not exist, under its name."""
    reasons: dict[str, str] = {}
    for name, needed in FACTORS_NEEDED.items():
        missing = [
            f"{factor} of {phase.label}"
            for phase in option.phases
            for factor in needed
            if getattr(phase, factor) is None
        ]
        if not option.phases:
            reasons[name] = "The option has no phase that supplies GPU-hours."
        elif missing:
            reasons[name] = "Not given: " + ", ".join(missing) + "."
        elif likely[name] is None or number_or_null(likely[name]) is None:
            reasons[name] = "Nothing is supplied before the horizon."
    return reasons


def warnings(document: Document, figures: Figures) -> list[str]:
    """Return what a reader must know beside the numbers of an option."""
    option, horizon = figures.option, document.horizon_months
    result = [
        f"{line.label}: no price is given; the line is left out of every total."
        for line in option.lines
        if line.not_given
    ]
    for phase in option.phases:
        ready = number_or_null(figures.clock.date(Anchor("ready", phase.key)))
        if ready is not None and ready >= horizon:
            result.append(f"{phase.label} is ready in month {ready:.1f}, not before the horizon of {horizon} months.")
    unmet = number_or_null(figures.cash.supply.unmet_gpu_hours) or 0.0
    if unmet > 0.5 and option.bridge is None:
        result.append(f"{unmet:,.0f} GPU-hours of demand are not met and not paid for.")
    carried = 0.0 if figures.cash.tax is None else number_or_null(figures.cash.tax.carried_forward) or 0.0
    if carried > 0:
        result.append(f"Tax deductions of {carried:,.0f} {document.currency} are still carried forward at the horizon.")
    return result


def _line_total(row: Row, drawn: dict[str, Floats] | None) -> dict[str, float | None]:
    if row.not_given:
        return summary(None, None)
    if drawn is None:
        return summary(float(row.cash.sum()), None)
    samples = drawn.get(row.key)
    return summary(float(row.cash.sum()), np.zeros(1) if samples is None else samples)


def _grouped(rows: list[Row], name: str) -> dict[str, float]:
    result: dict[str, float] = defaultdict(float)
    for row in rows:
        if not row.not_given:
            result[getattr(row, name)] += float(row.cash.sum())
    return dict(sorted(result.items()))


def _npv_by_period(figures: Figures, rows: list[Row]) -> list[float]:
    discount = figures.discount[:, 0]
    settled = sum((row.settled for row in rows), 0.0)
    flows = _sum(row.cash for row in rows)
    flows[-1] -= settled
    return by_period((flows * discount)[:, None], settled * discount[-1])[:, 0].tolist()


def _by_year(by_month: Floats) -> list[float]:
    result, start = [float(by_month[0])], 1
    for end in year_ends(len(by_month) - 1):
        result.append(float(by_month[start : end + 1].sum()))
        start = end + 1
    return result


def _sum(arrays: Iterable[Floats]) -> Floats:
    return np.sum(list(arrays), axis=0)


def _monthly(figures: Figures, rows: list[Row], samples: Samples, flows: Floats, accrual: Floats) -> dict[str, Any]:
    key = figures.option.key
    paths, drawn = monthly_paths(figures), samples.monthly.get(key)
    groups: dict[str, Floats] = {}
    for row in rows:
        groups[row.group] = groups.get(row.group, np.zeros(len(flows))) + row.cash
    return {
        "cash_usd": flows.tolist(),
        **{
            name: _band(paths[name][:, 0], None if drawn is None else drawn[name])
            for name in ("cumulative_usd", "cumulative_net_usd")
        },
        "by_group_usd": {group: flow.tolist() for group, flow in sorted(groups.items())},
        "accrual_usd": accrual.tolist(),
        "balances_usd": {name: balance.tolist() for name, balance in option_balances(figures).items()},
    }


def _band(likely: Floats, drawn: Floats | None) -> dict[str, Any]:
    if drawn is None:
        return {"likely": likely.tolist(), "p10": None, "p90": None}
    low, high = quantiles(drawn, (0.1, 0.9))
    return {"likely": likely.tolist(), "p10": low.tolist(), "p90": high.tolist()}


def ranked_options(document: Document) -> list[Option]:
    """Return the options that take part in a ranking: all but baselines."""
    return [option for option in document.options if not option.baseline]


def ranking(document: Document, likely: dict[str, Figures]) -> dict[str, list[str]]:
    """Return the options by likely cost, cheapest first, baselines left out."""
    keys = [option.key for option in ranked_options(document)]

    def cost(name: str, key: str) -> float:
        return float(np.asarray(likely[key].totals[name]).reshape(-1)[0])

    return {
        short: sorted(keys, key=lambda key: (cost(name, key), key))
        for short, name in (("nominal", "nominal_usd"), ("npv", "npv_usd"))
    }


def probability_cheapest(document: Document, samples: Samples) -> dict[str, dict[str, float]]:
    """Return the share of common draws in which each option is cheapest; a tie is shared."""
    keys = [option.key for option in ranked_options(document)]
    result: dict[str, dict[str, float]] = {"nominal": {}, "npv": {}}
    if not samples.totals or not keys:
        return result
    for short, name in (("nominal", "nominal_usd"), ("npv", "npv_usd")):
        totals = np.stack([samples.totals[key][name] for key in keys])
        cheapest = totals <= totals.min(axis=0) + 0.005
        shares = (cheapest / cheapest.sum(axis=0)).mean(axis=1)
        result[short] = {key: float(share) for key, share in zip(keys, shares, strict=True)}
    return result


def comparison_results(document: Document, likely: dict[str, Figures], samples: Samples) -> list[dict[str, Any]]:
    """Return every ordered pair of options, side by side."""
    paths = {key: monthly_paths(figures) for key, figures in likely.items()}
    return [
        _comparison(document, (likely[first], likely[second]), (paths[first], paths[second]), samples)
        for first in likely
        for second in likely
        if first != second
    ]


def _comparison(
    document: Document,
    pair: tuple[Figures, Figures],
    paths: tuple[dict[str, Floats], dict[str, Floats]],
    samples: Samples,
) -> dict[str, Any]:
    first, second = pair
    keys = first.option.key, second.option.key
    result: dict[str, Any] = {"first": keys[0], "second": keys[1]}
    drawn = [samples.totals.get(key) for key in keys]
    for name in ("nominal", "npv"):
        likely = np.asarray(first.totals[f"{name}_usd"]) - np.asarray(second.totals[f"{name}_usd"])
        difference = drawn[0][f"{name}_usd"] - drawn[1][f"{name}_usd"] if drawn[0] and drawn[1] else None
        result[f"difference_{name}_usd"] = summary(likely, difference)
        if name == "nominal":
            cheaper = None if difference is None else float(np.mean((difference < 0) + 0.5 * (difference == 0)))
            result["probability_first_cheaper"] = cheaper
    found = samples.break_evens.get(keys)
    for name, path_name in BREAK_EVENS.items():
        one, other = paths[0][path_name], paths[1][path_name]
        result[name] = _break_even(one, other, None if found is None else found[name])
    result["irr_of_difference"] = rate_of_return(first, second, discount_rate_of(first, document))
    result["crossover_utilisation"] = crossover(first, second)
    return result


def _break_even(first: Floats, second: Floats, drawn: Floats | None) -> dict[str, Any]:
    likely = break_even_months(first, second)
    figures = summary(likely, drawn, whole=True)
    figures.pop("mean")
    share = None if drawn is None else float(np.mean(np.isfinite(drawn)))
    reason = None if np.isfinite(likely).all() else no_break_even_reason(first[:, 0], second[:, 0])
    return {**figures, "share_of_draws": share, "reason": reason}
