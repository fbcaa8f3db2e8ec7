"""Phases of an option: what is ordered when, when it is ready, and how many accelerators it brings."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.text import slugify

from apps.analyses.inputs.book import Caption, Range, configuration_source, quote_source, source
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import (
    HORIZON,
    SIGNATURE,
    Anchor,
    Factor,
    anchor,
    const,
    text,
    weeks_in_months,
)
from apps.assessments.models import Option, OptionPhase
from apps.assessments.services import check_phase_ends
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration

CLOUD_TEMPLATES = {RackConfiguration.Template.CLOUD_RESERVED, RackConfiguration.Template.CLOUD_ON_DEMAND}


@dataclass(frozen=True, kw_only=True)
class PhaseFacts:
    """A phase with its key and the anchors that its lines hang on."""

    option: Option
    phase: OptionPhase
    key: str
    cloud: bool
    order: Anchor
    delivery: Anchor
    ready: Anchor
    end: Anchor

    @property
    def configuration(self) -> RackConfiguration:
        return self.phase.configuration

    @property
    def starts(self) -> Anchor:
        """When running costs begin: cloud bills from ready, own machines cost from delivery."""
        return self.ready if self.cloud else self.delivery


def quote_key(phase: OptionPhase) -> str:
    """The first part of the keys of a quote's inputs; versions share it."""
    version = phase.quote_version
    if version is None:
        return f"{slugify(phase.configuration.name)}"
    return f"{slugify(version.quote.vendor.name)}.{slugify(version.quote.number) or 'quote'}"


def versioned_keys(phase: OptionPhase, name: str) -> list[str]:
    """The key of an input of a quote, and the one to take when another version of the quote differs."""
    first = f"{quote_key(phase)}.{name}"
    version = phase.quote_version
    return [first] if version is None else [first, f"{quote_key(phase)}.v{version.version}.{name}"]


def phases_of(option: Option, horizon_months: int) -> list[PhaseFacts]:
    phases = sorted(option.phases.all(), key=lambda phase: phase.position)
    check_phase_ends({phase.position: phase.ends_when_ready for phase in phases})
    keys = {phase.position: f"{option.letter}.{number}" for number, phase in enumerate(phases, start=1)}
    return [
        PhaseFacts(
            option=option,
            phase=phase,
            key=keys[phase.position],
            cloud=phase.configuration.template in CLOUD_TEMPLATES,
            order=SIGNATURE if phase.order_month == 0 else anchor("month", month=text(phase.order_month)),
            delivery=anchor("delivery", keys[phase.position]),
            ready=anchor("ready", keys[phase.position]),
            end=_end(phase, keys, horizon_months),
        )
        for phase in phases
    ]


def _end(phase: OptionPhase, keys: dict[int, str], horizon_months: int) -> Anchor:
    if phase.ends_when_ready is not None:
        if phase.ends_when_ready not in keys or phase.ends_when_ready == phase.position:
            raise InputError("ends_when_ready", phase.ends_when_ready, "the position of another phase of the option")
        return anchor("ready", keys[phase.ends_when_ready])
    if phase.end_month is None or phase.end_month >= horizon_months:
        return HORIZON
    return anchor("month", month=text(phase.end_month))


def lead_weeks(context: Context, phase: OptionPhase) -> Factor | None:
    """Weeks from order to delivery as quoted; None when the quote does not say."""
    version = phase.quote_version
    if version is None or version.lead_weeks_likely is None:
        return None
    value = Range(likely=version.lead_weeks_likely, low=version.lead_weeks_low, high=version.lead_weeks_high)
    caption = Caption(label=f"Lead time, {version.quote.vendor.name}", unit="weeks", topic="schedule")
    origin = quote_source(version, version.refs.get("lead_weeks_likely", ""))
    return context.book.add(versioned_keys(phase, "lead_weeks"), value, caption, origin)


def acceptance_weeks(context: Context, phase: OptionPhase) -> Factor | None:
    version = phase.quote_version
    if version is None or version.acceptance_weeks is None:
        return None
    caption = Caption(label=f"Acceptance, {version.quote.vendor.name}", unit="weeks", topic="schedule")
    origin = quote_source(version, version.refs.get("acceptance_weeks", ""))
    value = Range(likely=version.acceptance_weeks)
    return context.book.add(versioned_keys(phase, "acceptance_weeks"), value, caption, origin)


