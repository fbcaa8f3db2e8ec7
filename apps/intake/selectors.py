"""Reads of imports and files: what may this user see, and what would an import change."""

from decimal import Decimal
from typing import Any

from apps.accounts.models import User
from apps.accounts.scoping import ClientScopedQuerySet
from apps.intake.models import ImportBatch, UploadedFile
from apps.vendors.models import QuoteLine, QuoteVersion
from apps.vendors.selectors import VersionDiff, diff_of_lines, quote_lines_of


def batches_visible_to(user: User) -> ClientScopedQuerySet[ImportBatch]:
    """Imports of the user's clients, newest first, with file and vendor."""
    return (
        ImportBatch.objects.visible_to(user)
        .select_related("file", "vendor", "client", "requested_by")
        .order_by("-created_at")
    )


def files_visible_to(user: User) -> ClientScopedQuerySet[UploadedFile]:
    """Files of the user's clients that were kept."""
    return UploadedFile.objects.visible_to(user).exclude(stored_name="").order_by("-created_at")


def earlier_version(batch: ImportBatch) -> QuoteVersion | None:
    """The version that this import would supersede, or None for a first one."""
    facts = batch.preview.get("target", {})
    return (
        QuoteVersion.objects.of_client(batch.client)
        .filter(quote__vendor__name=batch.vendor_name, quote__number=facts.get("number", ""))
        .exclude(pk=batch.quote_version_id)
        .select_related("quote__vendor")
        .order_by("-version")
        .first()
    )


def import_diff(batch: ImportBatch) -> VersionDiff | None:
    """What an import not yet committed would change against the version before; None where there is none."""
    earlier = earlier_version(batch)
    if earlier is None:
        return None
    return diff_of_lines(list(quote_lines_of(earlier)), [unsaved_line(line) for line in batch.preview.get("lines", [])])


def unsaved_line(line: dict[str, Any]) -> QuoteLine:
    """A previewed line as the row it would become, for comparison; it is not stored."""
    names = {field.name for field in QuoteLine._meta.fields} - {"id", "client", "quote_version"}
    values = {name: line[name] for name in names if line.get(name) is not None}
    for name, value in values.items():
        if QuoteLine._meta.get_field(name).get_internal_type() == "ExactDecimalField":
            values[name] = Decimal(str(value))
    return QuoteLine(**values)


def progress(batch: ImportBatch) -> dict[str, int]:
    """How many facts of the preview are ready, wrong, asked and not given, for the strip above the sheet."""
    preview = batch.preview
    wrong = {message["cell"] for message in preview.get("messages", []) if message["severity"] == "error"}
    asked = {cell for question in preview.get("questions", []) for cell in question["cells"]}
    given = 0
    for sheet in preview.get("sheets", []):
        header_row = sheet["header_row"] or 0
        for row in sheet["rows"]:
            given += sum(1 for text in row["cells"] if text) if row["row"] > header_row else 0
    missing = sum(1 for line in preview.get("lines", []) if line["unit_price_likely"] is None and not line["included"])
    return {
        "ready": max(0, given - len(wrong) - len(asked - wrong)),
        "errors": len(wrong),
        "asked": len(asked - wrong),
        "questions": len(preview.get("questions", [])),
        "not_given": missing,
    }
