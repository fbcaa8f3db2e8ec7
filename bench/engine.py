"""Speed of the cost engine on one case: three options, 36 months, 60 lines each, most unit prices uncertain."""

import gc
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing import shared_memory
from typing import Any

import numpy as np

from apps.engine.document import parse_document
from apps.engine.figures import period_names
from apps.engine.tco import draw_totals, evaluate, summarise, total_cost_of_ownership
from bench.engine_case import document

KIB_PER_MIB = 1024


def _best(work: Callable[[], Any], repeats: int) -> float:
    """Return the shortest of a few runs, the one least disturbed by the rest of the machine. [s]"""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _case() -> dict[str, Any]:
    case = document()
    lines = [len(option["lines"]) for option in case["options"]]
    uncertain = sum(item.is_uncertain for item in parse_document(case).inputs.values())
    return {"options": len(lines), "lines": sum(lines), "uncertain_inputs": uncertain}


def _run(draws: int, repeats: int) -> dict[str, Any]:
    total_cost_of_ownership(document(draws=1024))  # imports scipy
    value = _best(lambda: total_cost_of_ownership(document(draws=draws)), repeats)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB
    return {"value": value, "unit": "s", "detail": {"draws": draws, "peak_mib": round(peak), **_case()}}


def tco_8192_draws() -> dict[str, Any]:
    """Return the time of a whole run with everything its screens show."""
    return _run(8192, 5)


def tco_131072_draws() -> dict[str, Any]:
    """Return the time of a large run in one process."""
    return _run(131_072, 3)


def what_if() -> dict[str, Any]:
    """Return the time of one deterministic answer. [ms]"""
    case = document()
    evaluate(case)
    value = _best(lambda: evaluate(case, {"residual": 0.1}), 20) * 1000
    return {"value": value, "unit": "ms", "detail": _case()}


def _part(case: dict[str, Any], name: str, shape: tuple[int, ...], first: int, last: int) -> float:
    """Compute a stretch of draws into shared memory; return the peak memory of the worker. [MiB]"""
    memory = shared_memory.SharedMemory(name=name)
    try:
        block = np.ndarray(shape, buffer=memory.buf)
        out = {option["key"]: block[i, :, first:last] for i, option in enumerate(case["options"])}
        draw_totals(case, first, last, out=out)
        del block, out
    finally:
        memory.close()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB


def tco_1048576_draws() -> dict[str, Any]:
    """Return the time of totals and years over a million draws on two processes, summaries included."""
    n, workers = 1_048_576, 2
    case = document(draws=n)
    shape = (len(case["options"]), 2 + len(period_names(case["horizon_months"])), n)
    memory = shared_memory.SharedMemory(create=True, size=int(np.prod(shape)) * 8)
    try:
        start = time.perf_counter()
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            step = n // workers
            parts = [(case, memory.name, shape, i * step, (i + 1) * step) for i in range(workers)]
            peaks = pool.starmap(_part, parts)
        block = np.ndarray(shape, buffer=memory.buf)
        summaries = [[summarise(None, row) for row in option] for option in block]
        value = time.perf_counter() - start
        del block
    finally:
        memory.close()
        memory.unlink()
    detail = {"draws": n, "processes": workers, "peak_mib": round(max(peaks)), **_case()}
    return {"value": value, "unit": "s", "detail": {**detail, "p50_nominal_usd": summaries[0][0]["p50"]}}


BENCHMARKS = {
    "tco_8192_draws": tco_8192_draws,
    "tco_131072_draws": tco_131072_draws,
    "tco_1048576_draws": tco_1048576_draws,
    "what_if": what_if,
}


def main(arguments: list[str]) -> int:
    """Run the benchmarks named, or all, and print their figures."""
    names = [argument for argument in arguments if not argument.startswith("--")] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}", file=sys.stderr)
        return 2
    figures = {name: BENCHMARKS[name]() for name in names}
    if "--json" in arguments:
        print(json.dumps(figures, allow_nan=False))
    else:
        for name, figure in figures.items():
            print(f"{name:20} {figure['value']:10.3f} {figure['unit']}  {figure['detail']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
