"""Quote intake: upload, preview with corrections and answers, commit, undo, and the option that a quote becomes."""

import hashlib
import json
import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import IntegrityError
from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.models import User
from apps.accounts.permissions import require
from apps.assessments.models import Assessment, Option, OptionPhase
from apps.assessments.services import update_phase
from apps.engine.errors import InputError
from apps.intake import selectors as imports
from apps.intake import services
from apps.intake.files import download_headers, open_file
from apps.intake.models import ImportBatch
from apps.intake.parsing import limits
from apps.intake.parsing.fields import LINE_FIELDS
from apps.intake.template import quote_csv_template_bytes, quote_schema, quote_template_bytes
from apps.reports import figures
from apps.vendors.models import QuoteVersion
from apps.vendors.selectors import quote_versions_visible_to
from apps.web import import_preview, quote_options, selectors
from apps.web.forms.base import add_input_error, add_validation_error, error_list
from apps.web.forms.intake import OptionFromQuoteForm, PinForm, UploadForm
from apps.web.import_preview import ANSWER, CELL
from apps.web.views.downloads import attachment
from apps.web.views.inputs import frame
from apps.web.views.state import partial_for, signed_in

State = ImportBatch.State
IMPORTS_A_PAGE = 20
SAME_UPLOAD_S = 60  # the same bytes again within this time are a second click


