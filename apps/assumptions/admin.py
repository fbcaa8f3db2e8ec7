"""Assumptions, rates and claims for support; read-only, because changes go through the services."""

from django.contrib import admin

from apps.accounts.admin import ClientOwnedAdmin, ReadOnlyAdmin
from apps.assumptions.models import AssumptionValue, Claim, FxRate


@admin.register(AssumptionValue)
class AssumptionValueAdmin(ReadOnlyAdmin):
    list_display = ("key", "version", "organisation", "client", "likely", "status", "withdrawn", "created_at")
    list_filter = ("status", "topic", "client")
    list_select_related = ("organisation", "client")
    search_fields = ("key", "source")


@admin.register(FxRate)
class FxRateAdmin(ReadOnlyAdmin, ClientOwnedAdmin):
    list_display = ("base", "quote", "rate", "rate_date", "client")


@admin.register(Claim)
class ClaimAdmin(ReadOnlyAdmin):
    list_display = ("key", "topic", "verdict", "status", "client")
    list_filter = ("verdict", "status", "topic")
    list_select_related = ("client",)
    search_fields = ("key", "statement")
