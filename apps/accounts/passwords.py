"""Passwords: changing one's own, and the links with which a lost one is replaced."""

from collections.abc import Callable
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts import outbox
from apps.accounts.audit import record
from apps.accounts.models import Organisation, PasswordResetLink, User
from apps.accounts.permissions import NotVisible
from apps.accounts.selectors import belongs_only_to, organisation_administered_by
from apps.accounts.services import hash_secret, new_secret
from apps.accounts.sessions import end_sessions

RESET_HOURS = 24
MAX_LENGTH = 128


class MaximumLengthValidator:
    """Refuses passwords so long that hashing them would be work for an attacker to give away."""

    def __init__(self, max_length: int = MAX_LENGTH) -> None:
        self.max_length = max_length

    def validate(self, password: str, user: User | None = None) -> None:
        if len(password) > self.max_length:
            raise ValidationError(self.get_help_text(), code="password_too_long")

    def get_help_text(self) -> str:
        return ngettext(
            "Your password can have at most %(max_length)d character.",
            "Your password can have at most %(max_length)d characters.",
            self.max_length,
        ) % {"max_length": self.max_length}


@transaction.atomic
def change_password(*, user: User, password: str, keep_session_key: str | None = None) -> None:
    """Set a new password and sign the person out everywhere except in the session given."""
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user=user, keep_key=keep_session_key)
    PasswordResetLink.objects.filter(user=user, used_at=None).update(used_at=timezone.now())
    record(actor=user, action="user.password_changed")


@transaction.atomic
def mail_reset_link(*, email: str, link_for: Callable[[str], str]) -> None:
    """Mail a link to set a new password, if the address has an account; nothing tells whether it does."""
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user is None:
        return
    link, secret = _new_link(user, made_by=user)
    text = _(
        "Somebody asked for a new password of your Spinecut account.\n\n"
        "Open this link within %(hours)d hours to choose one:\n%(link)s\n\n"
        "If it was not you, do nothing: your password stays as it is."
    )
    body = text % {"hours": RESET_HOURS, "link": link_for(secret)}
    payload = {"to": [user.email], "subject": _("New password for Spinecut"), "body": body}
    outbox.post(unique_key=f"password-reset:{link.pk}", kind="mail", payload=payload)
    record(actor=user, action="user.password_reset_requested")


@transaction.atomic
def make_reset_link(*, actor: User, organisation: Organisation, person: User) -> str:
    """Return the secret of a link with which the person sets a new password; an administrator hands it over.

    Only for people who belong to nobody else: whoever holds the link acts as that person. Raises `NotVisible`
    otherwise.
    """
    organisation_administered_by(actor, organisation.pk)
    if not belongs_only_to(person, organisation):
        raise NotVisible(_("Page not found"))
    link, secret = _new_link(person, made_by=actor)
    record(
        actor=actor,
        action="user.password_reset_link_made",
        organisation=organisation,
        subject=person.email,
        subject_id=link.pk,
    )
    return secret


def _new_link(user: User, made_by: User) -> tuple[PasswordResetLink, str]:
    secret = new_secret()
    PasswordResetLink.objects.filter(user=user, used_at=None).update(used_at=timezone.now())
    link = PasswordResetLink.objects.create(
        user=user,
        made_by=made_by,
        secret_sha256=hash_secret(secret),
        expires_at=timezone.now() + timedelta(hours=RESET_HOURS),
    )
    return link, secret


def open_reset_link(secret: str) -> PasswordResetLink:
    """The link of that secret; raises `NotVisible` alike for unknown, used and expired ones."""
    links = PasswordResetLink.objects.filter(secret_sha256=hash_secret(secret), used_at=None)
    link = links.filter(expires_at__gt=timezone.now(), user__is_active=True).select_related("user").first()
    if link is None:
        raise NotVisible(_("Page not found"))
    return link


@transaction.atomic
def use_reset_link(*, secret: str, password: str) -> User:
    """Set the new password, once, and sign the person out everywhere."""
    link = open_reset_link(secret)
    if not PasswordResetLink.objects.filter(pk=link.pk, used_at=None).update(used_at=timezone.now()):
        raise NotVisible(_("Page not found"))
    change_password(user=link.user, password=password)
    return link.user
