"""The comparison of a finished cost run as a table for the terminal."""

from collections.abc import Sequence
from typing import Any

from apps.analyses.models import AnalysisRun
from apps.analyses.rules import RuleHit, gates_of, open_gates
from apps.reports import figures
from apps.reports.cost_run import CostOption, CostRun

HEAD = ("Option", "", "P10", "Likely", "P90", "NPV", "Capex", "Monthly", "Cheapest", "Ranked")


def comparison_text(run: AnalysisRun, hits: Sequence[RuleHit]) -> str:
    """The run's options in the order of their nominal totals: money in millions, the baseline last."""
    cost = CostRun.read(run)
    rows = [HEAD, *(_row(cost, option, hits) for option in cost.ordered())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    title = f"{run.client.name}: {run.assessment.name}"
    unit = (
        f"{cost.horizon} months from signature, M {cost.currency} nominal (monthly in k), "
        f"NPV at {cost.rate_text} a year, {cost.draws:,} draws"
    )
    waived = [f"{hit.rule_id} on {hit.option_letter} waived by {hit.waived_by}" for hit in hits if hit.waived]
    return "\n".join([title, unit, *(_line(row, widths) for row in rows), *waived, _signing(hits)])


def _signing(hits: Sequence[RuleHit]) -> str:
    """Which gates keep the assessment from being signed, with the options they concern."""
    gates: dict[str, list[str]] = {}
    for hit in open_gates(hits):
        gates.setdefault(hit.rule_id, []).append(hit.option_letter or "all")
    if not gates:
        return "Ready to sign: yes"
    return "Ready to sign: no; open: " + "; ".join(f"{rule} ({', '.join(found)})" for rule, found in gates.items())


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        text.ljust(width) if column in (0, 1, 9) else text.rjust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return ("  " + "  ".join(cells)).rstrip()


def _row(cost: CostRun, option: CostOption, hits: Sequence[RuleHit]) -> tuple[str, ...]:
    found: Any = option.found
    nominal = found["nominal_usd"]
    share = cost.found["probability_cheapest"]["nominal"].get(option.key)
    gates = sorted({hit.rule_id for hit in gates_of(hits, option.key)})
    return (
        option.key,
        option.name,
        figures.millions(nominal["p10"]),
        figures.millions(nominal["likely"]),
        figures.millions(nominal["p90"]),
        figures.millions(found["npv_usd"]["likely"]),
        figures.millions(found["capital_usd"]["likely"]),
        figures.short_k(found["monthly_operating_usd"]["likely"]),
        "baseline" if option.baseline else f"{100 * (share or 0):.0f} %",
        "no, " + ", ".join(gates) if gates else "" if option.baseline else "yes",
    )
