"""Addresses of the screens."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

app_name = "web"


def portfolio(request: HttpRequest) -> HttpResponse:
    return HttpResponse("Spinecut")


urlpatterns = [
    path("", portfolio, name="portfolio"),
    path("", include("apps.web.urls_people")),
    path("", include("apps.web.urls_results")),
]
