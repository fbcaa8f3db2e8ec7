"""The roadmap of an assessment as quarter lanes and as a table, and models of the catalogue as new items."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.assessments.models import Assessment
from apps.catalogue.models import CatalogueValue
from apps.catalogue.selectors import Item
from apps.reports import figures
from apps.workloads.models import RoadmapItem

QUARTERS = 12
DAYS_PER_QUARTER = 91  # 13 weeks
QUARTERS_IN_18_MONTHS = 6
Architecture = RoadmapItem.Architecture
MOE = (Architecture.MOE, Architecture.HYBRID_MOE)
HYBRID = (Architecture.HYBRID, Architecture.HYBRID_MOE)

# What later figures need of every item, of one with experts, and of one with windows; named when it is not given.
NEEDED: tuple[tuple[str, Promise], ...] = (
    ("workload_class", gettext_lazy("class")),
    ("architecture", gettext_lazy("architecture")),
    ("parameters_billion", gettext_lazy("parameters")),
    ("layers", gettext_lazy("layers")),
    ("hidden_size", gettext_lazy("hidden size")),
    ("tokens_per_experiment_billion", gettext_lazy("tokens per experiment")),
    ("experiments_per_week", gettext_lazy("experiments a week")),
    ("decisions", gettext_lazy("decision points")),
    ("source", gettext_lazy("source")),
    ("architect_confirmed_on", gettext_lazy("confirmation by an architect")),
)
NEEDED_WITH_EXPERTS: tuple[tuple[str, Promise], ...] = (
    ("active_parameters_billion", gettext_lazy("active parameters")),
    ("experts", gettext_lazy("experts")),
    ("top_k", gettext_lazy("experts per token")),
    ("ep_degree", gettext_lazy("expert parallel degree")),
)
NEEDED_WITH_WINDOWS: tuple[tuple[str, Promise], ...] = (
    ("full_to_window", gettext_lazy("full to window layers")),
    ("window_tokens", gettext_lazy("window")),
)


@dataclass(frozen=True, kw_only=True)
class Quarter:
    """One column of the lanes: +3, and the month in which it begins when the signature is dated."""

    number: int
    begins: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One item as the table and its bar show it."""

    item: RoadmapItem
    quarters: str
    parameters: str
    architecture: str
    details: str
    tokens: str
    per_week: str
    decisions: str
    final_run: str
    confirmed: str
    missing: tuple[str, ...]

    @property
    def span(self) -> int:
        return self.item.last_quarter - self.item.first_quarter + 1

    @property
    def class_words(self) -> str:
        return str(self.item.get_workload_class_display())

    @property
    def bar_words(self) -> str:
        """What stands under the name in a bar."""
        parts = [self.architecture, self.parameters if self.item.parameters_billion is not None else ""]
        if self.item.experiments_per_week is not None:
            parts.append(_("%s a week") % self.per_week)
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A stretch of one lane: a bar, or free quarters."""

    span: int
    row: Row | None


@dataclass(frozen=True, kw_only=True)
class Lane:
    """One line of bars that do not overlap; the first lane of a class bears its name."""

    label: str
    n_lanes: int
    pieces: list[Piece]


def quarters(assessment: Assessment, items: Sequence[RoadmapItem]) -> list[Quarter]:
    """+0 to +11, and more when an item reaches further."""
    count = max([QUARTERS, *(item.last_quarter + 1 for item in items)])
    start = assessment.signature_date
    return [
        Quarter(number=n, begins=_month(start + dt.timedelta(days=DAYS_PER_QUARTER * n)) if start else "")
        for n in range(count)
    ]


def _month(day: dt.date) -> str:
    return figures.day(day).split(figures.NBSP, 1)[1]


def item_rows(items: Iterable[RoadmapItem]) -> list[Row]:
    return [_row(item) for item in items]


def _row(item: RoadmapItem) -> Row:
    first, last = item.first_quarter, item.last_quarter
    return Row(
        item=item,
        quarters=f"+{first}" if first == last else _("+%(first)d to +%(last)d") % {"first": first, "last": last},
        parameters=_parameters(item),
        architecture=str(item.get_architecture_display()),
        details=_details(item),
        tokens=_billions(item.tokens_per_experiment_billion),
        per_week=figures.plain(item.experiments_per_week),
        decisions=figures.plain(item.decisions),
        final_run=_billions(item.final_run_tokens_billion),
        confirmed=figures.day(item.architect_confirmed_on),
        missing=missing(item),
    )


def _billions(value: Decimal | None) -> str:
    """40 B, or 1.0 T from a thousand billion up."""
    if value is None:
        return figures.not_given()
    if value >= 1000:
        return figures.fixed(value / 1000, 1) + figures.NBSP + "T"
    return figures.plain(value) + figures.NBSP + "B"


def _parameters(item: RoadmapItem) -> str:
    if item.parameters_billion is None:
        return figures.not_given()
    total = _billions(item.parameters_billion)
    if item.active_parameters_billion is None:
        return total
    return _("%(total)s, %(active)s active") % {"total": total, "active": _billions(item.active_parameters_billion)}


def _details(item: RoadmapItem) -> str:
    """Shape and parallelism, as far as they are given."""
    named = (
        (item.layers, _("%s layers")),
        (item.hidden_size, _("hidden %s")),
        (item.experts, _("%s experts")),
        (item.top_k, _("top-%s")),
        (item.full_to_window, _("full to window %s")),
        (item.window_tokens, _("window %s")),
        (item.ep_degree, "EP %s"),
        (item.tp_degree, "TP %s"),
        (item.pp_degree, "PP %s"),
        (item.dp_degree, "DP %s"),
    )
    given = [(value, words) for value, words in named if value not in (None, "")]
    return ", ".join(words % (value if isinstance(value, str) else figures.plain(value)) for value, words in given)


def missing(item: RoadmapItem) -> tuple[str, ...]:
    """The facts that the item lacks, in words."""
    needed = list(NEEDED)
    if item.architecture in MOE:
        needed += NEEDED_WITH_EXPERTS
    if item.architecture in HYBRID:
        needed += NEEDED_WITH_WINDOWS
    return tuple(str(words) for name, words in needed if getattr(item, name) in (None, ""))


def lanes(rows: Sequence[Row], n_quarters: int) -> list[Lane]:
    """The bars by class, each class in as few lines as its overlaps allow."""
    found: list[Lane] = []
    classes: list[tuple[str, str]] = [(str(name), str(label)) for name, label in RoadmapItem.WorkloadClass.choices]
    for name, label in [*classes, ("", _("class not given"))]:
        lines: list[list[Row]] = []
        for row in (row for row in rows if row.item.workload_class == name):
            free = next((line for line in lines if line[-1].item.last_quarter < row.item.first_quarter), None)
            if free is None:
                lines.append([row])
            else:
                free.append(row)
        found += [
            Lane(label=label if i == 0 else "", n_lanes=len(lines), pieces=_pieces(line, n_quarters))
            for i, line in enumerate(lines)
        ]
    return found


def _pieces(line: Sequence[Row], n_quarters: int) -> list[Piece]:
    pieces, at = [], 0
    for row in line:
        pieces += [Piece(span=1, row=None) for _quarter in range(at, row.item.first_quarter)]
        pieces.append(Piece(span=row.span, row=row))
        at = row.item.last_quarter + 1
    return pieces + [Piece(span=1, row=None) for _quarter in range(at, n_quarters)]


def finding(assessment: Assessment, rows: Sequence[Row]) -> tuple[str, str]:
    """Heading and deck: how far the roadmap reaches, when experts come, and how complete it is."""
    if not rows:
        return _("Roadmap"), _(
            "No item yet. Fit, experiments a week and the ship date need to know what is trained when."
        )
    last = max(row.item.last_quarter for row in rows)
    first_moe = min((row.item.first_quarter for row in rows if row.item.architecture in MOE), default=None)
    heading = ngettext("%(n)d item to quarter +%(last)d", "%(n)d items to quarter +%(last)d", len(rows)) % {
        "n": len(rows),
        "last": last,
    }
    heading += _(", no MoE") if first_moe is None else _(", the first MoE in +%d") % first_moe
    gaps = sum(1 for row in rows if row.missing)
    unconfirmed = sum(1 for row in rows if row.item.architect_confirmed_on is None)
    deck = [
        ngettext("%d item lacks facts, named below.", "%d items lack facts, named below.", gaps) % gaps
        if gaps
        else _("Every item has the facts that fit and speed will need.")
    ]
    deck.append(
        ngettext("%d waits for an architect.", "%d wait for an architect.", unconfirmed) % unconfirmed
        if unconfirmed
        else _("An architect has confirmed all of them.")
    )
    return heading, " ".join(deck)


@dataclass(frozen=True, kw_only=True)
class MoeAnswer:
    """The answer to the question of rule W3, and whether the roadmap says the same."""

    answer: bool | None
    words: str
    conflict: str


def moe_answer(assessment: Assessment, rows: Sequence[Row]) -> MoeAnswer:
    """What was answered on the start page, beside what the items say."""
    answer = assessment.moe_within_18_months
    early = [
        row.item.name for row in rows if row.item.architecture in MOE and row.item.first_quarter < QUARTERS_IN_18_MONTHS
    ]
    conflict = ""
    if answer is False and early:
        conflict = _("The roadmap says otherwise: %s.") % figures.joined(early)
    elif answer is True and rows and not early:
        conflict = _("The roadmap holds no MoE that begins before quarter +6.")
    return MoeAnswer(
        answer=answer, words={True: _("Yes"), False: _("No"), None: _("not answered")}[answer], conflict=conflict
    )


def csv_rows(rows: Sequence[Row]) -> list[list[str]]:
    """The table of items as shown."""
    head = [_("Quarter"), _("Item"), _("Class"), _("Parameters"), _("Architecture"), _("Shape and parallelism")]
    head += [_("Tokens per experiment"), _("Experiments a week"), _("Decisions"), _("Tokens of the final run")]
    head += [_("Confirmed by an architect"), _("Missing"), _("Revenue link"), _("Source")]
    return [head, *(_csv_row(row) for row in rows)]


def _csv_row(row: Row) -> list[str]:
    item = row.item
    cells = [row.quarters, item.name, row.class_words or figures.not_given(), row.parameters]
    cells += [row.architecture or figures.not_given(), row.details, row.tokens, row.per_week, row.decisions]
    confirmed = row.confirmed if item.architect_confirmed_on else figures.not_given()
    return [*cells, row.final_run, confirmed, ", ".join(row.missing), item.revenue_link, item.source]


# presets --------------------------------------------------------------------------------------------------------------
PRESET_FIELDS: dict[str, str] = {
    "parameters_billion": "params_b",
    "active_parameters_billion": "active_params_b",
    "layers": "layers",
    "hidden_size": "hidden",
    "experts": "experts",
    "top_k": "experts_per_token",
    "window_tokens": "window",
    "full_to_window": "full_to_sliding",
}
SOURCE_LETTERS = RoadmapItem._meta.get_field("source").max_length or 300


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A model of the catalogue as the beginning of an item."""

    name: str
    values: dict[str, Any]
    source: str
    recalled: tuple[str, ...]  # captions of figures that are to be confirmed


