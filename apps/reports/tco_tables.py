"""The cost strip, the table of years and the drivers of the TCO screen, as texts ready to show or to save."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from apps.reports import figures
from apps.reports.cost_run import NOMINAL, NPV, CostOption, CostRun, shared_scale

CASH, ACCRUAL = "cash", "accrual"
MONTHS_PER_YEAR = 12


@dataclass(frozen=True)
class StripItem:
    """One option in the strip above the TCO screen."""

    option: CostOption
    number: str
    distribution: Mapping[str, Any]
    scale: tuple[float, float]
    range_words: str
    facts: list[tuple[str, str]]
    selected: bool


def cost_strip(run: CostRun, basis: str, selected: str) -> list[StripItem]:
    """One item an option by rank; the baseline has one only when it is the option looked at."""
    options = [option for option in run.ordered(basis) if not option.baseline or option.key == selected]
    scale = shared_scale([option.total(basis) for option in options])
    return [_strip_item(run, option, basis, scale, option.key == selected) for option in options]


def _strip_item(run: CostRun, option: CostOption, basis: str, scale: tuple[float, float], selected: bool) -> StripItem:
    total = option.total(basis)
    other = (
        (_("Nominal"), figures.millions_m(option.total(NOMINAL)["likely"]))
        if basis == NPV
        else (_("NPV at %s") % run.rate_text, figures.millions_m(option.total(NPV)["likely"]))
    )
    capital = figures.millions_m(option.found["capital_usd"]["likely"])
    monthly = figures.short_k(option.found["monthly_operating_usd"]["likely"])
    hour = option.found["unit_costs"].get("usd_per_gpu_hour_installed")
    facts = [other, (_("Capex, then monthly"), f"{capital}, {monthly}")]
    if hour is not None:
        words = figures.fixed(hour["likely"], 2) + figures.NBSP + run.currency
        facts.append((_("Per installed GPU-hour"), words))
    return StripItem(
        option=option,
        number=figures.millions(total["likely"]),
        distribution=total,
        scale=scale,
        range_words=figures.p10_p90(total, figures.millions),
        facts=facts,
        selected=selected,
    )


# The table of years -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cell:
    """One figure of a table, with the name of what explains it."""

    text: str
    how: str = ""
    spoken: str = ""


@dataclass(frozen=True)
class Row:
    """A row of the table: kind is group, line, subtotal or total."""

    kind: str
    label: str
    cells: list[Cell] = field(default_factory=list)
    range_words: str = ""
    detail: str = ""
    how: str = ""

    def texts(self) -> list[str]:
        label = f"{self.label}, {self.detail}" if self.detail else self.label
        return [label, *(cell.text for cell in self.cells), self.range_words] if self.cells else [label]


@dataclass(frozen=True)
class YearTable:
    """What is paid, or consumed, in each period, line by line."""

    option: CostOption
    unit: str
    columns: list[str]
    total_column: str
    has_ranges: bool
    rows: list[Row]
    foot: str

    def csv_rows(self) -> Iterator[list[str]]:
        head = [f"{self.option.key}, {self.unit}", *self.columns, self.total_column]
        yield [*head, "P10–P90"] if self.has_ranges else head
        for row in self.rows:
            texts = row.texts()
            yield texts if self.has_ranges or not row.cells else texts[:-1]


def year_table(run: CostRun, option: CostOption, basis: str = NOMINAL, view: str = CASH) -> YearTable:
    return _Years(run, option, basis, view).table()


class _Years:
    """Builds the table of one option."""

    def __init__(self, run: CostRun, option: CostOption, basis: str, view: str) -> None:
        self.run, self.option, self.basis, self.view = run, option, basis, view

    def table(self) -> YearTable:
        columns = self.run.periods if self.view == CASH else self._accrual_periods()
        return YearTable(
            option=self.option,
            unit="k " + self.run.currency,
            columns=[_capital(_period(name)) for name in columns],
            total_column=self._total_column(),
            has_ranges=self.view == CASH,
            rows=[*self._lines(), *self._totals()],
            foot=self._foot(),
        )

    def _total_column(self) -> str:
        if self.view == CASH and self.basis == NPV:
            return _("NPV at %s") % self.run.rate_text
        return _("%s months") % self.run.horizon

    def _foot(self) -> str:
        if self.view == ACCRUAL:
            return _(
                "Months in which the cost is consumed: what was bought is written down over its life. The difference "
                "to cash stands in the balances of the workbook."
            )
        return _(
            "Paid in month 0 and at the end of each month. Percentiles do not add up: each row has its own P10–P90."
        )

    def _lines(self) -> Iterator[Row]:
        for caption, groups, subtotal in self._sections():
            lines = [line for line in self.option.lines if line["group"] in groups]
            if not lines:
                continue
            yield Row("group", caption)
            labels = [line["label"] for line in lines]
            yield from (self._line(line, twice=labels.count(line["label"]) > 1) for line in lines)
            yield self._subtotal(subtotal, lines, groups)
        yield from self._residual()

    def _sections(self) -> list[tuple[str, tuple[str, ...], str]]:
        known = ("capital", "operating", "cloud", "residual")
        other = tuple(sorted({line["group"] for line in self.option.lines} - set(known)))
        sections = [
            (_("Paid once"), ("capital",), _("Capex")),
            (_("Recurring"), ("operating", "cloud"), _("Recurring")),
        ]
        return [*sections, (_("Financing and tax"), other, _("Financing and tax"))] if other else sections

    def _line(self, line: Mapping[str, Any], *, twice: bool) -> Row:
        """A line; its detail is shown where two lines have one label."""
        how = str(line["key"])
        detail = line["detail"] if twice else ""
        if line["not_given"]:
            blank = [Cell("") for _period in self._periods_of(line)]
            return Row("line", line["label"], [*blank, Cell(figures.not_given(), how)], "", detail, how)
        cells = [_flow_cell(value) for value in self._periods_of(line)]
        return Row("line", line["label"], [*cells, self._total_cell(line, how)], self._range(line), detail, how)

    def _total_cell(self, line: Mapping[str, Any], how: str) -> Cell:
        if self.view == ACCRUAL:
            return _flow_cell(sum(line["accrual_usd"]), how)
        value = line["npv_usd"] if self.basis == NPV else line["total_usd"]["likely"]
        return Cell(figures.thousands(value), how)

    def _range(self, line: Mapping[str, Any]) -> str:
        if self.basis == NPV:
            return ""
        total = line["total_usd"]
        if total["p10"] == total["p90"]:
            return _("no range given")
        return figures.p10_p90(total, figures.thousands)

    def _periods_of(self, line: Mapping[str, Any]) -> list[float]:
        if self.view == CASH:
            return list(line["by_period_usd"])
        return self._accrual_sums(line["accrual_usd"])

    def _accrual_periods(self) -> list[str]:
        return self.run.periods[:-1]

    def _accrual_sums(self, monthly: Sequence[float]) -> list[float]:
        years = [sum(monthly[start : start + MONTHS_PER_YEAR]) for start in range(1, len(monthly), MONTHS_PER_YEAR)]
        return [monthly[0], *years]

    def _subtotal(self, label: str, lines: Sequence[Mapping[str, Any]], groups: tuple[str, ...]) -> Row:
        columns = zip(*(self._periods_of(line) for line in lines), strict=True)
        cells = [_flow_cell(sum(column)) for column in columns]
        how = f"{self.option.key}:{groups[0]}" if self.view == CASH else ""
        if self.view == ACCRUAL:
            total = sum(sum(line["accrual_usd"]) for line in lines)
        else:
            total = sum(line["npv_usd"] if self.basis == NPV else line["total_usd"]["likely"] for line in lines)
        known = self.option.found["capital_usd"] if groups == ("capital",) else None
        words = figures.p10_p90(known, figures.thousands) if known and self.basis == NOMINAL else ""
        return Row("subtotal", label, [*cells, Cell(figures.thousands(total), how)], words, "", how)

    def _residual(self) -> Iterator[Row]:
        lines = [line for line in self.option.lines if line["group"] == "residual"]
        if not lines:
            return
        columns = zip(*(self._periods_of(line) for line in lines), strict=True)
        cells = [_flow_cell(sum(column)) for column in columns]
        how = f"{self.option.key}:residual" if self.view == CASH else ""
        if self.view == ACCRUAL:
            total = Cell(figures.flow(sum(sum(line["accrual_usd"]) for line in lines)))
        elif self.basis == NPV:
            total = Cell(figures.flow(sum(line["npv_usd"] for line in lines)), how)
        else:
            total = Cell(figures.flow(sum(line["total_usd"]["likely"] for line in lines)), how)
        words = (
            ""
            if self.basis == NPV
            else figures.p10_p90(_negative(self.option.found["residual_usd"]), figures.thousands)
        )
        yield Row("line", _("Residual"), [*cells, total], words, "", how)

    def _totals(self) -> Iterator[Row]:
        found = self.option.found
        if self.view == ACCRUAL:
            sums = self._accrual_sums(found["monthly"]["accrual_usd"])
            total = Cell(figures.thousands(sum(found["monthly"]["accrual_usd"])))
            yield Row("total", _("Accrual cost"), [*(_flow_cell(v) for v in sums), total])
            return
        for label, basis, periods in (
            (_("TCO, nominal"), NOMINAL, found["by_period_usd"]),
            (_("NPV at %s a year") % self.run.rate_text, NPV, found["npv_by_period_usd"]),
        ):
            whole = self.option.total(basis)
            how = f"{self.option.key}:{basis}"
            yield Row(
                "total",
                label,
                [*(_flow_cell(v) for v in periods), Cell(figures.thousands(whole["likely"]), how)],
                figures.p10_p90(whole, figures.thousands),
                "",
                how,
            )


def _negative(distribution: Mapping[str, Any]) -> dict[str, Any]:
    """A residual value as the negative cost it is in the table; the ends change places."""
    if (distribution.get("likely") or 0) <= 0:
        return dict(distribution)
    swapped = {"p10": distribution["p90"], "p90": distribution["p10"]}
    return {name: None if value is None else -value for name, value in {**distribution, **swapped}.items()}


def _flow_cell(value: float, how: str = "") -> Cell:
    text = figures.flow(value)
    return Cell(text, how, _("zero") if text == figures.FLOW_ZERO else "")


def _period(name: str) -> str:
    kind, _space, number = name.partition(" ")
    words = {"month": _("month"), "year": _("year")}
    return f"{words[kind]}{figures.NBSP}{number}" if kind in words else name


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# Drivers ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Driver:
    """One input and what its range does to the total."""

    label: str
    swing: str
    low_words: str
    high_words: str
    start: float
    end: float
    likely: float


@dataclass(frozen=True)
class Drivers:
    option: CostOption
    likely_words: str
    rows: list[Driver]
    foot: str


def drivers(run: CostRun, option: CostOption, n: int = 3) -> Drivers:
    """The inputs whose ranges move the option's own total most, on one scale."""
    found = [row for row in run.found["tornado"].get(option.key, []) if row["swing_usd"]][:n]
    likely = option.total(NOMINAL)["likely"]
    ends = [row[name] for row in found for name in ("at_low_usd", "at_high_usd")] + [likely]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0
    rows = [_driver(run, row, low, span, likely) for row in found]
    foot = _("TCO in M %(currency)s when one input moves from low to high, all others at likely.") % {
        "currency": run.currency
    }
    return Drivers(option, figures.millions(likely), rows, foot)


