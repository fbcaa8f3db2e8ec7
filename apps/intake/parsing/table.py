"""A sheet as it was found: typed cells with their place. Every reader gives these, the interpreter takes them."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal


class Refusal(Exception):  # noqa: N818 - it is an answer, not a mishap
    """The file cannot be used at all; the text says why and what to do."""


@dataclass(slots=True)
class Cell:
    """One cell. `kind` is empty, text, number, boolean, date, error, formula (without stored value) or object."""

    kind: str
    text: str = ""
    number: Decimal | None = None
    day: date | None = None
    percent: bool = False  # shown with a percent format
    currency: str = ""  # symbol or code of the number format
    external: bool = False  # the value comes from a link to another workbook
    corrected: bool = False  # typed by the user in the preview
    merged: str = ""  # range whose one value this is


EMPTY = Cell("empty")


@dataclass(slots=True)
class Table:
    """Rows of cells. Rows and columns count from 1 as a spreadsheet counts them."""

    name: str
    medium: str  # csv, xlsx, json
    rows: dict[int, dict[int, Cell]] = field(default_factory=dict)
    hidden: bool = False
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    filtered: bool = False
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)  # first row, first column, last row, last col
    paths: dict[tuple[int, int], str] = field(default_factory=dict)  # JSON: where a cell stood

    def cell(self, row: int, column: int) -> Cell:
        return self.rows.get(row, {}).get(column, EMPTY)

    def width(self) -> int:
        return max((max(cells) for cells in self.rows.values() if cells), default=0)

    def ref(self, row: int, column: int) -> str:
        """Lines!H2, or lines[0].unit_price_likely: the key of a correction."""
        if self.medium == "json":
            return self.paths.get((row, column), f"{self.name}[{row - 2}]")
        return f"{self.name}!{letter(column)}{row}"

    def where(self, row: int | None, column: int | None) -> str:
        """The place in the words of the file's kind: row 3, Lines!H2, lines[0] (line 1)."""
        if row is None:
            return self.name
        if self.medium == "json":
            if self.name == "lines":
                return f"lines[{row - 2}] (line {row - 1})"
            return self.ref(row, column or 2)
        if self.medium == "csv":
            return f"row {row}"
        return self.ref(row, column) if column else f"{self.name}!{row}"

    def apply_corrections(self, corrections: dict[str, str]) -> set[str]:
        """Put typed text in place of cells; return the keys that were used."""
        used = set()
        for key, text in corrections.items():
            place = self._place(key)
            if place is None:
                continue
            row, column = place
            used.add(key)
            kept = text.strip()
            cell = Cell("text" if kept else "empty", kept, corrected=True)
            self.rows.setdefault(row, {})[column] = cell
        return used

    def _place(self, key: str) -> tuple[int, int] | None:
        if self.medium == "json":
            return next((place for place, path in self.paths.items() if path == key), None)
        name, _, address = key.rpartition("!")
        if name != self.name:
            return None
        place = from_address(address)
        return place if place and place[0] in self.rows else None

    def spread_merged(self) -> None:
        """Let the value of a merged cell stand in every cell it covers."""
        for first_row, first_column, last_row, last_column in self.merged:
            source = self.cell(first_row, first_column)
            if source.kind == "empty":
                continue
            area = f"{letter(first_column)}{first_row}:{letter(last_column)}{last_row}"
            for row in range(first_row, min(last_row, first_row + 10_000) + 1):
                if row not in self.rows and row != first_row:
                    continue
                # Across, a merged cell is one cell; only downwards does its value hold for several rows.
                target = self.rows.setdefault(row, {})
                if row == first_row or target.get(first_column, EMPTY).kind == "empty":
                    target[first_column] = Cell(
                        source.kind,
                        source.text,
                        source.number,
                        source.day,
                        source.percent,
                        source.currency,
                        source.external,
                        merged=area if last_row > first_row else "",
                    )


def letter(column: int) -> str:
    """1 gives A, 28 gives AB."""
    name = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def from_address(address: str) -> tuple[int, int] | None:
    """AB12 gives (12, 28); None for anything else."""
    letters = address.rstrip("0123456789")
    digits = address[len(letters) :]
    if not (1 <= len(letters) <= 3 and letters.isascii() and letters.isalpha() and digits and len(digits) <= 7):
        return None
    column = 0
    for character in letters.upper():
        column = column * 26 + ord(character) - 64
    return int(digits), column
