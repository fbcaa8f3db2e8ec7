"""Writes of assumptions, exchange rates and claims. Nothing is overwritten: a change is a new version."""

import uuid
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Final

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.accounts.audit import record
from apps.accounts.models import Client, Organisation, OrganisationMembership, User
from apps.accounts.permissions import SYSTEM, Actor, require
from apps.assumptions.models import AssumptionValue, Claim, FxRate
from apps.assumptions.selectors import assumption_bounds
from apps.engine.errors import InputError

DISTRIBUTIONS: Final = ("triangular", "pert", "lognormal", "fixed")
LARGEST: Final = Decimal(10) ** 18  # what the columns hold
MOST_DECIMALS: Final = 10
STATUSES: Final = ("accepted", "contested", "memory", "superseded")


@transaction.atomic
def set_assumption(
    *,
    by: Actor,
    client: Client | None = None,
    organisation: Organisation | None = None,
    assessment_id: uuid.UUID | None = None,
    key: str,
    likely: Decimal | None = None,
    low: Decimal | None = None,
    high: Decimal | None = None,
    text: str = "",
    distribution: str = "triangular",
    source: str,
    source_date: str = "",
    status: str = "accepted",
    reason: str = "",
) -> AssumptionValue:
    """Add a version on the layer named by `organisation`, `client` or `client` with `assessment_id`.

    Raises `InputError` for an unknown key, a value out of order, or a missing source.
    """
    layer = _layer(by, organisation, client, assessment_id)
    _check_value(
        key=key,
        low=low,
        likely=likely,
        high=high,
        text=text,
        distribution=distribution,
        source=source,
        status=status,
    )
    return _add_version(
        by,
        layer,
        key=key,
        low=low,
        likely=likely,
        high=high,
        text=text,
        distribution=distribution,
        source=source.strip(),
        source_date=source_date,
        status=status,
        reason=reason,
    )


@transaction.atomic
def withdraw_assumption(
    *,
    by: Actor,
    client: Client | None = None,
    organisation: Organisation | None = None,
    assessment_id: uuid.UUID | None = None,
    key: str,
    reason: str = "",
) -> AssumptionValue:
    """Add a version that takes the key off its layer, so that the next weaker layer counts again."""
    layer = _layer(by, organisation, client, assessment_id)
    latest = AssumptionValue.objects.filter(**layer, key=key).order_by("-version").first()
    if latest is None or latest.withdrawn:
        raise InputError("key", key, _("an assumption that this layer sets"))
    return _add_version(by, layer, **_copied(latest) | {"withdrawn": True, "reason": reason})


@transaction.atomic
def restore_version(*, by: Actor, value: AssumptionValue, reason: str = "") -> AssumptionValue:
    """Add a version equal to an older one of the same layer; the versions between stay readable."""
    layer = _layer(by, value.organisation if not value.client_id else None, value.client, value.assessment_id)
    why = reason or _("restored from version %(version)d") % {"version": value.version}
    return _add_version(by, layer, **_copied(value) | {"reason": why})


def _layer(
    by: Actor, organisation: Organisation | None, client: Client | None, assessment_id: uuid.UUID | None
) -> dict[str, object]:
    """The columns that name the layer, once it is clear that `by` may write there."""
    if client is not None:
        require(by, client, "assumptions")
        return {"organisation_id": client.organisation_id, "client": client, "assessment_id": assessment_id}
    if assessment_id is not None:
        raise InputError("client", None, _("the client of the assessment"))
    if organisation is None:
        raise InputError("organisation", None, _("an organisation or a client; product values come from fixtures"))
    require_administrator(by, organisation)
    return {"organisation": organisation, "client": None, "assessment_id": None}


def require_administrator(by: Actor, organisation: Organisation) -> None:
    """Return if `by` administers the organisation, else raise `PermissionDenied`."""
    if by is SYSTEM:
        return
    memberships = OrganisationMembership.objects.filter(
        organisation=organisation, role=OrganisationMembership.Role.ADMINISTRATOR
    )
    if not isinstance(by, User) or not by.is_active or not memberships.filter(user=by).exists():
        raise PermissionDenied(_("Only an administrator of the organisation may change its values."))


