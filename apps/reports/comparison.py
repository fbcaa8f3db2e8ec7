"""The quote comparison: lines as rows, options as columns, differences in words; and the way between two totals."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from apps.reports import figures, formulas
from apps.reports.charts import nice_ticks
from apps.reports.cost_run import NOMINAL, NPV, CostOption, CostRun

SPANS = ("horizon", "year", "month")
EQUAL_USD = 0.5  # differences below half a unit of the currency are none
COMPARABLE_ANYWHERE = ("staff", "total")
RENTED_INSTEAD = ("compute", "storage", "fabric")


@dataclass(frozen=True)
class OptionCell:
    """What one option's column says in one row."""

    basis: str = ""
    basis_notes: tuple[str, ...] = ()
    amount: str = ""
    missing: bool = False
    how: str = ""
    difference: str = ""
    difference_note: str = ""
    usd: float | None = None

    def texts(self, *, reference: bool) -> list[str]:
        basis = " ".join([self.basis, *(f"({note})" for note in self.basis_notes if note)]).strip()
        if reference:
            return [basis, self.amount]
        return [basis, self.amount, self.difference, self.difference_note]


@dataclass(frozen=True)
class CompareRow:
    """kind is group, line, subtotal, total; a rule above sets blocks apart."""

    kind: str
    label: str
    note: str = ""
    cells: list[OptionCell] = field(default_factory=list)
    rule_above: bool = False

    @property
    def differs(self) -> bool:
        values = [cell.usd for cell in self.cells]
        first = values[0] if values else None
        return any(
            (value is None) != (first is None) or (value is not None and abs(value - (first or 0.0)) > EQUAL_USD)
            for value in values[1:]
        )


@dataclass(frozen=True)
class Comparison:
    """The whole table; the first option is the reference."""

    options: list[CostOption]
    span: str
    span_words: str
    unit: str
    rows: list[CompareRow]

    def csv_rows(self) -> Iterator[list[str]]:
        head = [_("Line"), _("Line, note")]
        for number, option in enumerate(self.options):
            basis, amount = _("quantity × unit price, k unless noted"), f"{self.span_words}, {self.unit}"
            head += [f"{option.key}, {basis}", f"{option.key}, {amount}"]
            if number:
                against = _("%(option)s against %(reference)s") % {
                    "option": option.key,
                    "reference": self.options[0].key,
                }
                head += [f"{against}, {self.unit}", _("%s, share") % against]
        yield head
        for row in self.rows:
            cells = [text for number, cell in enumerate(row.cells) for text in cell.texts(reference=number == 0)]
            yield [row.label, row.note, *cells]


def comparison(
    run: CostRun,
    options: Sequence[CostOption],
    *,
    span: str = "horizon",
    differences_only: bool = False,
    included: Mapping[str, Collection[str]] | None = None,
) -> Comparison:
    """The table for these options, reference first. `included` names, by option, the rows another line contains."""
    builder = _Builder(run, list(options), span, included or {})
    rows = builder.rows()
    if differences_only:
        rows = _without_equal(rows)
    return Comparison(list(options), span, builder.span_words, "k " + run.currency, rows)


def _without_equal(rows: list[CompareRow]) -> list[CompareRow]:
    kept = [row for row in rows if row.kind != "line" or row.differs]
    return [
        row
        for i, row in enumerate(kept)
        if row.kind != "group" or (i + 1 < len(kept) and kept[i + 1].kind not in ("group", "total"))
    ]


