"""The sheets without a time line: cover, quotes, sensitivity, Monte Carlo, audit log, sign-off, glossary."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.reports.workbook.book import Book, Cell, Sheet

COLOUR_KEY = [
    ("input", "Blue on yellow", "Input: change it here and nowhere else"),
    ("text", "Black", "Calculation"),
    ("money_link", "Green", "Link to another sheet"),
    ("alert", "Red", "Alert"),
]
METHOD = [
    ("Month 0", "The day of signature. Flows of month m are paid at its end."),
    ("Net present value", "Sum of cash × (1 + rate)^(−m/12); the flow of month 0 is not discounted."),
    ("Equivalent annual cost", "Net present value ÷ annuity factor over the years of the horizon."),
    ("Share of a month", "The part of a month that lies in the window of a line, from 0 to 1."),
    (
        "Delivery, in use",
        "Delivery is order month + lead time; in use is delivery + acceptance. Owned running cost starts at delivery.",
    ),
    ("Bridging", "Cloud hours bought in months in which less is installed than wanted."),
    ("Accrual", "Purchases are written down straight line from service over their life; the rest when it is used."),
    ("Residual value", "Share of the purchase price at the horizon; a proceed, therefore negative."),
    (
        "P10, P50, P90",
        "One in ten draws lies below P10, half below P50, one in ten above P90. Percentiles of rows do not add up.",
    ),
    ("Productive GPU-hours", "Installed × availability × scheduled share × goodput."),
]
CLASSES = [
    ("Purchased hardware, freight, installation", "IAS 16 cost · ASC 360", "capital"),
    ("Leased machines", "IFRS 16 right of use and liability · ASC 842", "lease"),
    (
        "Cloud, reserved or on demand",
        "Service contract, expense; an upfront payment is a prepayment. Test for an embedded lease",
        "expense",
    ),
    ("Support, power, colocation, staff", "Expense in the month of use", "expense"),
]


def cover_sheet(
    book: Book,
    sheet: Sheet,
    meta: Mapping[str, Any],
    document: Mapping[str, Any],
    flag: Cell | None,
    state: tuple[str, str],
) -> None:
    sheet.worksheet.set_column(0, 0, 30)
    sheet.worksheet.set_column(1, 1, 90)
    facts = [
        ("Purpose", "Total cost of ownership of the options of one purchase decision, side by side"),
        ("Client", meta.get("client", "")),
        ("Assessment", document.get("assessment", "")),
        ("Run", meta.get("run", "")),
        ("Date", meta.get("date", "")),
        ("Currency", f"{document['currency']}, without tax"),
        ("Horizon", f"{document['horizon_months']} months from signature"),
        ("Prepared by", meta.get("prepared_by", "") or "not given"),
        ("Reviewer", meta.get("reviewer", "") or "not given"),
        ("State", meta.get("state", "") or "draft"),
        ("Inputs, SHA-256", meta.get("inputs_sha256", "")),
        ("Engine version", meta.get("engine_version", "")),
        ("Prices as of", meta.get("prices_as_of", "") or "see the dates on Assumptions"),
        ("Left out", meta.get("excluded", "") or "Taxes unless switched on; revenue; whatever a quote does not give"),
    ]
    for name, value in facts:
        row = sheet.line()
        sheet.text(row, 0, name, "group")
        sheet.text(row, 1, value, "wrap")
    row = sheet.line()
    sheet.text(row, 0, "Checks", "group")
    if flag is not None:
        sheet.text_formula(row, 1, state[0], state[1])
    sheet.line()
    sheet.text(sheet.line(), 0, "Colour key", "group")
    for style, colour, meaning in COLOUR_KEY:
        row = sheet.line()
        sheet.text(row, 0, colour, "input_text" if style == "input" else style)
        sheet.text(row, 1, meaning)
    sheet.line()
    sheet.text(sheet.line(), 0, "Open gates: not ready to sign", "group")
    for gate in meta.get("gates") or ["none"]:
        sheet.text(sheet.line(), 1, gate, "wrap")
    sheet.line()
    sheet.text(sheet.line(), 0, "Warnings", "group")
    for warning in meta.get("warnings") or ["none"]:
        sheet.text(sheet.line(), 1, warning, "wrap")


def quotes_sheet(book: Book, document: Mapping[str, Any]) -> None:
    """Quote lines as received, in their own currency; never part of a formula."""
    sheet = book.add_sheet(
        "Quotes", "Quotes", "Lines as received, with the place they were read from. Nothing is computed here."
    )
    heads = [
        "Option",
        "Vendor",
        "Quote",
        "Version",
        "Valid until",
        "Incoterm",
        "Position",
        "Kind",
        "Description",
        "Part number",
        "Quantity",
        "Unit",
        "Price low",
        "Price likely",
        "Price high",
        "Currency",
        "Charge",
        "Period",
        "Discount",
        "Evidence",
        "Cell or page",
    ]
    sheet.heads(sheet.line(), heads)
    sheet.worksheet.set_column(0, 7, 14)
    sheet.worksheet.set_column(8, 8, 48)
    sheet.worksheet.set_column(9, 20, 14)
    sheet.worksheet.freeze_panes(4, 1)
    for quote in document.get("quotes") or []:
        for line in quote["lines"]:
            row = sheet.line()
            for column, value in enumerate(_quote_row(quote, line)):
                _write_value(sheet, row, column, value)


def _quote_row(quote: Mapping[str, Any], line: Mapping[str, Any]) -> list[Any]:
    """One line under the heads of the sheet; None is "not given"."""
    prices = [line[name] for name in ("unit_price_low", "unit_price_likely", "unit_price_high")]
    return [
        quote["option"],
        quote["vendor"],
        quote["number"],
        quote["version"],
        quote["valid_until"],
        quote["incoterm"],
        line["position"],
        line["kind"],
        line["description"],
        line["part_number"],
        float(line["quantity"]),
        line["unit"],
        *("included" if line["included"] else None if price is None else float(price) for price in prices),
        line["currency"],
        line["charge"],
        line["period"],
        float(line["discount_fraction"]),
        (line["evidence_level"] or "").replace("_", " ") or None,
        line["ref"],
    ]


def _write_value(sheet: Sheet, row: int, column: int, value: Any) -> None:
    if value is None or value == "":
        sheet.text(row, column, "not given" if value is None else "", "note")
    elif isinstance(value, int | float):
        sheet.number(row, column, float(value), "fact")
    else:
        sheet.text(row, column, value)


def sensitivity_sheet(book: Book, results: Mapping[str, Any]) -> None:
    sheet = book.add_sheet(
        "Sensitivity",
        "Sensitivity",
        "From the run: one input moves from low to high, the others stay at likely. Does not follow changed inputs.",
    )
    sheet.worksheet.set_column(0, 0, 12)
    sheet.worksheet.set_column(1, 1, 56)
    sheet.worksheet.set_column(2, 8, 16)
    blocks = [("Total cost of", results["tornado"]), ("Difference", results["tornado_difference"])]
    for title, tornado in blocks:
        for key in sorted(tornado):
            sheet.line()
            sheet.heads(
                sheet.line(),
                [f"{title} {key}", "Input", "Low", "Likely", "High", "Result at low", "Result at high", "Swing"],
            )
            for item in tornado[key]:
                row = sheet.line()
                sheet.text(row, 1, item["label"])
                for column, name in enumerate(("low", "likely", "high"), start=2):
                    sheet.number(row, column, float(item[name]), "fact")
                for column, name in enumerate(("at_low_usd", "at_high_usd", "swing_usd"), start=5):
                    sheet.number(row, column, float(item[name]), "money")
    for pair, answer in sorted(results["sensitivity"].items()):
        sheet.line()
        sheet.heads(sheet.line(), [f"Variance {pair}", "Input", "First order", "Total"])
        for item in answer.get("indices", []):
            row = sheet.line()
            sheet.text(row, 1, item["label"])
            for column, name in ((2, "first_order"), (3, "total")):
                if item[name] is not None:
                    sheet.number(row, column, float(item[name]), "share")


def monte_carlo_sheet(book: Book, document: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    sheet = book.add_sheet(
        "Monte Carlo", "Monte Carlo", "From the run: common draws for all options. Values do not follow changed inputs."
    )
    sheet.worksheet.set_column(0, 0, 40)
    sheet.worksheet.set_column(1, 6, 18)
    for name, value in (("Draws", results["draws"]), ("Seed", results["seed"])):
        row = sheet.line()
        sheet.text(row, 0, name, "group")
        sheet.number(row, 1, float(value), "fact")
    row = sheet.line()
    sheet.text(row, 0, "Generator", "group")
    sheet.text(row, 1, results["generator"])
    for title, name in (("Nominal", "nominal_usd"), ("Net present value", "npv_usd"), ("Purchases", "capital_usd")):
        sheet.line()
        sheet.heads(sheet.line(), [title, "All at likely", "P10", "P50", "P90", "Mean"])
        for option in document["options"]:
            figures = results["options"][option["key"]][name]
            row = sheet.line()
            sheet.text(row, 0, f"{option['key']} {option['name']}")
            for column, part in enumerate(("likely", "p10", "p50", "p90", "mean"), start=1):
                if figures.get(part) is not None:
                    sheet.number(row, column, float(figures[part]), "money")


def _sources(document: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What the inputs rest on, the newest first: date, who, what, value, range, where it is from."""
    rows = []
    for item in document["inputs"].values():
        source = item.get("source") or {}
        bounds = "no range" if item.get("low") is None else f"{item['low']} to {item['high']}"
        version = f", version {source['version']}" if source.get("version") else ""
        place = f", {source['ref']}" if source.get("ref") else ""
        rows.append(
            (
                source.get("date") or "",
                source.get("author") or ("the vendor's quote" if source.get("kind") == "quote" else "not given"),
                f"{item['label']}, {item['unit']}",
                str(item["likely"]),
                bounds,
                f"{source.get('text', '')}{version}{place}",
            )
        )
    return sorted(rows, key=lambda row: (row[0], row[2]), reverse=True)


