"""The bootstrap script and the checks that need no installed library."""

import hashlib
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts import bootstrap, demo, demo_check, doclinks, locks
from scripts.checks import quick_stages, suite_stages

ROOT = Path(__file__).resolve().parents[2]


def test_an_unchanged_environment_is_recognised_in_a_fifth_of_a_second(monkeypatch, tmp_path):
    wanted = bootstrap._wanted(development=True)
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp.json")
    (tmp_path / "stamp.json").write_text(bootstrap.json.dumps(wanted))
    monkeypatch.setattr(bootstrap, "_install", lambda lock: pytest.fail("it installed"))
    started = time.perf_counter()
    bootstrap.ensure_environment(development=True)
    assert time.perf_counter() - started < 0.2


@pytest.mark.parametrize("change", ["python", "requirements.txt", "requirements-dev.txt"])
def test_a_changed_lock_or_python_is_installed_again(monkeypatch, tmp_path, change):
    stamp = tmp_path / "stamp.json"
    stamp.write_text(bootstrap.json.dumps({**bootstrap._wanted(development=True), change: "other"}))
    installed = []
    monkeypatch.setattr(bootstrap, "STAMP", stamp)
    monkeypatch.setattr(bootstrap, "_is_usable", lambda python: True)
    monkeypatch.setattr(bootstrap, "_install", installed.append)
    bootstrap.ensure_environment(development=True)
    assert installed == [bootstrap.DEVELOPMENT]
    assert bootstrap._stamped(bootstrap._wanted(development=True))


def test_the_demo_installs_no_test_tools(monkeypatch, tmp_path):
    installed = []
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(bootstrap, "_is_usable", lambda python: True)
    monkeypatch.setattr(bootstrap, "_install", installed.append)
    bootstrap.ensure_environment(development=False)
    assert installed == [bootstrap.RUNTIME]


def test_a_python_without_ensurepip_is_answered_with_what_to_do(monkeypatch):
    done = subprocess.CompletedProcess([], 1, stdout="ensurepip is not available", stderr="")
    monkeypatch.setattr(bootstrap.subprocess, "run", lambda *_, **__: done)
    monkeypatch.setattr(bootstrap, "is_debian_root", lambda: False)
    with pytest.raises(bootstrap.SetupError, match="apt-get install python3-venv"):
        bootstrap._make_venv()


def test_an_unknown_command_is_answered_with_the_usage():
    done = subprocess.run([sys.executable, "dev.py", "fly"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: dev.py" in done.stderr


def test_the_scripts_import_the_standard_library_only():
    code = (
        "import sys; before = set(sys.modules); import scripts.checks, scripts.demo, scripts.demo_check;"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['scripts']"


# Locks --------------------------------------------------------------------------------------------------------------
@pytest.fixture
def project(tmp_path):
    """A project whose locks agree with it."""
    sha = hashlib.sha256(b"x").hexdigest()
    pin = "django==5.2.19 \\\n    --hash=sha256:" + sha + "\n"
    (tmp_path / "requirements.txt").write_text(pin)
    (tmp_path / "requirements-dev.txt").write_text(pin + pin.replace("django==5.2.19", "pytest==9.2.0"))
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["Django>=5.2.19,<5.3"]\n[dependency-groups]\ndev = ["pytest>=8"]\n'
    )
    return tmp_path


def change(path, old, new):
    path.write_text(path.read_text().replace(old, new))


def test_locks_that_agree_have_no_problems(project):
    assert locks.problems(project) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("requirements.txt", "5.2.19", "5.2.18", "does not meet"),
        ("requirements-dev.txt", "5.2.19", "5.2.20", "pinned differently"),
        ("pyproject.toml", '"pytest>=8"', '"pytest>=8", "mypy"', "mypy is in pyproject.toml and not in"),
        ("pyproject.toml", "<5.3", "<5.2", "does not meet"),
        ("requirements.txt", "    --hash", "    #", "has no hash"),
        ("requirements.txt", "django==", "--index-url x\ndjango==", "holds an address"),
    ],
)
def test_each_drift_of_a_lock_is_named(project, file, old, new, problem):
    change(project / file, old, new)
    assert any(problem in found for found in locks.problems(project))


def test_no_file_of_the_setup_names_a_registry():
    for path in [
        *ROOT.glob("requirements*.txt"),
        ROOT / "Dockerfile",
        ROOT / "dev.py",
        *(ROOT / "scripts").glob("*.py"),
    ]:
        assert not re.search(r"https?://(?!127\.0\.0\.1|\{|localhost)", path.read_text()), path


# Links --------------------------------------------------------------------------------------------------------------
def test_dead_links_wrong_headings_and_lost_pages_are_found(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "[a](docs/a.md) [gone](docs/gone.md) [bad](docs/a.md#nowhere) [web](https://example.com)"
    )
    (tmp_path / "docs" / "a.md").write_text("# A heading, with `code`\n[self](#a-heading-with-code)\n`[no](link.md)`")
    (tmp_path / "docs" / "lost.md").write_text("nobody links here")
    assert doclinks.problems(tmp_path) == [
        "README.md links to gone.md, which does not exist",
        "README.md links to a.md#nowhere, which has no such heading",
        "docs/lost.md cannot be reached from README.md",
    ]


# Demo ---------------------------------------------------------------------------------------------------------------
def test_the_demo_takes_the_next_free_port():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert demo.next_free_port(port) > port


def test_the_demo_password_is_made_once_and_is_the_owners_alone(tmp_path):
    assert demo.demo_password(tmp_path) == demo.demo_password(tmp_path)
    assert (tmp_path / "demo_password").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "shown", ["8,754,321", "8 754 321", "USD 8.75 M", "<b>8.754</b>\u202fM", "8754321", "<b>8.75</b>, how?"]
)
def test_the_check_of_the_demo_finds_an_amount_however_it_is_written(shown):
    assert demo_check.shows(f"<p>Total {shown} likely</p>", 8_754_321.12)


@pytest.mark.parametrize("shown", ["<script>8754321</script><p>8.70 M</p>", "18,754,321", "8.7512", "98.75", "8.75.1"])
def test_the_check_of_the_demo_takes_no_other_number_and_no_script_for_it(shown):
    assert not demo_check.shows(shown, 8_754_321.12)


def test_every_stage_has_a_name_of_one_word(tmp_path):
    names = [stage.name for stage in [*quick_stages(), *suite_stages(tmp_path, long=False)]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z-]+", name) for name in names)
