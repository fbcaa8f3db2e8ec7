"""What another value of one input would change: the engine's own answer at the ends of the quoted range."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.engine.tco import sweep_points
from apps.reports import figures
from apps.reports.cost_run import FIGURE, NOMINAL, CostOption, CostRun


@dataclass(frozen=True)
class Change:
    """One input and the sentence about its range."""

    label: str
    sentence: str


def totals_with(run: CostRun, key: str, values: Sequence[str], basis: str = NOMINAL) -> list[dict[str, float]]:
    """The total of each option with one input at each of `values`, all others at likely; one pass."""
    found = sweep_points(run.given, [{"input": key, "values": list(values)}], 0, len(values))
    letters = sorted(run.options)  # the engine answers in the order of the keys
    return [
        {letter: totals[i] for letter, totals in zip(letters, found[FIGURE[basis]], strict=True)}
        for i in range(len(values))
    ]


def changes_of(run: CostRun, option: CostOption, keys: Sequence[str], most: int, basis: str = NOMINAL) -> list[Change]:
    """What the ends of the ranges of these inputs do to the option's total and to the order of options."""
    ranged = [key for key in dict.fromkeys(keys) if run.inputs.by_key[key].get("low") is not None]
    return [_change(run, option, key, basis) for key in ranged[:most]]


def _change(run: CostRun, option: CostOption, key: str, basis: str) -> Change:
    item = run.inputs.by_key[key]
    unit = str(item.get("unit", ""))
    low, high = totals_with(run, key, (item["low"], item["high"]), basis)
    words = (
        _("At %(low)s the TCO of %(option)s is %(at_low)s, at %(high)s %(at_high)s.")
        if basis == NOMINAL
        else _("At %(low)s the NPV of %(option)s is %(at_low)s, at %(high)s %(at_high)s.")
    ) % {
        "low": figures.number_in_unit(item["low"], unit),
        "high": figures.in_unit(item["high"], unit),
        "option": option.key,
        "at_low": figures.millions_m(low[option.key]),
        "at_high": figures.millions_m(high[option.key]),
    }
    return Change(str(item["label"]), f"{words} {_order_words(run, basis, low, high)}")


def _order_words(run: CostRun, basis: str, low: dict[str, float], high: dict[str, float]) -> str:
    """Whether the cheapest option or the order changes at an end of the range, and at which."""
    base = list(run.found["ranking"][basis])
    if len(base) < 2:
        return ""
    sentences = []
    for end, totals in ((_("At the low end"), low), (_("At the high end"), high)):
        order = sorted(base, key=lambda key: (totals[key], base.index(key)))
        if order[0] != base[0]:
            sentences.append(_("%(end)s %(option)s costs least.") % {"end": end, "option": order[0]})
        elif order != base:
            sentences.append(_("%(end)s the order is %(order)s.") % {"end": end, "order": ", ".join(order)})
    return " ".join(sentences) or _("The order of options stays.")