def log_sheets(book: Book, document: Mapping[str, Any]) -> None:
    audit = book.add_sheet(
        "Audit log", "Audit log", "Who set which input of this run, when and from which source; the newest first."
    )
    heads = ["Date", "Who", "What", "Value", "Range", "Source"]
    _table(audit, heads, _sources(document), [14, 24, 60, 16, 24, 80])
    sign = book.add_sheet(
        "Sign-off", "Sign-off", "One row a stage. A signature belongs to this run and its hash, see Cover."
    )
    stages = [(stage, "", "", "", "") for stage in ("Prepared", "Reviewed by finance", "Approved")]
    _table(sign, ["Stage", "Name", "Role", "Date", "Comment"], stages, [24, 28, 24, 16, 60])
    glossary = book.add_sheet(
        "Glossary & method",
        "Glossary and method",
        "How the figures are made. The full description ships with the program.",
    )
    _table(glossary, ["Term", "Meaning"], METHOD, [28, 120])
    glossary.line()
    _table(glossary, ["Item", "Proposed class: confirm with your auditor", "Treatment here"], CLASSES, [28, 120, 20])


def _table(sheet: Sheet, heads: Sequence[str], rows: Sequence[Sequence[Any]], widths: Sequence[int]) -> None:
    for column, width in enumerate(widths):
        sheet.worksheet.set_column(column, column, width)
    sheet.heads(sheet.line(), heads)
    for values in rows:
        row = sheet.line()
        for column, value in enumerate(values):
            sheet.text(row, column, value, "wrap")
