"""Cells, rows and formats of the finance workbook: every formula is written together with its value."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

TYPE_COLUMN, LABEL_COLUMN, UNIT_COLUMN, CONSTANT_COLUMN, TOTAL_COLUMN, FIRST_MONTH_COLUMN = range(6)
HEADER_ROWS = 4  # title, note, column heads, months: the same on every sheet along the time line

MONEY = '#,##0.00;(#,##0.00);"–"'
QUANTITY = "#,##0.######"
HOURS = "#,##0"
SHARE = "0.0000"
FORMATS: dict[str, dict[str, Any]] = {
    "title": {"bold": True, "font_size": 14},
    "note": {"italic": True, "font_color": "#474C55"},
    "head": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"},
    "group": {"bold": True, "font_color": "#474C55"},
    "text": {"valign": "top"},
    "wrap": {"valign": "top", "text_wrap": True},
    "input": {"font_color": "#0000C0", "bg_color": "#FFFBE0", "num_format": QUANTITY, "locked": False},
    "input_text": {"font_color": "#0000C0", "bg_color": "#FFFBE0", "locked": False},
    "fact": {"num_format": QUANTITY},
    "money": {"num_format": MONEY},
    "money_total": {"num_format": MONEY, "bold": True, "top": 1},
    "money_link": {"num_format": MONEY, "font_color": "#007A33"},
    "share": {"num_format": SHARE},
    "quantity": {"num_format": QUANTITY},
    "hours": {"num_format": HOURS},
    "percent": {"num_format": "0.00%"},
    "check": {"num_format": '"OK";"DIFFERS";"OK"', "bold": True},
    "check_text": {"bold": True},
    "alert": {"font_color": "#B00020", "bold": True},
    "total_label": {"bold": True, "top": 1},
}


def safe_text(value: object) -> str:
    """The text as one line of a cell; XlsxWriter's `write_string` never makes a formula or link of it."""
    return "" if value is None else str(value)


class PlainFormulaWorksheet(Worksheet):
    """A worksheet that takes formulas as they are.

    The stock one looks through every formula for some thirty functions of newer programs, none of which stand here, and
    that is half of the time a workbook takes.
    """

    def _prepare_formula(self, formula: str, expand_future_functions: bool = False) -> str:
        return formula.lstrip("=")


@dataclass
class Cell:
    """Where a number stands, and what it is."""

    sheet: str
    row: int
    column: int
    value: float

    @property
    def ref(self) -> str:
        """Its absolute address with the sheet's name."""
        return f"'{self.sheet}'!${xl_col_to_name(self.column)}${self.row + 1}"


@dataclass
class TimeRow:
    """A row along the time line: what it holds in each month, with its constant and its total."""

    sheet: str
    row: int
    values: list[float]
    constant: Cell | None = None

    def at(self, month: int, *, sheet: str = "") -> str:
        """The address of one month; without the sheet's name on the sheet itself."""
        local = f"{month_column(month)}${self.row + 1}"
        return local if sheet == self.sheet else f"'{self.sheet}'!{local}"

    def span(self, first: int, last: int, *, sheet: str = "") -> str:
        local = f"${month_column(first)}${self.row + 1}:${month_column(last)}${self.row + 1}"
        return local if sheet == self.sheet else f"'{self.sheet}'!{local}"

    @property
    def total(self) -> Cell:
        return Cell(self.sheet, self.row, TOTAL_COLUMN, sum(self.values))


@cache
def month_column(month: int) -> str:
    return str(xl_col_to_name(FIRST_MONTH_COLUMN + month))


