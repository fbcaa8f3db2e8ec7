"""What goes on beside an engine at work: its lease, its progress, its limits, and the wish to cancel it."""

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from apps.analyses.claims import Claimed

log = structlog.get_logger(__name__)

PROGRESS_INTERVAL_S = 0.25
GRACE_S = 4  # for an engine to notice that it has to stop; then its process is ended


class Reason(StrEnum):
    """Why an engine has to stop before it has an answer."""

    CANCELLED = "cancelled"
    LOST = "lost"  # another attempt holds the run, or it is over: this one writes nothing any more
    TIME = "time"
    MEMORY = "memory"


class Stopped(BaseException):
    """Raised inside an engine by its progress callback. No `except Exception` of an engine may swallow it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class Keeper:
    """A thread with its own database connection, alive while the engine computes.

    `end_by_force` writes the end state of a stopped attempt; it is called, and the process killed, when the engine
    does not notice within `GRACE_S` that it has to stop.
    """

    may_kill: bool = False  # only in a pool process, which its parent replaces; see apps.config.celery

    def __init__(self, claimed: Claimed, *, total: int, end_by_force: Callable[[Claimed, Reason], object]) -> None:
        self._claimed = claimed
        self._end_by_force = end_by_force
        self._latest: tuple[str, int, int] = ("", 0, total)
        self._written = self._latest
        self._reason: Reason | None = None
        self._stop_at = 0.0
        self._started_at = time.monotonic()
        self._finished = threading.Event()
        self._ending = threading.Lock()
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Take note of how far the engine is. Raises `Stopped` when it has to stop."""
        if self._reason is not None:
            raise Stopped(self._reason)
        self._latest = (stage, int(done), int(total))

    @property
    def total(self) -> int:
        return self._latest[2]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._ending:
            self._finished.set()
        self._thread.join(timeout=20)

    def _keep(self) -> None:
        interval = min(PROGRESS_INTERVAL_S, settings.RUN_HEARTBEAT_S)
        next_beat = 0.0
        try:
            while not self._finished.wait(interval):
                now = time.monotonic()
                if now >= next_beat or self._latest != self._written:
                    self._beat()
                    next_beat = now + settings.RUN_HEARTBEAT_S
                self._check_limits(now)
                if self._reason is not None and now > self._stop_at + GRACE_S:
                    self._kill(self._reason)
        finally:
            connection.close()

    def _beat(self) -> None:
        latest = self._latest
        stage, done, total = latest
        try:
            verdict = self._claimed.beat(stage=stage, done=done, total=total)
        except (DatabaseError, InterfaceError) as error:
            # The lease may lapse meanwhile; whoever holds the run in the end is decided by its attempt number.
            log.warning("heartbeat.failed", run=str(self._claimed.run_id), error=type(error).__name__)
            connection.close()
            return
        self._written = latest
        if verdict == "cancelled":
            self._stop(Reason.CANCELLED)
        elif verdict == "lost":
            self._stop(Reason.LOST)

    def _check_limits(self, now: float) -> None:
        if now - self._started_at > settings.CELERY_TASK_SOFT_TIME_LIMIT:
            self._stop(Reason.TIME)
        elif resident_mb() > settings.RUN_CHILD_MEMORY_MB:
            self._stop(Reason.MEMORY)

    def _stop(self, reason: Reason) -> None:
        if self._reason is None:
            self._stop_at = time.monotonic()
            self._reason = reason

    def _kill(self, reason: Reason) -> None:
        """The engine is deep in a long calculation and hears nothing: end the attempt, then the process."""
        with self._ending:
            if self._finished.is_set() or not self.may_kill:
                return
            self._end_by_force(self._claimed, reason)
            log.warning("run.process_killed", run=str(self._claimed.run_id), reason=str(reason))
            os.kill(os.getpid(), signal.SIGKILL)


_PAGE_BYTES: Final = resource.getpagesize()
_STATM: Final = Path("/proc/self/statm")


def resident_mb() -> float:
    """Memory this process holds; where the system does not tell, the most it ever held."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * _PAGE_BYTES / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


MARGIN_MB: Final = 256  # stacks of threads and what libraries reserve without using it


def prepare_pool_process() -> None:
    """Tell the keeper that it may kill this process, and let an allocation far beyond the limit fail at once.

    A limit of the kernel on all of a process's data catches the one huge array that the keeper is too slow to see; the
    keeper, which looks at the memory really in use, catches growth.
    """
    Keeper.may_kill = True
    if sys.platform == "linux":
        wanted = (settings.RUN_CHILD_MEMORY_MB + MARGIN_MB) * 2**20
        _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(
            resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
