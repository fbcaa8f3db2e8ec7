"""Assessments and options for support; read-only."""

from django.contrib import admin

from apps.assessments.models import Assessment, Option
from apps.racks.admin import ClientRowAdmin


@admin.register(Assessment)
class AssessmentAdmin(ClientRowAdmin):
    list_display = ("name", "client", "state", "currency", "signature_date")
    list_filter = ("state",)


@admin.register(Option)
class OptionAdmin(ClientRowAdmin):
    list_display = ("letter", "name", "assessment", "baseline", "client")
