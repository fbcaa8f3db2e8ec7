"""What an option has to meet its demand with: machines, hourly commitments, and accelerators billed as used."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.analyses.inputs.book import Caption
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import Factor, const
from apps.analyses.inputs.phases import PhaseFacts, accelerators, configured
from apps.analyses.inputs.quoted import QuotedLine, quantity, timing, unit_price
from apps.analyses.inputs.windows import Calendar, Window, quantity_bounds, total
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration

RENTAL_ROWS = ("gpu_rental", "gpu_on_demand", "gpu_spot")
_TIMES = r"hours?|hrs?|h"
_ACCELERATORS = r"(gpus?|accelerators?|cards?|chips?|tpus?|npus?)"
_NODES = r"(nodes?|instances?|servers?|machines?|vms?|hosts?)"


@dataclass(frozen=True, kw_only=True)
class Tranche:
    """One hourly price of a quote: how many accelerators it is for, and how many of them are billed in any case."""

    item: QuotedLine
    window: Window
    timing: Mapping[str, Any]
    quoted: Factor
    committed: Factor
    rate: list[Factor]


@dataclass(frozen=True, kw_only=True)
class Supply:
    """Accelerators that are there in a window; `tranche` says which price bills them, None for other lines."""

    phase: str
    window: Window
    size: Factor
    tranche: Tranche | None = None
    committed: bool = True
    configured_rate: Factor | None = None  # on demand, where it differs from the price of the tranche


@dataclass(kw_only=True)
class _Rental:
    """The hourly prices of one phase."""

    facts: PhaseFacts
    tranches: list[Tranche]
    fixed: list[Supply] = field(default_factory=list)  # accelerators that other lines of the quote bill


def is_rental(item: QuotedLine) -> bool:
    """Whether the line is the hourly price of accelerators in the cloud, which follows commitment and demand."""
    return item.facts.cloud and item.row == "gpu_rental" and item.quote_line.period == "hour" and item.given


def nothing_quoted(item: QuotedLine) -> bool:
    """Whether an hourly price is for no accelerators at all; it then costs nothing."""
    return is_rental(item) and item.quote_line.quantity == 0


# Units ----------------------------------------------------------------------------------------------------------------
def per_unit(context: Context, item: QuotedLine) -> Factor | None:
    """The accelerators in one unit of the line, None where the unit is an accelerator.

    Raises `InputError` where the unit does not say how to count.
    """
    if _counts_accelerators(item):
        return None
    configuration = item.facts.configuration
    caption = Caption(label=f"Accelerators per node, {configuration.name}", unit="accelerators", topic="performance")
    per_node = configured(context, item.facts, "accelerators_per_node", caption)
    if per_node is None or not configuration.accelerators_per_node:
        place = f"{configuration.name}, accelerators per node"
        raise InputError(place, "not given", f"given, as {item.key} is priced by the {item.quote_line.unit}")
    return per_node


def in_accelerators(context: Context, item: QuotedLine) -> Factor:
    """The quoted quantity counted in accelerators."""
    per_node = per_unit(context, item)
    quoted = quantity(context, item)
    return quoted if per_node is None else {"product": [quoted, per_node]}


def _hourly_rate(context: Context, item: QuotedLine) -> list[Factor]:
    """The price of one accelerator for one hour."""
    price, per_node = unit_price(context, item), per_unit(context, item)
    return price if per_node is None else [{"divide": [price[0], per_node]}, *price[1:]]


def _counts_accelerators(item: QuotedLine) -> bool:
    """Whether the unit is an accelerator rather than a node; hours and currencies around it do not matter."""
    unit = item.quote_line.unit
    words = [word for word in re.findall(r"[a-z]+", unit.lower()) if not re.fullmatch(_TIMES, word)]
    last = next((word for word in reversed(words) if re.fullmatch(f"{_ACCELERATORS}|{_NODES}", word)), None)
    if last is None or ("per" in words and last != words[0]):
        raise InputError(
            f"{item.key}, unit", unit or "not given", "GPU, accelerator, node or instance for an hourly price"
        )
    return re.fullmatch(_ACCELERATORS, last) is not None


# Supplies -------------------------------------------------------------------------------------------------------------
def supplies_of(
    context: Context, phases: Sequence[PhaseFacts], items: Mapping[str, Sequence[QuotedLine]]
) -> list[Supply]:
    """What meets the demand, in the order in which it does: own machines, commitments, accelerators as used."""
    rentals = [_rental(context, facts, items[facts.key]) for facts in phases if facts.cloud]
    rentals = [rental for rental in rentals if rental.tranches]
    hourly = {rental.facts.key for rental in rentals}
    others = [
        Supply(phase=facts.key, window=_whole(facts), size=accelerators(context, facts))
        for facts in phases
        if facts.key not in hourly
    ]
    others += [supply for rental in rentals for supply in rental.fixed]
    committed = [
        Supply(phase=rental.facts.key, window=tranche.window, size=tranche.committed, tranche=tranche)
        for rental in rentals
        for tranche in rental.tranches
        if tranche.committed != const(0)
    ]
    return others + committed + [supply for rental in rentals for supply in _as_used(context, rental)]


def _whole(facts: PhaseFacts) -> Window:
    return Window(start=facts.ready, end=facts.end)


def _rental(context: Context, facts: PhaseFacts, items: Sequence[QuotedLine]) -> _Rental:
    found = _Rental(facts=facts, tranches=[])
    for item in items:
        if is_rental(item) and not nothing_quoted(item):
            found.tranches.append(_tranche(context, item))
    if found.tranches:
        found.fixed = [_fixed(context, item) for item in items if _bills_accelerators(item)]
    return found


def _bills_accelerators(item: QuotedLine) -> bool:
    """Whether a line brings accelerators at a price of its own: by the month, on demand, or not given."""
    if item.row not in RENTAL_ROWS or item.one_off or is_rental(item) or item.quote_line.percent_of:
        return False
    return item.quote_line.quantity > 0


def _fixed(context: Context, item: QuotedLine) -> Supply:
    return Supply(phase=item.facts.key, window=_window(timing(context, item)), size=in_accelerators(context, item))


def _window(timing_of_line: Mapping[str, Any]) -> Window:
    return Window(start=timing_of_line["from"], end=timing_of_line["to"])


def _tranche(context: Context, item: QuotedLine) -> Tranche:
    configuration, facts = item.facts.configuration, item.facts
    quoted = in_accelerators(context, item)
    caption = Caption(label=f"Committed share, {configuration.name}", unit="of quoted", topic="demand")
    share = configured(context, facts, "committed_fraction", caption)
    committed: Factor = quoted if share is None else {"product": [quoted, share]}
    if configuration.template == RackConfiguration.Template.CLOUD_ON_DEMAND:
        committed = const(0)
    when = timing(context, item)
    return Tranche(
        item=item,
        window=_window(when),
        timing=when,
        quoted=quoted,
        committed=committed,
        rate=_hourly_rate(context, item),
    )


def _as_used(context: Context, rental: _Rental) -> list[Supply]:
    """The accelerators of the phase beyond its commitments, at the on-demand rate or the price of their tranche."""
    facts, tranches = rental.facts, rental.tranches
    calendar = Calendar(context, facts.option)
    fixed = [(supply.window, supply.size) for supply in rental.fixed]
    quoted = _peak(calendar, [(each.window, each.quoted) for each in tranches] + fixed)
    committed = _peak(calendar, [(each.window, each.committed) for each in tranches] + fixed)
    own = facts.phase.n_accelerators or facts.configuration.n_accelerators
    capacity = accelerators(context, facts) if own else quoted
    free: Factor = capacity if committed == const(0) else {"excess": [capacity, committed]}
    if capacity == committed or quantity_bounds(context, free)[1] <= 0:
        return []
    caption = Caption(
        label=f"On-demand rate, {facts.configuration.name}", unit="USD/GPU-hour", correlation_group="gpu_price"
    )
    rate = configured(context, facts, "on_demand_usd_per_gpu_hour", caption)
    if rate is None and len(tranches) > 1:
        return _by_tranche(context, rental, free, {"excess": [capacity, quoted]})
    return [
        Supply(phase=facts.key, window=window, size=free, tranche=tranches[0], committed=False, configured_rate=rate)
        for window in _any_of(calendar, [each.window for each in tranches])
    ]


def _by_tranche(context: Context, rental: _Rental, free: Factor, beyond: Factor) -> list[Supply]:
    """What each tranche leaves uncommitted, at its own price, as far as the phase has accelerators for it."""
    facts = rental.facts
    if quantity_bounds(context, beyond)[1] > 0:
        raise InputError(
            f"{facts.configuration.name}, on-demand rate",
            "not given",
            "given where a phase has more accelerators than its several hourly prices are for",
        )
    found: list[Supply] = []
    for tranche in rental.tranches:
        loose: Factor = tranche.quoted
        if tranche.committed != const(0):
            loose = {"excess": [tranche.quoted, tranche.committed]}
        if quantity_bounds(context, loose)[1] > 0:
            before = [supply.size for supply in found]
            size: Factor = {"min": [loose, {"excess": [free, total(before)]} if before else free]}
            found.append(Supply(phase=facts.key, window=tranche.window, size=size, tranche=tranche, committed=False))
    return found


def _peak(calendar: Calendar, parts: Sequence[tuple[Window, Factor]]) -> Factor:
    """The most accelerators that windows hold at one time."""
    windows = _distinct([window for window, _ in parts])
    pieces = calendar.split(calendar.hull(windows), windows)
    sets = {piece.inside for piece in pieces}
    largest = sorted((each for each in sets if not any(each < other for other in sets)), key=sorted)
    sums: list[Factor] = []
    for each in largest:
        sizes = [size for window, size in parts if windows.index(window) in each and size != const(0)]
        sums.append(total(sizes))
    return sums[0] if len(sums) == 1 else {"max": sums} if sums else const(0)


def _any_of(calendar: Calendar, windows: Sequence[Window]) -> list[Window]:
    """The times at which at least one of the windows is open."""
    distinct = _distinct(windows)
    if len(distinct) == 1:
        return distinct
    return [piece.window for piece in calendar.split(calendar.hull(distinct), distinct) if piece.inside]


def _distinct(windows: Sequence[Window]) -> list[Window]:
    found: list[Window] = []
    for window in windows:
        if window not in found:
            found.append(window)
    return found
