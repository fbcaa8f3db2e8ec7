"""A table as CSV: the cells that the screen shows, with their units, safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from apps.reports import figures

# What a spreadsheet would run as a formula.
FORMULA_START = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")
SHOWN_NUMBER = re.compile(rf"^[+{figures.MINUS}-]?[0-9][0-9,]*(\.[0-9]+)?$")


def csv_cell(text: str) -> str:
    """The cell for `text`: numbers as a spreadsheet reads them, all else as text that no spreadsheet runs.

    A number keeps the digits of the screen and loses only its grouping and its typographic minus; the dash of a cash
    table is the zero it stands for.
    """
    text = text.strip().replace("\0", "")
    if text == figures.FLOW_ZERO:
        return "0.0"
    if SHOWN_NUMBER.match(text):
        return text.replace(",", "").replace(figures.MINUS, "-").removeprefix("+")
    return "'" + text if text.startswith(FORMULA_START) else text


def table_csv(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cell texts as CSV with a byte order mark, so that spreadsheets read the dashes and units as UTF-8."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for row in rows:
        writer.writerow([csv_cell(cell) for cell in row])
    return "\ufeff" + out.getvalue()
