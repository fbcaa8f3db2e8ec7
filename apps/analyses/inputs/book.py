"""Every input of one document, entered once, with its range and where it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any

from apps.analyses.inputs.factors import text
from apps.assumptions.services import check_bounds
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration
from apps.vendors.models import QuoteLine, QuoteVersion


@dataclass(frozen=True, kw_only=True)
class Range:
    """Low, likely and high of one number; without low and high the number is fixed."""

    likely: Decimal
    low: Decimal | None = None
    high: Decimal | None = None
    distribution: str = "triangular"

    @property
    def bounds(self) -> tuple[Decimal, Decimal] | tuple[None, None]:
        """Low and high; a side that is not given equals likely, and both are None when the number is fixed."""
        if self.distribution == "fixed" or (self.low is None and self.high is None):
            return None, None
        return self.likely if self.low is None else self.low, self.likely if self.high is None else self.high

    @classmethod
    def of(cls, value: Any, name: str = "value") -> "Range":
        """Read a number, decimal text, or {"low", "likely", "high"} as stored in JSON; errors say `name`."""
        if not isinstance(value, Mapping):
            return cls(likely=_read(name, value))
        low, high = value.get("low"), value.get("high")
        return cls(
            likely=_read(f"{name}, likely", value.get("likely")),
            low=None if low in (None, "") else _read(f"{name}, low", low),
            high=None if high in (None, "") else _read(f"{name}, high", high),
            distribution=str(value.get("distribution") or "triangular"),
        )


def _read(name: str, value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if isinstance(value, bool) or not number.is_finite():
        raise InputError(name, "not given" if value in (None, "") else value, "a number")
    return number


# What a unit allows: least and greatest. Units that are not listed, such as rates and prices, allow more.
UNIT_BOUNDS: Mapping[str, tuple[int, int | None]] = {
    "of hours": (0, 1),
    "of used hours": (0, 1),
    "of hours beyond the commitment": (0, 1),
    "of quoted": (0, 1),
    "of capital": (0, 1),
    "of price": (0, 1),
    "of step time": (0, None),
    "accelerators": (0, None),
    "weeks": (0, None),
    "days": (0, None),
    "minutes": (0, None),
    "1/h": (0, None),
    "kW": (0, None),
    "FTE": (0, None),
    "% a year": (0, None),
    "% a month": (0, None),
    "% of price": (0, None),
}


def check_numbers(name: str, unit: str, low: Decimal | None, likely: Decimal, high: Decimal | None) -> None:
    """Raise `InputError` unless the numbers rise from low to high and each is one that the unit allows."""
    ends = (likely if low is None else low, likely, likely if high is None else high)
    if not ends[0] <= likely <= ends[2]:
        raise InputError(name, f"{low} / {likely} / {high}", "low, likely and high in rising order")
    least, greatest = UNIT_BOUNDS.get(unit, (None, None))
    check_bounds(name, ends, None if least is None else Decimal(least), None if greatest is None else Decimal(greatest))


@dataclass(frozen=True, kw_only=True)
class Caption:
    """How an input is named and which of its neighbours it moves with."""

    label: str
    unit: str
    topic: str = "price"
    correlation_group: str | None = None
    correlation_sign: int = 1


@dataclass
class Book:
    """The inputs of a document by key. Equal facts under one key are one input, and so share their draws."""

    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, keys: str | Sequence[str], value: Range, caption: Caption, source: Mapping[str, Any]) -> str:
        """Enter an input under the first of `keys` that is free or already says the same; return that key."""
        entry = _entry(value, caption, source)
        names = [keys] if isinstance(keys, str) else list(keys)
        for key in chain(names, (f"{names[-1]}.{n}" for n in range(2, 1000))):
            known = self.inputs.setdefault(key, entry)
            if _numbers(known) == _numbers(entry):
                return key
        raise InputError(names[0], "1,000 different values", "one value")


def _numbers(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(entry[name] for name in ("unit", "likely", "low", "high", "distribution"))


def _entry(value: Range, caption: Caption, source: Mapping[str, Any]) -> dict[str, Any]:
    low, high = value.bounds
    check_numbers(caption.label, caption.unit, low, value.likely, high)
    return {
        "label": caption.label,
        "unit": caption.unit,
        "likely": text(value.likely),
        "low": None if low is None else text(low),
        "high": None if high is None else text(high),
        "distribution": "fixed" if low is None else value.distribution,
        "correlation_group": caption.correlation_group,
        "correlation_sign": caption.correlation_sign,
        "topic": caption.topic,
        "source": dict(source),
    }


# Sources ------------------------------------------------------------------------------------------------------------
def source(kind: str, **facts: Any) -> dict[str, Any]:
    """Where an input comes from; empty text where a fact is not known."""
    names = ("text", "ref", "version", "author", "date", "evidence_level", "status")
    return {"kind": kind, **{name: _plain(facts.get(name)) for name in names}}


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, date) else str(value)


def quote_source(version: QuoteVersion, ref: str, evidence_level: str = "") -> dict[str, Any]:
    return source(
        "quote",
        text=f"{version.quote.vendor.name} {version.quote.number}",
        ref=ref,
        version=version.version,
        date=version.date,
        evidence_level=evidence_level,
        status=version.state,
    )


def line_source(quote_line: QuoteLine) -> dict[str, Any]:
    return quote_source(quote_line.quote_version, quote_line.source_ref, quote_line.evidence_level)


def configuration_source(configuration: RackConfiguration, name: str) -> dict[str, Any]:
    """The source of one field of a configuration, as noted beside the field."""
    facts = configuration.sources.get(name, {})
    where = facts.get("source", "")
    return source(
        "configuration",
        text=f"{configuration.name}: {where}" if where else configuration.name,
        ref=facts.get("ref", name),
        evidence_level=facts.get("level", ""),
    )
