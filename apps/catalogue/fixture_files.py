"""Reads the catalogue's CSV files; what is wrong in one is told with file, row and field."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from apps.catalogue.columns import FOLDER, Column, columns
from apps.catalogue.models import CatalogueItem, CatalogueValue, Kind

KIND_OF_FILE: Final = {
    "accelerators": Kind.ACCELERATOR,
    "network_parts": Kind.NETWORK_PART,
    "prices": None,  # each row names its own: price or cloud_rate
    "models": Kind.MODEL,
}
READ_AND_MEMORY: Final = ("read", "memory", "derived")


class FixtureError(ValueError):
    """A cell of a fixture file cannot be used."""

    def __init__(self, file: str, row: int, field: str, problem: str) -> None:
        super().__init__(file, row, field, problem)
        self.file, self.row, self.field, self.problem = file, row, field, problem

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}, {self.field}: {self.problem}"


@dataclass(frozen=True, kw_only=True)
class FixtureItem:
    """One row of a file: the item and its figures, not stored yet."""

    item: CatalogueItem
    values: tuple[CatalogueValue, ...]


def read_catalogue(folder: Path = FOLDER) -> list[FixtureItem]:
    """Every item of every file, in the order of the files. Raises `FixtureError` at the first bad cell."""
    items = [item for name in KIND_OF_FILE for item in _read_file(folder / f"{name}.csv", name)]
    seen: set[tuple[str, str]] = set()
    for fixture in items:
        identity = (fixture.item.kind, fixture.item.key)
        if identity in seen:
            raise FixtureError(f"{fixture.item.kind} files", 0, "key", f"{fixture.item.key!r} occurs twice")
        seen.add(identity)
    return items


def _read_file(path: Path, name: str) -> Iterator[FixtureItem]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        for number, row in enumerate(reader, start=2):
            if None in row or None in row.values():
                raise FixtureError(path.name, number, "row", "has not as many cells as the head")
            yield _fixture_item(_Row(path.name, number, row), name)


@dataclass(frozen=True)
class _Row:
    file: str
    number: int
    cells: dict[str, str]

    def text(self, field: str) -> str:
        return self.cells.get(field, "").strip()

    def required(self, field: str) -> str:
        value = self.text(field)
        if not value:
            raise self.error(field, "is empty")
        return value

    def error(self, field: str, problem: str) -> FixtureError:
        return FixtureError(self.file, self.number, field, problem)


def _fixture_item(row: _Row, name: str) -> FixtureItem:
    kind = KIND_OF_FILE[name] or row.required("kind")
    if kind not in Kind.values:
        raise row.error("kind", f"is {kind!r}; it must be one of {', '.join(Kind.values)}")
    item = CatalogueItem(
        kind=kind,
        key=row.required("key"),
        name=row.required("name"),
        vendor=row.text("vendor"),
        region=row.text("region"),
        note=row.text("note"),
    )
    recalled = set(row.text("memory_columns").split())
    known = {column.column for column in columns()[name]}
    if recalled - known:
        raise row.error("memory_columns", f"names {', '.join(sorted(recalled - known))}, no figure of this file")
    values = tuple(_value(row, item, column, recalled) for column in columns()[name] if row.text(column.column))
    if not values:
        raise row.error("row", "has no figure")
    return FixtureItem(item=item, values=values)


def _value(row: _Row, item: CatalogueItem, column: Column, recalled: set[str]) -> CatalogueValue:
    source_field, basis_field = column.source_column or "source", column.basis_column or "basis"
    basis = CatalogueValue.Basis.MEMORY if column.column in recalled else row.required(basis_field)
    if basis not in READ_AND_MEMORY:
        raise row.error(basis_field, f"is {basis!r}; it must be one of {', '.join(READ_AND_MEMORY)}")
    return CatalogueValue(
        item=item,
        name=column.column,
        value=row.text(column.column),
        low=row.text(column.low_column) if column.low_column else "",
        high=row.text(column.high_column) if column.high_column else "",
        unit=column.unit or row.text("unit"),
        source=row.required(source_field),
        source_url=row.text("source_url") if source_field == "source" else "",
        as_of=row.required(column.as_of_column) if column.as_of_column else "",
        retrieved_on=_date(row, "retrieved_on"),
        basis=basis,
        reason=row.text("caution"),
    )


def _date(row: _Row, field: str) -> date | None:
    text = row.text(field)
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise row.error(field, f"is {text!r}; it must be a day such as 2026-11-30") from None
