"""Reads of assumptions, exchange rates and claims."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Q, QuerySet

from apps.accounts.models import Client, Organisation
from apps.assumptions.models import AssumptionValue, Claim, FxRate

LAYERS = ("product", "organisation", "client", "assessment")  # weak to strong


@dataclass(frozen=True, kw_only=True)
class ResolvedAssumption:
    """The value that counts for one key, and where it comes from. Empty numbers are "not given", never zero."""

    key: str
    label: str
    unit: str
    low: Decimal | None
    likely: Decimal | None
    high: Decimal | None
    text: str
    distribution: str
    source: str
    source_date: str
    status: str
    version: int
    layer: str
    author_label: str
    reason: str
    topic: str
    note: str = ""
    minimum: Decimal | None = None
    maximum: Decimal | None = None

    @property
    def given(self) -> bool:
        """Whether it has a value at all."""
        return self.likely is not None or self.text != ""

    @property
    def confirmed(self) -> bool:
        """Whether somebody stands behind the value: a default recalled from memory is a proposal only."""
        return self.given and (self.layer != "product" or self.status == "accepted")


def layer_of(value: AssumptionValue) -> str:
    """The layer a stored version belongs to."""
    if value.assessment_id:
        return "assessment"
    if value.client_id:
        return "client"
    return "organisation" if value.organisation_id else "product"


def resolve(
    *, organisation: Organisation | None, client: Client | None, assessment_id: uuid.UUID | None
) -> dict[str, ResolvedAssumption]:
    """Every assumption by key, the strongest layer in its latest version; one query.

    A withdrawn latest version takes the key off its layer, so the next weaker one counts. The caller has made sure
    that the user may see the client.
    """
    latest: dict[str, dict[str, AssumptionValue]] = defaultdict(dict)
    for value in _values(organisation, client, assessment_id).order_by("key", "version"):
        latest[value.key][layer_of(value)] = value
    return {
        key: _resolved(layers["product"], _strongest(layers)) for key, layers in latest.items() if "product" in layers
    }


def _values(
    organisation: Organisation | None, client: Client | None, assessment_id: uuid.UUID | None
) -> QuerySet[AssumptionValue]:
    wanted = Q(organisation__isnull=True, client__isnull=True)
    organisation_id = organisation.pk if organisation else client.organisation_id if client else None
    if organisation_id:
        wanted |= Q(organisation_id=organisation_id, client__isnull=True)
    if client:
        wanted |= Q(client=client, assessment_id__isnull=True)
        if assessment_id:
            wanted |= Q(client=client, assessment_id=assessment_id)
    return AssumptionValue.objects.filter(wanted)


def _strongest(layers: dict[str, AssumptionValue]) -> AssumptionValue:
    for layer in reversed(LAYERS):
        value = layers.get(layer)
        if value is not None and not value.withdrawn:
            return value
    return layers["product"]  # a product row is never withdrawn; load_catalogue blanks it


def _resolved(product: AssumptionValue, value: AssumptionValue) -> ResolvedAssumption:
    return ResolvedAssumption(
        key=value.key,
        label=product.label or value.key,
        unit=product.unit,
        low=value.low,
        likely=value.likely,
        high=value.high,
        text=value.text,
        distribution=value.distribution,
        source=value.source,
        source_date=value.source_date,
        status=value.status,
        version=value.version,
        layer=layer_of(value),
        author_label=value.author_label,
        reason=value.reason,
        topic=product.topic,
        note=product.note,
        minimum=product.minimum,
        maximum=product.maximum,
    )


def assumption_bounds() -> dict[str, tuple[Decimal | None, Decimal | None]]:
    """The least and the greatest value of every assumption the product knows; None where there is no bound."""
    rows = AssumptionValue.objects.filter(organisation__isnull=True, client__isnull=True).order_by("version")
    return {key: (least, greatest) for key, least, greatest in rows.values_list("key", "minimum", "maximum")}


def history(
    *, key: str, organisation: Organisation | None, client: Client | None, assessment_id: uuid.UUID | None
) -> list[AssumptionValue]:
    """Every version of one key on every layer in sight, newest first: who changed what, when and why."""
    return list(_values(organisation, client, assessment_id).filter(key=key).order_by("-created_at", "-version"))


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What one unit of `base` costs in `quote`; `inverted` says that the stored rate has the other direction."""

    base: str
    quote: str
    rate: Decimal
    low: Decimal | None
    high: Decimal | None
    rate_date: date
    source: str
    inverted: bool


def fx_rates(*, client: Client) -> QuerySet[FxRate]:
    """The client's rates as typed, newest first."""
    return FxRate.objects.of_client(client).order_by("base", "quote", "-rate_date")


def fx_rate(*, client: Client, base: str, quote: str, on: date) -> Rate | None:
    """The newest rate dated on or before a day, in either direction; None without one: no rate is guessed."""
    rows = FxRate.objects.of_client(client).filter(rate_date__lte=on)
    return pick_rate(rows, base=base, quote=quote)


def pick_rate(rates: Iterable[FxRate], *, base: str, quote: str) -> Rate | None:
    """The newest of `rates` that leads from `base` to `quote`; of one day the one as typed before the inverse."""
    pair = [row for row in rates if {row.base, row.quote} == {base, quote}]
    found = max(pair, key=lambda row: (row.rate_date, row.base == base), default=None)
    if found is None:
        return None
    inverted = found.base != base
    low, high = (found.high, found.low) if inverted else (found.low, found.high)
    return Rate(
        base=base,
        quote=quote,
        rate=1 / found.rate if inverted else found.rate,
        low=1 / low if inverted and low else low,
        high=1 / high if inverted and high else high,
        rate_date=found.rate_date,
        source=found.source,
        inverted=inverted,
    )


def claims(*, client: Client | None, topic: str = "") -> list[Claim]:
    """The claim register as one client sees it: its own rows in place of the product's, in the order of their keys."""
    by_key: dict[str, Claim] = {}
    for claim in Claim.objects.filter(_in_sight(client)):
        if claim.client_id or claim.key not in by_key:
            by_key[claim.key] = claim
    rows = [claim for claim in by_key.values() if not topic or claim.topic == topic]
    return sorted(rows, key=lambda claim: _natural(claim.key))


def _natural(key: str) -> tuple[str, int, str]:
    """B-C2 before B-C10."""
    digits = "".join(character for character in key if character.isdigit())
    return key.rstrip("0123456789"), int(digits or 0), key


def contested_claims_by_assumption(*, client: Client | None) -> dict[str, list[str]]:
    """Assumption key -> the keys of the contested claims it rests on; one small query."""
    rows = Claim.objects.filter(_in_sight(client)).order_by("key")
    as_seen: dict[str, tuple[str, list[str]]] = {}
    for key, client_id, status, assumption_keys in rows.values_list("key", "client_id", "status", "assumption_keys"):
        if client_id or key not in as_seen:
            as_seen[key] = (status, assumption_keys)
    found: dict[str, list[str]] = defaultdict(list)
    for key, (status, assumption_keys) in as_seen.items():
        for resting in assumption_keys if status == Claim.Status.CONTESTED else ():
            found[resting].append(key)
    return dict(found)


def _in_sight(client: Client | None) -> Q:
    product = Q(client__isnull=True, organisation__isnull=True)
    return product | Q(client=client) if client else product
