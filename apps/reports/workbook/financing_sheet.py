"""The sheet Financing: a loan or a lease of the capital lines as opening, movement and closing balances."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from apps.reports.workbook.book import CONSTANT_COLUMN, LABEL_COLUMN, UNIT_COLUMN, Book, Cell, Sheet, TimeRow
from apps.reports.workbook.flow_sheets import OptionRows, write_months
from apps.reports.workbook.inputs_sheet import Expression, InputsSheet
from apps.reports.workbook.timing_sheet import TimingSheet


@dataclass(kw_only=True)
class FinancingRows:
    """Rows of one loan or lease. `cash` are its rows in the cash flow, `accrual` what it costs as consumed."""

    kind: str
    cash: list[tuple[str, TimeRow]]
    accrual: TimeRow
    interest: TimeRow
    payments: TimeRow
    closing: TimeRow
    settlement: TimeRow
    right_of_use: TimeRow | None = None


class FinancingSheet:
    """Writes the schedules of all options that are not paid in cash."""

    def __init__(self, book: Book, inputs: InputsSheet, timing: TimingSheet) -> None:
        self.book, self.inputs, self.timing = book, inputs, timing
        self.sheet: Sheet = book.add_time_sheet(
            "Financing",
            "Financing",
            f"{book.currency}; balances as opening, movement, closing. Options paid in cash have no rows.",
        )

    def write(self, rows: OptionRows) -> FinancingRows | None:
        financing = rows.option.get("financing") or {"kind": "cash"}
        if financing["kind"] == "cash":
            return None
        self.sheet.group(f"{rows.option['key']} {rows.option['name']}: {financing['kind']}")
        by_key = {line["key"]: line for line in rows.result["lines"]}
        if financing["kind"] == "loan":
            return self._loan(rows, financing, by_key)
        return self._lease(rows, financing, by_key)

    def _constant(self, label: str, expression: Expression, style: str = "money") -> Cell:
        row = self.sheet.line()
        self.sheet.text(row, 0, "C")
        self.sheet.text(row, LABEL_COLUMN, label)
        return self.sheet.formula(row, CONSTANT_COLUMN, expression[0], expression[1], style)

    def _row(self, label: str, formulas: list[Expression], style: str = "money", *, balance: bool = False) -> TimeRow:
        row = self.sheet.line()
        self.sheet.text(row, 0, "C")
        self.sheet.text(row, LABEL_COLUMN, label)
        self.sheet.text(row, UNIT_COLUMN, self.book.currency)
        return write_months(self.sheet, row, formulas, style, balance=balance)

    def _rate(self, factor: Any) -> Cell:
        text, value = self.inputs.expression(factor)
        year = self.inputs.constants["months_per_year"]
        return self._constant(
            "Rate a month, nominal annual rate over twelve", (f"{text}/{year.ref}", value / year.value), "share"
        )

    def _capital(self, rows: OptionRows) -> Expression:
        lines = rows.of_group("capital")
        return "+".join(line.amount.ref for line in lines) or "0", sum(line.amount.value for line in lines)

    def _term(self, financing: Mapping[str, Any]) -> Cell:
        return self.inputs.constant(float(financing["term_months"]), "Term of the financing, months")

    def _loan(self, rows: OptionRows, financing: Mapping[str, Any], by_key: Mapping[str, Any]) -> FinancingRows:
        key, months, month = rows.option["key"], self.book.months, self.timing.month
        capital = self._capital(rows)
        share = self.inputs.expression(financing.get("share") or {"const": "1", "label": "Whole"})
        debt = self._constant("Loan, share of the capital lines", (f"({capital[0]})*{share[0]}", capital[1] * share[1]))
        rate, term = self._rate(financing["annual_rate"]), self._term(financing)
        n = int(term.value)
        level = _level_payment(debt.value, rate.value, n)
        payment = self._constant(
            "Level payment a month",
            (f"IF({rate.ref}=0,{debt.ref}/{term.ref},-PMT({rate.ref},{term.ref},{debt.ref}))", level),
        )
        drawn = self._row(
            "Drawn", [(f"IF({month.at(m)}=0,-{debt.ref},0)", -debt.value if m == 0 else 0.0) for m in months]
        )
        paid = by_key[f"{key}.loan_payments"]["cash_usd"]
        payments = self._row(
            "Payments",
            [(f"IF(AND({month.at(m)}>0,{month.at(m)}<={term.ref}),{payment.ref},0)", float(paid[m])) for m in months],
        )
        interest, closing = self._balance(
            rate, payments, [(f"-{drawn.at(m, sheet='Financing')}", -drawn.values[m]) for m in months]
        )
        settlement = self._settlement(closing)
        return FinancingRows(
            kind="loan",
            cash=[("Loan drawn", drawn), ("Loan payments", payments), ("Loan settled at the horizon", settlement)],
            accrual=interest,
            interest=interest,
            payments=payments,
            closing=closing,
            settlement=settlement,
        )

    def _balance(self, rate: Cell, payments: TimeRow, additions: list[Expression]) -> tuple[TimeRow, TimeRow]:
        """Interest on the opening balance, and the closing balance before a settlement at the horizon."""
        first = self.sheet.next_row
        interest_row, closing_row = TimeRow("Financing", first, []), TimeRow("Financing", first + 1, [])
        interest, closing = [], []
        balance = 0.0
        for m in self.book.months:
            charge = balance * rate.value
            balance = balance + charge - payments.values[m] + additions[m][1]
            if abs(balance) < 1e-6:
                balance = 0.0
            opening = closing_row.at(m - 1, sheet="Financing") if m else "0"
            interest.append((f"{opening}*{rate.ref}", charge))
            closing.append(
                (
                    f"{opening}+{interest_row.at(m, sheet='Financing')}-{payments.at(m, sheet='Financing')}"
                    f"+{additions[m][0]}",
                    balance,
                )
            )
        return self._row("Interest", interest), self._row("Closing balance", closing, balance=True)

    def _settlement(self, closing: TimeRow) -> TimeRow:
        last = self.book.horizon_months
        return self._row(
            "Settled at the horizon, what is still owed",
            [
                (
                    f"IF({self.timing.month.at(m)}={self.inputs.horizon.ref},{closing.at(m, sheet='Financing')},0)",
                    closing.values[m] if m == last else 0.0,
                )
                for m in self.book.months
            ],
        )

    def _lease(self, rows: OptionRows, financing: Mapping[str, Any], by_key: Mapping[str, Any]) -> FinancingRows:
        key, months, month = rows.option["key"], self.book.months, self.timing.month
        capital = self._capital(rows)
        debt = self._constant("What the lessor pays", capital)
        rate, term = self._rate(financing["annual_rate"]), self._term(financing)
        residual = self.inputs.expression(financing.get("residual_share") or {"const": "0", "label": "No residual"})
        n = term.value
        liability = self._constant(
            "Lease liability, less the residual the lessor counts on",
            (
                f"{debt.ref}*(1-{residual[0]}/(1+{rate.ref})^{term.ref})",
                debt.value * (1 - residual[1] / (1 + rate.value) ** n),
            ),
        )
        payment = self._constant(
            "Level payment a month",
            (
                f"IF({rate.ref}=0,{liability.ref}/{term.ref},-PMT({rate.ref},{term.ref},{liability.ref}))",
                _level_payment(liability.value, rate.value, int(n)),
            ),
        )
        start_flag = self.timing.payment(key, financing["starts"])
        start = start_flag.constant
        assert start is not None  # `payment` always sets it
        paid = by_key[f"{key}.lease_payments"]["cash_usd"]
        running = self._row(
            "Month of the term",
            [
                (
                    f"IF(AND({month.at(m)}>{start.ref},{month.at(m)}<={start.ref}+{term.ref}),1,0)",
                    1.0 if start.value < m <= start.value + n else 0.0,
                )
                for m in months
            ],
            "quantity",
        )
        payments = self._row(
            "Payments", [(f"{running.at(m, sheet='Financing')}*{payment.ref}", float(paid[m])) for m in months]
        )
        additions = [(f"{start_flag.at(m)}*{liability.ref}", start_flag.values[m] * liability.value) for m in months]
        interest, closing = self._balance(rate, payments, additions)
        settlement = self._settlement(closing)
        used = self._row(
            "Right of use, written down evenly",
            [
                (
                    f"{running.at(m, sheet='Financing')}*{liability.ref}/{term.ref}",
                    running.values[m] * liability.value / n,
                )
                for m in months
            ],
        )
        return self._lease_accrual(payments, interest, closing, settlement, additions, used)

    def _lease_accrual(
        self,
        payments: TimeRow,
        interest: TimeRow,
        closing: TimeRow,
        settlement: TimeRow,
        additions: list[Expression],
        used: TimeRow,
    ) -> FinancingRows:
        last, at = self.book.horizon_months, "Financing"
        values = np.cumsum([a[1] for a in additions]) - np.cumsum(used.values)
        first = TimeRow(at, self.sheet.next_row, [])
        right = self._row(
            "Right of use, closing",
            [
                (
                    (f"{first.at(m - 1, sheet=at)}+" if m else "") + f"{additions[m][0]}-{used.at(m, sheet=at)}",
                    float(values[m]),
                )
                for m in self.book.months
            ],
            balance=True,
        )
        accrual = self._row(
            "Interest and use; what is left is written off at the horizon",
            [
                (
                    f"{interest.at(m, sheet=at)}+{used.at(m, sheet=at)}"
                    f"+IF({self.timing.month.at(m)}={self.inputs.horizon.ref},{right.at(m, sheet=at)},0)",
                    interest.values[m] + used.values[m] + (right.values[m] if m == last else 0.0),
                )
                for m in self.book.months
            ],
        )
        return FinancingRows(
            kind="lease",
            cash=[("Lease payments", payments), ("Lease settled at the horizon", settlement)],
            accrual=accrual,
            interest=interest,
            payments=payments,
            closing=closing,
            settlement=settlement,
            right_of_use=right,
        )


def _level_payment(principal: float, rate: float, periods: int) -> float:
    return principal / periods if rate == 0 else principal * rate / (1 - (1 + rate) ** -periods)
