"""Cost runs and sweeps through real workers: the bytes of the engine, on both databases, with one worker or two."""

import json
from typing import Any

import pytest

from apps.analyses import sweeps
from apps.analyses.canonical import canonical_json, results_sha256, sha256_of
from apps.engine import tco
from apps.engine.errors import InputError
from tests.analyses.processes import Installation, Process
from tests.analyses.test_queue import no_progress
from tests.engine.documents import three_options


def frozen(document: dict[str, Any]) -> dict[str, Any]:
    """The document as a worker reads it."""
    return json.loads(canonical_json(document))


def axes(n: int) -> list[dict[str, Any]]:
    """n times 40 points over the first two inputs that have a range."""
    inputs = three_options()["inputs"]
    keys = [key for key, entry in inputs.items() if entry["low"] is not None][:2]
    low, high = ([float(inputs[key][end]) for key in keys] for end in ("low", "high"))
    counts = (n, 40)
    return [
        {"input": key, "values": [repr(low[i] + (high[i] - low[i]) * step / counts[i]) for step in range(counts[i])]}
        for i, key in enumerate(keys)
    ]


@pytest.mark.worker
def test_a_cost_run_has_the_bytes_of_the_engine_called_here(stand: Installation, assessment: str) -> None:
    document = three_options(draws=1024)
    run_id = stand.act("request_document", assessment=assessment, kind="tco", document=document)
    run = stand.wait_for_end(run_id, seconds=40)[0]
    assert run["state"] == "succeeded", run["error"]
    results = tco.total_cost_of_ownership(frozen(document))
    assert run["results_json"] == canonical_json(results)
    assert run["results_sha256"] == results_sha256(results)
    assert run["inputs_sha256"] == sha256_of(canonical_json(document))


@pytest.mark.worker
def test_a_sweep_of_thousands_of_points_over_two_workers_equals_one_process(
    stand: Installation, workers: list[Process], assessment: str
) -> None:
    document = three_options()
    run_id = stand.act("request_sweep", assessment=assessment, axes=axes(100), base=document)
    run = stand.wait_for_end(run_id, seconds=60)[0]
    assert run["state"] == "succeeded", run["error"]
    assert (run["n_chunks"], run["progress_total"]) == (8, 4000)
    whole = {"schema": sweeps.SCHEMA, "base": frozen(document), "axes": axes(100), "chunk_points": 500}
    assert run["results_json"] == canonical_json(sweeps.compute(whole, no_progress))


def test_chunks_of_any_size_merge_to_the_same_numbers() -> None:
    whole = {"schema": sweeps.SCHEMA, "base": frozen(three_options()), "axes": axes(7)}
    texts = {canonical_json(sweeps.compute({**whole, "chunk_points": n}, no_progress)) for n in (1, 13, 100, 280, 1000)}
    assert len(texts) == 1


def test_a_sweep_has_one_row_a_point_and_one_number_an_option() -> None:
    document = {"schema": sweeps.SCHEMA, "base": frozen(three_options()), "axes": axes(2), "chunk_points": 30}
    sweeps.check_document(document)
    results = sweeps.compute(document, no_progress)
    assert len(results["nominal_usd"]) == sweeps.n_points(document) == 80
    assert {len(point) for point in results["npv_usd"]} == {len(results["options"])} == {3}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"axes": []}, "axes is .*; it must be a list of one axis or more"),
        ({"axes": [{"input": "no_such", "values": ["1"]}]}, "the key of an input"),
        ({"axes": axes(2)[:1] * 2}, "must be different inputs"),
        ({"chunk_points": 0}, "chunk_points is 0"),
        ({"axes": axes(20_000)}, "points is 800000; it must be at most 200000"),
    ],
)
def test_a_sweep_that_cannot_be_computed_is_refused(change: dict[str, Any], text: str) -> None:
    document = {"schema": sweeps.SCHEMA, "base": frozen(three_options()), "axes": axes(2), "chunk_points": 500}
    with pytest.raises(InputError, match=text):
        sweeps.check_document(document | change)
