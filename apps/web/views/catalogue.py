"""The catalogue: accelerators, network parts, prices, cloud rates and models, and an organisation's own figures."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import selectors as accounts
from apps.accounts.models import Organisation, User
from apps.catalogue import selectors as facts
from apps.catalogue import services
from apps.catalogue.models import CatalogueItem, Kind
from apps.engine.errors import InputError
from apps.web import catalogue_rows as tables
from apps.web.forms_facts import OverrideForm, add_input_error
from apps.web.views.downloads import csv_answer, file_name
from apps.web.views.refused import as_screen
from apps.web.views.state import choice, partial_for, signed_in

ALL = "all"
MOST_LETTERS = 100


@require_GET
@login_required
def catalogue(request: HttpRequest) -> HttpResponse:
    """Items of one kind that hold the words searched for, and the one item that the address names."""
    user = signed_in(request)
    context = _screen(request, user)
    if request.GET.get("format") == "csv":
        rows = tables.csv_rows(context["rows"], context["columns"], dict(context["kinds"]))
        return csv_answer(rows, file_name("catalogue", context["kind"], extension="csv"))
    if request.GET.get("how"):
        context |= _one(context, request.GET["how"], request.GET.get("figure", ""))
    if partial_for(request, "how-panel"):
        return render(request, "catalogue/_how.html", context)
    template = "catalogue/_screen.html" if partial_for(request, "screen") else "catalogue/catalogue.html"
    return render(request, template, context)


def _organisations(user: User) -> tuple[list[Organisation], set[Any]]:
    """Those through whose eyes the person may look, by name, and the ids of those it administers."""
    administered = {row.pk: row for row in accounts.organisations_administered_by(user)}
    of_clients = {
        c.organisation.pk: c.organisation for c in accounts.clients_visible_to(user).select_related("organisation")
    }
    everyone = sorted((administered | of_clients).values(), key=lambda row: (row.name, str(row.pk)))
    return everyone, set(administered)


def _chosen(found: list[Organisation], administered: set[Any], wanted: str) -> Organisation | None:
    """The organisation that the address names, else one that the person administers, else the first.

    Raises `Http404` for one that is unknown or not the person's.
    """
    if wanted:
        chosen = next((row for row in found if str(row.pk) == wanted), None)
        if chosen is None:
            raise Http404
        return chosen
    return next((row for row in found if row.pk in administered), found[0] if found else None)


def _screen(request: HttpRequest, user: User) -> dict[str, Any]:
    found, administered = _organisations(user)
    organisation = _chosen(found, administered, request.GET.get("organisation") or request.POST.get("organisation", ""))
    kind = choice(request, "kind", (Kind.ACCELERATOR, *Kind.values, ALL))
    words = request.GET.get("q", "").strip()[:MOST_LETTERS]
    of_kind = "" if kind == ALL else kind
    items = facts.catalogue(organisation=organisation, kind=of_kind, search=words)
    columns = tables.columns_of(of_kind, items)
    heading, deck = tables.finding(items, of_kind)
    return {
        "organisations": found,
        "organisation": organisation,
        "administers": organisation is not None and organisation.pk in administered,
        "kind": kind,
        "kinds": [(name, str(label).capitalize()) for name, label in Kind.choices],
        "priced": kind in tables.PRICED,
        "words": words,
        "columns": columns,
        "rows": tables.item_rows(items, columns),
        "heading": heading,
        "deck": deck,
        "selected_figure": request.GET.get("how", ""),
    }


def _item_or_404(text: str) -> CatalogueItem:
    try:
        return CatalogueItem.objects.get(pk=uuid.UUID(text))
    except (ValueError, CatalogueItem.DoesNotExist):
        raise Http404 from None


def _one(context: dict[str, Any], item_id: str, figure: str, form: OverrideForm | None = None) -> dict[str, Any]:
    """All figures of one item; `figure` names the one that an administrator is about to replace."""
    row = next((row for row in context["rows"] if str(row.item.id) == item_id), None)
    if row is None:  # the filter left it out
        stored = _item_or_404(item_id)
        item = facts.catalogue_item(organisation=context["organisation"], kind=stored.kind, key=stored.key)
        assert item is not None
    else:
        item = row.item
    cells = [tables.cell(found) for found in item.figures.values()]
    chosen = next((cell for cell in cells if cell.name == figure), None)
    if figure and chosen is None:
        raise Http404
    initial = {"value": item.figures[figure].value if chosen else ""}
    return {
        "how": item,
        "kind_words": dict(context["kinds"])[item.kind],
        "cells": cells,
        "chosen": chosen if context["administers"] else None,
        "override_form": form or OverrideForm(initial=initial),
        "selected_figure": item_id,
    }


def _at(organisation: Organisation, item: CatalogueItem) -> HttpResponse:
    query = urlencode({"organisation": str(organisation.pk), "kind": item.kind, "how": str(item.pk)})
    return redirect(f"{reverse('web:catalogue')}?{query}")


@require_POST
@login_required
def override(request: HttpRequest) -> HttpResponse:
    """Set an organisation's own figure in place of the catalogue's."""
    user = signed_in(request)
    organisation = _posted_organisation(request, user)
    item = _item_or_404(request.POST.get("item", ""))
    name = request.POST.get("name", "")
    form = OverrideForm(request.POST)
    context = _screen(request, user)
    context |= _one(context, str(item.pk), name, form)
    if form.is_valid():
        try:
            services.override_value(by=user, organisation=organisation, item=item, name=name, **form.cleaned_data)
        except InputError as error:
            add_input_error(form, error)
        else:
            messages.success(request, _("%s counts with your own figure now.") % item.name)
            return _at(organisation, item)
    return render(as_screen(request, reverse("web:catalogue")), "catalogue/catalogue.html", context, status=422)


@require_POST
@login_required
def withdraw(request: HttpRequest) -> HttpResponse:
    """Take an own figure away, so that the catalogue's counts again."""
    user = signed_in(request)
    organisation = _posted_organisation(request, user)
    item = _item_or_404(request.POST.get("item", ""))
    try:
        services.withdraw_override(by=user, organisation=organisation, item=item, name=request.POST.get("name", ""))
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("%s counts with the catalogue's figure again.") % item.name)
    return _at(organisation, item)


def _posted_organisation(request: HttpRequest, user: User) -> Organisation:
    """The organisation of the form, which the person administers; foreign, unknown and not administered are 404."""
    try:
        return accounts.organisation_administered_by(user, uuid.UUID(request.POST.get("organisation", "")))
    except ValueError:
        raise Http404 from None
