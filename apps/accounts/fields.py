"""Database fields that every app above needs."""

from decimal import Decimal
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class ExactDecimalField(models.DecimalField):  # type: ignore[type-arg]
    """A decimal that reads back exactly as it was written, on every database.

    SQLite has no decimal type and Django stores decimals there as binary floats, which keep 15 digits. A price has to
    survive unchanged, so on SQLite the column holds the digits as text. Compare and sort such columns in Python.
    """

    def __init__(self, *args: Any, max_digits: int = 28, decimal_places: int = 10, **kwargs: Any) -> None:
        super().__init__(*args, max_digits=max_digits, decimal_places=decimal_places, **kwargs)

    def get_internal_type(self) -> str:
        return "ExactDecimalField"

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        if connection.vendor == "sqlite":
            return "text"
        return f"numeric({self.max_digits}, {self.decimal_places})"

    def rel_db_type(self, connection: BaseDatabaseWrapper) -> str:
        return self.db_type(connection)

    def from_db_value(self, value: Any, *_: Any) -> Decimal | None:
        if value is None:
            return None
        # 295000.0000000000 and 295000 are one number; PostgreSQL pads and SQLite does not.
        return _shortest(Decimal(value))

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        number = self.to_python(value)
        if number is None:
            return None
        return format(_shortest(number), "f") if connection.vendor == "sqlite" else number

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        if hasattr(value, "as_sql"):
            return value
        return self.get_db_prep_value(value, connection)


def _shortest(number: Decimal) -> Decimal:
    """The same number without trailing zeros after the point."""
    shortest = number.normalize()
    return shortest.quantize(Decimal(1)) if shortest == shortest.to_integral_value() else shortest
