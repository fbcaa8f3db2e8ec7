"""Checks of one finished line against what else the file says about it."""

from decimal import Decimal
from typing import Any

from apps.intake.parsing import numbers, values
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
