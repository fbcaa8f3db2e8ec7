"""What a factor of a price is worth: an input, a constant, or one of a few operations on other factors."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.engine.checks import number
from apps.engine.errors import InputError

Value = float | NDArray[np.float64]
"""One number, or one a draw: shape (draws,)."""


@dataclass(frozen=True)
class Const:
    """A number that is the same in every draw."""

    value: float


@dataclass(frozen=True)
class Ref:
    """The value of one input."""

    key: str


@dataclass(frozen=True)
class Operation:
    """An operation on other factors."""

    name: str
    operands: tuple["Factor", ...]


Factor = Const | Ref | Operation

SPOT_LOSS = ("checkpoint", "interval", "interruptions_per_hour", "restart")


def _spot_loss(checkpoint: Value, interval: Value, interruptions_per_hour: Value, restart: Value) -> Value:
    """Return the share of paid hours lost on interruptible capacity, all times in hours: C/T + λ(T/2 + R)."""
    return checkpoint / interval + interruptions_per_hour * (interval / 2 + restart)


def _lesser(a: Value, b: Value) -> Value:
    return min(a, b) if isinstance(a, float) and isinstance(b, float) else np.minimum(a, b)


def _greater(a: Value, b: Value) -> Value:
    return max(a, b) if isinstance(a, float) and isinstance(b, float) else np.maximum(a, b)


OPERATIONS: dict[str, Callable[..., Value]] = {
    "max": lambda *values: reduce(_greater, values),
    "min": lambda *values: reduce(_lesser, values),
    "sum": lambda *values: reduce(lambda a, b: a + b, values),
    "product": lambda *values: reduce(lambda a, b: a * b, values),
    "excess": lambda a, b: _greater(a - b, 0.0),
    "one_minus": lambda a: 1.0 - a,
    "one_plus": lambda a: 1.0 + a,
    "divide": lambda a, b: a / b,
    "spot_loss": _spot_loss,
}
N_OPERANDS = {"excess": 2, "divide": 2, "one_minus": 1, "one_plus": 1}


def parse_factor(path: str, raw: Any, keys: Mapping[str, Any]) -> Factor:
    """Return the factor that stands at a path of the document; every input it names exists."""
    if isinstance(raw, str):
        if raw not in keys:
            raise InputError(path, repr(raw), "the key of an input in inputs")
        return Ref(raw)
    if not isinstance(raw, Mapping):
        raise InputError(path, repr(raw), "an input key or an object such as {'const': '730'}")
    names = [name for name in raw if name != "label"]
    if names == ["const"]:
        return Const(number(f"{path}.const", raw["const"]))
    if len(names) != 1 or names[0] not in OPERATIONS:
        raise InputError(path, sorted(names), "one of const, " + ", ".join(OPERATIONS))
    return Operation(names[0], _operands(f"{path}.{names[0]}", names[0], raw[names[0]], keys))


def _operands(path: str, name: str, raw: Any, keys: Mapping[str, Any]) -> tuple[Factor, ...]:
    if name == "spot_loss":
        if not isinstance(raw, Mapping) or set(raw) != set(SPOT_LOSS):
            raise InputError(path, repr(raw), "an object with " + ", ".join(SPOT_LOSS))
        return tuple(parse_factor(f"{path}.{part}", raw[part], keys) for part in SPOT_LOSS)
    if N_OPERANDS.get(name) == 1:
        return (parse_factor(path, raw, keys),)
    if not isinstance(raw, list) or not raw or len(raw) != N_OPERANDS.get(name, len(raw)):
        raise InputError(path, repr(raw), f"a list of {N_OPERANDS.get(name, 'one or more')} factors")
    return tuple(parse_factor(f"{path}[{i}]", part, keys) for i, part in enumerate(raw))


def evaluate(factor: Factor, values: Mapping[str, Value]) -> Value:
    """Return the worth of a factor, a number or one a draw."""
    match factor:
        case Const(value):
            return value
        case Ref(key):
            return values[key]
        case Operation(name, operands):
            return OPERATIONS[name](*(evaluate(operand, values) for operand in operands))


def keys_of(factor: Factor | None) -> Iterator[str]:
    """Yield the input keys a factor rests on."""
    match factor:
        case Ref(key):
            yield key
        case Operation(_, operands):
            for operand in operands:
                yield from keys_of(operand)
