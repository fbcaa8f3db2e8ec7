"""The quote comparison: lines of all options side by side, terms that are no price, and what a new version changed."""

import uuid
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from apps.accounts.permissions import require
from apps.analyses.inputs.rows import comparison_row
from apps.assessments import selectors as assessments
from apps.assessments.models import Option
from apps.reports import comparison as tables
from apps.reports import explain, findings, terms, version_diff
from apps.reports.cost_run import NOMINAL, CostOption, CostRun
from apps.web import selectors
from apps.web.views.downloads import csv_answer, file_name
from apps.web.views.state import choice, flag, partial_for, signed_in


@require_GET
@login_required
def quotes(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    run = selectors.shown_run(user, assessment, request.GET.get("run", ""))
    rows = [option for option in assessments.options_of(user, assessment) if not option.baseline]
    context: dict[str, Any] = {"assessment": assessment, "run": run, "option_rows": rows}
    if run is None:
        context["stored"] = selectors.quotes_without_option(user, assessment)
        return render(request, "quotes/empty.html", context)
    context |= _screen(request, CostRun.read(run), rows)
    if request.GET.get("format") == "csv":
        require(user, assessment.client, "export")
        name = file_name(assessment.name, "run", run.number, "comparison", context["span"], extension="csv")
        return csv_answer([*context["table"].csv_rows(), *context["terms"].csv_rows()], name)
    if partial_for(request, "how-panel"):
        return render(request, "components/how_panel.html", context)
    context["diffs"] = _diffs(selectors.quote_versions(user, rows))
    template = "quotes/_screen.html" if partial_for(request, "screen") else "quotes/quotes.html"
    return render(request, template, context)


def _screen(request: HttpRequest, cost: CostRun, rows: list[Option]) -> dict[str, Any]:
    stored = {option.letter: option for option in rows}
    shortlist = flag(request, "shortlist")
    span = choice(request, "span", tables.SPANS)
    shown = [o for o in cost.compared if not shortlist or (o.key in stored and stored[o.key].shortlisted)]
    shown = shown or cost.compared
    reference = min(shown, key=lambda option: option.total(NOMINAL)["likely"])
    shown = [reference, *(option for option in shown if option.key != reference.key)]
    other = _other(cost, shown, request.GET.get("to", ""))
    table = tables.comparison(
        cost, shown, span=span, differences_only=flag(request, "differences"), included=_included(rows)
    )
    figure = request.GET.get("how", "")
    how = explain.explain(cost, figure) if figure else None
    if figure and how is None:
        raise Http404
    return {
        "cost": cost,
        "span": span,
        "table": table,
        "terms": terms.terms_table(shown, stored, today=timezone.localdate()),
        "reference": reference,
        "other": other,
        "others": shown[1:],
        "finding": findings.comparison_finding(cost, reference, other),
        "waterfall": tables.waterfall(cost, reference, other) if other else None,
        "selected_figure": figure,
        "how": how,
        "differences_only": flag(request, "differences"),
    }


def _other(cost: CostRun, shown: list[CostOption], key: str) -> CostOption | None:
    """What the reference stands against: the option asked for, else the best of another kind, else the runner-up."""
    others = sorted(shown[1:], key=lambda option: option.total(NOMINAL)["likely"])
    chosen = next((option for option in others if option.key == key), None)
    another_kind = next((option for option in others if option.owned != shown[0].owned), None)
    return chosen or another_kind or next(iter(others), None)


def _included(rows: list[Option]) -> dict[str, set[str]]:
    """By option, rows and kinds ("kind:fabric") of quoted lines that another line of the quote contains."""
    found: dict[str, set[str]] = {}
    for option in rows:
        for phase in option.phases.all():
            lines = phase.quote_version.lines.all() if phase.quote_version else []
            names = found.setdefault(option.letter, set())
            for line in lines:
                if line.included:
                    names |= {comparison_row(line), f"kind:{line.kind}"}
    return found


def _diffs(versions: list[Any]) -> list[version_diff.VersionDiff]:
    """The two newest versions of each quote that has more than one."""
    by_quote: dict[Any, list[Any]] = {}
    for version in versions:
        by_quote.setdefault(version.quote_id, []).append(version)
    pairs = [sorted(found, key=lambda v: v.version)[-2:] for found in by_quote.values() if len(found) > 1]
    return [version_diff.version_diff(before, after) for before, after in pairs]
