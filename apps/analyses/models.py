"""Scenarios, and runs: frozen inputs, the engine that was called, the answer it gave."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.scoping import ClientOwned
from apps.assessments.models import Assessment, Option


class Scenario(ClientOwned):
    """Named changes to an assessment's inputs; the base is never edited."""

    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="scenarios")
    name = models.CharField(_("name"), max_length=200)
    # {engine input key: {"likely": "2.03"} or with low and high}
    overrides = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assessment", "name"], name="scenario_name_per_assessment")]


class AnalysisRun(ClientOwned):
    """One call of an engine: the inputs it was given and the answer it gave.

    Both are snapshots in canonical JSON text, so a later change of price or rack leaves every number that a buyer has
    already seen as it was, and SQLite and PostgreSQL hold the same bytes.
    """

    class Kind(models.TextChoices):
        TCO = "tco", _("cost")
        TCO_SWEEP = "tco_sweep", _("cost sweep")

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        SUCCEEDED = "succeeded", _("succeeded")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="runs")
    scenario = models.ForeignKey(Scenario, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs")
    number = models.PositiveIntegerField()  # counts up within the assessment: "Run 42"
    kind = models.CharField(max_length=20, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    message_sent_at = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    stage = models.CharField(max_length=60, blank=True)
    progress_done = models.PositiveBigIntegerField(default=0)
    progress_total = models.PositiveBigIntegerField(default=0)
    inputs_json = models.TextField()
    inputs_sha256 = models.CharField(max_length=64, db_index=True)
    results_json = models.TextField(blank=True)
    results_sha256 = models.CharField(max_length=64, blank=True)
    engine_version = models.CharField(max_length=20)
    numpy_version = models.CharField(max_length=20, blank=True)
    seed = models.PositiveBigIntegerField()
    draws = models.PositiveIntegerField()
    n_chunks = models.PositiveIntegerField(default=0)  # 0: one worker computes the whole run
    error = models.TextField(blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["state", "lease_until"], name="run_claim")]
        constraints = [
            models.UniqueConstraint(fields=["assessment", "number"], name="run_number_per_assessment"),
            models.CheckConstraint(
                name="run_succeeded_has_results", condition=~Q(state="succeeded") | ~Q(results_json="")
            ),
            models.CheckConstraint(name="run_failed_has_reason", condition=~Q(state="failed") | ~Q(error="")),
        ]

    def __str__(self) -> str:
        return f"Run {self.number}"

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.SUCCEEDED, self.State.FAILED, self.State.CANCELLED)


class RunChunk(ClientOwned):
    """A part of a run that any worker may take; claimed, leased and finished exactly as a run is."""

    run = models.ForeignKey(AnalysisRun, on_delete=models.CASCADE, related_name="chunks")
    index = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=AnalysisRun.State, default=AnalysisRun.State.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    message_sent_at = models.DateTimeField(null=True, blank=True)
    progress_done = models.PositiveBigIntegerField(default=0)
    results_json = models.TextField(blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["run", "index"]
        indexes = [models.Index(fields=["state", "lease_until"], name="chunk_claim")]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="chunk_once_per_run")]


class SweepBeat(models.Model):
    """When the periodic sweep last ran; readiness looks at it."""

    name = models.CharField(max_length=40, primary_key=True)
    at = models.DateTimeField()


class RuleWaiver(ClientOwned):
    """A named person takes responsibility for one rule hit. Nothing is deleted: a waiver is withdrawn."""

    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="waivers")
    option = models.ForeignKey(Option, null=True, blank=True, on_delete=models.CASCADE, related_name="waivers")
    rule_id = models.CharField(max_length=10)
    reason = models.TextField(_("reason"))
    waived_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    waived_by_name = models.CharField(max_length=120)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
