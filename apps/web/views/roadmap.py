"""The roadmap: quarter lanes, items with all their fields, presets of the catalogue, confirmation by an architect."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.permissions import allowed_actions, require
from apps.assessments.models import Assessment
from apps.catalogue.models import Kind
from apps.catalogue.selectors import catalogue
from apps.engine.errors import InputError
from apps.web import roadmap_rows as tables
from apps.web import selectors
from apps.web.forms_facts import ConfirmForm, RoadmapItemForm, add_input_error
from apps.web.views.downloads import csv_answer, file_name
from apps.web.views.state import signed_in
from apps.workloads import selectors as workloads
from apps.workloads import services
from apps.workloads.models import RoadmapItem


@require_GET
@login_required
def roadmap(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Lanes and table of the items."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    items = list(workloads.roadmap_of(user, assessment))
    rows = tables.item_rows(items)
    if request.GET.get("format") == "csv":
        require(user, assessment.client, "export")
        return csv_answer(tables.csv_rows(rows), file_name(assessment.name, "roadmap", extension="csv"))
    quarters = tables.quarters(assessment, items)
    heading, deck = tables.finding(assessment, rows)
    context = {
        "assessment": assessment,
        "run": selectors.shown_run(user, assessment),
        "allowed": allowed_actions(user, assessment.client),
        "heading": heading,
        "deck": deck,
        "rows": rows,
        "quarters": quarters,
        "lanes": tables.lanes(rows, len(quarters)),
        "moe": tables.moe_answer(assessment, rows),
        "confirm_form": ConfirmForm(initial={"confirmed_on": timezone.localdate()}),
    }
    return render(request, "roadmap/roadmap.html", context)


def _editable(request: HttpRequest, assessment_id: uuid.UUID) -> Assessment:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    require(user, assessment.client, "edit")
    return assessment


def _item_or_404(request: HttpRequest, assessment: Assessment, item_id: uuid.UUID) -> RoadmapItem:
    try:
        item = workloads.get_roadmap_item(signed_in(request), item_id)
    except RoadmapItem.DoesNotExist:
        raise Http404 from None
    if item.assessment_id != assessment.pk:
        raise Http404
    return item


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def add(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """A new item, empty or begun with a model of the catalogue."""
    user = signed_in(request)
    assessment = _editable(request, assessment_id)
    models = catalogue(organisation=assessment.client.organisation, kind=Kind.MODEL)
    context: dict[str, Any] = {"assessment": assessment, "presets": models}
    if request.method == "POST":
        form = RoadmapItemForm(request.POST)
        if form.is_valid():
            try:
                item = services.add_roadmap_item(by=user, assessment=assessment, values=form.cleaned_data)
            except (InputError, ValidationError) as error:
                _add_error(form, error)
            else:
                messages.success(request, _("%s is on the roadmap; an architect has to confirm it.") % item.name)
                return redirect("web:roadmap", assessment.pk)
        return _form(request, form, context)
    initial: dict[str, Any] = {"first_quarter": 0, "last_quarter": 0}
    key = request.GET.get("preset", "")
    if key:
        chosen = next((item for item in models if item.key == key), None)
        if chosen is None:
            raise Http404
        context["preset"] = tables.preset(chosen)
        context["preset_key"] = key
        initial |= context["preset"].values
    return _form(request, RoadmapItemForm(initial=initial), context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit(request: HttpRequest, assessment_id: uuid.UUID, item_id: uuid.UUID) -> HttpResponse:
    """Change an item; its confirmation falls away with a change."""
    user = signed_in(request)
    assessment = _editable(request, assessment_id)
    item = _item_or_404(request, assessment, item_id)
    context = {"assessment": assessment, "item": item, "missing": tables.missing(item)}
    last = max(item.first_quarter, item.last_quarter)
    if request.method != "POST":
        return _form(request, RoadmapItemForm(initial=model_to_dict(item), last_quarter=last), context)
    form = RoadmapItemForm(request.POST, initial=model_to_dict(item), last_quarter=last)
    if form.is_valid():
        try:
            services.update_roadmap_item(by=user, item=item, values=form.cleaned_data)
        except (InputError, ValidationError) as error:
            _add_error(form, error)
        else:
            messages.success(request, _("%s is changed; an architect has to confirm it anew.") % item.name)
            return redirect("web:roadmap", assessment.pk)
    return _form(request, form, context)


def _add_error(form: RoadmapItemForm, error: InputError | ValidationError) -> None:
    if isinstance(error, InputError):
        add_input_error(form, error)
        return
    for name, texts in error.message_dict.items():
        form.add_error(name if name in form.fields else None, texts)


def _form(request: HttpRequest, form: RoadmapItemForm, context: dict[str, Any]) -> HttpResponse:
    run = selectors.shown_run(signed_in(request), context["assessment"])
    status = 422 if form.is_bound else 200
    return render(request, "roadmap/item.html", {**context, "run": run, "form": form}, status=status)


@require_POST
@login_required
def confirm(request: HttpRequest, assessment_id: uuid.UUID, item_id: uuid.UUID) -> HttpResponse:
    """Keep the day on which an architect checked the item; the audit log names who recorded it."""
    assessment = _editable(request, assessment_id)
    item = _item_or_404(request, assessment, item_id)
    form = ConfirmForm(request.POST)
    if form.is_valid():
        values = {"architect_confirmed_on": form.cleaned_data["confirmed_on"]}
        services.update_roadmap_item(by=signed_in(request), item=item, values=values)
        messages.success(request, _("%s is confirmed.") % item.name)
    else:
        messages.error(request, " ".join(text for texts in form.errors.values() for text in texts))
    return redirect("web:roadmap", assessment.pk)


@require_POST
@login_required
def remove(request: HttpRequest, assessment_id: uuid.UUID, item_id: uuid.UUID) -> HttpResponse:
    """Take an item off the roadmap."""
    assessment = _editable(request, assessment_id)
    item = _item_or_404(request, assessment, item_id)
    services.remove_roadmap_item(by=signed_in(request), item=item)
    messages.success(request, _("%s is off the roadmap. Finished runs keep what they were given.") % item.name)
    return redirect("web:roadmap", assessment.pk)
