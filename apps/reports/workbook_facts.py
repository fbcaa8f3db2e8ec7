"""What the workbook says of a run beside its numbers: whose it is, its dates, its hash, and what it finds."""

from datetime import date
from typing import Any

from apps.analyses.models import AnalysisRun
from apps.analyses.rules import RunDocuments, evaluate, open_gates
from apps.reports import findings
from apps.reports.cost_run import NOMINAL, CostRun
from apps.reports.decision import prices_as_of


def workbook_meta(run: AnalysisRun, cost: CostRun, *, day: date, label: str) -> dict[str, Any]:
    """The `meta` of `workbook.tco_workbook`; `label` names the run on the cover, `day` dates the file.

    Everything comes from the run and its assessment, so two exports of one run are equal.
    """
    assessment = run.assessment
    return {
        "client": run.client.name,
        "state": str(assessment.State(assessment.state).label),
        "run": label,
        "date": day.isoformat(),
        "inputs_sha256": run.inputs_sha256,
        "engine_version": run.engine_version,
        "prepared_by": str(run.requested_by or ""),
        "prices_as_of": prices_as_of(cost),
        "warnings": [f"{key}: {words}" for key, option in cost.options.items() for words in option.found["warnings"]],
        "gates": _gates(run, cost, day),
        "reading": "\n".join(_reading(cost)),
    }


def _gates(run: AnalysisRun, cost: CostRun, day: date) -> list[str]:
    """What keeps the run from being signed, one sentence a rule and option, as of the day of the file."""
    documents = RunDocuments(inputs=cost.given, results=cost.found)
    hits = open_gates(evaluate(run.assessment, run=run, today=day, documents=documents))
    return [f"{hit.rule_id}, {hit.option_letter or 'all options'}: {hit.what}" for hit in hits]


def _reading(cost: CostRun) -> list[str]:
    """The sentences that the screens show above the same numbers."""
    option = findings.default_option(cost)
    found = [findings.tco_finding(cost, option, findings.default_rival(cost, option), NOMINAL).heading]
    found.append(findings.cheapest_sentence(cost))
    conflict = findings.basis_conflict(cost)
    return [sentence for sentence in [*found, *(conflict or ())] if sentence]
