"""Quantities that count time: 36 months at a price per month is one service for 36 months, not 36 services."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.intake.parsing import facts, limits, numbers, values
from apps.intake.parsing.fields import LINE_FIELDS, PRICES, TIME_UNITS
from apps.intake.parsing.mapping import normal
from apps.intake.parsing.report import At, Report

# Months of one unit as a ratio, so that 365 days and 8,760 hours are exactly 12 months.
_MONTHS = {"hour": (1, 730), "day": (12, 365), "week": (84, 365), "month": (1, 1), "quarter": (3, 1), "year": (12, 1)}
_PERIODS = ("hour", "month", "year")
_NOUNS = {normal(word): unit for unit, words in TIME_UNITS.items() for word in [unit, *words.split("|")]}
_JOINTS = frozenset({"per", "pro", "par", "je", "a", "of", "x", "×", "de", "à"})
# Before a unit of time these name nothing that is counted: a contract month is a month.
_EMPTY_HEADS = frozenset({"contract", "service", "calendar", "billing", "term", "full", "vertrags", "kalender"})
_ROUNDING = Decimal("0.02")  # 52 weeks and 360 days are called a year
_SHARE_LIMIT = Decimal(50)  # percent a year; no support contract costs more of what it supports
_YEARLY = {"hour": 8760, "month": 12, "year": 1}

Place = Callable[[str], At]


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """What a unit says of time: GPU-hour is hour with the head GPU; per month and monthly are rates."""

    name: str
    head: str = ""
    rate: bool = False
    factor: Decimal = Decimal(1)  # 12 for the unit “12 months”

    def months(self, quantity: Decimal) -> Decimal:
        over, under = _MONTHS[self.name]
        return _kept(quantity * self.factor * over / under)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A line whose quantity may count time, and everything that bears on how it is read."""

    line: dict[str, Any]
    unit: TimeUnit
    months: Decimal
    total: Decimal | None  # as the file states it

    @property
    def same(self) -> bool:
        return self.unit.name == self.line["period"] and self.unit.factor == 1

    @property
    def term_cost(self) -> Decimal | None:
        price = self.line["unit_price_likely"]
        return None if price is None else price * periods(self.months, self.line["period"])

    @property
    def each_cost(self) -> Decimal | None:
        price = self.line["unit_price_likely"]
        return None if price is None else price * self.line["quantity"]

    def total_is(self, cost: Decimal | None) -> bool:
        if cost is None or self.total is None:
            return False
        net = cost * (1 - self.line["discount_fraction"])
        return min(abs(self.total - cost), abs(self.total - net)) <= Decimal("0.01") + abs(cost) * Decimal("0.0001")


def find(unit: str) -> TimeUnit | None:
    """Return what a unit says of time, or None for a unit of things."""
    words = normal(unit).split()
    text = " ".join(words)
    if text in _NOUNS:
        return TimeUnit(_NOUNS[text])
    period = values.choice_quietly(unit, "period")
    if period:
        return TimeUnit(period, rate=True)
    for name, others in ((words[-1:], words[:-1]), (words[:1], words[1:])):
        if name and name[0] in _NOUNS:
            head = [word for word in others if word not in _JOINTS and word not in _EMPTY_HEADS]
            if len(head) == 1 and head[0].isdecimal() and int(head[0]):
                return TimeUnit(_NOUNS[name[0]], factor=Decimal(head[0]))
            rate = not head and any(word in _JOINTS for word in others)
            return TimeUnit(_NOUNS[name[0]], head=" ".join(head), rate=rate)
    return None


def periods(months: Decimal, period: str) -> Decimal:
    """How many periods a number of months has."""
    over, under = _MONTHS[period]
    return months * under / over


def normalise(
    place: Place, line: dict[str, Any], report: Report, *, total: Decimal | None, contract_months: Decimal | None
) -> bool:
    """Make a quantity that counts time the term of the line; False after an error in it.

    Where the quantity has exactly one sensible reading it is taken and said, else it is asked.
    """
    unit = find(line["unit"])
    if line["charge"] != "recurring" or not line["period"] or unit is None or not line["quantity"]:
        return True
    counted = _Counted(line, unit, unit.months(line["quantity"]), total)
    if line["quantity"] == 1 and (counted.same or unit.head or unit.rate):
        return True
    given = line["term_months"]
    if unit.head and not line["percent_of"]:
        _ask_compound(place, counted, report, contract_months)
    elif given is None:
        _read(place, counted, report)
    elif abs(given - counted.months) <= _ROUNDING * given:
        _take(place, counted, report, given)
    elif line["percent_of"] or not unit.rate:  # else it is ten at a price per month for the term given
        _contradiction(place, counted, report)
        return False
    return True


def _contradiction(place: Place, counted: _Counted, report: Report) -> None:
    at, other = place("quantity"), place("term_months")
    report.error(
        at,
        f"{at.ref} and {other.ref} contradict each other: {_amount(counted)} is a term of {_text(counted.months)} "
        f"months, but term_months is {_text(counted.line['term_months'])}.",
        found=_amount(counted),
        expected=f"{_text(counted.line['term_months'])} months, or a unit other than time",
    )


def _read(place: Place, counted: _Counted, report: Report) -> None:
    """Take the one sensible reading, or the one that is answered."""
    if _only_a_term(counted):
        answer = "term"
    else:
        choices = _choices(counted)
        answer = (
            report.ask(
                f"time:{place('quantity').ref}",
                about=f"{place('quantity').where}, {_amount(counted)} at {_price(counted)} "
                f"per {counted.line['period']}",
                cells=[place(name).ref for name in ("quantity", "unit", "period")],
                choices=choices,
                suggested=_suggested(counted),
                reason="The unit counts time, so the quantity may be a term.",
            )
            or choices[0][0]
        )
    if answer == "units":
        return
    if answer == "each":
        _price_each(counted)
    _take(place, counted, report, counted.months)


