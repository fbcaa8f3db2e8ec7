"""Sums of what was read, and total rows of the file compared with them; a total is never a line."""

from decimal import Decimal
from typing import Any

from apps.intake.parsing import numbers, time_units
from apps.intake.parsing.fields import PRICES
from apps.intake.parsing.lines import Lines
from apps.intake.parsing.report import Report


def sums(lines: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Quantity times price over one-off lines, by currency: at list and after discount; percent lines apart."""
    gross: dict[str, Decimal] = {}
    net: dict[str, Decimal] = {}
    for line in lines:
        if line["charge"] != "one_off" or line["percent_of"] or line["unit_price_likely"] is None:
            continue
        amount = Decimal(line["quantity"]) * Decimal(line["unit_price_likely"])
        code = line["currency"]
        gross[code] = gross.get(code, Decimal(0)) + amount
        net[code] = net.get(code, Decimal(0)) + amount * (1 - Decimal(line["discount_fraction"]))
    return {
        "one_off_likely": {code: numbers.plain(value) for code, value in gross.items()},
        "one_off_likely_net": {code: numbers.shortest(value) for code, value in net.items()},
    }


def check_totals(result: Lines, report: Report) -> None:
    """Say of each total row whether it agrees with the lines above it."""
    for row, text, found in result.totals:
        above = [line for line in result.lines if line["row"] < row]
        start = max((other for other, _, _ in result.totals if other < row), default=0)
        section = [line for line in above if line["row"] > start]
        if len({line["currency"] for line in above}) > 1:
            report.warn(None, f"Row {row} “{text}”: a total over several currencies cannot be checked; not imported.")
            continue
        for name, (at, stated) in list(found.items())[:1]:
            price = name if name in PRICES else "unit_price_likely"
            possible = [*_sums(above, price), *_sums(section, price)]
            closest = min(possible, key=lambda value: abs(value - stated))
            if abs(closest - stated) <= Decimal("0.01") + len(above) * Decimal("0.005"):
                report.info(at, f"The total {numbers.shortest(stated)} agrees with the lines; it is not a line.")
                continue
            expected = possible[0]
            report.warn(
                at,
                f"The total in the file is {numbers.shortest(stated)}, but the one-off lines add up to "
                f"{numbers.shortest(expected)}: a difference of {numbers.shortest(stated - expected)}. "
                "The total is not imported.",
                found=numbers.shortest(stated),
                expected=numbers.shortest(expected),
            )


def _sums(lines: list[dict[str, Any]], price: str) -> list[Decimal]:
    """What a total may mean: one-off lines at list or net, or with one period of the recurring lines, or all terms."""
    totals = [Decimal(0)] * 6
    for line in lines:
        if line[price] is None or line["percent_of"]:
            continue
        amount = Decimal(line["quantity"]) * Decimal(line[price])
        discounted = amount * (1 - Decimal(line["discount_fraction"]))
        known = line["term_months"] and line["period"]
        periods = time_units.periods(Decimal(line["term_months"]), line["period"]) if known else Decimal(1)
        if line["charge"] == "one_off":
            totals = [total + (discounted if index % 2 else amount) for index, total in enumerate(totals)]
        else:
            totals[2] += amount
            totals[3] += discounted
            totals[4] += amount * periods
            totals[5] += discounted * periods
    return totals
