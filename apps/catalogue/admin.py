"""The catalogue for support; read-only, because the product's rows come from files."""

from django.contrib import admin

from apps.accounts.admin import ReadOnlyAdmin
from apps.catalogue.models import CatalogueItem, CatalogueValue


@admin.register(CatalogueItem)
class CatalogueItemAdmin(ReadOnlyAdmin):
    list_display = ("key", "kind", "vendor", "region")
    list_filter = ("kind", "vendor")
    search_fields = ("key", "name")


@admin.register(CatalogueValue)
class CatalogueValueAdmin(ReadOnlyAdmin):
    list_display = ("item", "name", "value", "unit", "as_of", "basis", "organisation")
    list_filter = ("basis", "name")
    list_select_related = ("item", "organisation")
    search_fields = ("item__key", "source")
