"""What changed between two versions of a quote, line by line."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from apps.reports import figures
from apps.vendors.models import QuoteLine, QuoteVersion


@dataclass(frozen=True)
class Difference:
    label: str
    before: str
    after: str
    change: str
    note: str = ""


@dataclass(frozen=True)
class VersionDiff:
    """Two versions of one quote; `total` is what the one-off lines add up to, when both have one currency."""

    vendor: str
    before: QuoteVersion
    after: QuoteVersion
    n_lines: int
    n_changed: int
    rows: list[Difference]
    total: Difference | None


def version_diff(before: QuoteVersion, after: QuoteVersion) -> VersionDiff:
    """Lines are matched by kind, description and unit; terms by name."""
    old, new = _by_name(before.lines.all()), _by_name(after.lines.all())
    names = list(dict.fromkeys([*old, *new]))
    rows = [row for name in names for row in _line_differences(name, old.get(name), new.get(name))]
    changed = sum(1 for name in names if _facts(old.get(name)) != _facts(new.get(name)))
    return VersionDiff(
        vendor=after.quote.vendor.name,
        before=before,
        after=after,
        n_lines=len(names),
        n_changed=changed,
        rows=[*rows, *_term_differences(before, after)],
        total=_total(before, after),
    )


def _by_name(lines: Iterable[QuoteLine]) -> dict[tuple[str, ...], QuoteLine]:
    found: dict[tuple[str, ...], QuoteLine] = {}
    for line in sorted(lines, key=lambda item: item.position):
        name: tuple[str, ...] = (line.kind, line.description, line.unit)
        while name in found:
            name = (*name, "again")
        found[name] = line
    return found


def _facts(line: QuoteLine | None) -> tuple[object, ...]:
    if line is None:
        return ()
    return (line.quantity, line.unit_price_low, line.unit_price_likely, line.unit_price_high, line.discount_fraction)


def _line_differences(name: tuple[str, ...], old: QuoteLine | None, new: QuoteLine | None) -> list[Difference]:
    label = name[1]
    if old is None or new is None:
        there = old or new
        assert there is not None
        word = _("new") if old is None else _("gone")
        amount = figures.plain(there.quantity)
        return [Difference(label, "" if old is None else amount, amount if old is None else "", word)]
    rows = []
    if old.quantity != new.quantity:
        rows.append(_number(label, old.quantity, new.quantity, ""))
    if old.unit_price_likely != new.unit_price_likely:
        rows.append(_number(_("%s, unit price") % label, old.unit_price_likely, new.unit_price_likely, new.currency))
    return rows


def _number(label: str, before: Decimal | None, after: Decimal | None, unit: str) -> Difference:
    change, note = "", ""
    if before is not None and after is not None:
        change = figures.plain(after - before)
        change = change if after < before else f"+{change}"
        if unit and before:
            word = _("better") if after < before else _("worse")
            note = f"{figures.percent((after - before) / before, 1, sign=True)} {word}"
    return Difference(label, figures.plain(before), figures.plain(after), change, note)


def _term_differences(before: QuoteVersion, after: QuoteVersion) -> list[Difference]:
    rows = []
    for name, label in (("lead_weeks_likely", _("Lead time, weeks")), ("acceptance_weeks", _("Acceptance, weeks"))):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            rows.append(_number(label, old, new, ""))
    if before.valid_until != after.valid_until:
        rows.append(Difference(_("Valid until"), figures.day(before.valid_until), figures.day(after.valid_until), ""))
    old_fabric, new_fabric = before.fabric or {}, after.fabric or {}
    for name in sorted({*old_fabric, *new_fabric}):
        old_value, new_value = (_text(fabric.get(name)) for fabric in (old_fabric, new_fabric))
        if old_value != new_value:
            rows.append(Difference(name.replace("_", " ").capitalize(), old_value, new_value, ""))
    return rows


def _text(entry: object) -> str:
    value = entry.get("value") if isinstance(entry, dict) else entry
    return figures.not_given() if value in (None, "") else str(value)


def _total(before: QuoteVersion, after: QuoteVersion) -> Difference | None:
    sums = [_one_off(version) for version in (before, after)]
    if sums[0] is None or sums[1] is None or before.currency != after.currency:
        return None
    difference = sums[1] - sums[0]
    word = _("better") if difference < 0 else _("worse")
    note = f"{figures.percent(difference / sums[0], 1, sign=True)} {word}" if sums[0] and difference else ""
    label = _("Paid once, k %s") % after.currency
    change = figures.thousands(difference, sign=True) if difference else _("equal")
    return Difference(label, figures.thousands(sums[0]), figures.thousands(sums[1]), change, note)


def _one_off(version: QuoteVersion) -> Decimal | None:
    """The sum of the one-off lines after discount; None when a price is missing or currencies differ."""
    total = Decimal(0)
    for line in version.lines.all():
        if line.charge != QuoteLine.Charge.ONE_OFF or line.included or line.percent_of:
            continue
        if line.unit_price_likely is None or line.currency != version.currency:
            return None
        total += line.quantity * line.unit_price_likely * (1 - line.discount_fraction)
    return total
