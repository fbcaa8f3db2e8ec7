"""What an import changes, or would change, against the version of the quote before it."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from apps.intake import selectors
from apps.intake.models import ImportBatch
from apps.intake.parsing.fields import LINE_FIELDS, QUOTE_FIELDS
from apps.reports import figures
from apps.vendors.models import QuoteLine, QuoteVersion
from apps.vendors.selectors import LineDiff, VersionDiff, diff_of_lines, quote_lines_of


@dataclass(frozen=True)
class Change:
    label: str
    place: str
    old: str
    new: str
    change: str
    total: bool = False


def made_by(batch: ImportBatch) -> QuoteVersion | None:
    """The version that a stored import has made."""
    if batch.state != ImportBatch.State.COMMITTED:
        return None
    return QuoteVersion.objects.of_client(batch.client).filter(pk=batch.quote_version_id).first()


def before(made: QuoteVersion) -> QuoteVersion | None:
    """The version that it superseded."""
    versions = QuoteVersion.objects.of_client(made.client).filter(quote_id=made.quote_id, version__lt=made.version)
    return versions.select_related("quote__vendor", "client").order_by("-version").first()


def diff_of(batch: ImportBatch, earlier: QuoteVersion) -> VersionDiff:
    """The lines of an import, stored or not, against those of a version."""
    lines = [selectors.unsaved_line(line) for line in batch.preview.get("lines", [])]
    return diff_of_lines(list(quote_lines_of(earlier)), lines)


def changed_cells(lines: list[dict[str, Any]], diff: VersionDiff) -> set[str]:
    """The cells of lines whose value differs from the version before."""
    by_position = {line["position"]: line for line in lines}
    found: set[str] = set()
    for line in diff.lines:
        if line.new is None or line.new.position not in by_position:
            continue
        refs = by_position[line.new.position].get("refs", {})
        names = [change.field for change in line.changes] if line.state == "changed" else []
        names = ["description"] if line.state == "added" else names
        found |= {refs[name] for name in names if name in refs}
    return found


def changes_of(batch: ImportBatch, earlier: QuoteVersion, diff: VersionDiff) -> list[Change]:
    """Rows for the table under the sheet: lines and facts that differ, then the sum of what is paid once."""
    lines = {line["position"]: line for line in batch.preview.get("lines", [])}
    rows = [row for line in diff.lines for row in _rows_of(line, lines)]
    rows += _fact_changes(batch, earlier)
    total = _total(batch, earlier, diff)
    return [*rows, total] if total else rows


def _rows_of(line: LineDiff, lines: dict[int, dict[str, Any]]) -> list[Change]:
    old, new = line.old, line.new
    if new is None:
        return [Change(old.description, "", figures.plain(old.quantity), "", _("line is gone"))] if old else []
    found = lines.get(new.position, {})
    if old is None:
        label = new.description or _("no description")
        return [Change(label, found.get("source_ref", ""), "", figures.plain(new.quantity), _("new line"))]
    refs = found.get("refs", {})
    return [_line_change(new, change, refs.get(change.field, "")) for change in line.changes]


def _line_change(line: QuoteLine, change: Any, place: str) -> Change:
    label = line.description
    if change.field != "quantity":
        known = LINE_FIELDS.get(change.field)
        label = f"{label}, {(known.label if known else change.field.replace('_', ' ')).lower()}"
    return Change(label, place, _words(change.old), _words(change.new), _difference(change.old, change.new))


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None or value == "":
        return figures.not_given()
    return figures.plain(value) if isinstance(value, Decimal | int) else str(value)


def _difference(old: Any, new: Any) -> str:
    if not (isinstance(old, Decimal) and isinstance(new, Decimal)):
        return ""
    sign = "+" if new > old else ""
    return f"{sign}{figures.plain(new - old)}"


def _fact_changes(batch: ImportBatch, earlier: QuoteVersion) -> list[Change]:
    """Facts of the quote, its terms and its fabric that differ, also those that are no longer given."""
    rows = []
    for name, definition in QUOTE_FIELDS.items():
        if name in ("vendor", "quote_number", "date"):
            continue
        entry = batch.preview.get(definition.section, {}).get(name, {})
        old, new = _stored_fact(earlier, name), entry.get("value")
        if _comparable(old) != _comparable(new):
            rows.append(Change(definition.label, entry.get("ref", ""), _fact_words(old), _fact_words(new), ""))
    return rows


def _stored_fact(version: QuoteVersion, name: str) -> Any:
    if hasattr(version, name):
        return getattr(version, name)
    entry = (version.terms or {}).get(name) or (version.fabric or {}).get(name)
    return entry.get("value") if isinstance(entry, dict) else entry


def _fact_words(value: Any) -> str:
    if isinstance(value, list) and value:
        return ", ".join(f"{figures.percent(Decimal(str(part['share'])), 0)} {part['anchor']}" for part in value)
    return _words(value if value != [] else None)


def _comparable(value: Any) -> Any:
    if value is None or value in ("", []):
        return None
    if isinstance(value, bool):
        return value
    try:
        return Decimal(str(value))
    except ArithmeticError:
        return str(value)


def _total(batch: ImportBatch, earlier: QuoteVersion, diff: VersionDiff) -> Change | None:
    """What is paid once, before and after; open while a price is still to be corrected."""
    old = _paid_once([line.old for line in diff.lines if line.old is not None], earlier.currency)
    if old is None:
        return None
    wrong = batch.preview.get("outcome") == "reject" or batch.preview.get("questions")
    new = _paid_once([line.new for line in diff.lines if line.new is not None], earlier.currency)
    label = _("Paid once, k %s") % earlier.currency
    if wrong or new is None:
        return Change(label, "", figures.thousands(old), _("open"), _("open"), total=True)
    difference = new - old
    change = figures.thousands(difference, sign=True) if difference else _("equal")
    return Change(label, "", figures.thousands(old), figures.thousands(new), change, total=True)


def _paid_once(lines: list[QuoteLine], currency: str) -> Decimal | None:
    total = Decimal(0)
    for line in lines:
        if line.charge != QuoteLine.Charge.ONE_OFF or line.included or line.percent_of:
            continue
        if line.unit_price_likely is None or line.currency != currency:
            return None
        total += line.quantity * line.unit_price_likely * (1 - (line.discount_fraction or Decimal(0)))
    return total
