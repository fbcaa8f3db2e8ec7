"""How long the program takes to start: what each command and each new process pays before it does anything."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 3


def _seconds(command: Sequence[str]) -> dict[str, Any]:
    """The shortest of three runs of a command, with a data folder of its own; the first one warms the disk cache."""
    taken = []
    with tempfile.TemporaryDirectory(prefix="spinecut-bench-") as folder:
        environment = {**os.environ, "SPINECUT_VAR_DIR": folder}
        for _ in range(REPEATS + 1):
            started = time.perf_counter()
            subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
            taken.append(time.perf_counter() - started)
    return {"value": min(taken[1:]), "unit": "s", "detail": {"first": round(taken[0], 3), "repeats": REPEATS}}


def check_command() -> dict[str, Any]:
    """`manage.py check`: Django with every app, addresses and models."""
    return _seconds([sys.executable, "manage.py", "check"])


def web_application() -> dict[str, Any]:
    """Import of the WSGI application, which each gunicorn worker does before its first request."""
    return _seconds([sys.executable, "-c", "import apps.config.wsgi"])


def engine_import() -> dict[str, Any]:
    """Import of the engine package and numpy alone, as a notebook does."""
    return _seconds([sys.executable, "-c", "import numpy, apps.engine"])


def unchanged_environment() -> dict[str, Any]:
    """The look at `.venv` before every command when nothing has changed."""
    return _seconds([sys.executable, "dev.py", "setup"])


BENCHMARKS = {
    "start_check": check_command,
    "start_web": web_application,
    "start_engine": engine_import,
    "start_unchanged_setup": unchanged_environment,
}
