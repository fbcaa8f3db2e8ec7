"""What a log line holds and what it never holds."""

import io
import json
import logging
import uuid

import pytest
import structlog

from apps.config import celery as queue
from apps.config.logging import HIDDEN, configure, without_tokens


@pytest.fixture
def lines():
    """Everything logged during the test, as parsed JSON."""
    configure({"level": "INFO"})
    handler = logging.getLogger().handlers[0]
    stream = io.StringIO()
    original = handler.setStream(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    handler.setStream(original)
    structlog.contextvars.clear_contextvars()


def test_every_record_is_one_line_of_json_whatever_is_in_it(lines):
    logging.getLogger("somewhere").warning("first\nsecond \u2028 %s", "third")
    structlog.get_logger("elsewhere").info("event", number=3)
    first, second = lines()
    assert first["event"] == "first\nsecond \u2028 third"
    assert (second["event"], second["number"], second["level"], second["logger"]) == ("event", 3, "info", "elsewhere")
    assert second["timestamp"].endswith("Z")


def test_secrets_and_prices_are_replaced_by_name(lines):
    structlog.get_logger("x").info("saved", password="p", api_token="t", unit_price_usd="1", nominal_usd=2, user="u")
    (line,) = lines()
    assert {name for name, value in line.items() if value == HIDDEN} == {
        "password",
        "api_token",
        "unit_price_usd",
        "nominal_usd",
    }
    assert line["user"] == "u"


def test_tokens_in_addresses_are_hidden_and_ids_are_not():
    run = uuid.uuid4()
    assert without_tokens(f"/assessments/{run}/tco/") == f"/assessments/{run}/tco/"
    assert without_tokens("/invitations/Zm9vYmFyYmF6cXV4MTIzNDU2/") == f"/invitations/{HIDDEN}/"
    assert without_tokens("Not Found: /accounts/password/reset/key/1-c8xk2a-0f1e2d3c4b5a69788796a5b4/").endswith(
        f"{HIDDEN}/"
    )


def test_a_task_logs_the_run_it_works_on(lines):
    run = uuid.uuid4()
    queue._bind_task(task_id="t1", args=[str(run)])
    structlog.get_logger("worker").info("working")
    queue._unbind_task()
    structlog.get_logger("worker").info("idle")
    working, idle = lines()
    assert (working["task_id"], working["run_id"]) == ("t1", str(run))
    assert "run_id" not in idle


@pytest.mark.django_db
def test_a_request_logs_its_id_its_user_and_the_ids_in_its_address(lines, client, django_user_model):
    user = django_user_model.objects.create_user(email="lead@example.com", password="a long enough password")
    client.force_login(user)
    missing = uuid.uuid4()
    client.get(f"/assessments/{missing}/nowhere-at-all/", headers={"X-Request-ID": "given-by-caller"})
    (line,) = [line for line in lines() if "Not Found" in line["event"]]
    assert (line["request_id"], line["user_id"]) == ("given-by-caller", str(user.pk))
