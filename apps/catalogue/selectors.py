"""Reads of the catalogue as one organisation sees it."""

import uuid
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from django.db.models import Prefetch, Q, QuerySet

from apps.accounts.models import Organisation
from apps.catalogue.columns import captions
from apps.catalogue.models import CatalogueItem, CatalogueValue


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure with its source. `own` is the organisation's, which then hides `product_value`."""

    name: str
    label: str
    value: str
    low: str
    high: str
    unit: str
    source: str
    source_url: str
    as_of: str
    retrieved_on: date | None
    basis: str
    basis_label: str
    caution: str  # what is doubtful about a product figure, why an own one was set
    author: str
    own: bool
    product_value: str

    @property
    def number(self) -> Decimal | None:
        """The value as a number; None where it is a range or a word."""
        try:
            return Decimal(self.value)
        except InvalidOperation:
            return None


@dataclass(frozen=True, kw_only=True)
class Item:
    """One item with the figures that count for the organisation, by name."""

    id: uuid.UUID
    kind: str
    key: str
    name: str
    vendor: str
    region: str
    note: str
    figures: dict[str, Figure]


def catalogue_item(*, organisation: Organisation | None, kind: str, key: str) -> Item | None:
    """One item by its stable key, None if the catalogue does not know it; two queries."""
    row = _items(organisation).filter(kind=kind, key=key).first()
    return _item(row) if row else None


def catalogue(*, organisation: Organisation | None, kind: str = "", search: str = "") -> list[Item]:
    """Items of a kind whose name, maker, region or note holds every word of `search`; two queries."""
    rows = _items(organisation)
    if kind:
        rows = rows.filter(kind=kind)
    for word in search.split():
        rows = rows.filter(
            Q(name__icontains=word) | Q(vendor__icontains=word) | Q(region__icontains=word) | Q(note__icontains=word)
        )
    return [_item(row) for row in rows]


def _items(organisation: Organisation | None) -> QuerySet[CatalogueItem]:
    visible = Q(organisation__isnull=True)
    if organisation:
        visible |= Q(organisation=organisation)
    return CatalogueItem.objects.prefetch_related(
        Prefetch("values", queryset=CatalogueValue.objects.filter(visible), to_attr="visible_values")
    )


def _item(row: CatalogueItem) -> Item:
    values: list[CatalogueValue] = row.visible_values  # type: ignore[attr-defined]
    product = {value.name: value for value in values if value.organisation_id is None}
    own = {value.name: value for value in values if value.organisation_id is not None}
    order = [*(name for name in captions() if name in product or name in own)]
    order += [name for name in own if name not in order]
    return Item(
        id=row.pk,
        kind=row.kind,
        key=row.key,
        name=row.name,
        vendor=row.vendor,
        region=row.region,
        note=row.note,
        figures={name: _figure(own.get(name) or product[name], product.get(name)) for name in order},
    )


def _figure(value: CatalogueValue, product: CatalogueValue | None) -> Figure:
    return Figure(
        name=value.name,
        label=captions().get(value.name, value.name),
        value=value.value,
        low=value.low,
        high=value.high,
        unit=value.unit,
        source=value.source,
        source_url=value.source_url,
        as_of=value.as_of,
        retrieved_on=value.retrieved_on,
        basis=value.basis,
        basis_label=str(value.get_basis_display()),
        caution=value.reason,
        author=value.author,
        own=value.organisation_id is not None,
        product_value=product.value if product else "",
    )
