"""Quantities that only a line's description names: storage capacity, write rate, link speed."""

import re
from decimal import Decimal
from typing import Any

from apps.intake.parsing import facts, numbers, units
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.values import Style


def converted(found: units.Found, style: Style) -> Decimal | None:
    """The quantity in its base unit; None if its number does not fit the file's style."""
    value = numbers.read(found.body, style.decimal or ".")
    return None if value is None else value * found.factor


def from_text(at: At, line: dict[str, Any], style: Style, report: Report) -> None:
    """Fill capacity and write rate of a storage line from its unit or description, where no column gives them."""
    per_unit = units.CAPACITY_UNITS_TB.get(re.split(r"[-/ ]", line["unit"].casefold())[0])
    quantity = line["quantity"]
    if line["capacity_tb"] is None and per_unit is not None:
        line["capacity_tb"] = quantity * per_unit
    found = units.capacities(line["description"])
    if line["capacity_tb"] is None and found:
        line["capacity_tb"] = _times(at, _one_of(at, found, "TB", "capacity", style, report), quantity, report)
    writes = units.write_rates(line["description"])
    if line["write_gbyte_per_s"] is None and writes:
        rate = _one_of(at, writes, "GB/s", "write rate", style, report)
        line["write_gbyte_per_s"] = rate if per_unit is not None else _times(at, rate, quantity, report)


def _one_of(at: At, found: list[units.Found], unit: str, what: str, style: Style, report: Report) -> Decimal | None:
    """The one value that the description names; several are asked."""
    readings = {f"{item.body} {item.unit}": converted(item, style) for item in found}
    known = {text: value for text, value in readings.items() if value is not None}
    if len(set(known.values())) <= 1:
        return next(iter(known.values()), None)
    answer = report.ask(
        f"{what}:{at.ref}",
        about=f"{at.where}, {what}",
        cells=[at.ref],
        choices=[
            *((text, f"{text} = {numbers.shortest(value)} {unit}") for text, value in known.items()),
            ("", "not given"),
        ],
        suggested=None,
        reason=f"The description names more than one {what}.",
    )
    return known.get(answer or "")


def _times(at: At, value: Decimal | None, quantity: Decimal, report: Report) -> Decimal | None:
    """The value of the whole line; whether the text speaks of one unit or of all is asked where they differ."""
    if value is None or quantity in (0, 1):
        return value
    answer = report.ask(
        f"each:{at.ref}",
        about=f"{at.where}, capacity and rate of {numbers.shortest(quantity)} units",
        cells=[at.ref],
        choices=[("each", "each unit has it"), ("all", "all units together have it")],
        suggested="each",
        reason="The description names a capacity or a rate and the quantity is not 1.",
    )
    return value if answer == "all" else value * quantity


def note_link_rates(lines: list[dict[str, Any]], style: Style, report: Report) -> None:
    """Read link speeds from the descriptions of network lines; rates that only make sense in bits are asked once."""
    found: dict[str, tuple[units.Found, list[dict[str, Any]]]] = {}
    for line in lines:
        text = line["description"]
        ports = line["kind"] == "compute" and re.search(
            r"\b(nic|nics|port|ports|ethernet|infiniband)\b", text.casefold()
        )
        if line["kind"] != "fabric" and not ports:
            continue
        for item in units.link_rates(text)[:1]:
            found.setdefault(f"{item.body} {item.unit}", (item, []))[1].append(line)
    for item, group in found.values():
        value = numbers.read(item.body, style.decimal or ".")
        if value is not None:
            cells = [line["refs"].get("description", "") for line in group]
            speed = facts.link_speed(value, item, cells, report)
            for line in group:
                line["link_gbit_per_s"] = numbers.shortest(speed)
