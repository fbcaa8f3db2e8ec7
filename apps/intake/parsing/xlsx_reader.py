"""The sheets of a workbook as tables, in one streaming pass over each sheet's XML.

A cell's formula and its stored value are both needed, as are hidden and merged marks and the digits exactly as
stored; docs/import.md says why this reader stands beside openpyxl, against which it is tested.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from apps.intake.parsing import dates, limits
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Cell, Refusal, Table, from_address, letter
from apps.intake.parsing.xlsx_archive import Archive, parse_xml, xml_text

_BUILT_IN_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_BUILT_IN_PERCENT = {9, 10}
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_EXTERNAL = re.compile(r"\[\d+\]")
_CURRENCY = re.compile(r'\[\$([^\]\-]{1,4})(?:-[^\]]*)?\]|"([^"]{1,4})"')
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SIGNIFICANT = 15  # digits a spreadsheet itself guarantees; what follows is a binary tail


@dataclass(slots=True)
class Workbook:
    """What all sheets share: texts, formats, the first day of the calendar."""

    strings: list[str] = field(default_factory=list)
    date_styles: set[int] = field(default_factory=set)
    percent_styles: set[int] = field(default_factory=set)
    currencies: dict[int, str] = field(default_factory=dict)
    epoch_1904: bool = False


def read(content: bytes, report: Report) -> tuple[list[Table], Workbook]:
    """Return every sheet in workbook order, hidden ones marked; raises `Refusal` where the file is unsafe or broken."""
    archive = Archive(content)
    archive.check_contents()
    book = Workbook()
    sheets = _sheets(archive, book)
    if len(sheets) > limits.SHEETS:
        raise Refusal(f"The workbook has {len(sheets)} sheets; the limit is {limits.SHEETS}.")
    _read_strings(archive, book)
    _read_styles(archive, book)
    _note_connections(archive, report)
    tables = []
    for name, part, hidden in sheets:
        table = Table(name, "xlsx", hidden=hidden)
        if archive.has(part):
            try:
                _read_sheet(archive, part, table, book, report)
            except (ValueError, OverflowError, InvalidOperation):  # a number of the format itself is none
                raise Refusal(f"The workbook is damaged: the sheet {name[:60]} cannot be read.") from None
            table.spread_merged()
        tables.append(table)
    return tables, book


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attribute(element: Any, name: str) -> str:
    """An attribute by its local name: relationship ids carry a namespace that differs between dialects."""
    return next((value for key, value in element.attrib.items() if _local(key) == name), "")


def _sheets(archive: Archive, book: Workbook) -> list[tuple[str, str, bool]]:
    """(name, part, hidden) of each sheet, through the workbook's relations."""
    main = "xl/workbook.xml"
    if not archive.has(main):
        raise Refusal("The workbook has no xl/workbook.xml; it is damaged or in a binary format. Save it as .xlsx.")
    root = parse_xml(archive.read(main), main)
    relations = {}
    if archive.has("xl/_rels/workbook.xml.rels"):
        for element in parse_xml(archive.read("xl/_rels/workbook.xml.rels"), "xl/_rels/workbook.xml.rels"):
            relations[element.get("Id", "")] = element.get("Target", "")
    sheets = []
    for element in root.iter():
        name = _local(element.tag)
        if name == "workbookPr":
            book.epoch_1904 = element.get("date1904", "") in ("1", "true", "on")
        elif name == "sheet":
            target = relations.get(_attribute(element, "id"), "")
            part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            sheets.append((element.get("name", ""), part, element.get("state", "visible") != "visible"))
    return sheets


