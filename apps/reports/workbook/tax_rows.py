"""Taxes on the sheet Depreciation & tax: deductions by year and the cash they save, as a switch of the run."""

from collections.abc import Mapping
from typing import Any

from apps.engine.finance import MACRS_5_YEAR_PERCENT
from apps.reports.workbook.accrual_sheets import AccrualRows, AccrualSheets
from apps.reports.workbook.book import LABEL_COLUMN, UNIT_COLUMN, TimeRow
from apps.reports.workbook.financing_sheet import FinancingRows
from apps.reports.workbook.flow_sheets import LineRows, OptionRows, write_months
from apps.reports.workbook.inputs_sheet import Expression
from apps.reports.workbook.timing_sheet import service_start

AT = "Depreciation & tax"


class TaxRows:
    """Writes the tax rows of one option after its accruals are known."""

    def __init__(self, accrual: AccrualSheets, tax: Mapping[str, Any]) -> None:
        self.accrual, self.tax = accrual, tax
        self.book, self.inputs, self.timing = accrual.book, accrual.inputs, accrual.timing
        self.sheet = accrual.depreciation

    def write(
        self, rows: OptionRows, accruals: AccrualRows, financing: FinancingRows | None
    ) -> list[tuple[str, TimeRow]]:
        """Return the rows of the cash flow: taxes saved, tax on disposal."""
        option = rows.option["key"]
        self.sheet.group(f"{option} {rows.option['name']}: tax")
        deductions: list[TimeRow] = []
        disposals: list[Expression] = []
        for key, line in rows.lines.items():
            if line.result.get("not_given") or line.result.get("paid_by_lessor"):
                continue
            if line.line["group"] == "residual":
                disposals.append((line.cash.total.ref, line.cash.total.value))
            elif line.line.get("treatment") == "capital":
                charge = self._tax_depreciation(option, line)
                deductions.append(charge)
                if line.line.get("disposed_at_horizon"):
                    gross, last = accruals.recognised[key], self.book.horizon_months
                    disposals.append((f"{gross.at(last)}-{charge.total.ref}", gross.values[last] - charge.total.value))
            else:
                deductions.append(accruals.lines[key])
        if financing is not None:
            deductions.append(financing.interest if financing.kind == "loan" else financing.payments)
            if financing.kind == "lease":
                disposals.append((financing.settlement.total.ref, financing.settlement.total.value))
        if rows.bridge is not None:
            deductions.append(rows.bridge)
        return self._saved(rows, deductions, disposals)

    def _row(self, label: str, formulas: list[Expression]) -> TimeRow:
        row = self.sheet.line()
        self.sheet.text(row, 0, "C")
        self.sheet.text(row, LABEL_COLUMN, label)
        self.sheet.text(row, UNIT_COLUMN, self.book.currency)
        return write_months(self.sheet, row, formulas)

    def _tax_depreciation(self, option: str, rows: LineRows) -> TimeRow:
        line, months = rows.line, self.book.months
        start = self.timing.date(option, service_start(line))
        flag = self.timing.payment_of(start, f"service of {line['key']}")
        label = f"{line['label']}: tax depreciation"
        if self.tax["method"] == "first_year":
            return self._row(
                label, [(f"{rows.amount.ref}*{flag.at(m)}", rows.amount.value * flag.values[m]) for m in months]
            )
        if self.tax["method"] == "straight_line":
            life = self.inputs.expression(self.tax["life_months"])
            end = self.timing.constant_row(
                f"{line['key']}: end of tax life", "month", (f"{start.ref}+{life[0]}", start.value + life[1])
            )
            share = self.timing.share_row(start, end, f"tax life of {line['key']}")
            return self._row(
                label,
                [
                    (f"{rows.amount.ref}*{share.at(m)}/{life[0]}", rows.amount.value * share.values[m] / life[1])
                    for m in months
                ],
            )
        return self._macrs(label, rows, flag)

    def _macrs(self, label: str, rows: LineRows, flag: TimeRow) -> TimeRow:
        """Percent of the year since the year of service, charged in the last month of each year."""
        year, service = self.timing.year, flag.constant
        assert service is not None  # `payment_of` always sets it
        table = [
            self.inputs.constant(p / 100, f"MACRS 5-year, share of year {i + 1}")
            for i, p in enumerate(MACRS_5_YEAR_PERCENT)
        ]
        choices = ",".join(cell.ref for cell in table)
        per_year = self.inputs.constants["months_per_year"]
        first = max(1, -(-int(service.value) // 12))
        first_text = f"MAX(1,ROUNDUP({service.ref}/{per_year.ref},0))"
        formulas = []
        for m in self.book.months:
            age = int(year.values[m]) - first + 1
            live = self._is_year_end(m) and 1 <= age <= len(table) and service.value <= self.book.horizon_months
            formulas.append(
                (
                    f"IF({self._year_end(m)},IFERROR({rows.amount.ref}*CHOOSE({year.at(m)}-{first_text}+1,{choices}),0),0)",
                    rows.amount.value * table[age - 1].value if live else 0.0,
                )
            )
        return self._row(label, formulas)

    def _is_year_end(self, m: int) -> bool:
        return m > 0 and (m % 12 == 0 or m == self.book.horizon_months)

    def _year_end(self, m: int) -> str:
        month = self.timing.month.at(m)
        per_year = self.inputs.constants["months_per_year"].ref
        return f"AND({month}>0,OR(MOD({month},{per_year})=0,{month}={self.inputs.horizon.ref}))"

    def _saved(
        self, rows: OptionRows, deductions: list[TimeRow], disposals: list[Expression]
    ) -> list[tuple[str, TimeRow]]:
        months, last = self.book.months, self.book.horizon_months
        total = self._row(
            "Deductions",
            [
                ("+".join(row.at(m) for row in deductions) or "0", sum(row.values[m] for row in deductions))
                for m in months
            ],
        )
        rate = self.inputs.expression(self.tax["rate"])
        disposal_text = "(" + ("+".join(text for text, _ in disposals) or "0") + ")"
        by_key = {line["key"]: line for line in rows.result["lines"]}
        saved_values = by_key[f"{rows.option['key']}.tax_saved"]["cash_usd"]
        disposal_values = by_key[f"{rows.option['key']}.tax_on_disposal"]["cash_usd"]
        saved, on_disposal = [], []
        full = self.tax["absorption"] == "full"
        for m in months:
            first = max(0, (m - 1) // 12 * 12 + 1) if m > 12 else 0  # month 0 belongs to the first year
            of_year = f"SUM({total.span(first, m, sheet=AT)})"
            text = f"IF({self._year_end(m)},-{rate[0]}*{of_year},0)" if full and self._is_year_end(m) else "0"
            saved.append((text, float(saved_values[m])))
            gain = f"-{rate[0]}*{disposal_text}"
            if not full:
                pool = f"({total.total.ref}+MAX(0,{disposal_text}))"
                gain = f"{rate[0]}*MAX(0,MAX(0,-{disposal_text})-{pool})"
            on_disposal.append((gain if m == last else "0", float(disposal_values[m])))
        return [
            ("Taxes saved by deductions", self._row("Taxes saved by deductions", saved)),
            ("Tax on disposal", self._row("Tax on disposal", on_disposal)),
        ]
