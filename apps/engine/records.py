"""The records of a cost document: inputs, anchors, timings, phases, lines, options."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from apps.engine.errors import InputError
from apps.engine.factors import Factor


def _hash_once(self: Any) -> int:
    """Return the hash of a record that is a key of many look-ups; walking it each time costs more than the sums."""
    known = self.__dict__.get("_hash")
    if known is None:
        known = hash(tuple(getattr(self, name) for name in self.__dataclass_fields__))
        object.__setattr__(self, "_hash", known)
    return int(known)


@dataclass(frozen=True)
class Input:
    """One quantity with its range; without a range it is fixed."""

    key: str
    label: str
    likely: float
    low: float
    high: float
    distribution: str
    correlation_group: str | None
    correlation_sign: int

    @property
    def is_uncertain(self) -> bool:
        """Whether the value differs between draws."""
        return self.distribution != "fixed" and self.low < self.high


@dataclass(frozen=True)
class Anchor:
    """A point in time: an event, of a phase where it needs one, and an offset in months."""

    event: str
    phase: str | None = None
    month: float = 0.0
    offset_months: Factor | None = None

    __hash__ = _hash_once


@dataclass(frozen=True)
class Once:
    """Paid in shares at milestones."""

    milestones: tuple[tuple[Factor, Anchor], ...]

    __hash__ = _hash_once


@dataclass(frozen=True)
class Monthly:
    """Paid each month of a window."""

    start: Anchor
    end: Anchor
    escalation: Factor | None
    upfront_share: Factor | None

    __hash__ = _hash_once


Timing = Once | Monthly


@dataclass(frozen=True)
class Phase:
    """A stretch of capacity: ordered, delivered, accepted, used until its end."""

    key: str
    label: str
    kind: str
    order_month: float
    lead_weeks: Factor | None
    acceptance_weeks: Factor | None
    end: Anchor
    n_accelerators: Factor
    availability: Factor | None
    occupancy: Factor | None
    goodput: Factor | None
    peak_tflops: Factor | None
    mfu: Factor | None


@dataclass(frozen=True)
class Line:
    """One line of cost."""

    key: str
    row: str
    label: str
    detail: str
    formula: str
    group: str
    category: str
    factors: tuple[Factor, ...]
    percent_of: tuple[str, ...]
    sign: int
    timing: Timing
    treatment: str
    life_months: Factor | None
    in_service: Anchor | None
    disposed_at_horizon: bool
    not_given: bool

    @property
    def settles(self) -> bool:
        """Whether what falls on the last month is a settlement at the horizon and not a flow of the last year."""
        return self.group == "residual" or (
            isinstance(self.timing, Once) and all(at.event == "horizon" for _, at in self.timing.milestones)
        )


@dataclass(frozen=True)
class Financing:
    """How the capital lines are paid."""

    kind: str
    share: Factor | None = None
    annual_rate: Factor | None = None
    term_months: int = 0
    residual_share: Factor | None = None
    starts: Anchor | None = None


@dataclass(frozen=True)
class Bridge:
    """Cloud hours bought where installed capacity is below demand."""

    usd_per_gpu_hour: Factor
    row: str
    label: str


@dataclass(frozen=True)
class Tax:
    """Which deductions save tax, and when."""

    rate: Factor
    method: str
    life_months: Factor
    absorption: str


@dataclass(frozen=True)
class Option:
    """One alternative: phases, lines, financing, demand."""

    key: str
    name: str
    baseline: bool
    phases: tuple[Phase, ...]
    lines: tuple[Line, ...]
    financing: Financing
    demand: tuple[tuple[float, Factor], ...]
    bridge: Bridge | None

    @cached_property
    def ordered_lines(self) -> tuple[Line, ...]:
        """The lines so that each comes after those it is a percentage of."""
        return tuple(ordered_lines(self, "lines"))

    @cached_property
    def bought_lines(self) -> tuple[Line, ...]:
        """The lines the option itself pays: priced, and not bought and taken back by a lessor."""
        return tuple(line for line in self.lines if not line.not_given and not self.leaves_to_lessor(line))

    def leaves_to_lessor(self, line: Line) -> bool:
        """Whether a lease takes the line out of the option: the lessor buys the machines and takes them back."""
        return self.financing.kind == "lease" and line.group in ("capital", "residual")

    @cached_property
    def buckets(self) -> dict[tuple[Timing, str, bool], list[str]]:
        """The keys of the lines it pays, by timing, group and whether they settle at the horizon."""
        result: dict[tuple[Timing, str, bool], list[str]] = {}
        for line in self.bought_lines:
            result.setdefault((line.timing, line.group, line.settles), []).append(line.key)
        return result


@dataclass(frozen=True)
class Document:
    """A whole run. Options are in the order of their keys, so the order in the file changes nothing."""

    assessment: str
    currency: str
    horizon_months: int
    draws: int
    seed: int
    discount_rate: Factor
    correlation_groups: dict[str, float]
    inputs: dict[str, Input]
    options: tuple[Option, ...]
    tax: Tax | None


def ordered_lines(option: Option, path: str) -> list[Line]:
    """Return the lines so that each comes after those it is a percentage of."""
    waiting, ready, result = dict.fromkeys(line.key for line in option.lines), set[str](), list[Line]()
    lines = {line.key: line for line in option.lines}
    while waiting:
        step = [key for key in waiting if ready.issuperset(lines[key].percent_of)]
        if not step:
            raise InputError(f"{path}.lines.percent_of", " -> ".join(sorted(waiting)), "free of circles")
        for key in step:
            del waiting[key]
            result.append(lines[key])
        ready.update(step)
    return result