def _elements(archive: Archive, part: str, wanted: set[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield (event, local name, element) of a part while it is read, for the wanted names and their starts."""
    with archive.open(part) as stream:
        try:
            for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=True):
                name = _local(element.tag)
                if name in wanted:
                    yield event, name, element
        except DefusedXmlException:
            raise Refusal(xml_text(part)) from None
        except Refusal:
            raise
        except Exception as error:  # whatever a damaged part makes the parsers raise
            raise Refusal(f"The workbook is damaged: {part[-60:]} is not valid XML.") from error


def _text(element: Any) -> str:
    """The text of a string item: its runs joined, phonetic hints left out."""
    parts = []
    for child in element:
        name = _local(child.tag)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts += [run.text or "" for run in child if _local(run.tag) == "t"]
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), "".join(parts))


def _read_strings(archive: Archive, book: Workbook) -> None:
    part = next((name for name in archive.names if name.casefold() == "xl/sharedstrings.xml"), "")
    if not part:
        return
    size = 0
    for event, _, element in _elements(archive, part, {"si"}):
        if event == "end":
            text = _text(element)
            size += len(text)
            if size > limits.PART_BYTES:
                raise Refusal("The workbook's texts are larger than the size limit.")
            book.strings.append(text)
            element.clear()


def _read_styles(archive: Archive, book: Workbook) -> None:
    if not archive.has("xl/styles.xml"):
        return
    root = parse_xml(archive.read("xl/styles.xml"), "xl/styles.xml")
    formats = {}
    for element in root.iter():
        if _local(element.tag) == "numFmt":
            formats[int(element.get("numFmtId", "0"))] = element.get("formatCode", "")
    cell_formats = next((element for element in root if _local(element.tag) == "cellXfs"), ())
    for index, element in enumerate(cell_formats):
        number = int(element.get("numFmtId", "0"))
        code = formats.get(number, "")
        bare = _QUOTED.sub("", code.split(";")[0]).casefold()
        if number in _BUILT_IN_DATES or (code and re.search(r"[ydhs]|m", bare) and "general" not in bare):
            book.date_styles.add(index)
        elif number in _BUILT_IN_PERCENT or "%" in bare:
            book.percent_styles.add(index)
        elif match := _CURRENCY.search(code):
            book.currencies[index] = (match[1] or match[2]).strip()
        elif match := re.search(r"[$€£¥]", code):
            book.currencies[index] = match[0]


def _note_connections(archive: Archive, report: Report) -> None:
    if any(name.startswith(("xl/connections", "xl/queryTables/")) for name in archive.names):
        report.warn(None, "The workbook has data connections. They were not followed; stored values are used.")
    if any(name.startswith("xl/externalLinks/") for name in archive.names):
        report.info(None, "The workbook links to another workbook. Links were not followed; stored values are used.")


def _read_sheet(archive: Archive, part: str, table: Table, book: Workbook, report: Report) -> None:
    """Fill the table. The declared area is ignored: rows end where the cells end, and limits count real cells."""
    row_number = 0
    n_rows = 0
    for event, name, element in _elements(archive, part, {"row", "col", "mergeCell", "autoFilter", "dimension"}):
        if event == "start":
            continue
        if name == "row":
            row_number = int(element.get("r", "") or row_number + 1)
            if element.get("hidden") in ("1", "true"):
                table.hidden_rows.add(row_number)
            cells = _row(element, row_number, table, book, report)
            if cells:
                table.rows[row_number] = cells
                n_rows += 1
            element.clear()
            if n_rows > limits.LINES + 200:
                raise Refusal(f"The sheet {table.name} has more than {limits.LINES:,} lines; that is the limit.")
        elif name == "col" and element.get("hidden") in ("1", "true"):
            first, last = int(element.get("min", "1")), int(element.get("max", "1"))
            table.hidden_columns.update(range(first, min(last, limits.COLUMNS) + 1))
        elif name == "mergeCell":
            _merge(element.get("ref", ""), table)
        elif name == "autoFilter":
            table.filtered = True


def _merge(area: str, table: Table) -> None:
    first, _, last = area.partition(":")
    start, end = from_address(first), from_address(last or first)
    if start and end and len(table.merged) < 10_000:
        table.merged.append((*start, *end))


def _row(element: Any, row: int, table: Table, book: Workbook, report: Report) -> dict[int, Cell]:
    cells: dict[int, Cell] = {}
    column = 0
    for child in element:
        if _local(child.tag) != "c":
            continue
        place = from_address(child.get("r", ""))
        column = place[1] if place else column + 1
        cell = _cell(child, At(table, row, column), book, report)
        if cell.kind == "empty":
            continue
        if column > limits.COLUMNS:
            raise Refusal(
                f"{table.name}!{letter(column)}{row} lies beyond the limit of {limits.COLUMNS} columns; "
                "delete what stands there and upload the file again."
            )
        cells[column] = cell
    return cells


def _cell(element: Any, at: At, book: Workbook, report: Report) -> Cell:
    kind = element.get("t", "n")
    style = int(element.get("s", "0") or 0)
    value, formula, inline = None, None, ""
    for child in element:
        name = _local(child.tag)
        if name == "v":
            value = child.text
        elif name == "f":
            formula = child.text or ""
        elif name == "is":
            inline = _text(child)
    external = formula is not None and bool(_EXTERNAL.search(formula))
    if formula is not None and (value is None or value == "") and kind != "str":
        return Cell("formula", "formula", external=external)
    if kind == "e":
        return Cell("error", (value or "#ERROR")[:20])
    if kind == "b":
        return Cell("boolean", "true" if value == "1" else "false")
    if kind in ("s", "str", "inlineStr"):
        return _text_cell(inline if kind == "inlineStr" else _string(kind, value, book), at, report, external=external)
    if kind == "d":
        reading = dates.read(value or "")
        return Cell("date", (value or "")[:10], day=reading.day_first)
    return _number_cell(value, style, book, external=external)


def _string(kind: str, value: str | None, book: Workbook) -> str:
    if kind == "str":
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value or "")
    try:
        return book.strings[int(value or "")]
    except (ValueError, IndexError):
        raise Refusal("The workbook is damaged: a cell points to a text that is not there.") from None


def _text_cell(text: str, at: At, report: Report, *, external: bool) -> Cell:
    if len(text) > limits.CELL_CHARACTERS:
        raise Refusal(
            f"{at.ref}: the cell is too long, {len(text):,} characters; the limit is {limits.CELL_CHARACTERS:,}."
        )
    if _CONTROL.search(text):
        report.error(at, f"{at.ref} holds a control character, which no text has.")
    kept = text.strip(" \r\n\u00a0\u202f")
    return Cell("text", kept, external=external) if kept else Cell("empty")


def _number_cell(value: str | None, style: int, book: Workbook, *, external: bool) -> Cell:
    if value is None or not value.strip():
        return Cell("empty")
    try:
        number = _significant(Decimal(value.strip()))
    except InvalidOperation:
        return Cell("error", value[:20])
    if style in book.date_styles:
        day = dates.from_serial(int(number), epoch_1904=book.epoch_1904) if abs(number) < 10**7 else None
        return Cell("date", day.isoformat() if day else value[:20], number=number, day=day)
    text = format(number, "f")[:60]
    return Cell(
        "number",
        text,
        number,
        percent=style in book.percent_styles,
        currency=book.currencies.get(style, ""),
        external=external,
    )


def _significant(number: Decimal) -> Decimal:
    """The number to 15 digits and 10 places: 48000.004999999997 was typed as 48000.005."""
    if not number.is_finite() or number == 0 or abs(number.adjusted()) > 30:
        return Decimal(0) if number == 0 else number
    rounded = round(number, _SIGNIFICANT - 1 - number.adjusted())
    places = rounded.normalize().as_tuple().exponent
    if isinstance(places, int) and -places > limits.DECIMAL_PLACES:
        rounded = round(rounded, limits.DECIMAL_PLACES)
    shortest = rounded.normalize()
    return shortest.quantize(Decimal(1)) if shortest == shortest.to_integral_value() else shortest
