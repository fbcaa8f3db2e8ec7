"""Days behind dates that are only as precise as their source."""

import re
from datetime import date, timedelta
from typing import Final

# 2026-11-18, 2026-11, 2026, 2025-H1, 2025-Q3, 2024-2025
PATTERN: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?:(?P<month>\d{2})(?:-(?P<day>\d{2}))?|H(?P<half>[12])|Q(?P<quarter>[1-4])|(?P<until>\d{4})))?"
)


def period(text: str) -> tuple[date, date] | None:
    """First and last day that a date such as 2025-H1 may mean; None if it is no date."""
    match = PATTERN.fullmatch(text.strip())
    if match is None:
        return None
    parts = {name: int(value) for name, value in match.groupdict().items() if value}
    try:
        first, n_months = _first_month(parts)
        if "day" in parts:
            return first.replace(day=parts["day"]), first.replace(day=parts["day"])
        after = first.year * 12 + first.month - 1 + n_months
        last = date(after // 12, after % 12 + 1, 1) - timedelta(days=1)
    except ValueError:  # month 13, day 32, year 0
        return None
    return (first, last) if first <= last else None


def _first_month(parts: dict[str, int]) -> tuple[date, int]:
    """First day of the period and how many months it lasts."""
    year = parts["year"]
    if "month" in parts:
        return date(year, parts["month"], 1), 1
    if "half" in parts:
        return date(year, 6 * parts["half"] - 5, 1), 6
    if "quarter" in parts:
        return date(year, 3 * parts["quarter"] - 2, 1), 3
    return date(year, 1, 1), 12 * (parts.get("until", year) - year + 1)
