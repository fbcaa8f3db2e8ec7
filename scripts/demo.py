"""The demo: one command from a clone to a running site with a computed comparison."""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO

from scripts.bootstrap import PYTHON, ROOT, say
from scripts.services import die_with_parent
from scripts.supervisor import POLL_S, GaveUpError, Program, Supervisor

FIRST_PORT = 8000
START_LIMIT_S = 60.0
LOAD_LIMIT_S = 180.0
DEMO_EMAIL = "lead@example.com"
# One thread a process: two workers on two cores are slower when each of them starts a thread per core.
ONE_THREAD = {
    name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
}


class DemoError(RuntimeError):
    """The demo cannot go on; the text is the reason."""


class StopRequested(BaseException):
    """Somebody pressed Ctrl-C, closed the terminal or sent TERM. Not an error, so no handler may swallow it."""


def run_demo(*, check: bool) -> int:
    """Run the demo until it is stopped; with `check`, look at every page instead and return 0 if all is well."""
    var_dir = Path(os.environ.get("SPINECUT_VAR_DIR", str(ROOT / "var"))).resolve()
    var_dir.mkdir(parents=True, exist_ok=True)
    lock = _take_lock(var_dir)
    if lock is None:
        return 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A shell in the background ignores INT for its children, but whoever sends it means it; nohup means its HUP.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _request_stop)
    supervisor = Supervisor(ROOT, say)
    status = 0
    try:
        status = Demo(var_dir, supervisor, lock).run(check=check)
    except StopRequested:
        say("\nStopping")
    except (DemoError, GaveUpError) as error:
        say(f"The demo stopped: {error}")
        status = 1
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave half of it running
        supervisor.stop()
    return status


def _request_stop(_: int, __: FrameType | None) -> None:
    raise StopRequested


def _take_lock(var_dir: Path) -> IO[str] | None:
    """Hold the data folder for this process; a second demo on it is told where the first one is."""
    lock = (var_dir / "demo.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        say(f"The demo already runs here: {lock.read().strip() or 'it is starting'}")
        return None
    return lock


class Demo:
    """The steps of one start, in order."""

    def __init__(self, var_dir: Path, supervisor: Supervisor, lock: IO[str]) -> None:
        self.var_dir = var_dir
        self.supervisor = supervisor
        self.lock = lock
        self.port = next_free_port(FIRST_PORT)
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            **ONE_THREAD,
            "SPINECUT_VAR_DIR": str(var_dir),
            "SPINECUT_DEMO_EMAIL": DEMO_EMAIL,
            "SPINECUT_DEMO_PASSWORD": demo_password(var_dir),
            "WEB_BIND": f"127.0.0.1:{self.port}",
            "PYTHONUNBUFFERED": "1",
        }

    def run(self, *, check: bool) -> int:
        started = time.monotonic()
        # Web and worker import for a second or two before they touch the database; the scheduler sweeps at once.
        self._start_programs("worker", "web")
        self._manage("migrate, cache table, catalogue", [str(PYTHON), "-m", "scripts.prepare_database"])
        self._start_programs("scheduler")
        self._manage("demo", [str(PYTHON), "manage.py", "load_demo", "--skip-checks"], seconds=LOAD_LIMIT_S)
        self._wait_for_web()
        self._note_address()
        say(f"Ready in {time.monotonic() - started:.1f} s")
        self._print_login()
        if check:
            return self._check()
        self.supervisor.wait_while(lambda: True)
        return 0

    def _start_programs(self, *names: str) -> None:
        celery = [str(PYTHON), "-m", "celery", "-A", "apps.config"]
        quiet = ["--loglevel=INFO", "--without-gossip", "--without-mingle"]
        host = f"--hostname={{}}-{os.getpid()}@localhost"
        worker = [*celery, "worker", *quiet, "--concurrency=2", host.format("worker")]
        scheduler = [*celery, "beat", "--loglevel=INFO", "--pidfile="]
        web = [str(PYTHON), "-m", "gunicorn", "-c", "python:apps.config.gunicorn", "apps.config.wsgi"]
        commands = {"worker": worker, "web": web, "scheduler": scheduler}
        for name in names:
            own = {} if name == "web" else {"DATABASE_STATEMENT_TIMEOUT_S": "60"}
            log = self.var_dir / "logs" / f"{name}.log"
            self.supervisor.add(Program(name, commands[name], {**self.environment, **own}, log))

    def _manage(self, what: str, command: list[str], seconds: float = START_LIMIT_S) -> None:
        """Run one command to its end while everything else is kept running."""
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        self.supervisor.sessions.add(process.pid)
        self.supervisor.wait_while(lambda: process.poll() is None and time.monotonic() - started < seconds)
        if process.poll() is None:
            raise DemoError(f"{what} took longer than {seconds:.0f} s; see {self.var_dir / 'logs'}")
        if process.returncode:
            raise DemoError(f"{what} ended with exit code {process.returncode}; its message stands above")
        say(f"  {what}: {time.monotonic() - started:.1f} s")

    def _wait_for_web(self) -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while not (served := answers(f"{self.address}/health/live")) and time.monotonic() < deadline:
            self.supervisor.look()
            time.sleep(POLL_S)
        if not served:
            raise DemoError(f"{self.address} did not answer; see {self.var_dir / 'logs' / 'web.log'}")

    def _note_address(self) -> None:
        self.lock.seek(0)
        self.lock.truncate()
        self.lock.write(f"{self.address}\n")
        self.lock.flush()

    def _print_login(self) -> None:
        print(f"\n  Address   {self.address}")
        print(f"  Sign in   {DEMO_EMAIL}")
        print(f"  Password  {self.environment['SPINECUT_DEMO_PASSWORD']}")
        print("\n  Ctrl-C stops everything. Data and logs are kept in", self.var_dir, flush=True)

    def _check(self) -> int:
        from scripts.demo_check import CheckFailedError, check_site

        started = time.monotonic()
        try:
            seen = self._beside(
                lambda: check_site(self.address, DEMO_EMAIL, self.environment["SPINECUT_DEMO_PASSWORD"])
            )
        except CheckFailedError as error:
            say(f"Check failed: {error}")
            return 1
        for line in seen:
            print(f"  ok  {line}")
        print(f"Checked in {time.monotonic() - started:.1f} s: every page answers, the main ones hold their numbers")
        return 0

    def _beside(self, work: Callable[[], list[str]]) -> list[str]:
        self.supervisor.look()
        return work()


def next_free_port(port: int) -> int:
    """Return the first loopback port from `port` on that can be listened on."""
    for candidate in range(port, port + 200):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
            return candidate
    raise DemoError(f"no port from {port} to {port + 199} is free")


def demo_password(var_dir: Path) -> str:
    """Return this installation's demo password: made on the first start, readable by its owner only."""
    path = var_dir / "demo_password"
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(12))
    return path.read_text().strip()


def answers(url: str) -> bool:
    """Whether `url` answers 200 within five seconds."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
