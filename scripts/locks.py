"""Whether pyproject.toml and the hashed locks still say the same; needs no network."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(\[[^\]]*\])?\s*(.*)$")
PIN = re.compile(r"^([a-z0-9._-]+)==([^\s;\\]+)")
CLAUSE = re.compile(r"^(==|>=|<=|<|>|~=|!=)\s*([0-9][0-9A-Za-z.]*)$")


def problems(root: Path) -> list[str]:
    """Return what differs between pyproject.toml and the locks, one sentence each."""
    project = tomllib.loads((root / "pyproject.toml").read_text())
    runtime, development = _pins(root / "requirements.txt"), _pins(root / "requirements-dev.txt")
    found = _unmet(project["project"]["dependencies"], runtime, "requirements.txt")
    found += _unmet(project["project"]["dependencies"], development, "requirements-dev.txt")
    found += _unmet(project["dependency-groups"]["dev"], development, "requirements-dev.txt")
    for name, versions in runtime.items():
        if development.get(name) != versions:
            found.append(f"{name} is pinned differently in requirements.txt and requirements-dev.txt")
    for path in sorted(root.glob("requirements*.txt")):
        found += _form(path)
    return found


def _pins(path: Path) -> dict[str, list[str]]:
    """Name to pinned versions; a name has several where markers tell Pythons or machines apart."""
    pins: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if pin := PIN.match(line):
            pins.setdefault(pin[1], []).append(pin[2])
    return pins


def _unmet(requirements: list[str], pins: dict[str, list[str]], lock: str) -> list[str]:
    found = []
    for requirement in requirements:
        parts = REQUIREMENT.match(requirement)
        if not parts:
            found.append(f"{requirement!r} in pyproject.toml is not understood")
            continue
        name = re.sub(r"[-_.]+", "-", parts[1]).lower()
        if name not in pins:
            found.append(f"{name} is in pyproject.toml and not in {lock}")
        for version in pins.get(name, []):
            if not all(_meets(version, clause.strip()) for clause in parts[3].split(",") if clause.strip()):
                found.append(f"{name} {version} in {lock} does not meet {parts[3].strip()} of pyproject.toml")
    return found


def _meets(version: str, clause: str) -> bool:
    parts = CLAUSE.match(clause)
    if not parts:
        return False
    have, want = _numbers(version), _numbers(parts[2])
    length = max(len(have), len(want))
    have, want = have + (0,) * (length - len(have)), want + (0,) * (length - len(want))
    return {
        "==": have == want,
        ">=": have >= want,
        "<=": have <= want,
        "<": have < want,
        ">": have > want,
        "!=": have != want,
        "~=": have >= want and have[: parts[2].count(".")] == want[: parts[2].count(".")],
    }[parts[1]]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _form(path: Path) -> list[str]:
    """A lock names packages, versions and hashes; never where they come from."""
    text = path.read_text()
    found = []
    if "://" in text or re.search(r"^--(index|extra|find|trusted)", text, re.M):
        found.append(f"{path.name} holds an address; a lock names none")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.M)
    found += [
        f"{path.name}: {entry.split()[0]} has no hash"
        for entry in entries
        if PIN.match(entry) and "--hash=sha256:" not in entry
    ]
    return found
