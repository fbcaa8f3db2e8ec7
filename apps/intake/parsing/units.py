"""Units are part of a value: bits and bytes, decimal and binary, found in the text beside the number."""

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = r"(?<![\w.,])(\d+(?:[.,' \u00a0\u202f]\d+)*)\s*"
_CAPACITY = re.compile(_NUMBER + r"(TB|TiB|PB|PiB|EB|EiB|GB|GiB)\b(?!\s*(?:/\s*s|ps\b|p/s))")
_RATE = re.compile(
    _NUMBER + r"([KMGT]i?)(b|B|bit|bits|byte|bytes|Bit|Byte|Bytes)(?:\s*/\s*(?:s|sec|second)|ps|it/s|yte/s)(?![a-zA-Z])"
)
_LINK = re.compile(_NUMBER + r"([GT])(b|B|bit|byte)(?:\s*/\s*s|ps)(?![a-zA-Z])")
_FACTORS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
LINK_SPEEDS_GBIT = frozenset({10, 25, 40, 50, 56, 100, 200, 400, 800, 1600})
LINK_LIMIT_GBIT_PER_S = 1600  # the fastest port sold; above it a rate was written in the wrong unit
# Units in which a storage line counts capacity itself, in TB.
CAPACITY_UNITS_TB = {
    "tb": Decimal(1),
    "tib": Decimal(2**40) / 10**12,
    "pb": Decimal(1000),
    "pib": Decimal(2**50) / 10**12,
    "gb": Decimal("0.001"),
    "gib": Decimal(2**30) / 10**12,
}


@dataclass(frozen=True, slots=True)
class Found:
    """A quantity in a text: its number as written, its unit as written, the factor to the base unit."""

    body: str
    unit: str
    factor: Decimal  # to TB, GB/s or Gb/s, as the function that found it says


def _prefix(prefix: str) -> int:
    return _BINARY[prefix] if prefix in _BINARY else _FACTORS[prefix]


def capacities(text: str) -> list[Found]:
    """Every storage capacity in a text, with the factor to TB (10^12 bytes)."""
    found = []
    for match in _CAPACITY.finditer(text):
        unit = match[2]
        found.append(Found(_tidy(match[1]), unit, Decimal(_prefix(unit[:-1])) / 10**12))
    return found


def rates(text: str) -> list[Found]:
    """Every data rate in a text, with the factor to GB/s (10^9 bytes a second)."""
    found = []
    for match in _RATE.finditer(text):
        bits = match[3].startswith("b") and not match[3].startswith("byte")
        factor = Decimal(_prefix(match[2])) / 10**9 / (8 if bits else 1)
        found.append(Found(_tidy(match[1]), f"{match[2]}{'b' if bits else 'B'}/s", factor))
    return found


def write_rates(text: str) -> list[Found]:
    """The data rates that a text calls write rates: the word stands within a few characters of the rate."""
    found = []
    for match in _RATE.finditer(text):
        around = text[max(0, match.start() - 14) : match.end() + 16].casefold()
        if re.search(r"write|writ|schreib|écriture|ecriture", around):
            found.extend(rates(match[0]))
    return found


def link_rates(text: str) -> list[Found]:
    """Every link speed in Gb/s or GB/s, with the factor to Gb/s."""
    found = []
    for match in _LINK.finditer(text):
        bits = match[3].startswith("b") and match[3] != "byte"
        scale = 1000 if match[2] == "T" else 1
        found.append(Found(_tidy(match[1]), f"{match[2]}{'b' if bits else 'B'}/s", Decimal(scale * (1 if bits else 8))))
    return found


def _tidy(body: str) -> str:
    return re.sub("[\u00a0\u202f]", " ", body)
