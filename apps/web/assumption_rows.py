"""The assumptions of an assessment as a table, one of them with its history, and its exchange rates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.assumptions.models import AssumptionValue, FxRate
from apps.assumptions.selectors import ResolvedAssumption, layer_of, pick_rate
from apps.reports import figures

TOPICS: dict[str, Promise] = {
    "price": gettext_lazy("Price"),
    "schedule": gettext_lazy("Schedule"),
    "performance": gettext_lazy("Performance"),
    "demand": gettext_lazy("Demand"),
    "method": gettext_lazy("Method"),
    "rule": gettext_lazy("Thresholds of rules"),
}
STATUS_WORDS: dict[str, Promise] = {
    "accepted": gettext_lazy("accepted"),
    "memory": gettext_lazy("recalled"),
    "contested": gettext_lazy("contested"),
    "superseded": gettext_lazy("superseded"),
}
LAYER_WORDS: dict[str, Promise] = {
    "product": gettext_lazy("product"),
    "organisation": gettext_lazy("organisation"),
    "client": gettext_lazy("client"),
    "assessment": gettext_lazy("assessment"),
}


WITHDRAW_WORDS: dict[str, Promise] = {
    "organisation": gettext_lazy("Withdraw it from the organisation"),
    "client": gettext_lazy("Withdraw it from the client"),
    "assessment": gettext_lazy("Withdraw it from this assessment"),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One assumption as the screen and the file show it."""

    key: str
    label: str
    topic: str
    value: str
    range: str
    unit: str
    layer: str
    version: int
    product: str  # the product's default where another layer counts, else empty
    source: str
    source_date: str
    author: str
    status: str
    claims: tuple[str, ...]  # contested claims it rests on

    @property
    def changed(self) -> bool:
        return self.layer != "product"

    @property
    def layer_words(self) -> str:
        return str(LAYER_WORDS[self.layer])

    @property
    def status_words(self) -> str:
        return str(STATUS_WORDS.get(self.status, self.status))

    @property
    def contested(self) -> bool:
        return self.status == "contested" or bool(self.claims)


@dataclass(frozen=True, kw_only=True)
class Group:
    """The rows of one topic."""

    topic: str
    label: str
    rows: list[Row]


def value_text(value: Any) -> str:
    """What stands for the value of a stored version or a resolved one, without its range."""
    return value.text if value.text and value.likely is None else ""


def _value(value: ResolvedAssumption | AssumptionValue, unit: str) -> str:
    return value_text(value) or figures.number_in_unit(value.likely, unit)  # type: ignore[arg-type]


def _range(value: ResolvedAssumption | AssumptionValue, unit: str) -> str:
    if value.low is None and value.high is None:
        return ""
    if value.low is None or value.high is None:
        low, high = value.low, value.high
        words = _("from %s") % figures.number_in_unit(low, unit) if low is not None else ""
        return words or _("up to %s") % figures.number_in_unit(high, unit)  # type: ignore[arg-type]
    words = figures.range_text(value.low, value.high, lambda number: figures.number_in_unit(number, unit))
    # 6–14 %: one sign is enough where a dash joins the two.
    percent = figures.NARROW_NBSP + "%"
    return words.replace(percent + figures.EN_DASH, figures.EN_DASH)


def assumption_rows(
    found: Mapping[str, ResolvedAssumption],
    defaults: Mapping[str, ResolvedAssumption],
    contested: Mapping[str, Sequence[str]],
) -> list[Row]:
    """Every assumption, by topic and then in the order of its name."""
    order = list(TOPICS)
    rows = [_row(value, defaults.get(key), tuple(contested.get(key, ()))) for key, value in found.items()]
    return sorted(rows, key=lambda r: (order.index(r.topic) if r.topic in order else len(order), r.topic, r.label))


def _row(value: ResolvedAssumption, default: ResolvedAssumption | None, claims: tuple[str, ...]) -> Row:
    product = ""
    if value.layer != "product" and default is not None:
        product = _value(default, value.unit)
        if _range(default, value.unit):
            product += f" ({_range(default, value.unit)})"
    return Row(
        key=value.key,
        label=value.label,
        topic=value.topic,
        value=_value(value, value.unit),
        range=_range(value, value.unit),
        unit=figures.unit_words(value.unit),
        layer=value.layer,
        version=value.version,
        product=product,
        source=value.source,
        source_date=value.source_date,
        author=value.author_label,
        status=value.status,
        claims=claims,
    )


