"""The sheets Summary and Comparison: options side by side, with formulas on the rows behind them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.reports.workbook.book import Book, Cell, Sheet, TimeRow
from apps.reports.workbook.cash_sheet import CashRows
from apps.reports.workbook.flow_sheets import OptionRows, write_months
from apps.reports.workbook.inputs_sheet import Expression, InputsSheet
from apps.reports.workbook.timing_sheet import TimingSheet

PERCENTILES = ("p10", "p50", "p90")
DRIVERS = 3


@dataclass(kw_only=True)
class OptionView:
    """All rows of one option that a summary needs."""

    rows: OptionRows
    cash: CashRows
    accrual: TimeRow
    nominal: Cell | None = None
    npv: Cell | None = None


class SummarySheet:
    """Writes one column an option."""

    def __init__(self, book: Book, inputs: InputsSheet, timing: TimingSheet, sheet: Sheet) -> None:
        self.book, self.inputs, self.timing, self.sheet = book, inputs, timing, sheet
        sheet.worksheet.set_column(0, 0, 62)
        sheet.worksheet.set_column(1, 40, 24)
        sheet.worksheet.freeze_panes(4, 1)

    def write(
        self, document: Mapping[str, Any], results: Mapping[str, Any], views: Mapping[str, OptionView], text: str
    ) -> None:
        sheet, unit = self.sheet, self.book.currency
        row = sheet.line()
        sheet.heads(row, [unit, *(f"{key} {view.rows.option['name']}" for key, view in views.items())])
        columns = list(enumerate(views.values(), start=1))
        self._figures(columns, document)
        self._hours(columns)
        self._from_run(columns, results)
        self._drivers(columns, results)
        self._break_even(columns, results)
        if text:
            sheet.line()
            sheet.text(sheet.line(), 0, "Reading", "group")
            for sentence in text.splitlines():
                sheet.text(sheet.line(), 0, sentence)

    def _row(self, label: str, cells: list[tuple[int, Expression]], style: str = "money") -> list[Cell]:
        row = self.sheet.line()
        self.sheet.text(row, 0, label)
        return [self.sheet.formula(row, column, text, value, style) for column, (text, value) in cells]

    def _figures(self, columns: list[tuple[int, OptionView]], document: Mapping[str, Any]) -> None:
        nominal = self._row("Total cost, nominal", [(c, _total(v.cash.total)) for c, v in columns], "money_total")
        npv = self._row("Net present value", [(c, _total(v.cash.discounted)) for c, v in columns], "money_total")
        for (_, view), a, b in zip(columns, nominal, npv, strict=True):
            view.nominal, view.npv = a, b
        rate = self.inputs.expression(document["discount_rate"])
        horizon, per_year = self.inputs.horizon, self.inputs.constants["months_per_year"]
        years = horizon.value / per_year.value
        factor = years if rate[1] == 0 else (1 - (1 + rate[1]) ** -years) / rate[1]
        text = (
            f"IF({rate[0]}=0,{horizon.ref}/{per_year.ref},(1-(1+{rate[0]})^(-{horizon.ref}/{per_year.ref}))/{rate[0]})"
        )
        self._row(
            "Total cost a year, nominal",
            [
                (c, (f"{n.ref}/({horizon.ref}/{per_year.ref})", n.value / years))
                for (c, _), n in zip(columns, nominal, strict=True)
            ],
        )
        self._row(
            "Equivalent annual cost",
            [(c, (f"{n.ref}/{text}", n.value / factor)) for (c, _), n in zip(columns, npv, strict=True)],
        )
        for year in range(int(max(self.timing.year.values)) + 1):
            label = "Cash, day of signature" if year == 0 else f"Cash, year {year}"
            self._row(label, [(c, self._of_year(v.cash.total, year)) for c, v in columns])
        for year in range(int(max(self.timing.year.values)) + 1):
            label = "Accrual, day of signature" if year == 0 else f"Accrual, year {year}"
            self._row(label, [(c, self._of_year(v.accrual, year)) for c, v in columns])
        for label in ("Purchases", "Residual value", "Operating cost", "Cloud and bridging", "Financing", "Taxes"):
            cells = [(c, _total(v.cash.parts[label])) for c, v in columns if label in v.cash.parts]
            if cells:
                self._row(label, cells)

    def _of_year(self, source: TimeRow, year: int) -> Expression:
        last = self.book.horizon_months
        value = sum(v for v, y in zip(source.values, self.timing.year.values, strict=True) if y == year)
        number = self.inputs.constant(year, f"Year {year}").ref
        return f"SUMIFS({source.span(0, last)},{self.timing.year.span(0, last)},{number})", value

    def _hours(self, columns: list[tuple[int, OptionView]]) -> None:
        installed, productive = [], []
        for column, view in columns:
            texts, values, useful_texts, useful_values = [], [], [], []
            for phase in view.rows.option.get("phases", []):
                key = view.rows.option["key"]
                share = self.timing.window(
                    key, {"event": "ready", "phase": phase["key"]}, {"event": "end", "phase": phase["key"]}
                )
                hours = self.inputs.constants["hours_per_month"]
                n = self.inputs.expression(phase["n_accelerators"])
                text, value = (
                    f"SUM({share.span(0, self.book.horizon_months)})*{n[0]}*{hours.ref}",
                    sum(share.values) * n[1] * hours.value,
                )
                texts.append(text)
                values.append(value)
                factors = [phase.get(name) for name in ("availability", "occupancy", "goodput")]
                if all(factor is not None for factor in factors):
                    more = self.inputs.product(factors)
                    useful_texts.append(f"{text}*{more[0]}")
                    useful_values.append(value * more[1])
            if texts:
                installed.append((column, ("+".join(texts), sum(values))))
            if useful_texts and len(useful_texts) == len(texts):
                productive.append((column, ("+".join(useful_texts), sum(useful_values))))
        installed_cells = self._row("GPU-hours installed", installed, "hours")
        productive_cells = self._row("GPU-hours productive", productive, "hours")
        by_column = dict(columns)
        for label, cells in (("installed", installed_cells), ("productive", productive_cells)):
            self._row(
                f"Cost per GPU-hour {label}, nominal cash without bridging",
                [(cell.column, self._per_hour(by_column[cell.column], cell)) for cell in cells if cell.value],
            )

    @staticmethod
    def _per_hour(view: OptionView, hours: Cell) -> Expression:
        assert view.nominal is not None  # written above
        bridge = view.rows.bridge
        text, value = view.nominal.ref, view.nominal.value
        if bridge is not None:
            text, value = f"({text}-{bridge.total.ref})", value - bridge.total.value
        return f"IF({hours.ref}=0,0,{text}/{hours.ref})", value / hours.value

    def _from_run(self, columns: list[tuple[int, OptionView]], results: Mapping[str, Any]) -> None:
        """Percentiles and probabilities come from the draws of the run and do not follow changed inputs."""
        sheet = self.sheet
        sheet.line()
        sheet.text(sheet.line(), 0, "From the draws of the run; these do not follow changed inputs", "group")
        for name, title in (("nominal_usd", "Nominal"), ("npv_usd", "Net present value")):
            for percentile in PERCENTILES:
                row = sheet.line()
                sheet.text(row, 0, f"{title}, {percentile.upper()}")
                for column, view in columns:
                    value = view.rows.result[name].get(percentile)
                    if value is not None:
                        sheet.number(row, column, float(value), "money")
        row = sheet.line()
        sheet.text(row, 0, "Cheapest in this share of the draws, nominal")
        for column, view in columns:
            share = results["probability_cheapest"]["nominal"].get(view.rows.option["key"])
            if share is None:
                sheet.text(row, column, "not ranked", "note")
            else:
                sheet.number(row, column, float(share), "percent")

    def _drivers(self, columns: list[tuple[int, OptionView]], results: Mapping[str, Any]) -> None:
        """The three inputs that move each total most, each with the totals at its low and its high end."""
        for rank in range(DRIVERS):
            row = self.sheet.line()
            self.sheet.text(row, 0, f"Driver {rank + 1} of the total: at low to at high, million {self.book.currency}")
            for column, view in columns:
                drivers = results["tornado"].get(view.rows.option["key"], [])[rank : rank + 1]
                for driver in drivers:
                    ends = f"{driver['at_low_usd'] / 1e6:,.2f} to {driver['at_high_usd'] / 1e6:,.2f}"
                    self.sheet.text(row, column, f"{driver['label']}: {ends}", "wrap")

    def _break_even(self, columns: list[tuple[int, OptionView]], results: Mapping[str, Any]) -> None:
        """In which month an option has paid back what it cost more than another; residual counted."""
        months = {
            (pair["first"], pair["second"]): pair["break_even_month_net"]["likely"] for pair in results["comparisons"]
        }
        for _, rival in columns:
            key = rival.rows.option["key"]
            row = self.sheet.line()
            self.sheet.text(row, 0, f"Pays back against {key}, month, residual counted")
            for column, view in columns:
                month = months.get((view.rows.option["key"], key))
                if month is not None:
                    self.sheet.number(row, column, float(month), "quantity")
                elif view is not rival:
                    self.sheet.text(row, column, "no such month", "note")


def _total(row: TimeRow) -> Expression:
    return row.total.ref, row.total.value


class ComparisonSheet:
    """Every option against the first: differences by month, present value, rate of return of the difference."""

    def __init__(self, book: Book, inputs: InputsSheet, timing: TimingSheet) -> None:
        self.book, self.inputs, self.timing = book, inputs, timing
        self.sheet: Sheet = book.add_time_sheet(
            "Comparison",
            "Comparison",
            f"{book.currency}; a negative difference means that the first of the pair costs less.",
        )

    def write(self, views: Mapping[str, OptionView], results: Mapping[str, Any]) -> None:
        keys = [key for key, view in views.items() if not view.rows.option.get("baseline")]
        for i, first in enumerate(keys):
            for second in keys[i + 1 :]:
                self._pair(views[first], views[second], results)

    def _pair(self, a: OptionView, b: OptionView, results: Mapping[str, Any]) -> None:
        sheet, at = self.sheet, "Comparison"
        first, second = a.rows.option["key"], b.rows.option["key"]
        sheet.group(f"{first} less {second}")
        row = sheet.line()
        sheet.text(row, 0, "C")
        sheet.text(row, 1, "Difference of cash")
        difference = write_months(
            sheet,
            row,
            [
                (f"{a.cash.total.at(m)}-{b.cash.total.at(m)}", a.cash.total.values[m] - b.cash.total.values[m])
                for m in self.book.months
            ],
        )
        row = sheet.line()
        sheet.text(row, 0, "C")
        sheet.text(row, 1, "Present value of the difference")
        write_months(
            sheet,
            row,
            [
                (
                    f"{difference.at(m, sheet=at)}*{self.timing.discount.at(m)}",
                    difference.values[m] * self.timing.discount.values[m],
                )
                for m in self.book.months
            ],
        )
        self._rate_of_return(difference, first, second, results)

    def _rate_of_return(self, difference: TimeRow, first: str, second: str, results: Mapping[str, Any]) -> None:
        """The effective annual rate at which the difference has no present value, where exactly one exists."""
        pair = next(c for c in results["comparisons"] if (c["first"], c["second"]) == (first, second))
        row = self.sheet.line()
        self.sheet.text(row, 1, "Rate of return of the difference, a year")
        answer = pair["irr_of_difference"]
        if answer["value"] is None:
            self.sheet.text(row, 3, answer["reason"], "note")
            return
        # A solver's last digits differ between programs: the rate is the run's, the check below it is live.
        rate = self.sheet.number(row, 3, float(answer["value"]), "percent")
        check = self.sheet.line()
        self.sheet.text(check, 1, "Present value of the difference at that rate, should be about zero")
        last = self.book.horizon_months
        per_year = self.inputs.constants["months_per_year"]
        value = sum(v * (1 + rate.value) ** (-m / per_year.value) for m, v in enumerate(difference.values))
        flows, months = difference.span(0, last, sheet="Comparison"), self.timing.month.span(0, last)
        self.sheet.formula(check, 3, f"SUMPRODUCT({flows},(1+{rate.ref})^(-{months}/{per_year.ref}))", value)
