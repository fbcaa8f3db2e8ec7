"""One text for one content: the JSON that is stored, hashed and compared, the same on every machine and database."""

import hashlib
import json
import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

SIGNIFICANT_DIGITS = 10  # of the result hash: what different machine types agree on
_NOT_HASHED = ("numpy_version",)  # says with what a result was made, not what it is


def canonical_json(value: Any) -> str:
    """Return the value as JSON with sorted keys, no blanks and decimals as text.

    Raises `ValueError` for NaN and infinity and `TypeError` for what JSON cannot hold.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=_plain)


def sha256_of(text: str) -> str:
    """Return the SHA-256 of the text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def results_sha256(results: Any) -> str:
    """Return a hash of the values rounded to ten significant digits, without the library versions that made them."""
    if isinstance(results, dict):
        results = {key: value for key, value in results.items() if key not in _NOT_HASHED}
    return sha256_of(canonical_json(_rounded(results)))


def decimal_text(number: Decimal) -> str:
    """Return the shortest plain notation: 295000 for 295000.00 and for 2.95E+5."""
    if not number.is_finite():
        raise ValueError(f"{number} is not a finite number.")
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    if hasattr(value, "tolist"):  # numpy arrays and scalars, without importing numpy in every web process
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no canonical form.")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if hasattr(value, "tolist"):
        return _rounded(value.tolist())
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{SIGNIFICANT_DIGITS - 1}e}") + 0.0  # adding 0.0 turns -0.0 into 0.0
    return value
