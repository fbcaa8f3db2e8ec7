"""What a process refuses to start with, and how little it loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from apps.config import startup
from apps.config.env import database_from_url
from apps.config.secrecy import secret_key

ROOT = Path(__file__).resolve().parents[2]
GOOD_KEY = "k3VxQ-7pLmW2zR9tYbN4cF8hJ1sD6gAq0uEoIiXvTnBwPyZrUaCk"
HEAVY = ("pandas", "scipy.stats", "matplotlib", "plotly", "openpyxl")


def manage(tmp_path, *arguments, **variables):
    """Run manage.py in an environment that holds nothing but what the test says."""
    environment = {"PATH": os.environ["PATH"], "SPINECUT_VAR_DIR": str(tmp_path), **variables}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def production(**changes):
    return {
        "SPINECUT_PRODUCTION": "True",
        "SECRET_KEY": GOOD_KEY,
        "ALLOWED_HOSTS": "spinecut.example.com",
        "DATABASE_URL": "postgres://spinecut:x@127.0.0.1:1/spinecut",
        **changes,
    }


def test_production_passes_the_deployment_check(tmp_path):
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **production())
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is too short"),
        ({"SECRET_KEY": "ab" * 40}, "too regular"),
        ({"SECRET_KEY": "please-change-me-" + GOOD_KEY}, "SECRET_KEY looks like a sample"),
        ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS must list"),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS must list"),
        ({"DEBUG": "True"}, "DEBUG is True"),
        ({"DEBUG": "yes"}, "it must be True or False"),
        ({"DATABASE_URL": "mysql://x/y"}, "it must begin with sqlite or postgres"),
    ],
)
def test_production_refuses_to_start_and_says_why(tmp_path, changes, reason):
    done = manage(tmp_path, "check", **production(**changes))
    assert done.returncode != 0
    assert reason in done.stderr
    assert GOOD_KEY not in done.stderr


def test_outside_production_a_key_is_made_once_and_is_readable_by_its_owner_only(tmp_path, monkeypatch):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    first = secret_key(tmp_path, production=False)
    assert secret_key(tmp_path, production=False) == first
    assert len(first) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_checking_the_project_loads_no_heavy_library(tmp_path):
    code = (
        "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'apps.config.settings'; import django; django.setup();"
        "from django.core.management import call_command; call_command('check');"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    environment = {"PATH": os.environ["PATH"], "SPINECUT_VAR_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.django_db(transaction=True)
def test_the_database_is_set_up_as_its_kind_needs():
    {"sqlite": sqlite_is_in_wal_mode_and_durable, "postgresql": postgresql_ends_what_waits_too_long}[
        connection.vendor
    ]()


def sqlite_is_in_wal_mode_and_durable():
    with connection.cursor() as cursor:
        answers = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert answers == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 20_000}
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert connection.settings_dict["ATOMIC_REQUESTS"] is False
    startup.refuse_unsafe_start()


def postgresql_ends_what_waits_too_long():
    with connection.cursor() as cursor:
        answers = {}
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SHOW {name}")
            answers[name] = cursor.fetchone()[0]
    assert answers == {
        "statement_timeout": "15s",
        "lock_timeout": "5s",
        "idle_in_transaction_session_timeout": "30s",
    }


def test_a_database_address_is_read_with_everything_in_it():
    read = database_from_url("postgres://spine%40cut:p%2Fw@db.example.com:5433/spinecut")
    assert (read["USER"], read["PASSWORD"], read["HOST"], read["PORT"]) == (
        "spine@cut",
        "p/w",
        "db.example.com",
        "5433",
    )
    assert read["CONN_HEALTH_CHECKS"] is True
    assert database_from_url("sqlite:////data/spinecut.sqlite3")["NAME"] == "/data/spinecut.sqlite3"


def test_the_file_system_of_a_path_is_the_one_of_the_deepest_mount(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n30 27 0:30 / /srv/shared rw,relatime shared:1 - nfs4 server:/export rw\n"
    )
    assert startup.file_system_of(Path("/srv/shared/spinecut/db.sqlite3"), mounts) == "nfs4"
    assert startup.file_system_of(Path("/srv/sharedness/db.sqlite3"), mounts) == "ext4"
    assert startup.file_system_of(Path("/srv"), tmp_path / "missing") == ""


def test_sqlite_on_a_network_file_system_is_refused(monkeypatch):
    monkeypatch.setattr(startup, "file_system_of", lambda path: "nfs4")
    with pytest.raises(ImproperlyConfigured, match="network file system"):
        startup.check_sqlite("/srv/shared/db.sqlite3")


def test_sqlite_without_wal_is_refused(monkeypatch):
    monkeypatch.setattr(startup, "file_system_of", lambda path: "ext4")
    monkeypatch.setattr(startup, "journal_mode", lambda: "delete")
    with pytest.raises(ImproperlyConfigured, match="must be 'wal'"):
        startup.check_sqlite("/srv/db.sqlite3")
