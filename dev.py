#!/usr/bin/env python3
"""Set up, run, test and measure Spinecut: `python3 dev.py demo|test|bench|setup`, or the same through make.

Standard library only and no Python newer than 3.11, because it runs before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
SUPPORTED = ((3, 11), (3, 12), (3, 13))
USAGE = """usage: dev.py demo [--check] | test [--long] [NAME...] | bench [--json] [NAME...] | setup

demo    set up, compute the demo with a real worker, print its comparison, serve until Ctrl-C
        --check  then look at every main page, stop everything and say whether all is well
test    set up, run every check and test; --long adds the long ones; NAME picks stages
bench   run the benchmarks of docs/benchmarks.md; --json prints JSON; NAME picks some
setup   build .venv and nothing else"""


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--under-make"]:
        _stop_when_make_is_killed()
        arguments = arguments[1:]
    _use_a_supported_python()
    sys.path.insert(0, str(ROOT))
    from scripts import bootstrap

    command, *rest = arguments or ["help"]
    try:
        if command == "demo" and set(rest) <= {"--check"}:
            bootstrap.ensure_environment(development=False)
            from scripts.demo import run_demo

            return run_demo(check="--check" in rest)
        if command == "test":
            bootstrap.ensure_environment(development=True)
            from scripts.checks import run_checks

            return run_checks(long="--long" in rest, only=[name for name in rest if not name.startswith("--")])
        if command == "bench":
            bootstrap.ensure_environment(development=True)
            return subprocess.call([str(bootstrap.PYTHON), "-m", "bench.run", *rest], cwd=ROOT)
        if command == "setup":
            bootstrap.ensure_environment(development=True)
            return 0
    except bootstrap.SetupError as error:
        print(f"Setting up failed: {error}", file=sys.stderr)
        return 1
    print(USAGE, file=sys.stderr)
    return 0 if command in ("help", "--help", "-h") else 2


def _use_a_supported_python() -> None:
    """Go on under a Python that the project supports, if this one is not."""
    if sys.version_info[:2] in SUPPORTED:
        return
    for major, minor in SUPPORTED:
        other = shutil.which(f"python{major}.{minor}")
        if other:
            works = subprocess.run([other, "-c", "import ssl, sqlite3"], check=False, capture_output=True)
            if works.returncode == 0:
                os.execv(other, [other, str(Path(__file__).resolve()), *sys.argv[1:]])  # noqa: S606 - no shell is wanted
    print(f"Spinecut needs Python 3.11, 3.12 or 3.13; this is {sys.version.split()[0]}.", file=sys.stderr)
    sys.exit(1)


def _stop_when_make_is_killed() -> None:
    """A killed make must not leave this process behind: Linux sends the signal that a user would."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # 1 is PR_SET_PDEATHSIG


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