def filtered(rows: Iterable[Row], *, topic: str, status: str, changed: bool) -> list[Row]:
    """The rows that a reader asked for; an assumption on a contested claim counts as contested."""
    return [
        row
        for row in rows
        if topic in ("", row.topic)
        and (status in ("", row.status) or (status == "contested" and row.contested))
        and (row.changed or not changed)
    ]


def grouped(rows: Iterable[Row]) -> list[Group]:
    """The rows under the names of their topics, in the order in which they come."""
    groups: list[Group] = []
    for row in rows:
        if not groups or groups[-1].topic != row.topic:
            groups.append(Group(topic=row.topic, label=topic_words(row.topic), rows=[]))
        groups[-1].rows.append(row)
    return groups


def topic_words(topic: str) -> str:
    return str(TOPICS.get(topic, topic))


def topics_of(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """The topics that occur, for the filter."""
    present = {row.topic for row in rows}
    known = [topic for topic in TOPICS if topic in present]
    return [(topic, topic_words(topic)) for topic in [*known, *sorted(present - set(known))]]


def finding(rows: Sequence[Row]) -> tuple[str, str]:
    """Heading and deck: how many there are, and how far they can be relied on."""
    recalled = sum(1 for row in rows if row.status == "memory")
    contested = sum(1 for row in rows if row.contested)
    changed = sum(1 for row in rows if row.changed)
    heading = ngettext("%d assumption", "%d assumptions", len(rows)) % len(rows)
    doubts = []
    if recalled:
        doubts.append(_("%d recalled") % recalled)
    if contested:
        doubts.append(_("%d contested") % contested)
    heading += ", " + (figures.joined(doubts) if doubts else _("none recalled or contested"))
    own = len(rows) - changed
    deck = [
        ngettext("%d is the product's default,", "%d are the product's defaults,", own) % own,
        _("%d are set by the organisation, the client or this assessment.") % changed,
    ]
    if recalled:
        deck.append(
            _("A recalled default is used as it stands, but finance cannot sign on it until somebody sets it here.")
        )
    return heading, " ".join(deck)


def csv_rows(rows: Sequence[Row]) -> list[list[str]]:
    """The table as shown, one row an assumption."""
    head = [_("Topic"), _("Assumption"), _("Key"), _("Value"), _("Range"), _("Unit"), _("Layer"), _("Version")]
    head += [_("Product default"), _("Source"), _("As of"), _("Author"), _("Status"), _("Contested claims")]
    return [head, *(_csv_row(row) for row in rows)]


def _csv_row(row: Row) -> list[str]:
    value = [topic_words(row.topic), row.label, row.key, row.value, row.range, row.unit, row.layer_words]
    value += [str(row.version), row.product, row.source, row.source_date, row.author, row.status_words]
    return [*value, ", ".join(row.claims)]


# one assumption -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Version:
    """One stored version: what it says, who wrote it, and how it differs from the one before on its layer."""

    id: Any
    layer: str
    layer_words: str
    version: int
    value: str
    range: str
    withdrawn: bool
    counts: bool
    when: str
    author: str
    reason: str
    source: str
    source_date: str
    status_words: str
    changes: list[tuple[str, str, str]]  # what, before, after
    may_restore: bool


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """One assumption with its history and the layers that set it."""

    assumption: ResolvedAssumption
    row: Row
    versions: list[Version]
    set_layers: list[tuple[str, str]]  # layers that set the key now and that the person may write, with a command

    @property
    def topic_words(self) -> str:
        return topic_words(self.assumption.topic)


def explanation(
    assumption: ResolvedAssumption, row: Row, history: Sequence[AssumptionValue], writable: Sequence[str]
) -> Explanation:
    """`history` newest first, as the selector gives it; `writable` names the layers that the person may change."""
    newest: dict[str, AssumptionValue] = {}
    before: dict[Any, AssumptionValue] = {}
    for value in sorted(history, key=lambda value: value.version):
        layer = layer_of(value)
        if layer in newest:
            before[value.pk] = newest[layer]
        newest[layer] = value
    versions = [
        _version(value, before.get(value.pk), newest[layer_of(value)], assumption, writable) for value in history
    ]
    standing = [
        (layer, str(WITHDRAW_WORDS[layer]))
        for layer in reversed(LAYER_WORDS)
        if layer in newest and layer in writable and not newest[layer].withdrawn
    ]
    return Explanation(assumption=assumption, row=row, versions=versions, set_layers=standing)


def _version(
    value: AssumptionValue,
    before: AssumptionValue | None,
    newest: AssumptionValue,
    assumption: ResolvedAssumption,
    writable: Sequence[str],
) -> Version:
    layer, unit = layer_of(value), assumption.unit
    latest = value.pk == newest.pk
    return Version(
        id=value.pk,
        layer=layer,
        layer_words=str(LAYER_WORDS[layer]),
        version=value.version,
        value=_value(value, unit),
        range=_range(value, unit),
        withdrawn=value.withdrawn,
        counts=layer == assumption.layer and value.version == assumption.version,
        when=figures.moment(value.created_at),
        author=value.author_label,
        reason=value.reason,
        source=value.source,
        source_date=value.source_date,
        status_words=str(STATUS_WORDS.get(value.status, value.status)),
        changes=_changes(before, value, unit) if before else [],
        may_restore=layer in writable and not value.withdrawn and (not latest or newest.withdrawn),
    )


def _changes(before: AssumptionValue, after: AssumptionValue, unit: str) -> list[tuple[str, str, str]]:
    def number(value: Any) -> str:
        return figures.not_given() if value is None else figures.number_in_unit(value, unit)

    pairs = [(_(label), number(getattr(before, n)), number(getattr(after, n))) for n, label in NUMBERS]
    pairs += [(_(label), str(getattr(before, n)), str(getattr(after, n))) for n, label in TEXTS]
    pairs += [(_("status"), str(STATUS_WORDS.get(before.status)), str(STATUS_WORDS.get(after.status)))]
    if before.withdrawn != after.withdrawn:
        words = {True: _("withdrawn"), False: _("set")}
        pairs += [(_("on this layer"), words[before.withdrawn], words[after.withdrawn])]
    return [(label, old or figures.not_given(), new or figures.not_given()) for label, old, new in pairs if old != new]


NUMBERS = (("low", "low"), ("likely", "likely"), ("high", "high"))
TEXTS = (("text", "value"), ("distribution", "shape of the range"), ("source", "source"), ("source_date", "as of"))


# exchange rates -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class RateRow:
    """A rate as typed, with the inverse that is computed when it is needed."""

    direction: str
    rate: str
    range: str
    inverse: str
    date: str
    source: str
    newest: bool


def rate_rows(rates: Sequence[FxRate]) -> list[RateRow]:
    """Rates of a client; `newest` marks the one that counts for its pair from its date on."""
    return [
        RateRow(
            direction=_("1 %(base)s in %(quote)s") % {"base": row.base, "quote": row.quote},
            rate=figures.plain(row.rate),
            range="" if row.low is None and row.high is None else figures.range_text(row.low, row.high, figures.plain),
            inverse=_("1 %(quote)s = %(rate)s %(base)s")
            % {"quote": row.quote, "base": row.base, "rate": figures.significant(1 / row.rate, 5)},
            date=figures.day(row.rate_date),
            source=row.source,
            newest=_is_newest(row, rates),
        )
        for row in rates
    ]


def rate_csv_rows(rows: Sequence[RateRow]) -> list[list[str]]:
    """The rates as shown."""
    head = [_("Exchange rate"), _("Date"), _("Rate"), _("Range"), _("Inverse, computed"), _("Source")]
    return [head, *([row.direction, row.date, row.rate, row.range, row.inverse, row.source] for row in rows)]


def _is_newest(row: FxRate, rates: Sequence[FxRate]) -> bool:
    counted = pick_rate(rates, base=row.base, quote=row.quote)
    return counted is not None and not counted.inverted and counted.rate_date == row.rate_date
