"""Rented GPU-hours: committed hours used and not used, overage on demand, and spot with what interruptions lose.

A commitment bills all its hours. Where the assessment states a demand, the hours beyond it are a line of their own;
accelerators of the phase beyond the commitment are billed only as far as they are wanted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.analyses.inputs.book import Caption, Range, source
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import (
    HOURS_A_MONTH,
    Anchor,
    Factor,
    anchor,
    const,
    line,
    minutes_in_hours,
    monthly,
    text,
)
from apps.analyses.inputs.phases import PhaseFacts, accelerators, configured, ready_month
from apps.analyses.inputs.quoted import QuotedLine, end_month, free_key, quantity, unit_price
from apps.analyses.inputs.rows import row_label
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration


@dataclass(frozen=True)
class Stretch:
    """Months between two steps of the demand; no demand stated means everything rented is wanted."""

    first: Decimal
    last: Decimal | None
    demand: Decimal | None


@dataclass(frozen=True, kw_only=True)
class Rental:
    """What a cloud phase rents: a committed number of accelerators, and more that are billed as used."""

    committed: Factor
    committed_likely: Decimal
    capacity: Factor
    capacity_likely: Decimal
    rate: list[Factor]


def is_rental(item: QuotedLine) -> bool:
    """Whether the line is the hourly price of accelerators in the cloud, which follows commitment and demand."""
    return item.facts.cloud and item.row == "gpu_rental" and item.quote_line.period == "hour" and item.given


def stretches(demand: Sequence[dict[str, Any]], horizon_months: int) -> list[Stretch]:
    """The months up to the horizon, cut at the steps of the demand."""
    steps = sorted((Decimal(str(step["from_month"])), _likely(step["n_accelerators"])) for step in demand)
    steps = [step for step in steps if step[0] < horizon_months]
    ends = [step[0] for step in steps[1:]] + [None] * bool(steps)
    found = [Stretch(first, last, wanted) for (first, wanted), last in zip(steps, ends, strict=True)]
    if not steps or steps[0][0] > 0:
        found.insert(0, Stretch(Decimal(0), steps[0][0] if steps else None, None))
    return found


def _likely(value: Any) -> Decimal:
    return Decimal(str(value["likely"] if isinstance(value, dict) else value))


def rental_lines(context: Context, item: QuotedLine, taken: set[str]) -> list[dict[str, Any]]:
    """The lines of one hourly price: committed, not used, on demand, spot; merged over stretches that are alike."""
    rental = _rental(context, item)
    found: list[dict[str, Any]] = []
    for stretch in _merged(stretches(context.assessment.demand, context.assessment.horizon_months), rental):
        timing = monthly(*_window(context, item.facts, stretch))
        for row, factors, formula in _parts(context, item, rental, stretch.demand):
            name = item.key if row == item.row else f"{item.facts.option.letter}.{row}"
            # the first line takes the key that was set aside for the quoted line
            key = item.key if row == item.row and not found else free_key(taken, name)
            found.append(
                line(
                    key,
                    row,
                    label=row_label(row),
                    detail=item.quote_line.description,
                    group="cloud",
                    category="cloud",
                    factors=factors,
                    timing=timing,
                    formula=formula,
                )
            )
    return found


def _rental(context: Context, item: QuotedLine) -> Rental:
    configuration, facts = item.facts.configuration, item.facts
    quoted = quantity(context, item)
    quoted_likely = item.quote_line.quantity * item.scale
    share_caption = Caption(label=f"Committed share, {configuration.name}", unit="of quoted", topic="demand")
    share = configured(context, facts, "committed_fraction", share_caption)
    own = facts.phase.n_accelerators or configuration.n_accelerators
    capacity = accelerators(context, facts) if own else quoted
    capacity_likely = Decimal(own) if own else quoted_likely
    on_demand = configuration.template == RackConfiguration.Template.CLOUD_ON_DEMAND
    if on_demand:
        committed, committed_likely = const(0), Decimal(0)
    elif share is None:
        committed, committed_likely = quoted, quoted_likely
    else:
        committed = {"product": [quoted, share]}
        committed_likely = quoted_likely * (configuration.committed_fraction or 0)
    return Rental(
        committed=committed,
        committed_likely=committed_likely,
        capacity=capacity,
        capacity_likely=max(capacity_likely, quoted_likely),
        rate=unit_price(context, item),
    )


def _merged(parts: list[Stretch], rental: Rental) -> list[Stretch]:
    """Neighbouring stretches in which demand makes no difference to what is billed, as one."""
    found: list[Stretch] = []
    for part in parts:
        enough = part.demand is not None and part.demand >= rental.capacity_likely
        wanted = None if enough else part.demand
        if found and found[-1].demand == wanted:
            found[-1] = Stretch(found[-1].first, part.last, wanted)
        else:
            found.append(Stretch(part.first, part.last, wanted))
    return found


def _window(context: Context, facts: PhaseFacts, stretch: Stretch) -> tuple[Anchor, Anchor]:
    """The phase's months inside the stretch, exact in every draw of its lead time."""
    ready = ready_month(context, facts.phase)
    start, end = facts.ready, facts.end
    if stretch.first > 0:
        start = anchor("month", month="0", offset={"max": [ready, const(stretch.first)]})
    if stretch.last is not None:
        earlier: Factor = {"min": [end_month(context, facts), const(stretch.last)]}
        end = anchor("month", month="0", offset={"max": [ready, earlier]})
    return start, end


