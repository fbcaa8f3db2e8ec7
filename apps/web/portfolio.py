"""What the portfolio shows of each assessment: a constant number of queries for any number of them."""

from dataclasses import dataclass
from datetime import date

from django.db.models import Count, F, Min, OuterRef, Q, Subquery

from apps.accounts.models import User
from apps.analyses.models import AnalysisRun
from apps.assessments import selectors as assessments
from apps.assessments.models import Assessment, Option
from apps.reports import figures

COUNTDOWN_DAYS = 14
STAGES = (
    Assessment.State.DRAFT,
    Assessment.State.IN_REVIEW,
    Assessment.State.CHALLENGED,
    Assessment.State.SIGNED,
    Assessment.State.DECIDED,
)


@dataclass(frozen=True, kw_only=True)
class Card:
    """One assessment on the board."""

    assessment: Assessment
    options: list[Option]
    n_quotes: int
    validity: str
    validity_severity: str
    run: str
    run_state: str


def cards(user: User, today: date, client_id: str = "") -> list[Card]:
    """The assessments the user may see, the one worked on last first; five queries."""
    newest = AnalysisRun.objects.visible_to(user).filter(assessment=OuterRef("pk")).order_by("-number")
    rows = assessments.assessments_visible_to(user).select_related("client__organisation")
    if client_id:
        rows = rows.filter(client_id=client_id)
    rows = rows.annotate(
        run_number=Subquery(newest.values("number")[:1]),
        run_state=Subquery(newest.values("state")[:1]),
        run_at=Subquery(newest.values("created_at")[:1]),
    ).order_by(F("run_at").desc(nulls_last=True), "name")
    options = (
        Option.objects.visible_to(user)
        .filter(assessment__in=[row.pk for row in rows])
        .annotate(
            valid_until=Min("phases__quote_version__valid_until"),
            n_quotes=Count("phases__quote_version", filter=Q(phases__quote_version__isnull=False)),
        )
        .order_by("slot", "letter")
    )
    by_assessment: dict[object, list[Option]] = {}
    for option in options:
        by_assessment.setdefault(option.assessment_id, []).append(option)
    return [_card(row, by_assessment.get(row.pk, []), today) for row in rows]


def _card(assessment: Assessment, options: list[Option], today: date) -> Card:
    days = [(option.valid_until - today).days for option in options if option.valid_until]  # type: ignore[attr-defined]
    first = min(days) if days else None
    number = assessment.run_number  # type: ignore[attr-defined]
    state = assessment.run_state or ""  # type: ignore[attr-defined]
    return Card(
        assessment=assessment,
        options=options,
        n_quotes=sum(option.n_quotes for option in options),  # type: ignore[attr-defined]
        validity=validity_words(first),
        validity_severity=validity_severity(first),
        run="" if number is None else f"{number} · {figures.moment(assessment.run_at)}",  # type: ignore[attr-defined]
        run_state=str(AnalysisRun.State(state).label) if state else "",
    )


def validity_words(days: int | None) -> str:
    """How long the quote that ends first still holds."""
    from django.utils.translation import gettext as _
    from django.utils.translation import ngettext

    if days is None:
        return ""
    if days < 0:
        return _("a quote has expired")
    return ngettext("first quote ends in %s day", "first quote ends in %s days", days) % days


def validity_severity(days: int | None) -> str:
    if days is None or days > COUNTDOWN_DAYS:
        return ""
    return "red" if days < 0 else "amber"