def ready_month(context: Context, phase: OptionPhase, *, accepted: bool = True) -> Factor:
    """The month in which a phase is ready, or only delivered, as a factor that follows the draws of its lead time."""
    parts = [lead_weeks(context, phase), acceptance_weeks(context, phase) if accepted else None]
    weeks = [weeks_in_months(part) for part in parts if part is not None]
    return {"sum": [const(phase.order_month, "ordered in month"), *weeks]}


def accelerators(context: Context, facts: PhaseFacts) -> Factor:
    """The accelerators a phase brings: the phase's own number, else its share of those of its configuration."""
    phase, configuration = facts.phase, facts.configuration
    caption = Caption(label=f"Accelerators, {configuration.name}", unit="accelerators", topic="performance")
    if phase.n_accelerators is not None:
        origin = source("option", text=f"Option {facts.option.letter}, phase {facts.key}", ref="n_accelerators")
        return context.book.add(
            f"{facts.key}.n_accelerators", Range(likely=Decimal(phase.n_accelerators)), caption, origin
        )
    if configuration.n_accelerators is None:
        raise InputError(f"{configuration.name}, accelerators", "not given", "a whole number")
    configured_number = context.book.add(
        [f"{slugify(configuration.name)}.n_accelerators", f"{facts.key}.n_accelerators"],
        Range(likely=Decimal(configuration.n_accelerators)),
        caption,
        configuration_source(configuration, "n_accelerators"),
    )
    if phase.quantity_scale == 1:
        return configured_number
    return {"product": [configured_number, const(phase.quantity_scale, "share of the configuration")]}


def configured(context: Context, facts: PhaseFacts, name: str, caption: Caption) -> Factor | None:
    """A field of the phase's configuration, with `_low` and `_high` where it has them; None when it is empty."""
    configuration = facts.configuration
    likely = getattr(configuration, f"{name}_likely", None)
    if likely is None:
        likely = getattr(configuration, name, None)
    if likely is None:
        return None
    low, high = (getattr(configuration, f"{name}_{end}", None) for end in ("low", "high"))
    field = f"{name}_likely" if hasattr(configuration, f"{name}_likely") else name
    origin = configuration_source(configuration, field if field in configuration.sources else name)
    keys = [f"{slugify(configuration.name)}.{name}", f"{facts.key}.{name}"]
    return context.book.add(keys, Range(likely=likely, low=low, high=high), caption, origin)


def phase_entry(context: Context, facts: PhaseFacts) -> dict[str, Any]:
    """The PHASE of the document."""
    phase, option = facts.phase, facts.option
    name = facts.configuration.name
    leased = option.financing.get("kind") == "lease"
    availability = Caption(label=f"Availability, {name}", unit="of hours", topic="performance")
    goodput = Caption(label=f"Goodput, {name}", unit="of used hours", topic="performance")
    peak = Caption(label=f"Peak, {name}", unit="TFLOPS", topic="performance")
    return {
        "key": facts.key,
        "label": name,
        "kind": "cloud" if facts.cloud else "lease" if leased else "owned",
        "order_month": text(phase.order_month),
        "lead_weeks": lead_weeks(context, phase),
        "acceptance_weeks": acceptance_weeks(context, phase),
        "end": facts.end,
        "n_accelerators": accelerators(context, facts),
        "availability": configured(context, facts, "availability", availability)
        or context.assumption("availability_fraction", option),
        "occupancy": context.assumption("occupancy_fraction", option),
        "goodput": configured(context, facts, "goodput", goodput) or context.assumption("goodput_fraction", option),
        "peak_tflops": configured(context, facts, "peak_tflops", peak),
        "mfu": _mfu(context, facts),
    }


def _mfu(context: Context, facts: PhaseFacts) -> Factor | None:
    """Model FLOPs utilisation; a slowdown lengthens every step, so it divides."""
    mfu = context.assumption("mfu_fraction", facts.option)
    caption = Caption(label=f"Slowdown, {facts.configuration.name}", unit="of step time", topic="performance")
    slowdown = configured(context, facts, "slowdown", caption)
    return mfu if mfu is None or slowdown is None else {"divide": [mfu, {"one_plus": slowdown}]}
