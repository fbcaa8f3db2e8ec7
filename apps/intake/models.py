"""Files that came in, what was read from them, and what became of it."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.scoping import ClientOwned
from apps.vendors.models import Vendor


class UploadedFile(ClientOwned):
    """A file as it came, unchanged, under a generated name outside the web root."""

    original_name = models.CharField(_("file name"), max_length=255)  # cleaned; shown, never used as a path
    sha256 = models.CharField(max_length=64, db_index=True)
    size_bytes = models.PositiveBigIntegerField()
    content_type = models.CharField(max_length=100)  # found in the content, not told by the name
    stored_name = models.CharField(max_length=100)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")


class ImportBatch(ClientOwned):
    """One import: parsed, previewed, committed in one transaction, undone as a whole."""

    class State(models.TextChoices):
        REFUSED = "refused", _("refused")
        QUESTIONS = "questions", _("questions open")
        READY = "ready", _("ready to import")
        COMMITTED = "committed", _("imported")
        UNDONE = "undone", _("undone")
        CANCELLED = "cancelled", _("cancelled")

    kind = models.CharField(max_length=20)  # quote_csv, quote_xlsx, quote_json
    state = models.CharField(max_length=12, choices=State)
    file = models.ForeignKey(UploadedFile, on_delete=models.PROTECT, related_name="batches")
    assessment_id = models.UUIDField(null=True, blank=True)
    vendor = models.ForeignKey(Vendor, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    vendor_name = models.CharField(_("vendor"), max_length=200, blank=True)
    preview = models.JSONField(default=dict)  # docs/import.md: the parsed quote, messages, questions, cells
    answers = models.JSONField(default=dict)  # question id -> chosen reading; "Lines!F9" -> corrected text
    quote_version_id = models.UUIDField(null=True, blank=True)  # what the commit made
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    committed_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)


class ColumnMapping(ClientOwned):
    """Which of a vendor's own column headings means which of our fields; remembered after the first import."""

    vendor_name = models.CharField(max_length=200)
    header_sha256 = models.CharField(max_length=64)
    mapping = models.JSONField()  # {"Qty": "quantity", "Remark": null}

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "vendor_name", "header_sha256"], name="one_mapping_per_header")
        ]
