"""`manage.py run_status`: the queue at a glance, or one run, for whoever operates the installation."""

import json
import uuid
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count, Min
from django.utils import timezone

from apps.analyses.models import AnalysisRun
from apps.analyses.selectors import queue_text
from apps.analyses.sweeper import last_sweep


class Command(BaseCommand):
    help = "Print runs by state, the age of the oldest queued one and of the last sweep; with an id, that run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", nargs="?", type=uuid.UUID, help="id of a run")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        status = _run(options["run"]) if options["run"] else _queue()
        if options["json"]:
            self.stdout.write(json.dumps(status, sort_keys=True))
        else:
            self.stdout.write("\n".join(f"{name}: {value}" for name, value in status.items()))


def _queue() -> dict[str, Any]:
    runs = AnalysisRun.objects.system("status of the queue").order_by()
    counts = dict(runs.values_list("state").annotate(n=Count("pk")))
    oldest = runs.filter(state=AnalysisRun.State.QUEUED).aggregate(at=Min("created_at"))["at"]
    return {
        **{state: counts.get(state, 0) for state in AnalysisRun.State.values},
        "oldest_queued_s": _age_s(oldest),
        "last_sweep_s": _age_s(last_sweep()),
    }


def _run(run_id: uuid.UUID) -> dict[str, Any]:
    run = AnalysisRun.objects.system("status of the queue").filter(pk=run_id).first()
    if run is None:
        raise CommandError(f"there is no run {run_id}", returncode=2)
    return {
        "number": run.number,
        "kind": run.kind,
        "state": run.state,
        "text": queue_text(run),
        "attempt": run.attempt,
        "worker": run.worker,
        "heartbeat_s": _age_s(run.heartbeat_at),
        "error": run.error,
        "inputs_sha256": run.inputs_sha256,
        "results_sha256": run.results_sha256,
    }


def _age_s(moment: Any) -> float | None:
    return round((timezone.now() - moment).total_seconds(), 1) if moment else None
