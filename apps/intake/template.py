"""The quote template that vendors fill in, as workbook, as CSV and as JSON schema; built from the fields alone."""

import csv
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO, StringIO
from typing import Any

import xlsxwriter
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.intake.parsing import limits
from apps.intake.parsing.fields import CHOICES, CLAIM_FIELDS, LINE_FIELDS, QUOTE_FIELDS
from apps.intake.parsing.money import CODES

LINE_COLUMNS = (
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
    "percent_of",
    "starts",
    "start_month",
    "term_months",
    "escalation_fraction_per_year",
    "included",
    "comparison_key",
    "capacity_tb",
    "write_gbyte_per_s",
    "source_ref",
)
_CURRENCIES = ("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "AED", "INR", "SEK", "PLN")
_FILLED_ROWS = 1000  # rows that carry validation lists; more may be filled
_MADE = datetime(2026, 1, 1, tzinfo=UTC)  # equal options give equal bytes

_HELP = {
    "line": gettext_lazy("A running number, for talking about the line."),
    "kind": gettext_lazy("What is bought. Choose from the list."),
    "description": gettext_lazy("What it is, in words. For storage name capacity and write rate with their units."),
    "part_number": gettext_lazy("The vendor's part number, kept as text."),
    "quantity": gettext_lazy("How many. For a recurring line: how many at the same time."),
    "unit": gettext_lazy("Of what: node, switch, link, TB, GPU."),
    "unit_price_low": gettext_lazy("Lowest price of one unit that may come out, without tax. Empty: not given."),
    "unit_price_likely": gettext_lazy(
        "Price of one unit, without tax, before discount. Of a percentage line: the percent a period, 8 for 8 %."
    ),
    "unit_price_high": gettext_lazy("Highest price of one unit that may come out, without tax. Empty: not given."),
    "currency": gettext_lazy("Code such as USD. Empty: the currency of the quote."),
    "charge": gettext_lazy("one-off or recurring."),
    "period": gettext_lazy("Of a recurring line: hour, month or year. Empty for one-off lines."),
    "discount": gettext_lazy("Discount on the unit price, as a percentage."),
    "evidence_level": gettext_lazy("How well the line is supported."),
    "percent_of": gettext_lazy(
        "Support as a percentage: of the one-off price of compute, fabric, storage or hardware."
    ),
    "starts": gettext_lazy("When it is due or begins. Empty: as usual for its kind."),
    "start_month": gettext_lazy("Month after signature in which it begins, when starts is month."),
    "term_months": gettext_lazy("For how many months a recurring line runs. Empty: to the end."),
    "escalation_fraction_per_year": gettext_lazy("Price rise a year of a recurring line, as a percentage."),
    "included": gettext_lazy("yes when the line is paid with another one."),
    "comparison_key": gettext_lazy("Row of the comparison, such as compute_nodes. Empty: found from kind and text."),
    "capacity_tb": gettext_lazy("Usable capacity of the whole line in TB (10^12 bytes)."),
    "write_gbyte_per_s": gettext_lazy("Write rate of the whole line in GB/s (10^9 bytes a second)."),
    "source_ref": gettext_lazy("Page or cell of the vendor's own document."),
    "quote_number": gettext_lazy("A file with the same vendor and number becomes the next version of that quote."),
    "vendor": gettext_lazy("Name of the vendor."),
    "date": gettext_lazy("Date of the quote, such as 2026-11-18."),
    "valid_until": gettext_lazy("Last day on which the quote can be accepted, such as 2027-01-02."),
    "tax_excluded": gettext_lazy("yes when all prices are without tax."),
    "lead_weeks_low": gettext_lazy("Weeks from order to delivery: the shortest that may come out."),
    "lead_weeks_likely": gettext_lazy("Weeks from order to delivery."),
    "lead_weeks_high": gettext_lazy("Weeks from order to delivery: the longest that may come out."),
    "delivery_commitment": gettext_lazy("Whether the delivery date is promised in writing, or with a penalty."),
    "acceptance_weeks": gettext_lazy("Weeks from delivery to acceptance."),
    "warranty_months": gettext_lazy("Months of warranty."),
    "renewable": gettext_lazy("Whether the contract can be renewed on the same terms."),
    "incoterm": gettext_lazy("Delivery term such as DDP."),
    "payment_milestones": gettext_lazy(
        "Shares that add up to 100 %, such as: 30 % at signature; 70 % at delivery + 4 weeks."
    ),
    "payment_days": gettext_lazy("Days to pay after each invoice."),
    "it_load_kw": gettext_lazy("IT load of everything quoted, in kW."),
    "it_load_basis": gettext_lazy("Whether that load is typical or the nameplate."),
    "nics_per_node": gettext_lazy("Network ports of the compute network per node."),
    "nic_gbit_per_s": gettext_lazy("Speed of one port in Gb/s (bits, one way)."),
    "topology": gettext_lazy("Tiers of switches."),
    "leaf_placement": gettext_lazy("Where the leaf switches stand."),
    "oversubscription": gettext_lazy("Capacity down to capacity up: 2 for 2:1."),
    "fabric_kind": gettext_lazy("Technology of the compute network."),
    "congestion_plan": gettext_lazy("How congestion is controlled, for Ethernet networks."),
    "tenancy": gettext_lazy("Whether others use the same network."),
    "topic": gettext_lazy("What the claim is about, such as fabric."),
    "statement": gettext_lazy("What is claimed."),
    "source": gettext_lazy("Where it stands."),
}


@dataclass(frozen=True)
class TemplateOptions:
    """What may be filled in before the template goes out."""

    vendor_name: str = ""
    currency: str = ""


def quote_template_bytes(options: TemplateOptions | None = None) -> bytes:
    """The workbook with instructions, validation lists and empty sheets; equal options give equal bytes."""
    options = options or TemplateOptions()
    stream = BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"title": "Quote template", "created": _MADE.replace(tzinfo=None)})
    _Template(book, options).write()
    book.close()
    return stream.getvalue()


