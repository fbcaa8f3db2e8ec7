"""What is assumed rather than quoted: layered, versioned values, exchange rates, and claims with their verdicts."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.fields import ExactDecimalField
from apps.accounts.scoping import ClientOwned


class AssumptionValue(models.Model):
    """One version of one assumption on one layer; a change adds a row, no row ever changes.

    Layers from weak to strong: product (no organisation), organisation, client, assessment. The strongest layer that
    has the key wins, in its latest version. What a key means (label, unit, topic, note) stands in its product row, so
    a key without a product row does not exist; a product row without a value names something that has no default.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    client = models.ForeignKey("accounts.Client", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    # An assessment stands above this app, so its layer is known by id alone.
    assessment_id = models.UUIDField(null=True, blank=True, db_index=True)
    key = models.CharField(max_length=80)  # such as discount_rate, facility_usd_per_kw_month, rule.T8.max_age_days
    version = models.PositiveIntegerField()
    label = models.CharField(_("name"), max_length=200, blank=True)
    unit = models.CharField(_("unit"), max_length=40, blank=True)
    topic = models.CharField(
        _("topic"), max_length=20, blank=True
    )  # price, schedule, performance, demand, method, rule
    note = models.TextField(_("note"), blank=True)
    low = ExactDecimalField(_("low"), null=True, blank=True)
    likely = ExactDecimalField(_("likely"), null=True, blank=True)
    high = ExactDecimalField(_("high"), null=True, blank=True)
    # What the key allows; like label and unit these stand in the product row.
    minimum = ExactDecimalField(_("least"), null=True, blank=True)
    maximum = ExactDecimalField(_("greatest"), null=True, blank=True)
    text = models.CharField(_("text"), max_length=200, blank=True)  # for assumptions that are no number
    distribution = models.CharField(max_length=20, default="triangular")
    source = models.TextField(_("source"))
    source_date = models.CharField(_("as of"), max_length=20, blank=True)
    status = models.CharField(_("status"), max_length=20, default="accepted")  # accepted, contested, memory, superseded
    author = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    author_label = models.CharField(max_length=120, blank=True)
    reason = models.TextField(_("reason"), blank=True)
    withdrawn = models.BooleanField(default=False)  # this version takes the key off its layer again
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            # One constraint a layer: SQLite cannot treat two empty columns as equal.
            models.UniqueConstraint(
                fields=["key", "version"],
                condition=Q(organisation__isnull=True, client__isnull=True),
                name="assumption_product_version_once",
            ),
            models.UniqueConstraint(
                fields=["organisation", "key", "version"],
                condition=Q(organisation__isnull=False, client__isnull=True),
                name="assumption_organisation_version_once",
            ),
            models.UniqueConstraint(
                fields=["client", "key", "version"],
                condition=Q(client__isnull=False, assessment_id__isnull=True),
                name="assumption_client_version_once",
            ),
            models.UniqueConstraint(
                fields=["client", "assessment_id", "key", "version"],
                condition=Q(assessment_id__isnull=False),
                name="assumption_assessment_version_once",
            ),
            models.CheckConstraint(
                name="assumption_layer_nests",
                condition=Q(assessment_id__isnull=True) | Q(client__isnull=False),
            ),
        ]


class FxRate(ClientOwned):
    """What one unit of `base` cost in `quote` on a day, as typed; the inverse is computed, never stored."""

    base = models.CharField(_("from"), max_length=3)
    quote = models.CharField(_("to"), max_length=3)
    rate = ExactDecimalField(_("rate"))
    low = ExactDecimalField(null=True, blank=True)
    high = ExactDecimalField(null=True, blank=True)
    rate_date = models.DateField(_("rate date"))
    source = models.CharField(_("source"), max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "base", "quote", "rate_date"], name="fx_rate_per_day")]


class Claim(models.Model):
    """A statement somebody made, what a check found, and what it may be used for. Never a default truth.

    Rows of the product have no client. A client that sees one differently has a row of its own with the same key.
    """

    class Verdict(models.TextChoices):
        HOLDS = "holds", _("holds")
        HOLDS_IF = "holds_if", _("holds under stated inputs")
        INCONSISTENT = "inconsistent", _("contradicts itself")
        WRONG = "wrong", _("contradicted by a source")
        UNSOURCED = "unsourced", _("no support known")
        OUTDATED = "outdated", _("outdated")

    class Status(models.TextChoices):
        ACCEPTED = "accepted", _("accepted")
        CONTESTED = "contested", _("contested")
        SUPERSEDED = "superseded", _("superseded")
        OWN_DATA = "own_data", _("replaced by own data")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    client = models.ForeignKey("accounts.Client", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=20)  # B-C1
    topic = models.CharField(max_length=40)
    statement = models.TextField(_("statement"))
    check_text = models.TextField(_("what a check found"))
    verdict = models.CharField(max_length=20, choices=Verdict)
    status = models.CharField(max_length=20, choices=Status)
    assumption_keys = models.JSONField(default=list, blank=True)  # assumptions that rest on it
    source = models.TextField(_("source"))
    as_of = models.CharField(max_length=20, blank=True)
    reason = models.TextField(_("reason"), blank=True)  # why a client sees it differently
    author_label = models.CharField(max_length=120, blank=True)

    class Meta:
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"], condition=Q(organisation__isnull=True, client__isnull=True), name="claim_product_once"
            ),
            models.UniqueConstraint(
                fields=["client", "key"], condition=Q(client__isnull=False), name="claim_client_once"
            ),
        ]
