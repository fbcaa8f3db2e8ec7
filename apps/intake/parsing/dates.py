"""Calendar dates of quotes, without time and zone. 03/04/2027 has two readings and is asked."""

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta

_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", re.ASCII)
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})", re.ASCII)
_DAY_NAME = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|\.)?\s+([^\W\d]+)\.?,?\s+(\d{4})")
_NAME_DAY = re.compile(r"([^\W\d]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")
_TIME = re.compile(r"[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$", re.ASCII)
_MONTHS: dict[str, int] = {}
for _number, _names in enumerate(
    (
        "january jan januar jänner janvier janv",
        "february feb februar février févr fevrier",
        "march mar märz mrz maerz mars",
        "april apr avril avr",
        "may mai",
        "june jun juni juin",
        "july jul juli juillet juil",
        "august aug août aout",
        "september sep sept septembre",
        "october oct oktober okt octobre",
        "november nov novembre",
        "december dec dezember dez décembre déc decembre",
    ),
    1,
):
    _MONTHS.update(dict.fromkeys(_names.split(), _number))


@dataclass(frozen=True, slots=True)
class DateText:
    """What a date's text can mean: the day if the month stands second, the day if it stands first, or why not."""

    day_first: date | None = None
    month_first: date | None = None
    problem: str = ""

    @property
    def ambiguous(self) -> bool:
        return self.day_first is not None and self.month_first is not None and self.day_first != self.month_first


def read(text: str) -> DateText:
    """Return the readings of a date's text."""
    text = _TIME.sub("", text.strip())
    if match := _ISO.fullmatch(text):
        return _certain(int(match[1]), int(match[2]), int(match[3]))
    if match := _NUMERIC.fullmatch(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        if match[2] == ".":  # the point is used only where the day stands first
            return _certain(year, second, first)
        readings = DateText(_day(year, second, first), _day(year, first, second))
        if readings.day_first or readings.month_first:
            return readings
        return DateText(problem=_impossible(year, second if second <= 12 else first, max(first, second)))
    for pattern, day_group, name_group in ((_DAY_NAME, 1, 2), (_NAME_DAY, 2, 1)):
        if (match := pattern.fullmatch(text)) and match[name_group].casefold() in _MONTHS:
            return _certain(int(match[3]), _MONTHS[match[name_group].casefold()], int(match[day_group]))
    return DateText(problem="Expected a date such as 2027-12-31.")


def from_serial(days: int, *, epoch_1904: bool) -> date | None:
    """The date of a spreadsheet's day number; None outside 1990 to 2100, where no quote lies."""
    start = date(1904, 1, 1) if epoch_1904 else date(1899, 12, 30)
    try:
        day = start + timedelta(days=days)
    except OverflowError:
        return None
    return day if 1990 <= day.year <= 2100 else None


def _certain(year: int, month: int, day: int) -> DateText:
    value = _day(year, month, day)
    return DateText(value, value) if value else DateText(problem=_impossible(year, month, day))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _impossible(year: int, month: int, day: int) -> str:
    if not 1 <= month <= 12 or not 1 <= year <= 9999:
        return "There is no such date. Expected a date such as 2027-12-31."
    last = calendar.monthrange(year, month)[1]
    return (
        f"There is no such date: {calendar.month_name[month]} {year} has {last} days. "
        f"Expected a date such as {year:04d}-{month:02d}-{last:02d}."
    )
