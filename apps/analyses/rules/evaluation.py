"""Puts the rules to the facts and words what they say."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, Final

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.analyses.models import AnalysisRun, RuleWaiver
from apps.analyses.rules.definitions import Level, Rule, rules
from apps.analyses.rules.facts import AssessmentFacts, gather
from apps.analyses.rules.hits import OPTIONS_PLACE, SEVERITIES, RuleHit, option_words
from apps.analyses.rules.logic import Known, Unknown
from apps.analyses.rules.logic import evaluate as truth_of
from apps.analyses.rules.run_facts import RunDocuments
from apps.analyses.rules.vocabulary import caption, number, written
from apps.assessments.models import Assessment
from apps.vendors.models import EvidenceLevel

PLACE: Final = re.compile(r"\{([a-z_]+)(?::([a-z_]+))?\}")
DOUBTFUL: Final = ("contested", "memory")


def evaluate(
    assessment: Assessment,
    *,
    run: AnalysisRun | None = None,
    today: date | None = None,
    documents: RunDocuments | None = None,
) -> list[RuleHit]:
    """What the rules say: gates first, then red, amber, banners and notes, each in the order of rules and options.

    Without `run` the newest succeeded cost run of the base inputs counts; a page that has read the run's documents
    hands them over in `documents`, so that they are not read twice. The caller has made sure that the user may see the
    assessment. At most ten queries, whatever the number of options.
    """
    if documents is None:
        run = run or _newest_run(assessment)
    gathered = gather(assessment, run=run, today=today or timezone.localdate(), documents=documents)
    hits = hits_of(gathered, today=today or timezone.localdate())
    waivers = {
        (waiver.rule_id, waiver.option_id): waiver
        for waiver in RuleWaiver.objects.of_client(assessment.client).filter(
            assessment=assessment, withdrawn_at__isnull=True
        )
    }
    ids = {option.letter: option.pk for option in gathered.options}
    return [_waived(hit, waivers.get((hit.rule_id, ids.get(hit.option_letter or "")))) for hit in hits]


def _newest_run(assessment: Assessment) -> AnalysisRun | None:
    runs = AnalysisRun.objects.of_client(assessment.client).filter(
        assessment=assessment, kind=AnalysisRun.Kind.TCO, state=AnalysisRun.State.SUCCEEDED, scenario=None
    )
    return runs.order_by("-number").first()


def _waived(hit: RuleHit, waiver: RuleWaiver | None) -> RuleHit:
    return replace(hit, waived_by=waiver.waived_by_name, waiver_reason=waiver.reason) if waiver else hit


def hits_of(gathered: AssessmentFacts, *, today: date) -> list[RuleHit]:
    """The hits on facts already gathered, without waivers."""
    thresholds = {key: found.likely for key, found in gathered.assumptions.items()}
    hits: list[RuleHit] = []
    for rule in rules():
        scopes: list[tuple[str | None, Mapping[str, Any]]] = [(None, gathered.of_assessment)]
        if rule.scope == "option":
            scopes = [(letter, {**gathered.of_assessment, **facts}) for letter, facts in gathered.of_option.items()]
        for letter, facts in scopes:
            hit = hit_of(rule, Known(facts, thresholds, today), letter)
            if hit is not None:
                hits.append(_with_threshold(hit, gathered))
    return sorted(hits, key=lambda hit: SEVERITIES.index(hit.severity))


def hit_of(rule: Rule, known: Known, letter: str | None) -> RuleHit | None:
    """What one rule says on one set of facts: its first level that holds, else that facts are missing, else nothing."""
    truths = [truth_of(level.when, known) for level in rule.levels]
    for level, truth in zip(rule.levels, truths, strict=True):
        if truth is True:
            return _hit(rule, level, known, letter)
    unknown = [truth for truth in truths if isinstance(truth, Unknown)]
    if not unknown:
        return None
    missing = sorted({caption(name) for truth in unknown for name in truth.missing})
    words = _worded(rule.unknown_what, rule, known, missing)
    level = Level(
        severity=rule.unknown_severity,
        when={},
        title=rule.title,
        what=rule.unknown_what,
        value=_("not given"),
        threshold=_known_only(rule.levels[0].threshold, known),
    )
    hit = _hit(rule, level, known, letter)
    return replace(hit, what=words, value_text=_("not given"), not_given=True, missing=tuple(missing))


def _known_only(template: str, known: Known) -> str:
    """The template, or nothing when it would have to say that a fact is not given."""
    names = {name for name, argument in PLACE.findall(template) if not argument and name != "threshold"}
    return template if all(known.facts.get(name) is not None for name in names) else ""


def _hit(rule: Rule, level: Level, known: Known, letter: str | None) -> RuleHit:
    remedy = _worded(rule.remedy, rule, known)
    return RuleHit(
        rule_id=rule.id,
        severity=level.severity,
        title=_worded(level.title, rule, known),
        option_letter=letter,
        value_text=_worded(level.value, rule, known),
        threshold_text=_worded(level.threshold, rule, known),
        what=_worded(level.what, rule, known),
        remedy=remedy.replace(OPTIONS_PLACE, option_words([letter] if letter else [])),
        remedy_template=remedy,
        page=rule.page,
        why=_worded(rule.why, rule, known),
        source=_worded(rule.source, rule, known),
        supplier=_worded(rule.supplier, rule, known),
        blocks=rule.blocks if level.severity == "gate" else (),
        threshold_key=rule.threshold if "{threshold" in level.threshold else None,
    )


def _with_threshold(hit: RuleHit, gathered: AssessmentFacts) -> RuleHit:
    """The hit with the version of its threshold, and whether that threshold is itself in doubt."""
    found = gathered.assumptions.get(hit.threshold_key or "")
    if found is None:
        return hit
    contested = found.status in DOUBTFUL or bool(gathered.contested_claims.get(found.key))
    return replace(hit, contested=contested, threshold_version=found.version)


def _worded(template: str, rule: Rule, known: Known, missing: list[str] | None = None) -> str:
    """The text in the reader's language with its places filled: {fact}, {threshold}, {missing}, {over:fact}, …"""

    def fill(match: re.Match[str]) -> str:
        name, argument = match.groups()
        if name == "options":
            return OPTIONS_PLACE
        if name == "missing":
            return ", ".join(missing or [])
        if name == "threshold":
            return _threshold(known.assumptions.get(rule.threshold or ""), argument)
        if argument is None:
            return written(known.facts.get(name))
        return _of_pairs(name, known.facts.get(argument) or [], known.assumptions.get(rule.threshold or ""))

    return PLACE.sub(fill, _(template) if template else "")


def _threshold(value: Decimal | None, kind: str | None) -> str:
    if kind == "evidence_level" and value is not None and 0 <= value < len(EvidenceLevel.values):
        return str(EvidenceLevel(EvidenceLevel.values[int(value)]).label)
    return _("not given") if value is None else number(value)


def _of_pairs(kind: str, pairs: list[tuple[str, int]], threshold: Decimal | None) -> str:
    """`max`: the largest number of (label, number) pairs; `over`, `under`: the labels above or below the threshold."""
    if kind == "max":
        return written(max((amount for _label, amount in pairs), default=None))
    sign = 1 if kind == "over" else -1
    return "; ".join(label for label, amount in pairs if threshold is None or sign * (amount - threshold) > 0)
