"""Writes of roadmaps."""

from typing import Any

from django.db import transaction
from django.db.models import Max

from apps.accounts.audit import record
from apps.accounts.permissions import Actor, require
from apps.assessments.models import Assessment
from apps.assessments.services import apply_fields
from apps.engine.errors import InputError
from apps.workloads.models import RoadmapItem


@transaction.atomic
def add_roadmap_item(*, by: Actor, assessment: Assessment, values: dict[str, Any]) -> RoadmapItem:
    """Add an item behind the others of its quarter."""
    require(by, assessment.client, "edit")
    items = RoadmapItem.objects.of_client(assessment.client).filter(assessment=assessment)
    last = items.aggregate(last=Max("position"))["last"] or 0
    item = RoadmapItem(client=assessment.client, assessment=assessment, position=last + 1)
    _apply(item, values)
    item.save()
    _record(by, item, "added")
    return item


@transaction.atomic
def update_roadmap_item(*, by: Actor, item: RoadmapItem, values: dict[str, Any]) -> RoadmapItem:
    """Change an item; its confirmation by an architect falls away unless it is given anew."""
    require(by, item.client, "edit")
    if "architect_confirmed_on" not in values:
        item.architect_confirmed_on = None
    _apply(item, values)
    item.save()
    _record(by, item, "changed", fields=sorted(values))
    return item


@transaction.atomic
def remove_roadmap_item(*, by: Actor, item: RoadmapItem) -> None:
    require(by, item.client, "edit")
    _record(by, item, "removed")
    item.delete()


def _apply(item: RoadmapItem, values: dict[str, Any]) -> None:
    apply_fields(item, values, fixed={"assessment"})
    if item.last_quarter < item.first_quarter:
        raise InputError("last_quarter", item.last_quarter, f"at least first_quarter, {item.first_quarter}")


def _record(by: Actor, item: RoadmapItem, verb: str, **details: Any) -> None:
    record(
        actor=by,
        client=item.client,
        action=f"roadmap.{verb}",
        subject=item.name,
        subject_id=item.pk,
        details=details,
    )