@dataclass
class Sheet:
    """One sheet that is filled from the top; `book.values_only` writes numbers where formulas would stand."""

    book: "Book"
    name: str
    worksheet: Any
    next_row: int = 0
    widths: dict[int, int] = field(default_factory=dict)

    def text(self, row: int, column: int, value: object, style: str = "text") -> None:
        self.worksheet.write_string(row, column, safe_text(value), self.book.formats[style])

    def number(self, row: int, column: int, value: float, style: str = "quantity") -> Cell:
        self.worksheet.write_number(row, column, value, self.book.formats[style])
        return Cell(self.name, row, column, value)

    def formula(self, row: int, column: int, formula: str, value: float, style: str = "money") -> Cell:
        """Write a formula with the value it has now, so that viewers without a calculation engine show it."""
        if self.book.values_only:
            return self.number(row, column, value, style)
        self.worksheet.write_formula(row, column, f"={formula}", self.book.formats[style], value)
        return Cell(self.name, row, column, value)

    def text_formula(self, row: int, column: int, formula: str, value: str, style: str = "check_text") -> None:
        if self.book.values_only:
            self.text(row, column, value, style)
        else:
            self.worksheet.write_formula(row, column, f"={formula}", self.book.formats[style], value)

    def title(self, title: str, note: str) -> None:
        self.text(0, 0, title, "title")
        self.text(1, 0, note, "note")

    def heads(self, row: int, heads: Sequence[str]) -> None:
        for column, head in enumerate(heads):
            self.text(row, column, head, "head")

    def line(self) -> int:
        """The next free row."""
        self.next_row += 1
        return self.next_row - 1

    def group(self, label: str) -> None:
        self.line()
        self.text(self.line(), LABEL_COLUMN, label, "group")


class Book:
    """The workbook while it is written."""

    def __init__(self, *, horizon_months: int, currency: str, values_only: bool = False) -> None:
        self.values_only = values_only
        self.horizon_months = horizon_months
        self.currency = currency
        self._bytes = BytesIO()
        self.workbook = xlsxwriter.Workbook(
            self._bytes,
            {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False},
        )
        self.formats = {name: self.workbook.add_format(options) for name, options in FORMATS.items()}
        self.sheets: dict[str, Sheet] = {}

    @property
    def months(self) -> range:
        return range(self.horizon_months + 1)

    def add_sheet(self, name: str, title: str, note: str) -> Sheet:
        sheet = Sheet(self, name, self.workbook.add_worksheet(name, PlainFormulaWorksheet))
        sheet.title(title, note)
        sheet.next_row = 3
        sheet.worksheet.set_landscape()
        sheet.worksheet.set_paper(9)
        sheet.worksheet.fit_to_pages(1, 0)
        sheet.worksheet.set_footer(f"&L{name}&RPage &P of &N")
        self.sheets[name] = sheet
        return sheet

    def add_time_sheet(self, name: str, title: str, note: str) -> Sheet:
        """A sheet whose columns are the months; the same column is the same month on all of them."""
        sheet = self.add_sheet(name, title, note)
        sheet.heads(2, ["Type", "Row", "Unit", "Constant", "Total"])
        sheet.text(3, LABEL_COLUMN, "Month from signature", "group")
        sheet.worksheet.set_column(TYPE_COLUMN, TYPE_COLUMN, 5)
        sheet.worksheet.set_column(LABEL_COLUMN, LABEL_COLUMN, 46)
        sheet.worksheet.set_column(UNIT_COLUMN, UNIT_COLUMN, 16)
        sheet.worksheet.set_column(CONSTANT_COLUMN, TOTAL_COLUMN, 17)
        sheet.worksheet.set_column(FIRST_MONTH_COLUMN, FIRST_MONTH_COLUMN + self.horizon_months, 14)
        sheet.worksheet.freeze_panes(HEADER_ROWS, FIRST_MONTH_COLUMN)
        sheet.worksheet.repeat_rows(2, 3)
        sheet.worksheet.repeat_columns(0, LABEL_COLUMN)
        sheet.next_row = HEADER_ROWS
        return sheet

    def finish(self, *, title: str, subject: str, created: Any) -> bytes:
        self.workbook.set_properties(
            {"title": title, "subject": subject, "author": "Spinecut", "company": "", "created": created}
        )
        # Recalculate on opening: a reader's program may trust stale caches otherwise.
        self.workbook.set_calc_mode("auto")
        self.workbook.close()
        return self._bytes.getvalue()
