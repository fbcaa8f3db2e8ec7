"""What a site and its people cost: staff, facility, power, support that no quote carries, insurance, residual value."""

from collections.abc import Sequence
from typing import Any

from django.utils.text import slugify

from apps.analyses.inputs.book import Caption, Range, source
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import (
    A_TWELFTH,
    HOURS_A_MONTH,
    SIGNATURE,
    Factor,
    const,
    line,
    monthly,
    once,
    product,
)
from apps.analyses.inputs.phases import PhaseFacts, configured
from apps.analyses.inputs.quoted import HARDWARE, QuotedLine, free_key, included_lines
from apps.analyses.inputs.rows import row_label
from apps.analyses.inputs.windows import Calendar, Window, first_start, last_end, quantity_bounds, total
from apps.assessments.models import Option, OptionStaff
from apps.engine.errors import InputError


# Staff ---------------------------------------------------------------------------------------------------------------
def staff_lines(
    context: Context, option: Option, phases: Sequence[PhaseFacts], taken: set[str]
) -> list[dict[str, Any]]:
    people = sorted(option.staff.all(), key=lambda person: (person.role, person.fte_likely))
    return [_staff_line(context, person, phases, taken) for person in people]


def _staff_line(context: Context, person: OptionStaff, phases: Sequence[PhaseFacts], taken: set[str]) -> dict[str, Any]:
    option = phases[0].option if phases else person.option
    name = f"{option.letter}.staff.{slugify(person.role) or 'role'}"
    value = Range(likely=person.fte_likely, low=person.fte_low, high=person.fte_high)
    caption = Caption(label=f"{person.role}, option {option.letter}", unit="FTE", topic="demand")
    fte = context.book.add(f"{name}.fte", value, caption, source("option", text=person.source, ref=person.role))
    pay = context.money("staff_usd_per_year", option)
    start = SIGNATURE if person.starts == "signature" else first_start(context, phases)
    rise = context.assumption("staff_escalation_fraction_per_year", option)
    return line(
        free_key(taken, f"{option.letter}.staff"),
        "staff",
        label=row_label("staff"),
        detail=person.role,
        group="operating",
        category="staff",
        factors=[fte, pay, A_TWELFTH] if pay is not None else [],
        timing=monthly(start, last_end(context, phases), rise),
        formula="FTE × pay a year ÷ 12",
        not_given=pay is None,
    )


def first_owned(phases: Sequence[PhaseFacts]) -> PhaseFacts:
    return next((facts for facts in phases if not facts.cloud), phases[0])


# Site ----------------------------------------------------------------------------------------------------------------
def facility_lines(
    context: Context, option: Option, phases: Sequence[PhaseFacts], taken: set[str]
) -> list[dict[str, Any]]:
    """Colocation by the kilowatt, or power by the meter, for each owned phase."""
    owned = [facts for facts in phases if not facts.cloud]
    match option.facility:
        case "none":
            return []
        case "colocation":
            return _colocation(context, option, owned, taken)
        case "metered":
            return [entry for facts in owned for entry in _metered(context, facts, taken)]
    raise InputError(f"Option {option.letter}, facility", option.facility, "colocation, metered or none")


def it_load(context: Context, facts: PhaseFacts) -> Factor | None:
    """The IT load of the phase's share of its configuration. [kW]"""
    caption = Caption(
        label=f"IT load, {facts.configuration.name}", unit="kW", topic="performance", correlation_group="site"
    )
    load = configured(context, facts, "it_load_kw", caption)
    scale = facts.phase.quantity_scale
    if load is None or scale == 1:
        return load
    return {"product": [load, const(scale, "share of the configuration")]}


def _colocation(context: Context, option: Option, owned: Sequence[PhaseFacts], taken: set[str]) -> list[dict[str, Any]]:
    """Load × price; with a commitment the greater of both, as long as the option has a site."""
    price = context.money("facility_usd_per_kw_month", option)
    committed = _committed(context, option)
    loads = [it_load(context, facts) for facts in owned]
    if committed is not None and len(owned) > 1:
        return _shared_site(context, list(zip(owned, loads, strict=True)), committed, price, taken)
    lines = []
    for facts, load in zip(owned, loads, strict=True):
        power: Factor | None = {"max": [committed, load]} if committed and load else load
        formula = "max(committed, IT load) × price" if committed else "IT load × price"
        lines.append(
            _site_line(facts, taken, row="facility", category="facility", factors=[power, price], formula=formula)
        )
    return lines


