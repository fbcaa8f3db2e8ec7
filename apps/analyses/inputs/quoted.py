"""Quoted lines as dated costs: quantity × price, when it is paid, and how the books treat it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.analyses.inputs.book import Caption, Range, line_source, quote_source, source
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import (
    Anchor,
    Factor,
    anchor,
    const,
    days_in_months,
    line,
    monthly,
    once,
    per_month,
    percent,
    text,
    weeks_in_months,
)
from apps.analyses.inputs.phases import PhaseFacts, ready_month, versioned_keys
from apps.analyses.inputs.rows import comparison_row, row_label
from apps.engine.errors import InputError
from apps.vendors.models import LineKind, QuoteLine

HARDWARE = (LineKind.COMPUTE, LineKind.FABRIC, LineKind.STORAGE)
# kinds whose prices move together with what a GPU costs
GPU_PRICED_ROWS = ("compute_nodes", "gpu_rental", "gpu_on_demand", "gpu_spot")
PERIODS = {"hour": "hour", "month": "month", "year": "year"}
SHARE_PERIODS = {"month": "month", "year": "year"}  # nobody quotes a percentage for one hour
# kinds of which a phase may take a share; installing, onboarding and sites are paid whole
SCALED_KINDS = (*HARDWARE, LineKind.CLOUD, LineKind.SOFTWARE, LineKind.SUPPORT)


@dataclass(frozen=True, kw_only=True)
class QuotedLine:
    """A priced line of one phase, from its quote or from the option's own extra lines."""

    facts: PhaseFacts
    quote_line: QuoteLine
    key: str  # of the line in the document
    row: str
    name: str  # of its inputs within the quote; equal for equal rows of two versions
    own: bool = False  # an extra line of the option, not of a quote

    @property
    def one_off(self) -> bool:
        return self.quote_line.charge == QuoteLine.Charge.ONE_OFF

    @property
    def capital(self) -> bool:
        """Whether it is paid once: hardware, and what brings it into service."""
        return self.one_off and not self.quote_line.percent_of

    @property
    def given(self) -> bool:
        return self.quote_line.unit_price_likely is not None

    @property
    def scale(self) -> Decimal:
        """The share of the quoted quantity that the phase takes."""
        if self.own or self.quote_line.kind not in SCALED_KINDS or self.quote_line.percent_of:
            return Decimal(1)
        return self.facts.phase.quantity_scale

    def input_keys(self, field: str) -> list[str]:
        if self.own:
            return [f"{self.facts.option.letter}.{self.name}.{field}"]
        return versioned_keys(self.facts.phase, f"{self.name}.{field}")


def quoted_lines(facts: PhaseFacts, taken: set[str]) -> list[QuotedLine]:
    """The lines of the phase's quote that carry a cost; `taken` holds the line keys already in use and is added to."""
    version = facts.phase.quote_version
    if version is None:
        return []
    lines = sorted(version.lines.all(), key=lambda item: item.position)
    for item in lines:
        item.quote_version = version  # the row at hand, so that its source needs no further query
    return _named(facts, [item for item in lines if not item.included], taken)


def included_lines(facts: PhaseFacts) -> list[QuotedLine]:
    """The lines of the phase's quote that say that something is covered by the others; they carry no cost."""
    version = facts.phase.quote_version
    return [] if version is None else _named(facts, [item for item in version.lines.all() if item.included], set())


def extra_lines(facts: PhaseFacts, taken: set[str]) -> list[QuotedLine]:
    """Lines that the option adds itself: insurance, freight, sites of its own, decommissioning."""
    lines = [_from_json(facts, position, raw) for position, raw in enumerate(facts.option.extra_lines, start=1)]
    return [replace(item, own=True) for item in _named(facts, lines, taken)]


def _named(facts: PhaseFacts, lines: Sequence[QuoteLine], taken: set[str]) -> list[QuotedLine]:
    found: list[QuotedLine] = []
    names: dict[str, int] = {}
    for item in lines:
        row = comparison_row(item)
        names[row] = names.get(row, 0) + 1
        name = row if names[row] == 1 else f"{row}.{names[row]}"
        key = free_key(taken, f"{facts.option.letter}.{name}")
        found.append(QuotedLine(facts=facts, quote_line=item, key=key, row=row, name=name))
    return found


def free_key(taken: set[str], wanted: str) -> str:
    """The wanted line key, or with a number behind it when another phase has it; it counts as taken from now on."""
    key, number = wanted, 1
    while key in taken:
        number += 1
        key = f"{wanted}.{number}"
    taken.add(key)
    return key


