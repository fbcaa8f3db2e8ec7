"""Writes about organisations, clients, members and invitations."""

import hashlib
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import models, transaction
from django.db.models import ProtectedError
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts import outbox
from apps.accounts.audit import record
from apps.accounts.models import Client, Invitation, Membership, Organisation, OrganisationMembership, Role, User
from apps.accounts.permissions import SYSTEM, Actor, NotVisible, require
from apps.accounts.scoping import ClientOwned
from apps.accounts.selectors import organisation_administered_by
from apps.accounts.sessions import end_sessions

__all__ = ["record"]

INVITATION_DAYS = 7
# Sent with `client` inside the deleting transaction, before any row goes; apps above stop what is running.
client_deleting = Signal()


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def new_secret() -> str:
    """256 random bits for a link."""
    return secrets.token_urlsafe(32)


def _require_administrator(actor: Actor, organisation: Organisation) -> None:
    if actor is not SYSTEM:
        organisation_administered_by(actor, organisation.pk)


# organisations and clients --------------------------------------------------------------------------------------------
@transaction.atomic
def create_organisation(*, actor: Actor, name: str, administrator: User) -> Organisation:
    """Make an organisation with its first administrator; only staff of the installation and commands may."""
    if isinstance(actor, User) and not actor.is_superuser:
        raise NotVisible(_("Page not found"))
    organisation = Organisation.objects.create(name=name)
    role = OrganisationMembership.Role.ADMINISTRATOR
    OrganisationMembership.objects.create(organisation=organisation, user=administrator, role=role)
    record(actor=actor, action="organisation.created", organisation=organisation, subject=name)
    return organisation


@transaction.atomic
def require_one_time_codes(*, actor: Actor, organisation: Organisation, required: bool) -> None:
    """Say whether everybody of the organisation and its clients has to use one-time codes."""
    _require_administrator(actor, organisation)
    organisation.one_time_codes_required = required
    organisation.save(update_fields=["one_time_codes_required"])
    record(
        actor=actor,
        action="organisation.one_time_codes_changed",
        organisation=organisation,
        subject=organisation.name,
        details={"required": required},
    )


@transaction.atomic
def create_client(
    *, actor: Actor, organisation: Organisation, name: str, fictional: bool = False, owner: User | None = None
) -> Client:
    """Make a client; whoever makes it, or `owner`, owns it.

    Raises `ValidationError` when the organisation has a client of that name.
    """
    _require_administrator(actor, organisation)
    _check_client_name(organisation, name)
    client = Client.objects.create(organisation=organisation, name=name.strip(), fictional=fictional)
    first_owner = owner or (actor if isinstance(actor, User) else None)
    if first_owner is not None:
        Membership.objects.create(client=client, user=first_owner, role=Role.OWNER)
    record(actor=actor, action="client.created", client=client, subject=client.name, subject_id=client.pk)
    return client


@transaction.atomic
def rename_client(*, actor: Actor, client: Client, name: str) -> Client:
    """Give the client another name; raises `ValidationError` when it is taken."""
    require(actor, client, "delete")
    _check_client_name(client.organisation, name, but=client)
    earlier, client.name = client.name, name.strip()
    client.save(update_fields=["name"])
    record(
        actor=actor,
        action="client.renamed",
        client=client,
        subject=client.name,
        subject_id=client.pk,
        details={"earlier_name": earlier},
    )
    return client


def _check_client_name(organisation: Organisation, name: str, but: Client | None = None) -> None:
    if not name.strip():
        raise ValidationError({"name": _("The name is empty; it must say which client this is.")})
    same = Client.objects.filter(organisation=organisation, name__iexact=name.strip(), deleted_at__isnull=True)
    if same.exclude(pk=but.pk if but else None).exists():
        raise ValidationError({"name": _("A client of this organisation has that name; choose another.")})


