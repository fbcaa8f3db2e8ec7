"""Runs of an assessment: start, watch, cancel, try again."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.permissions import allowed_actions
from apps.analyses import selectors as analyses
from apps.analyses import services
from apps.analyses.models import AnalysisRun
from apps.engine.errors import EngineError
from apps.reports import figures
from apps.web import selectors
from apps.web.views.state import partial_for, signed_in

RUNS_A_PAGE = 25


@require_GET
@login_required
def activity(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """The runs with their state; while one is not over, htmx asks for the list and heading again every two seconds."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    runs = analyses.runs_visible_to(user).filter(assessment=assessment)
    page = Paginator(runs, RUNS_A_PAGE).get_page(request.GET.get("page"))
    rows = [_row(run) for run in page.object_list]
    context = {
        "assessment": assessment,
        "run": next((r["run"] for r in rows if r["run"].state == AnalysisRun.State.SUCCEEDED), None),
        "rows": rows,
        "page": page,
        "alive": any(not row["run"].is_over for row in rows),
        "allowed": allowed_actions(user, assessment.client),
        "heading": _heading(rows),
    }
    if partial_for(request, "runs"):
        answer = render(request, "activity/_runs.html", {**context, "polled": True})
        if not context["alive"]:  # heading, header and what has changed say it too, so the page comes anew
            answer["HX-Refresh"] = "true"
        return answer
    context["stale"] = selectors.stale_since(analyses.latest_succeeded(user, assessment))
    return render(request, "activity/activity.html", context)


def _row(run: AnalysisRun) -> dict[str, Any]:
    seconds = (run.finished_at - run.started_at).total_seconds() if run.finished_at and run.started_at else None
    return {
        "run": run,
        "text": analyses.queue_text(run),
        "when": figures.moment(run.created_at),
        "took": "" if seconds is None else f"{figures.fixed(seconds, 1)}{figures.NBSP}s",
        "draws": figures.plain(run.draws),
        "retriable": run.state in (AnalysisRun.State.FAILED, AnalysisRun.State.CANCELLED),
    }


def _heading(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return _("No run yet")
    newest = rows[0]["run"]
    name = _("Run %s") % newest.number
    words = {
        AnalysisRun.State.QUEUED: _("%s waits for a worker"),
        AnalysisRun.State.RUNNING: _("%s is being computed"),
        AnalysisRun.State.SUCCEEDED: _("%s is finished"),
        AnalysisRun.State.FAILED: _("%s failed"),
        AnalysisRun.State.CANCELLED: _("%s was cancelled"),
    }
    return words[AnalysisRun.State(newest.state)] % name


@require_POST
@login_required
def start_run(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    try:
        run = services.request_run(by=user, assessment=assessment)
    except EngineError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _started_words(run))
    return redirect("web:activity", assessment.pk)


def _started_words(run: AnalysisRun) -> str:
    if run.state == AnalysisRun.State.SUCCEEDED:
        return _("Nothing has changed since run %s, so its results stand.") % run.number
    return _("Run %s was requested. You can leave this page.") % run.number


@require_POST
@login_required
def cancel_run(request: HttpRequest, assessment_id: uuid.UUID, run_id: uuid.UUID) -> HttpResponse:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    run = services.cancel_run(by=user, run=selectors.run_or_404(user, assessment, run_id))
    if run.is_over:
        messages.info(
            request, _("Run %(number)s: %(state)s.") % {"number": run.number, "state": run.get_state_display()}
        )
    else:
        messages.info(request, _("Run %s stops within seconds.") % run.number)
    return redirect("web:activity", assessment.pk)


@require_POST
@login_required
def retry_run(request: HttpRequest, assessment_id: uuid.UUID, run_id: uuid.UUID) -> HttpResponse:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    try:
        run = services.retry_run(by=user, run=selectors.run_or_404(user, assessment, run_id))
    except EngineError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _started_words(run))
    return redirect("web:activity", assessment.pk)
