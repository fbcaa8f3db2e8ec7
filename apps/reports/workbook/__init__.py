"""The finance workbook of a run: live formulas, each written together with its value."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from apps.reports.workbook.accrual_sheets import AccrualSheets
from apps.reports.workbook.book import Book, TimeRow
from apps.reports.workbook.cash_sheet import CashSheet
from apps.reports.workbook.checks_sheet import ChecksSheet
from apps.reports.workbook.financing_sheet import FinancingRows, FinancingSheet
from apps.reports.workbook.flow_sheets import FlowSheets, OptionRows
from apps.reports.workbook.inputs_sheet import InputsSheet
from apps.reports.workbook.summary_sheets import ComparisonSheet, OptionView, SummarySheet
from apps.reports.workbook.tax_rows import TaxRows
from apps.reports.workbook.text_sheets import (
    cover_sheet,
    log_sheets,
    monte_carlo_sheet,
    quotes_sheet,
    sensitivity_sheet,
)
from apps.reports.workbook.timing_sheet import TimingSheet

__all__ = ["tco_workbook"]

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def tco_workbook(
    document: Mapping[str, Any], results: Mapping[str, Any], meta: Mapping[str, Any], *, values_only: bool = False
) -> bytes:
    """Return the workbook of one run as XLSX.

    Parameters
    ----------
    document, results
        Inputs and results of the run, as docs/run-json.md describes them.
    meta
        What is known about the run but no number of it, all optional: `client`, `run`, `date` (ISO), `prepared_by`,
        `reviewer`, `state`, `inputs_sha256`, `engine_version`, `prices_as_of`, `excluded`, `warnings`, `gates`,
        `reading`.
    values_only
        Write numbers where formulas would stand.

    Equal arguments give equal bytes: times come from `date`, never from a clock.
    """
    book = Book(horizon_months=int(document["horizon_months"]), currency=document["currency"], values_only=values_only)
    cover = book.add_sheet("Cover", "Total cost of ownership", "Spinecut")
    summary_sheet = book.add_sheet("Summary", "Summary", "All options over the same months, from signature.")
    inputs = InputsSheet(book, document)
    timing = TimingSheet(book, inputs, document)
    quotes_sheet(book, document)
    flows = FlowSheets(book, inputs, timing)
    financing_sheet = FinancingSheet(book, inputs, timing)
    accrual = AccrualSheets(book, inputs, timing)
    cash_sheet = CashSheet(book, timing)
    accrual.add_views()
    comparison = ComparisonSheet(book, inputs, timing)
    sensitivity_sheet(book, results)
    monte_carlo_sheet(book, document, results)
    checks = ChecksSheet(book, inputs, timing)
    log_sheets(book, document)

    views: dict[str, OptionView] = {}
    tax = TaxRows(accrual, document["tax"]) if document.get("tax") else None
    for key, rows in flows.write(document, results).items():
        financing = financing_sheet.write(rows)
        accruals = accrual.write_depreciation(rows)
        linked = accrual.link_lines(rows, accruals, _extra(rows, financing))
        tax_rows = [] if tax is None else tax.write(rows, accruals, financing)
        total = accrual.total(linked, tax_rows)
        views[key] = OptionView(rows=rows, cash=cash_sheet.write(rows, financing, tax_rows), accrual=total)
        balances = accrual.write_balances(rows, accruals, financing)
        checks.option(views[key], balances, financing)
    SummarySheet(book, inputs, timing, summary_sheet).write(document, results, views, str(meta.get("reading", "")))
    comparison.write(views, results)
    checks.tie_out(views, results)
    flag, state = checks.overall()
    cover_sheet(book, cover, meta, document, flag, state)
    created = datetime.fromisoformat(str(meta["date"])) if meta.get("date") else datetime(2000, 1, 1, tzinfo=UTC)
    return book.finish(
        title=f"Total cost of ownership, {document.get('assessment', '')}",
        subject=str(meta.get("client", "")),
        created=created,
    )


def _extra(rows: OptionRows, financing: FinancingRows | None) -> list[tuple[str, TimeRow]]:
    """What an option accrues beside its lines: bridging, and interest or use of what is financed."""
    extra = [] if rows.bridge is None else [("Bridging cloud", rows.bridge)]
    if financing is not None:
        extra.append(
            ("Interest of the loan" if financing.kind == "loan" else "Interest and use of the lease", financing.accrual)
        )
    return extra
