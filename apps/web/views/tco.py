"""The TCO screen of an assessment, the panel that explains its figures, and its tables as CSV."""

import uuid
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.permissions import require
from apps.assessments.models import Assessment
from apps.reports import charts, explain, findings, tco_tables
from apps.reports.cost_run import NOMINAL, NPV, CostOption, CostRun
from apps.web import selectors
from apps.web.views.downloads import csv_answer, file_name
from apps.web.views.state import choice, partial_for, signed_in


@require_GET
@login_required
def tco(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """What the options cost; htmx asks for the screen again when a view is switched, or for one explanation."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    run = selectors.shown_run(user, assessment, request.GET.get("run", ""))
    if run is None:
        return render(request, "tco/empty.html", {"assessment": assessment, "run": None})
    cost = CostRun.read(run)
    context = {"assessment": assessment, "run": run, **_screen(request, cost)}
    if request.GET.get("format") == "csv":
        require(user, assessment.client, "export")
        return _csv(request, assessment, context)
    context["how"] = _explanation(cost, request.GET.get("how", ""))
    if partial_for(request, "how-panel"):
        return render(request, "components/how_panel.html", context)
    if partial_for(request, "screen"):
        return render(request, "tco/_screen.html", context)
    return render(request, "tco/tco.html", context)


def _screen(request: HttpRequest, cost: CostRun) -> dict[str, Any]:
    basis = choice(request, "basis", (NOMINAL, NPV))
    view = choice(request, "view", (tco_tables.CASH, tco_tables.ACCRUAL))
    option = cost.options.get(request.GET.get("option", "")) or findings.default_option(cost, basis)
    rival = _rival(cost, option, request.GET.get("against", ""), basis)
    head, rows = charts.cumulative_data(cost, option, rival)
    return {
        "cost": cost,
        "basis": basis,
        "view": view,
        "option": option,
        "rival": rival,
        "options": cost.ordered(basis),
        "finding": findings.tco_finding(cost, option, rival, basis),
        "strip": tco_tables.cost_strip(cost, basis, option.key),
        "chart": charts.cumulative_cost(cost, option, rival, basis),
        "chart_sentence": charts.cumulative_sentence(cost, option, rival),
        "chart_head": head,
        "chart_rows": rows,
        "table": tco_tables.year_table(cost, option, basis, view),
        "drivers": tco_tables.drivers(cost, option),
        "warnings": option.found["warnings"],
        "selected_figure": request.GET.get("how", ""),
    }


def _rival(cost: CostRun, option: CostOption, key: str, basis: str) -> CostOption | None:
    chosen = cost.options.get(key)
    if chosen is not None and chosen.key != option.key:
        return chosen
    return findings.default_rival(cost, option, basis)


def _explanation(cost: CostRun, figure: str) -> explain.Explanation | None:
    if not figure:
        return None
    found = explain.explain(cost, figure)
    if found is None:
        raise Http404
    return found


def _csv(request: HttpRequest, assessment: Assessment, context: dict[str, Any]) -> HttpResponse:
    name = (assessment.name, "run", context["run"].number, context["option"].key)
    if request.GET.get("table") == "chart":
        return csv_answer(
            [context["chart_head"], *context["chart_rows"]], file_name(*name, "cumulative", extension="csv")
        )
    return csv_answer(context["table"].csv_rows(), file_name(*name, context["view"], extension="csv"))
