"""Refusals: each function returns its value as floats, or says which input is wrong and what would be right."""

import math
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.engine.errors import InputError

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def number(name: str, value: object) -> float:
    """Return decimal text, or a plain number, as a finite float."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(name, value, "a number, written as decimal text")
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise InputError(name, repr(value), "a number, written as decimal text")
    result = float(value)
    if not math.isfinite(result):
        raise InputError(name, value, "finite")
    return result


def finite(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return the values as an array, all of them finite."""
    return _checked(name, values, lambda array: np.ones(array.shape, dtype=bool), "finite")


def positive(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return the values as an array, all of them above zero."""
    return _checked(name, values, lambda array: array > 0, "above zero and finite")


def not_negative(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return the values as an array, none of them below zero."""
    return _checked(name, values, lambda array: array >= 0, "zero or more, and finite")


def fraction(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return the values as an array, all of them from 0 to 1."""
    return _checked(name, values, lambda array: (array >= 0) & (array <= 1), "a fraction from 0 to 1")


def rate(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return the values as an array of rates of interest, all of them above -1."""
    return _checked(name, values, lambda array: array > -1, "a fraction above -1, such as 0.07 for 7 %")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return the value, which is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(name, repr(value), "one of " + ", ".join(choices))
    return value


def _checked(
    name: str, values: ArrayLike, holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]], requirement: str
) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    fits = np.isfinite(array) & holds(array)
    if not fits.all():
        raise InputError(name, float(array[~fits].flat[0]), requirement)
    return array
