"""Keep a handful of processes running, and leave none behind: what systemd or a container engine does elsewhere."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.services import die_with_parent

RESTART_AFTER_S = 1.0
GIVE_UP_AFTER = 5  # deaths within GIVE_UP_WITHIN_S: it cannot start here at all
GIVE_UP_WITHIN_S = 60.0
GRACE_S = 8.0
POLL_S = 0.2


class GaveUpError(RuntimeError):
    """A process dies as often as it is started; the text names it and where its log is."""


@dataclass
class Program:
    """One process to keep running, and what it writes to."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    deaths: list[float] = field(default_factory=list)
    start_at: float = 0.0

    def start(self, folder: Path) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                list(self.command),
                cwd=folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C reaches us alone, and everything it forks is found by its session
                preexec_fn=die_with_parent,
            )


class Supervisor:
    """Starts programs, restarts the dead, and on `stop` ends them with everything they forked."""

    def __init__(self, folder: Path, report: Callable[[str], None]) -> None:
        self.folder = folder
        self.report = report
        self.programs: list[Program] = []
        self.sessions: set[int] = set()  # every session ever started, for a last look at the end
        self.stopping = False

    def add(self, program: Program) -> None:
        self.programs.append(program)
        self._start(program)

    def _start(self, program: Program) -> None:
        program.start(self.folder)
        if program.process:
            self.sessions.add(program.process.pid)

    def look(self) -> None:
        """Restart what has died since the last look."""
        now = time.monotonic()
        for program in self.programs:
            if program.process is not None and program.process.poll() is not None:
                self._bury(program, now)
            if program.process is None and now >= program.start_at:
                self._start(program)

    def _bury(self, program: Program, now: float) -> None:
        code = program.process.returncode if program.process else None
        end_session(program.process.pid if program.process else 0, signal.SIGKILL)  # what it left behind
        program.process = None
        program.start_at = now + RESTART_AFTER_S
        program.deaths = [death for death in program.deaths if now - death < GIVE_UP_WITHIN_S] + [now]
        if len(program.deaths) >= GIVE_UP_AFTER:
            raise GaveUpError(f"{program.name} ended {GIVE_UP_AFTER} times within a minute; see {program.log}")
        self.report(f"{program.name} ended (exit code {code}) and is started again; see {program.log}")

    def wait_while(self, condition: Callable[[], bool]) -> None:
        """Keep everything running as long as `condition` holds."""
        while condition() and not self.stopping:
            self.look()
            time.sleep(POLL_S)

    def stop(self) -> None:
        """Ask each program to end, wait a few seconds, then end whatever is left of its session."""
        self.stopping = True
        running = [program.process for program in self.programs if program.process is not None]
        for process in running:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + GRACE_S
        for process in running:
            try:
                process.wait(max(0.05, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for session in self.sessions:
            end_session(session, signal.SIGKILL)


def members_of_session(session: int) -> list[int]:
    """Return the live processes of a session, whoever their parent is by now."""
    if sys.platform != "linux":
        return []
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


def end_session(session: int, with_signal: int) -> None:
    """Signal every process of a session that `Program.start` made."""
    if session <= 1 or session == os.getsid(0):
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, with_signal)
    for pid in members_of_session(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, with_signal)