class _Builder:
    """Builds the rows of a comparison."""

    def __init__(
        self, run: CostRun, options: list[CostOption], span: str, included: Mapping[str, Collection[str]]
    ) -> None:
        self.run, self.options, self.included = run, options, included
        self.share = {"horizon": 1.0, "year": 12 / run.horizon, "month": 1 / run.horizon}[span]
        self.span_words = {
            "horizon": _("%s months") % run.horizon,
            "year": _("mean of a year"),
            "month": _("mean of a month"),
        }[span]

    def rows(self) -> list[CompareRow]:
        return [
            *self._block(_("Paid once"), ("capital",), _("Capex"), "capital"),
            *self._block(self._recurring_caption(), ("operating", "cloud"), _("Recurring"), "operating"),
            *self._block(_("Financing and tax"), ("financing", "tax"), _("Financing and tax"), ""),
            *self._residual(),
            self._total(_("TCO, nominal"), NOMINAL),
            self._total(_("NPV at %s a year") % self.run.rate_text, NPV),
        ]

    def _recurring_caption(self) -> str:
        return _("Recurring, %s months, 730 h per month") % self.run.horizon

    def _row_names(self, groups: tuple[str, ...]) -> dict[str, str]:
        """Rows in the order in which the options first have them, with their captions."""
        names: dict[str, str] = {}
        for option in self.options:
            for line in option.lines:
                if line["group"] in groups:
                    names.setdefault(line["row"], line["label"])
        return names

    def _block(self, caption: str, groups: tuple[str, ...], subtotal: str, how: str) -> list[CompareRow]:
        names = self._row_names(groups)
        if not names:
            return []
        rows = [CompareRow("group", caption)]
        rows += [self._line_row(row, label, groups) for row, label in names.items()]
        sums = [sum(_usd(line) for line in o.lines if line["group"] in groups) for o in self.options]
        cells = [self._sum_cell(i, sums, how, kind="subtotal") for i in range(len(self.options))]
        return [*rows, CompareRow("subtotal", subtotal, "", cells)]

    def _line_row(self, row: str, label: str, groups: tuple[str, ...]) -> CompareRow:
        found = [[line for line in o.lines if line["row"] == row and line["group"] in groups] for o in self.options]
        details = {line["detail"] for lines in found for line in lines if line["detail"]}
        note = next(iter(details)) if len(details) == 1 else ""
        reference = _sum_usd(found[0])
        cells = []
        for i, option in enumerate(self.options):
            cells.append(self._line_cell(i, option, found[i], row, groups, reference, found[0]))
        notes = [note if note != label else "", self._units([line for lines in found for line in lines])]
        return CompareRow("line", label, " · ".join(part for part in notes if part), cells)

    def _units(self, lines: Sequence[Mapping[str, Any]]) -> str:
        """The units of prices that are not shown in thousands, such as USD/GPU-hour."""
        found: dict[str, None] = {}
        for line in lines:
            for option in self.options:
                for key in _given_keys(option, line)[:2]:
                    unit = self.run.inputs.unit(key)
                    if unit[3:4] == "/" and not _in_thousands(self.run, key) and _is_price(self.run, key):
                        found[unit] = None
        return ", ".join(found)

    def _line_cell(
        self,
        i: int,
        option: CostOption,
        lines: list[Mapping[str, Any]],
        row: str,
        groups: tuple[str, ...],
        reference: float | None,
        reference_lines: list[Mapping[str, Any]],
    ) -> OptionCell:
        if not lines:
            return OptionCell(amount=self._absent(option, row, groups))
        if all(line["not_given"] for line in lines):
            return OptionCell(amount=figures.not_given(), missing=True, how=lines[0]["key"])
        usd = _sum_usd(lines)
        basis, notes = _basis(self.run, option, lines)
        difference, note = "", ""
        if i and usd is not None and reference_lines:
            comparable = self._comparable(option, groups, lines[0]["category"])
            difference, note = self._difference(usd, reference, comparable)
        return OptionCell(
            basis=basis,
            basis_notes=notes,
            amount=self._money(usd),
            how=lines[0]["key"],
            difference=difference,
            difference_note=note,
            usd=usd,
        )

    def _absent(self, option: CostOption, row: str, groups: tuple[str, ...]) -> str:
        category = next((line["category"] for o in self.options for line in o.lines if line["row"] == row), "")
        included = self.included.get(option.key, ())
        if row in included or ("capital" in groups and f"kind:{category}" in included):
            return _("included")
        if "capital" in groups and not option.owned and category in RENTED_INSTEAD:
            return _("rented")
        return _("none")

    def _comparable(self, option: CostOption, groups: tuple[str, ...], category: str) -> bool:
        """Whether two options' amounts mean the same: owners and renters pay for the same thing in different rows."""
        return option.owned == self.options[0].owned or category in COMPARABLE_ANYWHERE

    def _difference(self, usd: float, reference: float | None, comparable: bool) -> tuple[str, str]:
        if reference is None:
            return "", ""
        if not comparable:
            return _("not comparable"), ""
        return difference_words((usd - reference) * self.share, reference * self.share)

    def _money(self, usd: float | None) -> str:
        return figures.not_given() if usd is None else figures.thousands(usd * self.share)

    def _sum_cell(self, i: int, sums: Sequence[float], how: str, *, kind: str) -> OptionCell:
        option = self.options[i]
        difference, note = (
            ("", "") if i == 0 else self._difference(sums[i], sums[0], self._comparable(option, (), kind))
        )
        return OptionCell(
            amount=self._money(sums[i]),
            how=f"{option.key}:{how}" if how else "",
            difference=difference,
            difference_note=note,
            usd=sums[i],
        )

    def _residual(self) -> list[CompareRow]:
        found = [[line for line in o.lines if line["group"] == "residual"] for o in self.options]
        if not any(found):
            return []
        cells = []
        for i, option in enumerate(self.options):
            if not found[i]:
                comparable = bool(i) and bool(found[0])
                cells.append(OptionCell(amount=_("none"), difference=_("not comparable") if comparable else ""))
                continue
            usd = _sum_usd(found[i]) or 0.0
            difference, note = "", ""
            if i and found[0]:
                difference, note = self._difference(usd, _sum_usd(found[0]), True)
            cells.append(
                OptionCell(
                    amount=self._money(usd),
                    how=f"{option.key}:residual",
                    difference=difference,
                    difference_note=note,
                    usd=usd,
                )
            )
        shares = [
            figures.number_in_unit(self.run.inputs.value(key), "fraction")
            for key in dict.fromkeys(key for line in found[0] for key in _given_keys(self.options[0], line))
        ]
        note = _("%s of price") % ", ".join(shares) if shares else ""
        return [CompareRow("line", _("Residual, month %s") % self.run.horizon, note, cells, rule_above=True)]

    def _total(self, label: str, basis: str) -> CompareRow:
        sums = [option.total(basis)["likely"] for option in self.options]
        cells = [self._sum_cell(i, sums, basis, kind="total") for i in range(len(self.options))]
        return CompareRow("total", label, "", cells, rule_above=basis == NOMINAL)


