"""Runs for whoever operates the installation: state and owner of the queue, never inputs or results."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.analyses.models import AnalysisRun, RuleWaiver, RunChunk, Scenario, SweepBeat

if TYPE_CHECKING:
    RowAdmin = admin.ModelAdmin[Any]
else:
    RowAdmin = admin.ModelAdmin


class ReadOnlyAdmin(RowAdmin):
    """Rows of all clients, to look at; what changes them is the application."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model.objects.system("administration of the installation")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AnalysisRun)
class AnalysisRunAdmin(ReadOnlyAdmin):
    list_display = ["id", "client", "number", "kind", "state", "attempt", "worker", "heartbeat_at", "created_at"]
    list_filter = ["state", "kind"]
    list_select_related = ["client"]
    search_fields = ["id"]
    exclude = ["inputs_json", "results_json"]


@admin.register(RunChunk)
class RunChunkAdmin(ReadOnlyAdmin):
    list_display = ["id", "run_id", "index", "state", "attempt", "worker", "heartbeat_at"]
    list_filter = ["state"]
    exclude = ["results_json"]


@admin.register(Scenario)
class ScenarioAdmin(ReadOnlyAdmin):
    list_display = ["id", "client", "name", "created_at"]
    list_select_related = ["client"]
    exclude = ["overrides"]


@admin.register(RuleWaiver)
class RuleWaiverAdmin(ReadOnlyAdmin):
    list_display = ["id", "client", "rule_id", "waived_by_name", "created_at", "withdrawn_at"]
    list_filter = ["rule_id"]
    list_select_related = ["client"]


@admin.register(SweepBeat)
class SweepBeatAdmin(RowAdmin):
    list_display = ["name", "at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