# name in an extra line -> field of a quote line
_DECIMALS = {
    name: name
    for name in (
        "quantity",
        "unit_price_low",
        "unit_price_likely",
        "unit_price_high",
        "discount_fraction",
        "escalation_fraction_per_year",
        "start_month",
        "term_months",
    )
} | {"discount": "discount_fraction"}
_TEXTS = ("kind", "comparison_key", "description", "unit", "currency", "charge", "period", "percent_of", "starts")
SIGNED = ("unit_price", "escalation")  # a credit has a negative price, and prices may fall
_CHOICES = {
    "kind": LineKind.values,
    "charge": QuoteLine.Charge.values,
    "period": QuoteLine.Period.values,
    "percent_of": [*LineKind.values, "hardware"],
    "starts": ["signature", "delivery", "acceptance", "ready", "month"],
}


def _from_json(facts: PhaseFacts, position: int, raw: Any) -> QuoteLine:
    place = f"Option {facts.option.letter}, extra line {position}"
    if not isinstance(raw, Mapping):
        raise InputError(place, raw, "an object with the names of quote lines")
    for name in raw:
        if name not in (*_TEXTS, *_DECIMALS, "source"):
            raise InputError(f"{place}, {name}", raw[name], f"left out; a line has {', '.join((*_TEXTS, *_DECIMALS))}")
    values: dict[str, Any] = {name: _word(f"{place}, {name}", name, raw[name]) for name in _TEXTS if raw.get(name)}
    values |= {
        field: _decimal(f"{place}, {name}", raw[name], signed=field.startswith(SIGNED))
        for name, field in _DECIMALS.items()
        if raw.get(name) not in (None, "")
    }
    for name in ("kind", "charge", *(["period"] if values.get("charge") == QuoteLine.Charge.RECURRING else [])):
        if name not in values:
            raise InputError(f"{place}, {name}", "not given", f"one of {', '.join(_CHOICES[name])}")
    values.setdefault("currency", facts.option.assessment.currency)
    values.setdefault("quantity", Decimal(1))
    return QuoteLine(position=position, source_ref=str(raw.get("source") or ""), **values)