def _parts(
    context: Context, item: QuotedLine, rental: Rental, demand: Decimal | None
) -> list[tuple[str, list[Factor], str]]:
    """Row, factors and formula of what is billed in one stretch."""
    parts: list[tuple[str, list[Factor], str]] = []
    bill = [*rental.rate, HOURS_A_MONTH]
    wanted: Factor | None = None if demand is None else const(demand, "accelerators wanted")
    short = wanted is not None and demand is not None and demand < rental.committed_likely
    if rental.committed_likely > 0:
        used = {"min": [rental.committed, wanted]} if short else rental.committed
        parts.append((item.row, [used, *bill], "accelerators × rate × 730 h"))
    if short:
        unused: Factor = {"excess": [rental.committed, wanted]}
        parts.append(("gpu_commitment_unused", [unused, *bill], "accelerators not used × rate × 730 h"))
    if rental.capacity_likely > rental.committed_likely and (demand is None or demand > rental.committed_likely):
        top = rental.capacity if wanted is None else {"min": [rental.capacity, wanted]}
        extra: Factor = {"excess": [top, rental.committed]}
        parts += _flexible(context, item, rental, extra)
    return parts


def _flexible(context: Context, item: QuotedLine, rental: Rental, extra: Factor) -> list[tuple[str, list[Factor], str]]:
    """Accelerators beyond the commitment: a share on spot, the rest on demand."""
    name = item.facts.configuration.name
    share_caption = Caption(label=f"Spot share, {name}", unit="of hours beyond the commitment", topic="demand")
    rate_caption = Caption(label=f"On-demand rate, {name}", unit="USD/GPU-hour", correlation_group="gpu_price")
    share = configured(context, item.facts, "spot_share", share_caption)
    rate = configured(context, item.facts, "on_demand_usd_per_gpu_hour", rate_caption)
    price = rental.rate if rate is None else _in_base_currency(context, rate)
    rest: list[Factor] = [] if share is None else [{"one_minus": share}]
    parts = [("gpu_on_demand", [extra, *rest, *price, HOURS_A_MONTH], "accelerators × on-demand rate × 730 h")]
    if share is not None:
        spot = _spot_price(context, item.facts)
        formula = "accelerators × spot rate × (1 + time lost) × 730 h"
        parts.append(("gpu_spot", [extra, share, *spot, HOURS_A_MONTH], formula))
    return parts


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
