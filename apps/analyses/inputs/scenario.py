"""What a scenario changes in a finished document. The base document stays as it is."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from apps.analyses.inputs.book import Range, check_numbers
from apps.analyses.inputs.factors import text
from apps.assumptions.selectors import assumption_bounds
from apps.assumptions.services import check_bounds
from apps.engine.errors import InputError


def with_overrides(
    document: Mapping[str, Any], overrides: Mapping[str, Mapping[str, Any]], *, name: str
) -> dict[str, Any]:
    """The document with some inputs replaced; a likely value alone fixes the input at it.

    Raises `InputError` for a key that the document does not have and for a number that the input does not allow.
    """
    inputs, limits = dict(document["inputs"]), assumption_bounds()
    for key, values in overrides.items():
        if key not in inputs:
            raise InputError(key, "not an input of this assessment", "the key of an input")
        inputs[key] = _overridden(key, inputs[key], values, name, _limits(key, limits))
    return {**document, "inputs": inputs}


Limits = tuple[Decimal | None, Decimal | None]


def _limits(key: str, limits: Mapping[str, Limits]) -> Limits | None:
    """The bounds of an assumption, also where an option has its own under its letter."""
    return limits.get(key) or limits.get(key.partition(".")[2])


def _overridden(
    key: str, base: Mapping[str, Any], values: Mapping[str, Any], name: str, limits: Limits | None
) -> dict[str, Any]:
    value = Range.of({"likely": base["likely"], **values}, key)
    low, high = value.bounds
    check_numbers(key, base["unit"], low, value.likely, high)
    if limits is not None:
        check_bounds(key, [number for number in (low, value.likely, high) if number is not None], *limits)
    distribution = base["distribution"] if base["distribution"] != "fixed" else "triangular"
    origin = {**base["source"], "status": "scenario"}
    origin["text"] = f"Scenario {name}; before: {_range_text(base)}, {base['source']['text']}".strip(" ,")
    return {
        **base,
        "likely": text(value.likely),
        "low": None if low is None else text(low),
        "high": None if high is None else text(high),
        "distribution": "fixed" if low is None else distribution,
        "source": origin,
    }


def _range_text(base: Mapping[str, Any]) -> str:
    if base["low"] is None:
        return str(base["likely"])
    return f"{base['low']} / {base['likely']} / {base['high']}"
