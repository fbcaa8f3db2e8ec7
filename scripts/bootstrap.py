"""Build `.venv` from the hashed lock, or find within milliseconds that it is already as it should be."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "spinecut-stamp.json"
INSTALLER = ROOT / "requirements-installer.txt"
RUNTIME = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"
ENSUREPIP_MISSING = (
    "this Python cannot make virtual environments. On Debian and Ubuntu install the package python3-venv "
    "(as root: apt-get install python3-venv), then run this again."
)


class SetupError(RuntimeError):
    """The environment could not be built; the text says what to do."""


def say(text: str) -> None:
    """Progress goes to standard error: standard output may be JSON that a script reads."""
    print(text, file=sys.stderr, flush=True)


def ensure_environment(*, development: bool) -> None:
    """Bring `.venv` in line with the lock; `development` adds what only tests and benchmarks need."""
    wanted = _wanted(development)
    if _stamped(wanted):
        return
    with _one_at_a_time():
        if _stamped(wanted):  # somebody else has just done it
            return
        started = time.monotonic()
        if not _is_usable(PYTHON):
            _make_venv()
        lock = DEVELOPMENT if development else RUNTIME
        say(f"Installing {lock.name} into .venv")
        _install(lock)
        STAMP.write_text(json.dumps({**_stamp(), **wanted}))
        say(f"Installed in {time.monotonic() - started:.1f} s")


def _wanted(development: bool) -> dict[str, str]:
    """What the stamp has to hold: the hash of each lock that must be installed."""
    wanted = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}", RUNTIME.name: _hash(RUNTIME)}
    if development:
        wanted[DEVELOPMENT.name] = _hash(DEVELOPMENT)
    return wanted


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _stamp() -> dict[str, str]:
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _stamped(wanted: dict[str, str]) -> bool:
    stamp = _stamp()
    # The stamp alone is not proof: a moved folder or a removed interpreter leaves a dead link behind.
    return PYTHON.exists() and all(stamp.get(name) == value for name, value in wanted.items())


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two starts at the same time must not install into one folder together."""
    VENV.mkdir(exist_ok=True)
    with (VENV / "spinecut-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_usable(python: Path) -> bool:
    """Whether `.venv` exists, runs, and is of the Python that runs us."""
    question = "import sys, pip; print(sys.prefix, '%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([str(python), "-c", question], check=False, capture_output=True, text=True)
    except OSError:
        return False
    return done.stdout.split() == [str(VENV), f"{sys.version_info[0]}.{sys.version_info[1]}"]


def _make_venv() -> None:
    say(f"Making .venv with Python {sys.version.split()[0]}")
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode and install_debian_packages(["python3-venv"]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        missing = "ensurepip" in done.stdout + done.stderr or "No module named venv" in done.stderr
        raise SetupError(ENSUREPIP_MISSING if missing else (done.stderr or done.stdout).strip())


def _install(lock: Path) -> None:
    """Install with uv, which takes seconds, or with pip, which takes minutes and works everywhere."""
    uv = _uv()
    if uv:
        command = [uv, "pip", "install", "--python", str(PYTHON), "--quiet", "--require-hashes", "-r", str(lock)]
        done = subprocess.run(command, check=False, cwd=ROOT, env=_clean_environment(), capture_output=True, text=True)
        if done.returncode == 0:
            return
        say(f"uv could not install it, pip tries next: {_last_line(done.stderr)}")
    command = [*_pip(), "install", "--quiet", "--require-hashes", "-r", str(lock)]
    done = subprocess.run(command, check=False, cwd=ROOT, env=_clean_environment(), capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"pip could not install {lock.name}: {_last_line(done.stderr)}")


def _uv() -> str | None:
    """Return the pinned uv inside `.venv`, or nothing where there is no wheel of it for this machine."""
    uv = VENV / "bin" / "uv"
    stamp, wanted = VENV / "spinecut-installer", _hash(INSTALLER)
    if not (uv.exists() and stamp.exists() and stamp.read_text() == wanted):
        command = [*_pip(), "install", "--quiet", "--only-binary", ":all:", "--require-hashes", "-r", str(INSTALLER)]
        done = subprocess.run(command, check=False, cwd=ROOT, env=_clean_environment(), capture_output=True, text=True)
        if done.returncode:
            say(f"No uv for this machine, pip does the work: {_last_line(done.stderr)}")
            return None
        stamp.write_text(wanted)
    return str(uv)


def _pip() -> list[str]:
    return [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]


def _clean_environment() -> dict[str, str]:
    """The caller's environment without another active environment; the registries stay as the machine has them."""
    return {
        name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH", "CONDA_PREFIX")
    }


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason given"


# Debian -------------------------------------------------------------------------------------------------------------
def is_debian_root() -> bool:
    return os.geteuid() == 0 and Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None


def install_debian_packages(packages: list[str]) -> bool:
    """Install packages where that is possible without asking: as root on Debian. Return whether it worked."""
    if not is_debian_root():
        return False
    say(f"Installing from Debian: {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", "-q"], install):
        done = subprocess.run(
            command, check=False, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode:
            say(f"{' '.join(command[:2])} failed: {_last_line(done.stderr)}")
    return done.returncode == 0
