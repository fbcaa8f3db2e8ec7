"""What the Decision page shows of a run, of the rules and of the next steps."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.analyses.rules import Ranking, RuleHit
from apps.assessments.models import Assessment, Option
from apps.reports import figures
from apps.reports.cost_run import NOMINAL, NPV, CostOption, CostRun, shared_scale
from apps.reports.terms import Validity, evidence_levels, quote_validity
from apps.vendors.models import EvidenceLevel

MOST_STEPS = 4
MANDATORY = 3

QUESTIONS: tuple[tuple[str, Promise, Promise], ...] = (
    (
        "Q1",
        gettext_lazy("Has bisection bandwidth been measured at the scale we will use?"),
        gettext_lazy("test, node count, date"),
    ),
    (
        "Q2",
        gettext_lazy("What are all-to-all latency and bandwidth under realistic expert routing?"),
        gettext_lazy("message sizes, EP degree, imbalance"),
    ),
    (
        "Q3",
        gettext_lazy("What is the checkpoint write throughput at the expected model size?"),
        gettext_lazy("blocking share, concurrent readers"),
    ),
)


@dataclass(frozen=True)
class OptionRow:
    """One option on the Decision page; `gates` names what keeps it from being ranked."""

    option: CostOption
    rank: int | None
    gates: list[str]
    number: str
    distribution: Mapping[str, Any]
    scale: tuple[float, float]
    range_words: str
    other_number: str
    other_distribution: Mapping[str, Any]
    other_scale: tuple[float, float]
    other_range_words: str
    draws: int | None
    levels: list[tuple[str, str]]
    validity: Validity | None
    shortlisted: bool


def option_rows(
    run: CostRun, basis: str, ranking: Ranking, stored: Mapping[str, Option], *, today: dt.date
) -> list[OptionRow]:
    """Ranked options first, then those that a gate holds back, the baseline last."""
    other = NPV if basis == NOMINAL else NOMINAL
    options = run.ordered(basis, tuple(ranking.unranked))
    on_scale = [option for option in options if not option.baseline] or options
    scales = [shared_scale([option.total(name) for option in on_scale]) for name in (basis, other)]
    draws = figures.draws_of_100(run.found["probability_cheapest"][basis])
    return [
        OptionRow(
            option=option,
            rank=ranking.letters.index(option.key) + 1 if option.key in ranking.letters else None,
            gates=sorted({hit.rule_id for hit in ranking.unranked.get(option.key, ())}),
            number=figures.millions(option.total(basis)["likely"]),
            distribution=option.total(basis),
            scale=scales[0],
            range_words=figures.p10_p90(option.total(basis), figures.millions),
            other_number=figures.millions(option.total(other)["likely"]),
            other_distribution=option.total(other),
            other_scale=scales[1],
            other_range_words=figures.p10_p90(option.total(other), figures.millions),
            draws=draws.get(option.key),
            levels=_levels(stored.get(option.key)),
            validity=quote_validity(stored[option.key], today) if option.key in stored else None,
            shortlisted=option.key not in stored or stored[option.key].shortlisted,
        )
        for option in options
    ]


def option_csv(rows: Sequence[OptionRow], basis: str, run: CostRun) -> Iterator[list[str]]:
    """The option rows as the page shows them."""
    names = {NOMINAL: _("nominal"), NPV: _("NPV at %s") % run.rate_text}
    other = NPV if basis == NOMINAL else NOMINAL
    yield [
        _("Option"),
        _("Name"),
        _("Rank"),
        _("TCO, %(n)s months, M %(currency)s, %(basis)s")
        % {"n": run.horizon, "currency": run.currency, "basis": names[basis]},
        "P10–P90",
        f"M {run.currency}, {names[other]}",
        "P10–P90",
        _("Cheapest in draws of 100"),
        _("Training cycles, ship week, revenue, fit with the roadmap"),
        *(_("Evidence %s") % question for question, _level in (rows[0].levels if rows else [])),
        _("Quote valid until"),
        _("Days from today"),
    ]
    for row in rows:
        rank = str(row.rank) if row.rank else _("not ranked: %s") % ", ".join(row.gates) if row.gates else ""
        yield [
            row.option.key,
            row.option.name,
            rank,
            row.number,
            row.range_words,
            row.other_number,
            row.other_range_words,
            "" if row.draws is None else str(row.draws),
            _("not computed yet"),
            *(str(EvidenceLevel(level).label) for _question, level in row.levels),
            row.validity.date_words if row.validity else figures.not_given(),
            row.validity.days_words if row.validity else "",
        ]


def _levels(option: Option | None) -> list[tuple[str, str]]:
    if option is None:
        return []
    return [(f"Q{number}", level) for number, level in enumerate(evidence_levels(option), start=1)]


def prices_as_of(run: CostRun) -> str:
    """The newest date of a quote among the inputs: the day that the prices of the run are of."""
    dates = [
        item["source"].get("date", "") for item in run.given["inputs"].values() if item["source"].get("kind") == "quote"
    ]
    newest = max((date for date in dates if date), default="")
    return figures.day(newest) if newest else ""


# Rules --------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class HitRow:
    """One rule hit with every option that it says the same of; `hits` are those of the options, in their order."""

    hit: RuleHit
    options: list[Option]
    hits: list[RuleHit]

    @property
    def remedy(self) -> str:
        return self.hit.remedy_for([option.letter for option in self.options])

    @property
    def supplier(self) -> str:
        """Who can supply what is missing; option by option where it is not the same for all of them."""
        return suppliers(self.hits)


def suppliers(hits: Sequence[RuleHit]) -> str:
    """Velmora Compute; or A: Velmora Compute; B, B+: Quarrow Racks."""
    letters: dict[str, list[str]] = {}
    for hit in hits:
        letters.setdefault(hit.supplier, []).append(hit.option_letter or "")
    letters.pop("", None)
    if len(letters) < 2:  # one supplier for all needs no letters
        return next(iter(letters), "")
    return "; ".join(f"{', '.join(found)}: {supplier}" for supplier, found in letters.items())


def grouped_hits(hits: Sequence[RuleHit], options: Sequence[Option]) -> list[HitRow]:
    """Hits in their order, open ones before waived ones of a severity; equal words for several options make one row."""
    by_letter = {option.letter: option for option in options}
    rows: dict[tuple[Any, ...], HitRow] = {}
    for hit in hits:
        key = (
            hit.rule_id,
            hit.severity,
            hit.what,
            hit.value_text,
            hit.threshold_text,
            hit.waived_by,
            hit.waiver_reason,
        )
        row = rows.setdefault(key, HitRow(hit, [], []))
        row.hits.append(hit)
        if hit.option_letter in by_letter:
            row.options.append(by_letter[hit.option_letter])
    return list(rows.values())


def hit_counts(hits: Sequence[RuleHit]) -> str:
    """2 gates, 3 red, 5 amber, 1 waived: rules, not options."""
    words = {"gate": (_("gate"), _("gates")), "red": (_("red"),) * 2, "amber": (_("amber"),) * 2}
    parts = []
    for severity, (one, many) in words.items():
        n = len({hit.rule_id for hit in hits if hit.severity == severity and not hit.waived})
        if n:
            parts.append(f"{n} {one if n == 1 else many}")
    n_waived = len({(hit.rule_id, hit.option_letter) for hit in hits if hit.waived})
    if n_waived:
        parts.append(_("%s waived") % n_waived)
    return ", ".join(parts)


@dataclass(frozen=True)
class NextStep:
    """What to do, what it clears and who supplies it, and the screen where it is done: one, or one an option."""

    what: str
    note: str
    page: str
    letters: tuple[str, ...]


def next_steps(hits: Sequence[RuleHit]) -> list[NextStep]:
    """The remedies of open hits, gates first, each once with every option that it is for."""
    found: dict[str, list[RuleHit]] = {}
    for hit in hits:
        if not hit.waived and hit.remedy and hit.severity in ("gate", "red", "amber"):
            found.setdefault(hit.remedy_template or hit.remedy, []).append(hit)
    return [_step(same) for same in list(found.values())[:MOST_STEPS]]


def _step(hits: Sequence[RuleHit]) -> NextStep:
    letters = tuple(hit.option_letter for hit in hits if hit.option_letter)
    note = _("clears %s") % hits[0].rule_id
    if letters:
        note += " " + _("for %s") % ", ".join(letters)
    supplier = suppliers(hits)
    return NextStep(hits[0].remedy_for(letters), f"{note} · {supplier}" if supplier else note, hits[0].page, letters)


# Before the first run -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Task:
    """One of the five things to do; `screen` names the address it leads to."""

    title: str
    reason: str
    done: bool
    screen: str
    action: str


def tasks(assessment: Assessment, facts: Mapping[str, int]) -> list[Task]:
    """The way from an empty assessment to the Decision page."""
    answered = bool(assessment.dominant_load and assessment.goal_date and assessment.existing_capacity)
    quoted = facts["quoted"]
    roadmap = bool(facts["roadmap"]) and assessment.moe_within_18_months is not None
    return [
        Task(
            _("Answer the three questions"),
            _("load, date that matters, what runs today"),
            answered,
            "start",
            _("Start"),
        ),
        Task(
            _("Add quotes"),
            _("one per vendor: XLSX template, CSV or JSON") if not quoted else _("%s options have a quote") % quoted,
            quoted >= 2,
            "intake",
            _("Add"),
        ),
        Task(
            _("Complete the fabric audit"),
            _("NIC, topology, oversubscription: no ranking before"),
            bool(quoted) and not facts.get("fabric_open", 1),
            "configuration",
            _("Open"),
        ),
        Task(
            _("Describe the roadmap"),
            _("lead time + 12 months at least; is an MoE due within 18 months?"),
            roadmap,
            "roadmap",
            _("Open"),
        ),
        Task(
            _("Run"),
            _("a run is under way") if facts["alive"] else _("in the background; you can leave the page"),
            False,
            "activity",
            _("Open"),
        ),
    ]
