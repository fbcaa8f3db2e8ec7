"""Reads of roadmaps."""

import uuid

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.assessments.models import Assessment
from apps.workloads.models import RoadmapItem


def roadmap_of(user: User, assessment: Assessment) -> QuerySet[RoadmapItem]:
    """The roadmap of an assessment in the order of time."""
    return RoadmapItem.objects.visible_to(user).filter(assessment=assessment).order_by("first_quarter", "position")


def get_roadmap_item(user: User, item_id: uuid.UUID) -> RoadmapItem:
    """The item. Raises `RoadmapItem.DoesNotExist` when it is unknown or another client's."""
    return RoadmapItem.objects.visible_to(user).select_related("assessment", "client").get(pk=item_id)
