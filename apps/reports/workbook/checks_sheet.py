"""The sheet Checks: what must hold inside the workbook, and that it agrees with the run."""

from collections.abc import Mapping
from typing import Any

from apps.reports.workbook.book import Book, Cell, Sheet, TimeRow
from apps.reports.workbook.financing_sheet import FinancingRows
from apps.reports.workbook.inputs_sheet import InputsSheet
from apps.reports.workbook.summary_sheets import OptionView
from apps.reports.workbook.timing_sheet import TimingSheet

TOLERANCE = 0.5  # currency units between the engine's total and the sheet's


class ChecksSheet:
    """Each row: what is compared, both sides, the difference, whether it is within tolerance."""

    def __init__(self, book: Book, inputs: InputsSheet, timing: TimingSheet) -> None:
        self.book, self.inputs, self.timing = book, inputs, timing
        self.sheet: Sheet = book.add_sheet(
            "Checks", "Checks and tie-out", "Every difference should be zero within half a currency unit."
        )
        self.sheet.worksheet.set_column(0, 0, 62)
        self.sheet.worksheet.set_column(1, 4, 20)
        self.sheet.heads(self.sheet.line(), ["Check", "One side", "Other side", "Difference", "Result"])
        self.tolerance = inputs.constant(TOLERANCE, "Tolerance of checks, currency units")
        self.first = self.sheet.next_row
        self.tie_outs: list[int] = []

    def compare(self, label: str, left: tuple[str, float], right: tuple[str, float]) -> None:
        row = self._sides(label, left, right)
        good = abs(left[1] - right[1]) <= TOLERANCE
        self.sheet.formula(row, 4, f"IF(ABS(D{row + 1})<={self.tolerance.ref},0,1)", 0.0 if good else 1.0, "check")

    def _sides(self, label: str, left: tuple[str, float], right: tuple[str, float]) -> int:
        row = self.sheet.line()
        self.sheet.text(row, 0, label)
        self.sheet.formula(row, 1, left[0], left[1])
        self.sheet.formula(row, 2, right[0], right[1])
        self.sheet.formula(row, 3, f"B{row + 1}-C{row + 1}", left[1] - right[1])
        return row

    def option(self, view: OptionView, balances: tuple[TimeRow, TimeRow], financing: FinancingRows | None) -> None:
        key, last = view.rows.option["key"], self.book.horizon_months
        lines = [rows.cash for rows in view.rows.lines.values()]
        if view.rows.bridge is not None:
            lines.append(view.rows.bridge)
        parts = list(view.cash.parts.values())
        total = view.cash.total.total
        others = [view.cash.parts[name] for name in ("Financing", "Taxes") if name in view.cash.parts]
        line_sum = "+".join(row.total.ref for row in [*lines, *others]) or "0"
        self.compare(
            f"{key}: sum of lines = sum of months",
            (line_sum, sum(row.total.value for row in [*lines, *others])),
            (total.ref, total.value),
        )
        self.compare(
            f"{key}: sum of groups = total",
            ("+".join(row.total.ref for row in parts) or "0", sum(row.total.value for row in parts)),
            (total.ref, total.value),
        )
        year = self.timing.year
        years = "+".join(
            f"SUMIFS({view.cash.total.span(0, last)},{year.span(0, last)},{self.inputs.constant(y, f'Year {y}').ref})"
            for y in range(int(max(year.values)) + 1)
        )
        self.compare(f"{key}: sum of years = total", (years, total.value), (total.ref, total.value))
        assets, debts = balances
        self.compare(
            f"{key}: cash = accrual + closing balances − debts",
            (total.ref, total.value),
            (
                f"{view.accrual.total.ref}+{assets.at(last)}-{debts.at(last)}",
                view.accrual.total.value + assets.values[last] - debts.values[last],
            ),
        )
        if financing is not None:
            left = f"{financing.closing.at(last)}-{financing.settlement.at(last)}"
            value = financing.closing.values[last] - financing.settlement.values[last]
            self.compare(f"{key}: debt closes at zero", (left, value), (self.inputs.constants["zero"].ref, 0.0))

    def tie_out(self, views: Mapping[str, OptionView], results: Mapping[str, Any]) -> None:
        """The engine's totals beside the workbook's; they need not agree once an input is changed."""
        self.sheet.line()
        self.sheet.text(self.sheet.line(), 0, "Tie-out with the run", "group")
        row = self.sheet.line()
        self.sheet.text(row, 0, "Inputs that differ from the run")
        self.changed = self.sheet.formula(row, 1, self.inputs.unchanged(), 0.0, "quantity")
        for key, view in views.items():
            for name, cell in (("nominal_usd", view.nominal), ("npv_usd", view.npv)):
                assert cell is not None  # the summary is written first
                row = self.sheet.line()
                engine = float(results["options"][key][name]["likely"])
                self.sheet.text(
                    row, 0, f"{key}: {'nominal' if name == 'nominal_usd' else 'net present value'}, workbook = engine"
                )
                self.sheet.formula(row, 1, cell.ref, cell.value)
                self.sheet.number(row, 2, engine, "money")
                self.sheet.formula(row, 3, f"B{row + 1}-C{row + 1}", cell.value - engine)
                good = abs(cell.value - engine) <= TOLERANCE
                self.sheet.formula(
                    row,
                    4,
                    f"IF({self.changed.ref}>0,0,IF(ABS(D{row + 1})<={self.tolerance.ref},0,1))",
                    0.0 if good else 1.0,
                    "check",
                )

    def overall(self) -> tuple[Cell, tuple[str, str]]:
        """The cell that counts failed checks, and a sentence about it for the cover."""
        row = self.sheet.line()
        self.sheet.text(row, 0, "Failed checks", "total_label")
        last = row
        flag = self.sheet.formula(row, 4, f"SUM(E{self.first + 1}:E{last})", 0.0, "quantity")
        words = "all checks hold and the totals are those of the run"
        formula = (
            f'IF({flag.ref}>0,"CHECKS FAIL, see Checks",IF({self.changed.ref}>0,'
            f'"all checks hold; inputs were changed, so the totals are not those of the run","{words}"))'
        )
        return flag, (formula, words)
