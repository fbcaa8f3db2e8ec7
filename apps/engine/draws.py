"""Draws of the uncertain inputs: scrambled Sobol points, turned into each distribution by its inverse."""

import warnings
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from apps.engine.factors import Value
from apps.engine.records import Document, Input

Floats = NDArray[np.float64]

GENERATOR = "Sobol, LMS and shift scrambled (scipy.stats.qmc), PCG64"
HALF_A_STEP = 2.0**-31
"""Sobol points are multiples of 2^-30; half a step more keeps them inside the open interval."""
Z_95 = 1.6448536269514722
"""95th percentile of the standard normal distribution."""


def likely_values(inputs: Mapping[str, Input]) -> dict[str, Value]:
    """Return every input at its likely value."""
    return {key: item.likely for key, item in inputs.items()}


class Sampler:
    """Draws of the inputs of one document; any stretch of them, always the same.

    Each uncertain input has its own Sobol dimension, in the order of the keys, and each correlation group one more
    after them. A stretch starts by skipping to its first draw, so neither chunks nor workers change a value.
    """

    def __init__(self, inputs: Mapping[str, Input], correlation_groups: Mapping[str, float], seed: int) -> None:
        self.fixed = likely_values(inputs)
        self.uncertain = [inputs[key] for key in sorted(inputs) if inputs[key].is_uncertain]
        members = [item.correlation_group for item in self.uncertain]
        # a group of one has nobody to move with
        self.groups = {
            name: correlation
            for name, correlation in sorted(correlation_groups.items())
            if correlation > 0 and members.count(name) > 1
        }
        self.seed = seed

    @classmethod
    def of(cls, document: Document) -> "Sampler":
        """Return the sampler of a document."""
        return cls(document.inputs, document.correlation_groups, document.seed)

    def chunks(self, first: int, last: int, size: int) -> Iterator[dict[str, Value]]:
        """Yield the values of draws first to last - 1, `size` at a time; fixed inputs stay single numbers."""
        n_dimensions = len(self.uncertain) + len(self.groups)
        if n_dimensions == 0:
            for start in range(first, last, size):
                n = min(size, last - start)
                yield {key: np.full(n, value) for key, value in self.fixed.items()}
            return
        from scipy.stats import qmc

        sobol = qmc.Sobol(n_dimensions, scramble=True, seed=np.random.default_rng(self.seed))
        if first:
            sobol.fast_forward(first)
        for start in range(first, last, size):
            with warnings.catch_warnings():
                # a stretch need not be a power of two; the run as a whole is
                warnings.simplefilter("ignore", UserWarning)
                points = np.ascontiguousarray(sobol.random(min(size, last - start)).T)
            points += HALF_A_STEP
            yield self.values(points)

    def values(self, points: Floats) -> dict[str, Value]:
        """Return the values that belong to points of the unit cube, shape (dimensions, draws)."""
        result: dict[str, Value] = dict(self.fixed)
        factors = {name: points[len(self.uncertain) + i] for i, name in enumerate(self.groups)}
        for i, item in enumerate(self.uncertain):
            u = points[i]
            if item.correlation_group in factors:
                group = item.correlation_group
                u = correlated(u, factors[group], self.groups[group], item.correlation_sign)
            result[item.key] = quantile(item, u)
        return result


def correlated(u: Floats, common: Floats, rank_correlation: float, sign: int) -> Floats:
    """Return uniform numbers that move with a common factor.

    Notes
    -----
    One-factor Gaussian copula: z = sign √ρ g + √(1 - ρ) e. Two members then have Pearson correlation ρ, and rank
    correlation (6/π) asin(ρ/2); so ρ = 2 sin(π r / 6) for a rank correlation r that is asked for.
    """
    from scipy.special import ndtr, ndtri

    pearson = 2 * np.sin(np.pi * rank_correlation / 6)
    return np.asarray(ndtr(sign * np.sqrt(pearson) * ndtri(common) + np.sqrt(1 - pearson) * ndtri(u)))


def quantile(item: Input, u: Floats) -> Floats:
    """Return the values of an input at cumulative probabilities u, shape of u.

    Notes
    -----
    Triangular: low, mode, high. PERT: beta with shape 4 on the same range. Lognormal: low and high are P5 and P95,
    which fix both parameters; the likely value does not shape it, it only stands for the input where nothing is drawn.
    """
    low, mode, high = item.low, item.likely, item.high
    if item.distribution == "lognormal":
        from scipy.special import ndtri

        middle, spread = (np.log(low) + np.log(high)) / 2, (np.log(high) - np.log(low)) / 2 / Z_95
        return np.exp(middle + spread * ndtri(u))
    if item.distribution == "pert":
        from scipy.special import betaincinv

        a, b = 1 + 4 * (mode - low) / (high - low), 1 + 4 * (high - mode) / (high - low)
        return low + (high - low) * np.asarray(betaincinv(a, b, u))
    rising, falling = (high - low) * (mode - low), (high - low) * (high - mode)
    split = (mode - low) / (high - low)
    # one square root a draw: measured from the end of the side on which it falls
    left = u < split
    root = np.sqrt(np.where(left, u * rising, (1.0 - u) * falling))
    return np.where(left, low + root, high - root)
