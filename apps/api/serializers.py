"""What the API shows of each row: listed field by field, decimals as text, times in UTC."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.accounts.fields import ExactDecimalField
from apps.accounts.models import Client, Organisation
from apps.analyses.canonical import decimal_text
from apps.analyses.models import AnalysisRun
from apps.assessments.models import Assessment, EvidenceAnswer, Option, OptionPhase, OptionStaff
from apps.racks.models import RackConfiguration
from apps.vendors.models import QuoteLine, QuoteVersion


class DecimalTextField(serializers.DecimalField):
    """A decimal as plain text without trailing zeros, so that no reader turns it into a binary float."""

    def to_representation(self, value: Any) -> str:
        return decimal_text(value)


class RowSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]
    """Fields of a stored row, for reading."""

    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        ExactDecimalField: DecimalTextField,
    }


# Clients and assessments ----------------------------------------------------------------------------------------------
class OrganisationSerializer(RowSerializer):
    class Meta:
        model = Organisation
        fields = ["id", "name"]


class ClientSerializer(RowSerializer):
    organisation = OrganisationSerializer(read_only=True)

    class Meta:
        model = Client
        fields = ["id", "name", "organisation", "fictional", "created_at"]


class ClientNameSerializer(RowSerializer):
    class Meta:
        model = Client
        fields = ["id", "name"]


class AssessmentSerializer(RowSerializer):
    client = ClientNameSerializer(read_only=True)

    class Meta:
        model = Assessment
        fields = [
            "id",
            "client",
            "name",
            "state",
            "fictional",
            "currency",
            "signature_date",
            "horizon_months",
            "dominant_load",
            "goal",
            "goal_date",
            "existing_capacity",
            "moe_within_18_months",
            "demand",
            "fx_date",
            "tax",
            "draws",
            "seed",
            "created_at",
            "updated_at",
        ]


# Options --------------------------------------------------------------------------------------------------------------
class ConfigurationNameSerializer(RowSerializer):
    class Meta:
        model = RackConfiguration
        fields = ["id", "name", "template"]


class PhaseSerializer(RowSerializer):
    configuration = ConfigurationNameSerializer(read_only=True)
    quote_version = serializers.UUIDField(
        source="quote_version_id", allow_null=True, help_text="Id of the pinned version in quotes/."
    )

    class Meta:
        model = OptionPhase
        fields = [
            "id",
            "position",
            "configuration",
            "quote_version",
            "order_month",
            "end_month",
            "ends_when_ready",
            "n_accelerators",
            "quantity_scale",
        ]


class StaffSerializer(RowSerializer):
    class Meta:
        model = OptionStaff
        fields = ["id", "role", "fte_low", "fte_likely", "fte_high", "starts", "source"]


class EvidenceSerializer(RowSerializer):
    class Meta:
        model = EvidenceAnswer
        fields = ["question", "level", "note"]


class OptionSerializer(RowSerializer):
    phases = PhaseSerializer(many=True, read_only=True)
    staff = StaffSerializer(many=True, read_only=True)
    evidence = EvidenceSerializer(many=True, read_only=True)

    class Meta:
        model = Option
        fields = [
            "id",
            "letter",
            "name",
            "detail",
            "slot",
            "baseline",
            "shortlisted",
            "dropped_reason",
            "facility",
            "committed_kw",
            "financing",
            "bridge",
            "extra_lines",
            "assumptions",
            "phases",
            "staff",
            "evidence",
        ]


# Quotes ---------------------------------------------------------------------------------------------------------------
class QuoteLineSerializer(RowSerializer):
    """One priced line; amounts are in the line's own currency, null is not given and never zero."""

    class Meta:
        model = QuoteLine
        fields = [
            "id",
            "position",
            "kind",
            "comparison_key",
            "description",
            "part_number",
            "quantity",
            "unit",
            "unit_price_low",
            "unit_price_likely",
            "unit_price_high",
            "currency",
            "charge",
            "period",
            "percent_of",
            "discount_fraction",
            "escalation_fraction_per_year",
            "starts",
            "start_month",
            "term_months",
            "included",
            "capacity_tb",
            "write_gbyte_per_s",
            "evidence_level",
            "source_ref",
        ]


