"""CSV text as a table: the delimiter is found in the file, and quoting errors name their line."""

import csv
import re
from io import StringIO

from apps.intake.parsing import limits
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Cell, Refusal, Table

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DELIMITERS = (",", ";", "\t", "|")


def read(text: str, report: Report) -> Table:
    """Return the table of a CSV file; raises `Refusal` where rows cannot be told apart with certainty."""
    delimiter, body, first_row = _delimiter(text)
    table = Table("Lines", "csv")
    csv.field_size_limit(limits.FILE_BYTES)
    # newline="" keeps line breaks inside quoted cells as they are.
    reader = csv.reader(StringIO(body, newline=""), delimiter=delimiter, strict=True)
    row = first_row - 1
    while True:
        row += 1
        line = reader.line_num + first_row
        try:
            values = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise Refusal(_quoting(row, line, str(error))) from None
        if len(table.rows) > limits.LINES + 200:
            raise Refusal(f"The file has more than {limits.LINES:,} lines; that is the limit for rows.")
        cells = _cells(values, row, table, report)
        if cells:
            table.rows[row] = cells
    if not table.rows:
        raise Refusal("The file is empty: it holds no data.")
    return table


def _cells(values: list[str], row: int, table: Table, report: Report) -> dict[int, Cell]:
    if len(values) > limits.COLUMNS and any(values[limits.COLUMNS :]):
        raise Refusal(f"Row {row} has {len(values)} columns; the limit is {limits.COLUMNS} columns.")
    cells = {}
    for column, value in enumerate(values, 1):
        if len(value) > limits.CELL_CHARACTERS:
            raise Refusal(
                f"row {row}, column {column}: the cell is too long, {len(value):,} characters; "
                f"the limit is {limits.CELL_CHARACTERS:,} characters."
            )
        if _CONTROL.search(value):
            name = "a NUL" if "\x00" in value else "a control"
            report.error(At(table, row), f"Row {row} holds {name} character, which no text has: binary data?")
        # Blanks around a value mean nothing; a tab may be part of a text and is kept.
        kept = value.strip(" \r\n\u00a0\u202f")
        if kept:
            cells[column] = Cell("text", kept)
    if len(values) > 1 or cells:
        cells.setdefault(len(values), Cell("empty"))  # remembers how many cells the row had
    return cells if any(cell.kind != "empty" for cell in cells.values()) else {}


def _quoting(row: int, line: int, error: str) -> str:
    if "unexpected end" in error:
        return f"Row {row} (line {line}) opens a quotation mark that is never closed. Close it and upload again."
    if "expected after" in error:
        return f"Row {row} (line {line}): text follows a closing quotation mark. Double the quotation marks inside it."
    return f"Row {row} (line {line}) cannot be read: {error}."


def _delimiter(text: str) -> tuple[str, str, int]:
    """Return the delimiter, the text after a `sep=` line if there is one, and the number of the first row."""
    if match := re.match(r"sep=([,;\t|])\r?\n", text):
        return match[1], text[match.end() :], 2
    sample = text[:65536]
    return max(_DELIMITERS, key=lambda delimiter: _score(sample, delimiter)), text, 1


def _score(sample: str, delimiter: str) -> tuple[float, int]:
    """How well a delimiter splits: rows of the commonest width above one, then that width."""
    widths: dict[int, int] = {}
    reader = csv.reader(StringIO(sample, newline=""), delimiter=delimiter)
    try:
        for _, values in zip(range(60), reader, strict=False):
            if any(values):
                widths[len(values)] = widths.get(len(values), 0) + 1
    except csv.Error:
        pass
    total = sum(widths.values())
    widths.pop(1, None)
    if not total or not widths:
        return 0, 0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
    return round(count / total, 2), width
