"""Addresses of the API, version 1."""

from django.urls import path, re_path

from apps.api import views

app_name = "api"

urlpatterns = [
    path("clients/", views.ClientList.as_view(), name="clients"),
    path("assessments/", views.AssessmentList.as_view(), name="assessments"),
    path("assessments/<uuid:assessment_id>/", views.AssessmentDetail.as_view(), name="assessment"),
    path("assessments/<uuid:assessment_id>/options/", views.OptionList.as_view(), name="options"),
    path("assessments/<uuid:assessment_id>/quotes/", views.QuoteList.as_view(), name="quotes"),
    path("assessments/<uuid:assessment_id>/rules/", views.RuleList.as_view(), name="rules"),
    path("assessments/<uuid:assessment_id>/runs/", views.RunList.as_view(), name="runs"),
    path("runs/<uuid:run_id>/", views.RunDetail.as_view(), name="run"),
    path("runs/<uuid:run_id>/inputs/", views.RunInputs.as_view(), name="run_inputs"),
    path("runs/<uuid:run_id>/results/", views.RunResults.as_view(), name="run_results"),
    path("runs/<uuid:run_id>/sweep.csv", views.RunSweep.as_view(), name="run_sweep"),
    path("runs/<uuid:run_id>/cancel/", views.RunCancel.as_view(), name="run_cancel"),
    path("openapi.json", views.OpenApi.as_view(), name="openapi"),
    re_path(r"^.*$", views.Unknown.as_view(), name="unknown"),  # last: whatever else is asked for below this address
]
