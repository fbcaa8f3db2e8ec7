"""A finished cost run as screens and files read it: two frozen documents and the few words that both need."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from django.utils.translation import gettext as _

from apps.reports import figures, formulas

NOMINAL, NPV = "nominal", "npv"
FIGURE = {NOMINAL: "nominal_usd", NPV: "npv_usd"}


class StoredRun(Protocol):
    """What is needed of a stored run."""

    inputs_json: str
    results_json: str


@dataclass(frozen=True)
class CostOption:
    """One option of a run: what the engine was given about it and what it answered."""

    key: str
    given: Mapping[str, Any]
    found: Mapping[str, Any]

    @property
    def letter(self) -> str:
        return self.key

    @property
    def name(self) -> str:
        return str(self.given["name"])

    @property
    def detail(self) -> str:
        return str(self.given.get("detail", ""))

    @property
    def slot(self) -> int:
        return int(self.given.get("slot", 6))

    @property
    def baseline(self) -> bool:
        return bool(self.given.get("baseline"))

    @property
    def verb(self) -> str:
        """owning, renting or leasing, when all phases are of one kind; empty for a mix."""
        kinds = {phase["kind"] for phase in self.given["phases"]}
        if self.given.get("financing", {}).get("kind") == "lease" and kinds == {"owned"}:
            kinds = {"lease"}
        words = {"owned": _("owning"), "cloud": _("renting"), "lease": _("leasing")}
        return words[next(iter(kinds))] if len(kinds) == 1 else ""

    @property
    def owned(self) -> bool:
        return any(phase["kind"] == "owned" for phase in self.given["phases"])

    def total(self, basis: str) -> Mapping[str, Any]:
        return self.found[FIGURE[basis]]

    @cached_property
    def lines(self) -> list[Mapping[str, Any]]:
        return list(self.found["lines"])

    def line(self, key: str) -> Mapping[str, Any] | None:
        return next((line for line in self.lines if line["key"] == key), None)

    def given_line(self, key: str) -> Mapping[str, Any] | None:
        return next((line for line in self.given["lines"] if line["key"] == key), None)


@dataclass(frozen=True)
class CostRun:
    """The documents of a run, read once."""

    given: Mapping[str, Any]
    found: Mapping[str, Any]
    number: int = 0
    inputs: formulas.Inputs = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", formulas.Inputs(self.given["inputs"]))

    @classmethod
    def read(cls, run: StoredRun) -> "CostRun":
        return cls(json.loads(run.inputs_json), json.loads(run.results_json), getattr(run, "number", 0))

    @cached_property
    def options(self) -> dict[str, CostOption]:
        return {
            item["key"]: CostOption(item["key"], item, self.found["options"][item["key"]])
            for item in self.given["options"]
        }

    @property
    def compared(self) -> list[CostOption]:
        """All but the baseline, in the order of their slots."""
        return sorted((o for o in self.options.values() if not o.baseline), key=lambda o: (o.slot, o.key))

    def ordered(self, basis: str = NOMINAL, unranked: Collection[str] = ()) -> list[CostOption]:
        """By rank, options that may not be ranked after them, the baseline last."""
        ranking = [key for key in self.found["ranking"][basis] if key in self.options]
        keys = [k for k in ranking if k not in unranked] + [k for k in ranking if k in unranked]
        keys += [key for key, option in self.options.items() if option.baseline]
        return [self.options[key] for key in keys]

    @property
    def horizon(self) -> int:
        return int(self.found["horizon_months"])

    @property
    def currency(self) -> str:
        return str(self.found["currency"])

    @property
    def draws(self) -> int:
        return int(self.found["draws"])

    @cached_property
    def discount_rate(self) -> float:
        return formulas.value_of(self.given["discount_rate"], self.inputs)

    @property
    def rate_text(self) -> str:
        return figures.percent_plain(self.discount_rate)

    @property
    def periods(self) -> list[str]:
        return list(self.found["periods"])

    def comparison(self, first: str, second: str) -> Mapping[str, Any] | None:
        return next(
            (pair for pair in self.found["comparisons"] if pair["first"] == first and pair["second"] == second), None
        )


def shared_scale(distributions: Iterable[Mapping[str, Any]], pad: float = 0.35) -> tuple[float, float]:
    """One scale for the range bars of a column: from the lowest to the highest, with room at both ends."""
    ends = [float(d[name]) for d in distributions for name in ("p10", "p90", "likely") if d.get(name) is not None]
    if not ends:
        return (0.0, 1.0)
    low, high = min(ends), max(ends)
    room = (high - low) * pad or abs(high) * 0.1 or 1.0
    return (low - room, high + room)
