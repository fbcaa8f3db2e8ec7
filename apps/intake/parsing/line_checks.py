"""Checks of one finished line against what else the file says about it."""

import re
from decimal import Decimal
from typing import Any

from apps.intake.parsing import bands, limits, numbers, time_units
from apps.intake.parsing.fields import HOURLY_UNITS, PRICES
from apps.intake.parsing.mapping import normal
from apps.intake.parsing.report import At, Report


def compare_total(at: At, total: Decimal, line: dict[str, Any], report: Report) -> None:
    """Compare a line total that the file states with quantity times price, a period or the term; it is not imported."""
    gross = line["quantity"] * line["unit_price_likely"]
    net = gross * (1 - line["discount_fraction"])
    possible = [gross, net]
    n_periods = Decimal(1)
    if line["charge"] == "recurring" and line["period"] and line["term_months"] is not None:
        n_periods = time_units.periods(line["term_months"], line["period"])
        possible += [gross * n_periods, net * n_periods]
    tolerance = Decimal("0.01") + line["quantity"] * max(n_periods, Decimal(1)) * Decimal("0.005")
    if min(abs(total - value) for value in possible) <= tolerance:
        return
    report.warn(
        at,
        f"{at.ref}: the line total in the file is {numbers.shortest(total)}, but quantity "
        f"{numbers.shortest(line['quantity'])} × unit price {numbers.shortest(line['unit_price_likely'])} = "
        f"{numbers.shortest(net)}. Quantity and price are used.",
        found=numbers.shortest(total),
        expected=numbers.shortest(net),
    )


def check_percent_quantity(at: At, line: dict[str, Any], report: Report) -> None:
    """A percentage is counted once; 3 years of a one-off percentage may be three of it in advance, which is asked."""
    quantity, likely = line["quantity"], line["unit_price_likely"]
    if not line["percent_of"] or quantity == 1:
        return
    unit = time_units.find(line["unit"])
    if line["charge"] != "one_off" or not quantity or unit is None or unit.head or likely is None:
        report.must_be(at, numbers.shortest(quantity), "1 in a percentage line, or a count of time that is its term")
        return
    whole = likely * quantity
    answer = report.ask(
        f"time:{at.ref}",
        about=f"{at.where}, {numbers.shortest(quantity)} × {line['unit']} at {numbers.shortest(likely)} %, paid once",
        cells=[at.ref],
        choices=[
            ("once", f"{numbers.shortest(likely)} % in all"),
            ("each", f"{numbers.shortest(likely)} % for each {unit.name} = {numbers.shortest(whole)} % in all"),
        ],
        suggested=None,
        reason="The quantity of a one-off percentage counts time.",
    )
    line["quantity"] = Decimal(1)
    if answer == "each":
        for name in PRICES:
            line[name] = line[name] * quantity if line[name] is not None else None
        if whole > 100:
            report.must_be(at, f"{numbers.shortest(whole)} % in all", "between 0 and 100 percent")


def note_one_sided(at: At, line: dict[str, Any], report: Report) -> None:
    """Say that the side of a range that is not given is taken as the likely price."""
    low, likely, high = (line[name] for name in PRICES)
    if likely is None or (low is None) == (high is None):
        return
    given, other = ("low", "high") if high is None else ("high", "low")
    report.info(
        at,
        f"Only the {given} price of the range is given; the {other} price is taken as the likely price, "
        f"{numbers.shortest(likely)}.",
    )


def check_hourly_unit(at: At, line: dict[str, Any], report: Report, per_node: tuple[str, str] | None) -> None:
    """Ask what one unit of an hourly price is where its words do not say; say what nodes need to be compared."""
    if line["charge"] != "recurring" or line["period"] != "hour" or line["percent_of"]:
        return
    sort = _sort_of(line["unit"])
    unit = time_units.find(line["unit"])
    if sort is None and (line["kind"] == "cloud" or unit is None or unit.head):
        sort = _ask_hourly_unit(at, line, report)
    if sort != "node":
        return
    said = f"{per_node[0]}, as {per_node[1]} says" if per_node else "not given in this file"
    report.info(
        at,
        f"The price is per {line['unit']} and hour. How many accelerators each one has is needed to compare it with "
        f"prices per accelerator: {said}.",
        found=line["unit"],
    )


def _ask_hourly_unit(at: At, line: dict[str, Any], report: Report) -> str | None:
    shown = line["unit"] or "empty"
    described = _sort_of(line["description"], ("node", "accelerator"))
    answer = report.ask(
        f"unit:{at.ref}",
        about=f"{at.where}, unit “{shown}” of a price per hour",
        cells=[at.ref],
        choices=[
            ("accelerator", "GPU or accelerator"),
            ("node", "node, instance or server"),
            ("other", f"something else; keep “{shown}”"),
        ],
        suggested=described,
        reason="The price of a node is that of several accelerators; the unit does not say which is meant.",
    )
    if answer in ("accelerator", "node"):
        line["unit"] = "GPU" if answer == "accelerator" else "node"
    return answer


def _sort_of(text: str, sorts: tuple[str, ...] = ("node", "accelerator", "other")) -> str | None:
    """Which sort of hourly unit the words of a text name, the first of `sorts` that fits."""
    words = f" {normal(text)} "
    for sort in sorts:
        if any(re.search(rf" {word}s? ", words) for word in HOURLY_UNITS[sort].split("|")):
            return sort
    return None


def ask_band(at: At, line: dict[str, Any], report: Report) -> None:
    """Ask for a price outside the usual range of its kind; the answer may take it away."""
    likely = line["unit_price_likely"]
    band = bands.band_of(line["kind"], line["unit"], line["description"], line["period"], line["currency"])
    if band is None or band.low <= likely <= band.high:
        return
    answer = report.ask(
        f"band:{at.ref}",
        about=f"{at.where}, unit price {numbers.shortest(likely)} {line['currency']}",
        cells=[at.ref],
        choices=[("keep", f"{numbers.shortest(likely)} is right"), ("none", "not given")],
        suggested="keep",
        reason=f"Such a price usually is {numbers.shortest(band.low)} to {numbers.shortest(band.high)} "
        f"{line['currency']}. Correct the cell if the separator or the unit is wrong.",
    )
    if answer == "none":
        line.update(dict.fromkeys(PRICES))


def ask_small_percent(at: At, line: dict[str, Any], report: Report) -> None:
    """0.08 in a percentage line is 8 % or 0.08 %: asked, for it is a factor of a hundred."""
    likely = line["unit_price_likely"]
    if likely is None or not 0 < likely < 1:
        return
    small, large = f"{numbers.shortest(likely)} %", f"{numbers.shortest(likely * 100)} %"
    answer = report.ask(
        f"percent:{at.ref}",
        about=f"{at.where}, percentage {numbers.shortest(likely)}",
        cells=[at.ref],
        choices=[("fraction", large), ("percent", small)],
        suggested="fraction",
        reason=f"“{numbers.shortest(likely)}” without a percent sign can mean {large} or {small}.",
    )
    if answer == "fraction":
        for name in PRICES:
            line[name] = line[name] * 100 if line[name] is not None else None


def check_size(at: At, line: dict[str, Any], report: Report) -> None:
    """Products such as quantity times capacity must fit the database as well as what stood in the file."""
    for name, value in line.items():
        if isinstance(value, Decimal) and value and value.adjusted() >= limits.INTEGER_DIGITS:
            report.error(at, f"{name} comes to {value:.3E}; it must have at most {limits.INTEGER_DIGITS} digits.")
