"""Charts of a run as plain data: the server computes every position in the units of the axes, the browser draws."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from django.utils.translation import gettext as _

from apps.reports import figures
from apps.reports.cost_run import NOMINAL, CostOption, CostRun
from apps.reports.findings import break_even

MILLION = 1_000_000
MOST_BANDS = 5
SMALLEST_BAND_USD = 1.0
MOST_TICKS = 6


def nice_ticks(highest: float) -> list[float]:
    """At most six ticks from zero up to `highest`, at steps of 1, 2, 2.5 or 5 times a power of ten."""
    if highest <= 0:
        return [0.0, 1.0]
    rough = highest / MOST_TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power > rough)
    return [round(step * i, 10) for i in range(math.floor(highest / step) + 1)]


def _millions(values: Iterable[float]) -> list[float]:
    return [round(value / MILLION, 6) for value in values]


def band_name(line: Mapping[str, Any]) -> tuple[str, str]:
    """Which band of the stack a line belongs to: a label and a short one for narrow charts."""
    if line["group"] == "capital":
        return _("Paid once"), _("Once")
    words = {
        "support": (_("Support"), _("Support")),
        "facility": (_("Facility"), _("Facility")),
        "power": (_("Power"), _("Power")),
        "staff": (_("Staff"), _("Staff")),
        "cloud": (_("Cloud"), _("Cloud")),
    }
    return words.get(line["category"], (_("Other"), _("Other")))


def _stack(option: CostOption) -> list[dict[str, Any]]:
    """What is paid so far by group, largest commitment at the bottom; residual value stands apart."""
    sums: dict[tuple[str, str], list[float]] = {}
    for line in option.lines:
        if line["group"] == "residual":
            continue
        name = band_name(line)
        known = sums.get(name, [0.0] * len(line["cash_usd"]))
        sums[name] = [a + b for a, b in zip(known, line["cash_usd"], strict=True)]
    sums = {name: monthly for name, monthly in sums.items() if max(abs(v) for v in monthly) >= SMALLEST_BAND_USD}
    ranked = sorted(sums.items(), key=lambda item: (item[0][0] != _("Paid once"), -abs(sum(item[1]))))
    ranked = _merged(ranked)
    bands, base = [], [0.0] * (len(ranked[0][1]) if ranked else 0)
    for (label, short), monthly in ranked:
        high = [a + b for a, b in zip(base, accumulate(monthly), strict=True)]
        bands.append(
            {
                "label": label,
                "short": short,
                "total": figures.millions(sum(monthly)),
                "low": _millions(base),
                "high": _millions(high),
            }
        )
        base = high
    return bands


def _merged(ranked: list[tuple[tuple[str, str], list[float]]]) -> list[tuple[tuple[str, str], list[float]]]:
    if len(ranked) <= MOST_BANDS:
        return ranked
    rest = [sum(column) for column in zip(*(monthly for _name, monthly in ranked[MOST_BANDS - 1 :]), strict=True)]
    return [*ranked[: MOST_BANDS - 1], ((_("Other"), _("Other")), rest)]


def cumulative_cost(run: CostRun, option: CostOption, rival: CostOption | None, basis: str) -> dict[str, Any]:
    """What has been paid by each month: the option by group, a rival beside it, and where they cross."""
    monthly = option.found["monthly"]
    paid, net = monthly["cumulative_usd"], monthly["cumulative_net_usd"]
    months = list(range(len(paid["likely"])))
    others = rival.found["monthly"]["cumulative_usd"] if rival else None
    highest = max([*paid["p90"], *(others["p90"] if others else [])]) / MILLION
    ticks = nice_ticks(highest)
    residual = option.found["residual_usd"]["likely"] or 0.0
    chart: dict[str, Any] = {
        "kind": "cumulative",
        "option": {"letter": option.key, "slot": option.slot},
        "months": months,
        "x_ticks": [m for m in months if m % _tick_months(run.horizon) == 0],
        "y_ticks": ticks,
        "y_max": round(max(ticks[-1], highest) * 1.04, 6),
        "y_title": f"M {run.currency}",
        "x_title": _("Month from signature"),
        "bands": _stack(option),
        "paid": _millions(paid["likely"]),
        "paid_p10": _millions(paid["p10"]),
        "paid_p90": _millions(paid["p90"]),
        "paid_label": _("%s, paid so far") % option.key,
        "net": _millions(net["likely"]) if abs(residual) >= 1 else None,
        "net_label": _("%(option)s less residual of %(amount)s")
        % {"option": option.key, "amount": figures.millions_m(residual)},
        "net_short": _("%s less residual") % option.key,
        "rival": None,
        "break_even": _break_even(run, option, rival, basis),
        "ends": [_end(o) for o in (option, rival) if o is not None],
        "ends_label": [_("TCO less"), _("residual")],
    }
    if rival and others:
        chart["rival"] = {
            "letter": rival.key,
            "slot": rival.slot,
            "paid": _millions(others["likely"]),
            "p10": _millions(others["p10"]),
            "p90": _millions(others["p90"]),
            "label": _("%s, paid so far") % rival.key,
        }
    return chart


def _tick_months(horizon: int) -> int:
    return next(step for step in (1, 3, 6, 12, 24) if horizon / step <= MOST_TICKS or step == 24)


def _end(option: CostOption) -> dict[str, Any]:
    total = option.total(NOMINAL)
    values = {name: round(total[name] / MILLION, 6) for name in ("p10", "p50", "p90", "likely")}
    return {"slot": option.slot, "label": figures.millions(total["likely"]), **values}


def _break_even(run: CostRun, option: CostOption, rival: CostOption | None, basis: str) -> dict[str, Any] | None:
    """The ring on the chart and its words; nothing when the option never falls below the rival."""
    if rival is None:
        return None
    month = break_even(run, option, rival)
    pair = run.comparison(option.key, rival.key)
    if month is None or pair is None or not month.get("likely"):
        return None
    at = float(month["likely"])
    value = _between(rival.found["monthly"]["cumulative_net_usd"]["likely"], at) / MILLION
    plain = pair["break_even_month"]["likely"]
    lines = [
        _break_even_range(month),
        _("without residual: %s") % figures.months(plain)
        if plain is not None
        else _("without residual: not within %s months") % run.horizon,
    ]
    discounted = pair["discounted_break_even_month"]["likely"]
    lines.append(
        _("discounted: %s") % figures.months(discounted)
        if discounted is not None
        else _("discounted: not within %s months") % run.horizon
    )
    return {
        "month": at,
        "value": round(value, 6),
        "p10": month.get("p10"),
        "p90": month.get("p90"),
        "title": _("Break-even, %s") % figures.months(at),
        "short": _short_range(month),
        "lines": lines,
    }


def _break_even_range(month: Mapping[str, Any]) -> str:
    share = month.get("share_of_draws") or 0.0
    of_100 = figures.draws_of_100({"yes": share, "no": 1 - share})["yes"]
    if month.get("p10") is None or month.get("p90") is None:
        return _("residual counted; in %s of 100 draws") % of_100
    ends = {"low": figures.plain(month["p10"], 1), "high": figures.plain(month["p90"], 1), "n": of_100}
    return _("residual counted; P10–P90 %(low)s to %(high)s, %(n)s of 100 draws") % ends


def _short_range(month: Mapping[str, Any]) -> str:
    if month.get("p10") is None or month.get("p90") is None:
        return ""
    return _("%(low)s to %(high)s") % {
        "low": figures.plain(month["p10"], 1),
        "high": figures.plain(month["p90"], 1),
    }


def _between(values: Sequence[float], month: float) -> float:
    low = min(int(month), len(values) - 1)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (month - low)


def cumulative_sentence(run: CostRun, option: CostOption, rival: CostOption | None) -> str:
    """What the marks of the chart mean, and why it has no break-even when it has none."""
    words = _(
        "Dotted edges: P10–P90 of what is paid. Bars at the end: TCO less residual, P10–P90, tick P50, point likely."
    )
    if option.found["residual_usd"]["likely"]:
        words += " " + _("Dashed: %s less the residual of the horizon.") % option.key
    if rival is None:
        return words
    if (break_even(run, option, rival) or {}).get("likely") is None:
        words += " " + _("Residual counted, %(a)s never falls below %(b)s.") % {
            "a": option.key,
            "b": rival.key,
        }
    return words


def cumulative_data(run: CostRun, option: CostOption, rival: CostOption | None) -> tuple[list[str], list[list[str]]]:
    """The same numbers as a table: head and rows, in thousands."""
    unit = "k " + run.currency
    head = [_("Month")]
    columns: list[Sequence[float]] = []
    for shown in (option, rival):
        if shown is None:
            continue
        paid, net = (shown.found["monthly"][name] for name in ("cumulative_usd", "cumulative_net_usd"))
        head += [f"{shown.key}, {words}, {unit}" for words in (_("paid"), "P10", "P90", _("less residual"))]
        columns += [paid["likely"], paid["p10"], paid["p90"], net["likely"]]
    rows = [[str(month), *(figures.thousands(column[month]) for column in columns)] for month in range(len(columns[0]))]
    return head, rows
