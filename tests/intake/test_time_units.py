"""Quantities that count time, and prices per hour of what is not an accelerator: no factor is accepted in silence."""

from decimal import Decimal
from typing import Any

import pytest

from apps.intake.parsing.quote import Request, parse
from apps.intake.parsing.time_units import TimeUnit, find
from tests.intake.generate import HEADER, LINES, csv_bytes, saved, workbook

HEADINGS = (*HEADER, "percent_of", "term_months", "line_total")
NODE = [*LINES[0], "", "", ""]


def result_of(answers: dict[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    """The result of a file with one node and one recurring line, which is its row 3."""
    line = {
        "line": 2,
        "kind": "support",
        "description": "Support contract",
        "quantity": 1,
        "unit": "month",
        "unit_price_likely": "1000",
        "currency": "EUR",
        "charge": "recurring",
        "period": "month",
        **changes,
    }
    content = csv_bytes([NODE, [line.get(name, "") for name in HEADINGS]], header=HEADINGS)
    return parse(Request(content, "quote_csv", answers=answers or {}))


def last(result: dict[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = result["lines"][-1]
    return line


def cost(line: dict[str, Any]) -> Decimal:
    """What the line costs over its term as the engine bills it."""
    a_month = {"hour": Decimal(730), "month": Decimal(1), "year": Decimal(1) / 12}[line["period"]]
    months = Decimal(line["term_months"])
    return round(Decimal(line["quantity"]) * Decimal(line["unit_price_likely"]) * months * a_month, 2)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("month", TimeUnit("month")),
        ("Months", TimeUnit("month")),
        ("month(s)", TimeUnit("month")),
        ("Monate", TimeUnit("month")),
        ("mois", TimeUnit("month")),
        ("hrs", TimeUnit("hour")),
        ("ans", TimeUnit("year")),
        ("Quartal", TimeUnit("quarter")),
        ("contract months", TimeUnit("month")),
        ("12 months", TimeUnit("month", factor=Decimal(12))),
        ("GPU-hours", TimeUnit("hour", head="gpu")),
        ("GPU/h", TimeUnit("hour", head="gpu")),
        ("per month", TimeUnit("month", rate=True)),
        ("jährlich", TimeUnit("year", rate=True)),
        ("node", None),
        ("contract", None),
        ("", None),
    ],
)
def test_a_unit_says_whether_it_counts_time(unit: str, expected: TimeUnit | None) -> None:
    assert find(unit) == expected


@pytest.mark.parametrize(
    ("quantity", "unit", "period", "price", "months"),
    [
        (36, "month", "month", "1000", "36"),
        (36, "months", "month", "1000", "36"),
        (3, "Jahre", "year", "12000", "36"),
        ("0.5", "year", "year", "12000", "6"),
    ],
)
def test_a_count_of_the_period_is_the_term(quantity: Any, unit: str, period: str, price: str, months: str) -> None:
    result = result_of(quantity=quantity, unit=unit, period=period, unit_price_likely=price)
    assert result["outcome"] == "accept", result["questions"]
    line = last(result)
    assert (line["quantity"], line["term_months"]) == ("1", months)
    assert (line["refs"]["quantity"], line["refs"]["unit"], line["refs"]["term_months"]) == (
        "Lines!E3",
        "Lines!F3",
        "Lines!E3",
    )


@pytest.mark.parametrize(
    ("quantity", "unit", "period", "price", "term", "each"),
    [
        (36, "month", "year", "12000", 36_000, 432_000),
        (3, "year", "month", "1000", 36_000, 3_000),
        (12, "quarter", "month", "1000", 36_000, 12_000),
        (365, "days", "month", "1000", 12_000, 365_000),
        (3, "12 months", "month", "1000", 36_000, 3_000),
        (1, "year", "month", "1000", 12_000, 1_000),
    ],
)
def test_another_unit_of_time_than_the_period_is_asked_with_what_each_reading_costs(
    quantity: int, unit: str, period: str, price: str, term: int, each: int
) -> None:
    given = {"quantity": quantity, "unit": unit, "period": period, "unit_price_likely": price}
    result = result_of(**given)
    assert result["outcome"] == "ask"
    (question,) = result["questions"]
    assert (question["id"], question["suggested"]) == ("time:Lines!E3", "term")
    assert {"Lines!E3", "Lines!F3", "Lines!L3"} == set(question["cells"])
    labels = {choice["value"]: choice["label"] for choice in question["choices"]}
    assert f"{term} in all" in labels["term"]
    assert f"{each} in all" in labels["each"]
    assert cost(last(result)) == term
    assert cost(last(result_of({question["id"]: "each"}, **given))) == each


def test_a_line_total_decides_between_term_and_price_for_each() -> None:
    given = {"quantity": 36, "unit": "month", "period": "year", "unit_price_likely": "12000"}
    sure = result_of(line_total="36000", **given)
    assert sure["outcome"] == "accept", (sure["questions"], sure["messages"])
    assert (last(sure)["quantity"], last(sure)["term_months"]) == ("1", "36")
    asked = result_of(line_total="432000", **given)
    assert asked["questions"][0]["suggested"] == "each"
    assert not [message for message in asked["messages"] if message["severity"] == "warning"]


@pytest.mark.parametrize(("period", "price", "total"), [("hour", "2", "583104.99"), ("year", "12000", "604504.99")])
def test_a_total_row_agrees_with_recurring_lines_over_their_term(period: str, price: str, total: str) -> None:
    months = {"hour": "10", "year": "36"}[period]
    line = {"description": "Support", "quantity": "1", "unit": "GPU", "unit_price_likely": price, "currency": "EUR"}
    line |= {"kind": "support", "charge": "recurring", "period": period, "term_months": months}
    rows = [[*one, "", "", ""] for one in LINES[:3]] + [[line.get(name, "") for name in HEADINGS]]
    rows.append(["", "", "Total", *[""] * 13, total])
    result = parse(Request(csv_bytes(rows, header=HEADINGS), "quote_csv"))
    assert any("agrees with the lines" in one["text"] for one in result["messages"]), result["messages"]


def test_hours_a_year_of_one_accelerator_or_as_many_accelerators_are_asked() -> None:
    given = {"kind": "cloud", "description": "Reserved GPU", "quantity": 8760, "unit": "hour", "period": "hour"}
    result = result_of(unit_price_likely="2.25", **given)
    questions = {question["id"]: question for question in result["questions"]}
    assert questions["time:Lines!E3"]["suggested"] == "term"
    assert [choice["value"] for choice in questions["time:Lines!E3"]["choices"]] == ["term", "units"]
    assert (last(result)["quantity"], last(result)["term_months"]) == ("1", "12")
    many = result_of({"time:Lines!E3": "units", "unit:Lines!F3": "accelerator"}, unit_price_likely="2.25", **given)
    assert many["outcome"] == "accept"
    assert (last(many)["quantity"], last(many)["unit"], last(many)["term_months"]) == ("8760", "GPU", None)


def test_gpu_hours_count_gpus_or_hours() -> None:
    given = {"kind": "cloud", "description": "Reserved", "quantity": 280320, "unit": "GPU-hours", "period": "hour"}
    result = result_of(unit_price_likely="2.25", term_months=12, **given)
    (question,) = result["questions"]
    assert question["suggested"] == "total"
    assert (last(result)["quantity"], last(result)["term_months"]) == ("32", "12")
    plain = result_of(unit_price_likely="2.25", **given)
    assert [choice["value"] for choice in plain["questions"][0]["choices"]] == ["units", "term"]


def test_users_at_a_price_per_month_are_asked_whether_the_number_is_a_term() -> None:
    result = result_of(quantity=10, unit="per month")
    (question,) = result["questions"]
    assert question["suggested"] is None
    assert last(result)["quantity"] == "10"
    assert last(result_of({question["id"]: "term"}, quantity=10, unit="per month"))["term_months"] == "10"


def test_a_term_of_the_unit_that_contradicts_the_term_given_names_both_cells() -> None:
    result = result_of(quantity=36, term_months=24)
    (message,) = [one for one in result["messages"] if one["severity"] == "error"]
    assert "Lines!E3" in message["text"]
    assert "Lines!P3" in message["text"]
    assert result["fixable"] is True


@pytest.mark.parametrize(("quantity", "unit"), [(36, "month"), (3, "years"), (156, "weeks")])
def test_a_term_given_twice_and_alike_is_one_term(quantity: int, unit: str) -> None:
    result = result_of(quantity=quantity, unit=unit, term_months=36)
    assert result["outcome"] == "accept", result["messages"]
    assert (last(result)["quantity"], last(result)["term_months"]) == ("1", "36")


@pytest.mark.parametrize(("quantity", "unit"), [(36, "month"), (3, "year"), (156, "weeks")])
def test_a_percentage_is_counted_once_for_its_term(quantity: int, unit: str) -> None:
    result = result_of(quantity=quantity, unit=unit, unit_price_likely="8 %", period="year", percent_of="compute")
    assert result["outcome"] == "accept", (result["questions"], result["messages"])
    line = last(result)
    assert (line["quantity"], line["unit_price_likely"]) == ("1", "8")
    assert abs(Decimal(line["term_months"]) - 36) < Decimal("0.1")


def test_a_percentage_per_month_for_years_is_asked() -> None:
    given = {"quantity": 3, "unit": "year", "unit_price_likely": "8 %", "percent_of": "compute"}
    (question,) = result_of(**given)["questions"]
    assert question["suggested"] == "each"
    line = last(result_of({question["id"]: "each"}, **given))
    assert (line["quantity"], line["period"], line["term_months"]) == ("1", "year", "36")


def test_a_one_off_percentage_for_years_is_asked() -> None:
    given = {"quantity": 3, "unit": "year", "unit_price_likely": "8 %", "percent_of": "compute", "charge": "one-off"}
    (question,) = result_of(period="", **given)["questions"]
    readings = [last(result_of({question["id"]: value}, period="", **given)) for value in ("once", "each")]
    assert [(line["quantity"], line["unit_price_likely"]) for line in readings] == [("1", "8"), ("1", "24")]


@pytest.mark.parametrize("quantity", [10, 0, "0.5"])
def test_a_percentage_of_ten_nodes_is_refused(quantity: Any) -> None:
    result = result_of(quantity=quantity, unit="node", unit_price_likely="8 %", period="year", percent_of="compute")
    (message,) = [one for one in result["messages"] if one["severity"] == "error"]
    assert message["cell"] == "Lines!E3"


@pytest.mark.parametrize("unit", ["node", "nodes", "instance", "GPU server"])
def test_a_node_by_the_hour_says_that_its_accelerators_are_needed(unit: str) -> None:
    result = result_of(kind="cloud", quantity=16, unit=unit, period="hour", unit_price_likely="18")
    (text,) = [one["text"] for one in result["messages"] if "accelerators each one has" in one["text"]]
    assert "not given in this file" in text


def test_the_accelerators_of_a_node_are_named_from_the_sheets() -> None:
    line = [5, "cloud", "Reserved node", "", 16, "node", "", "18.5", "", "EUR", "recurring", "hour", 0, "claim"]
    book = workbook([*LINES, line])
    book.create_sheet("Fabric").append(["GPUs per node", 8])
    result = parse(Request(saved(book)))
    (text,) = [one["text"] for one in result["messages"] if "accelerators each one has" in one["text"]]
    assert "8, as Fabric!B" in text
    assert not [one for one in result["messages"] if one["text"].startswith("Kept")]


@pytest.mark.parametrize(("unit", "asked"), [("GPU", False), ("TB", False), ("pod", True), ("", True), ("each", True)])
def test_what_an_hourly_price_is_for_is_asked_unless_its_unit_says_it(unit: str, *, asked: bool) -> None:
    given = {"kind": "cloud", "description": "Reserved", "quantity": 16, "unit": unit, "period": "hour"}
    result = result_of(unit_price_likely="2.25", **given)
    assert [question["id"] for question in result["questions"]] == (["unit:Lines!F3"] if asked else [])
    if asked:
        answered = result_of({"unit:Lines!F3": "node"}, unit_price_likely="2.25", **given)
        assert last(answered)["unit"] == "node"


@pytest.mark.parametrize(("given", "other"), [("low", "high"), ("high", "low")])
def test_one_side_of_a_range_is_kept_and_the_other_said_to_be_the_likely_price(given: str, other: str) -> None:
    price = {"low": "900", "high": "1200"}[given]
    result = result_of(unit="contract", **{f"unit_price_{given}": price})
    assert result["outcome"] == "accept"
    (text,) = [one["text"] for one in result["messages"] if one["text"].startswith("Only the")]
    assert f"the {other} price is taken as the likely price, 1000." in text
    assert (last(result)[f"unit_price_{given}"], last(result)[f"unit_price_{other}"]) == (price, None)


def test_a_low_price_above_the_likely_one_stays_an_error() -> None:
    assert result_of(unit="contract", unit_price_low="1100")["outcome"] == "reject"