class _Template:
    """Writes the six sheets."""

    def __init__(self, book: Any, options: TemplateOptions) -> None:
        self.book, self.options = book, options
        self.head = book.add_format(
            {"bold": True, "bottom": 1, "bg_color": "#ECECE8", "text_wrap": True, "valign": "top"}
        )
        self.note = book.add_format({"font_color": "#6B6B66", "text_wrap": True, "valign": "top"})
        self.wrap = book.add_format({"text_wrap": True, "valign": "top"})
        self.title = book.add_format({"bold": True, "font_size": 14})
        self.day = book.add_format({"num_format": "yyyy-mm-dd", "align": "left"})
        self.percent = book.add_format({"num_format": "0.0##%"})
        self.text = book.add_format({"num_format": "@"})

    def write(self) -> None:
        self._instructions()
        self._facts("Quote", "quote", {"vendor": self.options.vendor_name, "currency": self.options.currency})
        self._lines()
        self._facts("Terms", "terms", {})
        self._facts("Fabric", "fabric", {})
        self._claims()

    def _instructions(self) -> None:
        sheet = self.book.add_worksheet("Instructions")
        sheet.set_column(0, 0, 100, self.wrap)
        sheet.write(0, 0, _("How to fill in this quote"), self.title)
        for row, text in enumerate(_instructions(), 2):
            sheet.write(row, 0, text, self.wrap)

    def _facts(self, name: str, section: str, filled: dict[str, str]) -> None:
        sheet = self.book.add_worksheet(name)
        sheet.set_column(0, 0, 26)
        sheet.set_column(1, 1, 30)
        sheet.set_column(2, 2, 80)
        sheet.freeze_panes(1, 0)
        for column, text in enumerate(("field", "value", "what it means")):
            sheet.write(0, column, text, self.head)
        fields = [(key, field) for key, field in QUOTE_FIELDS.items() if field.section == section]
        for row, (key, field) in enumerate(fields, 1):
            sheet.write(row, 0, key)
            sheet.write(row, 1, filled.get(key, ""), self.day if field.kind == "date" else None)
            sheet.write(row, 2, str(_HELP.get(key, field.label)), self.note)
            self._validate(sheet, row, 1, row, 1, key, field.kind)

    def _lines(self) -> None:
        sheet = self.book.add_worksheet("Lines")
        sheet.freeze_panes(1, 3)
        for column, key in enumerate(LINE_COLUMNS):
            field = LINE_FIELDS[key]
            width = 44 if key == "description" else max(11, min(20, len(key) + 2))
            form = self.percent if field.kind == "percent" else self.text if key == "part_number" else None
            sheet.set_column(column, column, width, form)
            sheet.write(0, column, key, self.head)
            sheet.write_comment(0, column, str(_HELP[key]), {"author": "Spinecut", "x_scale": 1.6})
            self._validate(sheet, 1, column, _FILLED_ROWS, column, key, field.kind)

    def _claims(self) -> None:
        sheet = self.book.add_worksheet("Claims")
        sheet.freeze_panes(1, 0)
        for column, (key, field) in enumerate(CLAIM_FIELDS.items()):
            sheet.set_column(column, column, 60 if key == "statement" else 22, self.wrap)
            sheet.write(0, column, key, self.head)
            sheet.write_comment(0, column, str(_HELP.get(key, field.label)), {"author": "Spinecut"})
            self._validate(sheet, 1, column, 100, column, key, field.kind)

    def _validate(self, sheet: Any, row: int, column: int, last_row: int, last: int, key: str, kind: str) -> None:
        listed = _listed(key, kind)
        if not listed:
            return
        sheet.data_validation(
            row,
            column,
            last_row,
            last,
            {
                "validate": "list",
                "source": listed,
                "ignore_blank": True,
                "error_title": _("Not in the list"),
                "error_message": _("Choose one of the list, or leave the cell empty."),
            },
        )


def _listed(key: str, kind: str) -> list[str]:
    """The values offered for a field, spelled as people write them."""
    if kind == "flag":
        return ["yes", "no"]
    if kind == "currency":
        return list(_CURRENCIES)
    if key in CHOICES:
        return [value.replace("_", "-") for value in CHOICES[key]]
    return []