def _check_value(
    *,
    key: str,
    low: Decimal | None,
    likely: Decimal | None,
    high: Decimal | None,
    text: str,
    distribution: str,
    source: str,
    status: str,
) -> None:
    check_allowed(key, [])
    if likely is None and not text:
        raise InputError("likely", likely, _("a number; to take a value back, withdraw it"))
    if not source.strip():
        raise InputError("source", source, _("where the value comes from"))
    if distribution not in DISTRIBUTIONS:
        raise InputError("distribution", distribution, _("one of %s") % ", ".join(DISTRIBUTIONS))
    if status not in STATUSES:
        raise InputError("status", status, _("one of %s") % ", ".join(STATUSES))
    check_range(low, likely, high)
    check_allowed(key, [low, likely, high])


def check_allowed(key: str, numbers: Iterable[Decimal | None]) -> None:
    """Raise `InputError` for a key that the product does not know, and for a number beyond what the key allows."""
    limits = assumption_bounds().get(key)
    if limits is None:
        raise InputError("key", key, _("an assumption that the product knows"))
    check_bounds(key, numbers, *limits)


def check_bounds(
    name: str, numbers: Iterable[Decimal | None], minimum: Decimal | None, maximum: Decimal | None
) -> None:
    """Raise `InputError` unless the numbers given lie from minimum to maximum; None is no bound."""
    for number in numbers:
        if number is None:
            continue
        if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
            raise InputError(name, format(number, "f"), _between(minimum, maximum))


def _between(minimum: Decimal | None, maximum: Decimal | None) -> str:
    if minimum is None:
        return _("at most %s") % maximum
    if maximum is None:
        return _("at least %s") % minimum
    return _("from %(least)s to %(greatest)s") % {"least": minimum, "greatest": maximum}


def check_range(low: Decimal | None, likely: Decimal | None, high: Decimal | None) -> None:
    """Raise `InputError` unless the numbers given are finite and low ≤ likely ≤ high."""
    for name, number in (("low", low), ("likely", likely), ("high", high)):
        if number is not None and not Decimal(number).is_finite():
            raise InputError(name, number, _("a finite number"))
        if number is not None and (abs(number) >= LARGEST or round(Decimal(number), MOST_DECIMALS) != number):
            raise InputError(name, number, _("below 10^18, with at most %d decimals") % MOST_DECIMALS)
    if likely is None and (low is not None or high is not None):
        raise InputError("likely", likely, _("given when low or high is"))
    if likely is not None and low is not None and low > likely:
        raise InputError("low", low, _("at most likely, %s") % likely)
    if likely is not None and high is not None and high < likely:
        raise InputError("high", high, _("at least likely, %s") % likely)


def _copied(value: AssumptionValue) -> dict[str, object]:
    names = ("key", "low", "likely", "high", "text", "distribution", "source", "source_date", "status")
    return {name: getattr(value, name) for name in names}


def _add_version(by: Actor, layer: dict[str, object], **values: object) -> AssumptionValue:
    """The next version of the layer; two writers at once collide on the constraint and one is told to repeat."""
    siblings = AssumptionValue.objects.filter(**layer, key=values["key"])
    newest = siblings.aggregate(newest=Max("version"))["newest"] or 0
    author = by if isinstance(by, User) else None
    row = AssumptionValue.objects.create(
        **layer, version=newest + 1, author=author, author_label=author_label(by), **values
    )
    record(
        actor=by,
        action="assumption.withdrawn" if row.withdrawn else "assumption.set",
        client=row.client,
        organisation=row.organisation,
        subject=row.key,
        subject_id=row.pk,
        details={"version": row.version, "reason": row.reason, "assessment_id": str(row.assessment_id or "")},
    )
    return row


def author_label(by: Actor) -> str:
    """The name kept beside a value, so that it is still readable when the account is gone."""
    return str(by) if isinstance(by, User) else _("the program")