def _driver(run: CostRun, row: Mapping[str, Any], low: float, span: float, likely: float) -> Driver:
    unit = run.inputs.unit(row["input"])
    ends = sorted(((row["at_low_usd"], row["low"]), (row["at_high_usd"], row["high"])), key=lambda end: end[0])
    words = [
        _("%(total)s at %(value)s") % {"total": figures.millions(end), "value": figures.short_in_unit(value, unit)}
        for end, value in ends
    ]
    place = [round(100 * (value - low) / span, 2) for value in (ends[0][0], ends[1][0], likely)]
    return Driver(row["label"], figures.millions_m(row["swing_usd"]), words[0], words[1], *place)


def gap_drivers(run: CostRun, ranked: Sequence[CostOption], n: int = 3) -> dict[str, Any] | None:
    """What moves the difference between the two leading options, and whether its sign can turn inside a range."""
    if len(ranked) < 2:
        return None
    first, second = ranked[0], ranked[1]
    found = [row for row in run.found["tornado_difference"].get(f"{first.key}|{second.key}", []) if row["swing_usd"]]
    gap = second.total(NOMINAL)["likely"] - first.total(NOMINAL)["likely"]
    rows = [_gap_row(run, row, first, second) for row in found[:n]]
    return {"first": first, "second": second, "gap": figures.millions_m(gap), "rows": rows}


def _gap_row(run: CostRun, row: Mapping[str, Any], first: CostOption, second: CostOption) -> dict[str, Any]:
    """The input, its range, and what the second option costs more (or less) at each end."""
    unit = run.inputs.unit(row["input"])
    ends = [(row["low"], -row["at_low_usd"]), (row["high"], -row["at_high_usd"])]
    turns = [value for value, gap in ends if gap < 0]
    words = [
        _("%(amount)s at %(value)s")
        % {"amount": figures.fixed(gap / 1e6, 2, sign=True), "value": figures.number_in_unit(value, unit)}
        for value, gap in ends
    ]
    return {
        "label": row["label"],
        "range": figures.range_text(row["low"], row["high"], lambda v: figures.number_in_unit(v, unit)),
        "unit": figures.unit_words(unit),
        "ends": words,
        "turns": bool(turns),
        "swing": figures.millions_m(row["swing_usd"]),
    }
