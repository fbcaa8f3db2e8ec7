"""What stands once in a quote: the sheets Quote, Terms and Fabric, and pairs of label and value above the lines."""

import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from apps.intake.parsing import numbers, units, values
from apps.intake.parsing.fields import PER_NODE_NAMES, QUOTE_FIELDS, Field
from apps.intake.parsing.mapping import CERTAIN, match, normal
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import EMPTY, Cell, Table
from apps.intake.parsing.values import Style

_MILESTONE = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*%\s*(?:@|at|on|bei|à|upon|with)?\s*(signature|order|delivery|acceptance)"
    r"(?:\s*\+\s*(\d+(?:[.,]\d+)?)\s*weeks?)?",
    re.IGNORECASE,
)
_RATIO = re.compile(r"(\d+(?:[.,]\d+)?)\s*:\s*1")
_WHOLE = ("term_months", "warranty_months", "payment_days", "nics_per_node")
# Characters that the database has for a text of the quote; all others go into its collected terms.
_CHARACTERS = {"quote_number": 100, "vendor": 200, "incoterm": 40}
_NAMED = 20  # labels of one message
_SUFFIXES = ("low", "likely", "high")
_ANCHORS = {"order": "signature"}


@dataclass(slots=True)
class Fact:
    """A label and its value where they stand."""

    name: str  # field, or the label's own words for a fact that has no field
    section: str
    at: At
    cell: Cell
    definition: Field | None


@dataclass(slots=True)
class Facts:
    """The quote-level result: {field: {"value", "ref"}} of each section."""

    quote: dict[str, dict[str, Any]] = field(default_factory=dict)
    terms: dict[str, dict[str, Any]] = field(default_factory=dict)
    fabric: dict[str, dict[str, Any]] = field(default_factory=dict)
    places: dict[str, At] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        for section in (self.quote, self.terms, self.fabric):
            if name in section:
                return section[name]["value"]
        return None


def of_sheet(table: Table, section: str) -> list[Fact]:
    """The facts of a sheet of labels and values."""
    facts = []
    for row in sorted(table.rows):
        cells = table.rows[row]
        columns = sorted(column for column, cell in cells.items() if cell.kind != "empty")
        if not columns or cells[columns[0]].kind != "text" or (columns[0] > 3):
            continue
        label = cells[columns[0]].text
        if normal(label) in ("field", "term", "feld", "name", "label", "champ") and row == min(table.rows):
            continue
        column = columns[0] + 1
        facts.append(_fact(label, section, At(table, row, column), cells.get(column, EMPTY)))
    return facts


def above_lines(table: Table, header_row: int) -> list[Fact]:
    """Labels and values that a vendor wrote above the lines, where the label is surely one of ours."""
    facts = []
    for row in sorted(r for r in table.rows if r < header_row):
        columns = [column for column, cell in sorted(table.rows[row].items()) if cell.kind != "empty"]
        for index, column in enumerate(columns):
            cell = table.cell(row, column)
            if cell.kind != "text":
                continue
            label, _, inline = cell.text.partition(":")
            name, score = match(label, "quote", loosely=False)
            if name is None or score < CERTAIN:
                continue
            if inline.strip():
                at = At(table, row, column, name)
                facts.append(
                    Fact(name, QUOTE_FIELDS[name].section, at, Cell("text", inline.strip()), QUOTE_FIELDS[name])
                )
            elif index + 1 < len(columns):
                right = columns[index + 1]
                facts.append(_fact(label, "quote", At(table, row, right), table.cell(row, right)))
    return facts


def _fact(label: str, section: str, at: At, cell: Cell) -> Fact:
    name, score = match(label, "quote", loosely=False)
    suffix = normal(label).rpartition(" ")[2]
    if normal(label).startswith("it load kw") and suffix in _SUFFIXES:
        definition = QUOTE_FIELDS["it_load_kw"]
        return Fact(
            f"it_load_kw_{suffix}", "terms", At(at.table, at.row, at.column, f"it_load_kw_{suffix}"), cell, definition
        )
    if re.fullmatch(r"payment(?: milestone)? \d{1,2}", normal(label)):
        name, score = "payment_milestones", 1.0
    if name is not None and score >= CERTAIN:
        definition = QUOTE_FIELDS[name]
        return Fact(name, definition.section, At(at.table, at.row, at.column, name), cell, definition)
    own = re.sub(r"\W+", "_", normal(label))[:60].strip("_")
    return Fact(own, section, At(at.table, at.row, at.column, own), cell, None)


