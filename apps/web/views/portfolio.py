"""The portfolio: every assessment a person may see, by stage; and where a new one begins."""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import selectors as accounts
from apps.accounts.models import Client, Organisation, User
from apps.accounts.permissions import can
from apps.accounts.services import create_client, delete_client
from apps.analyses.demo import CASES, add_demo_case
from apps.analyses.services import request_run
from apps.assessments.services import create_assessment
from apps.web import portfolio as board
from apps.web.views.state import signed_in


class NewAssessmentForm(forms.Form):
    """The name and the client of an assessment; everything else has a default and is asked on the start page."""

    client = forms.ModelChoiceField(label=gettext_lazy("Client"), queryset=Client.objects.none(), required=False)
    new_client = forms.CharField(label=gettext_lazy("Or a new client"), max_length=200, required=False)
    name = forms.CharField(label=gettext_lazy("Assessment"), max_length=200)

    def __init__(self, *args: Any, clients: Any, may_add_clients: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["client"].queryset = clients  # type: ignore[attr-defined]
        if not may_add_clients:
            del self.fields["new_client"]
            self.fields["client"].required = True

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if "new_client" in self.fields and bool(given.get("client")) == bool(given.get("new_client", "").strip()):
            self.add_error("client", _("client is not clear; it must be one of the list, or the name of a new one."))
        return given


@require_GET
@login_required
def portfolio(request: HttpRequest) -> HttpResponse:
    return _page(request, _form(signed_in(request)))


def _form(user: User, data: Any = None) -> NewAssessmentForm:
    editable = [client.pk for client in accounts.clients_visible_to(user) if can(user, client, "edit")]
    return NewAssessmentForm(
        data,
        clients=accounts.clients_visible_to(user).filter(pk__in=editable).order_by("name"),
        may_add_clients=_organisation(user) is not None,
    )


def _organisation(user: User) -> Organisation | None:
    """The organisation in which the person may add clients; the first by name where there are several."""
    return accounts.organisations_administered_by(user).order_by("name").first()


def _page(request: HttpRequest, form: NewAssessmentForm, status: int = 200) -> HttpResponse:
    user = signed_in(request)
    chosen = request.GET.get("client", "")
    clients = list(accounts.clients_visible_to(user).order_by("name"))
    if chosen and chosen not in {str(client.pk) for client in clients}:
        raise Http404
    cards = board.cards(user, timezone.localdate(), chosen)
    stages = [
        {"label": stage.label, "cards": [card for card in cards if card.assessment.state == stage]}
        for stage in board.STAGES
    ]
    context = {
        "heading": _heading(cards),
        "stages": [stage for stage in stages if stage["cards"]],
        "archived": [card for card in cards if card.assessment.state == "archived"],
        "cards": cards,
        "clients": clients,
        "chosen": chosen,
        "form": form,
        "may_add_demo": _organisation(user) is not None,
        "demo_clients": [client for client in clients if client.fictional and can(user, client, "delete")],
        "may_add": bool(form.fields["client"].queryset) or "new_client" in form.fields,  # type: ignore[attr-defined]
    }
    return render(request, "portfolio/portfolio.html", context, status=status)


def _heading(cards: list[board.Card]) -> str:
    if not cards:
        return _("No assessment yet")
    expired = sum(card.validity_severity == "red" for card in cards)
    soon = sum(card.validity_severity == "amber" for card in cards)
    if expired:
        return _("%(n)s of %(of)s assessments rest on an expired quote") % {"n": expired, "of": len(cards)}
    if soon:
        return _("%(n)s of %(of)s assessments have a quote that ends within 14 days") % {"n": soon, "of": len(cards)}
    return _("%s assessments, no quote ends within 14 days") % len(cards)


@require_POST
@login_required
def new_assessment(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    form = _form(user, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    client = form.cleaned_data.get("client")
    if client is None:
        organisation = _organisation(user)
        assert organisation is not None  # the form has no field for a new client without one
        try:
            client = create_client(actor=user, organisation=organisation, name=form.cleaned_data["new_client"])
        except forms.ValidationError as error:
            form.add_error("new_client", error.messages)
            return _page(request, form, status=422)
    assessment = create_assessment(by=user, client=client, name=form.cleaned_data["name"])
    return redirect("web:start", assessment.pk)


@require_POST
@login_required
def add_demo(request: HttpRequest) -> HttpResponse:
    """Add the fictional cases and have them computed; case 1 opens."""
    user = signed_in(request)
    organisation = _organisation(user)
    if organisation is None:
        raise Http404
    cases = [add_demo_case(key, organisation=organisation, owner=user) for key in CASES]
    for case in cases:
        request_run(by=user, assessment=case.assessment)
    return redirect("web:decision", cases[0].assessment.pk)


@require_POST
@login_required
def remove_demo(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Remove a fictional client with everything in it; a real client is never removed here."""
    user = signed_in(request)
    client = accounts.client_visible_to(user, client_id)
    if not client.fictional:
        raise Http404
    delete_client(actor=user, client=client, typed_name=client.name)
    messages.success(request, _("%s is removed.") % client.name)
    return redirect("web:portfolio")
