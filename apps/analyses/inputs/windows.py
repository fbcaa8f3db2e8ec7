"""Stretches of an option's months, cut where something starts or ends, exact in every draw of a date.

Dates rest on lead times, so which of two comes first may differ from draw to draw. A stretch is therefore cut into
before, during and after another one by the later and the earlier of two dates; a part that is empty in a draw has
no length there. Parts that are empty in all draws are left out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf, isnan

from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import HORIZON, SIGNATURE, Anchor, Factor, anchor, const, text
from apps.analyses.inputs.phases import PhaseFacts, phases_of, ready_month
from apps.assessments.models import Option
from apps.engine.errors import InputError

Bounds = tuple[float, float]
TO_INFINITY: Bounds = (0.0, inf)


@dataclass(frozen=True, kw_only=True)
class Window:
    """From one anchor to another; empty where the end is not after the start."""

    start: Anchor
    end: Anchor


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a window, and the numbers of those other windows that hold all of it."""

    window: Window
    inside: frozenset[int]


class Calendar:
    """Compares the dates of one option."""

    def __init__(self, context: Context, option: Option) -> None:
        self.context = context
        self.phases = {facts.key: facts for facts in phases_of(option, context.assessment.horizon_months)}

    def month(self, at: Anchor) -> Factor:
        """The months from signature to an anchor, as a factor that follows the draws of lead times."""
        start = self._event(at)
        offset = at["offset_months"]
        if offset is None:
            return start
        return offset if start == const(0) else {"sum": [start, offset]}

    def _event(self, at: Anchor) -> Factor:
        match at["event"]:
            case "signature":
                return const(0)
            case "month":
                return const(at["month"])
            case "horizon":
                return const(self.context.assessment.horizon_months, "months of the horizon")
        found = self.phases[at["phase"]]
        if at["event"] == "end":
            return self.month(found.end)
        return ready_month(self.context, found.phase, accepted=at["event"] == "ready")

    def not_after(self, first: Anchor, second: Anchor) -> bool:
        """Whether an anchor is never later than another, whatever the inputs are."""
        return first == second or never_more(self.month(first), self.month(second))

    def later(self, first: Anchor, second: Anchor) -> Anchor:
        return self._pick("max", first, second)

    def earlier(self, first: Anchor, second: Anchor) -> Anchor:
        return self._pick("min", first, second)

    def _pick(self, word: str, first: Anchor, second: Anchor) -> Anchor:
        """One of two anchors where the order never changes, else an anchor that takes the right one in each draw."""
        if self.not_after(first, second):
            return second if word == "max" else first
        if self.not_after(second, first):
            return first if word == "max" else second
        parts: list[Factor] = []
        for at in (first, second):
            month = self.month(at)
            inner = month.get(word) if isinstance(month, dict) else None
            parts += [part for part in inner or [month] if part not in parts]
        return anchor("month", month="0", offset={word: parts})

    def empty(self, window: Window) -> bool:
        """Whether a window has no length in any draw."""
        return self.not_after(window.end, window.start)

    def meet(self, first: Window, second: Window) -> bool:
        """Whether two windows have time in common in any draw."""
        return not (
            self.not_after(first.end, second.start)
            or self.not_after(second.end, first.start)
            or self.empty(first)
            or self.empty(second)
        )

    def hull(self, windows: Sequence[Window]) -> Window:
        """From the first start to the last end."""
        start, end = windows[0].start, windows[0].end
        for window in windows[1:]:
            start, end = self.earlier(start, window.start), self.later(end, window.end)
        return Window(start=start, end=end)

    def within(self, window: Window, first: Decimal, last: Decimal | None) -> Window:
        """The part of a window between two months; no last month for up to the horizon."""
        start, end = window.start, window.end
        if first > 0:
            start = self.later(start, anchor("month", month=text(first)))
        if last is not None:
            end = self.earlier(end, anchor("month", month=text(last)))
        return Window(start=start, end=end)

    def split(self, window: Window, others: Sequence[Window]) -> list[Piece]:
        """The window in parts, so that each of the other windows holds all of a part or nothing of it."""
        pieces = [Piece(window=window, inside=frozenset())]
        for number, other in enumerate(others):
            pieces = [part for piece in pieces for part in self._cut(piece, number, other)]
        return [piece for piece in pieces if not self.empty(piece.window)]

    def _cut(self, piece: Piece, number: int, other: Window) -> Iterable[Piece]:
        start, end = piece.window.start, piece.window.end
        if not self.meet(piece.window, other):
            yield piece
            return
        other_end = self.later(other.start, other.end)
        parts = (
            (start, self.earlier(end, other.start), piece.inside),
            (self.later(start, other.start), self.earlier(end, other_end), piece.inside | {number}),
            (self.later(start, other_end), end, piece.inside),
        )
        for first, last, inside in parts:
            part = Window(start=first, end=last)
            if not self.empty(part):
                yield Piece(window=part, inside=inside)


