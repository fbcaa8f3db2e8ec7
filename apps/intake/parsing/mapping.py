"""Which column means which field: the header row is found, headings are matched, what is uncertain is asked."""

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from apps.intake.parsing import money
from apps.intake.parsing.fields import CHOICES, LINE_FIELDS, REQUIRED, SECTIONS
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Cell, Table, letter

CERTAIN = 0.85
_HEADER_ROWS = 40  # a header further down than this is not looked for
_HINT = re.compile(r"[(\[]([^)\]]*)[)\]]")
_THOUSANDS = re.compile(
    r"(?:^|[\s(\[])(?:k\s?(?:USD|EUR|GBP|CHF|\$|€|£)|[TK](?:USD|EUR|GBP|CHF|€|\$|£)|T\s(?:EUR|USD)"
    r"|in thousands?|'000|000s)",
    re.IGNORECASE,
)


_CHOICE_COLUMNS = ("kind", "charge", "period", "evidence_level", "percent_of")


@dataclass(slots=True)
class Header:
    """The header found: its row, the field of each column, and what the headings say about unit and scale."""

    row: int
    fields: dict[str, int] = field(default_factory=dict)  # field -> column
    columns: dict[int, str] = field(default_factory=dict)  # column -> field
    currencies: dict[int, str] = field(default_factory=dict)  # column -> code named in its heading
    thousands: set[int] = field(default_factory=set)
    percent: set[int] = field(default_factory=set)  # headings that say percent
    fraction: set[int] = field(default_factory=set)
    sha256: str = ""
    needed: list[dict[str, Any]] = field(default_factory=list)


