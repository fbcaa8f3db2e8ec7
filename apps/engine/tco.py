"""Total cost of ownership of options over one calendar window: the document in, its results out."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.engine import __version__
from apps.engine.document import parse_document
from apps.engine.draws import GENERATOR, likely_values
from apps.engine.errors import EngineError, InputError
from apps.engine.factors import Value
from apps.engine.figures import Figures, discount_factors, option_figures, period_names
from apps.engine.records import Document
from apps.engine.results import comparison_results, option_results, probability_cheapest, ranking
from apps.engine.sensitivity import difference_indices, one_at_a_time, tornado
from apps.engine.simulation import CHUNK_DRAWS, Samples, refuse_not_finite, simulate
from apps.engine.simulation import draw_totals as _draw_totals
from apps.engine.simulation import summary as _summary
from apps.engine.validity import check_values

Progress = Callable[[str, int, int], None]
Floats = NDArray[np.float64]

RESULTS_SCHEMA = "spinecut.tco-results/1"
SWEEP_SCHEMA = "spinecut.tco-sweep/1"


def check_document(document: Mapping[str, Any]) -> None:
    """Refuse an inputs document the engine cannot compute.

    Raises
    ------
    InputError
        Its `name` is the JSON path of what is wrong; it says what was found and what would be right.
    """
    _read(document)


def _read(document: Mapping[str, Any]) -> Document:
    parsed = parse_document(document)
    check_values(parsed)
    return parsed


def total_cost_of_ownership(
    document: Mapping[str, Any], *, progress: Progress | None = None, chunk_draws: int = CHUNK_DRAWS
) -> dict[str, Any]:
    """Return the results document of an inputs document, as docs/run-json.md describes both.

    Parameters
    ----------
    document : mapping
        `spinecut.tco/1`.
    progress : callable, optional
        Called with a stage (inputs, draws, cash flows, comparisons, sensitivity), what is done of it and its total. It
        may raise to stop the run; what it raises is passed on.
    chunk_draws : int
        Draws computed at once. It changes memory and speed, never a number.

    Raises
    ------
    InputError
        If the document cannot be computed.
    EngineError
        If a draw has no finite cost.
    """
    tell = progress or (lambda stage, done, total: None)
    tell("inputs", 0, 1)
    parsed = _read(document)
    tell("draws", 0, parsed.draws)
    likely = likely_figures(parsed, likely_values(parsed.inputs))
    samples = simulate(parsed, chunk_draws=chunk_draws, progress=progress)
    tell("comparisons", 0, 1)
    results = _results(parsed, likely, samples)
    tell("sensitivity", 0, 1)
    results |= _sensitivity(parsed, results["ranking"]["nominal"])
    tell("sensitivity", 1, 1)
    return results


def evaluate(document: Mapping[str, Any], overrides: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return the results at likely values, some of them replaced; percentiles are null and nothing is drawn.

    Parameters
    ----------
    overrides : mapping of input key to number
        Values in place of the likely ones.

    Raises
    ------
    InputError
        If the document cannot be computed or an override names no input.
    """
    parsed = parse_document(document)
    values = likely_values(parsed.inputs)
    for key, value in (overrides or {}).items():
        if key not in values:
            raise InputError(f"overrides.{key}", value, "the key of an input in inputs")
        if not np.isfinite(value):
            raise InputError(f"overrides.{key}", value, "finite")
        values[key] = float(value)
    check_values(parsed, values)
    results = _results(parsed, likely_figures(parsed, values), Samples())
    return results | {"tornado": {}, "tornado_difference": {}, "sensitivity": {}}


def draw_totals(
    document: Mapping[str, Any],
    first_draw: int,
    last_draw: int,
    *,
    chunk_draws: int = CHUNK_DRAWS,
    out: Mapping[str, Floats] | None = None,
    progress: Progress | None = None,
) -> dict[str, Floats]:
    """Return nominal, present value and periods of every option for a stretch of draws.

    See `simulation.draw_totals`: one array an option, shape (2 + periods, last_draw - first_draw). [USD]
    """
    return _draw_totals(_read(document), first_draw, last_draw, chunk_draws=chunk_draws, out=out, progress=progress)


