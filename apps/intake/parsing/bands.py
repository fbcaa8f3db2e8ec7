"""Plausible unit prices; a price outside is asked, because most often its separator or unit was misread."""

from dataclasses import dataclass
from decimal import Decimal

_CURRENCIES = frozenset({"USD", "EUR", "GBP", "CHF"})  # of one order of magnitude, which the bands are wide enough for


@dataclass(frozen=True, slots=True)
class Band:
    kind: str
    words: tuple[str, ...]  # any of them in the unit, or in the description when the unit says nothing
    period: str  # "", hour, month, year
    low: Decimal
    high: Decimal


BANDS = (
    Band("cloud", ("gpu",), "hour", Decimal("0.05"), Decimal(100)),
    Band("compute", ("node", "server", "system"), "", Decimal(3_000), Decimal(8_000_000)),
    Band("compute", ("rack",), "", Decimal(50_000), Decimal(30_000_000)),
    Band("compute", ("gpu", "accelerator"), "", Decimal(200), Decimal(300_000)),
    Band("fabric", ("switch",), "", Decimal(300), Decimal(2_000_000)),
    Band("fabric", ("link", "cable", "optic", "transceiver"), "", Decimal(3), Decimal(30_000)),
    Band("storage", ("tb",), "month", Decimal("0.5"), Decimal(3_000)),
    Band("storage", ("tb",), "", Decimal(3), Decimal(30_000)),
)
_SAYS_NOTHING = frozenset({"", "each", "ea", "pc", "pcs", "piece", "unit", "stk", "stück", "lot", "item"})


def band_of(kind: str, unit: str, description: str, period: str, currency: str) -> Band | None:
    """Return the band for a line, or None where prices vary too much to say."""
    if currency not in _CURRENCIES:
        return None
    text = description.casefold() if unit.casefold() in _SAYS_NOTHING else unit.casefold()
    for band in BANDS:
        if band.kind == kind and band.period == period and any(word in text for word in band.words):
            return band
    return None
