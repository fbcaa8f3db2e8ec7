"""A whole installation for the queue tests: database, broker, worker processes, scheduler, and agents that act in it.

It is a real one on real processes, on loopback and in a folder of its own, and apart from the database of the test
process: a test says what to do, and an agent, a Python process with Django set up on that installation, does it.
"""

import contextlib
import importlib
import json
import os
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.services import PostgresServer, RedisServer, die_with_parent, free_port, stop_process

ROOT = Path(__file__).resolve().parents[2]
FAST = {  # leases and sweeps short enough to test their lapse
    "RUN_LEASE_S": "3",
    "RUN_HEARTBEAT_S": "0.5",
    "RUN_SWEEP_S": "1",
    "RUN_RESEND_AFTER_S": "2",
    "RUN_ENGINES_MODULE": "tests.analyses.engines",
    "RUN_MAIL_AFTER_S": "0",
}


class MailServer:
    """The few words of SMTP that one mail needs, on a loopback port; `.mails` holds what came."""

    def __init__(self) -> None:
        mails: list[str] = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.wfile.write(b"220 test\r\n")
                for line in self.rfile:
                    word = line[:4].upper()
                    if word == b"DATA":
                        self.wfile.write(b"354 go\r\n")
                        lines = iter(self.rfile.readline, b".\r\n")
                        mails.append(b"".join(lines).decode())
                    self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self.mails = mails
        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Process:
    """A child in a group of its own, its output in a file."""

    def __init__(self, arguments: list[str], environment: dict[str, str], log: Path, **pipes: Any) -> None:
        self.log_path = log
        with log.open("ab") as output:
            pipes.setdefault("stdin", subprocess.DEVNULL)
            pipes.setdefault("stdout", output)
            self.process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environment,
                stderr=output,
                start_new_session=True,
                preexec_fn=die_with_parent,
                **pipes,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def children(self) -> list[int]:
        """Ids of the child processes that live, whichever thread has started them."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/children")
        return [int(pid) for thread in threads for pid in thread.read_text().split() if _lives(pid)]

    def signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        self.signal_group(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.signal_group(signal.SIGCONT)
        stop_process(self.process, seconds=10)
        self.signal_group(signal.SIGKILL)


class Agent(Process):
    """Calls functions of tests.analyses.acts inside the installation: `agent.act("request", steps=3)`."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        super().__init__(
            ["-m", "tests.analyses.processes"], environment, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._turn = threading.Lock()

    def stop(self) -> None:
        super().stop()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def act(self, name: str, /, **values: Any) -> Any:
        """Return what the act returned; raises `AssertionError` with its traceback if it raised."""
        with self._turn:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(json.dumps({"act": name, "values": values}).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        assert line, f"the agent ended:\n{self.log()[-3000:]}"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["value"]


class Installation:
    """`embedded`: SQLite and messages as files. `team`: PostgreSQL and a Redis-protocol server."""

    def __init__(
        self, name: str, *, redis: RedisServer | None = None, database_url: str = "", **variables: str
    ) -> None:
        self.name = name
        self.redis = redis
        self.folder = Path(tempfile.mkdtemp(prefix=f"spinecut-{name}-"))
        self.mail = MailServer()
        self.processes: list[Process] = []
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("SPINECUT_", "TEST_"))}
        for key in ("DATABASE_URL", "REDIS_URL", "CACHE_URL"):
            inherited.pop(key, None)
        self.environment = {
            **inherited,
            **FAST,
            "DJANGO_SETTINGS_MODULE": "apps.config.settings",
            "SPINECUT_VAR_DIR": str(self.folder / "var"),
            "EMAIL_HOST": "127.0.0.1",
            "EMAIL_PORT": str(self.mail.port),
            "EMAIL_USE_TLS": "False",
            "OPENBLAS_NUM_THREADS": "1",
            **({"DATABASE_URL": database_url} if database_url else {}),
            **({"REDIS_URL": f"{redis.url}/0"} if redis else {}),
            **variables,
        }
        (self.folder / "var").mkdir()
        for command in (["migrate", "-v0"], ["createcachetable"]):
            done = subprocess.run(
                [sys.executable, "manage.py", *command],
                cwd=ROOT,
                env=self.environment,
                check=False,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr[-3000:]
        self.agent = self.start_agent()

    def start_agent(self) -> Agent:
        agent = Agent(self.environment, self.folder / f"agent{len(self.processes)}.log")
        self.processes.append(agent)
        return agent

    def start_worker(self, *, concurrency: int = 1, wait: bool = True, **variables: str) -> Process:
        number = len(self.processes)
        arguments = ["-m", "celery", "-A", "apps.config", "worker", "--loglevel=INFO", f"--concurrency={concurrency}"]
        arguments += [f"--hostname=w{number}-{os.getpid()}@localhost", "--without-gossip", "--without-mingle"]
        worker = Process(arguments, {**self.environment, **variables}, self.folder / f"worker{number}.log")
        self.processes.append(worker)
        if wait:
            self.wait_for_worker(worker)
        return worker

    def wait_for_worker(self, worker: Process) -> None:
        until(lambda: " ready." in worker.log() or worker.process.poll() is not None, seconds=40)
        assert worker.process.poll() is None, worker.log()[-3000:]

    def start_scheduler(self) -> Process:
        number = len(self.processes)
        arguments = ["-m", "celery", "-A", "apps.config", "beat", "--loglevel=INFO", "--pidfile="]
        scheduler = Process(arguments, self.environment, self.folder / f"scheduler{number}.log")
        self.processes.append(scheduler)
        return scheduler

    def stop(self, process: Process) -> None:
        process.stop()
        self.processes.remove(process)

    def act(self, name: str, /, **values: Any) -> Any:
        return self.agent.act(name, **values)

    def wait_for_end(self, *run_ids: str, seconds: float = 30) -> list[dict[str, Any]]:
        """Return the runs once all of them are over."""
        until(lambda: all(run["over"] for run in self.act("look", run_ids=run_ids)), seconds=seconds, tell=self.tell)
        return self.act("look", run_ids=run_ids)

    def wait_for_state(self, run_id: str, state: str, *, stage: str = "", seconds: float = 30) -> dict[str, Any]:
        """Return the run once it is in the state, and in the stage if one is given."""

        def reached() -> bool:
            run = self.act("look", run_ids=[run_id])[0]
            return run["state"] == state and (not stage or run["stage"] == stage)

        until(reached, seconds=seconds, tell=self.tell)
        return self.act("look", run_ids=[run_id])[0]

    def logs(self) -> str:
        return "\n".join(process.log() for process in self.processes)

    def tell(self) -> str:
        return "\n".join(f"--- {process.log_path.name}\n{process.log()[-1500:]}" for process in self.processes)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.signal_group(signal.SIGCONT)
            process.process.terminate()
        for process in self.processes:
            process.stop()
        self.mail.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _lives(pid: str) -> bool:
    """Whether the process still runs; one that has ended stays listed until its parent looks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def until(
    condition: Callable[[], Any], *, seconds: float, tell: Callable[[], str] = str, pause_s: float = 0.05
) -> float:
    """Return after how many seconds the condition held; fail with `tell()` when it did not in time."""
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        if condition():
            return time.monotonic() - started
        time.sleep(pause_s)
    raise AssertionError(f"not within {seconds:g} s\n{tell()}")


def _serve_acts() -> None:
    """The agent's own loop: one JSON line in, one JSON line out."""
    import traceback

    import django

    django.setup()
    acts = importlib.import_module("tests.analyses.acts")
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = {"value": getattr(acts, order["act"])(**order["values"])}
        except Exception:
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


__all__ = ["Agent", "Installation", "MailServer", "PostgresServer", "Process", "RedisServer", "free_port", "until"]

if __name__ == "__main__":
    _serve_acts()