@transaction.atomic
def set_fx_rate(
    *,
    by: Actor,
    client: Client,
    base: str,
    quote: str,
    rate: Decimal,
    rate_date: date,
    source: str,
    low: Decimal | None = None,
    high: Decimal | None = None,
) -> FxRate:
    """Store what one unit of `base` cost in `quote` on a day, as typed; a second entry for the day replaces it.

    Runs hold their own copy of the rate, so a correction changes no number that was already shown.
    """
    require(by, client, "assumptions")
    for name, code in (("base", base), ("quote", quote)):
        if not (len(code) == 3 and code.isascii() and code.isalpha() and code.isupper()):
            raise InputError(name, code, _("a currency code of three capital letters, such as EUR"))
    if base == quote:
        raise InputError("quote", quote, _("another currency than %s") % base)
    check_range(low, rate, high)
    if rate <= 0 or (low is not None and low <= 0):
        raise InputError("rate", rate, _("above zero"))
    if not source.strip():
        raise InputError("source", source, _("where the rate comes from"))
    row, created = FxRate.objects.of_client(client).update_or_create(
        client=client,
        base=base,
        quote=quote,
        rate_date=rate_date,
        defaults={"rate": rate, "low": low, "high": high, "source": source.strip()},
    )
    record(
        actor=by,
        action="fx_rate.set" if created else "fx_rate.corrected",
        client=client,
        subject=f"{base}/{quote} {rate_date.isoformat()}",
        subject_id=row.pk,
    )
    return row


@transaction.atomic
def judge_claim(*, by: Actor, client: Client, key: str, status: str, reason: str) -> Claim:
    """Change the status of a claim for one client, with the reason; the product's row stays as it is."""
    require(by, client, "assumptions")
    if status not in Claim.Status.values:
        raise InputError("status", status, _("one of %s") % ", ".join(Claim.Status.values))
    if not reason.strip():
        raise InputError("reason", reason, _("why the client sees it so"))
    rows = {row.client_id: row for row in Claim.objects.filter(key=key) if row.client_id in (None, client.pk)}
    claim = rows.get(client.pk) or rows.get(None)
    if claim is None:
        raise InputError("key", key, _("a claim of the register"))
    if claim.client_id is None:
        claim.pk, claim.client, claim.organisation_id = uuid.uuid4(), client, client.organisation_id
        claim._state.adding = True
    before = claim.status
    claim.status, claim.reason, claim.author_label = status, reason.strip(), author_label(by)
    claim.save()
    record(
        actor=by,
        action="claim.judged",
        client=client,
        subject=key,
        subject_id=claim.pk,
        details={"from": before, "to": status, "reason": claim.reason},
    )
    return claim


@transaction.atomic
def add_claim(
    *,
    by: Actor,
    client: Client,
    key: str,
    topic: str,
    statement: str,
    source: str,
    check_text: str = "",
    verdict: str = Claim.Verdict.UNSOURCED,
    status: str = Claim.Status.CONTESTED,
    assumption_keys: list[str] | None = None,
    as_of: str = "",
    reason: str = "",
) -> Claim:
    """Add a client's own claim to its register; without a check it is unsourced and contested."""
    require(by, client, "assumptions")
    if Claim.objects.filter(key=key, client__isnull=True).exists() or Claim.objects.filter(key=key, client=client):
        raise InputError("key", key, _("a name that the register does not hold yet"))
    for name, value in (("key", key), ("statement", statement), ("source", source)):
        if not value.strip():
            raise InputError(name, value, _("filled in"))
    for name, value, choices in (("verdict", verdict, Claim.Verdict), ("status", status, Claim.Status)):
        if value not in choices.values:
            raise InputError(name, value, _("one of %s") % ", ".join(choices.values))
    claim = Claim.objects.create(
        organisation_id=client.organisation_id,
        client=client,
        key=key.strip(),
        topic=topic,
        statement=statement.strip(),
        check_text=check_text,
        verdict=verdict,
        status=status,
        assumption_keys=list(assumption_keys or []),
        source=source.strip(),
        as_of=as_of,
        reason=reason,
        author_label=author_label(by),
    )
    record(actor=by, action="claim.added", client=client, subject=claim.key, subject_id=claim.pk)
    return claim
