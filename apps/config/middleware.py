"""Who asked for what, in every log line of a request."""

import uuid
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponseBase


class LogContextMiddleware:
    """Bind the user's id and the ids in the address to the log, beside the request id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            user_id = request.session.get(SESSION_KEY)  # loads the session that the view is about to load anyway
            if user_id:
                structlog.contextvars.bind_contextvars(user_id=str(user_id))
        return self.get_response(request)

    def process_view(self, _: HttpRequest, __: Any, ___: Any, ids: dict[str, Any]) -> None:
        """Bind what the address names: `client_id`, `run_id`, `assessment_id` and so on."""
        named = {name: str(value) for name, value in ids.items() if isinstance(value, uuid.UUID)}
        structlog.contextvars.bind_contextvars(**named)
