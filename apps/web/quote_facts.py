"""What a quote says of a configuration, each fact with its place in the quote and how far it is supported."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.intake.parsing.fields import PER_NODE_NAMES
from apps.racks.templates import CHOICES
from apps.vendors.models import EvidenceLevel, LineKind, QuoteLine, QuoteVersion
from apps.web.forms.configuration import RANGES, label_of, unit_of

FABRIC_TEXTS: Final = ("topology", "leaf_placement", "fabric_kind", "congestion_plan", "tenancy")
FABRIC_NUMBERS: Final = ("nics_per_node", "nic_gbit_per_s", "oversubscription")
FRACTIONS: Final = ("fabric_efficiency", "availability", "goodput", "slowdown")
LONGEST_SOURCE: Final = 300  # as long as the form of a configuration takes
ENDS: Final = ("low", "likely", "high")
# Words of a claim's topic -> the fact that its statement may hold a number for.
FACT_TOPICS: Final = (
    ("goodput", "goodput"),
    ("slowdown", "slowdown"),
    ("availability", "availability"),
    ("uptime", "availability"),
)
_HEDGED = re.compile(r"\b(up to|at most|less than|no more|below|not|never)\b", re.IGNORECASE)
_SHARE = re.compile(
    r"(?<![\d.,])(\d+(?:[.,]\d+)?)\s*(%|percent|per cent)|(?<![\d.,])(0[.,]\d+)(?![.,]?\d)", re.IGNORECASE
)
_OF_THEORY = re.compile(
    r"\s*of (the |its )?(theoretical|peak|nominal|line[- ]rate|full|ideal|maximum|bisection)", re.IGNORECASE
)
_PER_NODE = re.compile(
    r"(?<![\w.,])(\d{1,3})(?:\s*[x×]\s*(?=(?:nvidia |amd |intel )?(?:[abhg]b?\d{3}|mi\d{3}|gaudi|gpu))|[- ]?gpus?\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class QuotedFact:
    """One fact of a configuration: the columns it fills, and where and how well the quote says so."""

    name: str  # a column, or the base of a range
    values: dict[str, Any]
    level: str
    ref: str
    statement: str = ""  # the words that it was read from, where it is not a cell of its own

    @property
    def label(self) -> str:
        return label_of(self.name)

    @property
    def words(self) -> str:
        """The value with its unit, as it is shown."""
        shown = " / ".join(_shown(self.name, value) for value in self.values.values())
        unit = unit_of(self.name)
        return f"{shown} {unit}" if unit and not unit.startswith(_("fraction")) else shown


@dataclass(frozen=True, kw_only=True)
class Left:
    """Something that the quote says and that no configuration takes over, with the reason."""

    about: str
    reason: str
    ref: str


def version_text(version: QuoteVersion) -> str:
    return f"{version.quote.vendor.name} {version.quote.number} v{version.version}"


def value_of(facts: dict[str, Any], name: str) -> Any:
    entry = facts.get(name)
    return entry.get("value") if isinstance(entry, dict) else entry


def _ref(facts: dict[str, Any], name: str) -> str:
    entry = facts.get(name)
    return str(entry.get("ref", "")) if isinstance(entry, dict) else ""


def _number(value: Any) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _fraction(value: Any) -> Decimal | None:
    """A cell as a fraction: 0.93, or a text such as 93 % or 0,93."""
    number = _number(value)
    return share_in(str(value), of_theory=False) if number is None else number


def _shown(name: str, value: Any) -> str:
    if name in CHOICES:
        return str(CHOICES[name].get(value, value))
    return format(value.normalize(), ",f") if isinstance(value, Decimal) else str(value)


def capped(level: str) -> tuple[str, str]:
    """The level that a vendor's statement counts at, and the words to say about it, if any.

    A measurement of the buyer's own cannot come from a vendor, so it counts as a claim.
    """
    if level == EvidenceLevel.OWN_MEASUREMENT:
        return str(EvidenceLevel.CLAIM), _("The quote says own measurement; a vendor's measurement counts as a claim.")
    if level in (EvidenceLevel.THIRD_PARTY, EvidenceLevel.THIRD_PARTY_MATCHING):
        return level, _("The vendor states this level; ask for the report.")
    return level or str(EvidenceLevel.CLAIM), ""


def quoted_facts(version: QuoteVersion, lines: Sequence[QuoteLine]) -> tuple[list[QuotedFact], list[Left]]:
    """The facts of a configuration that a quote gives, and what of it could not be taken over."""
    found, left = _accelerators(version, lines)
    found += [*_fabric(version), *_load(version)]
    for facts, not_taken in (_storage(lines), _fractions(version), _stated(version)):
        known = {fact.name for fact in found}
        found += [fact for fact in facts if fact.name not in known]
        left += not_taken
    return found, left


def not_in_the_quote(facts: Iterable[QuotedFact], *, cloud: bool) -> list[str]:
    """The facts that a quote could have given for a configuration and has not, in words."""
    names = ["n_accelerators", "accelerators_per_node", *FABRIC_NUMBERS, "topology", "leaf_placement", "fabric_kind"]
    names += ["storage_tb", "storage_write_gbyte_per_s", "fabric_efficiency", "goodput"]
    names += ["slowdown"] if cloud else ["it_load_kw"]
    known = {fact.name for fact in facts}
    return [label_of(name) for name in names if name not in known]


# Lines ---------------------------------------------------------------------------------------------------------------
def per_node_of(line: QuoteLine) -> int | None:
    """Accelerators in one node as the description says, None where it does not or says two numbers."""
    said = {int(match) for match in _PER_NODE.findall(line.description)}
    return said.pop() if len(said) == 1 else None


def rented(lines: Iterable[QuoteLine]) -> list[QuoteLine]:
    """The lines of GPU-hours."""
    return [line for line in lines if line.kind == LineKind.CLOUD and line.period == QuoteLine.Period.HOUR]


def bought(lines: Iterable[QuoteLine]) -> list[QuoteLine]:
    return [line for line in lines if line.kind == LineKind.COMPUTE and not line.included]


def sheet_per_node(version: QuoteVersion) -> tuple[int, str] | None:
    """Accelerators in one node as the sheet Fabric or Terms says, and where it stands."""
    for section in (version.fabric or {}, version.terms or {}):
        for name in section:
            number = _number(value_of(section, name)) if name in PER_NODE_NAMES else None
            if number is not None and number >= 1 and number == int(number):
                return int(number), _ref(section, name)
    return None


def _accelerators(version: QuoteVersion, lines: Sequence[QuoteLine]) -> tuple[list[QuotedFact], list[Left]]:
    """Accelerators in all and in a node, as the lines say, or the sheets for lines that do not; whole numbers only."""
    hours = rented(lines)
    given = [max(hours, key=lambda one: one.quantity)] if hours else bought(lines)
    sheet = sheet_per_node(version)
    said = {line.pk: per_node_of(line) or (sheet[0] if sheet else None) for line in given}
    nodes = [line for line in given if said[line.pk]]
    numbers = {said[line.pk] for line in nodes}
    found = [_of_lines("node_type", given[0].description[:200], given)] if len(given) == 1 else []
    if hours:
        found += _whole("n_accelerators", given[0].quantity, given)
    else:
        found += _whole("n_accelerators", sum((one.quantity * (said[one.pk] or 0) for one in nodes), Decimal(0)), nodes)
    number = numbers.pop() if len(numbers) == 1 else None
    if number and any(per_node_of(line) for line in nodes):
        found += _whole("accelerators_per_node", Decimal(number), nodes)
    elif number and sheet:
        level = str(EvidenceLevel.SPECIFICATION)
        found.append(
            QuotedFact(
                name="accelerators_per_node", values={"accelerators_per_node": number}, level=level, ref=sheet[1]
            )
        )
    if sheet and any(per_node_of(line) not in (None, sheet[0]) for line in given):
        reason = _("The lines say another number of accelerators per node; theirs is taken.")
        return found, [Left(about=f"{label_of('accelerators_per_node')}: {sheet[0]}", reason=reason, ref=sheet[1])]
    return found, []


def _whole(name: str, number: Decimal, lines: Sequence[QuoteLine]) -> list[QuotedFact]:
    if number < 1 or number != int(number):
        return []
    words = "; ".join(f"{_shown('', line.quantity)} {line.unit}: {line.description}" for line in lines)
    return [_of_lines(name, int(number), lines, words)]


def _of_lines(name: str, value: Any, lines: Sequence[QuoteLine], statement: str = "") -> QuotedFact:
    """A fact that lines give counts at the weakest of their levels."""
    levels = [capped(line.evidence_level)[0] for line in lines]
    return QuotedFact(
        name=name,
        values={name: value},
        level=min(levels, key=EvidenceLevel.values.index),
        ref=", ".join(line.source_ref for line in lines if line.source_ref),
        statement=statement,
    )


def storage_lines(lines: Iterable[QuoteLine]) -> list[QuoteLine]:
    return [line for line in lines if line.kind == LineKind.STORAGE]


def _storage(lines: Sequence[QuoteLine]) -> tuple[list[QuotedFact], list[Left]]:
    """Capacity of all storage lines; the write rate where one line alone gives it, as rates do not add up."""
    sized = [line for line in storage_lines(lines) if line.capacity_tb is not None]
    writing = [line for line in storage_lines(lines) if line.write_gbyte_per_s is not None]
    found: list[QuotedFact] = []
    if sized:
        total = sum((line.capacity_tb or Decimal(0) for line in sized), Decimal(0))
        found.append(_of_lines("storage_tb", total, sized))
    if len(writing) == 1:
        found.append(_of_lines("storage_write_gbyte_per_s", writing[0].write_gbyte_per_s, writing))
    left = [
        Left(
            about=f"{line.description}: {_shown('', line.write_gbyte_per_s)} GB/s",
            reason=_("Several storage lines give a write rate; enter the one that checkpoints see."),
            ref=line.source_ref,
        )
        for line in (writing if len(writing) > 1 else [])
    ]
    return found, left


# Sheets --------------------------------------------------------------------------------------------------------------
def _fabric(version: QuoteVersion) -> list[QuotedFact]:
    fabric = version.fabric or {}
    found: list[QuotedFact] = []
    for name in FABRIC_TEXTS:
        value = value_of(fabric, name)
        if value and (name not in CHOICES or value in CHOICES[name]):
            found.append(_of_cell(name, value, fabric))
    for name in FABRIC_NUMBERS:
        number = _number(value_of(fabric, name))
        if number is not None:
            found.append(_of_cell(name, int(number) if name == "nics_per_node" else number, fabric))
    return found


def _load(version: QuoteVersion) -> list[QuotedFact]:
    terms = version.terms or {}
    found: list[QuotedFact] = []
    likely = "it_load_kw_likely" if "it_load_kw_likely" in terms else "it_load_kw"
    cells = {"it_load_kw_low": "it_load_kw_low", "it_load_kw_likely": likely, "it_load_kw_high": "it_load_kw_high"}
    given = {column: _number(value_of(terms, name)) for column, name in cells.items()}
    values = {column: number for column, number in given.items() if number is not None}
    if "it_load_kw_likely" in values and list(values.values()) == sorted(values.values()):
        found.append(QuotedFact(name="it_load_kw", values=values, **_cell(terms, likely)))
    basis = value_of(terms, "it_load_basis")
    if basis in CHOICES["it_load_basis"]:
        found.append(_of_cell("it_load_basis", basis, terms))
    return found


def _of_cell(name: str, value: Any, section: dict[str, Any]) -> QuotedFact:
    return QuotedFact(name=name, values={name: value}, **_cell(section, name))


def _cell(section: dict[str, Any], name: str) -> dict[str, str]:
    """A vendor's own sheet is a specification, not a measurement."""
    return {"level": str(EvidenceLevel.SPECIFICATION), "ref": _ref(section, name)}


