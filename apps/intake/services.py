"""Imports: parsed and previewed, answered, committed in one transaction, undone as a whole."""

import hashlib
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import Client, User
from apps.accounts.permissions import Actor, require
from apps.accounts.services import record
from apps.assessments.models import Assessment, OptionPhase
from apps.intake import files
from apps.intake.models import ColumnMapping, ImportBatch, UploadedFile
from apps.intake.parsing import sniff
from apps.intake.parsing.process import parse_in_child
from apps.intake.parsing.quote import Request
from apps.intake.parsing.table import Refusal
from apps.vendors.models import QuoteVersion, Vendor
from apps.vendors.services import add_quote_version, remove_quote_version

IMPORTS_PER_CLIENT_AND_HOUR = 50
VENDOR_QUESTION = "vendor_name"
OPEN = (ImportBatch.State.QUESTIONS, ImportBatch.State.READY)

# Apps above this one say here what else holds a quote version in place; each returns the reason or nothing.
PINS: list[Callable[[QuoteVersion], str | None]] = []


class ImportStateError(Exception):
    """The import is not in a state in which this can be done; the text tells why, for the user."""


class TooManyImportsError(Exception):
    """The client has used up its imports of this hour."""


# Preview ------------------------------------------------------------------------------------------------------------
def preview_upload(
    *,
    by: Actor,
    client: Client,
    name: str,
    content: bytes,
    assessment_id: uuid.UUID | None = None,
    kind: str | None = None,
    vendor_name: str = "",
) -> ImportBatch:
    """Parse an upload and keep file and preview; nothing of the quote is stored before `commit_import`.

    Always returns a batch: READY, QUESTIONS (open questions or cells to correct), or REFUSED with the reason in its
    messages. Raises `TooManyImportsError`, and `Assessment.DoesNotExist` for an assessment of another client.
    """
    require(by, client, "import")
    if assessment_id is not None:
        Assessment.objects.of_client(client).get(pk=assessment_id)
    _throttle(by, client)
    shown_name = files.clean_name(name)
    found_kind = kind or _kind_of(content)
    vendor_name = vendor_name.strip()[:200]
    preview = _parse(client, content, found_kind, vendor_name, answers={}, corrections={}, mapping={})
    batch = ImportBatch(
        client=client,
        kind=found_kind,
        assessment_id=assessment_id,
        vendor_name=vendor_name,
        requested_by=by if isinstance(by, User) else None,
        answers={},
    )
    _take_preview(batch, preview, shown_name)
    refused = batch.state == ImportBatch.State.REFUSED
    stored_name = "" if refused else files.store(client=client, content=content)
    try:
        with transaction.atomic():
            batch.file = UploadedFile.objects.create(
                client=client,
                original_name=shown_name,
                sha256=hashlib.sha256(content).hexdigest(),
                size_bytes=len(content),
                content_type=sniff.CONTENT_TYPES.get(found_kind, "application/octet-stream"),
                stored_name=stored_name,
                uploaded_by=batch.requested_by,
            )
            _note_duplicate(batch)
            batch.save(force_insert=True)
            _audit(by, batch, "import.refused" if refused else "import.previewed")
    except BaseException:
        files.remove(stored_name)  # no row points to it
        raise
    return batch


