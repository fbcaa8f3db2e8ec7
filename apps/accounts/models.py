"""Users, organisations, their clients, and who may do what in which client."""

import uuid
from typing import Any

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.scoping import ClientOwned


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **values: Any) -> "User":
        if not email:
            raise ValueError("email is empty; it must be an address.")
        user = self.model(email=self.normalize_email(email).lower(), **values)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **values: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **values)


class User(AbstractUser):
    """A person, known by mail address. What they may see follows from memberships alone."""

    username = None  # type: ignore[assignment]
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(_("mail address"), unique=True)
    display_name = models.CharField(_("name"), max_length=120, blank=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = []
    objects = UserManager()  # type: ignore[misc,assignment]

    def __str__(self) -> str:
        return self.display_name or self.email


class Organisation(models.Model):
    """Whoever runs assessments: a company for itself, or a consultancy for its clients."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(_("name"), max_length=200)
    one_time_codes_required = models.BooleanField(_("one-time codes required"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class OrganisationMembership(models.Model):
    """Administrators create clients and invite people; they see a client only with a role in it."""

    class Role(models.TextChoices):
        ADMINISTRATOR = "administrator", _("administrator")
        MEMBER = "member", _("member")

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="organisation_memberships")
    role = models.CharField(max_length=20, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "user"], name="one_membership_per_organisation")]


class Client(models.Model):
    """The party an assessment is made for. Nothing of one client ever reaches another."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="clients")
    name = models.CharField(_("name"), max_length=200)
    fictional = models.BooleanField(_("fictional demo"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "name"],
                condition=Q(deleted_at__isnull=True),
                name="client_name_per_organisation",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a person may do in one client; docs/roles.md has the table."""

    OWNER = "owner", _("owner")
    ANALYST = "analyst", _("analyst")
    FINANCE_REVIEWER = "finance_reviewer", _("finance reviewer")
    ARCHITECT = "architect", _("architect")
    VIEWER = "viewer", _("viewer")


class Membership(models.Model):
    """One person's role in one client."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=20, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "user"], name="one_role_per_client")]


class Invitation(ClientOwned):
    """A link that gives a role once. Only a hash of its secret is stored."""

    email = models.EmailField(_("mail address"))
    role = models.CharField(_("role"), max_length=20, choices=Role)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)


class AppendOnlyError(RuntimeError):
    """Somebody tried to change or delete what is only ever added to."""


class AppendOnlyQuerySet(models.QuerySet["AuditEntry"]):
    """Reads and adds. Deleting a client or a person still removes or blanks its rows, inside Django's collector."""

    def update(self, **values: Any) -> int:
        raise AppendOnlyError("Audit entries are never changed.")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError("Audit entries are never deleted.")

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        raise AppendOnlyError("Audit entries are never changed.")


class AuditEntry(models.Model):
    """Who did what to what, in words; rows are only ever added. No prices, file contents or secrets."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(Client, null=True, blank=True, on_delete=models.CASCADE, related_name="audit_entries")
    organisation = models.ForeignKey(Organisation, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=60)  # noun.verb, such as import.committed
    subject = models.CharField(max_length=200, blank=True)
    subject_id = models.UUIDField(null=True, blank=True)
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True, db_index=True)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        ordering = ["-at"]

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError("Audit entries are never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError("Audit entries are never deleted.")


class OutboxMessage(models.Model):
    """An effect outside the database, such as a mail: written with what caused it, carried out once afterwards."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    unique_key = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)  # somebody is carrying it out until then
    attempts = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)


class UserSession(models.Model):
    """A browser in which a person is signed in, so that they can see it and end it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    session_key = models.CharField(max_length=40, unique=True)
    address = models.CharField(max_length=45, blank=True)
    browser = models.CharField(max_length=200, blank=True)
    signed_in_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_seen_at"]

    @property
    def browser_name(self) -> str:
        """Such as "Firefox on Linux", as far as the browser tells."""
        # Chrome calls itself Safari too, and Edge and Opera call themselves Chrome: the first hit is the right one.
        names = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
        systems = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows", "Mac OS": "macOS"}
        systems["Linux"] = "Linux"
        name = next((name for mark, name in names.items() if mark in self.browser), self.browser[:40])
        system = next((system for mark, system in systems.items() if mark in self.browser), "")
        if not name:
            return gettext("not given")
        return gettext("%(browser)s on %(system)s") % {"browser": name, "system": system} if system else name


class AttemptCounter(models.Model):
    """When the last tries under one key happened; the row is locked while it is read and written.

    The key is a hash of what is limited (an account at an address, an address), so no mail address is kept here.
    """

    key_sha256 = models.CharField(max_length=64, primary_key=True)
    times = models.JSONField(default=list)  # seconds since 1970, oldest first
    updated_at = models.DateTimeField(auto_now=True, db_index=True)


class PasswordResetLink(models.Model):
    """A link made by an administrator with which a person sets a new password, once. Only a hash is stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    secret_sha256 = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
