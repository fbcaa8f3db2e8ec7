"""Numbers, dates, units and sheets: what is certain is read exactly, what is not is asked."""

from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.intake.parsing import dates, money, numbers, units, xlsx_reader
from apps.intake.parsing.quote import Request, parse
from apps.intake.parsing.report import Report
from tests.intake.generate import HEADER, LINES, csv_bytes, saved, workbook


def grouped(whole: str, separator: str) -> str:
    return f"{int(whole):,}".replace(",", separator)


def indian(whole: str, separator: str) -> str:
    if len(whole) <= 3:
        return whole
    head, tail = whole[:-3], whole[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    return separator.join([*pairs, tail])


STYLES = {
    "plain point": ("", "."),
    "plain comma": ("", ","),
    "English": (",", "."),
    "German": (".", ","),
    "French, narrow no-break": ("\u202f", ","),
    "French, no-break": ("\u00a0", ","),
    "Swedish": (" ", ","),
    "Swiss": ("’", "."),
    "Swiss typed": ("'", "."),
    "SI": (" ", "."),
    "thin space": ("\u2009", ","),
    "Indian": ("indian", "."),
}


def in_style(value: Decimal, style: str) -> str:
    """The number as people of one country write it."""
    group, decimal = STYLES[style]
    whole, _, fraction = format(abs(value), "f").partition(".")
    whole = indian(whole, ",") if group == "indian" else grouped(whole, group)
    text = f"{whole}{decimal}{fraction}" if fraction else whole
    return f"-{text}" if value < 0 else text


def file_with(text: str) -> bytes:
    line = [1, "service", "Setup", "X", 1, "lot", "", text, "", "EUR", "one-off", "", "", "claim"]
    return csv_bytes([line], delimiter=";")


prices = st.decimals(min_value=-(10**12), max_value=10**12, allow_nan=False, places=None).map(lambda d: round(d, 4))


@settings(max_examples=2000, deadline=None)
@given(value=st.one_of(prices, st.integers(-(10**9), 10**9).map(Decimal)), style=st.sampled_from(sorted(STYLES)))
@example(value=Decimal("1.234"), style="plain point")
@example(value=Decimal("1234"), style="German")
@example(value=Decimal("0.125"), style="plain comma")
def test_a_number_in_any_national_style_is_read_exactly_or_asked(value: Decimal, style: str) -> None:
    text = in_style(value, style)
    result = parse(Request(file_with(text), "quote_csv"))
    asked = [question for question in result["questions"] if question["id"] == "number_style"]
    if not asked:
        assert Decimal(result["lines"][0]["unit_price_likely"]) == value, result["messages"]
        return
    decimal = STYLES[style][1]
    answered = parse(Request(file_with(text), "quote_csv", answers={"number_style": decimal}))
    assert Decimal(answered["lines"][0]["unit_price_likely"]) == value
    token = numbers.take_apart(text)
    assert token is not None
    assert len({reading.value for reading in numbers.readings(token.body)}) == 2


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "inf",
        "-Infinity",
        "1e5",
        "0x1F",
        "1_000",
        "١٢",
        "1,23,4",
        "1.2.3",
        "12,34.56,7",
        "",
        "-",
        "1 23",
        "--5",
        "5%%",
    ],
)
def test_what_is_not_plain_decimal_notation_is_no_number(text: str) -> None:
    token = numbers.take_apart(text)
    assert token is None or numbers.readings(token.body) == []


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("€1.234,50", "€", "1234.50"),
        ("1,234.50 USD", "USD", "1234.50"),
        ("CHF 1'234.50", "CHF", "1234.50"),
        ("(US$12.50)", "US$", "12.50"),
        ("-£5", "£", "5"),
        ("1.234,- €", "€", "1234"),
    ],
)
def test_a_currency_stands_before_or_after_its_number(text: str, mark: str, value: str) -> None:
    token = numbers.take_apart(text)
    assert token is not None
    assert token.currency == mark
    assert Decimal(value) in {reading.value for reading in numbers.readings(token.body)}