# Upload --------------------------------------------------------------------------------------------------------------
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def intake(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """The upload form, the template, and the imports of this assessment; a POST uploads."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    if request.method != "POST":
        return _intake(request, assessment, UploadForm(initial={"vendor_name": request.GET.get("vendor", "")}))
    require(user, assessment.client, "import")
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _intake(request, assessment, form, status=422)
    file, vendor_name = form.cleaned_data["file"], form.cleaned_data["vendor_name"]
    content = file.read()
    batch = _same_upload(user, assessment, content, vendor_name)
    if batch is None:
        try:
            batch = services.preview_upload(
                by=user,
                client=assessment.client,
                name=file.name,
                content=content,
                assessment_id=assessment.pk,
                vendor_name=vendor_name,
            )
        except services.TooManyImportsError as error:
            form.add_error("file", str(error))
            return _intake(request, assessment, form, status=429)
    return redirect("web:import_preview", assessment.pk, batch.pk)


def _same_upload(user: User, assessment: Assessment, content: bytes, vendor_name: str) -> ImportBatch | None:
    """The import that the first of two clicks has made."""
    since = timezone.now() - timedelta(seconds=SAME_UPLOAD_S)
    recent = imports.batches_visible_to(user).filter(
        assessment_id=assessment.pk,
        requested_by=user,
        created_at__gt=since,
        state__in=(State.QUESTIONS, State.READY),
        file__sha256=hashlib.sha256(content).hexdigest(),
        answers={},
    )
    return next((batch for batch in recent if vendor_name in ("", batch.vendor_name)), None)


def _intake(request: HttpRequest, assessment: Assessment, form: UploadForm, status: int = 200) -> HttpResponse:
    user = signed_in(request)
    batches = _batches(user, assessment)
    page = Paginator(batches, IMPORTS_A_PAGE).get_page(request.GET.get("page"))
    ids = [batch.quote_version_id for batch in page.object_list if batch.quote_version_id]
    versions = {
        version.pk: version for version in quote_versions_visible_to(user).filter(pk__in=ids).prefetch_related("lines")
    }
    context = {
        **frame(user, assessment),
        "form": form,
        "errors": error_list(form) if form.is_bound else [],
        "page": page,
        "rows": [_row(batch, versions) for batch in page.object_list],
        "limit_bytes": limits.megabytes(limits.FILE_BYTES),
        "limit_lines": f"{limits.LINES:,}",
        "limit_hour": services.IMPORTS_PER_CLIENT_AND_HOUR,
    }
    return render(request, "intake/intake.html", context, status=status)


def _batches(user: User, assessment: Assessment) -> Any:
    """Imports of this assessment, and those of its client that belong to none."""
    here = Q(assessment_id=assessment.pk) | Q(assessment_id__isnull=True)
    found = imports.batches_visible_to(user).filter(here, client=assessment.client)
    return found.defer("answers", "preview")


def _row(batch: ImportBatch, versions: dict[Any, QuoteVersion]) -> dict[str, Any]:
    version = versions.get(batch.quote_version_id)
    return {
        "batch": batch,
        "kind": import_preview.KINDS.get(batch.kind, batch.kind),
        "when": figures.moment(batch.created_at),
        "version": version,
        "complete": quote_options.completeness(version, list(version.lines.all())) if version else None,
        "kept": bool(batch.file.stored_name),
        "open": batch.state in (State.QUESTIONS, State.READY),
    }


@require_GET
@login_required
def template_file(request: HttpRequest, assessment_id: uuid.UUID, format: str) -> HttpResponse:
    """The quote template as a workbook or as CSV, or the JSON schema of a quote."""
    assessment = selectors.assessment_or_404(signed_in(request), assessment_id)
    require(signed_in(request), assessment.client, "view")
    if format == "xlsx":
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        return attachment(quote_template_bytes(), "quote-template.xlsx", kind)
    if format == "csv":
        return attachment(quote_csv_template_bytes(), "quote-template.csv", "text/csv; charset=utf-8")
    if format == "json":
        text = json.dumps(quote_schema(), indent=2, ensure_ascii=False) + "\n"
        return attachment(text, "quote-schema.json", "application/schema+json")
    raise Http404


# Preview -------------------------------------------------------------------------------------------------------------
def _batch_or_404(user: User, assessment: Assessment, batch_id: uuid.UUID) -> ImportBatch:
    here = Q(assessment_id=assessment.pk) | Q(assessment_id__isnull=True)
    found = imports.batches_visible_to(user).filter(here, client=assessment.client, pk=batch_id).first()
    if found is None:
        raise Http404
    return found


def _both(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> tuple[User, Assessment, ImportBatch]:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    return user, assessment, _batch_or_404(user, assessment, batch_id)


@require_GET
@login_required
def preview(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    """The sheets as found, what is to correct or decide, and what the import would change."""
    _user, assessment, batch = _both(request, assessment_id, batch_id)
    return _preview(request, assessment, batch)


def _preview(
    request: HttpRequest, assessment: Assessment, batch: ImportBatch, status: int = 200, **extra: Any
) -> HttpResponse:
    user = signed_in(request)
    shown = import_preview.preview_of(batch, request.GET.get("sheet", ""))
    context: dict[str, Any] = {
        **frame(user, assessment),
        "batch": batch,
        "shown": shown,
        "heading": import_preview.heading(shown),
        "waits_for": import_preview.waits_for(shown),
        "read_as": import_preview.read_as(batch),
        "given": import_preview.given_answers(batch),
    }
    if partial_for(request, "sheet"):
        return render(request, "intake/_sheet.html", context)
    if shown.is_open and shown.sheet:
        context["mapping_rows"] = _mapping_rows(batch)
        context["line_fields"] = [(name, field.label) for name, field in LINE_FIELDS.items()]
    if batch.state == State.COMMITTED:
        context |= _afterwards(user, assessment, batch)
    return render(request, "intake/preview.html", context | extra, status=status)


def _mapping_rows(batch: ImportBatch) -> list[dict[str, Any]]:
    rows = batch.preview.get("mapping", {}).items()
    return [{"number": n, "heading": heading, "field": name or ""} for n, (heading, name) in enumerate(rows)]


def _afterwards(user: User, assessment: Assessment, batch: ImportBatch) -> dict[str, Any]:
    """What can be done with the version that the import made."""
    version = quote_versions_visible_to(user).filter(pk=batch.quote_version_id).prefetch_related("lines").first()
    if version is None:
        return {}
    lines = list(version.lines.all())
    options = Option.objects.visible_to(user).filter(assessment=assessment)
    taken = set(options.values_list("letter", flat=True))
    phases = _phases(user, assessment)
    used = [phase for phase in phases if phase.quote_version_id == version.pk]
    same_quote = next((p for p in phases if p.quote_version and p.quote_version.quote_id == version.quote_id), None)
    return {
        "version": version,
        "complete": quote_options.completeness(version, lines),
        "option_form": OptionFromQuoteForm(initial=quote_options.suggestion(version, lines, taken)),
        "guesses": quote_options.guesses(version, lines),
        "takeover": quote_options.takeover(version, lines, used),
        "pin_form": PinForm(phases=phases, initial={"phase": same_quote}) if phases else None,
        "used": used,
        "held": services.held_by(version),
        "n_options": len(taken),
    }


def _phases(user: User, assessment: Assessment) -> Any:
    found = OptionPhase.objects.visible_to(user).filter(option__assessment=assessment)
    return found.select_related("option", "configuration", "quote_version__quote__vendor", "client").order_by(
        "option__slot", "option__letter", "position"
    )


@require_POST
@login_required
def answer(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    """Take typed corrections and chosen readings, and read the file again."""
    user, assessment, batch = _both(request, assessment_id, batch_id)
    require(user, assessment.client, "import")
    texts = import_preview.texts_of_cells(batch.preview.get("sheets", []), is_json=batch.kind == "quote_json")
    corrections: dict[str, Any] = {}
    answers: dict[str, str | None] = {}
    for name, value in request.POST.items():
        text = str(value)
        cell = name.removeprefix(CELL)
        if name.startswith(CELL) and text.strip() != texts.get(cell, ""):
            corrections[cell] = text
        elif name.startswith(ANSWER):
            answers[name.removeprefix(ANSWER)] = text
    if "not_given" in request.POST:
        corrections[request.POST["not_given"]] = ""
    if "take_back" in request.POST:
        corrections = {request.POST["take_back"]: None}
    if "ask_again" in request.POST:
        earlier = (batch.answers or {}).get("answers", {})
        answers = dict.fromkeys((key for key in earlier if key != services.VENDOR_QUESTION), None)
    return _parsed_again(request, assessment, batch, answers=answers, corrections=corrections)


@require_POST
@login_required
def columns(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    """Take the meaning of each column and read the file again."""
    user, assessment, batch = _both(request, assessment_id, batch_id)
    require(user, assessment.client, "import")
    mapping = {}
    for row in _mapping_rows(batch):
        name = request.POST.get(f"column-{row['number']}", row["field"])
        mapping[row["heading"]] = name if name in LINE_FIELDS else None
    return _parsed_again(request, assessment, batch, mapping=mapping)


def _parsed_again(request: HttpRequest, assessment: Assessment, batch: ImportBatch, **given: Any) -> HttpResponse:
    try:
        services.answer(by=signed_in(request), batch=batch, **given)
    except services.ImportStateError as error:
        messages.error(request, str(error))
    except FileNotFoundError:
        messages.error(request, _("The file of this import is no longer kept. Upload it again."))
    return redirect("web:import_preview", assessment.pk, batch.pk)


@require_POST
@login_required
def commit(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    """Store the quote; a second click finds it stored."""
    user, assessment, batch = _both(request, assessment_id, batch_id)
    try:
        version = services.commit_import(by=user, batch=batch)
    except services.ImportStateError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("%s is stored.") % version)
    return redirect("web:import_preview", assessment.pk, batch.pk)


@require_POST
@login_required
def cancel(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    user, assessment, batch = _both(request, assessment_id, batch_id)
    try:
        services.cancel_import(by=user, batch=batch)
    except services.ImportStateError as error:
        if not _is(State.CANCELLED, batch):
            messages.error(request, str(error))
            return redirect("web:import_preview", assessment.pk, batch.pk)
    messages.success(request, _("The import of %s is cancelled. Nothing was stored.") % batch.file.original_name)
    return redirect("web:intake", assessment.pk)


@require_POST
@login_required
def undo(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    user, assessment, batch = _both(request, assessment_id, batch_id)
    try:
        services.undo_import(by=user, batch=batch)
    except services.ImportStateError as error:
        if not _is(State.UNDONE, batch):
            messages.error(request, str(error))
            return redirect("web:import_preview", assessment.pk, batch.pk)
    messages.success(
        request, _("The import of %s is undone. Everything it stored is removed.") % batch.file.original_name
    )
    return redirect("web:intake", assessment.pk)


def _is(state: str, batch: ImportBatch) -> bool:
    """Whether the stored row is in a state; the one in memory holds what a rolled back write had set."""
    return ImportBatch.objects.of_client(batch.client).filter(pk=batch.pk, state=state).exists()


@require_GET
@login_required
def original(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> FileResponse:
    """The file as it came, as a download that no browser opens."""
    user, assessment, batch = _both(request, assessment_id, batch_id)
    require(user, assessment.client, "view")
    try:
        stream = open_file(batch.file)
    except FileNotFoundError:
        raise Http404 from None
    response = FileResponse(stream)
    for name, value in download_headers(batch.file).items():  # afterwards, as the response sets some of its own
        response[name] = value
    return response


# The option that a quote becomes --------------------------------------------------------------------------------------
def _version_or_404(user: User, batch: ImportBatch) -> QuoteVersion:
    found = quote_versions_visible_to(user).filter(pk=batch.quote_version_id).first()
    if batch.state != State.COMMITTED or found is None:
        raise Http404
    return found


@require_POST
@login_required
def make_option(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    """Make an option with a configuration of the quote's facts and a phase under the imported version."""
    user, assessment, batch = _both(request, assessment_id, batch_id)
    require(user, assessment.client, "edit")
    version = _version_or_404(user, batch)
    form = OptionFromQuoteForm(request.POST)
    if form.is_valid():
        values = form.cleaned_data
        made = quote_options.option_of_version(assessment, version, values["letter"])
        option = made or _made(form, user, assessment, version)
        if option is not None:
            messages.success(
                request, _("%(quote)s is now option %(letter)s.") % {"quote": version, "letter": option.letter}
            )
            return redirect("web:import_preview", assessment.pk, batch.pk)
    return _preview(request, assessment, batch, status=422, option_form=form, errors=error_list(form))


def _made(form: OptionFromQuoteForm, user: User, assessment: Assessment, version: QuoteVersion) -> Option | None:
    try:
        return quote_options.option_from_quote(
            by=user, assessment=assessment, version=version, values=form.cleaned_data
        )
    except InputError as error:
        add_input_error(form, error)
    except ValidationError as error:
        add_validation_error(form, error)
    except IntegrityError:
        letter = form.cleaned_data["letter"]
        form.add_error("letter", _("Letter is “%s”; it must be one that no other option has.") % letter)
    return None


@require_POST
@login_required
def pin(request: HttpRequest, assessment_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    """Let a phase of an option take the imported version."""
    user, assessment, batch = _both(request, assessment_id, batch_id)
    require(user, assessment.client, "edit")
    version = _version_or_404(user, batch)
    form = PinForm(request.POST, phases=_phases(user, assessment))
    if not form.is_valid():
        return _preview(request, assessment, batch, status=422, pin_form=form, errors=error_list(form))
    phase = form.cleaned_data["phase"]
    update_phase(by=user, phase=phase, quote_version=version, values={})
    letter = phase.option.letter
    messages.success(request, _("Option %(letter)s now uses %(quote)s.") % {"letter": letter, "quote": version})
    return redirect("web:import_preview", assessment.pk, batch.pk)