def normal(text: str) -> str:
    """A heading reduced to its words, for comparison."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text = _HINT.sub(" ", text)
    text = re.sub(r"[_\-./:*'’]+", " ", text).replace("%", " percent ")
    return re.sub(r"\s+", " ", text).strip()


_CHOICE_WORDS = {
    name: frozenset(normal(word) for value, words in CHOICES[name].items() for word in [*words.split("|"), value])
    for name in _CHOICE_COLUMNS
}


@cache
def _known(section: str) -> dict[str, tuple[str, float]]:
    """Every heading that is known word for word, with its field and how sure that is."""
    known: dict[str, tuple[str, float]] = {}
    for name, definition in SECTIONS[section].items():
        for words in definition.maybe.split("|"):
            known.setdefault(words, (name, 0.6))
    for name, definition in SECTIONS[section].items():
        for words in definition.names.split("|"):
            known[words] = (name, 0.95)
    for name, definition in SECTIONS[section].items():
        known[normal(name)] = known[normal(definition.label)] = (name, 1.0)
    known.pop("", None)
    return known


def match(heading: str, section: str = "lines", *, loosely: bool = True) -> tuple[str | None, float]:
    """Return the field a heading most likely means and how sure that is, from 0 to 1."""
    words = normal(heading)
    known = _known(section)
    if words in known:
        return known[words]
    bare = " ".join(word for word in words.split() if word.upper() not in money.CODES)
    if bare in known:
        name, score = known[bare]
        return name, score - 0.02
    return _resembling(bare, known) if loosely and bare else (None, 0.0)


def _resembling(words: str, known: dict[str, tuple[str, float]]) -> tuple[str | None, float]:
    """The known heading that shares its words, or nearly its letters; never sure enough to go unasked."""
    tokens = set(words.split())
    for candidate, (name, score) in known.items():
        parts = set(candidate.split())
        if score > 0.6 and len(candidate) > 3 and parts < tokens and len(tokens) <= len(parts) + 2:
            return name, 0.65
    for candidate, (name, score) in known.items():
        if score > 0.6 and len(candidate) > 4 and abs(len(candidate) - len(words)) <= 2:
            matcher = SequenceMatcher(None, words, candidate)
            if matcher.quick_ratio() >= 0.88 and matcher.ratio() >= 0.88:
                return name, 0.75
    return None, 0.0


def find_header(table: Table, section: str = "lines") -> tuple[int, float]:
    """Return the row that looks most like a header and how many of its cells are known headings."""
    best = (0, 0.0)
    for row in sorted(table.rows)[:_HEADER_ROWS]:
        cells = table.rows[row]
        texts = [cell.text for cell in cells.values() if cell.kind == "text"]
        known = [match(text, section, loosely=False) for text in texts if len(text) <= 80]
        names = {name for name, score in known if name and score >= 0.6}
        score = sum(score for name, score in known if name and score >= 0.6) * (len(names) / max(1, len(known)) + 0.5)
        if len(names) >= 2 and score > best[1]:
            best = (row, score)
    return best


def lines_sheet(tables: list[Table]) -> Table | None:
    """The sheet that holds the lines: the one called Lines, else the visible one with the best header."""
    visible = [table for table in tables if not table.hidden]
    named = [table for table in visible if table.name.casefold() in ("lines", "positionen", "lignes")]
    if named:
        return named[0]
    scored = [(find_header(table)[1], -index, table) for index, table in enumerate(visible)]
    score, _, table = max(scored, default=(0.0, 0, None))
    return table if table is not None and score >= 3 else None


def map_columns(table: Table, row: int, report: Report, given: dict[str, str | None], section: str = "lines") -> Header:
    """Return the header of a sheet of lines; headings with an uncertain meaning become questions."""
    header = Header(row)
    headings = {column: cell.text for column, cell in sorted(table.rows.get(row, {}).items()) if cell.text}
    header.sha256 = header_hash(list(headings.values()))
    wanted: dict[str, list[tuple[int, float]]] = {}
    for column, heading in headings.items():
        name, score = _meaning(table, row, column, heading, report, given, header, section)
        _note_hints(header, column, heading)
        if name:
            wanted.setdefault(name, []).append((column, score))
        elif _has_values(table, row, column) and not score:
            report.info(At(table, row, column), f"The column “{heading[:60]}” is not imported.")
    for name, candidates in wanted.items():
        header.fields[name] = _choose_column(table, row, name, candidates, report)
        header.columns[header.fields[name]] = name
    if section == "lines":
        _ask_missing(table, headings, header, report, given)
    return header


def is_open(header: Header, report: Report) -> bool:
    """Whether a column is still to be named without which no line can be read."""
    asked = {question["id"] for question in report.questions}
    return any(f"column:{name}" in asked for name in REQUIRED if name not in header.fields)


def header_hash(headings: list[str]) -> str:
    text = json.dumps([normal(heading) for heading in headings], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _meaning(
    table: Table,
    row: int,
    column: int,
    heading: str,
    report: Report,
    given: dict[str, str | None],
    header: Header,
    section: str,
) -> tuple[str | None, float]:
    """The field of one column: as the user or the remembered mapping says, else as its heading says."""
    fields = SECTIONS[section]
    if heading in given:
        name = given[heading]
        return (name if name in fields else None), 1.0
    name, score = match(heading, section)
    if score < CERTAIN and section == "lines":
        name, score = _by_values(table, row, column, name, score, report)
    if name is None or score >= CERTAIN or not _has_values(table, row, column):
        return name, score
    if any(_sure(other, section) == name for other in table.rows[row].values() if other.text != heading):
        report.warn(
            At(table, row, column),
            f"The column “{heading[:60]}” is not imported: another one is “{fields[name].label}”.",
        )
        return None, score
    options = [(name, fields[name].label)] + [(key, item.label) for key, item in fields.items() if key != name]
    answer = report.ask(
        f"map:{letter(column)}",
        about=f"meaning of the column “{heading[:60]}”",
        cells=[table.ref(row, column)],
        choices=[*options, ("", "Do not import this column")],
        suggested=name,
        reason=f"The heading may mean “{fields[name].label}”. The answer is remembered for this vendor.",
    )
    header.needed.append(
        {
            "sheet": table.name,
            "column": letter(column),
            "header": heading,
            "suggested": name,
            "confidence": round(score, 2),
        }
    )
    return (answer or None), score


def _sure(cell: Cell, section: str) -> str | None:
    name, score = match(cell.text, section, loosely=False) if cell.kind == "text" else (None, 0.0)
    return name if score >= CERTAIN else None


def _by_values(
    table: Table, row: int, column: int, name: str | None, score: float, report: Report
) -> tuple[str | None, float]:
    """What the values of a column say: words of one list only, such as one-off and recurring, tell its meaning."""
    words = {normal(table.cell(r, column).text) for r in table.rows if r > row and table.cell(r, column).text}
    if not words or len(words) > 30:
        return name, score
    fitting = [choice for choice in _CHOICE_COLUMNS if words <= _CHOICE_WORDS[choice]]
    if name in fitting:
        return name, 0.9
    if len(fitting) == 1 and name is None and len(words) >= 2:
        heading = table.cell(row, column).text[:60]
        label = LINE_FIELDS[fitting[0]].label
        report.info(At(table, row, column), f"The column “{heading}” is read as “{label}”, as its values say.")
        return fitting[0], 0.9
    return name, score


def _choose_column(table: Table, row: int, name: str, candidates: list[tuple[int, float]], report: Report) -> int:
    """The column of a field; where several claim it, equal claims are asked and weaker ones give way."""
    filled = [(column, score) for column, score in candidates if _has_values(table, row, column)]
    candidates = filled or candidates  # a column without values competes with nobody
    best = max(score for _, score in candidates)
    strongest = [column for column, score in candidates if score >= best - 0.06]
    if len(strongest) == 1:
        return strongest[0]
    values = {tuple(table.cell(r, column).text for r in table.rows if r > row) for column in strongest}
    if len(values) == 1:
        return strongest[0]
    sample = next((r for r in sorted(table.rows) if r > row), row)
    answer = report.ask(
        f"duplicate:{name}",
        about=f"{name} stands in two columns (duplicate)",
        cells=[table.ref(row, column) for column in strongest],
        choices=[
            (letter(column), f"column {letter(column)}: {table.cell(sample, column).text[:40] or 'empty'}")
            for column in strongest
        ],
        suggested=None,
        reason="Two columns have the same meaning and different values. Choose the one that counts.",
    )
    return next((column for column in strongest if letter(column) == answer), strongest[0])


def _ask_missing(
    table: Table, headings: dict[int, str], header: Header, report: Report, given: dict[str, str | None]
) -> None:
    """Ask for the column of each field that a line cannot do without."""
    free = {column: heading for column, heading in headings.items() if column not in header.columns}
    for name in REQUIRED:
        if name in header.fields:
            continue
        answer = report.ask(
            f"column:{name}",
            about=f"column that holds “{LINE_FIELDS[name].label}”",
            cells=[table.ref(header.row, column) for column in free][:10],
            choices=[(letter(column), f"column {letter(column)}: {heading[:60]}") for column, heading in free.items()]
            + [("", "There is none")],
            suggested=None,
            reason="No heading was recognised for it. The answer is remembered for this vendor.",
        )
        header.needed.append({"sheet": table.name, "field": name, "header": "", "suggested": None, "confidence": 0.0})
        column = next((column for column in free if letter(column) == answer), None)
        if column is not None:
            header.fields[name] = column
            header.columns[column] = name


def _note_hints(header: Header, column: int, heading: str) -> None:
    """Currency, thousands and percent that a heading names."""
    for word in re.findall(r"[A-Z]{3}|US\$|[€£]", heading):
        codes = money.candidates(word)
        if len(codes) == 1:
            header.currencies[column] = codes[0]
    if _THOUSANDS.search(heading):
        header.thousands.add(column)
        scaled = re.search(r"[kKT]\s?(USD|EUR|GBP|CHF)", heading)
        if scaled:
            header.currencies[column] = scaled[1]
    words = normal(heading).split()
    if "percent" in words or "%" in heading or "prozent" in words:
        header.percent.add(column)
    if "fraction" in words:
        header.fraction.add(column)


def _has_values(table: Table, row: int, column: int) -> bool:
    return any(table.cell(r, column).kind != "empty" for r in table.rows if r > row)
