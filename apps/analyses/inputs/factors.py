"""The small words of the run document: constants, combinations of factors, anchors and timings."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from apps.engine.units import DAYS_PER_WEEK, DAYS_PER_YEAR, HOURS_PER_MONTH, MONTHS_PER_YEAR

Factor = str | dict[str, Any]  # an input key, or an expression over input keys; docs/run-json.md
Anchor = dict[str, Any]


def text(number: Decimal | int | str) -> str:
    """A number as decimal text without exponent or needless zeros: 295000.00 is "295000"."""
    plain = format(Decimal(str(number)), "f")
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) or "0"


def const(number: Decimal | int | str, label: str = "") -> Factor:
    """A number that is no input because nobody would vary it."""
    return {"const": text(number), "label": label} if label else {"const": text(number)}


HOURS_A_MONTH = const(HOURS_PER_MONTH, "hours a month")
A_TWELFTH: Factor = {"divide": [const(1), const(MONTHS_PER_YEAR, "months a year")], "label": "a month of the year"}


def per_month(period: str) -> list[Factor]:
    """What turns an amount for one hour, month or year into the amount for one whole month."""
    return {"hour": [HOURS_A_MONTH], "year": [A_TWELFTH]}.get(period, [])


def percent(key: Factor) -> Factor:
    return {"divide": [key, const(100)]}


def minutes_in_hours(key: Factor) -> Factor:
    return {"divide": [key, const(60, "minutes an hour")]}


def weeks_in_months(weeks: Factor) -> Factor:
    """Weeks × 84 / 365: a month is a twelfth of 365 days."""
    return {"divide": [{"product": [weeks, const(DAYS_PER_WEEK * MONTHS_PER_YEAR)]}, const(DAYS_PER_YEAR)]}


def days_in_months(days: Factor) -> Factor:
    """Days × 12 / 365."""
    return {"divide": [{"product": [days, const(MONTHS_PER_YEAR)]}, const(DAYS_PER_YEAR)]}


def product(factors: Sequence[Factor]) -> Factor:
    return factors[0] if len(factors) == 1 else {"product": list(factors)}


def anchor(event: str, phase: str | None = None, month: str | None = None, offset: Factor | None = None) -> Anchor:
    return {"event": event, "phase": phase, "month": month, "offset_months": offset}


SIGNATURE = anchor("signature")
HORIZON = anchor("horizon")


def once(at: Anchor) -> dict[str, Any]:
    return {"kind": "once", "milestones": [{"share": const(1), "at": at}]}


def monthly(start: Anchor, end: Anchor, escalation: Factor | None = None) -> dict[str, Any]:
    return {"kind": "monthly", "from": start, "to": end, "escalation": escalation, "upfront_share": None}


def line(key: str, row: str, *, factors: Sequence[Factor], timing: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """One LINE of the document; what is not named takes its plainest value."""
    return {
        "key": key,
        "row": row,
        "label": fields["label"],
        "detail": fields.get("detail", ""),
        "group": fields["group"],
        "category": fields["category"],
        "factors": list(factors),
        "percent_of": fields.get("percent_of"),
        "sign": fields.get("sign", 1),
        "timing": dict(timing),
        "treatment": fields.get("treatment", "expense"),
        "life_months": fields.get("life_months"),
        "in_service": fields.get("in_service"),
        "disposed_at_horizon": fields.get("disposed_at_horizon", False),
        "formula": fields.get("formula", ""),
        "not_given": fields.get("not_given", False),
    }
