"""Checks of one finished line against what else the file says about it."""

from decimal import Decimal
from typing import Any

from apps.intake.parsing import limits, numbers, values
from apps.intake.parsing.fields import PRICES
from apps.intake.parsing.report import At, Report


def compare_total(at: At, total: Decimal, line: dict[str, Any], report: Report) -> None:
    """Compare a line total that the file states with quantity times price; it is never imported."""
    gross = line["quantity"] * line["unit_price_likely"]
    net = gross * (1 - line["discount_fraction"])
    tolerance = Decimal("0.01") + line["quantity"] * Decimal("0.005")
    if min(abs(total - gross), abs(total - net)) <= tolerance:
        return
    report.warn(
        at,
        f"{at.ref}: the line total in the file is {numbers.shortest(total)}, but quantity "
        f"{numbers.shortest(line['quantity'])} × unit price {numbers.shortest(line['unit_price_likely'])} = "
        f"{numbers.shortest(net)}. Quantity and price are used.",
        found=numbers.shortest(total),
        expected=numbers.shortest(net),
    )


def normalise_term(at: At, line: dict[str, Any], report: Report) -> None:
    """36 months at a price per month is one service for 36 months, not 36 services."""
    counted = values.choice_quietly(line["unit"], "period")
    if line["charge"] != "recurring" or counted != line["period"] or line["quantity"] <= 1:
        return
    if line["term_months"] is not None or line["percent_of"] or counted == "hour":
        return
    months = line["quantity"] * (12 if counted == "year" else 1)
    report.info(
        at,
        f"{numbers.shortest(line['quantity'])} × one {counted} is stored as quantity 1 with a term of "
        f"{numbers.shortest(months)} months.",
    )
    line["term_months"], line["quantity"] = months, Decimal(1)


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