@transaction.atomic
def delete_client(*, actor: Actor, client: Client, typed_name: str) -> None:
    """Delete every row and file of the client, for good. `typed_name` has to be its name, so that nobody slips."""
    require(actor, client, "delete")
    if typed_name.strip() != client.name:
        message = _("The name is “%(typed)s”; it must be “%(name)s”.") % {"typed": typed_name, "name": client.name}
        raise ValidationError({"typed_name": message})
    client_deleting.send(sender=Client, client=client)
    client_id, name, organisation = client.pk, client.name, client.organisation
    rows = _delete_rows_of(client)
    client.delete()
    record(
        actor=actor,
        action="client.deleted",
        organisation=organisation,
        subject=name,
        subject_id=client_id,
        details={"rows": rows},
    )
    transaction.on_commit(partial(_delete_files_of, str(client_id)), robust=True)


def _delete_rows_of(client: Client) -> int:
    """Delete the client's rows of all apps, children first; rows that protect others go before those."""
    waiting: list[type[models.Model]] = [model for model in apps.get_models() if issubclass(model, ClientOwned)]
    deleted = 0
    while waiting:
        protected = []
        for model in waiting:
            try:
                deleted += model._base_manager.filter(client=client).delete()[0]
            except ProtectedError:
                protected.append(model)
        if len(protected) == len(waiting):
            raise RuntimeError(f"{', '.join(model.__name__ for model in protected)} protect each other.")
        waiting = protected
    return deleted


def client_directory(client_id: str) -> str:
    """Where, below the storage, every file of a client is kept."""
    return f"clients/{client_id}"


def _delete_files_of(client_id: str) -> None:
    if isinstance(default_storage, FileSystemStorage) or hasattr(default_storage, "path"):
        shutil.rmtree(Path(default_storage.path(client_directory(client_id))), ignore_errors=True)


# members ------------------------------------------------------------------------------------------------------------
@transaction.atomic
def add_member(*, actor: Actor, client: Client, user: User, role: Role) -> Membership:
    """Give a person who has an account a role in the client, as commands do; people on screens invite."""
    require(actor, client, "manage_members")
    membership, created = Membership.objects.get_or_create(client=client, user=user, defaults={"role": role})
    if created:
        _record_member(actor, "member.added", membership)
    return membership


@transaction.atomic
def change_role(*, actor: Actor, membership: Membership, role: Role) -> Membership:
    """Give a member another role; raises `ValidationError` rather than leave the client without an owner."""
    client = _lock(membership)
    require(actor, client, "manage_members")
    if role != Role.OWNER:
        _keep_an_owner(membership)
    earlier, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    _record_member(actor, "member.role_changed", membership, earlier_role=earlier)
    return membership


@transaction.atomic
def remove_member(*, actor: Actor, membership: Membership) -> None:
    """Take a person out of the client and sign them out everywhere; the last owner stays."""
    client = _lock(membership)
    require(actor, client, "manage_members")
    _keep_an_owner(membership)
    _record_member(actor, "member.removed", membership)
    person = membership.user
    Membership.objects.filter(pk=membership.pk).delete()
    end_sessions(user=person)


def _lock(membership: Membership) -> Client:
    """Lock the client, so that two owners cannot remove each other at the same moment; re-reads the role."""
    client = Client.objects.select_for_update().get(pk=membership.client_id)
    try:
        membership.refresh_from_db()
    except Membership.DoesNotExist:
        raise NotVisible(_("Page not found")) from None
    return client


def _keep_an_owner(membership: Membership) -> None:
    owners = Membership.objects.filter(client_id=membership.client_id, role=Role.OWNER)
    if membership.role == Role.OWNER and not owners.exclude(pk=membership.pk).exists():
        raise ValidationError(_("This is the last owner. Make another member an owner first."))


def _record_member(actor: Actor, action: str, membership: Membership, **details: str) -> None:
    record(
        actor=actor,
        action=action,
        client=membership.client,
        subject=membership.user.email,
        subject_id=membership.pk,
        details={"role": membership.role, **details},
    )


# invitations --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Invited:
    """A new invitation and the secret of its link, which nobody can read again."""

    invitation: Invitation
    secret: str
    mailed: bool


