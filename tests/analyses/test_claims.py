"""Claims and numbers when several processes act at the same moment, on both databases."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.analyses.processes import Agent, Installation, Process
from tests.analyses.test_queue import paused

pytestmark = pytest.mark.worker


@pytest.fixture(scope="session")
def agents(installation: Installation) -> list[Agent]:
    """Two processes that act in the installation beside its workers."""
    return [installation.start_agent(), installation.start_agent()]


@pytest.fixture
def still(stand: Installation, workers: list[Process]) -> Iterator[Installation]:
    """The installation with its workers stopped, so that nobody else claims."""
    with paused(stand, workers):
        yield stand
        stand.act("cancel_everything")


def at_once(agents: list[Agent], name: str, **values: Any) -> list[Any]:
    """The answers of all agents to one act, begun at the same moment."""
    moment = time.time() + 0.3
    with ThreadPoolExecutor() as pool:
        orders = [pool.submit(agent.act, name, at=moment, **values) for agent in agents]
        return [order.result() for order in orders]


def test_of_two_processes_that_claim_one_run_one_wins(
    still: Installation, agents: list[Agent], assessment: str
) -> None:
    for _number in range(5):
        run_id = still.act("request", assessment=assessment)[0]
        assert sorted(at_once(agents, "claim", run_id=run_id), key=str) == [1, None]
        still.act("lapse", run_id=run_id)
        assert sorted(at_once(agents, "claim", run_id=run_id), key=str) == [2, None]
        still.act("cancel", run_id=run_id)
        still.act("lapse", run_id=run_id)
        still.act("sweep")
        assert still.act("look", run_ids=[run_id])[0]["state"] == "cancelled"


def test_of_eight_threads_that_claim_one_run_one_wins(still: Installation, assessment: str) -> None:
    run_id = still.act("request", assessment=assessment)[0]
    assert still.act("claim_in_threads", run_id=run_id, n=8) == [1]


def test_a_client_gets_two_places_however_many_claim_at_once(
    still: Installation, agents: list[Agent], assessment: str
) -> None:
    run_ids = still.act("request", assessment=assessment, n=4)
    moment = time.time() + 0.3
    with ThreadPoolExecutor() as pool:
        orders = [pool.submit(agents[i % 2].act, "claim", run_id=run_id, at=moment) for i, run_id in enumerate(run_ids)]
        given = [order.result() for order in orders]
    assert sum(attempt is not None for attempt in given) == 2
    assert still.act("running_by_client") == {assessment: 2}


def test_numbers_count_up_without_gap_or_double_from_two_processes(
    still: Installation, agents: list[Agent], assessment: str
) -> None:
    numbers = at_once(agents, "request_at", n=8, assessment=assessment)
    assert sorted(numbers[0] + numbers[1]) == list(range(1, 17))


def test_equal_inputs_requested_at_once_give_one_run(still: Installation, agents: list[Agent], assessment: str) -> None:
    numbers = at_once(agents, "request_at", n=3, assessment=assessment, equal=True)
    assert numbers == [[1, 1, 1], [1, 1, 1]]
