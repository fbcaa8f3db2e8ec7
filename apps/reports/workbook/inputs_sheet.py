"""The sheet Assumptions: every input once, and the formula text of whatever is made from inputs."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.engine.units import HOURS_PER_MONTH, MONTHS_PER_WEEK, MONTHS_PER_YEAR
from apps.reports.workbook.book import Book, Cell, Sheet

HEADS = [
    "Type",
    "Input",
    "Unit",
    "Value",
    "Low",
    "High",
    "Distribution",
    "Correlated with",
    "Source",
    "Cell or page",
    "Version",
    "Owner",
    "Date",
    "Confidence",
    "Key",
    "Value in the run",
]
VALUE_COLUMN, SNAPSHOT_COLUMN, KEY_COLUMN = 3, 15, 14
CONSTANTS = {
    "hours_per_month": ("Hours in a month", "h", HOURS_PER_MONTH),
    "months_per_week": ("Months in a week, 84/365", "months", MONTHS_PER_WEEK),
    "months_per_year": ("Months in a year", "months", MONTHS_PER_YEAR),
    "zero": ("Month of signature", "month", 0),
}

Expression = tuple[str, float]


class InputsSheet:
    """Hands out the cells of inputs and constants; formulas elsewhere hold addresses, never figures."""

    def __init__(self, book: Book, document: Mapping[str, Any]) -> None:
        self.book = book
        self.document = document
        self.sheet: Sheet = book.add_sheet(
            "Assumptions",
            "Assumptions",
            "Every input once. Change the values on yellow: all sheets follow. Type I is an input, C a constant.",
        )
        self.sheet.heads(3, HEADS)
        for column, width in enumerate([5, 52, 18, 16, 14, 14, 14, 16, 60, 14, 8, 18, 12, 20, 44, 16]):
            self.sheet.worksheet.set_column(column, column, width)
        self.sheet.worksheet.freeze_panes(4, VALUE_COLUMN + 1)
        self.sheet.worksheet.repeat_rows(3)
        self.sheet.next_row = 4
        self.cells: dict[str, Cell] = {}
        self.rows: list[int] = []
        self.horizon = self._model_constant("horizon", "Horizon", "months", float(document["horizon_months"]))
        self.constants = {key: self._model_constant(key, *row) for key, row in CONSTANTS.items()}
        for key in sorted(document["inputs"]):
            self._input(key, document["inputs"][key])

    def _model_constant(self, key: str, label: str, unit: str, value: float) -> Cell:
        row = self.sheet.line()
        self.sheet.text(row, 0, "C")
        self.sheet.text(row, 1, label)
        self.sheet.text(row, 2, unit)
        cell = self.sheet.number(row, VALUE_COLUMN, value, "fact")
        self.sheet.text(row, KEY_COLUMN, key)
        self.sheet.number(row, SNAPSHOT_COLUMN, value, "fact")
        self.rows.append(row)
        return cell

    def _input(self, key: str, item: Mapping[str, Any]) -> None:
        row = self.sheet.line()
        source = item.get("source") or {}
        likely = float(item["likely"])
        self.sheet.text(row, 0, "I")
        self.sheet.text(row, 1, item["label"])
        self.sheet.text(row, 2, item["unit"])
        self.cells[key] = self.sheet.number(row, VALUE_COLUMN, likely, "input")
        for column, bound in ((4, item.get("low")), (5, item.get("high"))):
            if bound is None:
                self.sheet.text(row, column, "no range", "note")
            else:
                self.sheet.number(row, column, float(bound), "fact")
        texts = [
            item.get("distribution", "triangular"),
            item.get("correlation_group") or "",
            source.get("text", ""),
            source.get("ref", ""),
            source.get("version", ""),
            source.get("author", ""),
            source.get("date", ""),
            (source.get("evidence_level") or source.get("status", "")).replace("_", " "),
            key,
        ]
        for offset, text in enumerate(texts):
            self.sheet.text(row, 6 + offset, text)
        self.sheet.number(row, SNAPSHOT_COLUMN, likely, "fact")
        self.rows.append(row)

    def unchanged(self) -> str:
        """A formula that counts the inputs which differ from the run."""
        first, last = min(self.rows) + 1, max(self.rows) + 1
        return f"SUMPRODUCT(--('Assumptions'!$D${first}:$D${last}<>'Assumptions'!$P${first}:$P${last}))"

    def constant(self, value: float, label: str) -> Cell:
        """The cell of a figure that a factor carries itself; one row for each distinct label and value."""
        key = f"const:{label}:{value}"
        if key not in self.constants:
            self.constants[key] = self._model_constant(key, label or "Constant", "", value)
        return self.constants[key]

    def expression(self, factor: Any) -> Expression:
        """The formula text of a factor, and its value at the inputs of the run.

        The kinds of factor stand in docs/run-json.md.
        """
        if isinstance(factor, str):
            cell = self.cells[factor]
            return cell.ref, cell.value
        if "const" in factor:
            cell = self.constant(float(factor["const"]), factor.get("label", ""))
            return cell.ref, cell.value
        for name, combine in COMBINATIONS.items():
            if name in factor:
                operands = factor[name]
                parts = [self.expression(part) for part in (operands if isinstance(operands, list) else [operands])]
                return combine(parts)
        return self._spot_loss(factor["spot_loss"])

    def _spot_loss(self, spot: Mapping[str, Any]) -> Expression:
        C, c = self.expression(spot["checkpoint"])
        T, t = self.expression(spot["interval"])
        L, rate = self.expression(spot["interruptions_per_hour"])
        R, r = self.expression(spot["restart"])
        two = self.constant(2, "Half of the interval is lost on average: divisor").ref
        return f"({C}/{T}+{L}*({T}/{two}+{R}))", c / t + rate * (t / 2 + r)

    def product(self, factors: list[Any]) -> Expression:
        """The product of factors; of none it is the constant one."""
        if not factors:
            one = self.constant(1, "One")
            return one.ref, one.value
        texts, value = [], 1.0
        for factor in factors:
            text, number = self.expression(factor)
            texts.append(text)
            value *= number
        return "*".join(texts), value


def _joined(function: str, evaluate: Callable[[list[float]], float]) -> Callable[[list[Expression]], Expression]:
    def combine(parts: list[Expression]) -> Expression:
        return f"{function}({','.join(text for text, _ in parts)})", evaluate([value for _, value in parts])

    return combine


def _product(values: list[float]) -> float:
    result = 1.0
    for value in values:
        result *= value
    return result


COMBINATIONS: dict[str, Callable[[list[Expression]], Expression]] = {
    "max": _joined("MAX", max),
    "min": _joined("MIN", min),
    "sum": _joined("SUM", sum),
    "product": _joined("PRODUCT", _product),
    "excess": lambda parts: (
        f"MAX(0,{parts[0][0]}-{parts[1][0]})",
        max(0.0, parts[0][1] - parts[1][1]),
    ),
    "one_minus": lambda parts: (f"(1-{parts[0][0]})", 1 - parts[0][1]),
    "one_plus": lambda parts: (f"(1+{parts[0][0]})", 1 + parts[0][1]),
    "divide": lambda parts: (f"({parts[0][0]}/{parts[1][0]})", parts[0][1] / parts[1][1]),
}
