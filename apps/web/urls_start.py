"""Addresses where work begins: portfolio, start, demo; part of the `web` namespace."""

from django.urls import path

from apps.web.views import portfolio, start

urlpatterns = [
    path("", portfolio.portfolio, name="portfolio"),
    path("assessments/new/", portfolio.new_assessment, name="new_assessment"),
    path("demo/", portfolio.add_demo, name="add_demo"),
    path("demo/<uuid:client_id>/remove/", portfolio.remove_demo, name="remove_demo"),
    path("assessments/<uuid:assessment_id>/start/", start.start, name="start"),
]
