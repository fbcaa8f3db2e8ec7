"""From an imported quote to an option of the assessment: what the quote suggests, and the rows that are made."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from string import ascii_uppercase
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.assessments.models import Assessment, EvidenceAnswer, Option, OptionPhase
from apps.assessments.services import add_phase, answer_evidence, create_option
from apps.racks.models import RackConfiguration
from apps.racks.services import create_configuration
from apps.racks.templates import TEMPLATES
from apps.vendors.models import LineKind, QuoteLine, QuoteVersion
from apps.vendors.selectors import quote_lines_of
from apps.web.quote_facts import (
    Left,
    QuotedFact,
    bought,
    not_in_the_quote,
    per_node_of,
    quoted_facts,
    rented,
    sheet_per_node,
    source_entry,
    value_of,
    version_text,
)
from apps.web.quote_statements import Answer, answers_of, statements_of

Template = RackConfiguration.Template
USUAL_PER_NODE = 8


@dataclass(frozen=True)
class Completeness:
    """How many of the facts that a comparison needs a quote gives, and which it does not."""

    n_given: int
    n_asked: int
    missing: tuple[str, ...]

    @property
    def segments(self) -> list[tuple[str, int]]:
        return [("done", self.n_given), ("track", self.n_asked - self.n_given)]


def completeness(version: QuoteVersion, lines: Sequence[QuoteLine]) -> Completeness:
    """Check a version against the facts that cost, schedule and the fabric audit rest on."""
    cloud = any(line.kind == LineKind.CLOUD for line in lines)
    unpriced = [line for line in lines if line.unit_price_likely is None and not line.included]
    fabric = version.fabric or {}
    facts: list[tuple[Any, Any]] = [
        (_("a price on every line"), not unpriced and bool(lines)),
        (_("date"), version.date),
        (_("valid until"), version.valid_until),
        (_("tax excluded or not"), version.tax_excluded is not None),
        (_("lead time"), version.lead_weeks_likely is not None),
        (_("delivery commitment"), version.delivery_commitment),
        (_("acceptance"), version.acceptance_weeks is not None),
        (_("payment"), version.payment_milestones or cloud),
        (_("term") if cloud else _("warranty"), version.term_months if cloud else version.warranty_months),
        (_("NICs per node"), value_of(fabric, "nics_per_node")),
        (_("NIC speed"), value_of(fabric, "nic_gbit_per_s")),
        (_("topology"), value_of(fabric, "topology")),
        (_("oversubscription"), value_of(fabric, "oversubscription")),
    ]
    missing = tuple(str(label) for label, value in facts if not value)
    return Completeness(len(facts) - len(missing), len(facts), missing)


# First values --------------------------------------------------------------------------------------------------------
def next_letter(taken: set[str]) -> str:
    """The first free letter, so that options are lettered in the order of their import."""
    used = {letter.upper() for letter in taken}
    return next((letter for letter in ascii_uppercase if letter not in used), "")


def kind_guess(version: QuoteVersion, lines: Sequence[QuoteLine]) -> tuple[str, str]:
    """What kind of configuration a quote seems to offer, and the words that it is guessed from; both empty if none."""
    hours = rented(lines)
    if hours:
        words = " ".join(line.description for line in hours)
        if re.search(r"on.?demand|\bspot\b", words, re.IGNORECASE):
            return str(Template.CLOUD_ON_DEMAND), _("GPU-hours on demand")
        return str(Template.CLOUD_RESERVED), _("GPU-hours, and no line says on demand")
    nodes = bought(lines)
    return _kind_of_nodes(version, lines, nodes) if nodes else ("", "")


def _kind_of_nodes(version: QuoteVersion, lines: Sequence[QuoteLine], nodes: Sequence[QuoteLine]) -> tuple[str, str]:
    words = " ".join(line.description for line in nodes)
    if re.search(r"\bNVL\d{2,}|rack.?scale", words, re.IGNORECASE):
        return str(Template.RACK_SCALE), _("bought, and a compute line says that a rack is one unit")
    if re.search(r"\bDGX\b", words, re.IGNORECASE):
        return str(Template.DGX_CLASS), _("bought, and a compute line says DGX")
    infiniband = any(re.search(r"infiniband", line.description, re.IGNORECASE) for line in lines)
    if infiniband or value_of(version.fabric or {}, "fabric_kind") == "infiniband":
        return str(Template.DGX_CLASS), _("bought, with an InfiniBand fabric")
    return str(Template.DISAGGREGATED), _("bought, and neither DGX nor InfiniBand is named")


def suggestion(version: QuoteVersion, lines: Sequence[QuoteLine], taken: set[str]) -> dict[str, Any]:
    """First values for the form that makes an option of a quote, read from the quote where it says them."""
    facts, _left = quoted_facts(version, lines)
    given = {name: value for fact in facts for name, value in fact.values.items()}
    template, _why = kind_guess(version, lines)
    usual = TEMPLATES[template].defaults.get("accelerators_per_node") if template else None
    per_node = given.get("accelerators_per_node") or usual or USUAL_PER_NODE
    nodes = bought(lines)
    total = given.get("n_accelerators")
    if total is None and len(nodes) == 1 and "node" in nodes[0].unit.casefold():
        number = nodes[0].quantity * Decimal(str(per_node))
        total = int(number) if number == int(number) else None
    return {
        "letter": next_letter(taken),
        "name": version.quote.vendor.name,
        "template": template,
        "n_accelerators": total,
        "accelerators_per_node": per_node,
        "facility": "none" if rented(lines) else "colocation",
        "it_load_kw_likely": given.get("it_load_kw_likely"),
    }


def guesses(version: QuoteVersion, lines: Sequence[QuoteLine]) -> list[str]:
    """What of the first values is not in the quote, in words."""
    template, why = kind_guess(version, lines)
    found = []
    if template:
        label = TEMPLATES[template].label
        found.append(_("“%(kind)s” is a guess from the lines: %(why)s.") % {"kind": label, "why": why})
    if sheet_per_node(version) is None and not any(per_node_of(line) for line in (rented(lines) or bought(lines))):
        found.append(_("Accelerators per node are not in the lines; the usual number is entered."))
    return found


# The option ----------------------------------------------------------------------------------------------------------
@transaction.atomic
def option_from_quote(*, by: User, assessment: Assessment, version: QuoteVersion, values: dict[str, Any]) -> Option:
    """Make a configuration with the facts of the quote, an option with its evidence, and its phase under the version.

    Raises `InputError` or `ValidationError` for what cannot be, and then makes nothing.
    """
    letter, name = values["letter"], values["name"]
    lines = list(quote_lines_of(version))
    configuration = create_configuration(
        by=by,
        client=assessment.client,
        assessment_id=assessment.pk,
        template=values["template"],
        name=f"{letter} {name}"[:200],
        values=_configured(version, lines, values),
    )
    option = create_option(
        by=by, assessment=assessment, letter=letter, name=name, values={"facility": values["facility"]}
    )
    add_phase(by=by, option=option, configuration=configuration, quote_version=version)
    for answer in answers_of(version, lines):
        answer_evidence(by=by, option=option, question=answer.question, level=answer.level, note=answer.note)
    return option


def _configured(version: QuoteVersion, lines: Sequence[QuoteLine], values: dict[str, Any]) -> dict[str, Any]:
    """The fields of the configuration: usual values, then the quote's, then what was typed, with the sources.

    A typed value that differs from the quote's does not stand in the quote, so it has no source there.
    """
    facts, _left = quoted_facts(version, lines)
    given: dict[str, Any] = dict(TEMPLATES[values["template"]].defaults)
    sources = {}
    for fact in facts:
        typed = {name: values[name] for name in fact.values if name in values}
        if any(value is None or value != fact.values[name] for name, value in typed.items()):
            continue
        given |= fact.values
        sources[fact.name] = source_entry(version, fact)
    for name in ("n_accelerators", "accelerators_per_node", "it_load_kw_likely"):
        if values.get(name) is not None:
            given[name] = values[name]
    return {**given, "sources": sources}


def option_of_version(assessment: Assessment, version: QuoteVersion, letter: str) -> Option | None:
    """The option that an earlier click on the same button has made."""
    phase = (
        OptionPhase.objects.of_client(assessment.client)
        .filter(option__assessment=assessment, option__letter=letter, quote_version=version)
        .select_related("option")
        .first()
    )
    return phase.option if phase else None


# What was taken over -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class TakenFact:
    fact: QuotedFact
    taken: bool  # stands in a configuration under this version with the quote as its source


@dataclass(frozen=True, kw_only=True)
class TakenAnswer:
    answer: Answer
    taken: bool


@dataclass(frozen=True, kw_only=True)
class Takeover:
    """What the quote gives for an option, whether it has been taken over, and what cannot be."""

    facts: list[TakenFact]
    answers: list[TakenAnswer]
    left: list[Left]
    missing: list[str]


def takeover(version: QuoteVersion, lines: Sequence[QuoteLine], used: Sequence[OptionPhase]) -> Takeover:
    """`used` are the phases under this version; without any the list tells what an option would take over."""
    facts, left = quoted_facts(version, lines)
    answers = answers_of(version, lines)
    text = version_text(version)
    stored = EvidenceAnswer.objects.of_client(version.client).filter(option__in={phase.option_id for phase in used})
    notes = {(answer.question, answer.level): answer.note for answer in stored} if used else {}
    answered = {one.question for one in answers}
    unmatched = [
        Left(
            about=f"{one.topic}: {one.statement}" if one.topic else one.statement,
            reason=_("Its topic is none of the three questions; it stays listed with the option."),
            ref=one.ref,
        )
        for one in statements_of(version)
        if one.question is None and not any(one.statement == fact.statement for fact in facts)
    ]
    missing = not_in_the_quote(facts, cloud=bool(rented(lines)))
    missing += [_("an answer to question %d") % number for number in (1, 2, 3) if number not in answered]
    return Takeover(
        facts=[TakenFact(fact=fact, taken=_is_taken(fact, text, used)) for fact in facts],
        answers=[TakenAnswer(answer=one, taken=text in notes.get((one.question, one.level), "")) for one in answers],
        left=[*left, *unmatched],
        missing=missing,
    )


def _is_taken(fact: QuotedFact, text: str, used: Sequence[OptionPhase]) -> bool:
    sources = [phase.configuration.sources.get(fact.name) or {} for phase in used]
    return any(str(source.get("source", "")).startswith(text) for source in sources)
