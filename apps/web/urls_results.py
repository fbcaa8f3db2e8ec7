"""Addresses of what a run says: decision, comparison, cost, activity, files; part of the `web` namespace."""

from django.urls import path

from apps.web.views import activity, decision, quotes, runs, search, tco

ASSESSMENT = "assessments/<uuid:assessment_id>"
RUN = f"{ASSESSMENT}/runs/<uuid:run_id>"

urlpatterns = [
    path("search/", search.search, name="search"),
    path(f"{ASSESSMENT}/", decision.decision, name="decision"),
    path(f"{ASSESSMENT}/waivers/", decision.waive, name="waive"),
    path(f"{ASSESSMENT}/waivers/withdraw/", decision.withdraw, name="withdraw_waiver"),
    path(f"{ASSESSMENT}/tco/", tco.tco, name="tco"),
    path(f"{ASSESSMENT}/quotes/", quotes.quotes, name="quotes"),
    path(f"{ASSESSMENT}/activity/", activity.activity, name="activity"),
    path(f"{ASSESSMENT}/runs/", activity.start_run, name="start_run"),
    path(f"{RUN}/cancel/", activity.cancel_run, name="cancel_run"),
    path(f"{RUN}/retry/", activity.retry_run, name="retry_run"),
    path(f"{RUN}/changes/", runs.stale, name="run_stale"),
    path(f"{RUN}/workbook.xlsx", runs.workbook, name="run_workbook"),
    path(f"{RUN}/<str:part>.json", runs.document, name="run_json"),
]
