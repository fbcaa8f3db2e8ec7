"""The claim register of one client as a table and a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.assumptions.models import Claim
from apps.assumptions.selectors import ResolvedAssumption
from apps.reports import figures


@dataclass(frozen=True, kw_only=True)
class Resting:
    """An assumption that rests on a claim, with the value that counts in the assessment."""

    key: str
    label: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One claim with the assumptions that rest on it."""

    claim: Claim
    resting: tuple[Resting, ...]
    product_status: str  # what the product says of it, empty for the client's own claim

    @property
    def verdict_words(self) -> str:
        return str(self.claim.get_verdict_display())

    @property
    def status_words(self) -> str:
        return str(self.claim.get_status_display())

    @property
    def contested(self) -> bool:
        return self.claim.status == Claim.Status.CONTESTED

    @property
    def judged(self) -> bool:
        """Whether the client sees a claim of the product in its own way, or added it."""
        return self.claim.client_id is not None

    @property
    def topic_words(self) -> str:
        return topic_words(self.claim.topic)


def topic_words(topic: str) -> str:
    """Topics are plain words of the fixtures; they start a heading or an entry of a list."""
    return topic[:1].upper() + topic[1:].replace("_", " ")


def claim_rows(claims: Iterable[Claim], product: Iterable[Claim], found: Mapping[str, ResolvedAssumption]) -> list[Row]:
    """`claims` as the client sees them, `product` as the product does, `found` the assumptions that count."""
    statuses = {claim.key: str(claim.get_status_display()) for claim in product}
    return [
        Row(
            claim=claim,
            resting=tuple(_resting(key, found.get(key)) for key in claim.assumption_keys),
            product_status=statuses.get(claim.key, ""),
        )
        for claim in claims
    ]


def _resting(key: str, assumption: ResolvedAssumption | None) -> Resting:
    if assumption is None:
        return Resting(key=key, label=key, value=figures.not_given())
    value = assumption.text or figures.in_unit(assumption.likely, assumption.unit)
    return Resting(key=key, label=assumption.label, value=value)


def filtered(rows: Iterable[Row], *, topic: str, verdict: str, status: str) -> list[Row]:
    """The rows that a reader asked for."""
    return [
        row
        for row in rows
        if topic in ("", row.claim.topic) and verdict in ("", row.claim.verdict) and status in ("", row.claim.status)
    ]


def topics_of(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """The topics that occur, for filters and forms."""
    return [(topic, topic_words(topic)) for topic in sorted({row.claim.topic for row in rows})]


def finding(rows: Sequence[Row]) -> tuple[str, str]:
    """Heading and deck: how many are contested, and which assumptions rest on those."""
    contested = [row for row in rows if row.contested]
    if not rows:
        return _("No claim is in the register"), ""
    heading = ngettext(
        "%(contested)d of %(n)d claim is contested", "%(contested)d of %(n)d claims are contested", len(rows)
    ) % {"contested": len(contested), "n": len(rows)}
    labels = sorted({resting.label for row in contested for resting in row.resting})
    deck = _("A claim is a statement that somebody made; none is a default.")
    if labels:
        deck += " " + ngettext(
            "%d assumption rests on a contested one.", "%d assumptions rest on contested ones.", len(labels)
        ) % len(labels)
    return heading, deck


def csv_rows(rows: Sequence[Row]) -> list[list[str]]:
    """The register as shown, one row a claim."""
    head = [_("Claim"), _("Topic"), _("Statement"), _("What a check found"), _("Verdict"), _("Status")]
    head += [_("Source"), _("As of"), _("Assumptions that rest on it"), _("Reason"), _("Author")]
    return [head, *(_csv_row(row) for row in rows)]


def _csv_row(row: Row) -> list[str]:
    claim = row.claim
    cells = [claim.key, row.topic_words, claim.statement, claim.check_text, row.verdict_words, row.status_words]
    cells += [claim.source, claim.as_of, ", ".join(resting.label for resting in row.resting)]
    return [*cells, claim.reason, claim.author_label]
