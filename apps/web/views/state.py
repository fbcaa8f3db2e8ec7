"""The state of a screen as its address holds it: only known values, the first one where none or another is given."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from apps.accounts.models import User


def choice(request: HttpRequest, name: str, allowed: Sequence[str]) -> str:
    value = request.GET.get(name, "")
    return value if value in allowed else allowed[0]


def flag(request: HttpRequest, name: str) -> bool:
    return request.GET.get(name) == "1"


def partial_for(request: HttpRequest, target: str) -> bool:
    """Whether htmx asks for one part of the page, the one it is about to replace."""
    details: Any = getattr(request, "htmx", None)
    return bool(details) and details.target == target and not details.history_restore_request


def signed_in(request: HttpRequest) -> User:
    """The person who asks; `login_required` stands before every view that calls this."""
    assert isinstance(request.user, User)
    return request.user
