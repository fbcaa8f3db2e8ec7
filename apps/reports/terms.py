"""What the options offer beside prices: delivery, topology, evidence, validity, as they stand today."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.assessments.models import Option
from apps.racks.models import RackConfiguration
from apps.reports import figures
from apps.reports.cost_run import CostOption
from apps.vendors.models import EvidenceLevel, QuoteVersion

COUNTDOWN_DAYS = 14
QUESTIONS = (1, 2, 3)


@dataclass(frozen=True)
class Validity:
    """How long a quote still holds; severity is empty, amber or red."""

    date_words: str
    days_words: str
    severity: str = ""


@dataclass(frozen=True)
class TermCell:
    """Text with its parts that are not given, or evidence levels, or a validity."""

    text: str = ""
    missing: str = ""
    levels: tuple[str, ...] = ()
    validity: Validity | None = None
    note: str = ""

    def plain(self) -> str:
        levels = ", ".join(str(EvidenceLevel(level).label) for level in self.levels)
        valid = f"{self.validity.date_words}, {self.validity.days_words}" if self.validity else ""
        return " ".join(part for part in (self.text, levels, valid, self.missing, self.note) if part)


@dataclass(frozen=True)
class TermRow:
    label: str
    cells: list[TermCell]


@dataclass(frozen=True)
class TermsTable:
    rows: list[TermRow] = field(default_factory=list)

    def csv_rows(self) -> Iterator[list[str]]:
        yield [_("Not price")]
        for row in self.rows:
            texts: list[str] = []
            for number, cell in enumerate(row.cells):
                texts += [cell.plain(), ""] if number == 0 else [cell.plain(), "", "", ""]
            yield [row.label, "", *texts]


def terms_table(options: Sequence[CostOption], stored: Mapping[str, Option], *, today: dt.date) -> TermsTable:
    """One row a term, one cell an option in the order given; options no longer stored show "not given"."""
    builders = (
        (_("Weeks to usable"), _weeks),
        (_("Delivery commitment"), _commitment),
        (_("Topology"), _topology),
        (_("Evidence Q1, Q2, Q3"), _evidence),
        (_("Valid until"), lambda option: _valid(option, today)),
    )
    rows = []
    for label, build in builders:
        found = [stored.get(option.key) for option in options]
        rows.append(TermRow(label, [build(o) if o else TermCell(missing=figures.not_given()) for o in found]))
    return TermsTable(rows)


def _version(option: Option) -> QuoteVersion | None:
    """The quote of the option's last phase: what it ends with."""
    versions = [phase.quote_version for phase in option.phases.all() if phase.quote_version]
    return versions[-1] if versions else None


def _weeks(option: Option) -> TermCell:
    version = _version(option)
    if version is None or version.lead_weeks_likely is None:
        return TermCell(missing=figures.not_given())
    text = figures.plain(version.lead_weeks_likely)
    if version.acceptance_weeks:
        text += " + " + _("%s acceptance") % figures.plain(version.acceptance_weeks)
    low, high = version.lead_weeks_low, version.lead_weeks_high
    note = f"({figures.range_text(low, high, figures.plain)})" if low is not None and high is not None else ""
    return TermCell(text, note=note)


def _commitment(option: Option) -> TermCell:
    version = _version(option)
    words = {"none": _("none"), "written": _("in writing"), "penalty": _("in writing, with a penalty")}
    text = words.get(version.delivery_commitment if version else "", "")
    return TermCell(text) if text else TermCell(missing=figures.not_given())


def _topology(option: Option) -> TermCell:
    phases = list(option.phases.all())
    if not phases:
        return TermCell(missing=figures.not_given())
    return _topology_of(phases[-1].configuration)


def _topology_of(configuration: RackConfiguration) -> TermCell:
    topologies = {"two_tier": _("two-tier"), "three_tier": _("three-tier"), "flat": _("flat")}
    placements = {"per_rack": _("leaf per rack"), "per_rail": _("leaf per rail")}
    fabrics = {"infiniband": "InfiniBand", "roce": "RoCE", "ethernet": "Ethernet", "other": _("other fabric")}
    ratio = configuration.oversubscription
    first = topologies.get(configuration.topology, "")
    if first and ratio is not None:
        first += f" {figures.plain(ratio)}:1"
    parts = [first, placements.get(configuration.leaf_placement, ""), fabrics.get(configuration.fabric_kind, "")]
    text = ", ".join(part for part in parts if part)
    unknown = [] if first else [_("topology")]
    unknown += [] if ratio is not None else [_("oversubscription")]
    missing = f"{figures.joined(unknown)} {figures.not_given()}" if unknown else ""
    return TermCell(text + ("," if text and missing else ""), missing=missing)


def _evidence(option: Option) -> TermCell:
    return TermCell(levels=tuple(evidence_levels(option)))


def evidence_levels(option: Option) -> list[str]:
    """The level of each of the three questions before signature; none where nobody has answered."""
    answered = {answer.question: answer.level for answer in option.evidence.all()}
    return [str(answered.get(question, EvidenceLevel.NONE)) for question in QUESTIONS]


def _valid(option: Option, today: dt.date) -> TermCell:
    version = _version(option)
    if version is None or version.valid_until is None:
        return TermCell(missing=figures.not_given())
    term = ""
    if version.term_months:
        term = _("%s months") % version.term_months + (f", {_('renewable')}" if version.renewable else "")
    return TermCell(validity=validity(version.valid_until, today), note=term)


def quote_validity(option: Option, today: dt.date) -> Validity | None:
    """The validity of the quote that runs out first, `valid_until` of an annotated option."""
    until = getattr(option, "valid_until", None)
    return validity(until, today) if until else None


def validity(until: dt.date, today: dt.date) -> Validity:
    days = (until - today).days
    if days < 0:
        return Validity(figures.day(until), _("expired"), "red")
    words = _("1 day") if days == 1 else f"{days}{figures.NBSP}" + _("days")
    return Validity(figures.day(until), words, "amber" if days <= COUNTDOWN_DAYS else "")
