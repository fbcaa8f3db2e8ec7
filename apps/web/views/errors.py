"""Pages for what could not be answered: generic words and the reference under which the log has the rest."""

import sys
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


def _page(request: HttpRequest, status: int, heading: str, words: str) -> HttpResponse:
    context = {"heading": heading, "words": words, "reference": _reference()}
    return render(request, "errors/_error.html", context, status=status)


def _reference() -> str:
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))[:12]


def bad_request(request: HttpRequest, exception: Any = None) -> HttpResponse:
    return _page(request, 400, _("The request was not understood"), _("Go back, reload the page and try again."))


def forbidden(request: HttpRequest, exception: Any = None, reason: str = "") -> HttpResponse:
    words = _("Your role does not allow this. An owner of the client can change roles.")
    return _page(request, 403, _("Not allowed"), words)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    words = _("The form was too old or came from elsewhere, so nothing was changed. Reload the page and send it again.")
    return _page(request, 403, _("The form could not be checked"), words)


def not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """The same for an unknown address, a deleted row and another client's: no reference, so the bodies are equal."""
    words = _("There is no such page, or it is not open to you.")
    context = {"heading": _("Not found"), "words": words, "reference": ""}
    return render(request, "errors/_error.html", context, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Our fault; a database that does not answer is told apart, as trying again helps then."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return unavailable(request)
    return _page(request, 500, _("Something went wrong on our side"), _("It has been logged. Nothing was half-saved."))


def unavailable(request: HttpRequest, exception: Any = None) -> HttpResponse:
    response = _page(
        request,
        503,
        _("The service is away for a moment"),
        _("The database does not answer. Try again in a few seconds."),
    )
    response["Retry-After"] = "5"
    return response
