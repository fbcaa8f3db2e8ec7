"""Who calls the API: the same session as the screens."""

from rest_framework import authentication
from rest_framework.request import Request


class SessionAuthentication(authentication.SessionAuthentication):
    """The session of the screens. Who has none is told so with 401; unsafe methods need the CSRF token."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"
