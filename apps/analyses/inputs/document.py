"""The cost document of an assessment: everything the engine is given, and nothing else."""

from dataclasses import replace
from typing import Any

from django.db.models import Prefetch

from apps.analyses.inputs.cloud import demand_entries, rental_lines
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import text
from apps.analyses.inputs.financing import financing_entry, tax_entry
from apps.analyses.inputs.phases import PhaseFacts, phase_entry, phases_of
from apps.analyses.inputs.quoted import QuotedLine, extra_lines, line_entry, quoted_lines
from apps.analyses.inputs.quotes import quote_entries
from apps.analyses.inputs.rentals import Supply, is_rental, supplies_of
from apps.analyses.inputs.running import (
    bridge_entry,
    facility_lines,
    first_owned,
    insurance_lines,
    residual_lines,
    staff_lines,
    support_lines,
)
from apps.analyses.inputs.scenario import with_overrides
from apps.analyses.inputs.windows import last_end
from apps.analyses.models import Scenario
from apps.assessments.models import Assessment, Option, OptionPhase
from apps.assumptions.models import FxRate
from apps.assumptions.selectors import resolve
from apps.engine.errors import InputError

SCHEMA = "spinecut.tco/1"


def tco_document(assessment: Assessment, *, scenario: Scenario | None = None) -> dict[str, Any]:
    """The document of docs/run-json.md for an assessment, changed by a scenario if one is given.

    The caller has made sure that the user may see the assessment. The number of queries does not depend on the number
    of options. Raises `InputError`, which names what is missing or contradicts itself, when no run could answer.
    """
    options = _options(assessment)
    if not options:
        raise InputError("options", "none", "at least one option with a phase")
    context = Context(
        assessment=assessment,
        assumptions=resolve(
            organisation=assessment.client.organisation, client=assessment.client, assessment_id=assessment.pk
        ),
        rates=list(FxRate.objects.of_client(assessment.client)),
        overrides={} if scenario is None else scenario.overrides,
    )
    document = _document(context, options)
    if scenario is None:
        return document
    return with_overrides(document, scenario.overrides, name=scenario.name)


def _options(assessment: Assessment) -> list[Option]:
    phases = OptionPhase.objects.of_client(assessment.client).select_related(
        "configuration", "quote_version__quote__vendor"
    )
    found = (
        Option.objects.of_client(assessment.client)
        .filter(assessment=assessment)
        .prefetch_related(Prefetch("phases", queryset=phases), "phases__quote_version__lines", "staff")
        .order_by("slot", "letter")
    )
    options = [option for option in found if not option.dropped_reason]
    for option in options:
        option.assessment = assessment
    return options


def _document(context: Context, options: list[Option]) -> dict[str, Any]:
    assessment = context.assessment
    discount_rate = context.assumption("discount_rate")
    if discount_rate is None:
        raise InputError("discount_rate", "not given", "a rate a year")
    signature = assessment.signature_date
    entries = [_option_entry(context, option) for option in options]
    tax = tax_entry(context)
    return {
        "schema": SCHEMA,
        "assessment": assessment.name,
        "currency": assessment.currency,
        "horizon_months": assessment.horizon_months,
        "signature_date": signature.isoformat() if signature else None,
        "draws": assessment.draws,
        "seed": assessment.seed,
        "discount_rate": discount_rate,
        "correlation_groups": _correlations(context),
        "inputs": dict(sorted(context.book.inputs.items())),
        "options": entries,
        "tax": tax,
        "quotes": quote_entries(options),
    }


def _correlations(context: Context) -> dict[str, str]:
    """The rank correlation of each group that has one; inputs of other groups move alone."""
    found: dict[str, str] = {}
    for entry in context.book.inputs.values():
        group = entry["correlation_group"]
        if group is not None and f"correlation.{group}" in context.assumptions:
            found[group] = text(context.likely(f"correlation.{group}"))
        else:
            entry["correlation_group"] = None
    return dict(sorted(found.items()))


def _option_entry(context: Context, option: Option) -> dict[str, Any]:
    phases = phases_of(option, context.assessment.horizon_months)
    if not phases:
        raise InputError(f"Option {option.letter}, phases", "none", "at least one phase")
    return {
        "key": option.letter,
        "name": option.name,
        "detail": option.detail,
        "slot": option.slot,
        "baseline": option.baseline,
        "phases": [phase_entry(context, facts) for facts in phases],
        "lines": _lines(context, option, phases),
        "financing": financing_entry(context, option, phases),
        "demand": demand_entries(context),
        "bridge": bridge_entry(context, option),
    }


def _lines(context: Context, option: Option, phases: list[PhaseFacts]) -> list[dict[str, Any]]:
    """All lines of an option: quoted capital first, then running costs, residual last."""
    taken: set[str] = set()
    items = {facts.key: quoted_lines(facts, taken) for facts in phases}
    main = first_owned(phases)
    # what the option adds itself lasts as long as the option
    lasting = replace(main, end=last_end(context, phases))
    items[main.key] += extra_lines(lasting, taken)
    supplies = supplies_of(context, phases, items)
    lines = [entry for facts in phases for entry in _quoted(context, items[facts.key], supplies, taken)]
    for facts in phases:
        lines += support_lines(context, facts, items[facts.key], taken)
        lines += insurance_lines(context, facts, items[facts.key], taken)
    lines += facility_lines(context, option, phases, taken)
    lines += staff_lines(context, option, phases, taken)
    lines += [entry for facts in phases for entry in residual_lines(context, facts, items[facts.key], taken)]
    return lines


def _quoted(context: Context, items: list[QuotedLine], supplies: list[Supply], taken: set[str]) -> list[dict[str, Any]]:
    """The lines of one phase; all its hourly prices stand where the first of them does."""
    rentals = [item for item in items if is_rental(item)]
    lines: list[dict[str, Any]] = []
    for item in items:
        if not is_rental(item):
            lines.append(line_entry(context, item, items))
        elif item is rentals[0]:
            lines += rental_lines(context, rentals, supplies, taken)
    return lines
