"""One installation of each sort for all queue tests, its workers kept warm."""

import contextlib
import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.analyses.processes import Installation, Process, RedisServer, until


def _on_server(database_url: str, command: str) -> None:
    """Carry out one command outside a transaction; a database of its own keeps two test processes apart."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(command)  # type: ignore[call-overload]


@contextlib.contextmanager
def _embedded() -> Iterator[Installation]:
    place = Installation("embedded")
    yield place
    place.close()


@contextlib.contextmanager
def _team(server_url: str) -> Iterator[Installation]:
    redis = RedisServer().start()
    database = f"queue_{os.getpid()}"
    _on_server(server_url, f'CREATE DATABASE "{database}"')
    place = Installation("team", redis=redis, database_url=urlsplit(server_url)._replace(path=f"/{database}").geturl())
    yield place
    place.close()
    _on_server(server_url, f'DROP DATABASE "{database}" WITH (FORCE)')
    redis.close()


@pytest.fixture(scope="session", params=["embedded", "team"])
def installation(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Database, broker and scheduler, without a worker."""
    opened = _team(request.getfixturevalue("live_services").database_url) if request.param == "team" else _embedded()
    with opened as place:
        place.start_scheduler()
        yield place


@pytest.fixture(scope="session")
def workers(installation: Installation) -> list[Process]:
    """Two worker processes of one slot each, started once."""
    started = [installation.start_worker(wait=False) for _number in range(2)]
    for worker in started:
        installation.wait_for_worker(worker)
    return started


@pytest.fixture
def stand(installation: Installation, workers: list[Process]) -> Iterator[Installation]:
    """The installation with two idle workers and nothing in its queue, before and after each test."""
    yield installation
    installation.act("cancel_everything")
    until(lambda: installation.act("everything_is_over"), seconds=30, tell=installation.tell)


@pytest.fixture
def assessment(installation: Installation, request: pytest.FixtureRequest) -> str:
    """The id of an assessment of a client of its own."""
    return installation.act("make_client", name=request.node.name[:80])
