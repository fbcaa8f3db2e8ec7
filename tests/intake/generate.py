"""Broken, hostile and ambiguous quotes, made here: one small file an idea, with what must happen to it.

`write_corpus(folder)` fills a folder and writes its manifest. Names and prices are invented.
"""

import csv
import json
import struct
import zipfile
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.workbook.defined_name import DefinedName

HEADER = (
    "line",
    "kind",
    "description",
    "part_number",
    "quantity",
    "unit",
    "unit_price_low",
    "unit_price_likely",
    "unit_price_high",
    "currency",
    "charge",
    "period",
    "discount",
    "evidence_level",
)
LINES: list[list[Any]] = [
    [
        1,
        "compute",
        "4-GPU node, L40S",
        "TT-4L",
        10,
        "node",
        "41000.00",
        "44000.50",
        "47000.00",
        "EUR",
        "one-off",
        "",
        0,
        "claim",
    ],
    [
        2,
        "fabric",
        "Leaf switch, 32 x 200 Gb/s",
        "TT-S",
        3,
        "switch",
        "9000.00",
        "9500.00",
        "9900.00",
        "EUR",
        "one-off",
        "",
        0,
        "claim",
    ],
    [
        3,
        "storage",
        "Storage 500 TB, 6 GB/s write",
        "TT-D",
        1,
        "system",
        "90000.00",
        "99999.99",
        "120000.00",
        "EUR",
        "one-off",
        "",
        0,
        "specification",
    ],
    [
        4,
        "support",
        "Hardware support",
        "TT-U",
        1,
        "contract",
        "1000.00",
        "1100.00",
        "1300.00",
        "EUR",
        "recurring",
        "month",
        0,
        "claim",
    ],
]
TOTAL = "568504.99"
GOOD = f"lines=4; line1.unit_price_likely=44000.50 EUR; line4.period=month; total_one_off_likely={TOTAL} EUR"
PRICE = 7  # index of unit_price_likely
Files = dict[str, tuple[bytes, str, str, str]]  # name -> content, outcome, message parts, values


def csv_bytes(
    lines: list[list[Any]] | None = None,
    *,
    header: tuple[str, ...] = HEADER,
    delimiter: str = ",",
    encoding: str = "utf-8",
    price: Callable[[str], str] | None = None,
) -> bytes:
    """A CSV of lines; `price` rewrites the three price columns in a national style."""
    stream = StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(header)
    for line in lines or LINES:
        cells = [str(cell) for cell in line]
        if price:
            cells[6:9] = [price(cell) if cell else "" for cell in cells[6:9]]
        writer.writerow(cells)
    return stream.getvalue().encode(encoding)


def changed(row: int, column: int, value: Any) -> list[list[Any]]:
    """The good lines with one cell changed; `row` counts as a spreadsheet does."""
    lines = deepcopy(LINES)
    lines[row - 2][column] = value
    return lines


def workbook(lines: list[list[Any]] | None = None, *, header: tuple[str, ...] = HEADER) -> openpyxl.Workbook:
    """The good quote as a workbook in the layout of the template."""
    book = openpyxl.Workbook()
    quote = book.active
    quote.title = "Quote"
    for row in (
        ("field", "value"),
        ("quote_number", "TT-77"),
        ("vendor", "Tintern Test Systems"),
        ("date", date(2026, 9, 1)),
        ("valid_until", date(2027, 6, 30)),
        ("currency", "EUR"),
        ("tax_excluded", True),
        ("lead_time_weeks_likely", 12),
    ):
        quote.append(row)
    sheet = book.create_sheet("Lines")
    sheet.append(header)
    for line in lines or LINES:
        typed = [
            float(cell) if 6 <= index <= 8 and isinstance(cell, str) and _is_number(cell) else cell
            for index, cell in enumerate(line)
        ]
        sheet.append([cell if cell != "" else None for cell in typed])
    terms = book.create_sheet("Terms")
    for row in (("term", "value"), ("warranty_months", 36), ("payment_days", 30)):
        terms.append(row)
    return book


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def saved(book: openpyxl.Workbook) -> bytes:
    stream = BytesIO()
    book.save(stream)
    return stream.getvalue()