def difference_words(difference: float, base: float) -> tuple[str, str]:
    """A signed difference in thousands, and under it the share with the word that says which way is better."""
    if abs(difference) < EQUAL_USD:
        return _("equal"), ""
    word = _("better") if difference < 0 else _("worse")
    amount = figures.thousands(difference, sign=True)
    if base <= EQUAL_USD:
        return amount, word
    return amount, f"{figures.percent(difference / base, 1, sign=True)} {word}"


def _usd(line: Mapping[str, Any]) -> float:
    return float(line["total_usd"]["likely"] or 0.0)


def _sum_usd(lines: Sequence[Mapping[str, Any]]) -> float | None:
    given = [line for line in lines if not line["not_given"]]
    return sum(_usd(line) for line in given) if given else None


def _given_keys(option: CostOption, line: Mapping[str, Any]) -> list[str]:
    given = option.given_line(line["key"])
    return list(dict.fromkeys(formulas.input_keys(given["factors"]))) if given else []


# Quantity × unit price ----------------------------------------------------------------------------------------------
def _basis(run: CostRun, option: CostOption, lines: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[str, ...]]:
    """What the amount rests on, as quoted; several lines of one row are listed."""
    parts = [_line_basis(run, _given_keys(option, line)) for line in lines]
    parts = [part for part in parts if part[0]]
    if len(parts) == 1:
        return parts[0]
    return ", ".join(part[0] for part in parts), ()