def _fractions(version: QuoteVersion) -> tuple[list[QuotedFact], list[Left]]:
    """Goodput, slowdown, fabric efficiency and availability from the sheets Terms and Fabric, where they stand."""
    section = {**(version.fabric or {}), **(version.terms or {})}
    found, left = [], []
    for name in FRACTIONS:
        columns = {f"{name}_{end}": f"{name}_{end}" for end in ENDS} if name in RANGES else {name: name}
        if name in RANGES and f"{name}_likely" not in section:
            columns[f"{name}_likely"] = name
        given = {column: _fraction(value_of(section, key)) for column, key in columns.items() if key in section}
        values = {column: value for column, value in given.items() if value is not None}
        first = next((columns[column] for column in values), name)
        ordered = list(values.values()) == sorted(values.values())
        if not values:
            continue
        if all(0 <= value <= 1 for value in values.values()) and ordered and set(values) & {name, f"{name}_likely"}:
            found.append(QuotedFact(name=name, values=values, **_cell(section, first)))
        else:
            reason = _("It must be a fraction from 0 to 1, low, likely and high in rising order.")
            about = f"{label_of(name)}: {' / '.join(str(value) for value in values.values())}"
            left.append(Left(about=about, reason=reason, ref=_ref(section, first)))
    return found, left