# Order of dates -------------------------------------------------------------------------------------------------------
def never_more(first: Factor, second: Factor) -> bool:
    """Whether a factor of dates never exceeds another, as no input of a date is negative; False where unsure."""
    if first == second or factor_bounds(first, _any_date)[1] <= factor_bounds(second, _any_date)[0]:
        return True
    name, parts = _operation(first)
    other_name, other_parts = _operation(second)
    return (
        (name == "min" and any(never_more(part, second) for part in parts))
        or (name == "max" and all(never_more(part, second) for part in parts))
        or (other_name == "max" and any(never_more(first, part) for part in other_parts))
        or (other_name == "min" and all(never_more(first, part) for part in other_parts))
        or (name == other_name == "sum" and all(parts.count(part) <= other_parts.count(part) for part in parts))
    )


def _any_date(_: str) -> Bounds:
    return TO_INFINITY


def _operation(factor: Factor) -> tuple[str, list[Factor]]:
    """The word of a factor and what it works on."""
    if isinstance(factor, str):
        return "", []
    name = next(key for key in factor if key != "label")
    return (name, factor[name]) if isinstance(factor[name], list) else (name, [])


# Bounds of quantities -------------------------------------------------------------------------------------------------
def quantity_bounds(context: Context, factor: Factor) -> Bounds:
    """Between which numbers a factor lies when its inputs keep to their ranges, those of the scenario included."""
    return factor_bounds(factor, lambda key: _range(context, key))


def _range(context: Context, key: str) -> Bounds:
    entry = context.book.inputs[key]
    if entry["distribution"] == "lognormal":
        return TO_INFINITY
    values = [entry, context.overrides.get(key, {})]
    numbers = [
        float(each[name]) for each in values for name in ("low", "likely", "high") if each.get(name) not in (None, "")
    ]
    return min(numbers), max(numbers)


def factor_bounds(factor: Factor, of: Callable[[str], Bounds]) -> Bounds:
    """Interval arithmetic over an expression; `of` gives the bounds of an input."""
    if isinstance(factor, str):
        return of(factor)
    if "const" in factor:
        number = float(factor["const"])
        return number, number
    name = next(key for key in factor if key != "label")
    if name in ("one_minus", "one_plus"):
        low, high = factor_bounds(factor[name], of)
        return (1 - high, 1 - low) if name == "one_minus" else (1 + low, 1 + high)
    return _combined(name, [factor_bounds(part, of) for part in factor[name]])


def _combined(name: str, parts: Sequence[Bounds]) -> Bounds:
    lows, highs = [part[0] for part in parts], [part[1] for part in parts]
    match name:
        case "max":
            return max(lows), max(highs)
        case "min":
            return min(lows), min(highs)
        case "sum":
            return sum(lows), sum(highs)
        case "excess":
            return max(lows[0] - highs[1], 0.0), max(highs[0] - lows[1], 0.0)
        case "product":
            found = parts[0]
            for part in parts[1:]:
                corners = [_times(one, other) for one in found for other in part]
                found = (min(corners), max(corners))
            return found
        case "divide":
            corners = [one / other for one in parts[0] for other in parts[1]]
            return min(corners), max(corners)
    raise InputError("factor", name, "a word of docs/run-json.md")


def _times(one: float, other: float) -> float:
    result = one * other
    return 0.0 if isnan(result) else result


def total(factors: Sequence[Factor]) -> Factor:
    """The sum of factors; 0 for none."""
    if not factors:
        return const(0)
    return factors[0] if len(factors) == 1 else {"sum": list(factors)}


def first_start(context: Context, phases: Sequence[PhaseFacts]) -> Anchor:
    """When the option's own machines first are delivered, in each draw; its clouds where it has no machines."""
    counted = [facts for facts in phases if not facts.cloud] or phases
    if not counted:
        return SIGNATURE
    calendar, start = Calendar(context, counted[0].option), counted[0].starts
    for facts in counted[1:]:
        start = calendar.earlier(start, facts.starts)
    return start


def last_end(context: Context, phases: Sequence[PhaseFacts]) -> Anchor:
    """When the phase that lasts longest ends, in each draw."""
    if not phases:
        return HORIZON
    calendar, end = Calendar(context, phases[0].option), phases[0].end
    for facts in phases[1:]:
        end = calendar.later(end, facts.end)
    return end