def test_symbols_of_several_currencies_have_several_candidates() -> None:
    assert len(money.candidates("$")) > 1
    assert money.candidates("€") == ("EUR",)
    assert money.candidates("XXX") == ()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2027-12-31", date(2027, 12, 31)),
        ("31.12.2027", date(2027, 12, 31)),
        ("03.04.2027", date(2027, 4, 3)),
        ("31/12/2027", date(2027, 12, 31)),
        ("12/31/2027", date(2027, 12, 31)),
        ("31 December 2027", date(2027, 12, 31)),
        ("Dec 31, 2027", date(2027, 12, 31)),
        ("31. Dezember 2027", date(2027, 12, 31)),
        ("1er août 2027", date(2027, 8, 1)),
        ("2027-12-31T00:00:00", date(2027, 12, 31)),
    ],
)
def test_dates_that_have_one_reading_are_read(text: str, day: date) -> None:
    reading = dates.read(text)
    assert not reading.ambiguous
    assert (reading.day_first or reading.month_first) == day


@pytest.mark.parametrize("text", ["2027-02-30", "31.11.2026", "13/13/2027", "2027", "31.12.27", "soon"])
def test_dates_that_do_not_exist_say_what_was_expected(text: str) -> None:
    assert "xpected a date such as" in dates.read(text).problem


def test_one_clear_date_decides_the_order_of_all() -> None:
    header = (*HEADER, "valid_until")
    content = csv_bytes([[*LINES[0], "03/04/2027"]], header=header)
    assert [q["id"] for q in parse(Request(content, "quote_csv"))["questions"]] == ["date_order"]
    book = workbook()
    book["Quote"]["B4"], book["Quote"]["B5"] = "25/03/2027", "03/04/2027"
    assert parse(Request(saved(book)))["quote"]["valid_until"]["value"] == "2027-04-03"


@pytest.mark.parametrize(
    ("text", "terabytes"),
    [
        ("1 PB", "1000"),
        ("1 PiB", "1125.899906842624"),
        ("450 TB", "450"),
        ("512 GiB", "0.549755813888"),
        ("2 TiB", "2.199023255552"),
    ],
)
def test_decimal_and_binary_capacities_differ(text: str, terabytes: str) -> None:
    (found,) = units.capacities(f"Storage {text}, 12 GB/s write")
    assert Decimal(found.body) * found.factor == Decimal(terabytes)


@pytest.mark.parametrize(
    ("text", "gbyte"),
    [("12 GB/s", "12"), ("12 GiB/s", "12.884901888"), ("400 Gb/s", "50"), ("96 Gbit/s", "12"), ("800 MB/s", "0.8")],
)
def test_bits_and_bytes_differ_by_eight(text: str, gbyte: str) -> None:
    (found,) = units.rates(text)
    assert Decimal(found.body) * found.factor == Decimal(gbyte)


def test_a_storage_line_with_two_capacities_asks_which_counts() -> None:
    lines = [[*LINES[2][:2], "Storage 1 PB raw, 750 TB usable", *LINES[2][3:]]]
    result = parse(Request(csv_bytes(lines), "quote_csv"))
    (question,) = result["questions"]
    assert [choice["value"] for choice in question["choices"]] == ["1 PB", "750 TB", ""]
    answered = parse(Request(csv_bytes(lines), "quote_csv", answers={question["id"]: "750 TB"}))
    assert answered["lines"][0]["capacity_tb"] == "750"


def test_the_capacity_of_several_units_is_asked() -> None:
    lines = [[*LINES[2][:4], 2, *LINES[2][5:]]]
    question = parse(Request(csv_bytes(lines), "quote_csv"))["questions"][0]
    both = [
        parse(Request(csv_bytes(lines), "quote_csv", answers={question["id"]: answer}))["lines"][0]["capacity_tb"]
        for answer in ("each", "all")
    ]
    assert both == ["1000", "500"]


