"""The question a client asks, and the options that could answer it."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.fields import ExactDecimalField
from apps.accounts.scoping import ClientOwned
from apps.racks.models import RackConfiguration
from apps.vendors.models import EvidenceLevel, QuoteVersion


class Assessment(ClientOwned):
    """One purchase decision: a date that matters, a horizon, a base currency, and the options compared for it."""

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        IN_REVIEW = "in_review", _("in review")
        CHALLENGED = "challenged", _("challenged")
        SIGNED = "signed", _("signed")
        DECIDED = "decided", _("decided")
        ARCHIVED = "archived", _("archived")

    class Load(models.TextChoices):
        TRAINING = "training", _("training")
        FINE_TUNING = "fine_tuning", _("fine-tuning")
        SERVING = "serving", _("serving")
        MIX = "mix", _("a mix of training and serving")

    name = models.CharField(_("name"), max_length=200)
    state = models.CharField(max_length=20, choices=State, default=State.DRAFT)
    fictional = models.BooleanField(default=False)
    currency = models.CharField(_("base currency"), max_length=3, default="USD")
    signature_date = models.DateField(_("expected signature"), null=True, blank=True)
    horizon_months = models.PositiveIntegerField(_("horizon in months"), default=36)
    # the three questions of the start page; empty: not answered
    dominant_load = models.CharField(_("dominant load"), max_length=20, choices=Load, blank=True)
    goal = models.CharField(_("goal"), max_length=200, blank=True)
    goal_date = models.DateField(_("date that matters"), null=True, blank=True)
    existing_capacity = models.CharField(_("what runs today"), max_length=20, blank=True)  # none, leased, owned
    moe_within_18_months = models.BooleanField(_("mixture of experts within 18 months"), null=True, blank=True)
    # [{"from_month": "9", "n_accelerators": 128}], wanted capacity; empty: whatever an option supplies
    demand = models.JSONField(default=list, blank=True)
    fx_date = models.DateField(_("rates of"), null=True, blank=True)
    tax = models.JSONField(default=dict, blank=True)  # {"enabled": false, ...}; docs/models/tco.md
    draws = models.PositiveIntegerField(default=8192)
    seed = models.PositiveBigIntegerField(default=20261130)

    def __str__(self) -> str:
        return self.name


class Option(ClientOwned):
    """A way to meet the demand: one or more dated phases, its staff, its site and how it is paid."""

    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="options")
    letter = models.CharField(_("letter"), max_length=4)  # A, B, B+
    name = models.CharField(_("name"), max_length=200)
    detail = models.CharField(max_length=200, blank=True)
    slot = models.PositiveSmallIntegerField()  # colour and marker: 0 baseline, 1 to 5
    baseline = models.BooleanField(_("baseline"), default=False)
    shortlisted = models.BooleanField(_("on the shortlist"), default=True)
    dropped_reason = models.CharField(max_length=300, blank=True)
    facility = models.CharField(max_length=12, default="colocation")  # colocation, metered, none
    committed_kw = ExactDecimalField(_("committed power"), null=True, blank=True)
    financing = models.JSONField(default=dict, blank=True)  # {"kind": "cash|lease|loan", ...}; docs/models/tco.md
    # {"enabled": true, "usd_per_gpu_hour": {low, likely, high}, "source": text}: cloud for unmet demand
    bridge = models.JSONField(default=dict, blank=True)
    # extra dated lines that no quote holds, same names as QuoteLine: insurance, freight, decommissioning
    extra_lines = models.JSONField(default=list, blank=True)
    # {assumption key: {low, likely, high, source, source_date, author, status}}: what holds for this option alone,
    # such as the rent of its site; everything else comes from the assessment's assumptions
    assumptions = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["assessment", "slot", "letter"]
        constraints = [models.UniqueConstraint(fields=["assessment", "letter"], name="option_letter_per_assessment")]

    def __str__(self) -> str:
        return f"{self.letter} {self.name}"


class OptionPhase(ClientOwned):
    """A stretch of time in which an option runs one configuration under one pinned quote version."""

    option = models.ForeignKey(Option, on_delete=models.CASCADE, related_name="phases")
    position = models.PositiveIntegerField()
    configuration = models.ForeignKey(RackConfiguration, on_delete=models.PROTECT, related_name="+")
    quote_version = models.ForeignKey(QuoteVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    order_month = ExactDecimalField(_("ordered in month"), default=0)  # lead time counts from here
    end_month = ExactDecimalField(_("ends in month"), null=True, blank=True)  # empty: end of the horizon
    # The position of the phase whose acceptance ends this one; it wins over a fixed month.
    ends_when_ready = models.PositiveIntegerField(_("ends when another phase is ready"), null=True, blank=True)
    n_accelerators = models.PositiveIntegerField(_("accelerators"), null=True, blank=True)  # empty: as configured
    quantity_scale = ExactDecimalField(_("share of the quoted quantities"), default=1)


class OptionStaff(ClientOwned):
    """People an option needs on the client's side."""

    option = models.ForeignKey(Option, on_delete=models.CASCADE, related_name="staff")
    role = models.CharField(_("role"), max_length=100)
    fte_low = ExactDecimalField(_("FTE, low"), null=True, blank=True)
    fte_likely = ExactDecimalField(_("FTE"))
    fte_high = ExactDecimalField(_("FTE, high"), null=True, blank=True)
    starts = models.CharField(max_length=12, default="delivery")  # signature, delivery
    source = models.CharField(max_length=300, blank=True)


class EvidenceAnswer(ClientOwned):
    """How well one of the seventeen questions before signature is answered for one option."""

    option = models.ForeignKey(Option, on_delete=models.CASCADE, related_name="evidence")
    question = models.PositiveSmallIntegerField()
    level = models.CharField(max_length=24, choices=EvidenceLevel, default=EvidenceLevel.NONE)
    note = models.TextField(blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["option", "question"], name="evidence_once_per_question")]
