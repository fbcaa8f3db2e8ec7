"""The bridge from a kind of run to its formulas: one table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings

from apps.analyses.models import AnalysisRun

Document = dict[str, Any]
Progress = Callable[[str, int, int], None]  # stage, done, total; raises when the run has to stop


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What a run needs of an engine. Documents are plain JSON values, as docs/run-json.md describes them."""

    check: Callable[[Document], None]  # raises EngineError if the engine would refuse the document
    compute: Callable[[Document, Progress], Document]
    total: Callable[[Document], int]  # what progress counts up to
    # 0: one worker computes the whole; else any worker takes any chunk and merge() puts them together in order
    n_chunks: Callable[[Document], int] = lambda document: 0
    compute_chunk: Callable[[Document, int, Progress], Document] | None = None
    merge: Callable[[Document, list[Document]], Document] | None = None


def engine_of(kind: str) -> Engine:
    """Return the engine of a kind of run. Raises `KeyError` for a kind nobody has registered."""
    if kind in ENGINES:
        return ENGINES[kind]()
    return _extra_engines()[kind]


def _extra_engines() -> Mapping[str, Engine]:
    """Engines of the module that RUN_ENGINES_MODULE names, such as the slow ones of the tests."""
    name = settings.RUN_ENGINES_MODULE
    return import_module(name).ENGINES if name else {}


def _tco() -> Engine:
    from apps.engine import tco

    return Engine(
        check=tco.check_document,
        compute=lambda document, progress: tco.total_cost_of_ownership(document, progress=progress),
        total=lambda document: int(document["draws"]),
    )


def _tco_sweep() -> Engine:
    from apps.analyses import sweeps

    return Engine(
        check=sweeps.check_document,
        compute=sweeps.compute,
        total=sweeps.n_points,
        n_chunks=sweeps.n_chunks,
        compute_chunk=sweeps.compute_chunk,
        merge=sweeps.merge,
    )


ENGINES: dict[str, Callable[[], Engine]] = {  # one line per kind of run; engines are imported when first used
    AnalysisRun.Kind.TCO: _tco,
    AnalysisRun.Kind.TCO_SWEEP: _tco_sweep,
}