def summarise(likely: float | None, samples: Floats) -> dict[str, float | None]:
    """Return likely, P10, P50, P90 and mean of one figure over draws, shape (draws,)."""
    return _summary(likely, samples)


def sweep_points(
    base: Mapping[str, Any], axes: Sequence[Mapping[str, Any]], first: int, last: int
) -> dict[str, list[list[float]]]:
    """Return nominal cost and present value at points first to last - 1 of a grid of inputs.

    Parameters
    ----------
    base : mapping
        Inputs document; what is no axis stays at its likely value.
    axes : sequence of {"input": key, "values": [decimal text, ...]}
        The grid is their product, the last axis fastest.

    Returns
    -------
    dict
        `nominal_usd` and `npv_usd`: for each option, in the order of their keys, one number a point. [USD]

    Raises
    ------
    InputError
        If the document cannot be computed or an axis is wrong.
    """
    document = _read(base)
    grid = [_axis(f"axes[{i}]", axis, document) for i, axis in enumerate(axes)]
    points = np.array(list(islice(product(*(values for _, values in grid)), first, last)))
    result: dict[str, list[list[float]]] = {"nominal_usd": [], "npv_usd": []}
    if points.size == 0:
        return {name: [[] for _ in document.options] for name in result}
    values: dict[str, Value] = likely_values(document.inputs)
    values |= {key: np.ascontiguousarray(points[:, i]) for i, (key, _) in enumerate(grid)}
    discount = discount_factors(document, values)
    for option in document.options:
        totals = option_figures(document, option, values, discount).totals
        for name, rows in result.items():
            row = np.broadcast_to(totals[name], len(points))
            refuse_not_finite(option.key, row)
            rows.append(row.tolist())
    return result


def _axis(path: str, axis: Mapping[str, Any], document: Document) -> tuple[str, list[float]]:
    from apps.engine.checks import number

    key = axis.get("input")
    if key not in document.inputs:
        raise InputError(f"{path}.input", repr(key), "the key of an input in inputs")
    values = axis.get("values")
    if not isinstance(values, list) or not values:
        raise InputError(f"{path}.values", repr(values), "a list of one number or more")
    return key, [number(f"{path}.values[{i}]", value) for i, value in enumerate(values)]


def likely_figures(document: Document, values: Mapping[str, Value]) -> dict[str, Figures]:
    """Return the figures of every option at single values.

    Raises
    ------
    EngineError
        If an option has no finite cost there.
    """
    discount = discount_factors(document, values)
    result = {}
    for option in document.options:
        try:
            figures = option_figures(document, option, values, discount)
        except ZeroDivisionError as error:
            raise EngineError(f"Option {option.key} divides by zero at likely values.") from error
        refuse_not_finite(option.key, np.asarray(figures.totals["nominal_usd"]))
        refuse_not_finite(option.key, np.asarray(figures.totals["npv_usd"]))
        result[option.key] = figures
    return result


def _results(document: Document, likely: dict[str, Figures], samples: Samples) -> dict[str, Any]:
    order = ranking(document, likely)
    return {
        "schema": RESULTS_SCHEMA,
        "engine_version": __version__,
        "numpy_version": np.__version__,
        "generator": GENERATOR,
        "seed": document.seed,
        "draws": document.draws,
        "currency": document.currency,
        "horizon_months": document.horizon_months,
        "periods": period_names(document.horizon_months),
        "options": {key: option_results(document, figures, samples) for key, figures in likely.items()},
        "ranking": order,
        "probability_cheapest": probability_cheapest(document, samples),
        "comparisons": comparison_results(document, likely, samples),
    }


def _sensitivity(document: Document, order: list[str]) -> dict[str, Any]:
    uncertain, totals = one_at_a_time(document)
    result: dict[str, Any] = {
        "tornado": {key: tornado(uncertain, total) for key, total in totals.items()},
        "tornado_difference": {
            f"{first}|{second}": tornado(uncertain, totals[first] - totals[second])
            for first in totals
            for second in totals
            if first != second
        },
        "sensitivity": {},
    }
    if len(order) > 1:
        pair = f"{order[0]}|{order[1]}"
        largest = [item["input"] for item in result["tornado_difference"][pair]]
        result["sensitivity"][pair] = difference_indices(document, order[0], order[1], largest)
    return result
