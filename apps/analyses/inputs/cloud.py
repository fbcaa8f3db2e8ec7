"""Rented GPU-hours: committed hours used and not used, overage on demand, and spot with what interruptions lose.

A commitment bills all its hours. Where the assessment states a demand, it is met in this order, month by month: by
machines of the option's own, by commitments, then by what is billed as used; within each by phase, and in a quote by
line. Committed hours beyond the demand are a line of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.analyses.inputs.book import Caption, Range, source
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import HOURS_A_MONTH, Factor, line, minutes_in_hours, text
from apps.analyses.inputs.phases import PhaseFacts, configured
from apps.analyses.inputs.quoted import QuotedLine, free_key, quantity, timing, unit_price
from apps.analyses.inputs.rentals import Supply, nothing_quoted
from apps.analyses.inputs.rows import row_label
from apps.analyses.inputs.windows import Calendar, Window, quantity_bounds, total
from apps.engine.errors import InputError


@dataclass(frozen=True)
class Stretch:
    """Months between two steps of the demand; no demand stated means everything rented is wanted."""

    first: Decimal
    last: Decimal | None
    demand: Factor | None


Part = tuple[str, list[Factor], str, bool]
"""Row, factors, formula, and whether the price is that of the quote and rises with it."""


def rental_lines(
    context: Context, items: Sequence[QuotedLine], supplies: Sequence[Supply], taken: set[str]
) -> list[dict[str, Any]]:
    """The lines of a phase's hourly prices: committed, not used, on demand, spot."""
    keys = {item.key for item in items}  # set aside for the quoted lines, one each
    lines = [_nothing(context, item) for item in items if nothing_quoted(item)]
    for number, supply in enumerate(supplies):
        tranche = supply.tranche
        if tranche is None or supply.phase != items[0].facts.key:
            continue
        item = tranche.item
        for window, (row, factors, formula, rises) in _billed(context, supply, supplies[:number]):
            name = item.key if row == item.row else f"{item.facts.option.letter}.{row}"
            key = item.key if row == item.row and item.key in keys else free_key(taken, name)
            keys.discard(key)
            when = {**tranche.timing, "from": window.start, "to": window.end}
            lines.append(_line(key, row, item, factors, when if rises else {**when, "escalation": None}, formula))
    return lines


def _line(
    key: str, row: str, item: QuotedLine, factors: list[Factor], when: Mapping[str, Any], formula: str
) -> dict[str, Any]:
    return line(
        key,
        row,
        label=row_label(row),
        detail=item.quote_line.description,
        group="cloud",
        category="cloud",
        factors=factors,
        timing=when,
        formula=formula,
    )


def _nothing(context: Context, item: QuotedLine) -> dict[str, Any]:
    """The line of a price for no accelerators: it stands there, so that the 0 is seen."""
    factors = [quantity(context, item), *unit_price(context, item), HOURS_A_MONTH]
    return _line(
        item.key, item.row, item, factors, timing(context, item), "quantity 0 × rate × 730 h: nothing is billed"
    )


# Demand ---------------------------------------------------------------------------------------------------------------
def stretches(context: Context) -> list[Stretch]:
    """The months up to the horizon, cut at the steps of the demand."""
    steps = [(Decimal(entry["from_month"]), entry["n_accelerators"]) for entry in demand_entries(context)]
    steps = [step for step in steps if step[0] < context.assessment.horizon_months]
    ends = [step[0] for step in steps[1:]] + [None] * bool(steps)
    found = [Stretch(first, last, wanted) for (first, wanted), last in zip(steps, ends, strict=True)]
    if not steps or steps[0][0] > 0:
        found.insert(0, Stretch(Decimal(0), steps[0][0] if steps else None, None))
    return found


def _merged(context: Context, parts: Sequence[Stretch], enough: float) -> list[Stretch]:
    """Neighbouring stretches in which demand makes no difference to what is billed, as one."""
    found: list[Stretch] = []
    for part in parts:
        plenty = part.demand is not None and quantity_bounds(context, part.demand)[0] >= enough
        wanted = None if plenty else part.demand
        if found and found[-1].demand is None and wanted is None:
            found[-1] = Stretch(found[-1].first, part.last, None)
        else:
            found.append(Stretch(part.first, part.last, wanted))
    return found


def demand_entries(context: Context) -> list[dict[str, Any]]:
    """The demand of the assessment for every option, each step an input."""
    entries = []
    for step in sorted(context.assessment.demand, key=lambda item: Decimal(str(item["from_month"]))):
        month = text(step["from_month"])
        caption = Caption(label=f"Accelerators wanted from month {month}", unit="accelerators", topic="demand")
        origin = source("assumption", text=step.get("source", "Demand of the assessment"), ref="demand")
        key = context.book.add(f"demand.{month}", Range.of(step["n_accelerators"]), caption, origin)
        entries.append({"from_month": month, "n_accelerators": key})
    return entries


