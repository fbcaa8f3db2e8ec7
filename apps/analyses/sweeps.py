"""Sweeps: the cost at every combination of some inputs' values, computed a chunk of points at a time."""

from math import prod
from typing import Any

from apps.analyses.registry import Document, Progress
from apps.engine import tco
from apps.engine.errors import InputError

SCHEMA = "spinecut.tco-sweep/1"
RESULTS_SCHEMA = "spinecut.tco-sweep-results/1"
MOST_POINTS = 200_000
LARGEST_CHUNK = 5_000  # points; a chunk has to fit a heartbeat


def check_document(document: Document) -> None:
    """Raise `InputError` if the engine would refuse the base inputs or an axis, or if there are too many points."""
    axes = document["axes"]
    if not isinstance(axes, list) or not axes:
        raise InputError("axes", axes, "a list of one axis or more")
    keys = [axis.get("input") for axis in axes]
    if len(set(keys)) < len(keys):
        raise InputError("axes", ", ".join(map(str, keys)), "different inputs")
    if not 1 <= int(document["chunk_points"]) <= LARGEST_CHUNK:
        raise InputError("chunk_points", document["chunk_points"], f"a whole number from 1 to {LARGEST_CHUNK}")
    tco.check_document(document["base"])
    tco.sweep_points(document["base"], axes, 0, 0)
    if n_points(document) > MOST_POINTS:
        raise InputError("points", n_points(document), f"at most {MOST_POINTS}; use fewer or shorter axes")


def n_points(document: Document) -> int:
    return prod(len(axis["values"]) for axis in document["axes"])


def n_chunks(document: Document) -> int:
    return -(-n_points(document) // int(document["chunk_points"]))


def compute(document: Document, progress: Progress) -> Document:
    """The whole sweep in one process: the same bytes as all its chunks, merged."""
    done = 0
    parts = []
    for index in range(n_chunks(document)):
        progress("points", done, n_points(document))
        parts.append(compute_chunk(document, index, lambda stage, done, total: None))
        done += len(parts[-1]["nominal_usd"])
    progress("points", done, n_points(document))
    return merge(document, parts)


def compute_chunk(document: Document, index: int, progress: Progress) -> Document:
    """The points of one chunk: for each, one number an option in the order of the options' keys in the document."""
    first = index * int(document["chunk_points"])
    last = min(first + int(document["chunk_points"]), n_points(document))
    progress("points", 0, last - first)
    columns = tco.sweep_points(document["base"], document["axes"], first, last)
    progress("points", last - first, last - first)
    return {name: [list(point) for point in zip(*rows, strict=True)] for name, rows in columns.items()}


def merge(document: Document, parts: list[Document]) -> Document:
    """The chunks in their order, as one answer."""
    result: dict[str, Any] = {
        "schema": RESULTS_SCHEMA,
        "axes": document["axes"],
        "options": [option["key"] for option in document["base"]["options"]],
    }
    for name in ("nominal_usd", "npv_usd"):
        result[name] = [point for part in parts for point in part[name]]
    return result
