"""A computed assessment as files: results.json, tco.xlsx and CSV tables, the same bytes for the same facts."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from apps.accounts.permissions import Actor
from apps.analyses.execution import execute_run
from apps.analyses.models import AnalysisRun
from apps.analyses.rules import RuleHit, evaluate, gates_of
from apps.analyses.services import request_run
from apps.assessments.models import Assessment
from apps.assessments.spec import SpecError

POLL_S = 0.2
FORMATS = ("json", "xlsx", "csv")


def computed_run(*, by: Actor, assessment: Assessment, limit_s: float = 600) -> AnalysisRun:
    """The finished cost run of an assessment, computed in this process unless a worker is quicker.

    Raises `SpecError` with the run's own reason when it has no answer.
    """
    run = request_run(by=by, assessment=assessment)
    deadline = time.monotonic() + limit_s
    while not run.is_over and time.monotonic() < deadline:
        # A queue may hold something that is fairer to compute first; then this run's turn comes next.
        if not execute_run(run.pk, worker="assess"):
            time.sleep(POLL_S)
        run.refresh_from_db()
    if run.state != AnalysisRun.State.SUCCEEDED:
        raise SpecError(run.error or _("The run has no answer: it is %(state)s.") % {"state": run.get_state_display()})
    return run


# results.json --------------------------------------------------------------------------------------------------------
def results_document(run: AnalysisRun, *, today: date) -> dict[str, Any]:
    """The answer of a run as docs/interfaces.md describes it; parts that no engine answers yet are null."""
    given, found = json.loads(run.inputs_json), json.loads(run.results_json)
    hits = evaluate(run.assessment, run=run, today=today)
    return {
        "assessment": given["assessment"],
        "currency": given["currency"],
        "inputs_sha256": run.inputs_sha256,
        "engine_version": run.engine_version,
        "seed": run.seed,
        "draws": run.draws,
        "ranking": found["ranking"],
        "options": [_option(option, found, hits) for option in given["options"]],
        "decision": None,
    }


def _option(option: Mapping[str, Any], found: Mapping[str, Any], hits: Sequence[RuleHit]) -> dict[str, Any]:
    key = option["key"]
    answer: dict[str, Any] = {
        "key": key,
        "name": option["name"],
        "baseline": option["baseline"],
        "gated_by": sorted({hit.rule_id for hit in gates_of(hits, key)}),
        "tco": _tco(found["options"][key]),
        "fabric": None,
        "training": None,
        "velocity": None,
        "probability_cheapest": found["probability_cheapest"]["nominal"].get(key),
    }
    if answer["probability_cheapest"] is None:
        answer["probability_cheapest_reason"] = "The baseline is not ranked."
    return answer


def _tco(result: Mapping[str, Any]) -> dict[str, Any]:
    costs = result["unit_costs"]
    tco: dict[str, Any] = {
        "nominal_usd": _spread(result["nominal_usd"]),
        "npv_usd": _spread(result["npv_usd"]),
        "by_year_usd": result["by_year_usd"],
        "by_category_usd": result["by_category_usd"],
        "warnings": result["warnings"],
    }
    for name in ("usd_per_gpu_hour_installed", "usd_per_gpu_hour_productive"):
        value = costs[name]
        tco[name] = value["likely"] if value else None
        if tco[name] is None:
            tco[f"{name}_reason"] = costs["reasons"].get(name, "It cannot be computed from these inputs.")
    return tco


def _spread(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in ("likely", "p10", "p50", "p90")}


# Files ---------------------------------------------------------------------------------------------------------------
def write_files(run: AnalysisRun, out: Path, formats: Sequence[str], *, today: date) -> list[Path]:
    """Write the files asked for below `out` and return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    files: dict[str, bytes] = {}
    if "json" in formats:
        document = results_document(run, today=today)
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        files["results.json"] = text.encode()
    if "csv" in formats:
        files |= csv_files(run)
    if "xlsx" in formats:
        files["tco.xlsx"] = workbook_file(run, today=today)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in files]


def csv_files(run: AnalysisRun) -> dict[str, bytes]:
    """One table a year of each option, as its screen shows it."""
    from apps.reports.cost_run import CostRun
    from apps.reports.csv_export import table_csv
    from apps.reports.tco_tables import year_table

    cost = CostRun.read(run)
    return {
        f"tco_{_file_part(option.key)}.csv": table_csv(year_table(cost, option).csv_rows()).encode()
        for option in cost.options.values()
    }


def _file_part(letter: str) -> str:
    """A letter as part of a file name: B+ is B_plus."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", letter.replace("+", "_plus"))


def workbook_file(run: AnalysisRun, *, today: date) -> bytes:
    """The workbook of a run, named by its inputs' hash and dated as the spec, so that equal facts give equal bytes."""
    from apps.reports.cost_run import CostRun
    from apps.reports.workbook import tco_workbook
    from apps.reports.workbook_facts import workbook_meta

    cost = CostRun.read(run)
    meta = workbook_meta(run, cost, day=today, label=run.inputs_sha256[:12])
    return tco_workbook(cost.given, cost.found, meta)
