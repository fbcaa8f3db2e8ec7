"""Writes about vendors and their quotes. Versions are only added: a correction is a new version."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import models, transaction

from apps.accounts.models import Client
from apps.vendors.models import Quote, QuoteLine, QuoteVersion, Vendor

_LINE_DECIMALS = (
    "quantity",
    "unit_price_low",
    "unit_price_likely",
    "unit_price_high",
    "discount_fraction",
    "escalation_fraction_per_year",
    "start_month",
    "term_months",
    "capacity_tb",
    "write_gbyte_per_s",
)
_LINE_TEXTS = (
    "kind",
    "comparison_key",
    "description",
    "part_number",
    "unit",
    "currency",
    "charge",
    "period",
    "percent_of",
    "starts",
    "evidence_level",
    "source_ref",
)
PLACES = 10  # of `ExactDecimalField`
_DATES = ("date", "valid_until")
_DECIMALS = ("lead_weeks_low", "lead_weeks_likely", "lead_weeks_high", "acceptance_weeks")
_WHOLE = ("term_months", "warranty_months")
_PLAIN = ("currency", "tax_excluded", "renewable", "incoterm", "delivery_commitment", "payment_milestones")


@transaction.atomic
def add_quote_version(
    *,
    client: Client,
    vendor_name: str,
    number: str,
    facts: Mapping[str, Any],
    lines: Sequence[Mapping[str, Any]],
    extra: Mapping[str, Any],
    refs: Mapping[str, str],
    source_file_id: uuid.UUID | None = None,
    import_batch_id: uuid.UUID | None = None,
) -> QuoteVersion:
    """Store what a quote says as its next version and supersede the one before.

    `facts` holds the fields of `QuoteVersion` as the import reads them, `extra` what goes into its terms, fabric and
    claims. The vendor and the quote are made when the client has none of that name and number.
    """
    vendor, _ = Vendor.objects.of_client(client).get_or_create(name=vendor_name, defaults={"client": client})
    quote, _ = Quote.objects.of_client(client).get_or_create(vendor=vendor, number=number, defaults={"client": client})
    # The quote's row is held, so that two imports at once take two numbers.
    Quote.objects.of_client(client).select_for_update().get(pk=quote.pk)
    earlier = QuoteVersion.objects.of_client(client).filter(quote=quote)
    last = earlier.aggregate(last=models.Max("version"))["last"] or 0
    version = QuoteVersion.objects.create(
        client=client,
        quote=quote,
        version=last + 1,
        refs=dict(refs),
        source_file_id=source_file_id,
        import_batch_id=import_batch_id,
        **_version_values(facts),
        **extra,
    )
    supersede(client=client, quote=quote, by=version)
    QuoteLine.objects.bulk_create([_line(client, version, line) for line in lines], batch_size=500)
    return version


def supersede(*, client: Client, quote: Quote, by: QuoteVersion) -> None:
    """Mark every earlier version that was still current."""
    current = (QuoteVersion.State.DRAFT, QuoteVersion.State.RECEIVED, QuoteVersion.State.CLARIFIED)
    older = QuoteVersion.objects.of_client(client).filter(quote=quote, version__lt=by.version, state__in=current)
    older.update(state=QuoteVersion.State.SUPERSEDED)


@transaction.atomic
def remove_quote_version(*, version: QuoteVersion) -> None:
    """Delete a version with its lines; the newest one left counts again; an empty quote and vendor go too.

    Raises `ProtectedError` while an option's phase is pinned to the version.
    """
    quote, client = version.quote, version.client
    vendor = quote.vendor
    version.delete()
    left = QuoteVersion.objects.of_client(client).filter(quote=quote).order_by("-version").first()
    if left is None:
        quote.delete()
        if not Quote.objects.of_client(client).filter(vendor=vendor).exists():
            vendor.delete()
    elif left.state == QuoteVersion.State.SUPERSEDED:
        left.state = QuoteVersion.State.RECEIVED
        left.save(update_fields=["state", "updated_at"])


def _version_values(facts: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {name: facts[name] for name in _PLAIN if facts.get(name) is not None}
    values |= {name: date.fromisoformat(facts[name]) for name in _DATES if facts.get(name)}
    values |= {name: Decimal(str(facts[name])) for name in _DECIMALS if facts.get(name) is not None}
    values |= {name: int(Decimal(str(facts[name]))) for name in _WHOLE if facts.get(name) is not None}
    return values


def _kept(text: str) -> Decimal:
    """The number to the places of its column, the same on every database: one PiB in TB has more."""
    value = Decimal(str(text))
    exponent = value.as_tuple().exponent
    return round(value, PLACES) if isinstance(exponent, int) and -exponent > PLACES else value


def _line(client: Client, version: QuoteVersion, line: Mapping[str, Any]) -> QuoteLine:
    values: dict[str, Any] = {name: line.get(name) or "" for name in _LINE_TEXTS}
    values |= {name: _kept(line[name]) for name in _LINE_DECIMALS if line.get(name) is not None}
    return QuoteLine(
        client=client, quote_version=version, position=line["position"], included=bool(line.get("included")), **values
    )