@transaction.atomic
def invite(
    *, actor: User, client: Client, email: str, role: Role, link_for: Callable[[str], str], mail: bool = False
) -> Invited:
    """Make a link that gives a role once within 7 days; `mail` sends it, else it has to be handed over.

    `link_for` turns the secret into an address. Raises `ValidationError` when the person has a role already.
    """
    require(actor, client, "manage_members")
    email = email.strip().lower()
    if Membership.objects.filter(client=client, user__email=email).exists():
        raise ValidationError({"email": _("This person has a role in the client; change it in the list.")})
    now = timezone.now()
    # A new invitation replaces an open one, so that one person holds at most one valid link.
    Invitation.objects.of_client(client).filter(email=email, accepted_at=None, revoked_at=None).update(revoked_at=now)
    secret = new_secret()
    invitation = Invitation.objects.create(
        client=client,
        email=email,
        role=role,
        secret_sha256=hash_secret(secret),
        invited_by=actor,
        expires_at=now + timedelta(days=INVITATION_DAYS),
    )
    if mail:
        _mail_invitation(invitation, link_for(secret))
    _record_invitation(actor, "invitation.created", invitation)
    return Invited(invitation=invitation, secret=secret, mailed=mail)


def _mail_invitation(invitation: Invitation, link: str) -> None:
    text = _(
        "%(inviter)s invites you to %(client)s in Spinecut as %(role)s.\n\n"
        "Open this link within %(days)d days to accept:\n%(link)s\n\n"
        "The link works once. If you did not expect it, do nothing."
    )
    values = {
        "inviter": str(invitation.invited_by),
        "client": invitation.client.name,
        "role": invitation.get_role_display(),
        "days": INVITATION_DAYS,
        "link": link,
    }
    outbox.post(
        unique_key=f"invitation:{invitation.pk}",
        kind="mail",
        payload={"to": [invitation.email], "subject": _("Invitation to Spinecut"), "body": text % values},
    )


@transaction.atomic
def revoke_invitation(*, actor: Actor, invitation: Invitation) -> None:
    """Make the link useless from now on."""
    require(actor, invitation.client, "manage_members")
    open_ones = Invitation.objects.of_client(invitation.client).filter(accepted_at=None, revoked_at=None)
    if open_ones.filter(pk=invitation.pk).update(revoked_at=timezone.now()):
        _record_invitation(actor, "invitation.revoked", invitation)


def open_invitation(secret: str) -> Invitation:
    """The invitation of a link; raises `NotVisible` alike for unknown, used, expired and revoked ones."""
    invitation = (
        Invitation.objects.system("the secret of the link is the right to see the invitation")
        .filter(secret_sha256=hash_secret(secret), accepted_at=None, revoked_at=None)
        .filter(expires_at__gt=timezone.now(), client__deleted_at=None)
        .select_related("client__organisation", "invited_by")
        .first()
    )
    if invitation is None:
        raise NotVisible(_("Page not found"))
    return invitation


@transaction.atomic
def accept_invitation(
    *, secret: str, user: User | None = None, display_name: str = "", password: str | None = None
) -> Membership:
    """Give the invited person the role, once: `user` when they have an account, else a new account is made.

    Raises `NotVisible` when the link does not work (any more), `ValidationError` when it is for another address.
    """
    invitation = open_invitation(secret)
    mine = Invitation.objects.of_client(invitation.client).filter(pk=invitation.pk)
    if not mine.filter(accepted_at=None, revoked_at=None).update(accepted_at=timezone.now()):
        raise NotVisible(_("Page not found"))
    if user is None:
        if User.objects.filter(email=invitation.email).exists():
            raise ValidationError(_("This address has an account. Sign in to accept."))
        user = User.objects.create_user(invitation.email, password, display_name=display_name.strip())
    elif user.email != invitation.email:
        raise ValidationError(_("This invitation is for another mail address."))
    mine.update(accepted_by=user)
    membership = Membership.objects.get_or_create(
        client=invitation.client, user=user, defaults={"role": invitation.role}
    )[0]
    _record_invitation(user, "invitation.accepted", invitation)
    return membership


def _record_invitation(actor: Actor, action: str, invitation: Invitation) -> None:
    record(
        actor=actor,
        action=action,
        client=invitation.client,
        subject=invitation.email,
        subject_id=invitation.pk,
        details={"role": invitation.role},
    )