def answer(
    *,
    by: Actor,
    batch: ImportBatch,
    answers: Mapping[str, str | None] | None = None,
    corrections: Mapping[str, str | None] | None = None,
    mapping: Mapping[str, str | None] | None = None,
) -> ImportBatch:
    """Parse the file again with the given answers, corrected cells and column mapping, added to earlier ones.

    An answer or a correction of None takes an earlier one back. The file itself stays as it came.
    """
    require(by, batch.client, "import")
    _refresh(batch)
    if batch.state not in OPEN:
        raise ImportStateError(_("This import is %(state)s; it cannot be answered any more.") % _state(batch))
    given = _merged(batch.answers, answers or {}, corrections or {}, mapping or {})
    vendor_name = str(given["answers"].get(VENDOR_QUESTION) or batch.vendor_name).strip()[:200]
    if VENDOR_QUESTION in (answers or {}) and VENDOR_QUESTION not in given["answers"]:
        vendor_name = ""  # taken back: the file says it, or it is asked again
    with files.open_file(batch.file) as stream:
        content = stream.read()
    before = batch.updated_at
    preview = _parse(batch.client, content, batch.kind, vendor_name, **given)
    batch.vendor_name = vendor_name
    batch.answers = given
    _take_preview(batch, preview, batch.file.original_name)
    _note_duplicate(batch)
    with transaction.atomic():
        # Whoever answered in the meantime, or committed, must not be overwritten.
        same = ImportBatch.objects.of_client(batch.client).filter(pk=batch.pk, state__in=OPEN, updated_at=before)
        if same.select_for_update().first() is None:
            raise ImportStateError(_("Somebody else changed this import meanwhile. Load the page again."))
        batch.save()
        _audit(by, batch, "import.answered")
    return batch


def _parse(
    client: Client,
    content: bytes,
    kind: str,
    vendor_name: str,
    *,
    answers: Mapping[str, str],
    corrections: Mapping[str, str],
    mapping: Mapping[str, str | None],
) -> dict[str, Any]:
    """The result document; a mapping remembered for the vendor holds for every heading that the user left alone."""
    request = Request(content, kind, dict(answers), dict(corrections), dict(mapping))
    preview = parse_in_child(request)
    vendor = vendor_name or str(preview["quote"].get("vendor", {}).get("value", ""))
    if not vendor or not preview["header_sha256"]:
        return preview
    remembered = ColumnMapping.objects.of_client(client).filter(
        vendor_name=vendor, header_sha256=preview["header_sha256"]
    )
    known = remembered.values_list("mapping", flat=True).first()
    if known is None:
        return preview
    request.mapping = {**known, **mapping}
    if request.mapping == preview["mapping"] and not preview["mapping_needed"]:
        return preview  # it says what was read anyway
    return {**parse_in_child(request), "mapping_remembered": True}


def _merged(
    earlier: Mapping[str, Any],
    answers: Mapping[str, str | None],
    corrections: Mapping[str, str | None],
    mapping: Mapping[str, str | None],
) -> dict[str, Any]:
    cells = {**earlier.get("corrections", {}), **corrections}
    given = {**earlier.get("answers", {}), **answers}
    return {
        "answers": {key: value for key, value in given.items() if value is not None},
        "corrections": {cell: text for cell, text in cells.items() if text is not None},
        "mapping": {**earlier.get("mapping", {}), **mapping},
    }


def _take_preview(batch: ImportBatch, preview: dict[str, Any], shown_name: str) -> None:
    """Put the preview into the batch with what only this side knows: vendor, quote number, state."""
    facts = preview["quote"]
    batch.vendor_name = batch.vendor_name or str(facts.get("vendor", {}).get("value", ""))[:200]
    number = str(facts.get("quote_number", {}).get("value", "")) or PurePosixPath(shown_name).stem
    preview["target"] = {"vendor": batch.vendor_name, "number": number[:100]}
    usable = preview["outcome"] != "reject" or preview["fixable"]
    if usable and not batch.vendor_name:
        preview["questions"].append(_vendor_question())
    batch.preview = preview
    if not usable:
        batch.state = ImportBatch.State.REFUSED
    elif preview["outcome"] == "reject" or preview["questions"]:
        batch.state = ImportBatch.State.QUESTIONS
    else:
        batch.state = ImportBatch.State.READY
    batch.vendor = Vendor.objects.of_client(batch.client).filter(name=batch.vendor_name).first()


def _vendor_question() -> dict[str, Any]:
    """A question with a free answer: any name will do."""
    return {
        "id": VENDOR_QUESTION,
        "about": _("vendor"),
        "cells": [],
        "choices": [],
        "suggested": None,
        "reason": _("The file does not name its vendor."),
    }


