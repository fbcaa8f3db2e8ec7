"""Reads of assessments and their options, for the user who asks."""

import uuid

from django.db.models import Prefetch, QuerySet

from apps.accounts.models import User
from apps.assessments.models import Assessment, EvidenceAnswer, Option, OptionPhase


def assessments_visible_to(user: User) -> QuerySet[Assessment]:
    """Assessments of the user's clients with client and organisation, newest first."""
    return Assessment.objects.visible_to(user).select_related("client__organisation").order_by("-created_at")


def get_assessment(user: User, assessment_id: uuid.UUID) -> Assessment:
    """The assessment. Raises `Assessment.DoesNotExist` when it is unknown or another client's."""
    return assessments_visible_to(user).get(pk=assessment_id)


def options_of(user: User, assessment: Assessment) -> QuerySet[Option]:
    """Options in the order of their slots, with phases, configurations, quotes, lines, staff and evidence.

    Five queries for any number of options.
    """
    phases = OptionPhase.unscoped.select_related("configuration", "quote_version__quote__vendor").order_by("position")
    evidence = EvidenceAnswer.unscoped.order_by("question")
    return (
        Option.objects.visible_to(user)
        .filter(assessment=assessment)
        .select_related("assessment", "client")
        .prefetch_related(
            Prefetch("phases", queryset=phases),
            "phases__quote_version__lines",
            "staff",
            Prefetch("evidence", queryset=evidence),
        )
        .order_by("slot", "letter")
    )


def get_option(user: User, option_id: uuid.UUID) -> Option:
    """The option. Raises `Option.DoesNotExist` when it is unknown or another client's."""
    return Option.objects.visible_to(user).select_related("assessment__client__organisation").get(pk=option_id)