def _shared_site(
    context: Context,
    loads: Sequence[tuple[PhaseFacts, Factor | None]],
    committed: Factor,
    price: Factor | None,
    taken: set[str],
) -> list[dict[str, Any]]:
    """The committed power from the first delivery to the last end, and the load of the phases there beyond it."""
    calendar = Calendar(context, loads[0][0].option)
    known = [(Window(start=facts.starts, end=facts.end), load) for facts, load in loads if load is not None]
    site = calendar.hull([Window(start=facts.starts, end=facts.end) for facts, _ in loads])
    lines = [
        _site_line(facts, taken, row="facility", category="facility", factors=[None], formula="IT load × price")
        for facts, load in loads
        if load is None
    ]
    bills: list[tuple[Window, Factor, str, str]] = [
        (site, committed, "Committed power", "committed power × price"),
    ]
    for piece in calendar.split(site, [window for window, _ in known]):
        here = [load for number, (_, load) in enumerate(known) if number in piece.inside]
        beyond: Factor = {"excess": [total(here), committed]}
        if here and quantity_bounds(context, beyond)[1] > 0:
            bills.append((piece.window, beyond, "Load beyond the committed power", "(IT load − committed) × price"))
    for window, power, detail, formula in bills:
        lines.append(
            line(
                free_key(taken, f"{loads[0][0].option.letter}.facility"),
                "facility",
                label=row_label("facility"),
                detail=detail,
                group="operating",
                category="facility",
                factors=[] if price is None else [power, price],
                timing=monthly(window.start, window.end),
                formula=formula,
                not_given=price is None,
            )
        )
    return lines


def _committed(context: Context, option: Option) -> Factor | None:
    if option.committed_kw is None:
        return None
    caption = Caption(label=f"Committed power, option {option.letter}", unit="kW")
    origin = source("option", text="Site contract", ref="committed_kw")
    return context.book.add(f"{option.letter}.committed_kw", Range(likely=option.committed_kw), caption, origin)


def _metered(context: Context, facts: PhaseFacts, taken: set[str]) -> list[dict[str, Any]]:
    """Electricity by the kilowatt-hour with PUE, and the demand charge where there is one."""
    option = facts.option
    load = it_load(context, facts)
    pue = context.assumption("power.pue", option)
    tariff = context.money("power.electricity_usd_per_kwh", option)
    # A typical load already is what the machines draw; a nameplate load is scaled by the load factor.
    typical = facts.configuration.it_load_basis == "typical"
    share = None if typical else context.assumption("power.load_factor", option)
    drawn = [load] if typical else [load, share]
    rise = context.assumption("power.electricity_escalation_fraction_per_year", option)
    energy = [*drawn, pue, HOURS_A_MONTH, tariff]
    formula = f"IT load {'' if typical else '× load factor '}× PUE × 730 h × tariff"
    lines = [_site_line(facts, taken, row="electricity", category="power", factors=energy, formula=formula, rise=rise)]
    if context.can_be_positive("power.demand_charge_usd_per_kw_month", option):
        charge = context.money("power.demand_charge_usd_per_kw_month", option)
        formula = "IT load × PUE × demand charge"
        lines.append(
            _site_line(
                facts, taken, row="demand_charge", category="power", factors=[load, pue, charge], formula=formula
            )
        )
    return lines


def _site_line(
    facts: PhaseFacts,
    taken: set[str],
    *,
    row: str,
    category: str,
    factors: Sequence[Factor | None],
    formula: str,
    rise: Factor | None = None,
) -> dict[str, Any]:
    """A monthly line from delivery to the end of the phase; not given when one of its factors is missing."""
    known = [factor for factor in factors if factor is not None]
    complete = len(known) == len(factors)
    return line(
        free_key(taken, f"{facts.option.letter}.{row}"),
        row,
        label=row_label(row),
        detail=facts.configuration.name,
        group="operating",
        category=category,
        factors=known if complete else [],
        timing=monthly(facts.starts, facts.end, rise),
        formula=formula,
        not_given=not complete,
    )


# Shares of the price of hardware -------------------------------------------------------------------------------------
def hardware_of(items: Sequence[QuotedLine], kind: str) -> list[QuotedLine]:
    """The one-off lines of a kind that are the buyer's own and have a price."""
    return [item for item in items if item.capital and item.given and not item.facts.cloud and _is(item, kind)]


def _is(item: QuotedLine, kind: str) -> bool:
    return item.quote_line.kind == kind


