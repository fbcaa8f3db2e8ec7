"""What the web server does for one page or file of demo case 1: time of the view, and its database queries.

Runs as a child process (`python -m bench.site`) with a data folder of its own, so the caller's data is not touched.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 15
PAGES = ("tco", "quotes", "decision")


@cache
def _measured() -> dict[str, dict[str, Any]]:
    """The figures of all pages from one child, which loads the demo once."""
    with tempfile.TemporaryDirectory(prefix="spinecut-bench-") as folder:
        environment = {**os.environ, "SPINECUT_VAR_DIR": folder, "LOG_LEVEL": "ERROR"}
        for name in ("DATABASE_URL", "REDIS_URL", "CACHE_URL"):
            environment.pop(name, None)
        command = [sys.executable, "-m", "bench.site"]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def _figure(name: str) -> dict[str, Any]:
    return _measured()[name]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    for command in (["migrate", "-v0"], ["createcachetable"], ["load_catalogue", "-v0"]):
        call_command(*command, stdout=sys.stderr)
    json.dump(_site_figures(), sys.stdout, allow_nan=False)


def _site_figures() -> dict[str, dict[str, Any]]:
    from django.test import Client
    from django.urls import reverse

    from apps.accounts.models import Organisation, User
    from apps.accounts.permissions import SYSTEM
    from apps.analyses.demo import add_demo_case
    from apps.analyses.execution import execute_run
    from apps.analyses.services import request_run

    user = User.objects.create_superuser("bench@example.com", "not used for signing in")
    case = add_demo_case("larkmere", organisation=Organisation.objects.create(name="Bench"), owner=user)
    run = request_run(by=SYSTEM, assessment=case.assessment)
    started = time.perf_counter()
    execute_run(run.pk)
    computed = time.perf_counter() - started
    browser = Client()
    browser.force_login(user)
    figures = {f"page_{name}": _page(browser, reverse(f"web:{name}", args=[case.assessment.pk])) for name in PAGES}
    figures["workbook_larkmere"] = _file(browser, reverse("web:run_workbook", args=[case.assessment.pk, run.pk]))
    figures["run_larkmere"] = {"value": computed, "unit": "s", "detail": {"draws": run.draws, "import": "included"}}
    return figures


def _page(browser: Any, address: str) -> dict[str, Any]:
    from django.db import connection

    queries: list[str] = []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        queries.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(count):
        answer = browser.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    taken = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        browser.get(address)
        taken.append(time.perf_counter() - started)
    detail = {"queries": len(queries), "bytes": len(answer.content), "slowest_ms": round(max(taken) * 1000, 1)}
    return {"value": round(statistics.median(taken) * 1000, 1), "unit": "ms", "detail": detail}


def _file(browser: Any, address: str) -> dict[str, Any]:
    taken, size = [], 0
    for _ in range(3):
        started = time.perf_counter()
        answer = browser.get(address)
        taken.append(time.perf_counter() - started)
        size = len(answer.content)
    return {"value": round(min(taken), 3), "unit": "s", "detail": {"bytes": size, "first": round(taken[0], 3)}}


BENCHMARKS = {
    "page_tco": lambda: _figure("page_tco"),
    "page_quotes": lambda: _figure("page_quotes"),
    "page_decision": lambda: _figure("page_decision"),
    "workbook_larkmere": lambda: _figure("workbook_larkmere"),
    "run_larkmere": lambda: _figure("run_larkmere"),
}

if __name__ == "__main__":
    main()
