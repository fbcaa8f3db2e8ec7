"""What the workbook says of a run beside its numbers: client, dates, and the quotes its options stand on."""

from datetime import date
from typing import Any

from apps.analyses.models import AnalysisRun
from apps.assessments.models import Assessment, OptionPhase
from apps.vendors.models import QuoteLine, QuoteVersion


def workbook_meta(run: AnalysisRun, *, day: date, label: str) -> dict[str, Any]:
    """The `meta` of `reports.workbook.tco_workbook`; `label` names the run on the cover. Three queries."""
    assessment = run.assessment
    return {
        "client": run.client.name,
        "assessment": assessment.name,
        "state": str(assessment.State(assessment.state)),
        "run": label,
        "date": day.isoformat(),
        "inputs_sha256": run.inputs_sha256,
        "engine_version": run.engine_version,
        "prepared_by": str(run.requested_by or ""),
        "quote_lines": quote_lines(assessment),
    }


def quote_lines(assessment: Assessment) -> list[list[Any]]:
    """One row for each line of each pinned quote version, in the columns of the sheet Quotes."""
    phases = (
        OptionPhase.objects.of_client(assessment.client)
        .filter(option__assessment=assessment, quote_version__isnull=False)
        .select_related("option", "quote_version__quote__vendor")
        .prefetch_related("quote_version__lines")
        .order_by("option__slot", "option__letter", "position")
    )
    rows: list[list[Any]] = []
    for phase in phases:
        version = phase.quote_version
        if version is not None:
            lines = sorted(version.lines.all(), key=lambda line: line.position)
            rows += [_row(phase.option.letter, version, line) for line in lines]
    return rows


def _row(letter: str, version: QuoteVersion, line: QuoteLine) -> list[Any]:
    """Option, vendor, quote, version, terms, then the line as quoted; None is "not given"."""
    prices = (line.unit_price_low, line.unit_price_likely, line.unit_price_high)
    return [
        letter,
        version.quote.vendor.name,
        version.quote.number,
        version.version,
        version.valid_until.isoformat() if version.valid_until else None,
        version.incoterm or None,
        line.position,
        line.kind,
        line.description,
        line.part_number,
        float(line.quantity),
        line.unit,
        *("included" if line.included else None if price is None else float(price) for price in prices),
        line.currency,
        line.charge,
        line.period,
        float(line.discount_fraction),
        line.evidence_level or None,
        line.source_ref,
    ]