# What is billed -------------------------------------------------------------------------------------------------------
def _billed(context: Context, supply: Supply, earlier: Sequence[Supply]) -> Iterator[tuple[Window, Part]]:
    """What the hours of a supply cost, in windows in which neither the demand nor what comes before it changes."""
    calendar = Calendar(context, _facts(supply).option)
    earlier = [each for each in earlier if calendar.meet(supply.window, each.window)]
    enough = sum(quantity_bounds(context, each.size)[1] for each in (*earlier, supply))
    for stretch in _merged(context, stretches(context), enough):
        window = calendar.within(supply.window, stretch.first, stretch.last)
        if calendar.empty(window):
            continue
        for part_window, wanted in _left(calendar, window, stretch.demand, earlier):
            parts = _committed(context, supply, wanted) if supply.committed else _flexible(context, supply, wanted)
            yield from ((part_window, part) for part in parts)


def _left(
    calendar: Calendar, window: Window, demand: Factor | None, earlier: Sequence[Supply]
) -> Iterator[tuple[Window, Factor | None]]:
    """Parts of a window, each with the demand that earlier supplies leave."""
    if demand is None:
        yield window, None
        return
    windows: list[Window] = []
    for each in earlier:
        if each.window not in windows:
            windows.append(each.window)
    for piece in calendar.split(window, windows):
        there = [each.size for each in earlier if windows.index(each.window) in piece.inside]
        yield piece.window, {"excess": [demand, total(there)]} if there else demand


def _facts(supply: Supply) -> PhaseFacts:
    if supply.tranche is None:
        raise InputError(supply.phase, "no hourly price", "an hourly price")
    return supply.tranche.item.facts


def _covers(context: Context, wanted: Factor, size: Factor) -> bool:
    """Whether the demand takes all of a supply, within the ranges of the inputs."""
    return quantity_bounds(context, wanted)[0] >= quantity_bounds(context, size)[1]


def _committed(context: Context, supply: Supply, wanted: Factor | None) -> Iterator[Part]:
    """All hours of a commitment: those that are wanted, and the others."""
    if supply.tranche is None:
        return
    row, bill = supply.tranche.item.row, [*supply.tranche.rate, HOURS_A_MONTH]
    if wanted is None or _covers(context, wanted, supply.size):
        yield row, [supply.size, *bill], "accelerators × rate × 730 h", True
        return
    if quantity_bounds(context, wanted)[1] > 0:
        yield row, [{"min": [supply.size, wanted]}, *bill], "accelerators × rate × 730 h", True
    unused: Factor = {"excess": [supply.size, wanted]}
    yield "gpu_commitment_unused", [unused, *bill], "accelerators not used × rate × 730 h", True


def _flexible(context: Context, supply: Supply, wanted: Factor | None) -> Iterator[Part]:
    """Accelerators beyond the commitments, as far as they are wanted: a share on spot, the rest on demand."""
    if supply.tranche is None or (wanted is not None and quantity_bounds(context, wanted)[1] <= 0):
        return
    facts = supply.tranche.item.facts
    all_wanted = wanted is None or _covers(context, wanted, supply.size)
    extra: Factor = supply.size if all_wanted else {"min": [supply.size, wanted]}
    caption = Caption(
        label=f"Spot share, {facts.configuration.name}", unit="of hours beyond the commitment", topic="demand"
    )
    share = configured(context, facts, "spot_share", caption)
    rate, own = supply.configured_rate, supply.configured_rate is None
    price = supply.tranche.rate if rate is None else _in_base_currency(context, rate)
    rest: list[Factor] = [] if share is None else [{"one_minus": share}]
    yield "gpu_on_demand", [extra, *rest, *price, HOURS_A_MONTH], "accelerators × on-demand rate × 730 h", own
    if share is not None:
        formula = "accelerators × spot rate × (1 + time lost) × 730 h"
        yield "gpu_spot", [extra, share, *_spot_price(context, facts), HOURS_A_MONTH], formula, False


def _spot_price(context: Context, facts: PhaseFacts) -> list[Factor]:
    """The spot rate, raised by the time that checkpoints, lost work and restarts take."""
    name = facts.configuration.name
    rate_caption = Caption(label=f"Spot rate, {name}", unit="USD/GPU-hour", correlation_group="gpu_price")
    rate = configured(context, facts, "spot_usd_per_gpu_hour", rate_caption)
    if rate is None:
        raise _missing(name, "spot rate")
    fields = {
        "checkpoint": ("checkpoint_minutes", "Checkpoint time", "minutes"),
        "interval": ("checkpoint_interval_minutes", "Checkpoint interval", "minutes"),
        "interruptions_per_hour": ("spot_interruptions_per_hour", "Spot interruptions", "1/h"),
        "restart": ("restart_minutes", "Restart time", "minutes"),
    }
    loss: dict[str, Factor] = {}
    for part, (field, label, unit) in fields.items():
        key = configured(context, facts, field, Caption(label=f"{label}, {name}", unit=unit, topic="performance"))
        if key is None:
            raise _missing(name, label.lower())
        loss[part] = minutes_in_hours(key) if unit == "minutes" else key
    return [*_in_base_currency(context, rate), {"one_plus": {"spot_loss": loss}}]


def _in_base_currency(context: Context, rate: Factor) -> list[Factor]:
    fx = context.fx("USD")
    return [rate] if fx is None else [rate, fx]


def _missing(name: str, what: str) -> Exception:
    return InputError(f"{name}, {what}", "not given", "given where a share of the hours runs on spot")
