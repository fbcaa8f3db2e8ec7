"""How sign-up, sign-in and one-time codes differ from allauth's defaults."""

import base64
import hashlib
import time
from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest
from django.utils.encoding import force_bytes
from django.utils.translation import gettext_lazy as _

from apps.accounts import limits
from apps.accounts.models import User

log = structlog.get_logger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    """Closed sign-up, exact limits of wrong passwords, plain texts."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "too_many_login_attempts": _("There were too many failed tries. Wait 15 minutes, then try again."),
        "email_password_mismatch": _("The mail address and the password do not belong together."),
        "incorrect_password": _("The password is not right."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Accounts are made by invitation links, never by a public form."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the try before the password is looked at, so that tries at the same moment count too."""
        address = limits.address_of(request)
        login = str(credentials.get("email", "")).strip().lower()
        attempts = limits.take_all(("sign_in_account", login, address), ("sign_in_address", address))
        if attempts is None:
            log.warning("sign_in.limited", address=address)
            raise self.validation_error("too_many_login_attempts")
        self._account_attempt, self._address_attempt = attempts

    def _rollback_login_failed_rl_usage(self) -> None:
        self._account_attempt.forget_all()
        self._address_attempt.forget()

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        log.warning("sign_in.failed", address=limits.address_of(request))

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Whether the password has to be typed again; the sign-in itself counts for as long as a re-entry does."""
        request = self.request
        signed_in_at = request.session.get("signed_in_at", 0) if request is not None else 0
        return time.time() - signed_in_at > settings.ACCOUNT_REAUTHENTICATION_TIMEOUT

    def reauthenticate(self, user: AbstractBaseUser, password: str) -> bool:
        """Whether this is the password of a person who is signed in; wrong ones count as at sign-in."""
        assert isinstance(user, User)
        found = self.authenticate(self.request, email=user.email, password=password)
        return found is not None and found.pk == user.pk


class MfaAdapter(DefaultMFAAdapter):
    """Keeps the seeds of one-time codes encrypted, so that a copy of the database alone makes no codes."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _("The code is not right. Codes change every 30 seconds."),
    }

    def encrypt(self, text: str) -> str:
        return _box().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _box().decrypt(encrypted_text.encode()).decode()


def _box() -> MultiFernet:
    """Encrypts under the secret key and still decrypts what the earlier keys encrypted."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [hashlib.sha256(b"one-time codes:" + force_bytes(key)).digest() for key in keys]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
