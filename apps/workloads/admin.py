"""Roadmaps for support; read-only."""

from django.contrib import admin

from apps.racks.admin import ClientRowAdmin
from apps.workloads.models import RoadmapItem


@admin.register(RoadmapItem)
class RoadmapItemAdmin(ClientRowAdmin):
    list_display = ("name", "assessment", "first_quarter", "last_quarter", "architecture", "client")
