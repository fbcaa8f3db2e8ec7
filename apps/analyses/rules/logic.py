"""Evaluates the conditions of rules: a small, total language over facts, with "not given" as third truth value.

A condition is JSON, one operator an object:
`{"all": [C, …]}`, `{"any": [C, …]}`, `{"not": C}`; `{"<": [V, V]}` and `<=`, `>`, `>=`, `=`, `!=`;
`{"missing": FACT}`, `{"present": FACT}`; `{"contains": [V, V]}` for a list and a member.
A value is a number, text or truth value as such, or `{"fact": FACT}`, `{"assumption": KEY}`, `{"sum": [V, …]}`,
`{"difference": [V, V]}`, `{"count": V}` of a list, `{"max": V}` of a list of numbers or of (label, number) pairs,
`{"age_days": V}` of a date. Anything that cannot be known, or cannot be compared, is `Unknown` with the names of what
is missing, as in Kleene's strong logic: one false part makes `all` false, whatever else is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

Condition = Mapping[str, Any]


@dataclass(frozen=True)
class Unknown:
    """Neither true nor false; `missing` names the facts and assumptions that would settle it."""

    missing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Known:
    """What conditions are evaluated against. A fact that is None or absent is not given."""

    facts: Mapping[str, Any]
    assumptions: Mapping[str, Decimal | None]
    today: date


Truth = bool | Unknown
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def evaluate(condition: Condition, known: Known) -> Truth:
    """True, False, or `Unknown` with what is missing; never raises for a condition that the schema accepts."""
    (operator, argument), *_ = condition.items()
    if operator == "all":
        return _all([evaluate(part, known) for part in argument])
    if operator == "any":
        return _negation(_all([_negation(evaluate(part, known)) for part in argument]))
    if operator == "not":
        return _negation(evaluate(argument, known))
    if operator in ("missing", "present"):
        return (known.facts.get(argument) is None) == (operator == "missing")
    return _relation(operator, argument, known)


def _relation(operator: str, pair: Sequence[Any], known: Known) -> Truth:
    first, second = (value_of(part, known) for part in pair)
    if isinstance(first, Unknown) or isinstance(second, Unknown):
        return _joined(first, second)
    if operator == "contains":
        return second in first if isinstance(first, Sequence) and not isinstance(first, str) else Unknown()
    return _compare(operator, first, second)


def _all(truths: Sequence[Truth]) -> Truth:
    if any(truth is False for truth in truths):
        return False
    unknown = [truth for truth in truths if isinstance(truth, Unknown)]
    return _joined(*unknown) if unknown else True


def _negation(truth: Truth) -> Truth:
    return truth if isinstance(truth, Unknown) else not truth


def _joined(*values: Any) -> Unknown:
    return Unknown(frozenset().union(*(value.missing for value in values if isinstance(value, Unknown))))


def _compare(operator: str, first: Any, second: Any) -> Truth:
    comparable = (
        (_is_number(first) and _is_number(second))
        or (isinstance(first, date) and isinstance(second, date))
        or (operator in ("=", "!=") and type(first) is type(second))
    )
    return COMPARISONS[operator](first, second) if comparable else Unknown()


def value_of(operand: Any, known: Known) -> Any:
    """What an operand stands for: a number as Decimal, text, truth value, date or list, or `Unknown`."""
    if not isinstance(operand, Mapping):
        return _number(operand)
    (operator, argument), *_ = operand.items()
    if operator == "fact":
        return _given(known.facts.get(argument), argument)
    if operator == "assumption":
        return _given(known.assumptions.get(argument), argument)
    parts = [value_of(part, known) for part in argument] if isinstance(argument, list) else [value_of(argument, known)]
    if any(isinstance(part, Unknown) for part in parts):
        return _joined(*parts)
    return _computed(operator, parts, known)


def _computed(operator: str, parts: list[Any], known: Known) -> Any:
    first = parts[0]
    if operator == "sum" and all(map(_is_number, parts)):
        return sum(parts, Decimal(0))
    if operator == "difference" and all(map(_is_number, parts)):
        return parts[0] - parts[1]
    if operator == "age_days" and isinstance(first, date):
        return Decimal((known.today - first).days)
    if operator in ("count", "max") and isinstance(first, Sequence) and not isinstance(first, str):
        if operator == "count":
            return Decimal(len(first))
        numbers = [_number(item[1] if isinstance(item, tuple) else item) for item in first]
        return max(numbers) if numbers and all(map(_is_number, numbers)) else Unknown()
    return Unknown()


def _given(value: Any, name: str) -> Any:
    number = None if value is None else _number(value)
    return Unknown(frozenset({name})) if number is None else number


def _number(value: Any) -> Any:
    """Numbers as Decimal, so that 0.1 is 0.1; a float that is no number is not given; all else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    number = Decimal(str(value))
    return number if number.is_finite() else None


def _is_number(value: Any) -> bool:
    return isinstance(value, Decimal)


def names_in(condition: Any, kind: str) -> set[str]:
    """The facts (`kind` "fact") or assumptions ("assumption") that a condition or operand speaks of."""
    if isinstance(condition, list):
        return set().union(*(names_in(part, kind) for part in condition))
    if not isinstance(condition, Mapping):
        return set()
    found: set[str] = set()
    for operator, argument in condition.items():
        if operator == kind or (kind == "fact" and operator in ("missing", "present")):
            found.add(argument)
        else:
            found |= names_in(argument, kind)
    return found
