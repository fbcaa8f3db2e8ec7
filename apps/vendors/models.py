"""Who sells, on which terms, and line by line at which price."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.fields import ExactDecimalField
from apps.accounts.scoping import ClientOwned


class EvidenceLevel(models.TextChoices):
    """How well a statement is supported, weakest first."""

    NONE = "none", _("none")
    CLAIM = "claim", _("claim")
    SPECIFICATION = "specification", _("specification")
    THIRD_PARTY = "third_party", _("third-party")
    THIRD_PARTY_MATCHING = "third_party_matching", _("third-party matching")
    OWN_MEASUREMENT = "own_measurement", _("own measurement")


class Vendor(ClientOwned):
    name = models.CharField(_("name"), max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "name"], name="vendor_name_per_client")]

    def __str__(self) -> str:
        return self.name


class Quote(ClientOwned):
    """An offer of one vendor; what it says lives in its versions."""

    vendor = models.ForeignKey(Vendor, on_delete=models.CASCADE, related_name="quotes")
    number = models.CharField(_("quote number"), max_length=100)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["vendor", "number"], name="quote_number_per_vendor")]

    def __str__(self) -> str:
        return f"{self.vendor.name} {self.number}"


class QuoteVersion(ClientOwned):
    """One version of a quote as received. A correction is a new version, so past runs keep their numbers."""

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        RECEIVED = "received", _("received")
        CLARIFIED = "clarified", _("clarified")
        EXPIRED = "expired", _("expired")
        SUPERSEDED = "superseded", _("superseded")
        ACCEPTED = "accepted", _("accepted")

    quote = models.ForeignKey(Quote, on_delete=models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=State, default=State.RECEIVED)
    date = models.DateField(_("quote date"), null=True, blank=True)
    valid_until = models.DateField(_("valid until"), null=True, blank=True)
    currency = models.CharField(_("currency"), max_length=3)
    tax_excluded = models.BooleanField(_("tax excluded"), null=True, blank=True)
    term_months = models.PositiveIntegerField(_("term in months"), null=True, blank=True)
    renewable = models.BooleanField(_("renewable"), null=True, blank=True)
    warranty_months = models.PositiveIntegerField(_("warranty in months"), null=True, blank=True)
    incoterm = models.CharField(max_length=40, blank=True)
    lead_weeks_low = ExactDecimalField(_("lead time, low"), null=True, blank=True)
    lead_weeks_likely = ExactDecimalField(_("lead time, likely"), null=True, blank=True)
    lead_weeks_high = ExactDecimalField(_("lead time, high"), null=True, blank=True)
    acceptance_weeks = ExactDecimalField(_("acceptance, weeks"), null=True, blank=True)
    # none, written, penalty; empty: not given
    delivery_commitment = models.CharField(_("delivery commitment"), max_length=20, blank=True)
    # [{"share": "0.3", "anchor": "signature|delivery|acceptance", "offset_weeks": "0"}], empty: all at signature
    payment_milestones = models.JSONField(default=list, blank=True)
    terms = models.JSONField(default=dict, blank=True)  # other facts of the sheet Terms, {name: {value, ref}}
    fabric = models.JSONField(default=dict, blank=True)  # the sheet Fabric, {name: {value, ref}}
    claims = models.JSONField(default=list, blank=True)  # the sheet Claims, [{topic, statement, evidence_level, ref}]
    refs = models.JSONField(default=dict, blank=True)  # field name -> "Quote!B5"
    source_file_id = models.UUIDField(null=True, blank=True)  # intake.UploadedFile, which stands above this app
    import_batch_id = models.UUIDField(null=True, blank=True)

    class Meta:
        ordering = ["quote", "version"]
        constraints = [models.UniqueConstraint(fields=["quote", "version"], name="quote_version_once")]

    def __str__(self) -> str:
        return f"{self.quote} v{self.version}"


class LineKind(models.TextChoices):
    COMPUTE = "compute", _("compute")
    FABRIC = "fabric", _("fabric")
    STORAGE = "storage", _("storage")
    FACILITY = "facility", _("facility")
    SERVICE = "service", _("service")
    SOFTWARE = "software", _("software")
    SUPPORT = "support", _("support")
    CLOUD = "cloud", _("cloud")
    STAFF = "staff", _("staff")


class QuoteLine(ClientOwned):
    """One priced line. Empty prices mean "not given", never zero; amounts are in the line's own currency."""

    class Charge(models.TextChoices):
        ONE_OFF = "one_off", _("one-off")
        RECURRING = "recurring", _("recurring")

    class Period(models.TextChoices):
        HOUR = "hour", _("hour")
        MONTH = "month", _("month")
        YEAR = "year", _("year")

    quote_version = models.ForeignKey(QuoteVersion, on_delete=models.CASCADE, related_name="lines")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=LineKind)
    # Lines of different vendors with one comparison key stand in one row of the comparison.
    comparison_key = models.CharField(max_length=80, blank=True)
    description = models.CharField(_("description"), max_length=10_000)
    part_number = models.CharField(_("part number"), max_length=200, blank=True)
    quantity = ExactDecimalField(_("quantity"))
    unit = models.CharField(_("unit"), max_length=60, blank=True)
    unit_price_low = ExactDecimalField(_("unit price, low"), null=True, blank=True)
    unit_price_likely = ExactDecimalField(_("unit price, likely"), null=True, blank=True)
    unit_price_high = ExactDecimalField(_("unit price, high"), null=True, blank=True)
    currency = models.CharField(_("currency"), max_length=3)
    charge = models.CharField(max_length=10, choices=Charge)
    period = models.CharField(max_length=10, choices=Period, blank=True)
    # A support line may be a percentage of one-off lines of a kind; the unit prices then are percent per period.
    percent_of = models.CharField(max_length=20, blank=True)  # a LineKind, or "hardware" for compute+fabric+storage
    discount_fraction = ExactDecimalField(_("discount"), default=0)
    escalation_fraction_per_year = ExactDecimalField(_("price escalation a year"), null=True, blank=True)
    # "", signature, delivery, month: "" takes the usual anchor of its charge and kind (docs/models/tco.md)
    starts = models.CharField(max_length=12, blank=True)
    start_month = ExactDecimalField(null=True, blank=True)
    term_months = ExactDecimalField(null=True, blank=True)
    included = models.BooleanField(_("included in another line"), default=False)
    capacity_tb = ExactDecimalField(null=True, blank=True)
    write_gbyte_per_s = ExactDecimalField(null=True, blank=True)
    evidence_level = models.CharField(max_length=24, choices=EvidenceLevel, blank=True)
    source_ref = models.CharField(_("cell or page"), max_length=100, blank=True)  # Lines!H2, row 3, p. 4

    class Meta:
        ordering = ["quote_version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["quote_version", "position"], name="quote_line_position_once"),
            models.CheckConstraint(
                name="quote_line_recurring_has_period", condition=~Q(charge="recurring") | ~Q(period="")
            ),
        ]