def interpret(facts: list[Fact], style: Style, report: Report, *, epoch_1904: bool) -> Facts:
    """Return the values of all facts; empty ones are not given and left out."""
    result = Facts()
    for fact in facts:
        if fact.cell.kind == "empty":
            continue
        section = getattr(result, fact.section)
        value = _value(fact, style, report, epoch_1904=epoch_1904)
        if value is None:
            continue
        if fact.name == "payment_milestones" and fact.name in section:
            section[fact.name]["value"] += value
        elif fact.name in section and section[fact.name]["value"] != value:
            report.error(
                fact.at,
                f"{fact.name} is “{fact.cell.text}” here and “{section[fact.name]['value']}” in "
                f"{section[fact.name]['ref']}; it must be given once.",
                found=fact.cell.text,
            )
        else:
            section[fact.name] = {"value": value, "ref": fact.at.ref}
            result.places[fact.name] = fact.at
    _check_milestones(result, report)
    _check_order(result, report)
    return result


def per_node(facts: Facts) -> tuple[str, str] | None:
    """How many accelerators a node has, as the sheets of terms and fabric say, and where that stands."""
    for section in (facts.fabric, facts.terms):
        for name, entry in section.items():
            if name in PER_NODE_NAMES:
                return str(entry["value"]), entry["ref"]
    return None


def name_kept(found: list[Fact], facts: Facts, report: Report) -> None:
    """Name the labels that are none of ours: they are kept as evidence and change no number."""
    kept = [
        f"{fact.name} ({fact.at.ref})"
        for fact in found
        if fact.definition is None
        and fact.name not in PER_NODE_NAMES  # proposed for the configuration
        and fact.name in {**facts.terms, **facts.fabric}
    ]
    if kept:
        more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
        report.info(None, f"Kept, not used in numbers: {', '.join(kept[:_NAMED])}{more}.")


def _value(fact: Fact, style: Style, report: Report, *, epoch_1904: bool) -> Any:  # noqa: PLR0911
    at, cell, definition = fact.at, fact.cell, fact.definition
    if cell.kind == "error":
        report.must_be(at, cell.text, "a value, not an error")
        return None
    if definition is None or definition.kind == "text":
        if cell.kind == "object":
            report.must_be(at, cell.text, "a text or a number")
            return None
        text = values.text_value(cell)
        if len(text) > (most := _CHARACTERS.get(fact.name, 10_000)):
            report.must_be(at, text, f"at most {most} characters")
            return None
        return text or None
    if definition.kind == "date":
        day = values.calendar_date(at, cell, style, report, epoch_1904=epoch_1904)
        return day.isoformat() if day else None
    if definition.kind == "flag":
        return values.flag(at, cell, report)
    if definition.kind == "currency":
        return values.currency_code(at, cell, report)
    if definition.kind == "choice":
        return values.choice(at, cell, report, fact.name)
    if fact.name == "payment_milestones":
        return milestones(at, cell, report)
    if fact.name == "nic_gbit_per_s":
        return _nic_rate(at, cell, style, report)
    if fact.name == "oversubscription" and (ratio := _RATIO.fullmatch(cell.text.strip())):
        return numbers.shortest(Decimal(ratio[1].replace(",", ".")))
    return _number(at, _without_unit(cell), definition, style, report)


def _without_unit(cell: Cell) -> Cell:
    """30 weeks under a label that says weeks is 30."""
    if cell.kind == "text" and (
        found := re.fullmatch(r"([\d.,]+)\s*(weeks?|months?|days?|kW|wochen|monate|tage|w|m)", cell.text)
    ):
        return Cell("text", found[1], corrected=True)
    return cell


def _number(at: At, cell: Cell, definition: Field, style: Style, report: Report) -> str | None:
    amount = values.number(at, cell, style, report)
    if amount is None:
        return None
    if at.field in _WHOLE and amount.value != amount.value.to_integral_value():
        report.must_be(at, cell.text, "a whole number")
        return None
    return in_band(at, amount.value, definition, report)


def in_band(at: At, value: Decimal, definition: Field, report: Report) -> str | None:
    """The number as text; below the band is an error where it is 0, beyond it a question."""
    if definition.low is not None and value < Decimal(definition.low):
        report.must_be(at, numbers.shortest(value), f"a number of {definition.low} or more")
        return None
    if definition.high is not None and value > Decimal(definition.high):
        answer = report.ask(
            f"band:{at.ref}",
            about=f"{at.field} {numbers.shortest(value)}",
            cells=[at.ref],
            choices=[("keep", f"{numbers.shortest(value)} is right"), ("none", "not given")],
            suggested=None,
            reason=f"The usual range is {definition.low} to {definition.high}. Correct the cell if the unit is wrong.",
        )
        if answer == "none":
            return None
    return numbers.shortest(value)


