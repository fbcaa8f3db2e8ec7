"""The sheets Depreciation & tax, Accrual and Balance sheet: cost in the months in which it is consumed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from apps.reports.workbook.book import LABEL_COLUMN, UNIT_COLUMN, Book, Cell, Sheet, TimeRow, month_column
from apps.reports.workbook.financing_sheet import FinancingRows
from apps.reports.workbook.flow_sheets import LineRows, OptionRows, write_months
from apps.reports.workbook.inputs_sheet import Expression, InputsSheet
from apps.reports.workbook.timing_sheet import TimingSheet, service_start

DEPRECIATION = "Depreciation & tax"


@dataclass(kw_only=True)
class AccrualRows:
    """What an option accrues by line, and what of it is on the books."""

    lines: dict[str, TimeRow] = field(default_factory=dict)
    recognised: dict[str, TimeRow] = field(default_factory=dict)


class AccrualSheets:
    """Writes depreciation, then links all accruals, then the balances between cash and accrual."""

    def __init__(self, book: Book, inputs: InputsSheet, timing: TimingSheet) -> None:
        self.book, self.inputs, self.timing = book, inputs, timing
        unit = book.currency
        self.depreciation: Sheet = book.add_time_sheet(
            DEPRECIATION,
            "Depreciation and tax",
            f"{unit}; straight line from service. Proposed classes: confirm them with your auditor.",
        )

    def write_depreciation(self, rows: OptionRows) -> AccrualRows:
        accruals = AccrualRows()
        capital = [line for line in rows.lines.values() if self._is_depreciated(line)]
        if capital:
            self.depreciation.group(f"{rows.option['key']} {rows.option['name']}")
        for line in capital:
            self._depreciate(rows.option["key"], line, accruals)
        return accruals

    @staticmethod
    def _is_depreciated(rows: LineRows) -> bool:
        live = not rows.result.get("not_given") and not rows.result.get("paid_by_lessor")
        return live and rows.line.get("treatment") == "capital"

    def _row(
        self, sheet: Sheet, label: str, formulas: list[Expression], kind: str = "C", *, balance: bool = False
    ) -> TimeRow:
        row = sheet.line()
        sheet.text(row, 0, kind)
        sheet.text(row, LABEL_COLUMN, label)
        sheet.text(row, UNIT_COLUMN, self.book.currency)
        return write_months(sheet, row, formulas, "money_link" if kind == "L" else "money", balance=balance)

    def _depreciate(self, option: str, rows: LineRows, accruals: AccrualRows) -> None:
        line, last, at = rows.line, self.book.horizon_months, DEPRECIATION
        start = self.timing.date(option, service_start(line))
        life = self._life(line, start)
        end = self.timing.constant_row(
            f"{line['key']}: end of life", "month", (f"{start.ref}+{life[0]}", start.value + life[1])
        )
        share = self.timing.share_row(start, end, f"life of {line['key']}")
        flag = self.timing.payment_of(start, f"service of {line['key']}")
        in_service = [sum(flag.values[: m + 1]) for m in self.book.months]
        recognised = self._row(
            self.depreciation,
            f"{line['label']}: on the books, gross",
            [
                (f"{rows.amount.ref}*SUM({flag.span(0, m)})", rows.amount.value * in_service[m])
                for m in self.book.months
            ],
            balance=True,
        )
        charge = self._row(
            self.depreciation,
            f"{line['label']}: straight line over its life",
            [
                (
                    f"{rows.amount.ref}*({share.at(m)}"
                    + (f"+MAX(0,MIN({life[0]},-{start.ref}))" if m == 0 else "")
                    + f")/{life[0]}",
                    rows.amount.value
                    * (share.values[m] + (max(0.0, min(life[1], -start.value)) if m == 0 else 0.0))
                    / life[1],
                )
                for m in self.book.months
            ],
        )
        accrual = charge
        if line.get("disposed_at_horizon"):
            total = sum(charge.values)
            accrual = self._row(
                self.depreciation,
                f"{line['label']}: charge with the book value left at disposal",
                [
                    (
                        f"{charge.at(m, sheet=at)}+IF({self.timing.month.at(m)}={self.inputs.horizon.ref},"
                        f"{recognised.at(m, sheet=at)}-$E${charge.row + 1},0)",
                        charge.values[m] + (recognised.values[m] - total if m == last else 0.0),
                    )
                    for m in self.book.months
                ],
            )
        accruals.lines[line["key"]] = accrual
        accruals.recognised[line["key"]] = recognised

    def _life(self, line: Mapping[str, Any], start: Cell) -> Expression:
        if line.get("life_months") is not None:
            return self.inputs.expression(line["life_months"])
        horizon = self.inputs.horizon
        return f"MAX(1,{horizon.ref}-{start.ref})", max(1.0, horizon.value - start.value)

    def add_views(self) -> None:
        """Add the two sheets that come after the cash flow."""
        unit = self.book.currency
        self.accrual: Sheet = self.book.add_time_sheet(
            "Accrual", "Accrual view", f"{unit}; cost in the month in which it is consumed."
        )
        self.balance: Sheet = self.book.add_time_sheet(
            "Balance sheet", "Balances between cash and accrual", f"{unit}; debts are positive rows of their own."
        )

    def link_lines(self, rows: OptionRows, accruals: AccrualRows, extra: list[tuple[str, TimeRow]]) -> list[TimeRow]:
        """Link every line's accrual; `extra` are bridge and financing."""
        option = rows.option["key"]
        self.accrual.group(f"{option} {rows.option['name']}")
        linked: list[TimeRow] = []
        for key, line in rows.lines.items():
            if line.result.get("not_given") or line.result.get("paid_by_lessor"):
                continue
            source = accruals.lines.get(key) or line.consumed
            label = line.line["label"]
            linked.append(self._expense(option, line) if source is None else self._link(label, source))
            accruals.lines[key] = linked[-1]
        linked.extend(self._link(label, row) for label, row in extra)
        return linked

    def total(self, linked: list[TimeRow], tax: list[tuple[str, TimeRow]]) -> TimeRow:
        """Add up an option, taxes last."""
        linked = linked + [self._link(label, row) for label, row in tax]
        return sum_row(self.accrual, "Accrual, total", linked, self.book)

    def _link(self, label: str, source: TimeRow) -> TimeRow:
        return self._row(self.accrual, label, [(source.at(m), source.values[m]) for m in self.book.months], "L")

    def _expense(self, option: str, rows: LineRows) -> TimeRow:
        """An expense paid at milestones: consumed over its life where it has one, else when it starts."""
        start = self.timing.date(option, service_start(rows.line))
        if rows.line.get("life_months") is None:
            flag = self.timing.payment_of(start, f"service of {rows.line['key']}")
            paid = rows.cash.total
            formulas = [(f"{paid.ref}*{flag.at(m)}", paid.value * flag.values[m]) for m in self.book.months]
        else:
            life = self.inputs.expression(rows.line["life_months"])
            end = self.timing.constant_row(
                f"{rows.line['key']}: end of life", "month", (f"{start.ref}+{life[0]}", start.value + life[1])
            )
            share = self.timing.share_row(start, end, f"life of {rows.line['key']}")
            formulas = [
                (f"{rows.amount.ref}*{share.at(m)}/{life[0]}", rows.amount.value * share.values[m] / life[1])
                for m in self.book.months
            ]
        return self._row(self.accrual, rows.line["label"], formulas)

    def write_balances(
        self, rows: OptionRows, accruals: AccrualRows, financing: FinancingRows | None
    ) -> tuple[TimeRow, TimeRow]:
        """Write what stands between cash and accrual; return assets and debts of the option."""
        self.balance.group(f"{rows.option['key']} {rows.option['name']}")
        assets: list[TimeRow] = []
        for key, line in rows.lines.items():
            accrued = accruals.lines.get(key)
            if accrued is None:
                continue
            recognised = accruals.recognised.get(key)
            if recognised is not None:
                assets.append(self._book_value(line.line["label"], recognised, accrued))
                assets.append(self._ahead(line.line["label"], line.cash, recognised, is_balance=True))
            elif line.consumed is not line.cash:
                assets.append(self._ahead(line.line["label"], line.cash, accrued, is_balance=False))
        if financing is not None and financing.right_of_use is not None:
            assets.append(self._right_of_use(financing.right_of_use))
        total = sum_row(
            self.balance,
            "Book values and payments ahead, less what is owed to vendors",
            assets,
            self.book,
            balance=True,
        )
        debts = [] if financing is None else [self._debt(financing)]
        return total, sum_row(self.balance, "Debts of financing", debts, self.book, balance=True)

    def _right_of_use(self, right: TimeRow) -> TimeRow:
        """What is left of a lease at the horizon is written off there."""
        last = self.book.horizon_months
        formulas = [
            (
                f"IF({self.timing.month.at(m)}={self.inputs.horizon.ref},0,{right.at(m)})",
                0.0 if m == last else right.values[m],
            )
            for m in self.book.months
        ]
        return self._row(self.balance, "Right of use", formulas, balance=True)

    def _debt(self, financing: FinancingRows) -> TimeRow:
        closing, settlement = financing.closing, financing.settlement
        formulas = [
            (f"{closing.at(m)}-{settlement.at(m)}", closing.values[m] - settlement.values[m]) for m in self.book.months
        ]
        label = "Loan" if financing.kind == "loan" else "Lease liability"
        return self._row(self.balance, label, formulas, balance=True)

    def _book_value(self, label: str, recognised: TimeRow, accrued: TimeRow) -> TimeRow:
        """What is on the books less what was written down so far."""
        written = list(accumulate(accrued.values))
        return self._row(
            self.balance,
            f"{label}: net book value",
            [
                (f"{recognised.at(m)}-SUM({accrued.span(0, m)})", recognised.values[m] - written[m])
                for m in self.book.months
            ],
            balance=True,
        )

    def _ahead(self, label: str, cash: TimeRow, received: TimeRow, *, is_balance: bool) -> TimeRow:
        """Cumulative payments less what was received for them so far."""
        paid = list(accumulate(cash.values))
        had = received.values if is_balance else list(accumulate(received.values))
        formulas = []
        for m in self.book.months:
            text = received.at(m) if is_balance else f"SUM({received.span(0, m)})"
            formulas.append((f"SUM({cash.span(0, m)})-{text}", paid[m] - had[m]))
        return self._row(self.balance, f"{label}: paid ahead, or owed if negative", formulas, balance=True)


def sum_row(sheet: Sheet, label: str, parts: list[TimeRow], book: Book, *, balance: bool = False) -> TimeRow:
    """A total of rows that stand below one another on this sheet."""
    row = sheet.line()
    sheet.text(row, 0, "C")
    sheet.text(row, LABEL_COLUMN, label, "total_label")
    sheet.text(row, UNIT_COLUMN, book.currency)
    formulas: list[Expression] = []
    for m in book.months:
        column = month_column(m)
        text = f"SUM({column}{parts[0].row + 1}:{column}{parts[-1].row + 1})" if parts else "0"
        formulas.append((text, sum(part.values[m] for part in parts)))
    return write_months(sheet, row, formulas, "money_total", balance=balance)