def _only_a_term(counted: _Counted) -> bool:
    line, unit = counted.line, counted.unit
    if line["percent_of"] and line["unit_price_likely"] is not None:
        by_period = line["unit_price_likely"] * _YEARLY[line["period"]]
        by_unit = periods(Decimal(12), unit.name) * line["unit_price_likely"] / unit.factor
        return by_period <= _SHARE_LIMIT and (counted.same or by_unit > _SHARE_LIMIT)
    if counted.same:
        return unit.name != "hour" and not unit.rate
    if line["unit_price_likely"] is None:
        return not unit.rate
    return counted.total_is(counted.term_cost) and not counted.total_is(counted.each_cost)


def _choices(counted: _Counted) -> list[tuple[str, str]]:
    line, unit = counted.line, counted.unit
    price, percent = _price(counted), line["percent_of"]
    in_all = "" if percent or counted.term_cost is None else f" = {_text(counted.term_cost)} in all"
    term = ("term", f"{price} per {line['period']} for {_text(counted.months)} months{in_all}")
    units = (
        "units",
        f"{_text(line['quantity'])} at the same time, each {price} per {line['period']} to the end of the contract",
    )
    if counted.same:
        choices = [units, term] if unit.rate else [term, units]
        return [choice for choice in choices if not (percent and choice is units)]
    each_all = "" if percent or counted.each_cost is None else f" = {_text(counted.each_cost)} in all"
    named = unit.name if unit.factor == 1 else f"{_text(unit.factor)} {unit.name}s"
    each = ("each", f"{price} for each {named}, {_text(line['quantity'])} of them{each_all}")
    open_end = not percent and (line["quantity"] == 1 or unit.rate)
    return [term, each, units] if open_end else [term, each]


def _suggested(counted: _Counted) -> str | None:
    line, unit = counted.line, counted.unit
    if unit.rate:
        return None
    if counted.same:
        whole = counted.months == counted.months.to_integral_value()
        return "term" if whole or line["kind"] != "cloud" else None
    if line["percent_of"]:
        return "each" if (line["unit_price_likely"] or 0) * _YEARLY[line["period"]] > _SHARE_LIMIT else "term"
    return "each" if counted.total_is(counted.each_cost) else "term"


def _price_each(counted: _Counted) -> None:
    """The price is one for each unit of time: make that the period, or the price one a month."""
    line, unit = counted.line, counted.unit
    if unit.name in _PERIODS and unit.factor == 1:
        line["period"] = unit.name
        return
    line["period"] = "month"
    for name in PRICES:
        if line[name] is not None:
            line[name] = _kept(line[name] / unit.months(Decimal(1)))


def _take(place: Place, counted: _Counted, report: Report, months: Decimal) -> None:
    at, line = place("quantity"), counted.line
    report.info(
        at,
        f"{_amount(counted)} ({at.ref}, {place('unit').ref}) is stored as quantity 1 with a term of "
        f"{_text(months)} months.",
        found=_amount(counted),
    )
    line["quantity"] = Decimal(1)
    shown = facts.in_band(at, months, LINE_FIELDS["term_months"], report)
    line["term_months"] = None if shown is None else Decimal(shown)


def _ask_compound(place: Place, counted: _Counted, report: Report, contract_months: Decimal | None) -> None:
    """128 GPU-hours an hour are 128 GPUs, or one GPU for 128 hours, or hours used at any time of the term."""
    line, unit = counted.line, counted.unit
    quantity, per = _text(line["quantity"]), f"each {_price(counted)} per {line['period']}"
    choices = [
        ("units", f"{quantity} × {unit.head} at the same time, {per}"),
        ("term", f"1 × {unit.head} for {_text(counted.months)} months"),
    ]
    months = line["term_months"] or contract_months
    average = _kept(counted.months / months) if months else None
    if average and counted.same:
        choices.append(
            (
                "total",
                f"{quantity} {line['unit']} in all, over {_text(months or Decimal(0))} months: "
                f"{_text(round(average, 2))} × {unit.head} at the same time",
            )
        )
    whole = average is not None and average == average.to_integral_value()
    answer = report.ask(
        f"time:{place('quantity').ref}",
        about=f"{place('quantity').where}, {_amount(counted)} per {line['period']}",
        cells=[place(name).ref for name in ("quantity", "unit", "period")],
        choices=choices,
        suggested="total" if whole and counted.same else "units",
        reason="The unit names a thing and a time, so the quantity may count either.",
    )
    if answer == "term" and line["term_months"] is not None and line["term_months"] != counted.months:
        _contradiction(place, counted, report)
    elif answer == "term":
        _take(place, counted, report, counted.months)
    elif answer == "total" and average:
        line["quantity"] = average


def _amount(counted: _Counted) -> str:
    return f"{_text(counted.line['quantity'])} × {counted.line['unit']}"


def _price(counted: _Counted) -> str:
    likely = counted.line["unit_price_likely"]
    if likely is None:
        return "no price"
    mark = "%" if counted.line["percent_of"] else counted.line["currency"]
    return f"{_text(likely)} {mark}".strip()


def _kept(value: Decimal) -> Decimal:
    """The number as the database keeps it, without trailing zeros."""
    return Decimal(numbers.shortest(round(value, limits.DECIMAL_PLACES)))


def _text(value: Decimal) -> str:
    return numbers.shortest(round(value, 4))
