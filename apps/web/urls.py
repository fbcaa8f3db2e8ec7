"""Addresses of the screens."""

from django.urls import include, path

app_name = "web"

urlpatterns = [
    path("", include("apps.web.urls_start")),
    path("", include("apps.web.urls_people")),
    path("", include("apps.web.urls_results")),
    path("", include("apps.web.urls_facts")),
    path("", include("apps.web.urls_inputs")),
]
