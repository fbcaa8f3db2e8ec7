"""The product layer: assumptions and claims from CSV files; what is wrong in one is told with file, row and field."""

import csv
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import transaction

from apps.assumptions.models import AssumptionValue, Claim
from apps.assumptions.services import DISTRIBUTIONS, STATUSES, check_bounds, check_range
from apps.engine.errors import InputError

FOLDER = Path(settings.BASE_DIR) / "fixtures"
TOPICS: Final = ("price", "schedule", "performance", "demand", "method", "rule")
# What makes a version; a changed caption changes the newest version in place.
VALUE_FIELDS: Final = ("low", "likely", "high", "text", "distribution", "source", "source_date", "status")
CAPTION_FIELDS: Final = ("label", "unit", "topic", "note", "minimum", "maximum")
BOUND_FIELDS: Final = {"min": "minimum", "max": "maximum"}  # column -> field
CLAIM_FIELDS: Final = ("topic", "statement", "check_text", "verdict", "status", "assumption_keys", "source", "as_of")


class FixtureError(ValueError):
    """A cell of a fixture file cannot be used."""

    def __init__(self, file: str, row: int, field: str, problem: str) -> None:
        super().__init__(file, row, field, problem)
        self.file, self.row, self.field, self.problem = file, row, field, problem

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}, {self.field}: {self.problem}"


@transaction.atomic
def load_assumptions(path: Path = FOLDER / "assumptions.csv") -> int:
    """Add a version of each product default that the file changed; returns how many. Repeating adds none."""
    products = AssumptionValue.objects.filter(organisation__isnull=True, client__isnull=True)
    newest = {value.key: value for value in products.order_by("version")}
    new, recaptioned = [], []
    for wanted in read_assumptions(path):
        existing = newest.pop(wanted.key, None)
        if existing is None or _differ(wanted, existing, VALUE_FIELDS):
            wanted.version = existing.version + 1 if existing else 1
            new.append(wanted)
        elif _differ(wanted, existing, CAPTION_FIELDS):
            for name in CAPTION_FIELDS:
                setattr(existing, name, getattr(wanted, name))
            recaptioned.append(existing)
    AssumptionValue.objects.bulk_create(new)
    AssumptionValue.objects.bulk_update(recaptioned, CAPTION_FIELDS)
    return len(new)


def read_assumptions(path: Path = FOLDER / "assumptions.csv") -> list[AssumptionValue]:
    """The product defaults of the file, not stored. Raises `FixtureError` at the first bad cell."""
    values: dict[str, AssumptionValue] = {}
    for number, row in _rows(path):
        value = _assumption(path.name, number, row)
        if value.key in values:
            raise FixtureError(path.name, number, "key", f"{value.key!r} occurs twice")
        values[value.key] = value
    return list(values.values())


def _assumption(file: str, number: int, row: dict[str, str]) -> AssumptionValue:
    for field in ("key", "label", "unit", "source", "source_date"):
        if not row[field] and not (field == "unit" and row["text"]):
            raise FixtureError(file, number, field, "is empty")
    for field, allowed in (("topic", TOPICS), ("distribution", DISTRIBUTIONS), ("status", STATUSES)):
        if row[field] not in allowed:
            raise FixtureError(file, number, field, f"is {row[field]!r}; it must be one of {', '.join(allowed)}")
    numbers = {field: _decimal(file, number, field, row[field]) for field in ("low", "likely", "high")}
    try:
        check_range(numbers["low"], numbers["likely"], numbers["high"])
        bounds = {field: _decimal(file, number, column, row.pop(column)) for column, field in BOUND_FIELDS.items()}
        check_bounds(row["key"], numbers.values(), bounds["minimum"], bounds["maximum"])
    except InputError as error:
        raise FixtureError(file, number, error.name, str(error)) from error
    return AssumptionValue(**row | numbers | bounds)


def _decimal(file: str, number: int, field: str, text: str) -> Decimal | None:
    try:
        return Decimal(text) if text else None
    except InvalidOperation:
        raise FixtureError(file, number, field, f"is {text!r}; it must be a number such as 0.09") from None


@transaction.atomic
def load_claims(path: Path = FOLDER / "claims.csv") -> int:
    """Make the product's claims equal to the file; returns how many were added or changed."""
    stored = {claim.key: claim for claim in Claim.objects.filter(organisation__isnull=True, client__isnull=True)}
    new, changed = [], []
    for wanted in read_claims(path):
        existing = stored.pop(wanted.key, None)
        if existing is None:
            new.append(wanted)
        elif _differ(wanted, existing, CLAIM_FIELDS):
            for name in CLAIM_FIELDS:
                setattr(existing, name, getattr(wanted, name))
            changed.append(existing)
    Claim.objects.bulk_create(new)
    Claim.objects.bulk_update(changed, CLAIM_FIELDS)
    Claim.objects.filter(pk__in=[claim.pk for claim in stored.values()]).delete()
    return len(new) + len(changed)


def read_claims(path: Path = FOLDER / "claims.csv") -> list[Claim]:
    """The claims of the file, not stored. Raises `FixtureError` at the first bad cell."""
    claims: dict[str, Claim] = {}
    for number, row in _rows(path):
        for field in ("key", "topic", "statement", "check_text", "source", "as_of"):
            if not row[field]:
                raise FixtureError(path.name, number, field, "is empty")
        for field, choices in (("verdict", Claim.Verdict), ("status", Claim.Status)):
            if row[field] not in choices.values:
                allowed = ", ".join(choices.values)
                raise FixtureError(path.name, number, field, f"is {row[field]!r}; it must be one of {allowed}")
        if row["key"] in claims:
            raise FixtureError(path.name, number, "key", f"{row['key']!r} occurs twice")
        claims[row["key"]] = Claim(**row | {"assumption_keys": row["assumption_keys"].split()})
    return list(claims.values())


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            if None in row or None in row.values():
                raise FixtureError(path.name, number, "row", "has not as many cells as the head")
            yield number, {name: text.strip() for name, text in row.items()}


def _differ(one: object, other: object, fields: tuple[str, ...]) -> bool:
    return any(getattr(one, name) != getattr(other, name) for name in fields)