def _line_basis(run: CostRun, keys: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    rates = [key for key in keys if run.inputs.by_key[key]["source"].get("kind") == "fx"]
    shown = [key for key in keys if key not in rates][:2]
    if not shown:
        return "", ()
    text = f" {figures.TIMES} ".join(_input_text(run, key) for key in shown)
    notes = [_range_text(run, key) for key in reversed(shown)]
    notes = [note for note in notes if note][:1]
    for key in rates:
        notes.append(_rate_text(run, shown[-1], key))
    return text, tuple(notes)


def _in_thousands(run: CostRun, key: str) -> bool:
    item = run.inputs.by_key[key]
    return "/" in item["unit"] and item["unit"][:3].isupper() and abs(float(item["likely"])) >= 1000


def _is_price(run: CostRun, key: str) -> bool:
    return run.inputs.by_key[key]["source"].get("kind") != "fx"


def _writer(run: CostRun, key: str) -> Callable[[Any], str]:
    unit = run.inputs.unit(key)
    if _in_thousands(run, key):
        return figures.thousands
    return lambda value: figures.number_in_unit(value, unit)


def _input_text(run: CostRun, key: str) -> str:
    item, unit = run.inputs.by_key[key], run.inputs.unit(key)
    number = _writer(run, key)(item["likely"])
    if unit in ("FTE", "kW", "TB"):
        return f"{number}{figures.NBSP}{unit}"
    if unit.startswith("%"):
        return number + figures.NARROW_NBSP + "%"
    currency = unit[:3] if unit[:3].isupper() and unit[3:4] == "/" else ""
    return f"{number}{figures.NBSP}{currency}" if currency and currency != run.currency else number


def _range_text(run: CostRun, key: str) -> str:
    item = run.inputs.by_key[key]
    if item["low"] is None or item["high"] is None:
        return ""
    return figures.range_text(item["low"], item["high"], _writer(run, key))


def _rate_text(run: CostRun, price: str, rate: str) -> str:
    """The price in the base currency, with the rate and its day."""
    value = float(run.inputs.value(price)) * float(run.inputs.value(rate))
    day = run.inputs.by_key[rate]["source"].get("date", "")
    shown = figures.thousands(value) if abs(value) >= 1000 else figures.plain(value, 4)
    return _("%(value)s %(currency)s at %(rate)s, %(day)s") % {
        "value": shown,
        "currency": run.currency,
        "rate": figures.plain(run.inputs.value(rate), 6),
        "day": figures.day(day) if day else figures.not_given(),
    }


# From one option to another -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Step:
    """One row of the waterfall, placed in per cent of the axis."""

    label: str
    value: str
    word: str
    start: float
    end: float
    kind: str  # total, increase, decrease
    option: CostOption | None = None


@dataclass(frozen=True)
class Waterfall:
    first: CostOption
    second: CostOption
    steps: list[Step]
    ticks: list[tuple[float, str]]
    axis_words: str


def waterfall(run: CostRun, first: CostOption, second: CostOption) -> Waterfall:
    """The rows by which two nominal totals differ, in the order of the table."""
    changes = _changes(first, second)
    start = first.total(NOMINAL)["likely"]
    levels, level = [start], start
    for _label, change in changes:
        level += change
        levels.append(level)
    low, high, ticks = _axis(levels)

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 3)

    steps = [Step(_total_label(first), figures.millions(start), "", place(start), place(start), "total", first)]
    for (label, change), before, after in zip(changes, levels, levels[1:], strict=False):
        word = _("better") if change < 0 else _("worse")
        kind = "decrease" if change < 0 else "increase"
        steps.append(Step(label, figures.fixed(change / 1e6, 2, sign=True), word, place(before), place(after), kind))
    end = second.total(NOMINAL)["likely"]
    gap = figures.fixed((end - start) / 1e6, 2, sign=True)
    word = _("better") if end < start else _("worse")
    steps.append(
        Step(_total_label(second), figures.millions(end), f"{gap} {word}", place(end), place(end), "total", second)
    )
    words = _("M %s.") % run.currency
    if low > 0:
        words += " " + _("The axis starts at %s, so totals are points, not bars.") % figures.fixed(low / 1e6, 1)
    return Waterfall(first, second, steps, [(place(t), figures.fixed(t / 1e6, 1)) for t in ticks], words)


def _total_label(option: CostOption) -> str:
    return _("%s, TCO nominal") % option.key


def _changes(first: CostOption, second: CostOption) -> list[tuple[str, float]]:
    found: dict[tuple[int, str], tuple[str, float]] = {}
    order = {"capital": 0, "operating": 1, "cloud": 1, "financing": 2, "tax": 3, "residual": 4}
    for sign, option in ((-1, first), (1, second)):
        for line in option.lines:
            group = order.get(line["group"], 5)
            name = (group, "residual" if group == 4 else str(line["row"]))
            label = _("Residual") if group == 4 else str(line["label"])
            known = found.get(name, (label, 0.0))
            found[name] = (known[0], known[1] + sign * _usd(line))
    rows = [found[name] for name in sorted(found, key=lambda name: name[0])]
    small = [change for _label, change in rows if EQUAL_USD < abs(change) < 5000]
    shown = [row for row in rows if abs(row[1]) >= 5000]
    return [*shown, (_("Smaller differences"), sum(small))] if small else shown


def _axis(levels: Sequence[float]) -> tuple[float, float, list[float]]:
    """Where the axis begins and ends, at round numbers, and at most six ticks."""
    low, high = min(levels), max(levels)
    span = max(high - low, 0.02 * abs(high), 1.0)
    step = nice_ticks(span * 1.05)[1]
    begin = max(0.0, (low - 0.06 * span) // step * step) if low > 0 else (low // step) * step
    ticks = [begin]
    while ticks[-1] < high + 0.04 * span:
        ticks.append(ticks[-1] + step)
    return begin, ticks[-1], ticks