# Claims --------------------------------------------------------------------------------------------------------------
def fact_of_topic(topic: str) -> str:
    """Which fact a claim's topic is about, empty if none; bandwidth of collectives is the efficiency of the fabric."""
    words = topic.casefold()
    named = next((name for word, name in FACT_TOPICS if word in words), "")
    return named or ("fabric_efficiency" if re.search(r"fabric|bandwidth|collective|bisection", words) else "")


def share_in(statement: str, *, of_theory: bool) -> Decimal | None:
    """The one share that a statement names, such as 0.80 or 80 %; None where it names none, several or a bound."""
    found = [match for match in _SHARE.finditer(statement) if not of_theory or _OF_THEORY.match(statement, match.end())]
    if len(found) != 1 or _HEDGED.search(statement):
        return None
    percent, _sign, plain = found[0].groups()
    number = Decimal((percent or plain).replace(",", "."))
    share = number / 100 if percent else number
    return share if 0 < share <= 1 else None


def _stated(version: QuoteVersion) -> tuple[list[QuotedFact], list[Left]]:
    """Facts that the sheet Claims gives as statements; two different numbers for one fact are both left."""
    found: dict[str, list[QuotedFact]] = {}
    for claim in version.claims or []:
        name = fact_of_topic(str(claim.get("topic", "")))
        statement = str(claim.get("statement", ""))
        share = share_in(statement, of_theory=name == "fabric_efficiency") if name else None
        if share is not None:
            column = f"{name}_likely" if name in RANGES else name
            level, _note = capped(str(claim.get("evidence_level", "")))
            ref = str(claim.get("ref", ""))
            fact = QuotedFact(name=name, values={column: share}, level=level, ref=ref, statement=statement)
            found.setdefault(name, []).append(fact)
    taken = [facts[0] for facts in found.values() if len({fact.words for fact in facts}) == 1]
    left = [
        Left(about=fact.statement, reason=_("Two statements give different values; enter the right one."), ref=fact.ref)
        for facts in found.values()
        if len({fact.words for fact in facts}) > 1
        for fact in facts
    ]
    return taken, left


def source_entry(version: QuoteVersion, fact: QuotedFact) -> dict[str, str]:
    """What `RackConfiguration.sources` keeps of a fact."""
    text = version_text(version)
    if fact.statement:
        text = f"{text}: “{fact.statement}”"
    return {
        "level": fact.level,
        "source": text if len(text) <= LONGEST_SOURCE else text[: LONGEST_SOURCE - 1] + "…",
        "ref": fact.ref,
    }
