"""The sheet Timing: dates of phases, shares of months, payment months, price steps, discount factors."""

import json
import math
from collections.abc import Mapping
from typing import Any

from apps.engine.timing import A_MOMENT
from apps.reports.workbook.book import CONSTANT_COLUMN, LABEL_COLUMN, TOTAL_COLUMN, Book, Cell, Sheet, TimeRow
from apps.reports.workbook.inputs_sheet import Expression, InputsSheet

ANCHOR_WORDS = {
    "signature": "signature",
    "delivery": "delivery of {phase}",
    "ready": "acceptance of {phase}",
    "end": "end of {phase}",
    "horizon": "the horizon",
}


class TimingSheet:
    """Hands out the rows of dates and monthly shares; each is worked out once and linked from then on."""

    def __init__(self, book: Book, inputs: InputsSheet, document: Mapping[str, Any]) -> None:
        self.book, self.inputs = book, inputs
        self.sheet: Sheet = book.add_time_sheet(
            "Timing",
            "Timing",
            "One column is one month on every sheet. Month 0 is the day of signature; a month is paid at its end.",
        )
        self.guard = inputs.constant(A_MOMENT, "Rounding guard of dates, months")
        self.month = self._months()
        self.year = self._years()
        self.discount = self._discount(document["discount_rate"])
        self.dates: dict[tuple[str, str], Cell] = {}
        self.rows: dict[tuple[str, ...], TimeRow] = {}
        self.phases = {
            (option["key"], phase["key"]): phase for option in document["options"] for phase in option.get("phases", [])
        }
        for option in document["options"]:
            if option.get("phases"):
                self.sheet.group(f"Phases of {option['key']} {option['name']}")
            for phase in option.get("phases", []):
                for event in ("delivery", "ready", "end"):
                    self._phase_date(option["key"], phase, event)

    def constant_row(self, label: str, unit: str, expression: Expression, style: str = "share") -> Cell:
        """A row that holds one number in the constant column."""
        row = self.sheet.line()
        self.sheet.text(row, 0, "C")
        self.sheet.text(row, LABEL_COLUMN, label)
        self.sheet.text(row, 2, unit)
        return self.sheet.formula(row, CONSTANT_COLUMN, expression[0], expression[1], style)

    def time_row(self, label: str, unit: str, formulas: list[Expression], style: str = "share") -> TimeRow:
        row = self.sheet.line()
        self.sheet.text(row, 0, "C")
        self.sheet.text(row, LABEL_COLUMN, label)
        self.sheet.text(row, 2, unit)
        for month, (formula, value) in enumerate(formulas):
            self.sheet.formula(row, TOTAL_COLUMN + 1 + month, formula, value, style)
        return TimeRow("Timing", row, [value for _, value in formulas])

    def _months(self) -> TimeRow:
        row = TimeRow("Timing", 3, [float(month) for month in self.book.months])
        self.sheet.formula(3, TOTAL_COLUMN + 1, self.inputs.constants["zero"].ref, 0.0, "quantity")
        step = self.inputs.constant(1, "One")
        for month in list(self.book.months)[1:]:
            self.sheet.formula(
                3, TOTAL_COLUMN + 1 + month, f"{row.at(month - 1, sheet='Timing')}+{step.ref}", float(month), "quantity"
            )
        return row

    def _years(self) -> TimeRow:
        year = self.inputs.constants["months_per_year"].ref
        return self.time_row(
            "Year, 0 is the day of signature",
            "year",
            [
                (f"ROUNDUP({self.month.at(m, sheet='Timing')}/{year},0)", float(math.ceil(m / 12)))
                for m in self.book.months
            ],
            "quantity",
        )

    def _discount(self, factor: Any) -> TimeRow:
        text, rate = self.inputs.expression(factor)
        year = self.inputs.constants["months_per_year"].ref
        return self.time_row(
            "Discount factor, effective annual rate",
            "factor",
            [
                (f"(1+{text})^(-{self.month.at(m, sheet='Timing')}/{year})", (1 + rate) ** (-m / 12))
                for m in self.book.months
            ],
        )

    def _phase_date(self, option: str, phase: Mapping[str, Any], event: str) -> Cell:
        key = (option, json.dumps({"event": event, "phase": phase["key"]}, sort_keys=True))
        if key in self.dates:
            return self.dates[key]
        label = f"{phase['key']} {phase.get('label', '')}: "
        months_per_week = self.inputs.constants["months_per_week"]
        if event == "end":
            cell = self.constant_row(label + "end", "month", self._anchor(option, phase["end"]))
        else:
            weeks = phase.get("lead_weeks" if event == "delivery" else "acceptance_weeks")
            if event == "delivery":
                start = self.inputs.constant(float(phase.get("order_month", 0)), f"Order month of {phase['key']}")
                before: Expression = (start.ref, start.value)
            else:
                cell = self._phase_date(option, phase, "delivery")
                before = (cell.ref, cell.value)
            if weeks is None:
                text, value = before
            else:
                weeks_text, weeks_value = self.inputs.expression(weeks)
                text = f"{before[0]}+{weeks_text}*{months_per_week.ref}"
                value = before[1] + weeks_value * months_per_week.value
            words = (
                "delivery, order month plus lead time" if event == "delivery" else "in use, delivery plus acceptance"
            )
            cell = self.constant_row(label + words, "month", (text, value))
        self.dates[key] = cell
        return cell

    def _anchor(self, option: str, anchor: Mapping[str, Any]) -> Expression:
        event = anchor["event"]
        if event in ("delivery", "ready", "end"):
            cell = self._phase_date(option, self.phases[option, anchor["phase"]], event)
        elif event == "horizon":
            cell = self.inputs.horizon
        elif event == "month":
            cell = self.inputs.constant(float(anchor["month"]), "Month given in a quote or plan")
        else:
            cell = self.inputs.constants["zero"]
        text, value = cell.ref, cell.value
        if anchor.get("offset_months") is not None:
            offset = self.inputs.expression(anchor["offset_months"])
            text, value = f"{text}+{offset[0]}", value + offset[1]
        return text, value

    def date(self, option: str, anchor: Mapping[str, Any]) -> Cell:
        """The cell that holds the month of an anchor."""
        plain = {"event": anchor["event"], "phase": anchor.get("phase")}
        if anchor["event"] in ("delivery", "ready", "end") and anchor.get("offset_months") is None:
            return self._phase_date(option, self.phases[option, anchor["phase"]], anchor["event"])
        plain.update(month=anchor.get("month"), offset_months=anchor.get("offset_months"))
        key = (option, json.dumps(plain, sort_keys=True))
        if key not in self.dates:
            self.dates[key] = self.constant_row(f"{option}: {describe(anchor)}", "month", self._anchor(option, anchor))
        return self.dates[key]

    def window(self, option: str, start: Mapping[str, Any], end: Mapping[str, Any]) -> TimeRow:
        """The share of each month between two anchors."""
        return self.share_row(
            self.date(option, start), self.date(option, end), f"{option}: {describe(start)} to {describe(end)}"
        )

    def share_row(self, start: Cell, end: Cell, label: str) -> TimeRow:
        key = ("window", start.ref, end.ref)
        if key not in self.rows:
            formulas: list[Expression] = [("0", 0.0)]
            for month in list(self.book.months)[1:]:
                now, before = self.month.at(month, sheet="Timing"), self.month.at(month - 1, sheet="Timing")
                formulas.append(
                    (
                        f"MAX(0,MIN({now},{start_or(end)})-MAX({before},{start_or(start)}))",
                        max(0.0, min(month, end.value) - max(month - 1, start.value)),
                    )
                )
            self.rows[key] = self.time_row(f"Share of the month, {label}", "share", formulas)
        return self.rows[key]

    def payment(self, option: str, anchor: Mapping[str, Any]) -> TimeRow:
        """One in the month at whose end a date is paid, else zero."""
        date = self.date(option, anchor)
        return self.payment_of(date, f"{option}: {describe(anchor)}")

    def payment_of(self, date: Cell, label: str) -> TimeRow:
        key = ("payment", date.ref)
        if key not in self.rows:
            guard = self.guard
            pay_month = max(0.0, math.ceil(date.value - A_MOMENT))
            cell = self.constant_row(
                f"Payment month, {label}", "month", (f"MAX(0,ROUNDUP({date.ref}-{guard.ref},0))", pay_month), "quantity"
            )
            self.rows[key] = self.time_row(
                f"Paid in this month, {label}",
                "flag",
                [
                    (f"IF({self.month.at(m, sheet='Timing')}={cell.ref},1,0)", 1.0 if m == pay_month else 0.0)
                    for m in self.book.months
                ],
                "quantity",
            )
            self.rows[key].constant = cell
        return self.rows[key]

    def escalation(self, factor: Any) -> TimeRow:
        """What prices are multiplied by in each month; they step once a year."""
        key = ("escalation", json.dumps(factor, sort_keys=True))
        if key not in self.rows:
            text, rate = self.inputs.expression(factor)
            year = self.inputs.constants["months_per_year"].ref
            self.rows[key] = self.time_row(
                "Price step, one step a year",
                "factor",
                [
                    (
                        f"(1+{text})^INT(MAX(0,{self.month.at(m, sheet='Timing')}-1)/{year})",
                        (1 + rate) ** (max(0, m - 1) // 12),
                    )
                    for m in self.book.months
                ],
            )
        return self.rows[key]


def start_or(cell: Cell) -> str:
    """The address without the sheet's name, as it stands on Timing itself, else in full."""
    return cell.ref.removeprefix("'Timing'!")


def describe(anchor: Mapping[str, Any]) -> str:
    """An anchor in words."""
    if anchor["event"] == "month":
        words = f"month {anchor['month']}"
    else:
        words = ANCHOR_WORDS[anchor["event"]].format(phase=anchor.get("phase"))
    return words + (" with an offset" if anchor.get("offset_months") is not None else "")


def service_start(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """When a line starts to be consumed: as given, or with its last milestone."""
    if line.get("in_service") is not None:
        return dict(line["in_service"])
    timing = line["timing"]
    return dict(timing["milestones"][-1]["at"] if timing["kind"] == "once" else timing["from"])
