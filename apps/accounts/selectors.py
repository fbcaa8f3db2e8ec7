"""Reads about people and clients; each takes the acting user and shows nothing beyond their clients."""

import uuid

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import (
    AuditEntry,
    Client,
    Invitation,
    Membership,
    Organisation,
    OrganisationMembership,
    User,
    UserSession,
)
from apps.accounts.permissions import AnyUser, NotVisible, require, role_of

__all__ = ["role_of"]


def clients_visible_to(user: AnyUser) -> QuerySet[Client]:
    """Clients in which the user holds a role, by name, each with its organisation."""
    if not isinstance(user, User) or not user.is_active:
        return Client.objects.none()
    return (
        Client.objects.filter(memberships__user=user, deleted_at__isnull=True)
        .select_related("organisation")
        .order_by("name")
    )


def client_visible_to(user: AnyUser, client_id: uuid.UUID) -> Client:
    """The client with that id; raises `NotVisible`, a 404, when it is unknown, deleted or not the user's."""
    client = clients_visible_to(user).filter(pk=client_id).first()
    if client is None:
        raise NotVisible(_("Page not found"))
    return client


def members_of(user: AnyUser, client: Client) -> QuerySet[Membership]:
    """Who holds which role in the client, by name."""
    require(user, client, "view")
    return Membership.objects.filter(client=client).select_related("user").order_by("user__display_name", "user__email")


def invitations_of(user: AnyUser, client: Client) -> QuerySet[Invitation]:
    """Invitations that could still be accepted, newest first."""
    require(user, client, "manage_members")
    return (
        Invitation.objects.of_client(client)
        .filter(accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=timezone.now())
        .select_related("invited_by")
        .order_by("-created_at")
    )


def audit_entries_visible_to(user: AnyUser, client: Client) -> QuerySet[AuditEntry]:
    """What happened in the client, newest first."""
    require(user, client, "manage_members")
    return AuditEntry.objects.filter(client=client).select_related("actor").order_by("-at", "-pk")


def sessions_of(user: User) -> QuerySet[UserSession]:
    """Browsers in which the user is signed in, the last used first; ended and lapsed ones are left out."""
    from django.contrib.sessions.models import Session

    live = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    return UserSession.objects.filter(user=user, session_key__in=live).order_by("-last_seen_at")


def organisations_administered_by(user: AnyUser) -> QuerySet[Organisation]:
    """Organisations in which the user may create clients."""
    if not isinstance(user, User) or not user.is_active:
        return Organisation.objects.none()
    administers = OrganisationMembership.Role.ADMINISTRATOR
    return Organisation.objects.filter(memberships__user=user, memberships__role=administers).order_by("name")


def organisation_administered_by(user: AnyUser, organisation_id: uuid.UUID) -> Organisation:
    """That organisation; raises `NotVisible`, a 404, unless the user administers it."""
    organisation = organisations_administered_by(user).filter(pk=organisation_id).first()
    if organisation is None:
        raise NotVisible(_("Page not found"))
    return organisation


def people_of(user: AnyUser, organisation: Organisation) -> QuerySet[User]:
    """Everybody who belongs to the organisation or holds a role in one of its clients, by name."""
    organisation_administered_by(user, organisation.pk)
    inside = Q(organisation_memberships__organisation=organisation) | Q(memberships__client__organisation=organisation)
    return User.objects.filter(inside).distinct().order_by("display_name", "email")


def belongs_only_to(person: User, organisation: Organisation) -> bool:
    """Whether the person holds nothing outside the organisation, so that its administrator may reset their password."""
    elsewhere = (
        Membership.objects.filter(user=person).exclude(client__organisation=organisation).exists()
        or OrganisationMembership.objects.filter(user=person).exclude(organisation=organisation).exists()
    )
    inside = (
        Membership.objects.filter(user=person, client__organisation=organisation).exists()
        or OrganisationMembership.objects.filter(user=person, organisation=organisation).exists()
    )
    return inside and not elsewhere and not person.is_staff and not person.is_superuser


def must_use_one_time_codes(user: User) -> bool:
    """Whether one of the person's organisations requires one-time codes."""
    theirs = Q(memberships__user=user) | Q(clients__memberships__user=user, clients__deleted_at__isnull=True)
    return Organisation.objects.filter(theirs, one_time_codes_required=True).exists()
