"""Reads of configurations."""

import uuid

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.racks.models import RackConfiguration


def configurations_visible_to(user: User, *, assessment_id: uuid.UUID | None = None) -> QuerySet[RackConfiguration]:
    """Configurations of the user's clients by name, or those of one assessment."""
    found = RackConfiguration.objects.visible_to(user).select_related("client").order_by("name")
    return found if assessment_id is None else found.filter(assessment_id=assessment_id)


def get_configuration(user: User, configuration_id: uuid.UUID) -> RackConfiguration:
    """The configuration. Raises `RackConfiguration.DoesNotExist` when it is unknown or another client's."""
    return configurations_visible_to(user).get(pk=configuration_id)
