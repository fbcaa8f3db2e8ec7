"""The claim register: what was said, what a check found, how the client sees it, and what rests on it."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.permissions import allowed_actions, require
from apps.assessments.models import Assessment
from apps.assumptions import selectors as facts
from apps.assumptions import services
from apps.assumptions.models import Claim
from apps.engine.errors import InputError
from apps.web import claim_rows as tables
from apps.web import selectors
from apps.web.forms_facts import ClaimForm, JudgeForm, add_input_error
from apps.web.quote_statements import statements_in_quotes
from apps.web.views.downloads import csv_answer, file_name
from apps.web.views.refused import as_screen
from apps.web.views.state import choice, partial_for, signed_in


@require_GET
@login_required
def claims(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """The register with its filters, and the one claim that the address names."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    context = _screen(request, assessment)
    if request.GET.get("format") == "csv":
        require(user, assessment.client, "export")
        return csv_answer(tables.csv_rows(context["shown"]), file_name(assessment.name, "claims", extension="csv"))
    if request.GET.get("how"):
        context |= _one(context, request.GET["how"])
    if partial_for(request, "how-panel"):
        return render(request, "claims/_how.html", context)
    return render(request, "claims/_screen.html" if partial_for(request, "screen") else "claims/claims.html", context)


def _screen(request: HttpRequest, assessment: Assessment) -> dict[str, Any]:
    user, client = signed_in(request), assessment.client
    found = facts.resolve(organisation=client.organisation, client=client, assessment_id=assessment.pk)
    rows = tables.claim_rows(facts.claims(client=client), facts.claims(client=None), found)
    topics = tables.topics_of(rows)
    topic = choice(request, "topic", ("", *(name for name, _label in topics)))
    verdict = choice(request, "verdict", ("", *Claim.Verdict.values))
    status = choice(request, "status", ("", *Claim.Status.values))
    heading, deck = tables.finding(rows)
    return {
        "assessment": assessment,
        "run": selectors.shown_run(user, assessment),
        "allowed": allowed_actions(user, client),
        "found": found,
        "rows": rows,
        "shown": tables.filtered(rows, topic=topic, verdict=verdict, status=status),
        "topics": topics,
        "verdicts": Claim.Verdict.choices,
        "statuses": Claim.Status.choices,
        "topic": topic,
        "verdict": verdict,
        "status": status,
        "statements": statements_in_quotes(user, assessment),
        "heading": heading,
        "deck": deck,
        "selected_figure": request.GET.get("how", ""),
    }


def _one(context: dict[str, Any], key: str, form: JudgeForm | None = None) -> dict[str, Any]:
    row = next((row for row in context["rows"] if row.claim.key == key), None)
    if row is None:
        raise Http404
    return {
        "how": row,
        "judge_form": form or JudgeForm(initial={"status": row.claim.status}),
        "selected_figure": key,
    }


def _at(assessment: Assessment, key: str) -> HttpResponse:
    return redirect(reverse("web:claims", args=[assessment.pk]) + "?" + urlencode({"how": key}))


@require_POST
@login_required
def judge(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Change the status of one claim for the client, with the reason."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    require(user, assessment.client, "assumptions")
    key = request.POST.get("key", "")
    form = JudgeForm(request.POST)
    context = _screen(request, assessment)
    context |= _one(context, key, form)
    if form.is_valid():
        try:
            services.judge_claim(by=user, client=assessment.client, key=key, **form.cleaned_data)
        except InputError as error:
            add_input_error(form, error)
        else:
            messages.success(request, _("%s has its new status for this client.") % key)
            return _at(assessment, key)
    shown = as_screen(request, reverse("web:claims", args=[assessment.pk]))
    return render(shown, "claims/claims.html", context, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def add(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Add a claim of the client's own to its register."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    require(user, assessment.client, "assumptions")
    context = _screen(request, assessment)
    choices = sorted(((key, value.label) for key, value in context["found"].items()), key=lambda pair: pair[1])
    topics = context["topics"] or [("cost", tables.topic_words("cost"))]
    form = ClaimForm(request.POST if request.method == "POST" else None, topics=topics, assumptions=choices)
    if form.is_bound and form.is_valid():
        try:
            claim = services.add_claim(by=user, client=assessment.client, **form.cleaned_data)
        except InputError as error:
            add_input_error(form, error)
        else:
            messages.success(request, _("%s is in the register of this client.") % claim.key)
            return _at(assessment, claim.key)
    status = 422 if form.is_bound else 200
    return render(request, "claims/add.html", {**context, "form": form}, status=status)
