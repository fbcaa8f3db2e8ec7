"""Rows that belong to a client, and the only ways to reach them."""

import uuid
from typing import TYPE_CHECKING, Any, Self, TypeVar

from django.db import models
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from apps.accounts.models import Client, User

M = TypeVar("M", bound=models.Model)


class ScopeError(RuntimeError):
    """Rows of a client were asked for without saying for whom."""


class ClientScopedQuerySet(models.QuerySet[M]):
    """Queries of client-owned rows; each begins with `visible_to`, `of_client` or `system` of the manager."""

    def visible_to(self, user: "User") -> Self:
        """Rows of the clients in which `user` holds a role; none for anybody who is not signed in."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        return self.filter(client__memberships__user=user, client__deleted_at__isnull=True)


class ClientScopedManager(models.Manager[M]):
    """Refuses to list rows until it is told for whom: a forgotten filter fails instead of leaking."""

    def get_queryset(self) -> ClientScopedQuerySet[M]:
        if getattr(self, "instance", None) is not None:  # a relation of a row that was reached by scope
            return ClientScopedQuerySet(self.model, using=self._db)
        raise ScopeError(f"{self.model.__name__}.objects needs visible_to(user), of_client(client) or system(reason).")

    def visible_to(self, user: "User") -> ClientScopedQuerySet[M]:
        return ClientScopedQuerySet(self.model, using=self._db).visible_to(user)

    def of_client(self, client: "Client") -> ClientScopedQuerySet[M]:
        return ClientScopedQuerySet(self.model, using=self._db).filter(client=client)

    def system(self, reason: str) -> ClientScopedQuerySet[M]:
        """All clients' rows, for the queue, migrations and administration; `reason` is for the reader of the code."""
        if not reason:
            raise ScopeError("system() needs a reason.")
        return ClientScopedQuerySet(self.model, using=self._db)

    def create(self, **values: Any) -> M:
        return ClientScopedQuerySet(self.model, using=self._db).create(**values)

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[M]:
        return ClientScopedQuerySet(self.model, using=self._db).bulk_create(*args, **kwargs)


class ClientOwned(models.Model):
    """A row of one client. Its id is random, so an address tells nothing; its client never changes."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    client = models.ForeignKey(
        "accounts.Client", on_delete=models.CASCADE, related_name="+", editable=False, verbose_name=_("client")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    objects: ClientScopedManager[Self] = ClientScopedManager()
    unscoped = models.Manager()

    class Meta:
        abstract = True
        base_manager_name = "unscoped"  # what Django itself uses to follow foreign keys
        default_manager_name = "objects"
