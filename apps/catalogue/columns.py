"""What the figures of the catalogue are called and measured in; read from fixtures/catalogue/columns.csv."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

FOLDER = Path(settings.BASE_DIR) / "fixtures" / "catalogue"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One figure of a fixture file: its caption and unit, and the columns that hold its range and its source."""

    file: str
    column: str
    label: str
    unit: str
    low_column: str
    high_column: str
    source_column: str
    basis_column: str
    as_of_column: str


@cache
def columns() -> dict[str, tuple[Column, ...]]:
    """The figures of each fixture file, in the order in which they are shown."""
    found: dict[str, list[Column]] = {}
    with (FOLDER / "columns.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["file"], []).append(Column(**row))
    return {name: tuple(of_file) for name, of_file in found.items()}


@cache
def captions() -> dict[str, str]:
    """Figure name -> caption."""
    return {column.column: column.label for of_file in columns().values() for column in of_file}