def _instructions() -> list[str]:
    return [
        _("1. Fill in the sheets Quote and Lines. Terms, Fabric and Claims make offers comparable; fill what applies."),
        _("2. Every row of Lines is one priced line. Do not add total rows: totals are computed and compared."),
        _("3. Leave a cell empty when a value is not given. Empty never means 0; write 0 only for free of charge."),
        _("4. Write numbers as numbers, dates as dates. Prices are without tax, for one unit, before discount."),
        _("5. Units are part of a value: Gb/s are bits, GB/s are bytes; TB is 10^12 bytes, TiB is 2^40."),
        _("6. Support as a percentage: put the percent into unit_price_likely and what it is part of into percent_of."),
        _("7. A price that is paid with another line: write yes under included."),
        _("8. Payment in parts: one row payment_milestones with shares that add up to 100 %."),
        _("9. Keep the names of the sheets and the headings of the columns. Further columns are ignored."),
        _("At most %(lines)s lines and %(size)s. No macros, no links to other workbooks, no password.")
        % {"lines": f"{limits.LINES:,}", "size": limits.megabytes(limits.FILE_BYTES)},
    ]


def quote_csv_template_bytes() -> bytes:
    """The header row of the lines as CSV, for those who have no spreadsheet program."""
    stream = StringIO()
    csv.writer(stream, lineterminator="\r\n").writerow(LINE_COLUMNS)
    return stream.getvalue().encode()


# JSON schema --------------------------------------------------------------------------------------------------------
def quote_schema() -> dict[str, Any]:
    """The JSON schema of a quote; docs/schemas/quote.json is this, and a test keeps them equal."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Quote",
        "description": "A vendor's quote as the import reads it. Numbers may be JSON numbers or text with a point.",
        "type": "object",
        "required": ["quote", "lines"],
        "properties": {
            "quote": _object(
                {key: key for key, field in QUOTE_FIELDS.items() if field.section == "quote"}, QUOTE_FIELDS
            ),
            "lines": {"type": "array", "minItems": 1, "maxItems": limits.LINES, "items": _line_schema()},
            "terms": _object(
                {key: key for key, field in QUOTE_FIELDS.items() if field.section == "terms"}, QUOTE_FIELDS
            ),
            "fabric": _object(
                {key: key for key, field in QUOTE_FIELDS.items() if field.section == "fabric"}, QUOTE_FIELDS
            ),
            "claims": {"type": "array", "items": _object({key: key for key in CLAIM_FIELDS}, CLAIM_FIELDS)},
        },
        "$defs": {
            "number": {
                "oneOf": [
                    {"type": "number"},
                    {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
                    {"type": "string", "maxLength": 0},
                    {"type": "null"},
                ]
            },
            "percent": {
                "oneOf": [
                    {"type": "number"},
                    {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)? ?%?$|^$"},
                    {"type": "null"},
                ]
            },
            "range": {
                "type": "object",
                "properties": {part: {"$ref": "#/$defs/number"} for part in ("low", "likely", "high")},
                "additionalProperties": False,
            },
            "milestones": {
                "oneOf": [
                    {"type": "string"},
                    {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["share", "anchor"],
                            "properties": {
                                "share": {"$ref": "#/$defs/number"},
                                "anchor": {"enum": ["signature", "delivery", "acceptance"]},
                                "offset_weeks": {"$ref": "#/$defs/number"},
                            },
                        },
                    },
                ]
            },
        },
    }


def _line_schema() -> dict[str, Any]:
    schema = _object({key: key for key in LINE_COLUMNS}, LINE_FIELDS)
    schema["properties"]["unit_price"] = {
        "$ref": "#/$defs/range",
        "description": "In place of unit_price_low, unit_price_likely and unit_price_high.",
    }
    return {**schema, "required": ["description", "quantity"]}


def _object(names: dict[str, str], fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: _property(name, fields[key]) for name, key in names.items()}}


def _property(name: str, field: Any) -> dict[str, Any]:  # noqa: PLR0911 - one return a type
    described = {"description": str(_HELP.get(name, field.label))}
    if name == "payment_milestones":
        return {"$ref": "#/$defs/milestones", **described}
    if name == "line":
        return {"type": ["integer", "string"], **described}
    if field.kind in ("number", "money") or name == "oversubscription":
        return {"$ref": "#/$defs/number", **described}
    if field.kind == "percent":
        return {"$ref": "#/$defs/percent", **described}
    if field.kind == "flag":
        return {"type": ["boolean", "string", "null"], **described}
    if field.kind == "date":
        return {"type": ["string", "null"], "format": "date", **described}
    if field.kind == "currency":
        return {"type": ["string", "null"], "examples": sorted(CODES & set(_CURRENCIES)), **described}
    if name in CHOICES:
        return {"type": ["string", "null"], "examples": _listed(name, field.kind), **described}
    return {"type": ["string", "null"], "maxLength": limits.CELL_CHARACTERS, **described}
