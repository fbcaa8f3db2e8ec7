"""Reads of vendors and quotes: what may this user see, with the joins a screen needs."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import OuterRef, Subquery

from apps.accounts.models import Client, User
from apps.accounts.scoping import ClientScopedQuerySet
from apps.vendors.models import QuoteLine, QuoteVersion, Vendor

COMPARED = (
    "kind",
    "description",
    "quantity",
    "unit",
    "unit_price_low",
    "unit_price_likely",
    "unit_price_high",
    "currency",
    "charge",
    "period",
    "percent_of",
    "discount_fraction",
    "escalation_fraction_per_year",
    "term_months",
    "included",
    "capacity_tb",
    "write_gbyte_per_s",
)
VERSION_COMPARED = (
    "date",
    "valid_until",
    "currency",
    "tax_excluded",
    "term_months",
    "renewable",
    "warranty_months",
    "incoterm",
    "lead_weeks_low",
    "lead_weeks_likely",
    "lead_weeks_high",
    "acceptance_weeks",
    "delivery_commitment",
    "payment_milestones",
)


def vendors_visible_to(user: User) -> ClientScopedQuerySet[Vendor]:
    return Vendor.objects.visible_to(user).order_by("name")


def quote_versions_visible_to(user: User) -> ClientScopedQuerySet[QuoteVersion]:
    """Quote versions of the user's clients, newest first, with quote and vendor."""
    return (
        QuoteVersion.objects.visible_to(user)
        .select_related("quote__vendor", "client")
        .order_by("quote__vendor__name", "quote__number", "-version")
    )


def quote_lines_of(version: QuoteVersion) -> ClientScopedQuerySet[QuoteLine]:
    """The lines of a version the caller has already been shown, in the order of the quote."""
    return QuoteLine.objects.of_client(version.client).filter(quote_version=version).order_by("position")


def latest_versions(client: Client) -> ClientScopedQuerySet[QuoteVersion]:
    """The newest version of each quote of a client, with quote and vendor."""
    newest = (
        QuoteVersion.objects.of_client(client).filter(quote=OuterRef("quote")).order_by("-version").values("pk")[:1]
    )
    return (
        QuoteVersion.objects.of_client(client)
        .filter(pk=Subquery(newest))
        .select_related("quote__vendor")
        .order_by("quote__vendor__name", "quote__number")
    )


# What changed between two versions ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Change:
    """One value that differs; `percent` tells by how much, where both are numbers and the old one is not 0."""

    field: str
    old: Any
    new: Any
    percent: Decimal | None


@dataclass(frozen=True)
class LineDiff:
    """A line in both versions, or in one: `state` is same, changed, added or removed."""

    state: str
    old: QuoteLine | None
    new: QuoteLine | None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class VersionDiff:
    """What a newer version changes: facts of the quote, and its lines in the order of the newer version."""

    facts: tuple[Change, ...]
    lines: tuple[LineDiff, ...]

    @property
    def is_empty(self) -> bool:
        return not self.facts and all(line.state == "same" for line in self.lines)


def version_diff(old: QuoteVersion, new: QuoteVersion) -> VersionDiff:
    """Compare two versions line by line; lines belong together by part number, else by kind and description."""
    return diff_of_lines(
        list(quote_lines_of(old)),
        list(quote_lines_of(new)),
        facts=_changes(old, new, VERSION_COMPARED),
    )


def diff_of_lines(
    old_lines: list[QuoteLine], new_lines: list[QuoteLine], *, facts: tuple[Change, ...] = ()
) -> VersionDiff:
    """Compare lines, stored or not: the import preview compares what it would store."""
    unmatched = list(old_lines)
    pairs: list[tuple[QuoteLine | None, QuoteLine | None]] = []
    partners = _partners(old_lines, new_lines)
    for new in new_lines:
        old = partners.get(id(new))
        if old is not None:
            unmatched.remove(old)
        pairs.append((old, new))
    pairs += [(old, None) for old in unmatched]
    return VersionDiff(facts=facts, lines=tuple(_line_diff(old, new) for old, new in pairs))


def _partners(old_lines: list[QuoteLine], new_lines: list[QuoteLine]) -> dict[int, QuoteLine]:
    """id of a new line -> its old line; the surest likeness is used up first."""
    partners: dict[int, QuoteLine] = {}
    free = list(old_lines)
    for likeness in _likenesses():
        for new in new_lines:
            if id(new) in partners:
                continue
            key = likeness(new)
            old = next((line for line in free if key is not None and likeness(line) == key), None)
            if old is not None:
                partners[id(new)] = old
                free.remove(old)
    return partners


def _likenesses() -> Iterator[Any]:
    yield lambda line: (line.kind, line.part_number, line.description) if line.part_number else None
    yield lambda line: (line.kind, line.part_number) if line.part_number else None
    yield lambda line: (line.kind, line.description, line.charge)
    yield lambda line: (line.kind, line.comparison_key, line.charge) if line.comparison_key else None


def _line_diff(old: QuoteLine | None, new: QuoteLine | None) -> LineDiff:
    if old is None:
        return LineDiff("added", None, new)
    if new is None:
        return LineDiff("removed", old, None)
    changes = _changes(old, new, COMPARED)
    return LineDiff("changed" if changes else "same", old, new, changes)


def _changes(old: Any, new: Any, names: tuple[str, ...]) -> tuple[Change, ...]:
    changes = []
    for name in names:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            changes.append(Change(name, before, after, _percent(before, after)))
    return tuple(changes)


def _percent(before: Any, after: Any) -> Decimal | None:
    if isinstance(before, Decimal) and isinstance(after, Decimal) and before != 0:
        return (after - before) / abs(before) * 100
    return None
