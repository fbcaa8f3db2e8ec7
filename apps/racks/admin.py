"""Configurations for support; read-only, because changes go through the services."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from apps.racks.models import RackConfiguration


class ClientRowAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows of all clients, to be looked at: a write here would go past permissions and the audit log."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model.objects.system("administration by staff of the installation")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(RackConfiguration)
class RackConfigurationAdmin(ClientRowAdmin):
    list_display = ("name", "template", "n_accelerators", "client")
    list_filter = ("template",)
