"""Runs under real worker processes, on both kinds of installation: what reliability asks as Q-T3 to Q-T9."""

import contextlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.analyses.canonical import canonical_json
from tests.analyses.engines import count_slowly, squares
from tests.analyses.processes import Installation, Process, until

pytestmark = pytest.mark.worker


def no_progress(stage: str, done: int, total: int) -> None:
    """For engines called here, in the test's own process."""


@contextlib.contextmanager
def paused(stand: Installation, workers: list[Process]) -> Iterator[None]:
    """Stop the processes, but not in the middle of a transaction, as that would stop everybody."""
    for _number in range(50):
        for worker in workers:
            worker.signal_group(signal.SIGSTOP)
        if stand.act("nothing_is_locked"):
            break
        for worker in workers:
            worker.signal_group(signal.SIGCONT)
        time.sleep(0.1)
    try:
        yield
    finally:
        for worker in workers:
            worker.signal_group(signal.SIGCONT)


def messages_of(stand: Installation) -> Path:
    return stand.folder / "var" / "queue" / "messages"


def redis_of(stand: Installation) -> Any:
    import redis

    assert stand.redis is not None
    return redis.Redis.from_url(f"{stand.redis.url}/0")


def lose_all_messages(stand: Installation) -> None:
    if stand.redis is not None:
        with redis_of(stand) as client:
            client.flushall()
    else:
        shutil.rmtree(messages_of(stand))


@contextlib.contextmanager
def broker_away(stand: Installation) -> Iterator[None]:
    """Redis stopped, or a queue folder that cannot be written to."""
    if stand.redis is not None:
        stand.redis.stop()
        yield
        stand.redis.start()
        return
    folder = messages_of(stand)
    hidden = folder.with_name("hidden")
    folder.rename(hidden)
    folder.write_text("not a folder")
    yield
    folder.unlink()
    hidden.rename(folder)


def put_rubbish(stand: Installation) -> None:
    """Messages for rows and tasks that do not exist; as files also an empty one, and halves of one."""
    stand.act("send_nonsense")
    if stand.redis is not None:  # Redis takes a message whole or not at all
        return
    for number, text in enumerate(["", '{"body": "', "[]", '{"body": "e30=", "properties": {}}']):
        (messages_of(stand) / f"{number}_rubbish.celery.msg").write_text(text)


def worker_of(workers: list[Process], run: dict[str, Any]) -> Process:
    return next(worker for worker in workers if f"{run['worker']} ready." in worker.log())


def started_times(stand: Installation, run_id: str) -> int:
    lines = [json.loads(line) for line in stand.logs().splitlines() if line.startswith("{")]
    return sum(line.get("event") == "run.started" and line.get("run_id") == run_id for line in lines)


def mails_of(stand: Installation, assessment: str) -> list[str]:
    """Mails to the owner of the assessment's client; those of another test may come in late."""
    address = stand.act("owner_address", assessment=assessment)
    return [mail for mail in stand.mail.mails if f"To: {address}" in mail]


def test_a_run_goes_from_queued_to_succeeded_with_real_progress(stand: Installation, assessment: str) -> None:
    run_id = stand.act("request", assessment=assessment, steps=30, pause_s=0.05)[0]
    seen: list[int] = []

    def over() -> bool:
        run = stand.act("look", run_ids=[run_id])[0]
        if run["state"] == "running" and run["stage"] == "counting":
            seen.append(run["progress_done"])
        return run["over"]

    until(over, seconds=30, tell=stand.tell)
    run = stand.act("look", run_ids=[run_id])[0]
    assert run["state"] == "succeeded"
    assert (run["attempt"], run["progress_done"], run["progress_total"]) == (1, 30, 30)
    assert seen == sorted(seen), "progress never goes back"
    assert len(set(seen)) >= 3, f"progress was shown while it computed: {seen}"
    assert len(set(seen)) <= 9, "written at most every 250 ms"
    assert stand.act("audit_actions", run_id=run_id) == ["run.requested", "run.succeeded"]


def test_results_are_the_bytes_that_the_engine_gives_in_any_process(stand: Installation, assessment: str) -> None:
    document = {"steps": 2, "draws": 1000, "seed": 11, "pause_s": 0}
    run_id = stand.act("request", assessment=assessment, equal=True, **document)[0]
    run = stand.wait_for_end(run_id)[0]
    assert run["inputs_json"] == canonical_json(document)
    assert run["results_json"] == canonical_json(count_slowly(document, no_progress))
    other = stand.act("request", assessment=assessment, equal=True, **{**document, "seed": 12})[0]
    assert stand.wait_for_end(other)[0]["results_json"] != run["results_json"]


