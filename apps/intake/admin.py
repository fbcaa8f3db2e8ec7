"""Imports in the administration of an installation: state and size, never content."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from apps.intake.models import ImportBatch, UploadedFile


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Staff of the installation see how imports go; what was in the files stays with the client."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model._default_manager.system("administration of the installation")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(UploadedFile)
class UploadedFileAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "content_type", "size_bytes", "created_at")
    fields = ("id", "client", "content_type", "size_bytes", "sha256", "created_at")


@admin.register(ImportBatch)
class ImportBatchAdmin(ReadOnlyAdmin):
    list_display = ("id", "client", "kind", "state", "created_at", "committed_at", "undone_at")
    fields = ("id", "client", "kind", "state", "created_at", "committed_at", "undone_at")
