"""The Decision page: what the run says, what keeps it from being signed, and what to do next."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.permissions import allowed_actions, require
from apps.analyses import rules
from apps.analyses.rules import RunDocuments
from apps.analyses.rules import services as waivers
from apps.assessments.models import Assessment, Option
from apps.engine.errors import InputError
from apps.reports import decision as tables
from apps.reports import explain, figures, findings, tco_tables
from apps.reports.cost_run import NOMINAL, NPV, CostRun
from apps.web import navigation as screens
from apps.web import selectors
from apps.web.views.downloads import csv_answer, file_name
from apps.web.views.state import choice, flag, partial_for, signed_in


@require_GET
@login_required
def decision(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    run = selectors.shown_run(user, assessment, request.GET.get("run", ""))
    options = selectors.options_with_evidence(user, assessment)
    cost = CostRun.read(run) if run else None
    documents = RunDocuments(inputs=cost.given, results=cost.found) if cost else None
    hits = rules.evaluate(assessment, run=run, documents=documents)
    context: dict[str, Any] = {
        "assessment": assessment,
        "run": run,
        "hits": tables.grouped_hits(hits, options),
        "hit_counts": tables.hit_counts(hits),
        "gates": tables.grouped_hits(rules.open_gates(hits), options),
        "n_gates": len({hit.rule_id for hit in rules.open_gates(hits)}),
        "allowed": allowed_actions(user, assessment.client),
    }
    if run is None or cost is None:
        fabric_open = sum(1 for hit in hits if hit.rule_id == "F1" and not hit.waived)
        return render(request, "decision/empty.html", {**context, **_to_do(request, assessment, options, fabric_open)})
    context |= _screen(request, cost, options, hits)
    if request.GET.get("format") == "csv":
        require(user, assessment.client, "export")
        name = file_name(assessment.name, "run", run.number, "options", context["basis"], extension="csv")
        return csv_answer(tables.option_csv(context["rows"], context["basis"], context["cost"]), name)
    if partial_for(request, "how-panel"):
        return render(request, "components/how_panel.html", context)
    context["rules_of_today"] = True
    template = "decision/_screen.html" if partial_for(request, "screen") else "decision/decision.html"
    return render(request, template, context)


def _screen(request: HttpRequest, cost: CostRun, options: list[Option], hits: list[rules.RuleHit]) -> dict[str, Any]:
    basis = choice(request, "basis", (NOMINAL, NPV))
    ranking = rules.ranked_letters(hits, cost.found["ranking"][basis])
    nominal = rules.ranked_letters(hits, cost.found["ranking"][NOMINAL])
    stored = {option.letter: option for option in options}
    rows = tables.option_rows(cost, basis, ranking, stored, today=timezone.localdate())
    if flag(request, "shortlist"):
        rows = [row for row in rows if row.shortlisted]
    ranked = [cost.options[key] for key in nominal.letters]
    figure = request.GET.get("how", "")
    how = explain.explain(cost, figure) if figure else None
    if figure and how is None:
        raise Http404
    return {
        "cost": cost,
        "draws": figures.plain(cost.draws),
        "basis": basis,
        "rows": rows,
        "held": ranking.unranked,
        "finding": findings.decision_finding(
            cost,
            ranked,
            len({hit.rule_id for hit in rules.open_gates(hits)}),
            {letter: [hit.rule_id for hit in found] for letter, found in nominal.unranked.items()},
        ),
        "conflict": next((hit for hit in hits if hit.rule_id == "T6" and not hit.not_given), None),
        "gap": tco_tables.gap_drivers(cost, ranked),
        "next_steps": [(step, _pages(step, stored)) for step in tables.next_steps(hits)],
        "prices_as_of": tables.prices_as_of(cost),
        "how": how,
        "selected_figure": figure,
    }


def _pages(step: tables.NextStep, stored: dict[str, Option]) -> list[tuple[str, str]]:
    """Where a step is done: letter and address for each option, or one address without a letter."""
    options = [stored[letter] for letter in step.letters if letter in stored]
    if step.page == "option":
        return [(o.letter, screens.address(step.page, o.assessment_id, o.pk)) for o in options]
    return [("", screens.address(step.page, next(iter(stored.values())).assessment_id))] if stored else []


def _to_do(request: HttpRequest, assessment: Assessment, options: list[Option], fabric_open: int) -> dict[str, Any]:
    facts = selectors.progress_of(signed_in(request), assessment, options) | {"fabric_open": fabric_open}
    tasks = tables.tasks(assessment, facts)
    return {
        "tasks": tasks,
        "n_done": sum(task.done for task in tasks),
        "questions": tables.QUESTIONS,
        "alive": facts["alive"],
    }


@require_POST
@login_required
def waive(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Take responsibility for one rule, for one option or the whole assessment."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    letter = request.POST.get("option", "")
    option = None
    if letter:
        option = Option.objects.visible_to(user).filter(assessment=assessment, letter=letter).first()
        if option is None:
            raise Http404
    try:
        waivers.waive(
            by=user,
            assessment=assessment,
            rule_id=request.POST.get("rule", ""),
            option=option,
            reason=request.POST.get("reason", ""),
        )
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The waiver is recorded under your name."))
    return redirect("web:decision", assessment.pk)


@require_POST
@login_required
def withdraw(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Let a waived rule hold again."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    waiver = selectors.standing_waiver(
        user, assessment, rule_id=request.POST.get("rule", ""), letter=request.POST.get("option", "")
    )
    waivers.withdraw_waiver(by=user, waiver=waiver)
    messages.success(request, _("The waiver is withdrawn; the rule holds again."))
    return redirect("web:decision", assessment.pk)
