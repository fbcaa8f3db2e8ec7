"""Which inputs matter: one at a time (tornado), and shares of variance (Sobol indices)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.engine.draws import HALF_A_STEP, Sampler, likely_values
from apps.engine.errors import NoAnswerError
from apps.engine.factors import Value
from apps.engine.figures import discount_factors, option_figures
from apps.engine.records import Document, Input

Floats = NDArray[np.float64]

LARGEST = 10
BASE_SAMPLES = 1024
AT_ONCE = 4
"""Inputs whose mixed points are computed in one call; the months of so many draws stay in the cache of a core."""


def nominal_totals(
    document: Document, values: Mapping[str, Value], keys: Sequence[str] | None = None
) -> dict[str, Floats]:
    """Return the nominal total of each option, shape (draws,) or (1,)."""
    discount = discount_factors(document, values)
    return {
        option.key: np.asarray(option_figures(document, option, values, discount).totals["nominal_usd"])
        for option in document.options
        if keys is None or option.key in keys
    }


def one_at_a_time(document: Document) -> tuple[list[Input], dict[str, Floats]]:
    """Return the uncertain inputs, and each option's nominal total with one of them at its low or high.

    The arrays have shape (inputs, 2): low, high.
    """
    uncertain = [item for item in document.inputs.values() if item.is_uncertain]
    values = likely_values(document.inputs)
    for i, item in enumerate(uncertain):
        points = np.full(2 * len(uncertain), item.likely)
        points[2 * i], points[2 * i + 1] = item.low, item.high
        values[item.key] = points
    totals = nominal_totals(document, values)
    shape = (len(uncertain), 2)
    return uncertain, {key: np.broadcast_to(total, 2 * len(uncertain)).reshape(shape) for key, total in totals.items()}


def tornado(uncertain: Sequence[Input], totals: Floats) -> list[dict[str, Any]]:
    """Return the inputs that swing a total most when they alone go from low to high, largest first.

    Parameters
    ----------
    totals : ndarray, shape (inputs, 2)
        The total at the low and at the high of each input. [USD]
    """
    swings = np.abs(totals[:, 1] - totals[:, 0])
    order = sorted(range(len(uncertain)), key=lambda i: (-swings[i], uncertain[i].key))
    return [
        {
            "input": uncertain[i].key,
            "label": uncertain[i].label,
            "low": uncertain[i].low,
            "likely": uncertain[i].likely,
            "high": uncertain[i].high,
            "at_low_usd": float(totals[i, 0]),
            "at_high_usd": float(totals[i, 1]),
            "swing_usd": float(swings[i]),
        }
        for i in order[:LARGEST]
        if swings[i] > 0
    ]


def sobol_indices(
    function: Callable[[Floats], Floats],
    n_dimensions: int,
    *,
    base_samples: int,
    seed: int,
    chosen: Sequence[int] | None = None,
) -> tuple[float, Floats, Floats]:
    """Return the variance of a function of independent uniform numbers, and the shares its inputs have in it.

    Parameters
    ----------
    function : callable
        Takes points of the unit cube, shape (n_dimensions, n), and returns shape (n,).
    base_samples : int
        Rows of the design, a power of two; the function is called on `base_samples * (2 + chosen)` points.
    chosen : sequence of int, optional
        Dimensions whose indices are wanted; the others vary all the same.

    Returns
    -------
    variance : float
    first_order, total : ndarray, shape (chosen,)
        Share of the variance an input explains alone, and with all its interactions. [-]

    Raises
    ------
    NoAnswerError
        If the function does not vary.

    Notes
    -----
    Estimators of Saltelli et al. (2010) for the first order and of Jansen (1999) for the total, table 2 (b) and (f) of
    [1]_, on a scrambled Sobol design of twice the dimensions.

    References
    ----------
    .. [1] A. Saltelli et al., "Variance based sensitivity analysis of model output. Design and estimator for the total
       sensitivity index," Computer Physics Communications 181, 2010, doi:10.1016/j.cpc.2009.09.018.
    """
    from scipy.stats import qmc

    design = qmc.Sobol(2 * n_dimensions, scramble=True, seed=np.random.default_rng(seed)).random(base_samples)
    points = np.ascontiguousarray(design.T) + HALF_A_STEP
    a, b = points[:n_dimensions], points[n_dimensions:]
    f_a, f_b = np.split(function(np.concatenate([a, b], axis=1)), 2)
    centre = float(np.mean(np.concatenate([f_a, f_b])))
    f_a, f_b = f_a - centre, f_b - centre
    variance = float(np.mean(np.concatenate([f_a, f_b]) ** 2))
    if variance <= 1e-18 * (1.0 + centre**2):
        raise NoAnswerError("Nothing to explain: the result does not vary.")
    dimensions = list(range(n_dimensions) if chosen is None else chosen)
    first_order, total = [], []
    for start in range(0, len(dimensions), AT_ONCE):
        block = dimensions[start : start + AT_ONCE]
        mixed = np.tile(a, len(block))
        for place, i in enumerate(block):
            mixed[i, place * base_samples : (place + 1) * base_samples] = b[i]
        for f_mixed in np.split(function(mixed) - centre, len(block)):
            first_order.append(float(np.mean(f_b * (f_mixed - f_a))) / variance)
            total.append(float(np.mean((f_a - f_mixed) ** 2)) / 2 / variance)
    return variance, np.array(first_order), np.array(total)


def difference_indices(document: Document, first: str, second: str, largest: Sequence[str]) -> dict[str, Any]:
    """Return Sobol indices of the difference of two options for the inputs that swing it most.

    Inputs are drawn without their correlations, as the decomposition of variance asks for.
    """
    sampler = Sampler(document.inputs, {}, document.seed)
    keys = [item.key for item in sampler.uncertain]
    result: dict[str, Any] = {"base_samples": BASE_SAMPLES, "indices": [], "reason": None}

    def difference(points: Floats) -> Floats:
        totals = nominal_totals(document, sampler.values(points), (first, second))
        return np.broadcast_to(totals[first] - totals[second], points.shape[1])

    chosen = [keys.index(key) for key in largest]
    if not chosen:
        return result | {"reason": "No uncertain input changes the difference."}
    try:
        _, first_order, total = sobol_indices(
            difference, len(keys), base_samples=BASE_SAMPLES, seed=document.seed, chosen=chosen
        )
    except NoAnswerError as error:
        return result | {"reason": str(error)}
    indices: list[dict[str, Any]] = [
        {"input": key, "label": document.inputs[key].label, "first_order": float(s), "total": float(t)}
        for key, s, t in zip(largest, first_order, total, strict=True)
    ]
    return result | {"indices": sorted(indices, key=lambda item: (-item["total"], item["input"]))}