def support_lines(
    context: Context, facts: PhaseFacts, items: Sequence[QuotedLine], taken: set[str]
) -> list[dict[str, Any]]:
    """Support of fabric and storage where the quote has no line for it, charged or included."""
    lines = []
    covering = [*items, *included_lines(facts)]
    for kind in ("fabric", "storage"):
        assumption = f"{kind}_support_fraction_per_year"
        base = hardware_of(items, kind)
        if base and not _has_support(covering, kind) and context.can_be_positive(assumption, facts.option):
            lines.append(
                _yearly_share(
                    context,
                    facts,
                    taken,
                    base=base,
                    assumption=assumption,
                    row="fabric_storage_support",
                    category="support",
                )
            )
    return lines


def _has_support(items: Sequence[QuotedLine], kind: str) -> bool:
    """Whether a quoted support line covers the kind: by its percentage, or by standing in the row of such support."""
    return any(
        item.quote_line.percent_of in (kind, "hardware")
        or (item.row == "fabric_storage_support" and not item.quote_line.percent_of)
        for item in items
        if item.quote_line.kind == "support"
    )


def insurance_lines(
    context: Context, facts: PhaseFacts, items: Sequence[QuotedLine], taken: set[str]
) -> list[dict[str, Any]]:
    base = [item for kind in HARDWARE for item in hardware_of(items, kind)]
    quoted = any(item.row == "insurance" for item in [*items, *included_lines(facts)])
    if not base or quoted or not context.can_be_positive("insurance_fraction_per_year", facts.option):
        return []
    return [
        _yearly_share(
            context,
            facts,
            taken,
            base=base,
            assumption="insurance_fraction_per_year",
            row="insurance",
            category="insurance",
        )
    ]


def _yearly_share(
    context: Context,
    facts: PhaseFacts,
    taken: set[str],
    *,
    base: Sequence[QuotedLine],
    assumption: str,
    row: str,
    category: str,
) -> dict[str, Any]:
    share = context.assumption(assumption, facts.option)
    detail = row_label(row) if row == "insurance" else f"of {base[0].quote_line.kind} price, a year"
    return line(
        free_key(taken, f"{facts.option.letter}.{assumption.removesuffix('_fraction_per_year')}"),
        row,
        label=row_label(row),
        detail=detail,
        group="operating",
        category=category,
        factors=[product([factor for factor in (share, A_TWELFTH) if factor is not None])],
        percent_of=[item.key for item in base],
        timing=monthly(facts.starts, facts.end),
        formula="share of price a year ÷ 12",
    )


def residual_lines(
    context: Context, facts: PhaseFacts, items: Sequence[QuotedLine], taken: set[str]
) -> list[dict[str, Any]]:
    """What own hardware is worth when its phase ends, as money back; the product's default is nothing."""
    lines = []
    for kind in HARDWARE:
        base = hardware_of(items, kind)
        share = context.assumption(f"residual_fraction.{kind}", facts.option) if base else None
        if share is None:
            continue
        row = f"residual_{kind}"
        lines.append(
            line(
                free_key(taken, f"{facts.option.letter}.{row}"),
                row,
                label=row_label(row),
                detail="share of the purchase price",
                group="residual",
                category=str(kind),
                factors=[share],
                percent_of=[item.key for item in base],
                sign=-1,
                timing=once(facts.end),
                treatment="capital",
                formula="− share × price",
            )
        )
    return lines


def bridge_entry(context: Context, option: Option) -> dict[str, Any] | None:
    """Cloud for demand that the option cannot meet; None for the baseline, without a demand, or when switched off."""
    if option.baseline or not context.assessment.demand or not option.bridge.get("enabled", True):
        return None
    own = option.bridge.get("usd_per_gpu_hour")
    if own is None:
        price = context.money("bridge_usd_per_gpu_hour", option)
    else:
        caption = Caption(
            label=f"Cloud price until ready, option {option.letter}",
            unit="USD/GPU-hour",
            correlation_group="gpu_price",
        )
        origin = source("option", text=option.bridge.get("source", ""), ref="bridge")
        price = context.book.add(f"{option.letter}.bridge_usd_per_gpu_hour", Range.of(own), caption, origin)
        rate = context.fx("USD")
        price = price if rate is None else {"product": [price, rate]}
    if price is None:
        raise InputError("bridge_usd_per_gpu_hour", "not given", "a price, because options are late for the demand")
    return {"usd_per_gpu_hour": price, "row": "bridge", "label": row_label("bridge")}