def with_parts(
    content: bytes, parts: dict[str, bytes], *, replace: dict[str, tuple[bytes, bytes]] | None = None
) -> bytes:
    """A workbook with parts added, and bytes of existing parts replaced."""
    stream = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if replace and name in replace:
                data = data.replace(*replace[name])
            new.writestr(name, data)
        for name, data in parts.items():
            new.writestr(name, data)
    return stream.getvalue()


def json_document() -> dict[str, Any]:
    """The good quote as JSON."""
    return {
        "quote": {
            "quote_number": "TT-77",
            "vendor": "Tintern Test Systems",
            "valid_until": "2027-06-30",
            "currency": "EUR",
        },
        "lines": [dict(zip(HEADER, line, strict=True)) for line in LINES],
    }


def write_corpus(folder: Path) -> Path:
    """Fill `folder` with the files and their manifest and return it."""
    with (folder / "manifest.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["file", "kind", "outcome", "message_has", "values", "max_rss_mb"])
        for kind, files in (("quote_csv", csv_files()), ("quote_xlsx", xlsx_files()), ("quote_json", json_files())):
            for name, (content, outcome, message, values) in files.items():
                (folder / name).write_bytes(content)
                writer.writerow([name, kind, outcome, message, values, 300])
    return folder


def csv_files() -> Files:
    comma = {".": ",", ",": "."}

    def german(text: str) -> str:
        return "".join(comma.get(c, c) for c in f"{float(text):,.2f}")

    def french(text: str) -> str:
        return f"{float(text):,.2f}".replace(",", "\u202f").replace(".", ",")

    def swiss(text: str) -> str:
        return f"{float(text):,.2f}".replace(",", "’")

    umlaut = changed(2, 2, "Knoten für Süd")
    return {
        "good.csv": (csv_bytes(), "accept", "", GOOD),
        "mark.csv": (b"\xef\xbb\xbf" + csv_bytes(), "accept", "", GOOD),
        "utf16.csv": (b"\xff\xfe" + csv_bytes(encoding="utf-16-le"), "accept", "", GOOD),
        "german.csv": (csv_bytes(delimiter=";", price=german), "accept", "", GOOD),
        "french.csv": (csv_bytes(delimiter="\t", price=french), "accept", "", GOOD),
        "swiss.csv": (csv_bytes(price=swiss), "accept", "", GOOD),
        "separator_line.csv": (b"sep=;\r\n" + csv_bytes(delimiter=";", price=german), "accept", "", "lines=4"),
        "empty.csv": (b"", "reject", "empty", ""),
        "header_only.csv": (csv_bytes()[: csv_bytes().index(b"\r\n") + 2], "reject", "no lines", ""),
        "latin.csv": (csv_bytes(umlaut, encoding="cp1252"), "ask", "encoding;Süd", "line1.description=Knoten für Süd"),
        "nul.csv": (csv_bytes(changed(3, 2, "Le\0af")), "reject", "row 3;NUL", ""),
        "workbook.csv": (saved(workbook()), "reject", "spreadsheet", ""),
        "page.csv": (b"<!DOCTYPE html><table></table>", "reject", "web page", ""),
        "mixed.csv": (csv_bytes(changed(4, PRICE, "99.999,99")), "reject", "number format;row 4;row 2|row 3", ""),
        "ambiguous.csv": (
            csv_bytes(
                [[1, "service", "Setup", "X", 2, "lot", "1.100", "1.250", "1.300", "EUR", "one-off", "", 0, "claim"]]
            ),
            "ask",
            "1.250 = 1250;1.250 = 1.25",
            "",
        ),
        "symbols.csv": (
            csv_bytes(
                [[*LINES[0][:6], "", "$44,000.50", "", "", *LINES[0][10:]], [*LINES[1][:9], "USD", *LINES[1][10:]]]
            ),
            "accept_warn",
            "row 2;currency",
            "line1.unit_price_likely=44000.50 USD",
        ),
        "contradiction.csv": (csv_bytes(changed(3, PRICE, "£9500.00")), "reject", "currency;row 3", ""),
        "credit.csv": (
            csv_bytes(
                [
                    *LINES,
                    [
                        5,
                        "service",
                        "Credit",
                        "C",
                        1,
                        "lot",
                        "(600.00)",
                        "(500.00)",
                        "400.00-",
                        "EUR",
                        "one-off",
                        "",
                        0,
                        "",
                    ],
                ]
            ),
            "accept",
            "",
            "line5.unit_price_likely=-500 EUR; line5.unit_price_high=-400 EUR",
        ),
        "not_finite.csv": (csv_bytes(changed(2, PRICE, "NaN")), "reject", "row 2;finite", ""),
        "exponent.csv": (csv_bytes(changed(2, PRICE, "4e4")), "reject", "row 2;exponent", ""),
        "hexadecimal.csv": (csv_bytes(changed(2, 4, "0x10")), "reject", "row 2;quantity", ""),
        "other_digits.csv": (csv_bytes(changed(2, 4, "١٠")), "reject", "row 2;quantity", ""),
        "missing_words.csv": (csv_bytes(changed(2, 3, "NULL")), "accept", "", "line1.part_number=NULL"),
        "part_numbers.csv": (csv_bytes(changed(2, 3, "00042")), "accept", "", "line1.part_number=00042"),
        "formula.csv": (csv_bytes(changed(2, 2, "=1+1")), "accept", "", "line1.description=verbatim"),
        "markup.csv": (csv_bytes(changed(2, 2, "<b onclick=x>{{7*7}}")), "accept", "", "line1.description=verbatim"),
        "open_quote.csv": (csv_bytes() + b'5,support,"open,x\r\n', "reject", "row 6;quotation", ""),
        "ragged.csv": (csv_bytes([*LINES[:2], [*LINES[2], "extra"]]), "reject", "row 4;cells", ""),
        "short_row.csv": (csv_bytes([*LINES[:3], LINES[3][:9]]), "reject", "row 5;cells", ""),
        "twice.csv": (
            csv_bytes([[*line, 1] for line in LINES], header=(*HEADER, "unit_price_likely")),
            "ask",
            "unit_price_likely;duplicate",
            "",
        ),
        "wrong_total.csv": (
            csv_bytes([*LINES, ["", "", "TOTAL", "", "", "", "", "568604.99", "", "EUR", "", "", "", ""]]),
            "accept_warn",
            "total;568604.99;100",
            GOOD,
        ),
        "right_total.csv": (
            csv_bytes([*LINES, ["", "", "Total", "", "", "", "", TOTAL, "", "EUR", "", "", "", ""]]),
            "accept",
            "agrees",
            GOOD,
        ),
        "negative_quantity.csv": (csv_bytes(changed(2, 4, -10)), "reject", "row 2;quantity", ""),
        "falling.csv": (csv_bytes(changed(2, 6, "48000.00")), "reject", "row 2;low", ""),
        "no_period.csv": (csv_bytes(changed(5, 11, "")), "ask", "row 5;period", ""),
        "bytes_for_bits.csv": (
            csv_bytes(changed(3, 2, "Switch 400 GB/s")),
            "ask",
            "GB/s;Gb/s",
            "line2.link_gbit_per_s=400",
        ),
        "binary_units.csv": (
            csv_bytes(changed(4, 2, "Storage 512 TiB, 8 GiB/s write")),
            "accept",
            "",
            "line3.capacity_tb=562.949953421312; line3.write_gb_per_s=8.589934592",
        ),
        "day_or_month.csv": (
            csv_bytes([[*line, "05/06/2027"] for line in LINES], header=(*HEADER, "valid_until")),
            "ask",
            "05/06/2027;June;May",
            "",
        ),
        "no_such_day.csv": (
            csv_bytes([[*line, "2027-02-30"] for line in LINES], header=(*HEADER, "valid_until")),
            "reject",
            "row 2;2027-02-30;28 days",
            "",
        ),
        "long_cell.csv": (csv_bytes(changed(3, 2, "x" * 10_001)), "reject", "row 3;10,001 characters", ""),
        "too_many_lines.csv": (csv_bytes(LINES * 2600), "reject", "10,000 lines", ""),
        "too_large.csv": (b"line\r\n" * 3_500_000, "reject", "21 MB;20 MB", ""),
        "too_precise.csv": (csv_bytes(changed(2, PRICE, "44000.12345678901")), "reject", "row 2;decimal places", ""),
        "months_as_quantity.csv": (
            csv_bytes(
                [
                    *LINES[:3],
                    [4, "support", "Support", "U", 36, "month", "", "1100.00", "", "EUR", "recurring", "month", 0, ""],
                ]
            ),
            "accept",
            "36 months",
            "line4.quantity=1; line4.term_months=36; line4.unit_price_likely=1100 EUR",
        ),
    }


def xlsx_files() -> Files:
    files = {
        "good.xlsx": (saved(workbook()), "accept", "", f"{GOOD}; quote.valid_until=2027-06-30"),
        "cut.xlsx": (saved(workbook())[:-1500], "reject", "damaged", ""),
        "protected.xlsx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "reject", "password;.xls", ""),
        "text.xlsx": (b"line,kind\r\n1,compute\r\n", "reject", "not a valid", ""),
        **_archive_files(),
        **_cell_files(),
        **_hidden_files(),
    }
    return dict(sorted(files.items()))


def _archive_files() -> Files:
    good = saved(workbook())
    start = b"<worksheet"
    swapped = {"xl/worksheets/sheet2.xml": (start, b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + start)}
    padded = {"xl/worksheets/sheet2.xml": (start, b" " * 5000 + b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + start)}
    lying = bytearray(good)
    place = lying.rindex(b"PK\x01\x02")
    struct.pack_into("<L", lying, place + 24, 400_000_000)
    return {
        "bomb.xlsx": (with_parts(good, {"xl/worksheets/big.xml": bytes(60_000_000)}), "reject", "size;50 MB", ""),
        "declared_bomb.xlsx": (bytes(lying), "reject", "size", ""),
        "entries.xlsx": (with_parts(good, {f"xl/media/{n}.png": b"" for n in range(300)}), "reject", "entries", ""),
        "entity.xlsx": (with_parts(good, {}, replace=swapped), "reject", "not allowed", ""),
        "late_entity.xlsx": (with_parts(good, {}, replace=padded), "reject", "not allowed", ""),
        "macro.xlsx": (with_parts(good, {"xl/vbaProject.bin": b"macro"}), "reject", "macro", ""),
        "parent_path.xlsx": (with_parts(good, {"../../escape.txt": b"x"}), "reject", "path", ""),
        "absolute_path.xlsx": (with_parts(good, {"/escape.txt": b"x"}), "reject", "path", ""),
        "nested.xlsx": (with_parts(good, {"xl/embeddings/a.bin": good}), "reject", "archive", ""),
        "no_workbook.xlsx": (with_parts(b"PK\x05\x06" + bytes(18), {"a.txt": b"x"}), "reject", "not a valid", ""),
    }


def _cell_files() -> Files:
    formula, stale, errors, texts, percent, link = (workbook() for _ in range(6))
    formula["Lines"]["H2"] = "=G2*1.1"
    errors["Lines"]["H3"] = "#REF!"
    errors["Lines"]["E2"] = "#DIV/0!"
    for cell, text in (("H2", "44.000,50"), ("H3", " 9500 "), ("E2", "10")):
        texts["Lines"][cell] = text
    percent["Lines"]["M2"] = 0.125
    percent["Lines"]["M2"].number_format = "0.0%"
    percent["Lines"]["M3"] = "12,5 %"
    percent["Lines"]["M4"] = 12.5
    stale["Lines"]["O1"] = "line_total"
    stale["Lines"]["O2"] = 400_000
    link["Lines"]["H2"] = "=[1]Prices!$B$2"
    stored = {"xl/worksheets/sheet2.xml": (b"<f>[1]Prices!$B$2</f><v />", b"<f>[1]Prices!$B$2</f><v>44000.5</v>")}
    number, serial1904, tail = workbook(), workbook(), workbook()
    number["Quote"]["B5"] = 46568
    number["Quote"]["B5"].number_format = "General"
    serial1904.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    tail["Lines"]["H2"] = 44000.500000000007
    merged = workbook()
    merged["Lines"]["B3"] = "fabric"
    merged["Lines"].merge_cells("B3:B4")
    merged["Lines"]["C4"] = "Cable"
    return {
        "formula.xlsx": (saved(formula), "reject", "Lines!H2;formula", ""),
        "errors.xlsx": (saved(errors), "reject", "Lines!H3;Lines!E2", ""),
        "texts.xlsx": (saved(texts), "accept_warn", "text;Lines!H2", GOOD),
        "percent.xlsx": (
            saved(percent),
            "accept_warn|ask",
            "discount",
            "line1.discount=12.5 %; line2.discount=12.5 %; line3.discount=12.5 %",
        ),
        "stale.xlsx": (saved(stale), "accept_warn", "Lines!O2;440005;400000", GOOD),
        "link.xlsx": (with_parts(saved(link), {}, replace=stored), "accept_warn", "Lines!H2;link", GOOD),
        "day_number.xlsx": (saved(number), "ask", "Quote!B5;2027-06-30", "quote.valid_until=2027-06-30"),
        "epoch_1904.xlsx": (saved(serial1904), "accept", "", "quote.valid_until=2027-06-30"),
        "binary_tail.xlsx": (saved(tail), "accept", "", "line1.unit_price_likely=44000.5 EUR"),
        "merged.xlsx": (saved(merged), "accept", "", "line2.kind=fabric; line3.kind=fabric"),
    }


def _hidden_files() -> Files:
    sheets, row, missing, area = (workbook() for _ in range(4))
    old = sheets.create_sheet("Lines (old)", 0)
    old.append(HEADER)
    old.append([*LINES[0][:PRICE], 1, *LINES[0][8:]])
    old.sheet_state = "veryHidden"
    sheets.defined_names["x"] = DefinedName("x", attr_text="Lines!$A$1")
    row["Lines"].row_dimensions[4].hidden = True
    del missing["Lines"]
    far = workbook()
    far["Lines"].cell(row=200_000, column=150, value=" ")
    content = saved(area)
    named = {"xl/worksheets/sheet2.xml": (b'<dimension ref="A1:N5"', b'<dimension ref="A1:N2"')}
    return {
        "hidden_sheet.xlsx": (saved(sheets), "accept_warn", "hidden;Lines (old)", GOOD),
        "hidden_row.xlsx": (saved(row), "ask", "hidden;row 4", GOOD),
        "no_lines.xlsx": (saved(missing), "reject", "Lines", ""),
        "small_area.xlsx": (with_parts(content, {}, replace=named), "accept", "", GOOD),
        "far_cell.xlsx": (saved(far), "accept", "", GOOD),
    }


def json_files() -> Files:
    good = json.dumps(json_document())
    ids = json_document()
    ids["quote"]["vendor_id"] = "0a64bfd5-5f0c-4ad3-9d3b-2f7c4f6a8a10"
    extra = json_document()
    extra["quote"]["is_staff"] = True
    types = json_document()
    types["quote"] = []
    types["lines"][1]["quantity"] = "three"
    types["lines"][2]["unit_price_likely"] = {"amount": 1}
    closed = json_document()
    closed["lines"][0]["currency"] = "BGN"
    closed["lines"][1]["currency"] = "XXX"
    return {
        "good.json": (good.encode(), "accept", "", GOOD),
        "twice.json": (
            good.replace('"currency": "EUR"', '"currency": "EUR", "currency": "USD"', 1).encode(),
            "reject",
            "currency;twice",
            "",
        ),
        "nan.json": (good.replace('"44000.50"', "NaN", 1).encode(), "reject", "lines[0];finite", ""),
        "huge.json": (good.replace('"44000.50"', "1e400", 1).encode(), "reject", "lines[0];range", ""),
        "deep.json": (b"[" * 30_000 + b"]" * 30_000, "reject", "nested", ""),
        "numbers.json": (good.replace('"44000.50"', "44000.50", 1).encode(), "accept", "", GOOD),
        "grouped.json": (good.replace('"44000.50"', '"44,000.50"', 1).encode(), "reject", "lines[0];plain decimal", ""),
        "ids.json": (json.dumps(ids).encode(), "reject", "no such entry", ""),
        "extra.json": (json.dumps(extra).encode(), "accept_warn", "is_staff", GOOD),
        "types.json": (json.dumps(types).encode(), "reject", "quote is a list;lines[1];lines[2]", ""),
        "comma.json": (good.replace("]}", ",]}", 1).encode(), "reject", "JSON;line 1", ""),
        "currencies.json": (json.dumps(closed).encode(), "reject", "BGN;lines[1];currency", ""),
        "no_lines.json": (b'{"quote": {}, "lines": []}', "reject", "no lines", ""),
        "list.json": (b"[1, 2]", "reject", "JSON object", ""),
    }
