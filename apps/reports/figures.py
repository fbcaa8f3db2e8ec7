"""How numbers, ranges and dates are written: the one place that rounds, for screens, files and reports alike.

Rounding is half to even on the decimal text of a number, so that 2.675 and 0.125 come out the same everywhere.
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from django.utils.dates import MONTHS_3
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

MINUS = "\u2212"
EN_DASH = "\u2013"
NBSP = "\u00a0"
NARROW_NBSP = "\u202f"
TIMES = "\u00d7"
FLOW_ZERO = EN_DASH  # a true zero in a cash table; spoken "zero"

Number = int | float | Decimal | str


def not_given() -> str:
    return _("not given")


def rounded(value: Number, decimals: int) -> Decimal:
    """`value` to `decimals` places, half to even."""
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    return number.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)


def fixed(value: Number | None, decimals: int, *, sign: bool = False) -> str:
    """Grouped digits with a real minus, `not given` for a number that does not exist."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return not_given()
    number = rounded(value, decimals)
    text = f"{abs(number):,.{decimals}f}"
    if number < 0:
        return MINUS + text
    return f"+{text}" if sign and number > 0 else text


def plain(value: Number | None, most_decimals: int = 6) -> str:
    """A quoted or assumed number as it was given: no padding, no more than `most_decimals` places."""
    if value is None or value == "":
        return not_given()
    text = fixed(value, most_decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def significant(value: Number | None, digits: int = 3) -> str:
    """`digits` significant digits, never fewer than the whole part has."""
    if value is None:
        return not_given()
    number = Decimal(str(value))
    if number == 0:
        return "0"
    return fixed(number, max(0, digits - 1 - number.adjusted()))


def _headline_decimals(in_millions: Decimal) -> int:
    size = abs(in_millions)
    return 0 if size >= 100 else 1 if size >= 10 else 2


def millions(value: Number | None, *, sign: bool = False) -> str:
    """Headline money in millions, without the unit: three significant digits from one million up."""
    if value is None:
        return not_given()
    in_millions = Decimal(str(value)) / 1_000_000
    return fixed(in_millions, _headline_decimals(rounded(in_millions, 2)), sign=sign)


def millions_m(value: Number | None, *, sign: bool = False) -> str:
    """8.75 M."""
    return not_given() if value is None else millions(value, sign=sign) + NBSP + "M"


def short_k(value: Number | None) -> str:
    """94 k: a small headline amount in whole thousands."""
    return not_given() if value is None else fixed(Decimal(str(value)) / 1000, 0) + NBSP + "k"


def thousands(value: Number | None, *, sign: bool = False) -> str:
    """Table money in thousands, one decimal in the whole column."""
    return not_given() if value is None else fixed(Decimal(str(value)) / 1000, 1, sign=sign)


def flow(value: Number | None) -> str:
    """A cell of a cash table: thousands, and a dash where nothing is paid."""
    if value is not None and rounded(Decimal(str(value)) / 1000, 1) == 0:
        return FLOW_ZERO
    return thousands(value)


def percent(fraction: Number | None, decimals: int = 1, *, sign: bool = False) -> str:
    """14.6 %, from a fraction, with a narrow space before the sign."""
    if fraction is None:
        return not_given()
    return fixed(Decimal(str(fraction)) * 100, decimals, sign=sign) + NARROW_NBSP + "%"


def percent_plain(fraction: Number | None) -> str:
    """9 %: without needless decimals."""
    return not_given() if fraction is None else plain(Decimal(str(fraction)) * 100, 4) + NARROW_NBSP + "%"


def range_text(low: Number | None, high: Number | None, write: Callable[[Number], str]) -> str:
    """8.47–9.31; with a sign in it the range is told in words, so that no minus meets a dash."""
    if low is None or high is None:
        return _("no range given")
    first, last = write(low), write(high)
    if first == last:
        return first
    if MINUS in first + last:
        return _("%(low)s to %(high)s") % {"low": first, "high": last}
    return first + EN_DASH + last


def p10_p90(distribution: Mapping[str, Any], write: Callable[[Number], str]) -> str:
    return range_text(distribution.get("p10"), distribution.get("p90"), write)


def months(value: Number | None) -> str:
    """month 33, kept together."""
    return not_given() if value is None else _("month") + NBSP + plain(value, 1)


def weeks(value: Number | None) -> str:
    return not_given() if value is None else _("week") + NBSP + plain(value, 1)


def multiple(value: Number | None) -> str:
    """0.96 × or 4.0 ×."""
    if value is None:
        return not_given()
    return fixed(value, 2 if Decimal(str(value)) < Decimal("1.5") else 1) + NBSP + TIMES


def day(value: dt.date | str | None) -> str:
    """24 Nov 2026."""
    if not value:
        return not_given()
    date = dt.date.fromisoformat(value[:10]) if isinstance(value, str) else value
    return f"{date.day}{NBSP}{MONTHS_3[date.month].title()}{NBSP}{date.year}"


def moment(value: dt.datetime | None) -> str:
    """24 Nov 2026, 14:05, in UTC."""
    return not_given() if value is None else f"{day(value.date())}, {value:%H:%M}"


def draws_of_100(shares: dict[str, float]) -> dict[str, int]:
    """Shares as whole draws of 100 that add to 100 when the shares add to one: the largest remainders round up."""
    exact = {key: Decimal(str(share)) * 100 for key, share in shares.items()}
    counts = {key: int(share) for key, share in exact.items()}
    missing = int(rounded(sum(exact.values(), Decimal(0)), 0)) - sum(counts.values())
    by_remainder = sorted(exact, key=lambda key: (counts[key] - exact[key], key))
    for key in by_remainder[: max(0, missing)]:
        counts[key] += 1
    return counts


def in_unit(value: Number | None, unit: str) -> str:
    """A value with the unit it was given in; fractions are written as percentages."""
    if value is None or value == "":
        return not_given()
    if unit in _FRACTIONS:
        return percent_plain(value) + _tail(str(_FRACTIONS[unit]))
    if unit in ("", "-", "1", "ratio"):
        return plain(value)
    return plain(value) + (NARROW_NBSP if unit.startswith("%") else NBSP) + unit


def number_in_unit(value: Number | None, unit: str) -> str:
    """The number of `in_unit` without its unit, for the ends of a range."""
    return percent_plain(value) if unit in _FRACTIONS else plain(value)


def short_in_unit(value: Number, unit: str) -> str:
    """The same for a narrow place: amounts of money from 10,000 up in thousands."""
    if unit[3:4] == "/" and abs(Decimal(str(value))) >= 10_000:
        return plain(Decimal(str(value)) / 1000, 1) + NBSP + "k"
    return number_in_unit(value, unit)


def unit_words(unit: str) -> str:
    """The unit alone; empty for counts and for fractions, which carry their sign with the number."""
    return str(_FRACTIONS[unit]) if unit in _FRACTIONS else "" if unit in ("-", "1", "ratio") else unit


def _tail(words: str) -> str:
    return NBSP + words if words else ""


_FRACTIONS = {
    "fraction": "",
    "share": "",
    "per year": gettext_lazy("a year"),
    "fraction of cost": gettext_lazy("of cost"),
    "fraction of cost per year": gettext_lazy("of cost a year"),
    "of price": gettext_lazy("of price"),
    "of quoted": gettext_lazy("of quoted"),
}


def joined(words: Sequence[str]) -> str:
    """A, B and C."""
    if len(words) < 2:
        return "".join(words)
    return _("%(first)s and %(last)s") % {"first": ", ".join(words[:-1]), "last": words[-1]}
