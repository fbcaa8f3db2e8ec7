"""The demo's supervisor: dead processes come back, and nothing is left when it stops or is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts import supervisor as module
from scripts.supervisor import GaveUpError, Program, Supervisor, members_of_session

ROOT = Path(__file__).resolve().parents[2]
# A parent that ignores TERM and has a child that does so too: the worst that a program can be.
STUBBORN = "trap '' TERM; sh -c \"trap '' TERM; sleep 60 & wait; sleep 60\" & wait; sleep 60"


def program(tmp_path, script, name="program"):
    return Program(name, ["sh", "-c", script], dict(os.environ), tmp_path / f"{name}.log")


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def supervised(tmp_path):
    running = Supervisor(tmp_path, lambda text: None)
    yield running
    running.stop()


def test_a_killed_program_runs_again_within_five_seconds(tmp_path, supervised):
    supervised.add(program(tmp_path, "sleep 60"))
    first = supervised.programs[0].process
    os.kill(first.pid, signal.SIGKILL)
    killed = time.monotonic()

    def runs_again():
        supervised.look()
        process = supervised.programs[0].process
        return process is not None and process.pid != first.pid and process.poll() is None

    assert wait_until(runs_again)
    assert time.monotonic() - killed < 5


def test_a_program_that_cannot_start_is_given_up_with_the_name_of_its_log(tmp_path, supervised, monkeypatch):
    monkeypatch.setattr(module, "RESTART_AFTER_S", 0.0)
    supervised.add(program(tmp_path, "exit 3", name="web"))
    with pytest.raises(GaveUpError, match=r"web ended 5 times within a minute; see .*web\.log"):
        wait_until(lambda: supervised.look() and False)


def test_stopping_ends_children_of_children_that_ignore_it(tmp_path, supervised, monkeypatch):
    monkeypatch.setattr(module, "GRACE_S", 0.5)
    supervised.add(program(tmp_path, STUBBORN))
    session = supervised.programs[0].process.pid
    assert wait_until(lambda: len(members_of_session(session)) >= 3)
    supervised.stop()
    assert wait_until(lambda: members_of_session(session) == [])


def test_a_program_that_ends_politely_is_not_killed(tmp_path, supervised):
    supervised.add(
        program(
            tmp_path, f"trap 'echo bye > {tmp_path}/bye; exit 0' TERM; touch {tmp_path}/up; while :; do sleep 0.1; done"
        )
    )
    assert wait_until((tmp_path / "up").exists)
    supervised.stop()
    assert (tmp_path / "bye").read_text() == "bye\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_killing_the_supervisor_itself_ends_what_it_started(tmp_path):
    code = (
        "import os, sys, time; from pathlib import Path; from scripts.supervisor import Program, Supervisor\n"
        "running = Supervisor(Path('.'), print)\n"
        "running.add(Program('p', ['sleep', '60'], dict(os.environ), Path(sys.argv[1])))\n"
        "print(running.programs[0].process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "p.log")], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    child = int(parent.stdout.readline())
    parent.stdout.close()
    assert members_of_session(child) == [child]
    parent.kill()
    parent.wait()
    assert wait_until(lambda: members_of_session(child) == [])
