"""The parser runs in a process of its own, under limits; its death is an answer."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apps.intake.parsing import process
from apps.intake.parsing.process import parse_in_child
from apps.intake.parsing.quote import Request
from tests.intake.generate import csv_bytes

ROOT = Path(__file__).resolve().parents[2]


def in_child(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that has confined itself as the parser does."""
    text = f"from apps.intake.parsing.child import confine\nconfine()\n{code}"
    return subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_child_has_no_network_and_writes_no_file(tmp_path: Path) -> None:
    tried = in_child("import socket\nsocket.create_connection(('127.0.0.1', 9))")
    assert "The import has no network" in tried.stderr
    assert in_child("import _socket\n_socket.socket().connect(('127.0.0.1', 9))").returncode != 0
    file = tmp_path / "x"
    assert "OSError" in in_child(f"f = open({str(file)!r}, 'w'); f.write('x'); f.flush()").stderr
    assert file.stat().st_size == 0


def test_the_child_cannot_take_more_memory_than_its_limit() -> None:
    assert "MemoryError" in in_child("x = bytearray(1_200_000_000)").stderr


def test_the_child_starts_without_django_pandas_and_numpy() -> None:
    listed = in_child("import sys, apps.intake.parsing.quote\nprint(sorted(sys.modules))").stdout
    assert not [name for name in ("django", "pandas", "numpy", "openpyxl") if f"'{name}'" in listed]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os.kill(os.getpid(), 9)", "could not be read"),
        ("raise MemoryError", "more memory"),
        ("raise ValueError('secret of the file')", "could not be read"),
        ("print('no json')", "could not be read"),
    ],
)
def test_the_death_of_the_child_is_a_normal_answer(code: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "COMMAND", [sys.executable, "-c", code])
    result = parse_in_child(Request(csv_bytes(), "quote_csv"))
    assert (result["outcome"], result["fixable"], result["lines"]) == ("reject", False, [])
    assert said in result["messages"][0]["text"]
    assert "secret" not in json.dumps(result)


def test_a_child_that_hangs_is_ended_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "COMMAND", [sys.executable, "-c", "import time; time.sleep(60)"])
    started = time.monotonic()
    result = parse_in_child(Request(csv_bytes(), "quote_csv"), wall_s=0.5)
    assert "longer than 0.5 s" in result["messages"][0]["text"]
    assert time.monotonic() - started < 30


def test_the_child_sees_no_secret_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    code = "import os, sys; sys.exit(0 if 'SECRET_KEY' not in os.environ else 7)"
    monkeypatch.setattr(process, "COMMAND", [sys.executable, "-c", code])
    assert "damaged" in parse_in_child(Request(csv_bytes(), "quote_csv"))["messages"][0]["text"]
    done = subprocess.run([sys.executable, "-c", code], env=process.ENVIRONMENT, check=False)
    assert done.returncode == 0
