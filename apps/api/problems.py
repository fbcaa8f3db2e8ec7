"""Errors of the API as problem documents (RFC 9457): one shape for all, whatever went wrong."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import structlog
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import exceptions, status
from rest_framework.views import set_rollback

from apps.analyses.services import QueueFullError
from apps.engine.errors import EngineError, InputError

MEDIA_TYPE: Final = "application/problem+json"
TYPE_PREFIX: Final = "urn:spinecut:problem:"
RETRY_AFTER_S: Final = 5
NO_STORE: Final = "private, no-store"

# status -> (last part of the type, title)
KINDS: Final = {
    400: ("request", gettext_lazy("The request was not understood")),
    401: ("sign-in", gettext_lazy("Not signed in")),
    403: ("not-allowed", gettext_lazy("Not allowed")),
    404: ("not-found", gettext_lazy("Not found")),
    405: ("method", gettext_lazy("Method not allowed")),
    406: ("accept", gettext_lazy("Format not offered")),
    409: ("state", gettext_lazy("Not in this state")),
    415: ("media-type", gettext_lazy("Format not read")),
    422: ("inputs", gettext_lazy("The inputs cannot be computed")),
    429: ("too-many", gettext_lazy("Too many requests")),
    500: ("fault", gettext_lazy("Something went wrong on our side")),
    503: ("away", gettext_lazy("The service is away for a moment")),
}

# What a client of the API may rely on; the OpenAPI document holds it and the tests check real answers against it.
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": "An error, RFC 9457.",
    "additionalProperties": False,
    "required": ["type", "title", "status", "detail", "errors"],
    "properties": {
        "type": {"type": "string", "enum": [TYPE_PREFIX + name for name, _title in KINDS.values()]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, in words."},
        "errors": {
            "type": "array",
            "description": "What is wrong with single fields; empty when the error is not about fields.",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["path", "message"],
                "properties": {
                    "path": {"type": "string", "description": "The field, such as axes.0.input."},
                    "message": {"type": "string"},
                },
            },
        },
        "reference": {"type": "string", "description": "Under which the log has more; with status 500 and 503 only."},
    },
}


class Conflict(exceptions.APIException):
    """What was asked for does not exist in the state in which the run is."""

    status_code = status.HTTP_409_CONFLICT


class FieldError(NamedTuple):
    """What is wrong with one field of the request."""

    path: str
    message: str


def problem(
    code: int, detail: str, *, errors: list[FieldError] | None = None, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """The answer that says what went wrong; equal arguments give equal bytes."""
    name, title = KINDS.get(code, KINDS[400 if code < 500 else 500])
    body: dict[str, Any] = {
        "type": TYPE_PREFIX + name,
        "title": str(title),
        "status": code,
        "detail": detail,
        "errors": [error._asdict() for error in errors or []],
    }
    if code >= 500:
        body["reference"] = str(structlog.contextvars.get_contextvars().get("request_id", ""))[:12]
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    answer = HttpResponse(content, content_type=MEDIA_TYPE, status=code)
    for header, value in (headers or {}).items():
        answer[header] = value
    answer["Cache-Control"] = NO_STORE
    return answer


def exception_handler(exception: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """The problem document of whatever a view raised; faults of ours are logged and told without detail."""
    set_rollback()
    if isinstance(exception, Http404 | exceptions.NotFound):
        return not_found()
    if isinstance(exception, PermissionDenied):
        return problem(403, str(exception) or _("Your role does not allow this."))
    if isinstance(exception, exceptions.ValidationError):
        return problem(400, _("Some values are missing or wrong."), errors=list(field_errors(exception.detail)))
    if isinstance(exception, exceptions.APIException):
        return problem(exception.status_code, str(exception.detail), headers=_headers(exception))
    return _refused(exception) if isinstance(exception, EngineError) else _fault(exception)


def _refused(exception: EngineError) -> HttpResponse:
    """The engine or the queue does not take the run; both say why in words a person can act on."""
    if isinstance(exception, QueueFullError):
        return problem(429, str(exception), headers={"Retry-After": str(RETRY_AFTER_S)})
    about = [FieldError(exception.name, str(exception))] if isinstance(exception, InputError) else []
    return problem(422, str(exception), errors=about)


def not_found() -> HttpResponse:
    """The same bytes for an unknown address, an unknown id and an id of another client."""
    return problem(404, _("There is no such thing, or it is not open to you."))


def field_errors(detail: Any, path: str = "") -> Iterator[FieldError]:
    """What a serializer or filter found wrong, one entry a message, nested fields with their dotted path."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            here = path if name == "non_field_errors" else f"{path}.{name}".removeprefix(".")
            yield from field_errors(inner, here)
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from field_errors(inner, f"{path}.{position}".removeprefix(".") if nested else path)
    else:
        yield FieldError(path, str(detail))


def _headers(exception: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if getattr(exception, "auth_header", None):
        headers["WWW-Authenticate"] = str(exception.auth_header)  # type: ignore[attr-defined]
    if getattr(exception, "wait", None):
        headers["Retry-After"] = str(int(exception.wait))  # type: ignore[attr-defined]
    return headers


def _fault(exception: Exception) -> HttpResponse:
    structlog.get_logger(__name__).error("api_fault", exc_info=exception)
    if isinstance(exception, OperationalError | InterfaceError):
        detail = _("The database does not answer. Try again in a few seconds.")
        return problem(503, detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    return problem(500, _("It has been logged under the reference."))
