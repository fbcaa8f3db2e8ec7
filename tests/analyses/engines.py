"""Small engines for the tests of the queue, named by RUN_ENGINES_MODULE: they compute slowly, split, or misbehave."""

import os
import signal
import time
from typing import Any

import numpy as np

from apps.analyses.registry import Document, Engine, Progress
from apps.engine.errors import InputError


def check(document: Document) -> None:
    if document["steps"] < 1:
        raise InputError("steps", document["steps"], "at least 1")


def count_slowly(document: Document, progress: Progress) -> Document:
    """Draw `steps` times with a pause after each: the sum, its square root, and a tenth."""
    generator = np.random.Generator(np.random.PCG64(document["seed"]))
    total = 0.0
    for step in range(document["steps"]):
        progress("counting", step, document["steps"])
        total += float(generator.standard_normal(document["draws"]).sum())
        time.sleep(document.get("pause_s", 0.05))
    return {"sum": total, "root": abs(total) ** 0.5, "tenth": 0.1, "numpy_version": np.__version__, "names": ["é", "z"]}


def misbehave(document: Document, progress: Progress) -> Document:
    """Do to the process what `deed` says."""
    deed = document["deed"]
    progress(deed, 0, 1)
    if deed == "refuse":
        raise InputError("discount_rate", 7, "a fraction from 0 to 1")
    if deed == "crash":
        raise LookupError("secret detail")
    if deed == "nan":
        return {"value": float("nan")}
    if deed == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if deed == "allocate":
        return {"n": len(bytearray(8 * 2**30))}
    if deed == "grow":
        held: list[Any] = []
        for step in range(2000):
            held.append(np.ones(2**18))  # 2 MB
            progress("growing", step, 2000)
            time.sleep(0.005)
    deadline = time.monotonic() + document.get("pause_s", 60)
    while time.monotonic() < deadline:  # deaf: no progress call, so no chance to stop it politely
        np.ones(1000).sum()
    return {"value": 1}


def square_chunk(document: Document, index: int, progress: Progress) -> Document:
    """Squares and roots of the chunk's own points, with a pause as if they were hard."""
    values = []
    for point in range(
        index * document["chunk_points"], min((index + 1) * document["chunk_points"], document["points"])
    ):
        values.append([point**2, point**0.5 / 3])
    if index == document.get("fails_at"):
        raise InputError("points", index, "elsewhere")
    if index == document.get("kills_at"):
        os.kill(os.getpid(), signal.SIGKILL)
    deadline = time.monotonic() + document.get("pause_s", 0.05)
    while time.monotonic() < deadline:
        progress("squaring", len(values), len(values))
        time.sleep(0.01)
    progress("squaring", len(values), len(values))
    return {"values": values}


def squares(document: Document, progress: Progress) -> Document:
    parts = [square_chunk(document, index, progress) for index in range(n_chunks(document))]
    return merge(document, parts)


def n_chunks(document: Document) -> int:
    return -(-int(document["points"]) // int(document["chunk_points"]))


def merge(document: Document, parts: list[Document]) -> Document:
    return {"values": [value for part in parts for value in part["values"]]}


ENGINES = {
    "test_count": Engine(check=check, compute=count_slowly, total=lambda document: int(document["steps"])),
    "test_deed": Engine(check=lambda document: None, compute=misbehave, total=lambda document: 1),
    "test_split": Engine(
        check=lambda document: None,
        compute=squares,
        total=lambda document: int(document["points"]),
        n_chunks=n_chunks,
        compute_chunk=square_chunk,
        merge=merge,
    ),
}
