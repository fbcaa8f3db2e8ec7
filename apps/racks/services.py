"""Writes of configurations."""

import uuid
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import transaction

from apps.accounts.audit import record
from apps.accounts.models import Client
from apps.accounts.permissions import Actor, require
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration
from apps.racks.templates import CHOICES

_FIXED = {"id", "client", "created_at", "updated_at", "assessment_id", "template"}
# ranges whose three fields have to rise
_RANGES = ("it_load_kw", "goodput", "slowdown")
_FRACTIONS = ("goodput_low", "goodput_likely", "goodput_high", "availability", "fabric_efficiency",
              "committed_fraction", "spot_share")  # fmt: skip


@transaction.atomic
def create_configuration(
    *,
    by: Actor,
    client: Client,
    assessment_id: uuid.UUID | None,
    template: str,
    name: str,
    values: dict[str, Any] | None = None,
) -> RackConfiguration:
    """Add a configuration; `values` holds any of its fields. Raises `InputError` for what cannot be."""
    require(by, client, "edit")
    if template not in RackConfiguration.Template.values:
        raise InputError("template", template, f"one of {', '.join(RackConfiguration.Template.values)}")
    configuration = RackConfiguration(client=client, assessment_id=assessment_id, template=template, name=name)
    _apply(configuration, values or {})
    configuration.save()
    _record(by, configuration, "created")
    return configuration


@transaction.atomic
def update_configuration(*, by: Actor, configuration: RackConfiguration, values: dict[str, Any]) -> RackConfiguration:
    """Change fields of a configuration. Runs that were made before keep what they were given."""
    require(by, configuration.client, "edit")
    _apply(configuration, values)
    configuration.save()
    _record(by, configuration, "changed", fields=sorted(values))
    return configuration


@transaction.atomic
def delete_configuration(*, by: Actor, configuration: RackConfiguration) -> None:
    """Remove a configuration that no option uses; one in use is protected by the database."""
    require(by, configuration.client, "edit")
    _record(by, configuration, "deleted")
    configuration.delete()


def _apply(configuration: RackConfiguration, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if name in _FIXED or not _has_field(name):
            raise InputError(name, value, "a field of a configuration")
        if name in CHOICES and value not in ("", *CHOICES[name]):
            raise InputError(name, value, f"one of {', '.join(CHOICES[name])}")
        setattr(configuration, name, value)
    configuration.clean_fields(exclude=["client"])
    _check_ranges(configuration)


def _has_field(name: str) -> bool:
    try:
        RackConfiguration._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return True


def _check_ranges(configuration: RackConfiguration) -> None:
    for name in _RANGES:
        low, likely, high = (getattr(configuration, f"{name}_{end}") for end in ("low", "likely", "high"))
        if likely is None and (low is not None or high is not None):
            raise InputError(name, "without a likely value", "given with likely")
        ends = (likely if low is None else low, likely if high is None else high)
        if likely is not None and not ends[0] <= likely <= ends[1]:
            raise InputError(name, f"{low} / {likely} / {high}", "low, likely and high in rising order")
    for name in _FRACTIONS:
        value = getattr(configuration, name)
        if value is not None and not 0 <= value <= 1:
            raise InputError(name, value, "a fraction from 0 to 1")


def _record(by: Actor, configuration: RackConfiguration, verb: str, **details: Any) -> None:
    record(
        actor=by,
        client=configuration.client,
        action=f"configuration.{verb}",
        subject=configuration.name,
        subject_id=configuration.pk,
        details=details,
    )
