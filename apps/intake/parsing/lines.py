"""The lines of a quote: each row below the header becomes one priced line, or a message that says why not."""

import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any

from apps.intake.parsing import capacity, facts, limits, line_checks, numbers, time_units, units, values
from apps.intake.parsing.currencies import Currencies
from apps.intake.parsing.fields import CHOICES, INCLUDED, KIND_WORDS, LINE_FIELDS, PRICES
from apps.intake.parsing.mapping import Header, normal
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Cell, Table
from apps.intake.parsing.values import Style

_TOTAL = re.compile(
    r"(grand |sub ?|net |gross |quote |order )*(total|sum)( (price|net|gross|amount|excl.*|ht|ttc))?"
    r"|(zwischen|gesamt|end)?summe( netto)?|gesamt(betrag|preis)?|(sous )?total( ht| ttc)?|montant total"
)
# Texts of a line and the characters that the database has for them.
_TEXT_FIELDS = {"description": 10_000, "part_number": 200, "comparison_key": 80, "unit": 60}
_SOURCE_CHARACTERS = 100
_MERGED_ONCE = ("quantity", *PRICES, "line_total")


@dataclass(slots=True)
class Lines:
    """What the rows gave: priced lines, total rows found, facts of the whole quote that stood on every line."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    totals: list[tuple[int, str, dict[str, tuple[At, Decimal]]]] = field(default_factory=list)
    shared: dict[str, list[tuple[At, Cell]]] = field(default_factory=dict)


class LineReader:
    """Reads the rows of one table with one header, one style and one set of answers."""

    def __init__(self, table: Table, header: Header, style: Style, report: Report, currencies: Currencies) -> None:
        self.table, self.header, self.style, self.report = table, header, style, report
        self.currencies = currencies
        self.contract_months: Decimal | None = None  # the term of the quote
        self.per_node: tuple[str, str] | None = None  # accelerators of a node, and where that stands
        self.scale = self._scales()
        self.result = Lines()

    def read(self) -> Lines:
        """Return all lines; rows that are no line are named."""
        rows = [row for row in sorted(self.table.rows) if row > self.header.row and self._filled(row)]
        hidden = self._take_hidden([row for row in rows if row in self.table.hidden_rows])
        for row in rows:
            if row in self.table.hidden_rows and not hidden:
                continue
            if self._is_total(row):
                self._note_total(row)
            elif self._is_header_again(row):
                self.report.info(At(self.table, row), "The header stands here again; the row is not imported.")
            elif len(texts := self._texts(row)) == 1 and self.table.medium != "json":
                self.report.warn(
                    At(self.table, row), f"The row holds only “{texts[0][:80]}”; it is a heading or note, not imported."
                )
            else:
                self.result.lines.append(self._line(row))
            if len(self.result.lines) > limits.LINES:
                self.report.error(None, f"The file has more than {limits.LINES:,} lines; that is the limit.")
                break
        return self.result

    # rows ---------------------------------------------------------------------------------------------------------

    def _filled(self, row: int) -> bool:
        return any(cell.kind != "empty" for cell in self.table.rows[row].values())

    def _texts(self, row: int) -> list[str]:
        return [cell.text for cell in self.table.rows[row].values() if cell.kind != "empty"]

    def _take_hidden(self, rows: list[int]) -> bool:
        if not rows:
            return True
        named = ", ".join(f"row {row}" for row in rows[:10])
        answer = self.report.ask(
            "hidden_rows",
            about=f"hidden rows of {self.table.name}: {named}",
            cells=[f"{self.table.name}!{row}" for row in rows],
            choices=[("import", "import the hidden rows too"), ("leave_out", "leave them out")],
            suggested="import",
            reason=f"{named} {'is' if len(rows) == 1 else 'are'} hidden in the workbook and may hold costs.",
        )
        return answer != "leave_out"

    def _is_total(self, row: int) -> bool:
        if self._cell(row, "kind").kind != "empty" and self._cell(row, "quantity").kind != "empty":
            return False
        return any(
            cell.kind == "text" and _TOTAL.fullmatch(normal(cell.text).rstrip(": "))
            for cell in self.table.rows[row].values()
        )

    def _note_total(self, row: int) -> None:
        found = {}
        for name in ("line_total", *PRICES):
            cell = self._cell(row, name)
            if cell.kind in ("number", "text"):
                amount = values.number(self._at(row, name), cell, self.style, self.report)
                if amount is not None:
                    found[name] = (self._at(row, name), amount.value * self._factor(name))
        self.result.totals.append((row, " ".join(self._texts(row))[:60], found))

    def _is_header_again(self, row: int) -> bool:
        return [cell.text for cell in self.table.rows[row].values()] == [
            cell.text for cell in self.table.rows[self.header.row].values()
        ]

    # cells --------------------------------------------------------------------------------------------------------

    def _at(self, row: int, name: str) -> At:
        return At(self.table, row, self.header.fields.get(name), name)

    def _cell(self, row: int, name: str) -> Cell:
        column = self.header.fields.get(name)
        return self.table.cell(row, column) if column else Cell("empty")

    def _scales(self) -> dict[str, Decimal]:
        """Factor 1000 for columns whose heading says thousands, once that is confirmed."""
        scales = {}
        for name, column in self.header.fields.items():
            if column in self.header.thousands and LINE_FIELDS[name].kind == "money":
                heading = self.table.cell(self.header.row, column).text
                answer = self.report.ask(
                    f"scale:{name}",
                    about=f"scale of the column “{heading[:60]}”",
                    cells=[self.table.ref(self.header.row, column)],
                    choices=[("1000", "values are in thousands"), ("1", "values are as written")],
                    suggested="1000",
                    reason="The heading seems to say thousands.",
                )
                scales[name] = Decimal(answer or 1000)
        return scales

    def _factor(self, name: str) -> Decimal:
        return self.scale.get(name, Decimal(1))

    # one line -----------------------------------------------------------------------------------------------------

    def _line(self, row: int) -> dict[str, Any]:
        self._check_width(row)
        line: dict[str, Any] = {"position": len(self.result.lines) + 1, "row": row}
        for name in _TEXT_FIELDS:
            line[name] = self._text(row, name)
        line["source_ref"] = self._text(row, "source_ref") or self.table.where(row, None)[:100]
        if not line["description"]:
            line["description"] = line["part_number"]
        if not line["description"]:
            self.report.must_be(self._at(row, "description"), "", "a text")
        line["kind"] = self._kind(row, line["description"], line["unit"])
        line["charge"], line["period"] = self._charge(row, line["unit"])
        for name in ("evidence_level", "starts"):
            line[name] = values.choice(self._at(row, name), self._cell(row, name), self.report, name) or ""
        line["included"] = bool(values.flag(self._at(row, "included"), self._cell(row, "included"), self.report))
        self._amounts(row, line)
        self._shares(row, line)
        self._numbers(row, line)
        self._remember_shared(row)
        self._settle(row, line)
        line["refs"] = {
            name: self.table.ref(row, column)
            for name, column in self.header.fields.items()
            if self.table.cell(row, column).kind != "empty"
        }
        if line["term_months"] is not None:  # a term that the quantity counted stands where the quantity does
            line["refs"].setdefault("term_months", self._at(row, "quantity").ref)
        line_checks.check_size(At(self.table, row, self.header.fields.get("quantity"), "quantity"), line, self.report)
        return {name: _shown(value) for name, value in line.items()}

    def _check_width(self, row: int) -> None:
        if self.table.medium != "csv":
            return
        width, found = max(self.table.rows[self.header.row]), max(self.table.rows[row])
        if (found != width and any(column > width for column in self._columns(row))) or found < width:
            few = "fewer" if found < width else "more"
            self.report.error(
                At(self.table, row),
                f"The row has {found} cells, {few} than the header's {width} columns; a value may be misplaced.",
                found=str(found),
                expected=str(width),
            )

    def _columns(self, row: int) -> list[int]:
        return [column for column, cell in self.table.rows[row].items() if cell.kind != "empty"]

    def _text(self, row: int, name: str) -> str:
        cell = self._cell(row, name)
        if cell.kind in ("error", "object"):
            self.report.must_be(self._at(row, name), cell.text, "a text")
            return ""
        text = values.text_value(cell)
        most = _TEXT_FIELDS.get(name, _SOURCE_CHARACTERS)
        if len(text) > most:
            self.report.must_be(self._at(row, name), text, f"at most {most} characters")
            return ""
        return text

    def _kind(self, row: int, description: str, unit: str) -> str:
        at, cell = self._at(row, "kind"), self._cell(row, "kind")
        if cell.kind != "empty":
            return values.choice(at, cell, self.report, "kind") or ""
        text = f" {description} {unit} ".casefold()
        suggested = next((kind for kind, words in KIND_WORDS if any(word in text for word in words.split("|"))), None)
        place = self._at(row, "kind" if at.column else "description")
        if suggested and not at.column:
            self.report.warn(place, f"kind is not given; “{description[:60]}” is taken as {suggested}.")
            return suggested
        return (
            self.report.ask(
                f"kind:{self.table.where(row, None)}",
                about=f"{self.table.where(row, place.column)}, kind of “{description[:60]}”",
                cells=[place.ref],
                choices=[(kind, kind) for kind in CHOICES["kind"]],
                suggested=suggested,
                reason="The kind of the line is not given.",
            )
            or ""
        )

    def _charge(self, row: int, unit: str) -> tuple[str, str]:
        """One-off or recurring, and per what; either column may say both."""
        charge_cell, period_cell = self._cell(row, "charge"), self._cell(row, "period")
        charge = values.choice_quietly(charge_cell.text, "charge") if charge_cell.kind == "text" else None
        period = values.choice_quietly(period_cell.text, "period") if period_cell.kind == "text" else None
        if charge_cell.kind != "empty" and charge is None:
            period = period or values.choice_quietly(charge_cell.text, "period")
            if period is None:
                values.choice(self._at(row, "charge"), charge_cell, self.report, "charge")
                return "", ""
        if period_cell.kind != "empty" and period is None:
            charge = charge or values.choice_quietly(period_cell.text, "charge")
            if values.choice_quietly(period_cell.text, "charge") is None:
                values.choice(self._at(row, "period"), period_cell, self.report, "period")
                return charge or "", ""
        charge = charge or ("recurring" if period else self._assumed_charge(row, unit))
        if charge == "one_off" and period:
            self.report.must_be(
                self._at(row, "period"), period_cell.text or charge_cell.text, "empty for a one-off line"
            )
        if charge == "recurring" and not period:
            period = self._ask_period(row, unit)
        return charge, period or ""

    def _assumed_charge(self, row: int, unit: str) -> str:
        by_unit = self._period_of_unit(unit)
        if by_unit:
            self.report.warn(
                self._at(row, "unit"), f"One-off or recurring is not given; the unit “{unit}” makes it recurring."
            )
            return "recurring"
        return (
            self.report.ask(
                "charge",
                about="one-off or recurring",
                cells=[],
                choices=[("one_off", "one-off"), ("recurring", "recurring")],
                suggested="one_off",
                reason="Lines do not say whether their price is paid once or again and again.",
            )
            or "one_off"
        )

    def _period_of_unit(self, unit: str) -> str | None:
        found = time_units.find(unit)
        return found.name if found and found.name in ("hour", "month", "year") else None

    def _ask_period(self, row: int, unit: str) -> str | None:
        at = self._at(row, "period" if "period" in self.header.fields else "charge")
        return self.report.ask(
            f"period:{self.table.where(row, None)}",
            about=f"{at.where}, period of the recurring charge",
            cells=[at.ref],
            choices=[("hour", "per hour"), ("month", "per month"), ("year", "per year")],
            suggested=self._period_of_unit(unit),
            reason="A recurring price needs its period.",
        )

    # amounts ------------------------------------------------------------------------------------------------------

    def _amounts(self, row: int, line: dict[str, Any]) -> None:
        quantity = self._quantity(row, line)
        marks: list[tuple[At, str]] = []
        percent = False
        for name in PRICES:
            self._note_merged(row, name)
            cell, at = self._cell(row, name), self._at(row, name)
            line[name] = None
            if cell.kind == "text" and normal(cell.text).replace(".", "") in INCLUDED:
                line["included"] = True
                continue
            amount = values.number(at, cell, self.style, self.report)
            if amount is None:
                continue
            if cell.external:
                self.report.warn(
                    at,
                    f"{at.ref} takes its value from another workbook through a link; the stored value is used.",
                    found=cell.text,
                )
            if amount.currency:
                marks.append((at, amount.currency))
            percent = percent or amount.percent
            line[name] = self._scaled(amount, cell, name)
        line["percent_of"] = self._percent_of(row, line, quantity, percent=percent)
        if line["percent_of"] and not percent:
            line_checks.ask_small_percent(self._at(row, "unit_price_likely"), line, self.report)
        line["currency"] = self._currency(row, marks)
        if line["percent_of"] and line["unit_price_likely"] is None and quantity is not None:
            line["unit_price_likely"], quantity = quantity, Decimal(1)
        line["quantity"] = quantity if quantity is not None else Decimal(0)
        self._check_prices(row, line)

    def _scaled(self, amount: values.Amount, cell: Cell, name: str) -> Decimal:
        if amount.percent:
            return amount.value * 100 if cell.kind == "number" else amount.value
        return amount.value * self._factor(name)

    def _quantity(self, row: int, line: dict[str, Any]) -> Decimal | None:
        self._note_merged(row, "quantity")
        at, cell = self._at(row, "quantity"), self._cell(row, "quantity")
        if cell.kind == "text":
            cell = self._split_quantity(cell, line)
        if cell.kind == "empty":
            self.report.must_be(at, "", "a number of 0 or more")
            return None
        amount = values.number(at, cell, self.style, self.report, expected="a number of 0 or more")
        if amount is None:
            return None
        if amount.value < 0:
            self.report.must_be(at, cell.text, "a number of 0 or more")
            return None
        if amount.value == 0:
            self.report.warn(at, "quantity is 0; the line costs nothing.")
        return amount.value

    def _split_quantity(self, cell: Cell, line: dict[str, Any]) -> Cell:
        """16 nodes in a quantity cell is 16 with the unit node."""
        found = re.fullmatch(r"([\d.,]+)\s*([^\W\d_]{2,20}|%)\.?", cell.text)
        if not found or line["unit"]:
            return cell
        line["unit"] = found[2]
        return Cell("text", found[1], corrected=True)

    def _currency(self, row: int, marks: list[tuple[At, str]]) -> str:
        cell = self._cell(row, "currency")
        code = values.currency_code(self._at(row, "currency"), cell, self.report)
        if code is None and cell.kind != "empty":
            return ""  # said above
        heading = self.header.currencies.get(self.header.fields.get("unit_price_likely", 0))
        return self.currencies.of_row(self._at(row, "unit_price_likely"), code, marks, heading)

    def _percent_of(self, row: int, line: dict[str, Any], quantity: Decimal | None, *, percent: bool) -> str:
        """What a price in percent is a share of; empty for ordinary lines."""
        cell = self._cell(row, "percent_of")
        if cell.kind != "empty":
            return values.choice(self._at(row, "percent_of"), cell, self.report, "percent_of") or ""
        of = re.fullmatch(r"(?:percent|%) (?:of|von|de) (.+)", normal(line["unit"]))
        if of and (value := values.choice_quietly(of[1], "percent_of")):
            return value
        if not percent and normal(line["unit"]) not in ("percent", "percent of", "percent von"):
            return ""
        text = line["description"].casefold()
        suggested = next((kind for kind in ("compute", "fabric", "storage") if kind in text), "hardware")
        at = self._at(row, "unit" if self.header.fields.get("unit") else "unit_price_likely")
        share = line["unit_price_likely"] if line["unit_price_likely"] is not None else quantity
        shown = "?" if share is None else numbers.shortest(share)
        return (
            self.report.ask(
                f"percent_of:{self.table.where(row, None)}",
                about=f"{at.where}: {shown} % of what, for “{line['description'][:60]}”",
                cells=[at.ref],
                choices=[
                    (kind, f"{kind} price" if kind != "hardware" else "all hardware") for kind in CHOICES["percent_of"]
                ],
                suggested=suggested,
                reason="The line is a percentage but does not say of what.",
            )
            or suggested
        )

    def _check_prices(self, row: int, line: dict[str, Any]) -> None:
        given = [(name, line[name]) for name in PRICES if line[name] is not None]
        amounts = [value for _, value in given]
        if amounts != sorted(amounts):
            shown = ", ".join(f"{name[11:]} {numbers.shortest(value)}" for name, value in given)
            self.report.error(
                self._at(row, given[0][0]), f"The unit prices must rise from low over likely to high, but are: {shown}."
            )
        line_checks.note_one_sided(self._at(row, given[0][0] if given else ""), line, self.report)
        if given and self._cell(row, "unit_price_likely").kind == "empty":
            self.report.must_be(self._at(row, "unit_price_likely"), "", "given where low or high is given")
        if not given and not line["included"]:
            self.report.warn(self._at(row, "unit_price_likely"), "The line has no price; it is stored as not given.")
        likely = line["unit_price_likely"]
        if likely is None:
            return
        if line["percent_of"] and not 0 <= likely <= 100:
            self.report.must_be(
                self._at(row, "unit_price_likely"), numbers.shortest(likely), "between 0 and 100 percent"
            )
        elif likely == 0 and not line["included"]:
            self.report.warn(
                self._at(row, "unit_price_likely"), "The price is 0, not empty: the line is free of charge."
            )
        elif likely < 0:
            self.report.info(self._at(row, "unit_price_likely"), "A negative price: the line is a credit.")
        elif not line["percent_of"]:
            line_checks.ask_band(self._at(row, "unit_price_likely"), line, self.report)

    def _note_merged(self, row: int, name: str) -> None:
        cell = self._cell(row, name)
        if not cell.merged or name not in _MERGED_ONCE:
            return
        at = self._at(row, name)
        answer = self.report.ask(
            f"merged:{cell.merged}",
            about=f"merged cell {self.table.name}!{cell.merged}, {name} {cell.text}",
            cells=[at.ref],
            choices=[("each", "holds for each row"), ("first", "stands once, for the first row")],
            suggested=None,
            reason="One value covers several rows.",
        )
        if answer == "first" and row != int(re.sub(r"\D", "", cell.merged.partition(":")[0])):
            self.table.rows[row][at.column or 0] = Cell("empty")

    # shares, numbers, checks --------------------------------------------------------------------------------------

    def _shares(self, row: int, line: dict[str, Any]) -> None:
        for name, target in (("discount", "discount_fraction"), ("escalation_fraction_per_year",) * 2):
            column = self.header.fields.get(name, 0)
            line[target] = values.fraction(
                self._at(row, name),
                self._cell(row, name),
                self.style,
                self.report,
                says_percent=column in self.header.percent,
                says_fraction=column in self.header.fraction,
            )
        if line["discount_fraction"] is None:
            line["discount_fraction"] = Decimal(0)

    def _numbers(self, row: int, line: dict[str, Any]) -> None:
        for name in ("start_month", "term_months", "capacity_tb", "write_gbyte_per_s"):
            cell, at = self._cell(row, name), self._at(row, name)
            if cell.kind == "text" and name in ("capacity_tb", "write_gbyte_per_s"):
                found = units.capacities(cell.text) if name == "capacity_tb" else units.rates(cell.text)
                line[name] = capacity.converted(found[0], self.style) if found else None
                if found:
                    continue
            amount = values.number(at, cell, self.style, self.report)
            shown = facts.in_band(at, amount.value, LINE_FIELDS[name], self.report) if amount else None
            line[name] = Decimal(shown) if shown is not None else None

    def _settle(self, row: int, line: dict[str, Any]) -> None:
        """What quantity and unit mean together, when all cells of the line are read."""
        total, at = self._total(row), self._at(row, "quantity")
        place = partial(self._at, row)
        months = self.contract_months
        sound = time_units.normalise(place, line, self.report, total=total, contract_months=months)
        if sound and self._cell(row, "quantity").kind != "empty":
            line_checks.check_percent_quantity(at, line, self.report)
        unit_at = self._at(row, "unit" if "unit" in self.header.fields else "quantity")
        line_checks.check_hourly_unit(unit_at, line, self.report, self.per_node)
        if line["kind"] == "storage":
            capacity.from_text(self._at(row, "description"), line, self.style, self.report)
        if total is not None and not line["percent_of"] and line["unit_price_likely"] is not None:
            line_checks.compare_total(self._at(row, "line_total"), total, line, self.report)

    def _total(self, row: int) -> Decimal | None:
        cell, at = self._cell(row, "line_total"), self._at(row, "line_total")
        amount = values.number(at, cell, self.style, self.report) if cell.kind in ("number", "text") else None
        return amount.value * self._factor("line_total") if amount else None

    def _remember_shared(self, row: int) -> None:
        for name in ("valid_until", "quote_number", "vendor"):
            cell = self._cell(row, name)
            if cell.kind != "empty":
                self.result.shared.setdefault(name, []).append((self._at(row, name), cell))


def majority_currency(lines: list[dict[str, Any]]) -> list[str]:
    """The currencies of the lines, the commonest first."""
    counts = Counter(line["currency"] for line in lines if line["currency"])
    return [code for code, _ in counts.most_common()]


def _shown(value: Any) -> Any:
    return numbers.plain(value) if isinstance(value, Decimal) else value