class PinnedQuoteSerializer(RowSerializer):
    """A quote version that options of the assessment are pinned to."""

    vendor = serializers.CharField(source="quote.vendor.name")
    number = serializers.CharField(source="quote.number")
    pinned_by = serializers.ListField(child=serializers.CharField(), help_text="Letters of the options.")
    lines = QuoteLineSerializer(many=True, read_only=True)

    class Meta:
        model = QuoteVersion
        fields = [
            "id",
            "vendor",
            "number",
            "version",
            "state",
            "pinned_by",
            "date",
            "valid_until",
            "currency",
            "tax_excluded",
            "term_months",
            "renewable",
            "warranty_months",
            "incoterm",
            "lead_weeks_low",
            "lead_weeks_likely",
            "lead_weeks_high",
            "acceptance_weeks",
            "delivery_commitment",
            "payment_milestones",
            "terms",
            "fabric",
            "claims",
            "lines",
        ]


# Rules ----------------------------------------------------------------------------------------------------------------
class RuleHitSerializer(serializers.Serializer[Any]):
    """What one rule says about one option, or about the assessment when `option_letter` is null."""

    rule_id = serializers.CharField()
    severity = serializers.ChoiceField(choices=["gate", "red", "amber", "banner", "info"])
    title = serializers.CharField()
    option_letter = serializers.CharField(allow_null=True)
    value_text = serializers.CharField()
    threshold_text = serializers.CharField()
    threshold_key = serializers.CharField(allow_null=True)
    threshold_version = serializers.IntegerField(allow_null=True)
    what = serializers.CharField()
    remedy = serializers.CharField()
    why = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment] # a field of that name, not the option of fields
    supplier = serializers.CharField()
    blocks = serializers.ListField(child=serializers.CharField())
    open_gate = serializers.BooleanField()
    waived = serializers.BooleanField()
    waived_by = serializers.CharField(allow_null=True)
    waiver_reason = serializers.CharField()
    contested = serializers.BooleanField()
    not_given = serializers.BooleanField()
    missing = serializers.ListField(child=serializers.CharField())


# Runs -----------------------------------------------------------------------------------------------------------------
class RunSerializer(RowSerializer):
    assessment = serializers.UUIDField(source="assessment_id")
    scenario = serializers.UUIDField(source="scenario_id", allow_null=True)
    requested_by = serializers.SerializerMethodField()

    class Meta:
        model = AnalysisRun
        fields = [
            "id",
            "assessment",
            "number",
            "kind",
            "scenario",
            "state",
            "stage",
            "progress_done",
            "progress_total",
            "cancel_requested",
            "error",
            "attempt",
            "inputs_sha256",
            "results_sha256",
            "engine_version",
            "numpy_version",
            "seed",
            "draws",
            "requested_by",
            "created_at",
            "started_at",
            "finished_at",
        ]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_requested_by(self, run: AnalysisRun) -> str | None:
        return str(run.requested_by) if run.requested_by else None


class AxisSerializer(serializers.Serializer[Any]):
    input = serializers.CharField(help_text="Key of an input, as runs/{run_id}/inputs/ lists them.")
    values = serializers.ListField(child=DecimalTextField(max_digits=28, decimal_places=10), min_length=1)


class RunRequestSerializer(serializers.Serializer[Any]):
    """What to compute: the assessment as it is, one of its scenarios, or a sweep over some inputs."""

    kind = serializers.ChoiceField(choices=AnalysisRun.Kind.choices, default=AnalysisRun.Kind.TCO)
    scenario = serializers.UUIDField(required=False, allow_null=True, default=None)
    axes = AxisSerializer(many=True, required=False, help_text="For a sweep; the last axis changes fastest.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(self.initial_data) - set(self.fields))
        if unknown:
            raise serializers.ValidationError({name: [_("There is no such field.")] for name in unknown})
        sweep = attrs["kind"] == AnalysisRun.Kind.TCO_SWEEP
        if sweep and not attrs.get("axes"):
            raise serializers.ValidationError({"axes": [_("A sweep needs one axis or more.")]})
        if not sweep and "axes" in attrs:
            raise serializers.ValidationError({"axes": [_("Only a sweep has axes.")]})
        if sweep and attrs["scenario"]:
            raise serializers.ValidationError({"scenario": [_("A sweep is made of the base inputs.")]})
        return attrs
