"""Sessions a person can see and end: one `UserSession` row beside each of Django's session rows."""

import time
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.backends.base import SessionBase
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.audit import record
from apps.accounts.limits import address_of
from apps.accounts.models import User, UserSession

SIGNED_IN_AT = "signed_in_at"
SEEN_AT = "seen_at"


def _session_store(key: str) -> SessionBase:
    store: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return store


@receiver(user_logged_in)
def remember_sign_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Note the new session, from which its longest life is counted."""
    now = time.time()
    request.session[SIGNED_IN_AT] = now
    request.session[SEEN_AT] = now
    if not request.session.session_key:
        request.session.create()
    UserSession.objects.update_or_create(
        session_key=request.session.session_key,
        defaults={
            "user": user,
            "address": address_of(request)[:45] if request.META.get("REMOTE_ADDR") else "",
            "browser": request.META.get("HTTP_USER_AGENT", "")[:200],
            "last_seen_at": timezone.now(),
        },
    )
    record(actor=user, action="user.signed_in")


@receiver(user_logged_out)
def forget_session(sender: Any, request: HttpRequest, user: User | None, **_: Any) -> None:
    """Take the session off the list; Django itself deletes its content."""
    if request.session.session_key:
        UserSession.objects.filter(session_key=request.session.session_key).delete()


def follow_new_key(request: HttpRequest, old_key: str | None) -> None:
    """Keep the listed session when Django gave it a new key, as at a password change."""
    UserSession.objects.filter(session_key=old_key).update(session_key=request.session.session_key)


def end_session(session: UserSession) -> None:
    """Sign the person out of one browser, at its next request."""
    _session_store(session.session_key).delete()
    session.delete()


def end_sessions(*, user: User, keep_key: str | None = None) -> int:
    """Sign the person out everywhere, except in the session `keep_key`; returns how many sessions ended."""
    sessions = list(UserSession.objects.filter(user=user).exclude(session_key=keep_key or ""))
    for session in sessions:
        end_session(session)
    return len(sessions)
