"""One cell becomes one value: number, percent, date, currency, choice or flag, or a message that says why not."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from apps.intake.parsing import dates, limits, money, numbers
from apps.intake.parsing.fields import CHOICES, NO, YES
from apps.intake.parsing.mapping import normal
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Cell

_LOOKUP = {
    name: {normal(word): value for value, words in choices.items() for word in [*words.split("|"), value]}
    for name, choices in CHOICES.items()
}


@dataclass(slots=True)
class Amount:
    """A number as read, with the currency and the percent sign that stood beside it."""

    value: Decimal
    currency: str = ""
    percent: bool = False


@dataclass(slots=True)
class Style:
    """The rules found once for the whole file: decimal separator and order of day and month."""

    decimal: str | None = None
    day_first: bool | None = None
    text_numbers: list[str] = field(default_factory=list)  # cells of a workbook whose numbers were text


def find_number_style(places: Iterable[tuple[At, Cell]], report: Report, style: Style) -> None:
    """Find the decimal separator from values that can be read in one way only; ask when none decides."""
    evidence: dict[str, list[tuple[At, str]]] = {".": [], ",": []}
    ambiguous: list[tuple[At, str]] = []
    for at, cell in places:
        token = numbers.take_apart(cell.text) if cell.kind == "text" else None
        if token is None:
            continue
        found = numbers.readings(token.body)
        if len(found) == 1 and found[0].decimal:
            evidence[found[0].decimal].append((at, cell.text))
        elif len(found) > 1:
            ambiguous.append((at, cell.text))
    if evidence["."] and evidence[","]:
        _refuse_mixture(evidence, report)
        style.decimal = "." if len(evidence["."]) >= len(evidence[","]) else ","
    elif evidence["."] or evidence[","]:
        style.decimal = "." if evidence["."] else ","
    elif ambiguous:
        style.decimal = _ask_style(ambiguous, report)


def _refuse_mixture(evidence: dict[str, list[tuple[At, str]]], report: Report) -> None:
    """Name the cells of the rarer style, and one of the commoner beside them that shows it most clearly."""
    common, rare = sorted(evidence, key=lambda decimal: len(evidence[decimal]), reverse=True)
    clearest = max(evidence[common], key=lambda item: ("." in item[1]) + ("," in item[1]))
    for at, text in [clearest, *evidence[rare][:20]]:
        other = evidence[rare][0][1] if at is clearest[0] else clearest[1]
        report.error(
            at,
            f"Mixed number formats in one file: “{text}” here, “{other}” elsewhere. "
            "One decimal separator must hold for the whole file.",
            found=text,
            expected=f"a number such as {numbers.STYLE_LABELS[common]}",
        )


def _ask_style(ambiguous: list[tuple[At, str]], report: Report) -> str | None:
    samples = sorted({text for _, text in ambiguous})
    sample = next((text for at, text in ambiguous if at.field == "unit_price_likely"), samples[0])
    token = numbers.take_apart(sample)
    found = {reading.decimal: reading.value for reading in numbers.readings(token.body)} if token else {}
    choices = [
        (decimal, f"{sample} = {numbers.shortest(value)} ({numbers.STYLE_LABELS[decimal]})")
        for decimal, value in found.items()
        if decimal
    ]
    # Prices with exactly three decimals are rare; three digits behind a separator are usually thousands.
    grouped = max(choices, key=lambda choice: found[choice[0]])[0]
    return report.ask(
        "number_style",
        about="decimal separator",
        cells=[at.ref for at, _ in ambiguous],
        choices=choices,
        suggested=grouped,
        reason=f"“{sample}” can be read in two ways and nothing else in the file decides. "
        "Three digits behind the separator usually are thousands.",
    )


def number(
    at: At, cell: Cell, style: Style, report: Report, *, expected: str = "a number, or empty if it was not given"
) -> Amount | None:
    """Return the number of a cell, or None after saying why there is none."""
    if cell.kind == "empty":
        return None
    if cell.kind == "formula":
        report.error(
            at,
            f"{at.field} is a formula without a stored value; open the file in a spreadsheet, save it and upload it "
            "again, or type the number.",
            found="formula",
            expected=expected,
        )
        return None
    if cell.kind == "number" and cell.number is not None:
        return _bounded(at, Amount(cell.number, cell.currency, cell.percent), report)
    if cell.kind != "text":
        what = {"error": "a finite number", "date": "a number, not a date"}.get(cell.kind, expected)
        report.must_be(at, cell.text, what)
        return None
    return _from_text(at, cell, style, report, expected)


def _from_text(at: At, cell: Cell, style: Style, report: Report, expected: str) -> Amount | None:
    text = cell.text
    if text.startswith("'") and at.table.medium == "xlsx":
        text = text[1:]
    token = numbers.take_apart(text)
    if token is None:
        report.must_be(at, cell.text, _why(text, expected))
        return None
    if at.table.medium == "json" and not cell.corrected and not token.body.replace(".", "", 1).isdigit():
        report.must_be(at, cell.text, "a plain decimal number with a point, such as 1234.50")
        return None
    decimal = "." if at.table.medium == "json" else style.decimal
    value = numbers.read(token.body, decimal)
    if value is None:
        label = numbers.STYLE_LABELS.get(decimal or ".", "")
        report.must_be(at, cell.text, f"a number in the file's format, {label}")
        return None
    if at.table.medium == "xlsx" and not cell.corrected and not token.percent:
        style.text_numbers.append(at.ref)
    return _bounded(at, Amount(-value if token.negative else value, token.currency, token.percent), report)


def _why(text: str, expected: str) -> str:
    if text.casefold().strip("+-") in ("nan", "inf", "infinity", "∞"):
        return "a finite number"
    if any(character in "eE" for character in text) and any(character.isdigit() for character in text):
        return "a finite number in plain digits, without exponent"
    return expected


def _bounded(at: At, amount: Amount, report: Report) -> Amount | None:
    if numbers.exact(amount.value) is None:
        shown = str(amount.value)[:40]
        report.must_be(
            at,
            shown,
            f"a finite number in the range up to {limits.INTEGER_DIGITS} digits, "
            f"with at most {limits.DECIMAL_PLACES} decimal places",
        )
        return None
    # An exponent, as JSON and workbooks may hold, becomes plain digits.
    return Amount(Decimal(format(amount.value, "f")), amount.currency, amount.percent)


def fraction(
    at: At, cell: Cell, style: Style, report: Report, *, says_percent: bool = False, says_fraction: bool = False
) -> Decimal | None:
    """Return a share as a fraction. 12.5 %, 12.5 and 0.125 with a percent format all are one eighth."""
    amount = number(at, cell, style, report, expected="a percentage such as 12.5 %")
    if amount is None:
        return None
    value = amount.value
    if amount.percent:
        result = value if cell.kind == "number" else value / 100
    elif says_fraction:
        result = value
    elif says_percent or value == 0:
        result = value / 100
    elif abs(value) > 1:
        result = value / 100
        report.warn(at, f"{at.field} {cell.text} has no percent sign; it is read as {cell.text} %.", found=cell.text)
    else:
        result = _ask_fraction(at, cell, value, report)
    if not -1 <= result <= 1:
        report.must_be(at, cell.text, "between 0 % and 100 %")
        return None
    return numbers.exact(result) or round(result, limits.DECIMAL_PLACES)


def _ask_fraction(at: At, cell: Cell, value: Decimal, report: Report) -> Decimal:
    percent = f"{numbers.shortest(value)} %"
    hundredfold = f"{numbers.shortest(value * 100)} %"
    answer = report.ask(
        f"percent:{at.ref}",
        about=f"{at.field} “{cell.text}”",
        cells=[at.ref],
        choices=[("fraction", hundredfold), ("percent", percent)],
        suggested="fraction",
        reason=f"“{cell.text}” without a percent sign can mean {hundredfold} or {percent}.",
    )
    return value / 100 if answer == "percent" else value


def find_date_order(places: Iterable[tuple[At, Cell]], report: Report, style: Style) -> None:
    """Find whether the day or the month stands first, from dates that leave no doubt; ask when none decides."""
    ambiguous: list[tuple[At, str, dates.DateText]] = []
    for at, cell in places:
        reading = dates.read(cell.text) if cell.kind == "text" else None
        if reading is None or reading.problem:
            continue
        if reading.ambiguous:
            ambiguous.append((at, cell.text, reading))
        elif (reading.day_first is None) != (reading.month_first is None):
            style.day_first = reading.day_first is not None
    if style.day_first is not None or not ambiguous:
        return
    _, text, reading = ambiguous[0]
    answer = report.ask(
        "date_order",
        about=f"date {text}",
        cells=[at.ref for at, _, _ in ambiguous],
        choices=[
            ("day", f"{reading.day_first:%-d %B %Y} ({reading.day_first})"),
            ("month", f"{reading.month_first:%-d %B %Y} ({reading.month_first})"),
        ],
        suggested=None,
        reason=f"“{text}” has two readings and no other date in the file decides.",
    )
    style.day_first = None if answer is None else answer == "day"


def calendar_date(  # noqa: PLR0911 - one return a kind of cell
    at: At, cell: Cell, style: Style, report: Report, *, epoch_1904: bool = False
) -> date | None:
    """Return the calendar date of a cell, or None after saying why there is none or while it is asked."""
    if cell.kind == "empty":
        return None
    if cell.kind == "date" and cell.day:
        return cell.day
    if cell.kind == "number" and cell.number is not None and cell.number == cell.number.to_integral_value():
        return _serial_date(at, cell, report, epoch_1904=epoch_1904)
    if cell.kind == "formula":
        report.error(at, f"{at.field} is a formula without a stored value.", found="formula", expected="a date")
        return None
    if cell.kind != "text":
        report.must_be(at, cell.text, "a date such as 2027-12-31")
        return None
    reading = dates.read(cell.text)
    if reading.problem:
        report.error(at, f"{at.field} is “{cell.text}”. {reading.problem}", found=cell.text, expected="a date")
        return None
    if reading.ambiguous:
        return {True: reading.day_first, False: reading.month_first, None: None}[style.day_first]
    return reading.day_first or reading.month_first


def _serial_date(at: At, cell: Cell, report: Report, *, epoch_1904: bool) -> date | None:
    day = dates.from_serial(int(cell.number or 0), epoch_1904=epoch_1904) if at.table.medium == "xlsx" else None
    if day is None:
        report.must_be(at, cell.text, "a date such as 2027-12-31")
        return None
    answer = report.ask(
        f"serial:{at.ref}",
        about=f"{at.field} {cell.text}",
        cells=[at.ref],
        choices=[("date", day.isoformat()), ("none", "not given")],
        suggested="date",
        reason=f"“{cell.text}” is a plain number where a date belongs; as a spreadsheet's day number it is {day}.",
    )
    return day if answer == "date" else None


def choice(at: At, cell: Cell, report: Report, options: str) -> str | None:
    """Return the stored value for the words of a cell, or None after saying what would have been right."""
    if cell.kind == "empty":
        return None
    value = _LOOKUP[options].get(normal(cell.text)) if cell.kind in ("text", "boolean") else None
    if value is None:
        report.must_be(at, cell.text, "one of " + ", ".join(CHOICES[options]).replace("_", "-"))
    return value


def choice_quietly(text: str, options: str) -> str | None:
    return _LOOKUP[options].get(normal(text))


def flag(at: At, cell: Cell, report: Report) -> bool | None:
    """Return yes or no; None when empty or after an error."""
    if cell.kind == "empty":
        return None
    text = cell.text.casefold()
    if cell.kind in ("text", "boolean", "number") and text in YES | NO:
        return text in YES
    report.must_be(at, cell.text, "yes or no")
    return None


def currency_code(at: At, cell: Cell, report: Report) -> str | None:
    """Return the code of a currency cell; a symbol that stands for several is asked."""
    if cell.kind == "empty":
        return None
    codes = money.candidates(cell.text) if cell.kind == "text" else ()
    if not codes:
        report.must_be(at, cell.text, "a currency code such as USD or EUR")
        return None
    code = codes[0]
    if len(codes) > 1:
        code = ask_currency(at.field, cell.text, codes, [at.ref], report) or codes[0]
    if code in money.CLOSED:
        report.warn(
            at, f"currency {code} was replaced by {money.CLOSED[code]}; a new quote should not use it.", found=cell.text
        )
    return code


def ask_currency(name: str, mark: str, codes: tuple[str, ...], cells: list[str], report: Report) -> str | None:
    return report.ask(
        f"currency:{mark}",
        about=f"currency of “{mark}”",
        cells=cells,
        choices=[(code, code) for code in codes],
        suggested=codes[0],
        reason=f"“{mark}” stands for several currencies.",
    )


def text_value(cell: Cell) -> str:
    """The text of a cell. An apostrophe that keeps a spreadsheet from running a text is not part of it."""
    if cell.kind in ("empty", "formula"):
        return ""
    text = cell.text
    if len(text) > 1 and text[0] == "'" and text[1] in "=+-@\t\r":
        return text[1:]
    return text