def _word(place: str, name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in _CHOICES.get(name, [value]):
        raise InputError(place, value, f"one of {', '.join(_CHOICES[name])}" if name in _CHOICES else "text")
    return value


def _decimal(place: str, value: Any, *, signed: bool = False) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if isinstance(value, bool) or not number.is_finite() or (number < 0 and not signed):
        raise InputError(place, value, "a number" if signed else "a number, zero or more")
    return number


# The cost of one line ------------------------------------------------------------------------------------------------
def quantity(context: Context, item: QuotedLine) -> Factor:
    """The quoted quantity times the share of it that the phase takes."""
    caption = Caption(label=f"{_label(item)}, quantity", unit=item.quote_line.unit or "-", topic="demand")
    value = Range(likely=item.quote_line.quantity)
    key = context.book.add(item.input_keys("quantity"), value, caption, _source(item))
    return key if item.scale == 1 else {"product": [key, const(item.scale, "share of the quoted quantity")]}


def unit_price(context: Context, item: QuotedLine) -> list[Factor]:
    """Price after discount in the base currency; for a percentage line the percentage as a fraction."""
    quote_line = item.quote_line
    if quote_line.unit_price_likely is None:
        raise InputError(f"{item.key}, unit price", "not given", "a price")
    value = Range(likely=quote_line.unit_price_likely, low=quote_line.unit_price_low, high=quote_line.unit_price_high)
    share = bool(quote_line.percent_of)
    grouped = item.row in GPU_PRICED_ROWS and not share
    caption = Caption(
        label=f"{_label(item)}, {'percentage' if share else 'unit price'}",
        unit=_share_unit(item) if share else _price_unit(item),
        correlation_group="gpu_price" if grouped else None,
    )
    key = context.book.add(item.input_keys("unit_price"), value, caption, _source(item))
    factors: list[Factor] = [percent(key) if share else key, *_discount(context, item)]
    rate = None if share else context.fx(quote_line.currency)  # a share is of prices already in the base currency
    return factors if rate is None else [*factors, rate]


def _price_unit(item: QuotedLine) -> str:
    unit = f"{item.quote_line.currency}/{item.quote_line.unit or 'unit'}"
    return unit if item.one_off else f"{unit}-{_period(item, PERIODS)}"


def _share_unit(item: QuotedLine) -> str:
    return "% of price" if item.one_off else f"% a {_period(item, SHARE_PERIODS)}"


def _period(item: QuotedLine, known: Mapping[str, str]) -> str:
    period = item.quote_line.period
    if period not in known:
        raise InputError(f"{_place(item)}, period", period or "not given", f"one of {', '.join(known)}")
    return known[period]


def _discount(context: Context, item: QuotedLine) -> list[Factor]:
    """What is left of the price after the discount, as a factor; none without a discount."""
    off = item.quote_line.discount_fraction
    if not off:
        return []
    if not 0 <= off <= 1:
        raise InputError(f"{_place(item)}, discount", off, "from 0 to 1")
    caption = Caption(label=f"{_label(item)}, discount", unit="of price")
    key = context.book.add(item.input_keys("discount"), Range(likely=off), caption, _source(item))
    return [{"one_minus": key}]


def _place(item: QuotedLine) -> str:
    """Where a line stands, for messages: vendor and number of its quote, or the option, and the line."""
    version = item.facts.phase.quote_version
    if item.own or version is None:
        return f"Option {item.facts.option.letter}, extra line {item.quote_line.position}"
    return f"{version.quote.vendor.name} {version.quote.number}, line {item.quote_line.position}"


def line_entry(context: Context, item: QuotedLine, siblings: Sequence[QuotedLine]) -> dict[str, Any]:
    """The LINE of a quoted line; `siblings` are all quoted lines of its phase, for percentages."""
    base = _percentage_base(item, siblings)
    factors: list[Factor] = []
    if item.given:
        factors = unit_price(context, item)
        if base is None:
            factors = [quantity(context, item), *factors]
        if not item.one_off:
            factors += per_month(item.quote_line.period)
    return line(
        item.key,
        item.row,
        label=row_label(item.row, item.quote_line.description),
        detail=item.quote_line.description,
        group=_group(item),
        category=_category(item),
        factors=factors,
        percent_of=base if item.given else None,
        timing=timing(context, item),
        formula=_formula(item),
        not_given=not item.given,
        **books(context, item),
    )


def _percentage_base(item: QuotedLine, siblings: Sequence[QuotedLine]) -> list[str] | None:
    of = item.quote_line.percent_of
    if not of:
        return None
    if item.given and item.quote_line.quantity != 1:
        raise InputError(
            f"{_place(item)}, quantity",
            text(item.quote_line.quantity),
            "1: the quantity of a percentage line must be 1, its period says how often the percentage is due",
        )
    kinds = HARDWARE if of == "hardware" else (of,)
    keys = [other.key for other in siblings if other.capital and other.given and other.quote_line.kind in kinds]
    if not keys and item.given:
        raise InputError(f"{_place(item)}, percent of", of, "a kind that the quote has one-off lines of")
    return keys


def _formula(item: QuotedLine) -> str:
    if not item.given:
        return "not given"
    last = "" if item.one_off else {"hour": " × 730 h", "year": " ÷ 12"}.get(item.quote_line.period, "")
    off = " × (1 − discount)" if item.quote_line.discount_fraction else ""
    if item.quote_line.percent_of:
        return f"percentage{off} × price of {item.quote_line.percent_of}{last}"
    return f"quantity × unit price{off}{last}"


def _label(item: QuotedLine) -> str:
    vendor = "" if item.own else f", {item.facts.phase.quote_version.quote.vendor.name}"  # type: ignore[union-attr]
    return f"{row_label(item.row, item.quote_line.description)}{vendor}"


def _source(item: QuotedLine) -> dict[str, Any]:
    if item.own:
        return source("option", text=item.quote_line.source_ref, ref=f"extra line {item.quote_line.position}")
    return line_source(item.quote_line)


def _group(item: QuotedLine) -> str:
    if item.one_off:
        return "capital"
    return "cloud" if item.facts.cloud else "operating"


def _category(item: QuotedLine) -> str:
    """The kind of the line; money that leaves with the data, and power, have their own."""
    by_row = {"egress": "egress", "insurance": "insurance", "electricity": "power", "demand_charge": "power"}
    return by_row.get(item.row, item.quote_line.kind)


def books(context: Context, item: QuotedLine) -> dict[str, Any]:
    """How the books treat the line: own hardware and its installation are capital, everything else is expense."""
    if not item.capital or item.facts.cloud or item.quote_line.kind in (LineKind.SUPPORT, LineKind.STAFF):
        return {"treatment": "expense"}
    kind = item.quote_line.kind if item.quote_line.kind in HARDWARE else LineKind.COMPUTE
    option = item.facts.option
    return {
        "treatment": "capital",
        "life_months": context.assumption(f"book_life_months.{kind}", option),
        "in_service": item.facts.ready,
        "disposed_at_horizon": context.can_be_positive(f"residual_fraction.{kind}", option),
    }


# When it is paid -----------------------------------------------------------------------------------------------------
def timing(context: Context, item: QuotedLine) -> dict[str, Any]:
    return _once(context, item) if item.one_off else _monthly(context, item)


def _once(context: Context, item: QuotedLine) -> dict[str, Any]:
    """At the anchor the line names, else by the quote's milestones, else when ordered."""
    named = _named_start(item)
    version = item.facts.phase.quote_version
    milestones = [] if item.own or version is None else version.payment_milestones
    if named is not None or not milestones:
        return once(named or item.facts.order)
    if sum((Decimal(str(part["share"])) for part in milestones), Decimal(0)) != 1:
        raise InputError(f"{version}, payment milestones", milestones, "shares that add up to 1")
    wait = _payment_wait(context, item.facts)
    return {"kind": "once", "milestones": [_milestone(item.facts, part, wait) for part in milestones]}


def _payment_wait(context: Context, facts: PhaseFacts) -> Factor | None:
    """The months from a milestone, when the vendor sends its invoice, to the payment; None when the quote has none."""
    version = facts.phase.quote_version
    given = version.terms.get("payment_days") if version is not None else None
    if version is None or not given or given["value"] in (None, ""):
        return None
    caption = Caption(label=f"Days to pay, {version.quote.vendor.name}", unit="days")
    value = Range(likely=_decimal(f"{version}, payment_days", given["value"]))
    origin = quote_source(version, given.get("ref", ""))
    return days_in_months(context.book.add(versioned_keys(facts.phase, "payment_days"), value, caption, origin))


def _milestone(facts: PhaseFacts, part: dict[str, Any], wait: Factor | None) -> dict[str, Any]:
    anchors = {"signature": facts.order, "delivery": facts.delivery, "acceptance": facts.ready}
    if part.get("anchor") not in anchors:
        raise InputError("payment milestone", part.get("anchor"), "signature, delivery or acceptance")
    at = dict(anchors[part["anchor"]])
    weeks = Decimal(str(part.get("offset_weeks") or 0))
    later = [weeks_in_months(const(weeks, "weeks after"))] if weeks else []
    if wait is not None:
        later.append(wait)
    if later:
        at["offset_months"] = later[0] if len(later) == 1 else {"sum": later}
    return {"share": const(part["share"]), "at": at}


def _named_start(item: QuotedLine) -> Anchor | None:
    """The start that the line itself names; None when it takes the usual one."""
    match item.quote_line.starts:
        case "signature":
            return item.facts.order
        case "delivery":
            return item.facts.delivery
        case "acceptance" | "ready":
            return item.facts.ready
        case "month":
            return anchor("month", month=text(item.quote_line.start_month or 0))
    return None


def _monthly(context: Context, item: QuotedLine) -> dict[str, Any]:
    start = _named_start(item) or item.facts.starts
    end = item.facts.end
    if item.quote_line.term_months is not None:
        end = _after(context, item, start, item.quote_line.term_months)
    escalation = None
    if item.quote_line.escalation_fraction_per_year:
        caption = Caption(label=f"{_label(item)}, price rise", unit="per year")
        rise = Range(likely=item.quote_line.escalation_fraction_per_year)
        escalation = context.book.add(item.input_keys("escalation"), rise, caption, _source(item))
    return monthly(start, end, escalation)


def _after(context: Context, item: QuotedLine, start: Anchor, months: Decimal) -> Anchor:
    """`months` after the start, but not after the end of the phase."""
    begin = _month_of(context, item.facts, start)
    stop: Factor = {"sum": [begin, const(months, "months of the term")]}
    last = end_month(context, item.facts)
    return anchor("month", month="0", offset={"min": [stop, last]})


def _month_of(context: Context, facts: PhaseFacts, at: Anchor) -> Factor:
    if at["event"] == "ready":
        return ready_month(context, facts.phase)
    if at["event"] == "delivery":
        return ready_month(context, facts.phase, accepted=False)
    return const(at["month"] or 0)


def end_month(context: Context, facts: PhaseFacts) -> Factor:
    """The month in which a phase ends, as a factor."""
    if facts.end["event"] == "ready":
        others = {f"{facts.option.letter}.{n}": phase for n, phase in enumerate(_in_order(facts), start=1)}
        return ready_month(context, others[facts.end["phase"]])
    if facts.end["event"] == "month":
        return facts.end["offset_months"] or const(facts.end["month"])
    return const(context.assessment.horizon_months, "months of the horizon")


def _in_order(facts: PhaseFacts) -> list[Any]:
    return sorted(facts.option.phases.all(), key=lambda phase: phase.position)
