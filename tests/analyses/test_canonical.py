"""One text for one content."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from apps.analyses.canonical import canonical_json, decimal_text, results_sha256, sha256_of


def test_keys_are_sorted_and_nothing_is_blank() -> None:
    value = {"b": [1, 2.5, None, True], "a": {"é": date(2026, 11, 24)}, "c": Decimal("0.10")}
    assert canonical_json(value) == '{"a":{"é":"2026-11-24"},"b":[1,2.5,null,true],"c":"0.1"}'


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("295000.00", "295000"),
        ("2.95E+5", "295000"),
        ("1e-7", "0.0000001"),
        ("-0", "0"),
        ("0.00", "0"),
        ("198.89", "198.89"),
    ],
)
def test_decimals_are_the_shortest_plain_text(written: str, text: str) -> None:
    assert decimal_text(Decimal(written)) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("NaN")])
def test_what_is_no_number_is_refused(number: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json and decimal have words of their own
        canonical_json({"x": number})


def test_numpy_numbers_have_the_text_of_python_numbers() -> None:
    assert canonical_json([np.float64(0.1), np.int64(3), np.array([1.5, 2.0])]) == "[0.1,3,[1.5,2.0]]"


def test_text_is_hashed_as_utf_8() -> None:
    assert sha256_of("é") == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"


def test_the_result_hash_sees_ten_digits_and_no_library_version() -> None:
    results = {"total": 6_564_898.880123456, "zero": 0.0, "numpy_version": "2.4.6", "list": [1.0, 2.0]}
    same = {"total": 6_564_898.8801234561, "zero": -0.0, "numpy_version": "2.3.0", "list": [1.0, 2.0]}
    other = {**results, "total": 6_564_898.881}
    assert results_sha256(results) == results_sha256(same)
    assert results_sha256(results) != results_sha256(other)
