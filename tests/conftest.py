"""Fixtures that every part of the suite may use: live services, a browser, real worker processes, no network."""

import contextlib
import ipaddress
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings

from scripts.services import PostgresServer, RedisServer, die_with_parent, stop_process
from tests import settings as stack

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = "/usr/bin/chromium"
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "live_server", "client", "admin_client"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not asked for: long tests, and for the second database all that stores nothing."""
    wanted = []
    for item in items:
        if item.get_closest_marker("long") and "long" not in config.getoption("markexpr"):
            continue
        if os.environ.get("SPINECUT_ONLY_STORED") and not _stores(item):
            continue
        wanted.append(item)
    kept = {id(item) for item in wanted}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = wanted


def _stores(item: pytest.Item) -> bool:
    """Whether a test uses the database or a queue, so that it may behave differently on another one."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if "installation" in fixtures:  # it runs on both installations by itself, whichever suite it is part of
        return False
    return bool(
        item.get_closest_marker("django_db") or item.get_closest_marker("worker") or fixtures & DATABASE_FIXTURES
    )


# Network ------------------------------------------------------------------------------------------------------------
class NetworkForbiddenError(RuntimeError):
    """A test tried to reach another machine."""


def _is_local(address: Any) -> bool:
    if not isinstance(address, tuple):  # a Unix socket
        return True
    host = str(address[0])
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True, scope="session")
def network_is_off() -> Iterator[None]:
    """Sockets of the test process reach this machine only."""
    patch = pytest.MonkeyPatch()
    for name in ("connect", "connect_ex"):
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, address: Any, _original: Callable[..., Any] = original) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address):
                raise NetworkForbiddenError(f"a test tried to connect to {address!r}")
            return _original(self, address)

        patch.setattr(socket.socket, name, guarded)
    yield
    patch.undo()


# Services -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LiveServices:
    """Where the services of this test process are; `redis` and `postgres` can be stopped when they are its own."""

    database_url: str
    redis_url: str
    redis: RedisServer | None
    postgres: PostgresServer | None


@pytest.fixture(scope="session")
def live_services() -> Iterator[LiveServices]:
    """A PostgreSQL and a Redis, whatever stack the suite itself runs on; started here where it has none."""
    postgres, redis = stack.OWN_POSTGRES, stack.OWN_REDIS
    started: list[PostgresServer | RedisServer] = []
    database_url = os.environ.get("TEST_DATABASE_URL", "")
    if not database_url:
        postgres = PostgresServer().start()
        started.append(postgres)
        database_url = postgres.url
    redis_url = os.environ.get("TEST_REDIS_URL", "")
    if not redis_url:
        if redis is None:
            redis = RedisServer().start()
            started.append(redis)
        redis_url = redis.url
    yield LiveServices(database_url, redis_url, redis, postgres)
    for service in started:
        service.close()


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """A Redis-protocol server for one test alone: `.url`, `.stop()`, `.kill()`, `.start()`."""
    server = RedisServer().start()
    yield server
    server.close()


def database_url_of_tests() -> str:
    """Return the address of the database that the tests write to, for processes that share it."""
    from django.db import connection

    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    password = f":{quote(values['PASSWORD'])}" if values["PASSWORD"] else ""
    return f"postgres://{quote(values['USER'])}{password}@{values['HOST']}:{values['PORT']}/{values['NAME']}"


@pytest.fixture
def process_environment(transactional_db: None) -> dict[str, str]:
    """The environment of a process that works on the tests' own database, queue and files."""
    return {**os.environ, "DATABASE_URL": database_url_of_tests(), "DJANGO_SETTINGS_MODULE": "apps.config.settings"}


# Worker processes ---------------------------------------------------------------------------------------------------
class CeleryProcess:
    """One running `celery worker`, in a process group of its own."""

    def __init__(self, arguments: list[str], environment: dict[str, str], log: Path) -> None:
        self.log_path = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "apps.config", *arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def wait_until_ready(self, seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if " ready." in self.log():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"the worker did not become ready:\n{self.log()[-4000:]}")

    def children(self) -> list[int]:
        """Process ids of the pool's children."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                after_name = status.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(after_name[1]) == self.pid and after_name[0] != "Z":
                found.append(int(status.parent.name))
        return sorted(found)

    def stop(self, seconds: float = 15) -> None:
        """Stop as a supervisor does: TERM, then KILL; the whole group is gone afterwards."""
        stop_process(self.process, seconds=seconds)
        self._kill_group()

    def kill(self) -> None:
        """Kill parent and children at once, as a power cut would."""
        self._kill_group()
        self.process.wait()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


@pytest.fixture
def celery_worker_process(
    process_environment: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., CeleryProcess]]:
    """Start real workers on the tests' database and broker: `worker = celery_worker_process(concurrency=2)`."""
    running: list[CeleryProcess] = []

    def start(
        *,
        env: dict[str, str] | None = None,
        concurrency: int = 1,
        pool: str = "prefork",
        arguments: tuple[str, ...] = (),
        wait: bool = True,
    ) -> CeleryProcess:
        number = len(running)
        command = ["worker", "--loglevel=INFO", f"--concurrency={concurrency}", f"--pool={pool}"]
        command += [f"--hostname=test{number}-{os.getpid()}@localhost", "--without-gossip", "--without-mingle"]
        environment = {**process_environment, **(env or {})}
        worker = CeleryProcess([*command, *arguments], environment, tmp_path / f"worker{number}.log")
        running.append(worker)
        if wait:
            worker.wait_until_ready()
        return worker

    yield start
    for worker in running:
        worker.stop()


@pytest.fixture(autouse=True)
def empty_queue(request: pytest.FixtureRequest) -> Iterator[None]:
    """A message that one test left behind must not wake a worker of the next."""
    yield
    if request.node.get_closest_marker("worker"):
        shutil.rmtree(settings.QUEUE_DIR, ignore_errors=True)


# Browser ------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium under Playwright; contexts and pages are the test's to open and close."""
    if not Path(CHROMIUM).exists():
        pytest.skip("Chromium is not installed (Debian package chromium)")
    from playwright.sync_api import sync_playwright

    # Playwright runs an event loop in this thread; Django would refuse the database calls of the test itself.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a fresh browser profile; a request to another machine fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    foreign: list[str] = []
    context.on("request", lambda request: _is_foreign(request.url) and foreign.append(request.url))
    opened = context.new_page()
    opened.set_default_timeout(15_000)
    yield opened
    context.close()
    assert not foreign, f"the page asked other machines: {foreign}"


def _is_foreign(url: str) -> bool:
    return not url.startswith(("http://localhost", "http://127.0.0.1", "data:", "blob:", "about:"))


@pytest.fixture(scope="session")
def axe() -> Callable[[Any], list[str]]:
    """Return what axe finds wrong on a page, one line a finding: `assert axe(page) == []`."""
    from axe_playwright_python.sync_playwright import Axe

    runner = Axe()

    def violations(page: Any) -> list[str]:
        return [
            f"{finding['id']}: {node['target']} {node.get('failureSummary', '')}"
            for finding in runner.run(page).response["violations"]
            for node in finding["nodes"]
        ]

    return violations


# Workbooks ----------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def soffice() -> str:
    """The LibreOffice program, for tests that recalculate a workbook."""
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("LibreOffice Calc is not installed (Debian package libreoffice-calc)")
    return program
