"""Assumptions of an assessment by topic, the history of each, and the exchange rates of its client."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import selectors as accounts
from apps.accounts.permissions import allowed_actions, require
from apps.assessments.models import Assessment
from apps.assumptions import selectors as facts
from apps.assumptions import services
from apps.assumptions.models import AssumptionValue
from apps.assumptions.selectors import ResolvedAssumption
from apps.engine.errors import InputError
from apps.web import assumption_rows as tables
from apps.web import selectors
from apps.web.forms_facts import AssumptionForm, FxRateForm, add_input_error
from apps.web.views.downloads import csv_answer, file_name
from apps.web.views.refused import as_screen
from apps.web.views.state import choice, flag, partial_for, signed_in

STATUSES = ("", *tables.STATUS_WORDS)


@require_GET
@login_required
def assumptions(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """The table with its filters, and the one assumption that the address names."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    context = _screen(request, assessment)
    if request.GET.get("format") == "csv":
        require(user, assessment.client, "export")
        rows = [*tables.csv_rows(context["shown"]), [], *tables.rate_csv_rows(context["rates"])]
        return csv_answer(rows, file_name(assessment.name, "assumptions", extension="csv"))
    key = request.GET.get("how", "")
    if key:
        context |= _one(request, assessment, context, key)
    if partial_for(request, "how-panel"):
        return render(request, "assumptions/_how.html", context)
    template = "assumptions/_screen.html" if partial_for(request, "screen") else "assumptions/assumptions.html"
    return render(request, template, context)


def _resolved(assessment: Assessment) -> dict[str, ResolvedAssumption]:
    client = assessment.client
    return facts.resolve(organisation=client.organisation, client=client, assessment_id=assessment.pk)


def _screen(request: HttpRequest, assessment: Assessment) -> dict[str, Any]:
    user = signed_in(request)
    found = _resolved(assessment)
    defaults = facts.resolve(organisation=None, client=None, assessment_id=None)
    contested = facts.contested_claims_by_assumption(client=assessment.client)
    rows = tables.assumption_rows(found, defaults, contested)
    topics = tables.topics_of(rows)
    topic = choice(request, "topic", ("", *(name for name, _label in topics)))
    status = choice(request, "status", STATUSES)
    shown = tables.filtered(rows, topic=topic, status=status, changed=flag(request, "changed"))
    heading, deck = tables.finding(rows)
    return {
        "assessment": assessment,
        "run": selectors.shown_run(user, assessment),
        "allowed": allowed_actions(user, assessment.client),
        "found": found,
        "rows": rows,
        "shown": shown,
        "topic_groups": tables.grouped(shown),
        "topics": topics,
        "statuses": [(name, str(words)) for name, words in tables.STATUS_WORDS.items()],
        "topic": topic,
        "status": status,
        "changed_only": flag(request, "changed"),
        "heading": heading,
        "deck": deck,
        "rates": tables.rate_rows(list(facts.fx_rates(client=assessment.client))),
        "rate_form": FxRateForm(auto_id="rate_%s"),
        "selected_figure": request.GET.get("how", ""),
    }


def _writable(request: HttpRequest, assessment: Assessment) -> list[tuple[str, str]]:
    """Layers that the person may write, with what they hold for, the strongest first."""
    user, client = signed_in(request), assessment.client
    layers = []
    if "assumptions" in allowed_actions(user, client):
        layers += [
            ("assessment", _("this assessment: %s") % assessment.name),
            ("client", _("every assessment of %s") % client.name),
        ]
    if accounts.organisations_administered_by(user).filter(pk=client.organisation_id).exists():
        layers.append(("organisation", _("every client of %s") % client.organisation))
    return layers


def _one(
    request: HttpRequest,
    assessment: Assessment,
    context: dict[str, Any],
    key: str,
    form: AssumptionForm | None = None,
) -> dict[str, Any]:
    """What the panel about one assumption shows. Raises `Http404` for a key that the product does not know."""
    assumption = context["found"].get(key)
    if assumption is None:
        raise Http404
    client = assessment.client
    history = facts.history(key=key, organisation=client.organisation, client=client, assessment_id=assessment.pk)
    layers = _writable(request, assessment)
    row = next(row for row in context["rows"] if row.key == key)
    return {
        "how": tables.explanation(assumption, row, history, [name for name, _label in layers]),
        "set_form": form or (AssumptionForm(assumption=assumption, layers=layers) if layers else None),
        "selected_figure": key,
    }


def _back(assessment: Assessment, key: str = "") -> HttpResponse:
    address = reverse("web:assumptions", args=[assessment.pk])
    return redirect(f"{address}?{urlencode({'how': key})}" if key else address)


