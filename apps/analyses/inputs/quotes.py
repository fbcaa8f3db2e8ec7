"""The pinned quotes as received, frozen with the inputs for the reader: no number of a run comes from here."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from apps.analyses.inputs.factors import text
from apps.assessments.models import Option
from apps.vendors.models import QuoteLine, QuoteVersion

PRICES = ("unit_price_low", "unit_price_likely", "unit_price_high")


def quote_entries(options: Sequence[Option]) -> list[dict[str, Any]]:
    """One entry an option and pinned quote version, with every line; what is not given is null, never 0."""
    return [
        _entry(option.letter, phase.quote_version)
        for option in options
        for phase in option.phases.all()
        if phase.quote_version is not None
    ]


def _entry(letter: str, version: QuoteVersion) -> dict[str, Any]:
    lines = sorted(version.lines.all(), key=lambda line: line.position)
    return {
        "option": letter,
        "vendor": version.quote.vendor.name,
        "number": version.quote.number,
        "version": version.version,
        "valid_until": version.valid_until.isoformat() if version.valid_until else None,
        "incoterm": version.incoterm or None,
        "lines": [_line(line) for line in lines],
    }


def _line(line: QuoteLine) -> dict[str, Any]:
    return {
        "position": line.position,
        "kind": line.kind,
        "description": line.description,
        "part_number": line.part_number,
        "quantity": text(line.quantity),
        "unit": line.unit,
        **{name: _decimal(getattr(line, name)) for name in PRICES},
        "included": line.included,
        "currency": line.currency,
        "charge": line.charge,
        "period": line.period,
        "discount_fraction": text(line.discount_fraction),
        "evidence_level": line.evidence_level or None,
        "ref": line.source_ref,
    }


def _decimal(value: Decimal | None) -> str | None:
    return None if value is None else text(value)
