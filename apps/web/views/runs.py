"""Files of one run: what the engine was given, what it answered, and the finance workbook."""

import uuid

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts import audit
from apps.accounts.permissions import require
from apps.analyses.models import AnalysisRun
from apps.reports.cost_run import CostRun
from apps.web import selectors
from apps.web.views.downloads import attachment, file_name
from apps.web.views.state import signed_in

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@require_GET
@login_required
def document(request: HttpRequest, assessment_id: uuid.UUID, run_id: uuid.UUID, part: str) -> HttpResponse:
    """The stored bytes of the inputs or the results, exactly as their hash was taken."""
    run = _exported(request, assessment_id, run_id)
    text = {"inputs": run.inputs_json, "results": run.results_json}.get(part)
    if not text:
        raise Http404
    _record(request, run, part)
    return attachment(text, _name(run, part, "json"), "application/json")


@require_GET
@login_required
def workbook(request: HttpRequest, assessment_id: uuid.UUID, run_id: uuid.UUID) -> HttpResponse:
    """The finance workbook of a finished cost run."""
    from apps.reports.workbook import tco_workbook  # heavy, and only here
    from apps.reports.workbook_facts import workbook_meta

    run = _exported(request, assessment_id, run_id)
    if run.state != AnalysisRun.State.SUCCEEDED or run.kind != AnalysisRun.Kind.TCO:
        raise Http404
    cost, finished = CostRun.read(run), run.finished_at or run.created_at
    meta = workbook_meta(run, cost, day=finished.date(), label=f"Run {run.number}")
    content = tco_workbook(cost.given, cost.found, meta, values_only=request.GET.get("values") == "1")
    _record(request, run, "workbook")
    return attachment(content, _name(run, "tco", "xlsx"), XLSX)


@require_GET
@login_required
def stale(request: HttpRequest, assessment_id: uuid.UUID, run_id: uuid.UUID) -> HttpResponse:
    """What has changed since a run, as a part of the pages that show its numbers; empty when nothing has."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    run = selectors.run_or_404(user, assessment, run_id, state=AnalysisRun.State.SUCCEEDED)
    context = {
        "assessment": assessment,
        "stale": selectors.stale_since(run),
        "rules_of_today": request.GET.get("rules") == "today",
    }
    return render(request, "components/stale.html", context)


def _exported(request: HttpRequest, assessment_id: uuid.UUID, run_id: uuid.UUID) -> AnalysisRun:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    require(user, assessment.client, "export")
    return selectors.run_or_404(user, assessment, run_id)


def _name(run: AnalysisRun, part: str, extension: str) -> str:
    return file_name(run.assessment.name, "run", run.number, part, extension=extension)


def _record(request: HttpRequest, run: AnalysisRun, part: str) -> None:
    audit.record(
        actor=signed_in(request),
        action="run.exported",
        client=run.client,
        subject=f"{run.assessment.name}, {part}",
        subject_id=run.pk,
    )
