"""Text becomes a number by one rule for the whole file; what could be read in two ways is never guessed."""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from apps.intake.parsing import limits, money

_SPACES = re.compile("[\u0020\u00a0\u2007\u2009\u202f]")
_APOSTROPHES = re.compile("['\u2019\u02bc]")
_BODY = re.compile(r"[0-9]+(?:[.,' ][0-9]+)*|[.,][0-9]+", re.ASCII)
_MINUS = "-\u2212"
STYLE_LABELS = {".": "1,234.50 (point for decimals)", ",": "1.234,50 (comma for decimals)"}


@dataclass(frozen=True, slots=True)
class Token:
    """A number's text taken apart: sign, currency and percent mark away, digits and separators left."""

    body: str
    negative: bool
    percent: bool
    currency: str  # symbol or code as written


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a body; `decimal` is the decimal separator it implies, or None when it implies none."""

    value: Decimal
    decimal: str | None


def take_apart(text: str) -> Token | None:
    """Return sign, currency, percent and digits of a number's text; None when it is not plain decimal notation."""
    rest = unicodedata.normalize("NFC", text).strip(" \t\u00a0\u202f\u2009")
    if len(rest) > 60:
        return None
    negative = percent = False
    currency = ""
    if rest.startswith("(") and rest.endswith(")"):
        negative, rest = True, rest[1:-1].strip()
    currency, rest = money.split_currency(rest)
    rest, signed = _strip_sign(rest)
    if signed and negative:
        return None
    negative = negative or signed
    if not currency:
        currency, rest = money.split_currency(rest)
    if rest.endswith("%"):
        percent, rest = True, rest[:-1]
    rest = re.sub(r"(?<=[0-9])[.,][-–—]$", "", rest.strip())  # 1.234,- is an amount without cents
    rest = _APOSTROPHES.sub("'", _SPACES.sub(" ", rest.strip()))
    return Token(rest, negative, percent, currency) if _BODY.fullmatch(rest) else None


def _strip_sign(text: str) -> tuple[str, bool]:
    if text[:1] and text[0] in _MINUS:
        return text[1:].strip(), True
    if text[:1] == "+":
        return text[1:].strip(), False
    if len(text) > 1 and text[-1] in _MINUS and text[-2].isdigit():  # 100-, as some ledgers print it
        return text[:-1].strip(), True
    return text, False


def readings(body: str) -> list[Reading]:
    """All values a body of digits and separators can have: one when it is clear, two for 1.234, none for nonsense."""
    found: list[Reading] = []
    for decimal in (".", ","):
        if body.count(decimal) == 1:
            whole, fraction = body.split(decimal)
            if fraction.isdigit() and (digits := _grouped(whole, not_=decimal)) is not None:
                found.append(Reading(Decimal(f"{digits or '0'}.{fraction}"), decimal))
    digits = _grouped(body, not_="")
    if digits:
        implied = {",": ".", ".": ","}
        separators = {character for character in body if not character.isdigit()}
        found.append(Reading(Decimal(digits), implied.get(separators.pop()) if separators else None))
    return found


def _grouped(text: str, *, not_: str) -> str | None:
    """The digits of a whole number with one kind of group separator, or None if the groups are not right."""
    separators = {character for character in text if not character.isdigit()}
    if not separators:
        return text
    separator = separators.pop()
    if separators or separator == not_:
        return None
    first, *rest = text.split(separator)
    # A leading zero never stands before a group: 0.125 has decimals, 0,125,000 is nonsense.
    western = 1 <= len(first) <= 3 and not first.startswith("0") and all(len(part) == 3 for part in rest)
    indian = (
        separator == ","
        and len(rest) > 1
        and 1 <= len(first) <= 2
        and not first.startswith("0")
        and len(rest[-1]) == 3
        and all(len(part) == 2 for part in rest[:-1])
    )
    return text.replace(separator, "") if western or indian else None


def read(body: str, decimal: str | None) -> Decimal | None:
    """The value of a body under the file's decimal separator; None if it does not fit that style."""
    fitting = [reading.value for reading in readings(body) if reading.decimal in (decimal, None) or decimal is None]
    return fitting[0] if fitting else None


def exact(value: Decimal) -> Decimal | None:
    """The number as the database keeps it, or None when it has more digits than that."""
    if not value.is_finite() or value.adjusted() >= limits.INTEGER_DIGITS:
        return None
    exponent = value.normalize().as_tuple().exponent
    if isinstance(exponent, int) and -exponent > limits.DECIMAL_PLACES:
        return None
    return value


def plain(value: Decimal) -> str:
    """A number as text without exponent, as it was written: 295000.00 stays 295000.00."""
    return format(value, "f")


def shortest(value: Decimal) -> str:
    """A number as text without trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
