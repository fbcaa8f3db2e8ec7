"""The sheets Capex, Opex and Cloud: what each line pays in each month."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.reports.workbook.book import (
    CONSTANT_COLUMN,
    FIRST_MONTH_COLUMN,
    LABEL_COLUMN,
    TOTAL_COLUMN,
    UNIT_COLUMN,
    Book,
    Cell,
    Sheet,
    TimeRow,
    month_column,
)
from apps.reports.workbook.inputs_sheet import Expression, InputsSheet
from apps.reports.workbook.timing_sheet import TimingSheet, service_start

SHEET_OF_GROUP = {"capital": "Capex", "residual": "Capex", "operating": "Opex", "cloud": "Cloud"}
HORIZON = {"event": "horizon"}


@dataclass(kw_only=True)
class LineRows:
    """Where one line stands."""

    line: Mapping[str, Any]
    result: Mapping[str, Any]
    amount: Cell
    cash: TimeRow
    consumed: TimeRow | None = None


@dataclass(kw_only=True)
class OptionRows:
    """Where the lines of one option stand."""

    option: Mapping[str, Any]
    result: Mapping[str, Any]
    lines: dict[str, LineRows] = field(default_factory=dict)
    bridge: TimeRow | None = None

    def of_group(self, group: str) -> list[LineRows]:
        return [rows for rows in self.lines.values() if rows.line["group"] == group]


class FlowSheets:
    """Writes the lines of every option and remembers where."""

    def __init__(self, book: Book, inputs: InputsSheet, timing: TimingSheet) -> None:
        self.book, self.inputs, self.timing = book, inputs, timing
        unit = book.currency
        self.sheets = {
            "Capex": book.add_time_sheet(
                "Capex", "Purchases and residual values", f"{unit}; cash paid, positive; proceeds negative."
            ),
            "Opex": book.add_time_sheet("Opex", "Operating cost", f"{unit}; cash paid in the month."),
            "Cloud": book.add_time_sheet("Cloud", "Cloud and bridging", f"{unit}; cash paid in the month."),
        }

    def write(self, document: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, OptionRows]:
        """Write all options; lines that are percentages come after what they are percentages of."""
        written = {}
        for option in document["options"]:
            result = results["options"][option["key"]]
            rows = OptionRows(option=option, result=result)
            by_key = {line["key"]: line for line in result["lines"]}
            for sheet_name in ("Capex", "Opex", "Cloud"):
                lines = [line for line in option["lines"] if SHEET_OF_GROUP[line["group"]] == sheet_name]
                has_bridge = sheet_name == "Cloud" and option.get("bridge") and f"{option['key']}.bridge" in by_key
                if lines or has_bridge:
                    self.sheets[sheet_name].group(f"{option['key']} {option['name']}")
                for line in _percentages_last(lines):
                    rows.lines[line["key"]] = self._line(sheet_name, option, line, by_key[line["key"]], rows)
                if has_bridge:
                    rows.bridge = self._bridge(option, by_key[f"{option['key']}.bridge"])
            written[option["key"]] = rows
        return written

    def _line(
        self,
        sheet_name: str,
        option: Mapping[str, Any],
        line: Mapping[str, Any],
        result: Mapping[str, Any],
        rows: OptionRows,
    ) -> LineRows:
        sheet = self.sheets[sheet_name]
        cash = [float(value) for value in result["cash_usd"]]
        absent = result.get("not_given") or result.get("paid_by_lessor")
        row = sheet.line()
        self._labels(sheet, row, line)
        if absent:
            words = "not given" if result.get("not_given") else "bought by the lessor, see Financing"
            sheet.text(row, UNIT_COLUMN, words, "note")
        amount = self._amount(sheet, row, line, rows)
        if absent:
            # Such a row stays empty: a zero would read as free of charge.
            empty = TimeRow(sheet.name, row, [0.0] * len(cash))
            return LineRows(line=line, result=result, amount=amount, cash=empty)
        timing = line["timing"]
        if timing["kind"] == "once":
            flags = [
                (self.inputs.expression(item["share"]), self.timing.payment(option["key"], item["at"]))
                for item in timing["milestones"]
            ]
            formulas = [
                (f"$D${row + 1}*(" + "+".join(f"{share[0]}*{flag.at(m)}" for share, flag in flags) + ")", cash[m])
                for m in self.book.months
            ]
            return LineRows(line=line, result=result, amount=amount, cash=self._months(sheet, row, formulas))
        return self._monthly(sheet, row, option, line, result, amount)

    def _amount(self, sheet: Sheet, row: int, line: Mapping[str, Any], rows: OptionRows) -> Cell:
        """The signed amount of a line in its constant column."""
        if line.get("not_given"):
            return Cell(sheet.name, row, CONSTANT_COLUMN, 0.0)
        text, value = self.inputs.product(list(line["factors"]))
        if line.get("percent_of"):
            bases = [self._base(line, rows.lines[key], rows.option["key"]) for key in line["percent_of"]]
            text += "*(" + "+".join(base[0] for base in bases) + ")"
            value *= sum(base[1] for base in bases)
        if line.get("sign", 1) < 0:
            text, value = f"-({text})", -value
        return sheet.formula(row, CONSTANT_COLUMN, text, value)

    def _base(self, line: Mapping[str, Any], base: LineRows, option: str) -> Expression:
        """What a percentage is taken of; a residual only of what is in service when it is paid."""
        if line["group"] != "residual":
            return base.amount.ref, base.amount.value
        at = self.timing.date(option, service_start(line))
        start = self.timing.date(option, service_start(base.line))
        guard = self.timing.guard
        there = start.value <= at.value + guard.value
        return f"{base.amount.ref}*IF({start.ref}<={at.ref}+{guard.ref},1,0)", base.amount.value if there else 0.0

    def _monthly(
        self,
        sheet: Sheet,
        row: int,
        option: Mapping[str, Any],
        line: Mapping[str, Any],
        result: Mapping[str, Any],
        amount: Cell,
    ) -> LineRows:
        timing = line["timing"]
        share = self.timing.window(option["key"], timing["from"], timing["to"])
        steps = None if timing.get("escalation") is None else self.timing.escalation(timing["escalation"])
        consumed_values = [
            amount.value * share.values[m] * (1.0 if steps is None else steps.values[m]) for m in self.book.months
        ]
        consumed: list[Expression] = [
            (f"$D${row + 1}*{share.at(m)}" + ("" if steps is None else f"*{steps.at(m)}"), consumed_values[m])
            for m in self.book.months
        ]
        if timing.get("upfront_share") is None:
            cash = self._months(sheet, row, consumed)
            return LineRows(line=line, result=result, amount=amount, cash=cash, consumed=cash)
        # What is used and what is paid differ: the first row is the use, the second the payment.
        use = self._months(sheet, row, consumed)
        sheet.text(row, LABEL_COLUMN, f"{line['label']}, as used")
        flag = self.timing.payment(option["key"], timing["from"])
        upfront = self.inputs.expression(timing["upfront_share"])
        paid_row = sheet.line()
        self._labels(sheet, paid_row, line)
        formulas = [
            (
                f"{use.at(m, sheet=sheet.name)}*(1-{upfront[0]})+{flag.at(m)}*{upfront[0]}*$E${row + 1}",
                float(result["cash_usd"][m]),
            )
            for m in self.book.months
        ]
        return LineRows(
            line=line, result=result, amount=amount, cash=self._months(sheet, paid_row, formulas), consumed=use
        )

    def _bridge(self, option: Mapping[str, Any], result: Mapping[str, Any]) -> TimeRow:
        """Cloud hours bought in months in which less is installed than wanted."""
        sheet, key = self.sheets["Cloud"], option["key"]
        steps = sorted(option["demand"], key=lambda step: float(step["from_month"]))
        anchors = [{"event": "month", "month": step["from_month"]} for step in steps]
        wanted = [
            (self.timing.window(key, anchor, following), self.inputs.expression(step["n_accelerators"]))
            for step, anchor, following in zip(steps, anchors, [*anchors[1:], HORIZON], strict=True)
        ]
        had = [
            (
                self.timing.window(
                    key, {"event": "ready", "phase": phase["key"]}, {"event": "end", "phase": phase["key"]}
                ),
                self.inputs.expression(phase["n_accelerators"]),
            )
            for phase in option.get("phases", [])
        ]
        demand = self._sum_row(sheet, f"{key}: accelerators wanted", wanted)
        installed = self._sum_row(sheet, f"{key}: accelerators in use", had)
        row = sheet.line()
        self._labels(sheet, row, result)
        price = self.inputs.expression(option["bridge"]["usd_per_gpu_hour"])
        sheet.formula(row, CONSTANT_COLUMN, price[0], price[1])
        hours = self.inputs.constants["hours_per_month"].ref
        formulas = [
            (
                f"MAX(0,{demand.at(m, sheet=sheet.name)}-{installed.at(m, sheet=sheet.name)})*{hours}*$D${row + 1}",
                float(result["cash_usd"][m]),
            )
            for m in self.book.months
        ]
        return self._months(sheet, row, formulas)

    def _sum_row(self, sheet: Sheet, label: str, parts: list[tuple[TimeRow, Expression]]) -> TimeRow:
        row = sheet.line()
        sheet.text(row, 0, "C")
        sheet.text(row, LABEL_COLUMN, label)
        sheet.text(row, UNIT_COLUMN, "accelerators")
        values = [sum(share.values[m] * n[1] for share, n in parts) for m in self.book.months]
        for m in self.book.months:
            text = "+".join(f"{share.at(m)}*{n[0]}" for share, n in parts) or "0"
            sheet.formula(row, FIRST_MONTH_COLUMN + m, text, values[m], "quantity")
        return TimeRow(sheet.name, row, values)

    def _labels(self, sheet: Sheet, row: int, line: Mapping[str, Any]) -> None:
        sheet.text(row, 0, "C")
        label, detail = line["label"], line.get("detail") or ""
        # A vendor's description often begins with what the row is called already.
        repeats = detail.lower().startswith(label.lower())
        sheet.text(row, LABEL_COLUMN, detail if repeats else f"{label}, {detail}" if detail else label)
        sheet.text(row, UNIT_COLUMN, self.book.currency)

    def _months(self, sheet: Sheet, row: int, formulas: list[Expression]) -> TimeRow:
        return write_months(sheet, row, formulas)


def write_months(
    sheet: Sheet, row: int, formulas: list[Expression], style: str = "money", *, balance: bool = False
) -> TimeRow:
    """Write the months of a row, and in its total column their sum or, for a balance, the last one."""
    values = [value for _, value in formulas]
    first, last = month_column(0), month_column(len(formulas) - 1)
    if balance:
        sheet.formula(row, TOTAL_COLUMN, f"{last}{row + 1}", values[-1], style)
    else:
        sheet.formula(row, TOTAL_COLUMN, f"SUM({first}{row + 1}:{last}{row + 1})", sum(values), style)
    for month, (formula, value) in enumerate(formulas):
        sheet.formula(row, FIRST_MONTH_COLUMN + month, formula, value, style)
    return TimeRow(sheet.name, row, values)


def _percentages_last(lines: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The lines with each percentage after its bases, otherwise in their order."""
    ordered: list[Mapping[str, Any]] = []
    remaining = list(lines)
    here = {line["key"] for line in lines}
    while remaining:
        done = {line["key"] for line in ordered}
        ready = [
            line for line in remaining if all(key in done or key not in here for key in line.get("percent_of") or [])
        ]
        ordered.extend(ready)
        remaining = [line for line in remaining if line not in ready]
    return ordered