def preset(item: Item) -> Preset:
    """The shape of a model as fields of an item, with its source; recalled figures are named."""
    values: dict[str, Any] = {"name": item.name, "workload_class": RoadmapItem.WorkloadClass.TRAINING}
    used = {name: item.figures[figure] for name, figure in PRESET_FIELDS.items() if figure in item.figures}
    values |= {name: figure.value for name, figure in used.items()}
    values["architecture"] = _architecture(values, item)
    if values["architecture"] not in MOE:  # in a dense model every parameter is active
        values.pop("active_parameters_billion", None)
        used.pop("active_parameters_billion", None)
    recalled = tuple(f.label.lower() for f in used.values() if f.basis == CatalogueValue.Basis.MEMORY)
    sources = list(dict.fromkeys(f"{f.source} {f.as_of}".strip() for f in used.values()))
    source = _("Catalogue, %(name)s: %(sources)s") % {"name": item.name, "sources": "; ".join(sources)}
    if recalled:
        source += " " + _("(recalled, to be confirmed: %s)") % ", ".join(recalled)
    values["source"] = source[:SOURCE_LETTERS]
    return Preset(name=item.name, values=values, source=source, recalled=recalled)


def _architecture(values: dict[str, Any], item: Item) -> str:
    """Experts and a mixture of full and window layers decide; the catalogue's own word where they say nothing."""
    word = item.figures["architecture"].value if "architecture" in item.figures else ""
    experts = bool(values.get("experts")) or word == "moe"
    full, _colon, window = str(values.get("full_to_window", "")).partition(":")
    mixed = word == "hybrid" or (full not in ("", "0") and window not in ("", "0"))
    if experts:
        return str(Architecture.HYBRID_MOE if mixed else Architecture.MOE)
    return str(Architecture.HYBRID if mixed else Architecture.DENSE)
