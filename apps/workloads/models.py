"""What will be trained, quarter by quarter."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.fields import ExactDecimalField
from apps.accounts.scoping import ClientOwned
from apps.assessments.models import Assessment


class RoadmapItem(ClientOwned):
    """A model, or a serving load, that the roadmap holds from one quarter to another. Empty is not given."""

    class WorkloadClass(models.TextChoices):
        TRAINING = "training", _("training")
        FINE_TUNING = "fine_tuning", _("fine-tuning")
        INFERENCE = "inference", _("inference")

    class Architecture(models.TextChoices):
        DENSE = "dense", _("dense")
        MOE = "moe", _("MoE")
        HYBRID = "hybrid", _("hybrid attention")
        HYBRID_MOE = "hybrid_moe", _("hybrid MoE")

    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="roadmap")
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(_("name"), max_length=200)
    first_quarter = models.PositiveIntegerField(_("from quarter"))  # 0: the first 13 weeks after signature
    last_quarter = models.PositiveIntegerField(_("to quarter"))
    workload_class = models.CharField(_("class"), max_length=20, choices=WorkloadClass, blank=True)
    architecture = models.CharField(_("architecture"), max_length=20, choices=Architecture, blank=True)
    parameters_billion = ExactDecimalField(_("parameters, billion"), null=True, blank=True)
    active_parameters_billion = ExactDecimalField(_("active parameters, billion"), null=True, blank=True)
    layers = models.PositiveIntegerField(_("layers"), null=True, blank=True)
    hidden_size = models.PositiveIntegerField(_("hidden size"), null=True, blank=True)
    experts = models.PositiveIntegerField(_("experts"), null=True, blank=True)
    top_k = models.PositiveIntegerField(_("experts per token"), null=True, blank=True)
    ep_degree = models.PositiveIntegerField(_("expert parallel"), null=True, blank=True)
    tp_degree = models.PositiveIntegerField(_("tensor parallel"), null=True, blank=True)
    pp_degree = models.PositiveIntegerField(_("pipeline parallel"), null=True, blank=True)
    dp_degree = models.PositiveIntegerField(_("data parallel"), null=True, blank=True)
    full_to_window = models.CharField(_("full to window layers"), max_length=20, blank=True)  # 1:3
    window_tokens = models.PositiveIntegerField(_("window"), null=True, blank=True)
    tokens_per_experiment_billion = ExactDecimalField(_("tokens per experiment, billion"), null=True, blank=True)
    final_run_tokens_billion = ExactDecimalField(_("tokens of the final run, billion"), null=True, blank=True)
    experiments_per_week = ExactDecimalField(_("experiments a week the team can handle"), null=True, blank=True)
    decisions = models.PositiveIntegerField(_("decision points"), null=True, blank=True)
    revenue_link = models.CharField(_("revenue link"), max_length=200, blank=True)
    architect_confirmed_on = models.DateField(_("confirmed by an architect"), null=True, blank=True)
    source = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["assessment", "first_quarter", "position"]

    def __str__(self) -> str:
        return self.name