def _nic_rate(at: At, cell: Cell, style: Style, report: Report) -> str | None:
    """A NIC's speed in Gb/s; 400 GB/s is no NIC and is asked."""
    found = units.link_rates(cell.text) if cell.kind == "text" else []
    if not found:
        bare = (
            Cell("text", cell.text.upper().removesuffix("G").strip(), corrected=True) if cell.kind == "text" else cell
        )
        return _number(at, bare, QUOTE_FIELDS["nic_gbit_per_s"], style, report)
    value = numbers.read(found[0].body, style.decimal or ".") or Decimal(0)
    chosen = link_speed(value, found[0], [at.ref], report)
    return numbers.shortest(chosen)


def link_speed(value: Decimal, found: units.Found, cells: list[str], report: Report) -> Decimal:
    """Gb/s of a link; a rate in bytes that only makes sense in bits is asked."""
    gbit = value * found.factor
    if found.factor in (1, 1000) or gbit <= units.LINK_LIMIT_GBIT_PER_S:
        return gbit
    as_bits = value * found.factor / 8
    answer = report.ask(
        f"unit:{found.body} {found.unit}",
        about=f"unit of “{found.body} {found.unit}”",
        cells=cells,
        choices=[
            ("bits", f"{numbers.shortest(as_bits)} Gb/s (bits)"),
            ("bytes", f"{numbers.shortest(gbit / 8)} GB/s (bytes) = {numbers.shortest(gbit)} Gb/s"),
        ],
        suggested="bits",
        reason=f"No port is faster than {units.LINK_LIMIT_GBIT_PER_S} Gb/s; GB/s was probably written for Gb/s.",
    )
    return gbit if answer == "bytes" else as_bits


def milestones(at: At, cell: Cell, report: Report) -> list[dict[str, str]] | None:
    """[{"share", "anchor", "offset_weeks"}] from text such as “30 % at signature; 70 % at delivery + 4 weeks”."""
    if cell.kind == "object":
        return _milestone_objects(at, cell, report)
    found = list(_MILESTONE.finditer(cell.text))
    if not found:
        report.must_be(at, cell.text, "shares such as “30 % at signature; 70 % at delivery + 4 weeks”")
        return None
    return [
        {
            "share": numbers.shortest(Decimal(item[1].replace(",", ".")) / 100),
            "anchor": _ANCHORS.get(item[2].casefold(), item[2].casefold()),
            "offset_weeks": (item[3] or "0").replace(",", "."),
        }
        for item in found
    ]


def _milestone_objects(at: At, cell: Cell, report: Report) -> list[dict[str, str]] | None:
    try:
        items = json.loads(cell.text)
        result = [
            {
                "share": numbers.shortest(Decimal(str(item["share"]))),
                "anchor": _ANCHORS.get(str(item["anchor"]), str(item["anchor"])),
                "offset_weeks": numbers.shortest(Decimal(str(item.get("offset_weeks", 0)))),
            }
            for item in items
        ]
    except (ValueError, KeyError, TypeError, ArithmeticError):
        result = []
    if not result or any(item["anchor"] not in ("signature", "delivery", "acceptance") for item in result):
        report.must_be(
            at, cell.text, "a list of objects with share, anchor (signature, delivery, acceptance), offset_weeks"
        )
        return None
    return result


def _check_milestones(facts: Facts, report: Report) -> None:
    entry = facts.terms.get("payment_milestones")
    if entry is None:
        return
    total = sum((Decimal(item["share"]) for item in entry["value"]), Decimal(0))
    if total != 1:
        report.error(
            facts.places["payment_milestones"],
            f"The payment shares add up to {numbers.shortest(total * 100)} %; they must add up to 100 %.",
        )


def _check_order(facts: Facts, report: Report) -> None:
    for prefix in ("lead_weeks", "it_load_kw"):
        names = [f"{prefix}_{suffix}" for suffix in _SUFFIXES if facts.value(f"{prefix}_{suffix}") is not None]
        given = [Decimal(facts.value(name)) for name in names]
        if given != sorted(given):
            shown = ", ".join(map(str, given))
            report.error(facts.places[names[0]], f"{prefix}: low, likely and high must rise, but are {shown}.")
    start, end = facts.value("date"), facts.value("valid_until")
    if start and end and end < start:
        report.error(facts.places["valid_until"], f"valid_until {end} lies before the quote's date {start}.")
