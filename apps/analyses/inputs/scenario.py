"""What a scenario changes in a finished document. The base document stays as it is."""

from collections.abc import Mapping
from typing import Any

from apps.analyses.inputs.book import Range
from apps.analyses.inputs.factors import text
from apps.engine.errors import InputError


def with_overrides(
    document: Mapping[str, Any], overrides: Mapping[str, Mapping[str, Any]], *, name: str
) -> dict[str, Any]:
    """The document with some inputs replaced; a likely value alone fixes the input at it.

    Raises `InputError` for a key that the document does not have.
    """
    inputs = dict(document["inputs"])
    for key, values in overrides.items():
        if key not in inputs:
            raise InputError(key, "not an input of this assessment", "the key of an input")
        inputs[key] = _overridden(key, inputs[key], values, name)
    return {**document, "inputs": inputs}


def _overridden(key: str, base: Mapping[str, Any], values: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = Range.of({"likely": base["likely"], **values})
    low, high = value.low, value.high
    if low is not None and high is not None and not low <= value.likely <= high:
        raise InputError(key, f"{low} / {value.likely} / {high}", "low, likely and high in rising order")
    ranged = low is not None and high is not None
    distribution = base["distribution"] if base["distribution"] != "fixed" else "triangular"
    origin = {**base["source"], "status": "scenario"}
    origin["text"] = f"Scenario {name}; before: {_range_text(base)}, {base['source']['text']}".strip(" ,")
    return {
        **base,
        "likely": text(value.likely),
        "low": text(low) if ranged and low is not None else None,
        "high": text(high) if ranged and high is not None else None,
        "distribution": distribution if ranged else "fixed",
        "source": origin,
    }


def _range_text(base: Mapping[str, Any]) -> str:
    if base["low"] is None:
        return str(base["likely"])
    return f"{base['low']} / {base['likely']} / {base['high']}"