def test_q_t3_all_runs_finish_once_after_every_message_is_lost(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    with paused(stand, workers):
        run_ids = stand.act("request", assessment=assessment, n=20, steps=1, pause_s=0.02)
        lose_all_messages(stand)
    ended = stand.wait_for_end(*run_ids, seconds=40)
    assert {run["state"] for run in ended} == {"succeeded"}
    assert {run["attempt"] for run in ended} == {1}
    assert all(len(stand.act("audit_actions", run_id=run_id)) == 2 for run_id in run_ids)


def test_q_t4_a_request_succeeds_while_the_broker_is_away(stand: Installation, assessment: str) -> None:
    with broker_away(stand):
        answer = stand.act("request_timed", assessment=assessment, steps=1)
        assert answer["seconds"] < 2
        run = stand.act("look", run_ids=[answer["run"]])[0]
        assert (run["state"], run["sent"]) == ("queued", False)
        time.sleep(2)
        assert stand.act("sweep_age_s") < 2.5, "the sweep goes on without a broker"
    assert stand.wait_for_end(answer["run"], seconds=20)[0]["state"] == "succeeded"


def test_q_t5_fifty_wake_ups_start_a_run_once(stand: Installation, assessment: str) -> None:
    run_id = stand.act("request", assessment=assessment, steps=6, pause_s=0.1)[0]
    stand.act("wake_many", run_id=run_id, n=50)
    run = stand.wait_for_end(run_id)[0]
    assert (run["state"], run["attempt"]) == ("succeeded", 1)
    until(lambda: mails_of(stand, assessment), seconds=10, tell=stand.tell)
    later = stand.act("request", assessment=assessment, steps=1)[0]  # behind the fifty
    stand.wait_for_end(later, seconds=30)
    assert started_times(stand, run_id) == 1
    assert stand.act("audit_actions", run_id=run_id).count("run.succeeded") == 1
    assert sum(f"run-ended:{run_id}" == message["key"] for message in stand.act("outbox")) == 1
    until(lambda: all(message["sent"] for message in stand.act("outbox")), seconds=10, tell=stand.tell)
    assert len(mails_of(stand, assessment)) == 2, "one for each of the two runs"


def test_q_t6_a_paused_worker_writes_nothing_once_another_has_taken_over(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    run_id = stand.act("request", assessment=assessment, steps=30, pause_s=0.1)[0]
    first = stand.wait_for_state(run_id, "running", stage="counting")
    holder = worker_of(workers, first)
    with paused(stand, [holder]):
        ended = stand.wait_for_end(run_id, seconds=30)[0]
        assert (ended["state"], ended["attempt"]) == ("succeeded", 2)
        assert ended["worker"] != first["worker"]
    until(lambda: '"event": "run.superseded"' in holder.log(), seconds=15, tell=stand.tell)
    assert stand.act("look", run_ids=[run_id])[0] == ended
    assert stand.act("audit_actions", run_id=run_id).count("run.succeeded") == 1


def test_q_t7_a_run_cancelled_at_any_moment_never_becomes_succeeded(stand: Installation, assessment: str) -> None:
    moments = random.Random(20261130)
    for _number in range(20):
        run_id = stand.act("request", assessment=assessment, steps=12, pause_s=0.05)[0]
        time.sleep(moments.uniform(0, 0.9))
        answer = stand.act("cancel", run_id=run_id)
        asked_at = time.monotonic()
        ended = stand.wait_for_end(run_id, seconds=10)[0]
        assert time.monotonic() - asked_at < 10
        assert ended["state"] == ("succeeded" if answer == "succeeded" else "cancelled")
        assert bool(ended["results_json"]) == (ended["state"] == "succeeded")


def test_q_t7_an_engine_that_hears_nothing_is_stopped_within_ten_seconds(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    run_id = stand.act("request", assessment=assessment, kind="test_deed", deed="deaf")[0]
    holder = worker_of(workers, stand.wait_for_state(run_id, "running", stage="deaf"))
    children = holder.children()
    stand.act("cancel", run_id=run_id)
    assert stand.wait_for_end(run_id, seconds=10)[0]["state"] == "cancelled"
    until(lambda: not set(children) & set(holder.children()), seconds=3, tell=stand.tell)
    run_ids = stand.act("request", assessment=assessment, n=2, steps=10)
    assert {run["state"] for run in stand.wait_for_end(*run_ids)} == {"succeeded"}


def test_q_t7_deleting_a_running_run_frees_its_worker(stand: Installation, assessment: str) -> None:
    run_ids = stand.act("request", assessment=assessment, n=2, steps=200, pause_s=0.1)
    for run_id in run_ids:
        stand.wait_for_state(run_id, "running", stage="counting")
        stand.act("delete", run_id=run_id)
    assert stand.act("look", run_ids=run_ids) == []
    actions = stand.act("audit_actions", run_id=run_ids[0])
    assert actions == ["run.requested", "run.cancelled", "run.deleted"]
    after = stand.act("request", assessment=assessment, n=2, steps=1)
    assert {run["state"] for run in stand.wait_for_end(*after, seconds=10)} == {"succeeded"}
    assert stand.act("look", run_ids=run_ids) == []


def test_q_t8_a_run_that_kills_its_process_fails_after_five_attempts(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    run_id = stand.act("request", assessment=assessment, kind="test_deed", deed="kill")[0]
    ended = stand.wait_for_end(run_id, seconds=60)[0]
    assert (ended["state"], ended["attempt"]) == ("failed", 5)
    assert "lost 5 times" in ended["error"]
    assert json.loads(ended["inputs_json"])["deed"] == "kill"
    assert all(worker.process.poll() is None for worker in workers)
    after = stand.act("request", assessment=assessment, n=2, steps=1)
    assert {run["state"] for run in stand.wait_for_end(*after, seconds=15)} == {"succeeded"}


def test_q_t9_a_rolled_back_request_leaves_no_run_and_a_slow_one_is_found(stand: Installation, assessment: str) -> None:
    assert stand.act("request_and_roll_back", assessment=assessment) == 0
    run_id = stand.act("request_in_slow_transaction", assessment=assessment, seconds=1.5)
    assert stand.wait_for_end(run_id)[0]["state"] == "succeeded"
    assert "does not exist" not in stand.logs()
    assert "DoesNotExist" not in stand.logs()


@pytest.mark.parametrize(
    ("deed", "text"),
    [
        ("refuse", "discount_rate is 7; it must be a fraction from 0 to 1."),
        ("crash", "Give reference"),
        ("nan", "Give reference"),
        ("allocate", "more than the limit of 512 MB"),
    ],
)
def test_a_failed_run_says_why_and_is_not_tried_again(
    stand: Installation, assessment: str, deed: str, text: str
) -> None:
    run_id = stand.act("request", assessment=assessment, kind="test_deed", deed=deed)[0]
    ended = stand.wait_for_end(run_id)[0]
    assert (ended["state"], ended["attempt"], ended["results_json"]) == ("failed", 1, "")
    assert text in ended["error"]
    assert "secret" not in ended["error"]
    if deed == "crash":
        reference = ended["error"].split("reference ")[1].split(" ")[0]
        assert reference in stand.logs(), "the log has the trace under the reference"


def test_a_run_over_its_time_or_memory_fails_with_the_limit(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    with paused(stand, workers):
        limited = stand.start_worker(RUN_SOFT_TIME_LIMIT_S="2", RUN_HARD_TIME_LIMIT_S="20", RUN_CHILD_MEMORY_MB="300")
        try:
            slow, deaf, grown = (
                stand.act("request", assessment=assessment, kind=kind, **document)[0]
                for kind, document in (
                    ("test_count", {"steps": 500, "pause_s": 0.05}),
                    ("test_deed", {"deed": "deaf"}),
                    ("test_deed", {"deed": "grow"}),
                )
            )
            ended = stand.wait_for_end(slow, deaf, grown, seconds=40)
        finally:
            stand.stop(limited)
    assert [run["state"] for run in ended] == ["failed"] * 3
    assert [run["attempt"] for run in ended] == [1] * 3
    assert "limit of 2 seconds" in ended[0]["error"]
    assert "limit of 2 seconds" in ended[1]["error"]
    assert "limit of 300 MB" in ended[2]["error"]


def test_a_killed_worker_is_replaced_by_another_and_the_answer_is_the_same(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    document = {"steps": 20, "draws": 100, "seed": 5, "pause_s": 0.1}
    run_id = stand.act("request", assessment=assessment, equal=True, **document)[0]
    holder = worker_of(workers, stand.wait_for_state(run_id, "running", stage="counting"))
    os.kill(holder.children()[0], signal.SIGKILL)
    ended = stand.wait_for_end(run_id, seconds=30)[0]
    assert (ended["state"], ended["attempt"]) == ("succeeded", 2)
    assert ended["results_json"] == canonical_json(count_slowly({**document, "pause_s": 0}, no_progress))


def test_split_runs_give_the_bytes_of_one_worker(stand: Installation, workers: list[Process], assessment: str) -> None:
    document = {"points": 4000, "chunk_points": 500, "pause_s": 0.3}
    run_id = stand.act("request", assessment=assessment, kind="test_split", **document)[0]
    ended = stand.wait_for_end(run_id, seconds=40)[0]
    chunks = stand.act("look_at_chunks", run_id=run_id)
    assert ended["state"] == "succeeded"
    assert [chunk["state"] for chunk in chunks] == ["succeeded"] * 8
    assert len({chunk["worker"] for chunk in chunks}) == 2, "both workers took part"
    assert ended["results_json"] == canonical_json(squares({**document, "pause_s": 0}, no_progress))
    assert ended["progress_done"] == ended["progress_total"] == 4000
    assert stand.act("audit_actions", run_id=run_id).count("run.succeeded") == 1


def test_a_split_run_survives_the_death_of_a_worker_and_ends_with_the_reason_of_a_chunk(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    document = {"points": 60, "chunk_points": 10, "pause_s": 0.5}
    run_id = stand.act("request", assessment=assessment, kind="test_split", **document)[0]
    stand.wait_for_state(run_id, "running", stage="squaring")
    os.kill(workers[0].children()[0], signal.SIGKILL)
    failing = stand.act("request", assessment=assessment, kind="test_split", fails_at=1, **document)[0]
    cancelled = stand.act("request", assessment=assessment, kind="test_split", **{**document, "points": 600})[0]
    ended = stand.wait_for_end(run_id, failing, seconds=40)
    assert ended[0]["results_json"] == canonical_json(squares({**document, "pause_s": 0}, no_progress))
    assert (ended[1]["state"], ended[1]["error"]) == ("failed", "points is 1; it must be elsewhere.")
    stand.wait_for_state(cancelled, "running")
    assert stand.act("cancel", run_id=cancelled) == "cancelled"
    until(
        lambda: not {"queued", "running"} & {chunk["state"] for chunk in stand.act("look_at_chunks", run_id=cancelled)},
        seconds=10,
        tell=stand.tell,
    )


def test_one_client_cannot_take_every_slot_while_another_waits(stand: Installation, assessment: str) -> None:
    other = stand.act("make_client", name=f"other of {assessment}")
    many = stand.act("request", assessment=assessment, n=12, steps=8, pause_s=0.1)
    until(lambda: stand.act("running_by_client").get(assessment) == 2, seconds=10, tell=stand.tell)
    few = stand.act("request", assessment=other, n=2, steps=1)
    most = 0

    def over() -> bool:
        nonlocal most
        most = max(most, stand.act("running_by_client").get(assessment, 0))
        return all(run["over"] for run in stand.act("look", run_ids=few))

    until(over, seconds=20, tell=stand.tell)
    waiting = [run for run in stand.act("look", run_ids=many) if run["state"] == "queued"]
    assert len(waiting) >= 6, "the second client did not wait behind the first one's queue"
    assert most <= 2


def test_the_twenty_first_waiting_run_is_refused_with_the_reason(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    with paused(stand, workers):
        answer = stand.act("request_until_refused", assessment=assessment)
        assert answer["taken"] == 20
        assert "20 runs of this client are waiting" in answer["error"]
        other = stand.act("make_client", name=f"calm {assessment}")
        assert stand.act("request", assessment=other, steps=1), "other clients are not held up"
    stand.act("cancel_everything")


def test_the_outbox_is_delivered_once_by_many_at_the_same_moment(stand: Installation, assessment: str) -> None:
    second = stand.start_scheduler()
    try:
        run_ids = stand.act("request", assessment=assessment, n=6, steps=1, pause_s=0)
        stand.wait_for_end(*run_ids)
        until(lambda: len(mails_of(stand, assessment)) >= 6, seconds=10, tell=stand.tell)
        time.sleep(2.5)  # two more sweeps of both schedulers
        assert len(mails_of(stand, assessment)) == 6
        assert {message["attempts"] for message in stand.act("outbox")} == {1}
    finally:
        stand.stop(second)


def test_garbled_and_foreign_messages_hurt_no_worker(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    put_rubbish(stand)
    run_ids = stand.act("request", assessment=assessment, n=3, steps=1)
    assert {run["state"] for run in stand.wait_for_end(*run_ids)} == {"succeeded"}
    assert all(worker.process.poll() is None for worker in workers)
