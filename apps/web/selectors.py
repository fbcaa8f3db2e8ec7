"""What the result screens read: an assessment and one of its finished runs, for the user who asks."""

import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, Min, OuterRef, Prefetch, Q
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.analyses import selectors as analyses
from apps.analyses.models import AnalysisRun, RuleWaiver
from apps.assessments import selectors as assessments
from apps.assessments.models import Assessment, EvidenceAnswer, Option, OptionPhase
from apps.engine.errors import EngineError
from apps.intake.models import ImportBatch
from apps.vendors.models import QuoteVersion
from apps.workloads.models import RoadmapItem


def assessment_or_404(user: User, assessment_id: uuid.UUID) -> Assessment:
    """The assessment; an unknown id and another client's give the same 404."""
    try:
        return assessments.get_assessment(user, assessment_id)
    except Assessment.DoesNotExist:
        raise Http404 from None


def shown_run(user: User, assessment: Assessment, number: str = "") -> AnalysisRun | None:
    """The finished cost run that a screen shows: the one with the number in the address, else the newest.

    Raises `Http404` when a number was given and the assessment has no finished cost run with it.
    """
    if not number:
        return analyses.latest_succeeded(user, assessment)
    if not number.isdigit() or len(number) > 9:
        raise Http404
    found = (
        AnalysisRun.objects.visible_to(user)
        .select_related("assessment", "client", "scenario", "requested_by")
        .filter(
            assessment=assessment,
            kind=AnalysisRun.Kind.TCO,
            state=AnalysisRun.State.SUCCEEDED,
            number=int(number),
        )
        .first()
    )
    if found is None:
        raise Http404
    return found


def run_or_404(user: User, assessment: Assessment, run_id: uuid.UUID, **conditions: Any) -> AnalysisRun:
    runs = AnalysisRun.objects.visible_to(user).select_related("assessment", "client", "scenario", "requested_by")
    found = runs.filter(assessment=assessment, pk=run_id, **conditions).first()
    if found is None:
        raise Http404
    return found


MOST_CHANGES = 8


@dataclass(frozen=True)
class Stale:
    """What has changed since a run, in sentences, and how many more there are."""

    run: AnalysisRun
    changes: list[str]
    more: int


def stale_since(run: AnalysisRun | None) -> Stale | None:
    """What has changed since a run that the caller has read; None when nothing has."""
    if run is None:
        return None
    try:
        changes = analyses.is_stale(run)
    except EngineError as error:  # the inputs as they stand now could not be computed
        changes = [str(error)]
    return Stale(run, changes[:MOST_CHANGES], len(changes) - MOST_CHANGES) if changes else None


@dataclass(frozen=True)
class StoredQuote:
    """A stored quote that no option of the assessment uses, and the import on whose page it can become one."""

    version: QuoteVersion
    batch_id: uuid.UUID


def quotes_without_option(user: User, assessment: Assessment) -> list[StoredQuote]:
    """The newest imported version of each quote of which no option of the assessment uses a version; three queries."""
    here = Q(assessment_id=assessment.pk) | Q(assessment_id__isnull=True)
    batches = ImportBatch.objects.visible_to(user).filter(
        here, client=assessment.client, state=ImportBatch.State.COMMITTED, quote_version_id__isnull=False
    )
    batch_of = dict(batches.order_by("committed_at").values_list("quote_version_id", "pk"))
    used = OptionPhase.objects.visible_to(user).filter(
        option__assessment=assessment, quote_version__quote=OuterRef("quote")
    )
    unused = QuoteVersion.objects.visible_to(user).filter(~Exists(used), pk__in=batch_of)
    versions = unused.select_related("quote__vendor").annotate(n_lines=Count("lines")).order_by("version")
    newest = {version.quote_id: version for version in versions}
    found = sorted(newest.values(), key=lambda version: (version.quote.vendor.name, version.quote.number))
    return [StoredQuote(version, batch_of[version.pk]) for version in found]


MOST_FOUND = 20


def found_by(user: User, words: str) -> list[dict[str, Any]]:
    """Assessments, options and quotes whose names contain the words, of the clients in which the user has a role."""
    client_or_name = Q(name__icontains=words) | Q(client__name__icontains=words)
    found: list[dict[str, Any]] = [
        {
            "kind": _("Assessment"),
            "label": row.name,
            "where": row.client.name,
            "url": reverse("web:decision", args=[row.pk]),
        }
        for row in assessments.assessments_visible_to(user).filter(client_or_name)[:MOST_FOUND]
    ]
    options = Option.objects.visible_to(user).filter(Q(name__icontains=words) | Q(letter__iexact=words))
    found += [
        {
            "kind": _("Option"),
            "label": f"{row.letter} {row.name}",
            "where": row.assessment.name,
            "url": reverse("web:tco", args=[row.assessment_id]) + "?" + urlencode({"option": row.letter}),
        }
        for row in options.select_related("assessment").order_by("name")[:MOST_FOUND]
    ]
    named = Q(quote_version__quote__vendor__name__icontains=words) | Q(quote_version__quote__number__icontains=words)
    phases = OptionPhase.objects.visible_to(user).filter(named)
    phases = phases.select_related("quote_version__quote__vendor", "option__assessment").order_by("option__letter")
    found += [
        {
            "kind": _("Quote"),
            "label": str(row.quote_version),
            "where": row.option.assessment.name,
            "url": reverse("web:quotes", args=[row.option.assessment_id]),
        }
        for row in phases[:MOST_FOUND]
    ]
    return found


def quote_versions(user: User, options: list[Option]) -> list[QuoteVersion]:
    """Every version of the quotes that the options' phases pin, with lines; options come with their phases."""
    quotes = {
        phase.quote_version.quote_id for option in options for phase in option.phases.all() if phase.quote_version
    }
    versions = QuoteVersion.objects.visible_to(user).filter(quote__in=quotes)
    return list(versions.select_related("quote__vendor").prefetch_related("lines").order_by("quote", "version"))


def options_with_evidence(user: User, assessment: Assessment) -> list[Option]:
    """Options in the order of their slots with evidence, `valid_until` and `n_quotes` of their phases; two queries."""
    evidence = EvidenceAnswer.objects.visible_to(user).order_by("question")
    found = Option.objects.visible_to(user).filter(assessment=assessment).order_by("slot", "letter")
    counted = found.annotate(
        valid_until=Min("phases__quote_version__valid_until"), n_quotes=Count("phases__quote_version")
    )
    return list(counted.prefetch_related(Prefetch("evidence", queryset=evidence)))


def progress_of(user: User, assessment: Assessment, options: list[Option]) -> dict[str, int]:
    """How far the inputs are: options with a quote, items of the roadmap, runs that are not over."""
    runs = AnalysisRun.objects.visible_to(user).filter(assessment=assessment)
    alive = (AnalysisRun.State.QUEUED, AnalysisRun.State.RUNNING)
    return {
        "quoted": sum(1 for option in options if getattr(option, "n_quotes", 0)),
        "roadmap": RoadmapItem.objects.visible_to(user).filter(assessment=assessment).count(),
        "alive": runs.filter(state__in=alive).count(),
    }


def standing_waiver(user: User, assessment: Assessment, *, rule_id: str, letter: str) -> RuleWaiver:
    waivers = RuleWaiver.objects.visible_to(user).select_related("client", "option")
    waivers = waivers.filter(assessment=assessment, rule_id=rule_id, withdrawn_at=None)
    found = waivers.filter(option__letter=letter) if letter else waivers.filter(option=None)
    waiver = found.first()
    if waiver is None:
        raise Http404
    return waiver
