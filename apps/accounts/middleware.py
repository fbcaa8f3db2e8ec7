"""How long a session lasts, and who has to set up one-time codes first."""

import time
from collections.abc import Callable

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import UserSession
from apps.accounts.selectors import must_use_one_time_codes
from apps.accounts.sessions import SEEN_AT, SIGNED_IN_AT

GetResponse = Callable[[HttpRequest], HttpResponse]
TOUCH_AFTER_S = 60  # a session is written at most once a minute
CODES_CHECKED_AT = "one_time_codes_checked_at"
OPEN_WITHOUT_CODES = {
    "account_login",
    "account_logout",
    "account_reauthenticate",
    "mfa_index",
    "mfa_activate_totp",
    "mfa_view_recovery_codes",
    "mfa_generate_recovery_codes",
    "mfa_download_recovery_codes",
}


class SessionLimitsMiddleware:
    """Sign out after 8 hours without a request and 7 days after the sign-in, whatever the cookie says."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            now = time.time()
            signed_in_at = request.session.get(SIGNED_IN_AT, 0)
            seen_at = request.session.get(SEEN_AT, 0)
            too_old = now - signed_in_at > settings.SESSION_ABSOLUTE_S
            idle = now - seen_at > settings.SESSION_COOKIE_AGE
            if too_old or idle:
                logout(request)
                messages.info(request, _("Your session has ended. Sign in again."))
            elif now - seen_at > TOUCH_AFTER_S and not _is_background(request):
                request.session[SEEN_AT] = now
                UserSession.objects.filter(session_key=request.session.session_key).update(last_seen_at=timezone.now())
        return self.get_response(request)


def _is_background(request: HttpRequest) -> bool:
    """A page that refreshes itself must not keep a session alive that nobody uses."""
    return request.method == "GET" and request.headers.get("HX-Request") == "true"


class OneTimeCodesMiddleware:
    """Lead people of an organisation that requires one-time codes to their set-up before anything else.

    The answer is kept in the session for a minute, so a new requirement is felt within that time.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        user = request.user
        if not user.is_authenticated:
            return None
        match = request.resolver_match
        if match is None or match.url_name in OPEN_WITHOUT_CODES or "health" in request.path_info.split("/")[:2]:
            return None
        if time.time() - request.session.get(CODES_CHECKED_AT, 0) < TOUCH_AFTER_S:
            return None
        if must_use_one_time_codes(user) and not has_one_time_codes(user.pk):
            if request.path_info.startswith("/api/"):
                problem = {  # as every error of the API, docs/api.md
                    "type": "urn:spinecut:problem:not-allowed",
                    "title": _("Not allowed"),
                    "status": 403,
                    "detail": _("Set up one-time codes first."),
                    "errors": [],
                }
                return JsonResponse(problem, status=403, content_type="application/problem+json")
            messages.info(request, _("Your organisation requires one-time codes. Set them up to go on."))
            return redirect("mfa_activate_totp")
        request.session[CODES_CHECKED_AT] = time.time()
        return None


def has_one_time_codes(user_id: object) -> bool:
    return Authenticator.objects.filter(user_id=user_id, type=Authenticator.Type.TOTP).exists()