def _note_duplicate(batch: ImportBatch) -> None:
    """Warn when the same bytes were imported for the same quote before."""
    versions = QuoteVersion.objects.of_client(batch.client).filter(
        quote__vendor__name=batch.vendor_name, quote__number=batch.preview["target"]["number"]
    )
    same = UploadedFile.objects.of_client(batch.client).filter(sha256=batch.file.sha256).exclude(pk=batch.file.pk)
    found = versions.filter(source_file_id__in=same.values("pk")).order_by("-version").first()
    if found is None:
        return
    batch.preview["duplicate_of"] = {"version": found.version, "id": str(found.pk)}
    batch.preview["messages"].append(
        {
            "severity": "warning",
            "sheet": "",
            "row": None,
            "column": "",
            "cell": "",
            "where": "",
            "field": "",
            "found": "",
            "expected": "",
            "text": _("The same file is already version %(version)s of this quote.") % {"version": found.version},
        }
    )


def _throttle(by: Actor, client: Client) -> None:
    if not isinstance(by, User):  # a command of the installation, such as the demo
        return
    since = timezone.now() - timedelta(hours=1)
    recent = ImportBatch.objects.of_client(client).filter(created_at__gt=since, requested_by__isnull=False).count()
    limit = getattr(settings, "IMPORTS_PER_CLIENT_AND_HOUR", IMPORTS_PER_CLIENT_AND_HOUR)
    if recent >= limit:
        raise TooManyImportsError(
            _("This client has had %(limit)s imports in the last hour, which is the limit. Try again later.")
            % {"limit": limit}
        )


def _kind_of(content: bytes) -> str:
    try:
        return sniff.kind_of(content)
    except Refusal:
        return ""  # the parser says why


# Commit, undo, cancel -----------------------------------------------------------------------------------------------
def commit_import(*, by: Actor, batch: ImportBatch) -> QuoteVersion:
    """Store the previewed quote as its next version, at once and once: a second click returns the same version."""
    require(by, batch.client, "import")
    with transaction.atomic():
        ready = ImportBatch.objects.of_client(batch.client).filter(pk=batch.pk, state=ImportBatch.State.READY)
        now = timezone.now()
        taken = ready.update(state=ImportBatch.State.COMMITTED, committed_at=now, updated_at=now)
        _refresh(batch)
        if not taken:
            return _committed_before(batch)
        version = _store(batch)
        batch.quote_version_id = version.pk
        batch.vendor = version.quote.vendor
        batch.save(update_fields=["quote_version_id", "vendor", "updated_at"])
        _remember_mapping(batch)
        _audit(by, batch, "import.committed", version=version.version, lines=len(batch.preview["lines"]))
    return version


def _committed_before(batch: ImportBatch) -> QuoteVersion:
    if batch.state == ImportBatch.State.COMMITTED and batch.quote_version_id:
        return (
            QuoteVersion.objects.of_client(batch.client).select_related("quote__vendor").get(pk=batch.quote_version_id)
        )
    raise ImportStateError(_("This import is %(state)s; it cannot be stored.") % _state(batch))


def _store(batch: ImportBatch) -> QuoteVersion:
    preview = batch.preview
    sections = ("quote", "terms", "fabric")
    facts = {name: entry["value"] for section in sections for name, entry in preview[section].items()}
    refs = {name: entry["ref"] for section in sections for name, entry in preview[section].items()}
    columns = {field.name for field in QuoteVersion._meta.fields}
    return add_quote_version(
        client=batch.client,
        vendor_name=batch.vendor_name,
        number=preview["target"]["number"],
        facts=facts,
        lines=preview["lines"],
        extra={
            "terms": {name: entry for name, entry in preview["terms"].items() if name not in columns},
            "fabric": preview["fabric"],
            "claims": preview["claims"],
        },
        refs=refs,
        source_file_id=batch.file_id,
        import_batch_id=batch.pk,
    )