def test_a_percentage_line_asks_of_what() -> None:
    line = [1, "support", "Fabric support", "", 5, "%", "", "", "", "EUR", "recurring", "year", "", ""]
    content = csv_bytes([*LINES[:2], line])
    result = parse(Request(content, "quote_csv"))
    (question,) = result["questions"]
    assert (question["suggested"], [c["value"] for c in question["choices"]][:4]) == (
        "fabric",
        ["compute", "fabric", "storage", "hardware"],
    )
    answered = parse(Request(content, "quote_csv", answers={question["id"]: "hardware"}))["lines"][2]
    assert (answered["percent_of"], answered["unit_price_likely"], answered["quantity"]) == ("hardware", "5", "1")


def test_a_price_far_outside_the_usual_range_is_asked() -> None:
    cheap = [[*LINES[1][:6], "", "9.50", "", *LINES[1][9:]]]
    (question,) = parse(Request(csv_bytes(cheap), "quote_csv"))["questions"]
    assert "usually is 300 to 2000000 EUR" in question["reason"]


def test_included_lines_have_no_price_and_are_not_zero() -> None:
    lines = [[*LINES[0][:6], "", "included", "", *LINES[0][9:]], LINES[1]]
    line = parse(Request(csv_bytes(lines), "quote_csv"))["lines"][0]
    assert (line["included"], line["unit_price_likely"]) == (True, None)


def test_prices_in_thousands_are_asked_and_multiplied() -> None:
    header = tuple("Price (k EUR)" if name == "unit_price_likely" else name for name in HEADER)
    lines = [[*line[:6], "", "44.5", "", *line[9:]] for line in LINES[:1]]
    result = parse(Request(csv_bytes(lines, header=header), "quote_csv"))
    assert [question["id"] for question in result["questions"]] == ["scale:unit_price_likely"]
    answered = parse(Request(csv_bytes(lines, header=header), "quote_csv", answers={"scale:unit_price_likely": "1000"}))
    assert Decimal(answered["lines"][0]["unit_price_likely"]) == 44_500


def test_a_german_workbook_with_its_header_further_down_is_read() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Angebot 2026"
    for row in (
        ["Rechenwerk Nord GmbH"],
        ["Angebotsnummer", "RN-5", None, "Gültig bis:", "31.03.2027"],
        [],
        ["Pos.", "Bezeichnung", "Menge", "Einheit", "Einzelpreis (EUR)", "Gesamtpreis"],
        [1, "Knoten mit 8 GPU", 4, "Stück", 210_000.5, 840_002],
        [2, "Switch 64 x 400 Gb/s", 2, "Stück", 30_000, 60_000],
        [None, "Gesamtsumme", None, None, None, 900_002],
    ):
        sheet.append(row)
    result = parse(Request(saved(book), answers={"charge": "one_off"}))
    assert (result["questions"], result["outcome"]) == ([], "accept_warn")  # kinds were inferred
    assert [line["kind"] for line in result["lines"]] == ["compute", "fabric"]
    assert {line["currency"] for line in result["lines"]} == {"EUR"}
    assert result["quote"]["quote_number"] == {"value": "RN-5", "ref": "Angebot 2026!B2"}
    assert result["quote"]["valid_until"]["value"] == "2027-03-31"
    assert result["sheets"][0]["header_row"] == 4
    assert "agrees" in " ".join(message["text"] for message in result["messages"])


def test_payment_milestones_are_read_and_must_add_up() -> None:
    book = workbook()
    book["Terms"].append(["payment_milestones", "30 % at signature; 60 % at delivery; 10 % at acceptance + 4 weeks"])
    milestones = parse(Request(saved(book)))["terms"]["payment_milestones"]["value"]
    assert milestones[2] == {"share": "0.1", "anchor": "acceptance", "offset_weeks": "4"}
    book["Terms"]["B4"] = "30 % at signature; 60 % at delivery"
    assert any("90 %" in message["text"] for message in parse(Request(saved(book)))["messages"])


