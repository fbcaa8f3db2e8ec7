"""Every check and test of the project as stages: the quick ones side by side, the suites one after the other."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from scripts import doclinks, locks
from scripts.bootstrap import PYTHON, ROOT, install_debian_packages, say
from scripts.services import PostgresServer, RedisServer, ServiceUnavailableError, stop_process
from scripts.supervisor import end_session

BIN = ROOT / ".venv" / "bin"
WANTED_FROM_DEBIAN = {"chromium": "chromium", "soffice": "libreoffice-calc"}
SIDE_BY_SIDE = 2
SUITE_PROCESSES = "2"
RUNNING: set[subprocess.Popen[str]] = set()


@dataclass
class Outcome:
    """What a stage counted, and the text to show when something is wrong or left out."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    text: str = ""
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Stage:
    """One named part of the run."""

    name: str
    run: Callable[[], Outcome]


def run_checks(*, long: bool, only: Sequence[str]) -> int:
    """Run all stages, or those named; print what fails; end with the one line of counts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    started = time.monotonic()
    outcomes: list[tuple[str, Outcome]] = []
    with tempfile.TemporaryDirectory(prefix="spinecut-checks-") as folder:
        try:
            suites = [stage for stage in suite_stages(Path(folder), long) if not only or stage.name in only]
            quick = [stage for stage in quick_stages() if not only or stage.name in only]
            with ThreadPoolExecutor(SIDE_BY_SIDE) as pool, ThreadPoolExecutor(1) as installer:
                missing = installer.submit(_bring_programs if suites else list)
                outcomes += zip([stage.name for stage in quick], pool.map(_timed, quick), strict=True)
            outcomes += [(stage.name, _timed(stage)) for stage in suites]
        except KeyboardInterrupt:
            say("Stopped")
            return 130
    return _summary(outcomes, missing.result(), time.monotonic() - started)


def _interrupt(_: int, __: object) -> None:
    """End what runs, then this process: its `with` and `finally` blocks stop the services."""
    for process in list(RUNNING):
        end_session(process.pid, signal.SIGTERM)
    raise KeyboardInterrupt


def _timed(stage: Stage) -> Outcome:
    started = time.monotonic()
    outcome = stage.run()
    state = "FAILED" if outcome.failed else "ok"
    counts = f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
    print(f"{state:7}{stage.name:28}{counts}  {time.monotonic() - started:.1f} s", flush=True)
    if outcome.failed and outcome.text:
        print(outcome.text.rstrip(), flush=True)
    return outcome


def _summary(outcomes: list[tuple[str, Outcome]], missing: list[str], seconds: float) -> int:
    for name, outcome in outcomes:
        for line in sorted(set(outcome.left_out)):
            print(f"skipped in {name}: {line}")
    for line in missing:
        print(f"not available here: {line}")
    failed = [name for name, outcome in outcomes if outcome.failed]
    if failed:
        print(f"Failed: {', '.join(failed)}")
    print(f"Took {seconds:.0f} s")
    totals = [sum(getattr(outcome, kind) for _, outcome in outcomes) for kind in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*totals), flush=True)
    return 1 if totals[1] or not totals[0] else 0


def _bring_programs() -> list[str]:
    """Install from Debian what tests need and the machine lacks; return what still is missing, by name."""
    absent = {program: package for program, package in WANTED_FROM_DEBIAN.items() if not shutil.which(program)}
    if absent:
        install_debian_packages(sorted(absent.values()))
    return [f"{program} (Debian package {package})" for program, package in absent.items() if not shutil.which(program)]


# Quick checks: one each ---------------------------------------------------------------------------------------------
def quick_stages() -> list[Stage]:
    """Format, lint, types, layers, templates, migrations, locks and links; mypy first, since it takes longest."""
    commands = {
        "types": [BIN / "mypy"],
        "migrations": [PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"],
        "format": [BIN / "ruff", "format", "--check", "."],
        "lint": [BIN / "ruff", "check", "."],
        "layers": [BIN / "lint-imports"],
        "templates": [BIN / "djlint", "templates", "--lint", "--quiet"],
    }
    stages = [Stage(name, lambda command=command: _command(command)) for name, command in commands.items()]  # type: ignore[misc]
    return [
        *stages,
        Stage("locks", lambda: _findings(locks.problems(ROOT))),
        Stage("links", lambda: _findings(doclinks.problems(ROOT))),
    ]


def _command(command: Sequence[str | Path]) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="spinecut-check-") as folder:
        environment = {**_plain_environment(), "SPINECUT_VAR_DIR": folder, "NO_COLOR": "1"}
        done = _run_in_group([str(part) for part in command], environment)
    if done[0] == 0:
        return Outcome(passed=1)
    return Outcome(failed=1, text=done[1])


def _findings(problems: list[str]) -> Outcome:
    return Outcome(failed=1, text="\n".join(problems)) if problems else Outcome(passed=1)


def _plain_environment() -> dict[str, str]:
    """The caller's environment without variables that would point checks at the caller's own data."""
    own = ("DATABASE_URL", "REDIS_URL", "CACHE_URL", "SECRET_KEY", "SPINECUT_PRODUCTION", "DJANGO_SETTINGS_MODULE")
    return {name: value for name, value in os.environ.items() if name not in own}


def _run_in_group(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run to the end and return exit code and output; on Ctrl-C the command and its children end first."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    RUNNING.add(process)
    try:
        output, _ = process.communicate()
    finally:
        RUNNING.discard(process)
        if process.poll() is None:
            stop_process(process)
        end_session(process.pid, signal.SIGKILL)  # whatever a test may have left
    return process.returncode, output


# Suites: pytest on both stacks --------------------------------------------------------------------------------------
def suite_stages(folder: Path, long: bool) -> list[Stage]:
    """The whole suite on the embedded stack; then all that stores or queues on PostgreSQL and a Redis server."""
    return [
        Stage("tests-embedded", lambda: _pytest(folder, "embedded", {}, _marks("", long))),
        Stage("tests-team", lambda: _team_tests(folder, long)),
    ]


def _marks(marks: str, long: bool) -> str:
    return " and ".join(part for part in (marks, "" if long else "not long") if part)


def _team_tests(folder: Path, long: bool) -> Outcome:
    """Start what the caller does not have running, run, and stop it whatever happens."""
    environment = {"SPINECUT_ONLY_STORED": "1"}
    server: PostgresServer | None = None
    try:
        environment["TEST_DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")
        if not environment["TEST_DATABASE_URL"]:
            server = PostgresServer().start()
            environment["TEST_DATABASE_URL"] = server.url
        environment["TEST_REDIS_URL"] = os.environ.get("TEST_REDIS_URL") or os.environ.get("REDIS_URL", "")
        RedisServer._binary()  # each test process starts its own; say at once if none can
        return _pytest(folder, "team", environment, _marks("not browser and not libreoffice", long))
    except ServiceUnavailableError as error:
        return Outcome(skipped=1, left_out=[f"the whole stage: {error}"])
    finally:
        if server:
            server.close()


def _pytest(folder: Path, stack: str, extra: dict[str, str], marks: str) -> Outcome:
    report = folder / f"{stack}.xml"
    processes = "1" if extra.get("TEST_REDIS_URL") else SUITE_PROCESSES  # a given server is one queue for all
    command = [str(PYTHON), "-m", "pytest", "tests", "-q", "-n", processes, "--dist", "loadgroup"]
    command += ["--no-header", "-p", "no:cacheprovider", f"--junitxml={report}"]
    command += ["-m", marks or "long or not long"]
    environment = {**_plain_environment(), **extra, "SPINECUT_TEST_STACK": stack}
    code, output = _run_in_group(command, environment)
    if not report.exists():
        return Outcome(failed=1, text=output)
    outcome = _read_report(report)
    outcome.text = output
    if code not in (0, 1, 5) and not outcome.failed:  # pytest itself broke
        outcome.failed = 1
    return outcome


def _read_report(report: Path) -> Outcome:
    outcome = Outcome()
    for case in ElementTree.parse(report).getroot().iter("testcase"):  # noqa: S314 - pytest wrote it just now
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
        elif skipped is not None:
            outcome.skipped += 1
            outcome.left_out.append(f"{case.get('name')}: {skipped.get('message')}")
        else:
            outcome.passed += 1
    return outcome
