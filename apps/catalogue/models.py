"""Facts about hardware, prices and models that anybody could look up, each with its source."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Kind(models.TextChoices):
    ACCELERATOR = "accelerator", _("accelerator")
    NETWORK_PART = "network_part", _("network part")
    PRICE = "price", _("market price")
    CLOUD_RATE = "cloud_rate", _("public cloud rate")
    MODEL = "model", _("model shape")


class CatalogueItem(models.Model):
    """A thing the catalogue knows: an accelerator, a network part, a dated price, a public model.

    Rows of the product have no organisation and are read-only for tenants; an organisation overrides single values
    with `CatalogueValue` rows of its own.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=20, choices=Kind)
    key = models.CharField(max_length=200)  # stable, such as "H100 SXM"
    name = models.CharField(_("name"), max_length=200)
    vendor = models.CharField(_("vendor"), max_length=100, blank=True)
    region = models.CharField(_("region"), max_length=60, blank=True)
    note = models.TextField(_("note"), blank=True)

    class Meta:
        ordering = ["kind", "key"]
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="catalogue_key_per_kind")]

    def __str__(self) -> str:
        return self.name


class CatalogueValue(models.Model):
    """One figure of an item. A blank figure has no row: unknown is never zero."""

    class Basis(models.TextChoices):
        READ = "read", _("taken from the source named")
        MEMORY = "memory", _("recalled, to be confirmed")
        DERIVED = "derived", _("derived")
        OWN = "own", _("the organisation's own figure")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    item = models.ForeignKey(CatalogueItem, on_delete=models.CASCADE, related_name="values")
    organisation = models.ForeignKey(
        "accounts.Organisation", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    name = models.CharField(max_length=60)  # with its unit: bf16_tflops, price_usd, power_typ_w
    value = models.CharField(max_length=200)  # digits as in the source, or text
    low = models.CharField(max_length=60, blank=True)
    high = models.CharField(max_length=60, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    source = models.TextField(_("source"))
    source_url = models.CharField(max_length=300, blank=True)
    as_of = models.CharField(_("as of"), max_length=20, blank=True)  # as precise as the source: 2024-08, 2026-11-18
    retrieved_on = models.DateField(null=True, blank=True)
    basis = models.CharField(max_length=10, choices=Basis)
    author = models.CharField(max_length=120, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            # Two constraints: SQLite cannot treat two empty columns as equal.
            models.UniqueConstraint(
                fields=["item", "name"], condition=Q(organisation__isnull=True), name="catalogue_product_value_once"
            ),
            models.UniqueConstraint(
                fields=["item", "organisation", "name"],
                condition=Q(organisation__isnull=False),
                name="catalogue_own_value_once",
            ),
        ]
