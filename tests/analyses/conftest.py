"""One installation of each sort for all queue tests, its workers kept warm."""

from collections.abc import Iterator

import pytest

from tests.analyses.processes import Installation, Process, RedisServer, until


@pytest.fixture(scope="session", params=["embedded", "team"])
def installation(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Database, broker and scheduler, without a worker."""
    if request.param == "team":
        services = request.getfixturevalue("live_services")
        redis = RedisServer().start()
        database_url = services.new_database() if hasattr(services, "new_database") else services.database_url
        place = Installation("team", redis=redis, database_url=database_url)
    else:
        redis = None
        place = Installation("embedded")
    place.start_scheduler()
    yield place
    place.close()
    if redis is not None:
        redis.close()


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
