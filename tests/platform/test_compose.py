"""The team deployment: what docker-compose.yml promises, and the same processes run natively with its environment."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from scripts.services import die_with_parent, free_port
from tests.platform.test_start import GOOD_KEY

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = ("migrate", "web", "worker", "scheduler")


def variables(text):
    """What an operator has to or may set."""
    return set(re.findall(r"\$\{([A-Z_]+)", text))


def test_all_six_services_are_there():
    assert set(SERVICES) == {"postgres", "redis", *OURS}


def test_redis_appends_and_never_evicts():
    command = " ".join(SERVICES["redis"]["command"])
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command
    assert SERVICES["redis"]["volumes"]


@pytest.mark.parametrize("name", ["postgres", "redis", "web", "worker", "scheduler"])
def test_every_lasting_service_is_checked_and_started_again(name):
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES[name]["restart"] == "unless-stopped"


def test_migrations_run_once_and_before_everything_else():
    assert SERVICES["migrate"]["restart"] == "no"
    for name in ("web", "worker", "scheduler"):
        assert SERVICES[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
        assert SERVICES[name]["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_all_our_services_run_one_image_with_one_configuration():
    shared = SERVICES["migrate"]["environment"]
    for name in OURS:
        assert SERVICES[name]["image"] == "spinecut"
        assert shared.items() <= SERVICES[name]["environment"].items()
        assert "env_file" not in SERVICES[name]


def test_images_are_pinned_and_secrets_are_not_in_the_file():
    for name in ("postgres", "redis"):
        assert re.search(r":\d+\.\d+\.?\d*", SERVICES[name]["image"])
    text = (ROOT / "docker-compose.yml").read_text()
    for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "ALLOWED_HOSTS"):
        assert f"${{{name}:?" in text, f"{name} has a default"


def test_broker_and_cache_are_different_databases():
    environment = SERVICES["web"]["environment"]
    assert environment["REDIS_URL"] != environment["CACHE_URL"]


def test_the_stop_of_a_service_waits_for_the_work_in_hand():
    for name in ("web", "worker", "scheduler"):
        assert SERVICES[name]["stop_grace_period"] == "30s"


def test_every_variable_of_the_file_is_documented():
    documented = (ROOT / "docs" / "configuration.md").read_text() + (ROOT / "docs" / "deployment.md").read_text()
    used = variables((ROOT / "docker-compose.yml").read_text())
    used |= {name for service in OURS for name in SERVICES[service]["environment"]}
    assert {name for name in used if f"`{name}`" not in documented} == set()


def test_every_variable_that_the_program_reads_is_documented():
    documented = (ROOT / "docs" / "configuration.md").read_text()
    read = set()
    for path in (ROOT / "apps" / "config").glob("*.py"):
        read |= set(re.findall(r"env_(?:str|bool|int|float|list)\(\s*['\"]([A-Z_]+)['\"]", path.read_text()))
    assert {name for name in read if f"`{name}`" not in documented} == set()


def test_the_image_is_built_from_the_hashed_lock_and_does_not_run_as_root():
    text = (ROOT / "Dockerfile").read_text()
    assert "--require-hashes -r requirements.txt" in text
    assert re.search(r"^USER spinecut$", text, re.M)
    assert "OPENBLAS_NUM_THREADS=1" in text


# The same processes natively ----------------------------------------------------------------------------------------
def filled_in(value, given):
    """A value of the compose file after the variables of the operator are put in."""

    def replace(match):
        name, default = match[1], match[2] or ""
        return given.get(name, default.removeprefix(":-") if default.startswith(":-") else "")

    return re.sub(r"\$\{([A-Z_]+)(:[-?][^}]*)?\}", replace, str(value))


def natively(test):
    """One process of a parallel test run has the deployment; a second one would start all of it again."""
    return pytest.mark.worker(pytest.mark.xdist_group("deployment")(test))


class Deployment:
    """migrate, web, worker and scheduler as the file starts them, with the test's own two servers underneath."""

    def __init__(self, folder, services):
        self.folder = folder
        self.port = free_port()
        self.running = {}
        self.given = {"SECRET_KEY": GOOD_KEY, "ALLOWED_HOSTS": "spinecut.example.com,127.0.0.1", "WEB_WORKERS": "1"}
        self.replaced = {
            "DATABASE_URL": services["database_url"],
            "REDIS_URL": f"{services['redis_url']}/2",
            "CACHE_URL": f"{services['redis_url']}/3",
            "SPINECUT_VAR_DIR": str(folder / "var"),
            "STATIC_ROOT": str(folder / "static"),
            "WEB_BIND": f"127.0.0.1:{self.port}",
        }

    def environment(self, name):
        own = {key: filled_in(value, self.given) for key, value in SERVICES[name]["environment"].items()}
        return {"PATH": f"{BIN}:{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1", **own, **self.replaced}

    def run_once(self, command, name="migrate"):
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment(name), capture_output=True, text=True, check=False, timeout=180
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self, name):
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                SERVICES[name]["command"],
                cwd=ROOT,
                env=self.environment(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def ask(self, path):
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, headers={"X-Forwarded-Proto": "https"})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError:
            return 0, b""

    def wait_for(self, path, status=200, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            answer = self.ask(path)
            if answer[0] == status:
                return answer[1]
            time.sleep(0.3)
        logs = "\n".join(f"--- {name}\n{self.log(name)[-3000:]}" for name in self.running)
        raise AssertionError(f"{path} answered {answer}\n{logs}")

    def stop(self):
        for process in self.running.values():
            process.terminate()
        for name, process in self.running.items():
            try:
                process.wait(30)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            assert process.returncode in (0, -signal.SIGTERM), f"{name} ended with {process.returncode}"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory, live_services):
    """The whole deployment on a database of its own."""
    import psycopg

    admin_url = live_services.database_url.replace("postgres://", "postgresql://")
    name = f"deployment_{os.getpid()}"
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    database_url = f"{live_services.database_url.rsplit('/', 1)[0]}/{name}"
    running = Deployment(
        tmp_path_factory.mktemp("deployment"), {"database_url": database_url, "redis_url": live_services.redis_url}
    )
    running.run_once(["python", "manage.py", "collectstatic", "--noinput", "--verbosity", "0"])
    running.run_once(SERVICES["migrate"]["command"])
    for service in ("web", "worker", "scheduler"):
        running.start(service)
    yield running
    running.stop()
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@natively
def test_the_processes_of_the_file_become_ready_with_its_environment(deployment):
    deployment.wait_for("/health/live")
    parts = json.loads(deployment.wait_for("/health/ready"))["parts"]
    assert set(parts.values()) == {"ok"}


@natively
def test_the_health_checks_of_the_file_pass_natively(deployment):
    deployment.wait_for("/health/ready")
    for name in ("web", "scheduler"):
        kind, *command = SERVICES[name]["healthcheck"]["test"]
        assert kind == "CMD"
        deployment.run_once(command, name)
    kind, command = SERVICES["worker"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    deployment.run_once(["sh", "-c", command.replace("$$HOSTNAME", os.uname().nodename)], "worker")


@natively
def test_an_unknown_host_name_and_plain_http_are_not_served(deployment):
    deployment.wait_for("/health/live")
    url = f"http://127.0.0.1:{deployment.port}/accounts/login/"
    for headers, status in (({"Host": "elsewhere.example.com"}, 400), ({}, 301)):
        opener = urllib.request.build_opener(_NoRedirect())
        try:
            code = opener.open(urllib.request.Request(url, headers=headers), timeout=5).status
        except urllib.error.HTTPError as error:
            code = error.code
        assert code == status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


@natively
def test_every_log_line_of_web_is_json(deployment):
    deployment.wait_for("/health/live")
    lines = [line for line in deployment.log("web").splitlines() if line.strip()]
    assert lines
    for line in lines:
        assert isinstance(json.loads(line), dict), line
