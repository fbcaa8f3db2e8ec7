"""The two addresses that supervisors and load balancers ask."""

import re
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from apps.analyses.models import SweepBeat
from apps.web.views import health

pytestmark = pytest.mark.django_db


@pytest.fixture
def swept():
    SweepBeat.objects.update_or_create(name="sweep", defaults={"at": timezone.now()})


def test_a_live_process_says_so_without_sign_in(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = client.get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_complete_installation_is_ready(client, swept):
    answer = client.get("/health/ready")
    assert answer.status_code == 200
    parts = answer.json()["parts"]
    assert {parts[name] for name in ("database", "migrations", "storage", "sweep")} == {"ok"}
    assert "no-cache" in answer["Cache-Control"]


def test_without_a_sweep_of_the_last_minute_it_is_not_ready(client, swept):
    SweepBeat.objects.update(at=timezone.now() - timedelta(seconds=600))
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert re.fullmatch(r"the sweep last ran 60\d s ago", answer.json()["parts"]["sweep"])


def test_before_the_first_sweep_it_is_not_ready(client):
    SweepBeat.objects.all().delete()
    assert client.get("/health/ready").json()["parts"]["sweep"] == "the sweep has not run yet"


def test_a_database_that_is_away_is_named_without_its_address(client, swept, monkeypatch):
    def away():
        raise OperationalError("connection to server at 10.0.0.7, port 5432 failed")

    monkeypatch.setitem(health.REQUIRED, "database", away)
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["parts"]["database"] == "failed"
    assert b"10.0.0.7" not in answer.content


def test_a_full_or_read_only_storage_is_not_ready(client, swept, monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(health.REQUIRED, "storage", full)
    assert client.get("/health/ready").status_code == 503


def test_redis_away_is_degraded_and_still_ready(client, swept, settings, own_redis):
    settings.REDIS_URL = own_redis.url
    assert client.get("/health/ready").json()["parts"]["redis"] == "ok"
    own_redis.stop()
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["status"], answer.json()["parts"]["redis"]) == (200, "degraded", "away")


def test_health_is_asked_with_get_only(client):
    assert client.post("/health/live").status_code == 405
