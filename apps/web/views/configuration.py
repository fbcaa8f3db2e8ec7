"""Configurations of an assessment side by side, and the form of each."""

import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.models import User
from apps.accounts.permissions import require
from apps.analyses import rules
from apps.assessments import selectors as assessments
from apps.assessments.models import Assessment
from apps.engine.errors import InputError
from apps.racks import services
from apps.racks.models import RackConfiguration
from apps.racks.selectors import configurations_visible_to
from apps.racks.templates import TEMPLATES
from apps.web import configuration_table as tables
from apps.web import selectors
from apps.web.forms.base import add_input_error, add_validation_error, error_list
from apps.web.forms.configuration import ConfigurationForm, NewConfigurationForm
from apps.web.views.inputs import frame
from apps.web.views.state import signed_in

SECOND_CLICK = timedelta(minutes=1)  # the same name and kind again within this time are one


@require_GET
@login_required
def configurations(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """One column a configuration, one row a fact, each with source and evidence."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    options = list(assessments.options_of(user, assessment))
    found = {row.pk: row for row in configurations_visible_to(user, assessment_id=assessment.pk)}
    for option in options:
        for phase in option.phases.all():
            found.setdefault(phase.configuration_id, phase.configuration)
    hits = rules.evaluate(assessment) if found else []
    columns = tables.columns_of(list(found.values()), options, hits)
    context = {
        **frame(user, assessment),
        "columns": columns,
        "fact_groups": tables.groups_of(columns),
        "options": options,
        "heading": tables.heading(columns, options),
        "audit_hits": [hit for hit in hits if hit.rule_id == tables.AUDIT],
        "site_hits": [hit for hit in hits if hit.rule_id == tables.SITE],
        "kinds": [{"value": key, "label": kind.label, "meaning": kind.meaning} for key, kind in TEMPLATES.items()],
    }
    return render(request, "configuration/configuration.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Choose a kind and a name; the form of that kind follows."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    require(user, assessment.client, "edit")
    form = NewConfigurationForm(request.POST or None, initial={"template": request.GET.get("kind", "")})
    if request.method == "POST" and form.is_valid():
        made = _created(form, user, assessment)
        if made is not None:
            messages.success(request, _("%s is added. What is empty counts as not given.") % made.name)
            return redirect("web:configuration_edit", assessment.pk, made.pk)
    context = {**frame(user, assessment), "form": form, "errors": error_list(form) if form.is_bound else []}
    return render(request, "configuration/new.html", context, status=422 if form.errors else 200)


def _created(form: NewConfigurationForm, user: User, assessment: Assessment) -> RackConfiguration | None:
    name, template = form.cleaned_data["name"], form.cleaned_data["template"]
    earlier = configurations_visible_to(user, assessment_id=assessment.pk).filter(name=name).first()
    if earlier is not None:
        untouched = earlier.updated_at - earlier.created_at < timedelta(seconds=1)
        if earlier.template == template and untouched and timezone.now() - earlier.created_at < SECOND_CLICK:
            return earlier
        form.add_error("name", _("Name is “%s”; it must be one that no other configuration has.") % name)
        return None
    try:
        return services.create_configuration(
            by=user,
            client=assessment.client,
            assessment_id=assessment.pk,
            template=template,
            name=name,
            values=dict(TEMPLATES[RackConfiguration.Template(template)].defaults),
        )
    except (InputError, ValidationError) as error:
        _add(form, error)
    return None


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit(request: HttpRequest, assessment_id: uuid.UUID, configuration_id: uuid.UUID) -> HttpResponse:
    """The fields that the template asks for, with unit, range, evidence and source."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    configuration = _configuration_or_404(user, assessment, configuration_id)
    require(user, assessment.client, "edit")
    posted = request.POST if request.method == "POST" else None
    form = ConfigurationForm(posted, template=configuration.template, configuration=configuration)
    if posted is not None and form.is_valid() and _saved(form, user, configuration):
        messages.success(request, _("%s is saved. The next run takes it.") % configuration.name)
        return redirect("web:configuration", assessment.pk)
    shown = _configuration_or_404(user, assessment, configuration_id)  # as stored, whatever was typed
    context = {
        **frame(user, assessment),
        "form": form,
        "fact_groups": list(form.groups()),
        "errors": error_list(form) if form.is_bound else [],
        "configuration": shown,
        "kind": form.template,
        "users": tables.phases_using(shown),
    }
    return render(request, "configuration/edit.html", context, status=422 if form.errors else 200)


def _saved(form: ConfigurationForm, user: User, configuration: RackConfiguration) -> bool:
    values = form.values(author=str(user), today=timezone.localdate())
    try:
        with transaction.atomic():
            services.update_configuration(
                by=user, configuration=configuration, values={"name": form.cleaned_data["name"], **values}
            )
    except (InputError, ValidationError) as error:
        _add(form, error)
        return False
    return True


def _add(form: Any, error: InputError | ValidationError) -> None:
    if isinstance(error, InputError):
        add_input_error(form, error)
    else:
        add_validation_error(form, error)


def _configuration_or_404(user: User, assessment: Assessment, configuration_id: uuid.UUID) -> RackConfiguration:
    """A configuration of the assessment, or one of its client that one of its options uses."""
    found = configurations_visible_to(user).filter(client=assessment.client, pk=configuration_id).first()
    if found is None:
        raise Http404
    if found.assessment_id not in (assessment.pk, None):
        raise Http404
    return found


@require_POST
@login_required
def delete(request: HttpRequest, assessment_id: uuid.UUID, configuration_id: uuid.UUID) -> HttpResponse:
    """Remove a configuration that no option uses."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    configuration = _configuration_or_404(user, assessment, configuration_id)
    require(user, assessment.client, "edit")
    users = list(tables.phases_using(configuration))
    if not users:
        try:
            services.delete_configuration(by=user, configuration=configuration)
        except ProtectedError:
            users = list(tables.phases_using(configuration))
    if users:
        letters = ", ".join(phase.option.letter for phase in users)
        messages.error(request, _("Option %s uses this configuration. Remove it there first.") % letters)
        return redirect("web:configuration_edit", assessment.pk, configuration.pk)
    messages.success(request, _("%s is removed.") % configuration.name)
    return redirect("web:configuration", assessment.pk)