def _at_once() -> str:
    """Two people added the same next version; the database takes one of them."""
    return _("Somebody else changed this value at the same moment. Look at the new version, then repeat.")


def _layer_arguments(assessment: Assessment, layer: str) -> dict[str, Any]:
    """What a service needs to write on a layer."""
    if layer == "organisation":
        return {"organisation": assessment.client.organisation}
    if layer == "client":
        return {"client": assessment.client}
    if layer == "assessment":
        return {"client": assessment.client, "assessment_id": assessment.pk}
    raise Http404


@require_POST
@login_required
def set_value(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Add a version on the layer that was chosen; what was typed is kept when it is refused."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    layers = _writable(request, assessment)
    if not layers:
        raise PermissionDenied(_("Your role in this client does not allow this."))
    key = request.POST.get("key", "")
    assumption = _resolved(assessment).get(key)
    if assumption is None:
        raise Http404
    form = AssumptionForm(request.POST, assumption=assumption, layers=layers)
    if form.is_valid():
        try:
            row = services.set_assumption(
                by=user, key=key, **_layer_arguments(assessment, form.cleaned_data["layer"]), **form.values()
            )
        except InputError as error:
            add_input_error(form, error)
        except IntegrityError:
            form.add_error(None, _at_once())
        else:
            messages.success(
                request,
                _("%(name)s has version %(version)d. Finished runs keep what they were given.")
                % {"name": assumption.label, "version": row.version},
            )
            return _back(assessment, key)
    context = _screen(request, assessment)
    context |= _one(request, assessment, context, key, form)
    return _refused(request, assessment, context)


@require_POST
@login_required
def withdraw(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Take a key off one layer, so that the next weaker one counts."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    key, reason = request.POST.get("key", ""), request.POST.get("reason", "").strip()
    layer = _layer_arguments(assessment, request.POST.get("layer", "assessment"))

    def write() -> AssumptionValue:
        if "client" in layer:
            require(user, assessment.client, "assumptions")
        if not reason:
            raise InputError("reason", reason, _("filled in"))
        return services.withdraw_assumption(by=user, key=key, reason=reason[:2000], **layer)

    return _written(request, assessment, key, write, _("The value is withdrawn; the next weaker layer counts again."))


@require_POST
@login_required
def restore(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Add a version equal to an older one."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    value = _version_or_404(assessment, request.POST.get("value", ""))
    reason = request.POST.get("reason", "").strip()[:2000]

    def write() -> AssumptionValue:
        return services.restore_version(by=user, value=value, reason=reason)

    return _written(request, assessment, value.key, write, _("The value is restored as a new version."))


def _version_or_404(assessment: Assessment, text: str) -> AssumptionValue:
    """A version on a layer of this assessment, its client or its organisation; nothing else is found."""
    try:
        value = AssumptionValue.objects.select_related("client__organisation", "organisation").get(pk=uuid.UUID(text))
    except (ValueError, AssumptionValue.DoesNotExist):
        raise Http404 from None
    client = assessment.client
    of_client = value.client_id == client.pk and value.assessment_id in (None, assessment.pk)
    of_organisation = value.client_id is None and value.organisation_id == client.organisation_id
    if not (of_client or of_organisation):
        raise Http404
    return value


def _written(
    request: HttpRequest, assessment: Assessment, key: str, write: Callable[[], object], done: str
) -> HttpResponse:
    try:
        write()
    except InputError as error:
        if error.name == "key":  # the product knows no such key, or the layer does not set it
            messages.error(request, str(error))
            return _back(assessment)
        messages.error(request, str(error))
    except IntegrityError:
        messages.error(request, _at_once())
    else:
        messages.success(request, done)
    return _back(assessment, key)


@require_POST
@login_required
def set_rate(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Store an exchange rate as typed."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    require(user, assessment.client, "assumptions")
    form = FxRateForm(request.POST, auto_id="rate_%s")
    if form.is_valid():
        try:
            row = services.set_fx_rate(by=user, client=assessment.client, **form.cleaned_data)
        except InputError as error:
            add_input_error(form, error)
        except IntegrityError:
            form.add_error(None, _at_once())
        else:
            messages.success(
                request, _("The rate %(base)s/%(quote)s is kept.") % {"base": row.base, "quote": row.quote}
            )
            return _back(assessment)
    return _refused(request, assessment, {**_screen(request, assessment), "rate_form": form})


def _refused(request: HttpRequest, assessment: Assessment, context: dict[str, Any]) -> HttpResponse:
    shown = as_screen(request, reverse("web:assumptions", args=[assessment.pk]))
    return render(shown, "assumptions/assumptions.html", context, status=422)
