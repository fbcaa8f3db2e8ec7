"""Writes of the catalogue: the product's rows from files, an organisation's own figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.utils.translation import gettext as _

from apps.accounts.audit import record
from apps.accounts.models import Organisation, OrganisationMembership, User
from apps.accounts.permissions import SYSTEM, Actor
from apps.catalogue.columns import FOLDER
from apps.catalogue.fixture_files import FixtureItem, read_catalogue
from apps.catalogue.models import CatalogueItem, CatalogueValue
from apps.engine.errors import InputError

ITEM_FIELDS: Final = ("name", "vendor", "region", "note")
VALUE_FIELDS: Final = (
    "value",
    "low",
    "high",
    "unit",
    "source",
    "source_url",
    "as_of",
    "retrieved_on",
    "basis",
    "reason",
)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """How many rows a load added, changed and removed; all zero when nothing was new."""

    added: int = 0
    changed: int = 0
    removed: int = 0


@transaction.atomic
def load_catalogue(folder: Path = FOLDER) -> Loaded:
    """Make the product's rows equal to the files; organisations' own figures stay untouched."""
    fixtures = read_catalogue(folder)
    items, loaded = _load_items(fixtures)
    for fixture in fixtures:
        stored = items[fixture.item.kind, fixture.item.key]
        for value in fixture.values:
            value.item = stored
    return _load_values([value for fixture in fixtures for value in fixture.values], loaded)


def _load_items(fixtures: Sequence[FixtureItem]) -> tuple[dict[tuple[str, str], CatalogueItem], Loaded]:
    stored = {(item.kind, item.key): item for item in CatalogueItem.objects.all()}
    new, changed = [], []
    for fixture in fixtures:
        existing = stored.get((fixture.item.kind, fixture.item.key))
        if existing is None:
            new.append(fixture.item)
        elif _copy_if_different(fixture.item, existing, ITEM_FIELDS):
            changed.append(existing)
    CatalogueItem.objects.bulk_create(new)
    CatalogueItem.objects.bulk_update(changed, ITEM_FIELDS)
    stored |= {(item.kind, item.key): item for item in new}
    return stored, Loaded(added=len(new), changed=len(changed))


def _load_values(wanted: Sequence[CatalogueValue], loaded: Loaded) -> Loaded:
    products = CatalogueValue.objects.filter(organisation__isnull=True)
    stored = {(value.item_id, value.name): value for value in products}
    new, changed = [], []
    for value in wanted:
        existing = stored.pop((value.item_id, value.name), None)
        if existing is None:
            new.append(value)
        elif _copy_if_different(value, existing, VALUE_FIELDS):
            changed.append(existing)
    CatalogueValue.objects.bulk_create(new)
    CatalogueValue.objects.bulk_update(changed, VALUE_FIELDS)
    products.filter(pk__in=[value.pk for value in stored.values()]).delete()
    return Loaded(added=loaded.added + len(new), changed=loaded.changed + len(changed), removed=len(stored))


def _copy_if_different(source: models.Model, target: models.Model, fields: Sequence[str]) -> bool:
    different = [name for name in fields if getattr(source, name) != getattr(target, name)]
    for name in different:
        setattr(target, name, getattr(source, name))
    return bool(different)


@transaction.atomic
def override_value(
    *,
    by: Actor,
    organisation: Organisation,
    item: CatalogueItem,
    name: str,
    value: str,
    source: str,
    reason: str,
    low: str = "",
    high: str = "",
    as_of: str = "",
) -> CatalogueValue:
    """Set the organisation's own figure in place of the product's, which stays as it is and stays visible."""
    _require_administrator(by, organisation)
    for field, text in (("value", value), ("source", source), ("reason", reason)):
        if not text.strip():
            raise InputError(field, text, _("filled in"))
    product = CatalogueValue.objects.filter(item=item, name=name, organisation__isnull=True).first()
    row, created = CatalogueValue.objects.update_or_create(
        item=item,
        organisation=organisation,
        name=name,
        defaults={
            "value": value.strip(),
            "low": low,
            "high": high,
            "unit": product.unit if product else "",
            "source": source.strip(),
            "as_of": as_of,
            "basis": CatalogueValue.Basis.OWN,
            "author": str(by) if isinstance(by, User) else "",
            "reason": reason.strip(),
        },
    )
    record(
        actor=by,
        action="catalogue.overridden" if created else "catalogue.override_changed",
        organisation=organisation,
        subject=f"{item.key} {name}",
        subject_id=row.pk,
        details={"reason": row.reason},
    )
    return row


@transaction.atomic
def withdraw_override(*, by: Actor, organisation: Organisation, item: CatalogueItem, name: str) -> None:
    """Take the organisation's own figure away, so that the product's shows again."""
    _require_administrator(by, organisation)
    row = CatalogueValue.objects.filter(item=item, organisation=organisation, name=name).first()
    if row is None:
        raise InputError("name", name, _("a figure that the organisation has set itself"))
    record(
        actor=by,
        action="catalogue.override_withdrawn",
        organisation=organisation,
        subject=f"{item.key} {name}",
        subject_id=row.pk,
    )
    row.delete()


def _require_administrator(by: Actor, organisation: Organisation) -> None:
    if by is SYSTEM:
        return
    memberships = OrganisationMembership.objects.filter(
        organisation=organisation, role=OrganisationMembership.Role.ADMINISTRATOR
    )
    if not isinstance(by, User) or not by.is_active or not memberships.filter(user=by).exists():
        raise PermissionDenied(_("Only an administrator of the organisation may change its values."))
