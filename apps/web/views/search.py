"""Search over what the user may see: assessments, options, quotes and runs by name."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.web import selectors
from apps.web.views.state import signed_in

LONGEST = 100


@require_GET
@login_required
def search(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:LONGEST]
    found = selectors.found_by(signed_in(request), words) if words else []
    return render(request, "search/search.html", {"words": words, "found": found})
