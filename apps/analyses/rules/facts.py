"""The facts of an assessment and its options, gathered from stored rows and the latest run in few queries."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Final

from django.db.models import Prefetch
from django.utils.translation import gettext as _

from apps.analyses.models import AnalysisRun
from apps.analyses.rules.run_facts import (
    RunDocuments,
    break_even_facts,
    driver_facts,
    has_power_and_cooling,
    price_facts,
    ranking_facts,
)
from apps.analyses.rules.vocabulary import joined
from apps.assessments.models import Assessment, EvidenceAnswer, Option, OptionPhase, OptionStaff
from apps.assumptions.models import FxRate
from apps.assumptions.selectors import ResolvedAssumption, contested_claims_by_assumption, pick_rate, resolve
from apps.racks.models import RackConfiguration
from apps.vendors.models import EvidenceLevel, LineKind, QuoteLine, QuoteVersion

Template = RackConfiguration.Template
CLOUD: Final = (Template.CLOUD_RESERVED, Template.CLOUD_ON_DEMAND)
RACKS: Final = (Template.DISAGGREGATED, Template.RACK_SCALE)
MANDATORY_QUESTIONS: Final = (1, 2, 3)
CATEGORIES: Final = ("compute", "fabric", "storage")
EVIDENCE_RANKS: Final = {level: rank for rank, level in enumerate(EvidenceLevel.values)}
# The rows are wide and pages evaluate rules on every visit: only what facts are made of is read.
PHASE_COLUMNS: Final = (
    "option",
    "position",
    "n_accelerators",
    *(
        f"configuration__{name}"
        for name in (
            "template",
            "n_accelerators",
            "accelerators_per_node",
            "nics_per_node",
            "nic_gbit_per_s",
            "topology",
            "oversubscription",
            "rack_power_kw",
            "site_rack_limit_kw",
            "cooling",
            "site_cooling",
            "it_load_basis",
            "availability",
            "goodput_likely",
        )
    ),
    *(
        f"quote_version__{name}"
        for name in ("valid_until", "tax_excluded", "lead_weeks_likely", "delivery_commitment", "quote__vendor__name")
    ),
)
Facts = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class AssessmentFacts:
    """Everything that the rules of one assessment are evaluated on; a fact that is None is not given."""

    assessment: Assessment
    options: Sequence[Option]  # in the order of the screens, without the baseline
    of_assessment: Facts
    of_option: Mapping[str, Facts]  # by letter
    assumptions: Mapping[str, ResolvedAssumption]
    contested_claims: Mapping[str, Sequence[str]]  # by the key of the assumption that rests on them


@dataclass(kw_only=True)
class _Rows:
    """The stored rows that the facts are read from."""

    assessment: Assessment
    options: list[Option]
    line_kinds: Mapping[Any, set[str]]  # quote version -> kinds of its lines
    currencies: set[str]
    assumptions: Mapping[str, ResolvedAssumption]
    contested: Mapping[str, Sequence[str]]
    run: RunDocuments | None
    today: date
    phases: dict[str, list[OptionPhase]] = field(default_factory=dict)

    def threshold(self, key: str) -> Decimal | None:
        return self.assumptions[key].likely if key in self.assumptions else None


def gather(
    assessment: Assessment, *, run: AnalysisRun | None, today: date, documents: RunDocuments | None = None
) -> AssessmentFacts:
    """The facts as they stand now; without a finished run those that only a run knows are not given.

    At most eight queries, whatever the number of options.
    """
    rows = _read_rows(assessment, documents or _documents(run), today)
    of_option = {option.letter: _option_facts(rows, option) for option in rows.options}
    return AssessmentFacts(
        assessment=assessment,
        options=rows.options,
        of_assessment=_assessment_facts(rows),
        of_option=of_option,
        assumptions=rows.assumptions,
        contested_claims=rows.contested,
    )


def _read_rows(assessment: Assessment, run: RunDocuments | None, today: date) -> _Rows:
    client = assessment.client
    phases = OptionPhase.objects.of_client(client).select_related("configuration", "quote_version__quote__vendor")
    staff = OptionStaff.objects.of_client(client).only("option", "fte_likely")
    answers = EvidenceAnswer.objects.of_client(client).only("option", "question", "level")
    options = list(
        Option.objects.of_client(client)
        .filter(assessment=assessment, baseline=False)
        .order_by("slot", "letter")
        .only("letter", "slot", "facility", "committed_kw", "assumptions", "assessment")
        .prefetch_related(Prefetch("phases", queryset=phases.order_by("position").only(*PHASE_COLUMNS)))
        .prefetch_related(Prefetch("staff", queryset=staff))
        .prefetch_related(Prefetch("evidence", queryset=answers))
    )
    of_option = {option.letter: list(option.phases.all()) for option in options}
    versions = {phase.quote_version_id for found in of_option.values() for phase in found if phase.quote_version_id}
    lines = QuoteLine.objects.of_client(client).filter(quote_version__in=versions)
    kinds: dict[Any, set[str]] = {}
    currencies: set[str] = set()
    for version_id, kind, currency in lines.values_list("quote_version_id", "kind", "currency").distinct():
        kinds.setdefault(version_id, set()).add(kind)
        currencies.add(currency)
    return _Rows(
        assessment=assessment,
        options=options,
        line_kinds=kinds,
        currencies=currencies,
        assumptions=resolve(organisation=None, client=client, assessment_id=assessment.pk),
        contested=contested_claims_by_assumption(client=client),
        run=run,
        today=today,
        phases=of_option,
    )


def _documents(run: AnalysisRun | None) -> RunDocuments | None:
    if run is None or run.state != AnalysisRun.State.SUCCEEDED or run.kind != AnalysisRun.Kind.TCO:
        return None
    return RunDocuments(inputs=json.loads(run.inputs_json), results=json.loads(run.results_json))


# Assessment ----------------------------------------------------------------------------------------------------------
def _assessment_facts(rows: _Rows) -> Facts:
    missing = _sign_off_missing(rows)
    facts: Facts = {
        "signature_date": rows.assessment.signature_date,
        "sign_off_missing": missing,
        "n_sign_off_missing": len(missing),
    }
    if rows.run is not None:
        facts |= ranking_facts(rows.run)
        facts |= price_facts(rows.run, today=rows.today, max_age_days=rows.threshold("rule.T8.max_age_days"))
        facts |= driver_facts(rows.run, n_drivers=rows.threshold("rule.E4.n_drivers"), claims_of=rows.contested)
        drivers = facts["contested_drivers"]
        facts["n_contested_drivers"] = None if drivers is None else len(drivers)
    return facts


def _sign_off_missing(rows: _Rows) -> list[str]:
    """What finance has to confirm before it can sign, in words."""
    owned = [option for option in rows.options if _owned(rows, option)]
    needs = (
        (_("date of exchange rates"), _rates_given(rows)),
        (_("discount rate"), _confirmed(rows, "discount_rate")),
        (_("residual value"), _confirmed_for(rows, owned, "residual_fraction")),
        (_("tax basis"), _tax_basis_given(rows)),
        (_("amortisation"), _confirmed_for(rows, owned, "book_life_months")),
    )
    return [name for name, given in needs if not given]


def _confirmed(rows: _Rows, key: str) -> bool:
    return key in rows.assumptions and rows.assumptions[key].confirmed


def _confirmed_for(rows: _Rows, options: Sequence[Option], prefix: str) -> bool:
    """Whether each category of own hardware has a confirmed value, of the option or of the assessment."""
    keys = [f"{prefix}.{category}" for category in CATEGORIES]
    return all(option.assumptions.get(key) or _confirmed(rows, key) for option in options for key in keys)


def _rates_given(rows: _Rows) -> bool:
    """Whether each foreign currency of the quotes has a rate on or before the day of the rates."""
    assessment = rows.assessment
    foreign = rows.currencies - {assessment.currency}
    if not foreign:
        return True
    if assessment.fx_date is None:
        return False
    rates = list(FxRate.objects.of_client(assessment.client).filter(rate_date__lte=assessment.fx_date))
    return all(pick_rate(rates, base=currency, quote=assessment.currency) for currency in foreign)


def _tax_basis_given(rows: _Rows) -> bool:
    """Whether the tax view is decided and each quote says if its prices are without tax."""
    versions = [version for option in rows.options for version in _versions(rows, option)]
    return "enabled" in rows.assessment.tax and all(version.tax_excluded is not None for version in versions)


# Options -------------------------------------------------------------------------------------------------------------
def _versions(rows: _Rows, option: Option) -> list[QuoteVersion]:
    return [phase.quote_version for phase in rows.phases[option.letter] if phase.quote_version is not None]


def _templates(rows: _Rows, option: Option) -> list[str]:
    return [phase.configuration.template for phase in rows.phases[option.letter]]


def _owned(rows: _Rows, option: Option) -> bool:
    return any(template not in CLOUD for template in _templates(rows, option))


def _option_facts(rows: _Rows, option: Option) -> Facts:
    versions = _versions(rows, option)
    vendors = sorted({version.quote.vendor.name for version in versions})
    ends = [version.valid_until for version in versions]
    return {
        "vendors": joined(vendors) or _("the vendor"),
        "n_quotes": len(versions),
        "quote_valid_until": min(end for end in ends if end) if ends and all(ends) else None,
        "owned": _owned(rows, option),
        **_fabric_facts(rows, option),
        **_staff_facts(rows, option),
        **_lead_facts(rows, option),
        **_site_facts(rows, option),
        **_use_facts(rows, option),
        **_cloud_facts(rows, option),
        **_evidence_facts(option),
    }


def _fabric_facts(rows: _Rows, option: Option) -> Facts:
    """Which of five facts the fabric audit still lacks."""
    phases = rows.phases[option.letter]
    missing: list[str] = []
    for phase in phases:
        missing += [name for name in _fabric_missing(phase) if name not in missing]
    if not phases:
        return {"fabric_facts_missing": None, "fabric_facts_given": None}
    return {"fabric_facts_missing": missing, "fabric_facts_given": 5 - len(missing)}


def _fabric_missing(phase: OptionPhase) -> list[str]:
    """What the audit of one phase lacks; single nodes and serving fleets have no training fabric to audit."""
    configuration = phase.configuration
    if configuration.template == Template.INFERENCE_FLEET:
        return []
    n_accelerators = phase.n_accelerators or configuration.n_accelerators
    per_node = configuration.accelerators_per_node
    if n_accelerators is not None and per_node is not None and n_accelerators <= per_node:
        return []
    given = {
        _("NIC speed"): configuration.nic_gbit_per_s,
        _("number of NICs"): configuration.nics_per_node,
        _("topology"): configuration.topology or None,
        _("oversubscription"): configuration.oversubscription,
    }
    missing = [name for name, value in given.items() if value is None]
    # GPUs / 2 x NIC rate per GPU / oversubscription
    derivable = not missing and n_accelerators is not None and per_node is not None
    return missing if derivable else [*missing, _("bisection")]


def _staff_facts(rows: _Rows, option: Option) -> Facts:
    staff = list(option.staff.all())
    quoted = sum(LineKind.STAFF in rows.line_kinds.get(version.pk, ()) for version in _versions(rows, option))
    fte = sum((person.fte_likely for person in staff), Decimal(0)) if staff else None
    disaggregated = Template.DISAGGREGATED in _templates(rows, option)
    facts: Facts = {"disaggregated": disaggregated, "staff_lines": len(staff) + quoted, "staff_fte": fte}
    if not disaggregated:
        return facts
    if rows.run is None:
        return facts | {"break_even_text": _("The cost has not been computed yet.")}
    others = {
        other.letter: sum((person.fte_likely for person in other.staff.all()), Decimal(0))
        for other in rows.options
        if _owned(rows, other) and Template.DISAGGREGATED not in _templates(rows, other)
    }
    return facts | break_even_facts(rows.run, letter=option.letter, fte=fte, others=others)


def _lead_facts(rows: _Rows, option: Option) -> Facts:
    """The shortest lead time claimed for own racks, and whether each of them is committed in writing."""
    racks = [phase for phase in rows.phases[option.letter] if phase.configuration.template in RACKS]
    versions = [phase.quote_version for phase in racks]
    weeks = [version.lead_weeks_likely if version else None for version in versions]
    words = {"written": True, "penalty": True, "none": False}
    committed = [words.get(version.delivery_commitment) if version else None for version in versions]
    return {
        "own_racks": bool(racks),
        "rack_lead_weeks": min(week for week in weeks if week is not None) if weeks and None not in weeks else None,
        "delivery_committed": _and(committed) if racks else None,
    }


def _and(truths: Sequence[bool | None]) -> bool | None:
    """All of them, not given where that cannot be told."""
    if False in truths:
        return False
    return None if None in truths else True


def _or(truths: Sequence[bool | None]) -> bool | None:
    if True in truths:
        return True
    return None if None in truths else False


def _site_facts(rows: _Rows, option: Option) -> Facts:
    owned = [phase.configuration for phase in rows.phases[option.letter] if phase.configuration.template not in CLOUD]
    pairs = [(configuration.rack_power_kw, configuration.site_rack_limit_kw) for configuration in owned]
    known = [(power, limit) for power, limit in pairs if power is not None and limit is not None]
    worst = max(known, key=lambda pair: pair[0] - pair[1], default=(None, None))
    if worst[0] is None or (len(known) < len(pairs) and worst[0] <= worst[1]):
        worst = next((pair for pair in pairs if None in pair), (None, None))
    return {
        "rack_power_kw": worst[0],
        "site_rack_limit_kw": worst[1],
        "liquid_on_air_site": _or([_liquid_on_air(configuration) for configuration in owned]),
        "nameplate_billed": _or([_nameplate_billed(option, configuration) for configuration in owned]),
    }


def _liquid_on_air(configuration: RackConfiguration) -> bool | None:
    if configuration.cooling == "air":
        return False
    if configuration.cooling and configuration.site_cooling:
        return configuration.cooling == "liquid" and configuration.site_cooling == "air"
    return None


def _nameplate_billed(option: Option, configuration: RackConfiguration) -> bool | None:
    """Colocation by the kilowatt needs what is drawn, or a commitment; metered power scales a nameplate load itself."""
    if option.facility != "colocation" or option.committed_kw is not None:
        return False
    return configuration.it_load_basis == "nameplate" if configuration.it_load_basis else None


def _use_facts(rows: _Rows, option: Option) -> Facts:
    configurations = [phase.configuration for phase in rows.phases[option.letter]]
    own = option.assumptions.get("occupancy_fraction")
    resolved = rows.threshold("occupancy_fraction")
    return {
        "occupancy_fraction": Decimal(str(own["likely"] if isinstance(own, Mapping) else own)) if own else resolved,
        "availability_given": _use_given(
            rows, option, "availability_fraction", [configuration.availability for configuration in configurations]
        ),
        "goodput_given": _use_given(
            rows, option, "goodput_fraction", [configuration.goodput_likely for configuration in configurations]
        ),
    }


def _use_given(rows: _Rows, option: Option, key: str, configured: Sequence[Decimal | None]) -> bool:
    stated = bool(configured) and all(value is not None for value in configured)
    return stated or bool(option.assumptions.get(key)) or _confirmed(rows, key)


def _cloud_facts(rows: _Rows, option: Option) -> Facts:
    reserved = [
        phase.n_accelerators or phase.configuration.n_accelerators
        for phase in rows.phases[option.letter]
        if phase.configuration.template == Template.CLOUD_RESERVED
    ]
    counts = [count for count in reserved if count is not None]
    beside = None
    if rows.run is not None:
        run = rows.run
        others = [other for other in rows.options if other is not option and _owned(rows, other)]
        beside = any(has_power_and_cooling(run, other.letter) for other in others)
    return {
        "reserved_accelerators": None if len(counts) < len(reserved) else max(counts, default=0),
        "owned_option_beside": beside,
    }


def _evidence_facts(option: Option) -> Facts:
    """How well the three mandatory questions are answered; no answer is the level none."""
    levels = {answer.question: answer.level for answer in option.evidence.all()}
    found = [EvidenceLevel(levels.get(question, EvidenceLevel.NONE)) for question in MANDATORY_QUESTIONS]
    names = [_("bisection at scale"), _("all-to-all under expert routing"), _("checkpoint write rate")]
    return {
        "weakest_evidence_rank": min(evidence_rank(level) for level in found),
        "evidence_levels": ", ".join(str(level.label) for level in found),
        "evidence": [
            (f"{name}: {level.label}", evidence_rank(level)) for name, level in zip(names, found, strict=True)
        ],
    }


def evidence_rank(level: str) -> int:
    """0 for none to 5 for an own measurement."""
    return EVIDENCE_RANKS[level]
