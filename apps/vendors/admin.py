"""Vendors and quotes in the administration of an installation: to look at, not to change."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from apps.vendors.models import Quote, QuoteVersion, Vendor


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Staff of the installation see that rows exist; prices and texts stay with the client."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model._default_manager.system("administration of the installation")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Vendor)
class VendorAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "created_at")
    fields = ("id", "client", "created_at")


@admin.register(Quote)
class QuoteAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "created_at")
    fields = ("id", "client", "created_at")


@admin.register(QuoteVersion)
class QuoteVersionAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "version", "state", "created_at")
    fields = ("id", "client", "version", "state", "created_at")
