"""The factors of a run document in words, in numbers, and as the inputs they rest on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from apps.engine.factors import evaluate, parse_factor
from apps.reports import figures

Factor = str | Mapping[str, Any]


@dataclass(frozen=True)
class Inputs:
    """The inputs of one run document, at their likely values or with some of them replaced."""

    by_key: Mapping[str, Mapping[str, Any]]

    def value(self, key: str) -> Decimal:
        return Decimal(str(self.by_key[key]["likely"]))

    def label(self, key: str) -> str:
        return str(self.by_key[key]["label"])

    def unit(self, key: str) -> str:
        return str(self.by_key[key].get("unit", ""))


def value_of(factor: Factor, inputs: Inputs) -> float:
    """The factor with every input at its likely value, by the engine's own rules."""
    values = {key: float(item["likely"]) for key, item in inputs.by_key.items()}
    return float(evaluate(parse_factor("factor", factor, values), values))


def _operation(factor: Mapping[str, Any]) -> tuple[str, Any]:
    return next((key, value) for key, value in factor.items() if key != "label")


def words(factor: Factor, inputs: Inputs) -> str:
    """The factor by the names of what it is made of."""
    if isinstance(factor, str):
        return inputs.label(factor)
    if factor.get("label"):
        return str(factor["label"])
    kind, operand = _operation(factor)
    if _is_percentage(factor, inputs):
        return words(operand[0], inputs)
    return _written(kind, operand, lambda item: words(item, inputs))


def numbers(factor: Factor, inputs: Inputs) -> str:
    """The factor with the likely values in the place of the names."""
    if isinstance(factor, str):
        return figures.in_unit(inputs.value(factor), inputs.unit(factor))
    kind, operand = _operation(factor)
    if kind == "const":
        return figures.plain(Decimal(str(operand)))
    if _is_percentage(factor, inputs):
        return numbers(operand[0], inputs)
    return _written(kind, operand, lambda item: numbers(item, inputs))


def _is_percentage(factor: Factor, inputs: Inputs) -> bool:
    """Whether the factor only turns a percentage as quoted into a fraction, which its sign already says."""
    if isinstance(factor, str) or "divide" not in factor:
        return False
    above, below = factor["divide"]
    return isinstance(above, str) and inputs.unit(above).startswith("%") and below == {"const": "100"}


def _written(kind: str, operand: Any, write: Any) -> str:
    if kind == "const":
        return figures.plain(Decimal(str(operand)))
    if kind == "spot_loss":
        named = {name: write(item) for name, item in operand.items()}
        return (
            _("%(checkpoint)s / %(interval)s + %(interruptions_per_hour)s × (%(interval)s / 2 + %(restart)s)") % named
        )
    parts = [write(item) for item in (operand if isinstance(operand, list | tuple) else [operand])]
    return _TEMPLATES[kind](parts)


_TEMPLATES: dict[str, Any] = {
    "max": lambda p: _("the larger of %s") % figures.joined(p),
    "min": lambda p: _("the smaller of %s") % figures.joined(p),
    "sum": lambda p: "(" + " + ".join(p) + ")",
    "product": f" {figures.TIMES} ".join,
    "excess": lambda p: _("what %(first)s exceeds %(second)s by") % {"first": p[0], "second": p[1]},
    "one_minus": lambda p: f"(1 {figures.MINUS} {p[0]})",
    "one_plus": lambda p: f"(1 + {p[0]})",
    "divide": lambda p: f"{p[0]} / {p[1]}",
}


def input_keys(factor: Any) -> Iterator[str]:
    """Every input key that the factor, line part or list of factors rests on, in order, possibly repeated."""
    if isinstance(factor, str):
        yield factor
    elif isinstance(factor, Mapping):
        for name, item in factor.items():
            if name not in ("const", "label"):
                yield from input_keys(item)
    elif isinstance(factor, list | tuple):
        for item in factor:
            yield from input_keys(item)