def _remember_mapping(batch: ImportBatch) -> None:
    """Keep the mapping of a vendor's own headings when a person had a hand in it."""
    answered = batch.answers.get("mapping") or any(
        key.startswith(("map:", "column:", "duplicate:")) for key in batch.answers.get("answers", {})
    )
    if not answered or not batch.preview["header_sha256"]:
        return
    ColumnMapping.objects.of_client(batch.client).update_or_create(
        vendor_name=batch.vendor_name,
        header_sha256=batch.preview["header_sha256"],
        defaults={"mapping": batch.preview["mapping"]},
        create_defaults={"mapping": batch.preview["mapping"], "client": batch.client},
    )


def undo_import(*, by: Actor, batch: ImportBatch) -> ImportBatch:
    """Remove everything the import stored; raises `ImportStateError` with the reason while something holds it."""
    require(by, batch.client, "import")
    with transaction.atomic():
        committed = ImportBatch.objects.of_client(batch.client).filter(pk=batch.pk, state=ImportBatch.State.COMMITTED)
        now = timezone.now()
        taken = committed.update(state=ImportBatch.State.UNDONE, undone_at=now, updated_at=now)
        _refresh(batch)
        if not taken:
            raise ImportStateError(_("This import is %(state)s; there is nothing to undo.") % _state(batch))
        versions = QuoteVersion.objects.of_client(batch.client).select_related("quote__vendor", "client")
        version = versions.filter(pk=batch.quote_version_id).first()
        if version is not None:
            reason = held_by(version)
            if reason:
                raise ImportStateError(reason)
            _remove(version)
        _audit(by, batch, "import.undone")
    return batch


def held_by(version: QuoteVersion) -> str | None:
    """Why a version cannot be removed, or None: an option, a later version or a run still stands on it."""
    phase = (
        OptionPhase.objects.of_client(version.client)
        .filter(quote_version=version)
        .select_related("option__assessment")
        .first()
    )
    if phase is not None:
        option = phase.option
        return _(
            "Option %(option)s of “%(assessment)s” uses this quote version. Choose another version there first."
        ) % {
            "option": option.letter,
            "assessment": option.assessment.name,
        }
    later = QuoteVersion.objects.of_client(version.client).filter(quote=version.quote, version__gt=version.version)
    if later.exists():
        return _("A later version of this quote exists. Undo that one first.")
    return next((reason for pin in PINS if (reason := pin(version))), None)


def _remove(version: QuoteVersion) -> None:
    try:
        remove_quote_version(version=version)
    except ProtectedError:  # an option took it a moment ago
        raise ImportStateError(_("An option uses this quote version now.")) from None


def cancel_import(*, by: Actor, batch: ImportBatch) -> ImportBatch:
    """Drop an import that was not committed; its file is kept as it came."""
    require(by, batch.client, "import")
    with transaction.atomic():
        open_ones = ImportBatch.objects.of_client(batch.client).filter(pk=batch.pk, state__in=OPEN)
        taken = open_ones.update(state=ImportBatch.State.CANCELLED, updated_at=timezone.now())
        _refresh(batch)
        if not taken:
            raise ImportStateError(_("This import is %(state)s; it cannot be cancelled.") % _state(batch))
        _audit(by, batch, "import.cancelled")
    return batch


def _refresh(batch: ImportBatch) -> None:
    batch.refresh_from_db(from_queryset=ImportBatch.objects.of_client(batch.client).select_related("file", "client"))


def _state(batch: ImportBatch) -> dict[str, Any]:
    return {"state": batch.get_state_display()}


def _audit(by: Actor, batch: ImportBatch, action: str, **details: Any) -> None:
    record(
        actor=by,
        action=action,
        client=batch.client,
        subject=batch.file.original_name,
        subject_id=batch.pk,
        details={"outcome": batch.preview["outcome"], "kind": batch.kind, **details},
    )
