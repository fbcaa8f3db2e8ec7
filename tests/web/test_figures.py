"""Numbers are written as the design says, and rounded once, half to even."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reports import figures
from apps.reports.csv_export import csv_cell, table_csv

N, S = figures.NARROW_NBSP, figures.NBSP


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8_753_560, "8.75"),
        (922_880, "0.92"),
        (66_312_000, "66.3"),
        (120_450_000, "120"),
        (-492_600, "−0.49"),
        (0, "0.00"),
    ],
)
def test_headline_money_has_three_significant_digits_from_a_million_up(value: int, text: str) -> None:
    assert figures.millions(value) == text


def test_rounding_is_half_to_even_on_the_decimal_text() -> None:
    assert figures.fixed(2.675, 2) == "2.68"
    assert figures.fixed(2.665, 2) == "2.66"
    assert figures.fixed(0.1 + 0.2, 2) == "0.30"
    assert figures.fixed(1e-7, 2) == "0.00"
    assert figures.fixed(Decimal("198.89"), 1) == "198.9"


def test_a_range_with_a_sign_in_it_is_told_in_words() -> None:
    assert figures.range_text(8.47, 9.31, lambda v: figures.fixed(v, 2)) == "8.47–9.31"
    assert figures.range_text(-0.08, 7.22, lambda v: figures.fixed(v, 2)) == "−0.08 to 7.22"
    assert figures.range_text(None, 1, figures.plain) == "no range given"


def test_what_is_unknown_is_not_given_and_never_zero() -> None:
    for write in (figures.millions, figures.thousands, figures.percent, figures.plain, figures.months):
        assert write(None) == "not given"
    assert figures.fixed(float("nan"), 1) == "not given"
    assert figures.day(None) == "not given"


def test_a_true_zero_of_a_cash_table_is_a_dash() -> None:
    assert figures.flow(0.0) == "–"
    assert figures.flow(-922_900) == "−922.9"
    assert figures.flow(40) == "–"
    assert figures.flow(60) == "0.1"


def test_percentages_dates_and_units() -> None:
    assert figures.percent(-0.146, sign=True) == f"−14.6{N}%"
    assert figures.percent_plain("0.09") == f"9{N}%"
    assert figures.day(dt.date(2026, 11, 24)) == f"24{S}Nov{S}2026"
    assert figures.day("2026-11-24") == f"24{S}Nov{S}2026"
    assert figures.in_unit("190", "USD/kW-month") == f"190{S}USD/kW-month"
    assert figures.in_unit("0.05", "fraction of cost per year") == f"5{N}%{S}of cost a year"
    assert figures.in_unit("8", "% a year") == f"8{N}% a year"
    assert figures.multiple(0.96) == f"0.96{S}×"
    assert figures.multiple(4) == f"4.0{S}×"


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=7))
def test_draws_of_100_add_to_100(weights: list[float]) -> None:
    shares = {str(i): weight / sum(weights) for i, weight in enumerate(weights)}
    counts = figures.draws_of_100(shares)
    assert sum(counts.values()) == 100
    assert all(abs(counts[key] - 100 * share) < 1 for key, share in shares.items())


@pytest.mark.parametrize("text", ["=1+1", "+cmd|calc", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(1)"])
def test_a_cell_that_could_start_a_formula_is_text(text: str) -> None:
    assert csv_cell(text).startswith("'") or not csv_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_numbers_stay_numbers_in_csv() -> None:
    assert csv_cell("4,720.0") == "4720.0"
    assert csv_cell("−922.9") == "-922.9"
    assert csv_cell("+840.0") == "840.0"
    assert csv_cell("–") == "0.0"
    assert csv_cell("8.47–9.31") == "8.47–9.31"
    assert table_csv([["a", "1,000.5"]]) == "\ufeffa,1000.5\r\n"
