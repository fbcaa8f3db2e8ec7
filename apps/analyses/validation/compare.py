"""A computed value beside a published one: relative error, tolerance, verdict."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Row:
    """One published figure and what the engine answers; `refused` says why it has no answer."""

    id: str
    quantity: str
    published: Any
    computed: Any = None
    relative_error: float | None = None
    tolerance: float | None = None
    ok: bool | None = None
    low: float | None = None
    high: float | None = None
    refused: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the row with every field of the interface, those of other kinds null."""
        return {**asdict(self), "class": None, "sweep": None}


def compared(
    *, case_id: str, quantity: str, published: Any, computed: Any, relative: float | None, absolute: float | None
) -> Row:
    """Return the row of a figure, a list or a dictionary of figures; these are compared element by element.

    The relative error of a list is that of the element furthest off. A published 0 has no relative error, and its
    tolerance is absolute.
    """
    tolerance = relative if absolute is None else absolute
    found = list(_pairs(published, computed))
    pairs = [(one, other) for one, other in found if other is not None]
    if len(pairs) < len(found):
        reason = "the answer has another shape than the published one"
        return Row(
            id=case_id, quantity=quantity, published=published, computed=computed, tolerance=tolerance, refused=reason
        )
    errors = [(other - one) / abs(one) for one, other in pairs if one != 0]
    misses = [
        abs(other - one) if absolute is not None or one == 0 else abs(other - one) / abs(one) for one, other in pairs
    ]
    slack = 1 + 1e-12  # the tolerance itself is allowed
    return Row(
        id=case_id,
        quantity=quantity,
        published=published,
        computed=computed,
        relative_error=max(errors, key=abs) if errors else None,
        tolerance=tolerance,
        ok=None if tolerance is None else all(miss <= tolerance * slack for miss in misses),
    )


def refused(*, case_id: str, quantity: str, published: Any, tolerance: float | None, reason: str) -> Row:
    """Return the row of a figure the engine cannot or must not give."""
    return Row(id=case_id, quantity=quantity, published=published, tolerance=tolerance, refused=reason)


def finite(value: Any) -> bool:
    """Whether every number of an answer is finite, as JSON needs it."""
    if isinstance(value, dict):
        return all(finite(item) for item in value.values())
    return all(finite(item) for item in value) if isinstance(value, list) else math.isfinite(value)


def _pairs(published: Any, computed: Any) -> Iterator[tuple[float, float | None]]:
    """Yield published and computed numbers in pairs; a missing or unfit partner is None."""
    if isinstance(published, dict):
        for key, value in published.items():
            yield from _pairs(value, computed.get(key) if isinstance(computed, dict) else None)
        if isinstance(computed, dict) and len(computed) > len(published):
            yield 0.0, None
    elif isinstance(published, list):
        other = computed if isinstance(computed, list) else []
        for i, value in enumerate(published):
            yield from _pairs(value, other[i] if i < len(other) else None)
        if len(other) > len(published):
            yield 0.0, None
    elif isinstance(computed, int | float) and math.isfinite(computed):
        yield float(published), float(computed)
    else:
        yield float(published), None