def test_a_merged_price_over_two_lines_is_asked() -> None:
    book = workbook()
    book["Lines"].merge_cells("H2:H3")
    result = parse(Request(saved(book)))
    assert "merged:H2:H3" in [question["id"] for question in result["questions"]]
    first = parse(Request(saved(book), answers={"merged:H2:H3": "first"}))
    assert first["lines"][1]["unit_price_likely"] is None


cells = st.one_of(
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False, width=32).filter(lambda x: x == 0 or 1e-9 < abs(x) < 1e15),
    st.booleans(),
    st.dates(date(2000, 1, 1), date(2090, 1, 1)).map(lambda d: datetime(d.year, d.month, d.day, 12)),  # noqa: DTZ001
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=20),
)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.lists(cells, min_size=1, max_size=6), min_size=1, max_size=8))
def test_our_reader_sees_what_openpyxl_sees(rows: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([f"'{cell}" if isinstance(cell, str) and cell.startswith("=") else cell for cell in row])
    content = saved(book)
    (table,), _ = xlsx_reader.read(content, Report())
    for row in openpyxl.load_workbook(BytesIO(content)).active.iter_rows():
        for other in row:
            ours = table.cell(other.row, other.column)
            if isinstance(other.value, bool) or other.value is None:
                assert ours.text == ("" if other.value is None else str(other.value).lower())
            elif isinstance(other.value, datetime):
                assert ours.day == other.value.date()
            elif isinstance(other.value, int | float):
                assert ours.number is not None
                assert float(ours.number) == pytest.approx(other.value, rel=1e-14, abs=1e-9)
            else:
                assert ours.text == str(other.value).strip(" \r\n\u00a0\u202f")


def test_two_thousand_lines_are_read_within_the_limit_of_time() -> None:
    result = parse(Request(csv_bytes(LINES * 500), "quote_csv"))
    assert len(result["lines"]) == 2000
    assert len(result["sheets"][0]["rows"]) <= 400


def test_a_small_percentage_is_asked_because_it_may_be_a_fraction() -> None:
    line = [
        1,
        "support",
        "Compute support",
        "",
        1,
        "contract",
        "",
        "0.08",
        "",
        "EUR",
        "recurring",
        "year",
        "",
        "",
        "compute",
    ]
    content = csv_bytes([[*LINES[0], ""], line], header=(*HEADER, "percent_of"))
    result = parse(Request(content, "quote_csv"))
    assert [question["id"] for question in result["questions"]] == ["percent:Lines!H3"]
    assert Decimal(result["lines"][1]["unit_price_likely"]) == 8


@pytest.mark.parametrize(("column", "text"), [(3, "P" * 201), (5, "u" * 61), (4, "9" * 19)])
def test_what_the_database_cannot_hold_is_refused_in_the_preview(column: int, text: str) -> None:
    lines = [[*LINES[0][:column], text, *LINES[0][column + 1 :]]]
    assert parse(Request(csv_bytes(lines), "quote_csv"))["outcome"] == "reject"


def test_a_product_that_the_database_cannot_hold_is_refused_in_the_preview() -> None:
    lines = [[*LINES[2][:2], "Storage", "", "9" * 18, "PB", *LINES[2][6:]]]
    result = parse(Request(csv_bytes(lines), "quote_csv"))
    assert any("capacity_tb comes to" in message["text"] for message in result["messages"])


def test_months_that_are_no_whole_number_are_refused() -> None:
    book = workbook()
    book["Terms"]["B2"] = 36.5
    (message,) = parse(Request(saved(book)))["messages"]
    assert (message["cell"], message["expected"]) == ("Terms!B2", "a whole number")
