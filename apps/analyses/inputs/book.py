"""Every input of one document, entered once, with its range and where it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import Any

from apps.analyses.inputs.factors import text
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

    @classmethod
    def of(cls, value: Any) -> "Range":
        """Read a number, decimal text, or {"low", "likely", "high"} as stored in JSON."""
        if isinstance(value, Mapping):
            low, high = value.get("low"), value.get("high")
            return cls(
                likely=Decimal(str(value["likely"])),
                low=None if low in (None, "") else Decimal(str(low)),
                high=None if high in (None, "") else Decimal(str(high)),
                distribution=str(value.get("distribution") or "triangular"),
            )
        return cls(likely=Decimal(str(value)))


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
    given = value.low is not None and value.high is not None and value.distribution != "fixed"
    low, high = (value.low, value.high) if given else (None, None)
    if low is not None and high is not None and not low <= value.likely <= high:
        raise InputError(caption.label, f"{low} / {value.likely} / {high}", "low, likely and high in rising order")
    return {
        "label": caption.label,
        "unit": caption.unit,
        "likely": text(value.likely),
        "low": None if low is None else text(low),
        "high": None if high is None else text(high),
        "distribution": value.distribution if given else "fixed",
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
