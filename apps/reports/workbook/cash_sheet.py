"""The sheet Cash flow: every line linked once, totals, present value, cumulative cash."""

from dataclasses import dataclass

from apps.reports.workbook.accrual_sheets import sum_row
from apps.reports.workbook.book import LABEL_COLUMN, UNIT_COLUMN, Book, Sheet, TimeRow, month_column
from apps.reports.workbook.financing_sheet import FinancingRows
from apps.reports.workbook.flow_sheets import OptionRows, write_months
from apps.reports.workbook.timing_sheet import TimingSheet

GROUPS = {
    "capital": "Purchases",
    "operating": "Operating cost",
    "cloud": "Cloud and bridging",
    "residual": "Residual value",
}


@dataclass(kw_only=True)
class CashRows:
    """Totals of one option."""

    parts: dict[str, TimeRow]
    total: TimeRow
    discounted: TimeRow
    cumulative: TimeRow


class CashSheet:
    """Links the lines of every option and adds them up."""

    def __init__(self, book: Book, timing: TimingSheet) -> None:
        self.book, self.timing = book, timing
        self.sheet: Sheet = book.add_time_sheet(
            "Cash flow",
            "Cash flow",
            f"{book.currency}; payments positive, proceeds negative; month 0 is not discounted.",
        )

    def write(self, rows: OptionRows, financing: FinancingRows | None, tax: list[tuple[str, TimeRow]]) -> CashRows:
        self.sheet.group(f"{rows.option['key']} {rows.option['name']}")
        sources: dict[str, list[TimeRow]] = {
            label: [line.cash for line in rows.of_group(group)] for group, label in GROUPS.items()
        }
        if rows.bridge is not None:
            sources["Cloud and bridging"].append(rows.bridge)
        sources["Financing"] = [row for _, row in financing.cash] if financing is not None else []
        sources["Taxes"] = [row for _, row in tax]
        parts = {label: self._linked(label, part) for label, part in sources.items() if part}
        total = sum_row(self.sheet, "Cash, total", list(parts.values()), self.book)
        discounted = self._row(
            "Present value",
            [
                (
                    f"{total.at(m, sheet='Cash flow')}*{self.timing.discount.at(m)}",
                    total.values[m] * self.timing.discount.values[m],
                )
                for m in self.book.months
            ],
        )
        return CashRows(parts=parts, total=total, discounted=discounted, cumulative=self._cumulative(total))

    def _row(self, label: str, formulas: list[tuple[str, float]], kind: str = "C") -> TimeRow:
        row = self.sheet.line()
        self.sheet.text(row, 0, kind)
        self.sheet.text(row, LABEL_COLUMN, label)
        self.sheet.text(row, UNIT_COLUMN, self.book.currency)
        return write_months(self.sheet, row, formulas, "money_link" if kind == "L" else "money")

    def _linked(self, label: str, sources: list[TimeRow]) -> TimeRow:
        """The sum of rows of another sheet; adjacent rows are one range, so that formulas stay short."""
        formulas = []
        for m in self.book.months:
            text = "+".join(_ranges(sources, m))
            formulas.append((text, sum(source.values[m] for source in sources)))
        return self._row(label, formulas, "L")

    def _cumulative(self, total: TimeRow) -> TimeRow:
        row = self.sheet.line()
        self.sheet.text(row, 0, "C")
        self.sheet.text(row, LABEL_COLUMN, "Cumulative cash")
        self.sheet.text(row, UNIT_COLUMN, self.book.currency)
        values, running = [], 0.0
        here = TimeRow("Cash flow", row, [])
        for m in self.book.months:
            running += total.values[m]
            before = f"{here.at(m - 1, sheet='Cash flow')}+" if m else ""
            self.sheet.formula(row, 5 + m, f"{before}{total.at(m, sheet='Cash flow')}", running)
            values.append(running)
        here.values = values
        return here


def _ranges(sources: list[TimeRow], month: int) -> list[str]:
    """Addresses of one month of some rows, runs of adjacent rows as SUM over a range."""
    ordered = sorted(sources, key=lambda row: (row.sheet, row.row))
    runs: list[list[TimeRow]] = []
    for row in ordered:
        if runs and runs[-1][-1].sheet == row.sheet and runs[-1][-1].row + 1 == row.row:
            runs[-1].append(row)
        else:
            runs.append([row])
    column = month_column(month)
    return [
        run[0].at(month)
        if len(run) == 1
        else f"SUM('{run[0].sheet}'!{column}${run[0].row + 1}:{column}${run[-1].row + 1})"
        for run in runs
    ]
