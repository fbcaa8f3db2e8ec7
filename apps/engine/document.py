"""The inputs document of a cost run as records, read once and checked while it is read."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from apps.engine.checks import number, one_of
from apps.engine.errors import InputError
from apps.engine.factors import Factor, parse_factor
from apps.engine.records import (
    Anchor,
    Bridge,
    Document,
    Financing,
    Input,
    Line,
    Monthly,
    Once,
    Option,
    Phase,
    Tax,
    Timing,
    ordered_lines,
)

SCHEMA = "spinecut.tco/1"
LONGEST_HORIZON_MONTHS = 120
LARGEST_DRAWS_LOG2 = 22

T = TypeVar("T")
DISTRIBUTIONS = ("triangular", "pert", "lognormal", "fixed")
EVENTS = ("signature", "month", "delivery", "ready", "end", "horizon")
GROUPS = ("capital", "operating", "cloud", "residual")


def parse_document(raw: Mapping[str, Any]) -> Document:
    """Return the document as records.

    Raises
    ------
    InputError
        If a key is missing, a name unknown, a number not finite or out of its range. Its name is the JSON path.
    """
    if raw.get("schema") != SCHEMA:
        raise InputError("schema", repr(raw.get("schema")), f"'{SCHEMA}'")
    groups = {
        name: _correlation(f"correlation_groups.{name}", value)
        for name, value in sorted(_get(raw, "", "correlation_groups", Mapping).items())
    }
    inputs = {
        key: _parse_input(f"inputs.{key}", key, item, groups)
        for key, item in sorted(_get(raw, "", "inputs", Mapping).items())
    }
    reader = _Reader(inputs)
    horizon = _whole("horizon_months", _need(raw, "", "horizon_months"), 1, LONGEST_HORIZON_MONTHS)
    draws = _whole("draws", _need(raw, "", "draws"), 1, 2**LARGEST_DRAWS_LOG2)
    if draws & (draws - 1):
        raise InputError("draws", draws, "a power of two, such as 8192")
    options = [reader.option(f"options[{i}]", item, horizon) for i, item in enumerate(_get(raw, "", "options", list))]
    if not options:
        raise InputError("options", "[]", "a list of one option or more")
    _unique("options", [option.key for option in options])
    return Document(
        assessment=str(raw.get("assessment", "")),
        currency=str(_need(raw, "", "currency")),
        horizon_months=horizon,
        draws=draws,
        seed=_whole("seed", _need(raw, "", "seed"), 0, 2**63 - 1),
        discount_rate=reader.factor("discount_rate", _need(raw, "", "discount_rate")),
        correlation_groups=groups,
        inputs=inputs,
        options=tuple(sorted(options, key=lambda option: option.key)),
        tax=reader.tax("tax", raw.get("tax")),
    )


def _parse_input(path: str, key: str, raw: Any, groups: Mapping[str, float]) -> Input:
    likely = number(f"{path}.likely", _need(raw, path, "likely"))
    distribution = one_of(f"{path}.distribution", raw.get("distribution") or "triangular", DISTRIBUTIONS)
    texts = raw.get("low"), raw.get("high")
    if (texts[0] is None) != (texts[1] is None):
        raise InputError(path, f"low {texts[0]}, high {texts[1]}", "given with both low and high, or with neither")
    if texts[0] is None or distribution == "fixed":
        low = high = likely
    else:
        low, high = number(f"{path}.low", texts[0]), number(f"{path}.high", texts[1])
        if not low <= likely <= high:
            raise InputError(path, f"{low:g} / {likely:g} / {high:g}", "in order: low, likely, high")
        if distribution == "lognormal" and low <= 0:
            raise InputError(f"{path}.low", f"{low:g}", "above zero, as the distribution is lognormal")
    group = raw.get("correlation_group")
    if group is not None and group not in groups:
        raise InputError(f"{path}.correlation_group", repr(group), "a name in correlation_groups, or null")
    sign = raw.get("correlation_sign", 1)
    if sign not in (1, -1):
        raise InputError(f"{path}.correlation_sign", repr(sign), "1 or -1")
    return Input(key, str(raw.get("label") or key), likely, low, high, distribution, group, sign)


class _Reader:
    """Reads everything that may name an input."""

    def __init__(self, inputs: Mapping[str, Input]) -> None:
        self.inputs = inputs

    def factor(self, path: str, raw: Any) -> Factor:
        return parse_factor(path, raw, self.inputs)

    def optional(self, path: str, raw: Mapping[str, Any], name: str) -> Factor | None:
        value = raw.get(name)
        return None if value is None else self.factor(f"{path}.{name}", value)

    def needed(self, path: str, raw: Mapping[str, Any], name: str) -> Factor:
        return self.factor(f"{path}.{name}", _need(raw, path, name))

    def tax(self, path: str, raw: Any) -> Tax | None:
        if raw is None:
            return None
        return Tax(
            rate=self.needed(path, raw, "rate"),
            method=one_of(f"{path}.method", raw.get("method"), ("straight_line", "macrs_5", "first_year")),
            life_months=self.needed(path, raw, "life_months"),
            absorption=one_of(f"{path}.absorption", raw.get("absorption"), ("full", "carry_forward")),
        )

    def option(self, path: str, raw: Any, horizon: int) -> Option:
        key = str(_need(raw, path, "key"))
        phase_keys = [str(_need(item, f"{path}.phases[{i}]", "key")) for i, item in enumerate(raw.get("phases") or [])]
        _unique(f"{path}.phases", phase_keys)
        read = _OptionReader(self, phase_keys)
        option = Option(
            key=key,
            name=str(raw.get("name") or key),
            baseline=bool(raw.get("baseline", False)),
            phases=_each(f"{path}.phases", raw.get("phases"), read.phase),
            lines=_each(f"{path}.lines", _need(raw, path, "lines"), read.line),
            financing=read.financing(f"{path}.financing", raw.get("financing") or {"kind": "cash"}, horizon),
            demand=_each(f"{path}.demand", raw.get("demand"), read.demand),
            bridge=read.bridge(f"{path}.bridge", raw.get("bridge")),
        )
        _check_lines(path, option)
        _check_phase_ends(path, option)
        return option


class _OptionReader:
    """Reads what may name a phase of one option."""

    def __init__(self, reader: _Reader, phase_keys: list[str]) -> None:
        self.reader, self.phase_keys = reader, phase_keys
        self.known: dict[Any, Any] = {}

    def one(self, record: T) -> T:
        """Return the first of equal records, so that look-ups find it by identity."""
        return self.known.setdefault(record, record)

    def anchor(self, path: str, raw: Any) -> Anchor:
        event = one_of(f"{path}.event", _need(raw, path, "event"), EVENTS)
        phase = raw.get("phase")
        if event in ("delivery", "ready", "end") and phase not in self.phase_keys:
            raise InputError(f"{path}.phase", repr(phase), "the key of a phase of this option")
        month = number(f"{path}.month", _need(raw, path, "month")) if event == "month" else 0.0
        return self.one(
            Anchor(
                event,
                phase if event in ("delivery", "ready", "end") else None,
                month,
                self.reader.optional(path, raw, "offset_months"),
            )
        )

    def phase(self, path: str, raw: Any) -> Phase:
        def optional(name: str) -> Factor | None:
            return self.reader.optional(path, raw, name)

        return Phase(
            key=str(raw["key"]),
            label=str(raw.get("label") or raw["key"]),
            kind=one_of(f"{path}.kind", raw.get("kind"), ("owned", "cloud", "lease")),
            order_month=number(f"{path}.order_month", raw.get("order_month", "0")),
            lead_weeks=optional("lead_weeks"),
            acceptance_weeks=optional("acceptance_weeks"),
            end=self.anchor(f"{path}.end", _need(raw, path, "end")),
            n_accelerators=self.reader.needed(path, raw, "n_accelerators"),
            availability=optional("availability"),
            occupancy=optional("occupancy"),
            goodput=optional("goodput"),
            peak_tflops=optional("peak_tflops"),
            mfu=optional("mfu"),
        )

    def line(self, path: str, raw: Any) -> Line:
        key = str(_need(raw, path, "key"))
        in_service = raw.get("in_service")
        sign = raw.get("sign", 1)
        if sign not in (1, -1):
            raise InputError(f"{path}.sign", repr(sign), "1 or -1")
        return Line(
            key=key,
            row=str(raw.get("row") or key),
            label=str(raw.get("label") or key),
            detail=str(raw.get("detail") or ""),
            formula=str(raw.get("formula") or ""),
            group=one_of(f"{path}.group", raw.get("group"), GROUPS),
            category=str(_need(raw, path, "category")),
            factors=_each(f"{path}.factors", _need(raw, path, "factors"), self.reader.factor),
            percent_of=tuple(raw.get("percent_of") or ()),
            sign=sign,
            timing=self.timing(f"{path}.timing", _need(raw, path, "timing")),
            treatment=one_of(f"{path}.treatment", raw.get("treatment", "expense"), ("capital", "expense")),
            life_months=self.reader.optional(path, raw, "life_months"),
            in_service=None if in_service is None else self.anchor(f"{path}.in_service", in_service),
            disposed_at_horizon=bool(raw.get("disposed_at_horizon", False)),
            not_given=bool(raw.get("not_given", False)),
        )

    def timing(self, path: str, raw: Any) -> Timing:
        if one_of(f"{path}.kind", _need(raw, path, "kind"), ("once", "monthly")) == "once":
            milestones = _each(f"{path}.milestones", _need(raw, path, "milestones"), self.milestone)
            if not milestones:
                raise InputError(f"{path}.milestones", "[]", "a list of one milestone or more")
            return self.one(Once(milestones))
        return self.one(
            Monthly(
                start=self.anchor(f"{path}.from", _need(raw, path, "from")),
                end=self.anchor(f"{path}.to", _need(raw, path, "to")),
                escalation=self.reader.optional(path, raw, "escalation"),
                upfront_share=self.reader.optional(path, raw, "upfront_share"),
            )
        )

    def milestone(self, path: str, raw: Any) -> tuple[Factor, Anchor]:
        return self.reader.needed(path, raw, "share"), self.anchor(f"{path}.at", _need(raw, path, "at"))

    def financing(self, path: str, raw: Any, horizon: int) -> Financing:
        kind = one_of(f"{path}.kind", raw.get("kind"), ("cash", "loan", "lease"))
        if kind == "cash":
            return Financing(kind)
        rate = self.reader.needed(path, raw, "annual_rate")
        term = _whole(f"{path}.term_months", _need(raw, path, "term_months"), 1, 2 * LONGEST_HORIZON_MONTHS)
        if kind == "loan":
            return Financing(kind, share=self.reader.needed(path, raw, "share"), annual_rate=rate, term_months=term)
        return Financing(
            kind,
            annual_rate=rate,
            term_months=term,
            residual_share=self.reader.optional(path, raw, "residual_share"),
            starts=self.anchor(f"{path}.starts", _need(raw, path, "starts")),
        )

    def demand(self, path: str, raw: Any) -> tuple[float, Factor]:
        from_month = number(f"{path}.from_month", raw.get("from_month", "0"))
        return from_month, self.reader.needed(path, raw, "n_accelerators")

    def bridge(self, path: str, raw: Any) -> Bridge | None:
        if raw is None:
            return None
        rate = self.reader.needed(path, raw, "usd_per_gpu_hour")
        return Bridge(rate, str(raw.get("row") or "bridge"), str(raw.get("label") or "Bridging cloud"))


def _check_lines(path: str, option: Option) -> None:
    """Refuse lines twice, percentages of unknown lines, and percentages that run in a circle."""
    keys = [line.key for line in option.lines]
    _unique(f"{path}.lines", keys)
    for i, line in enumerate(option.lines):
        at = f"{path}.lines[{i}]"
        if not line.factors and not line.not_given:
            raise InputError(f"{at}.factors", "[]", "a list of one factor or more, or the line not_given")
        if line.treatment == "capital" and isinstance(line.timing, Monthly):
            raise InputError(f"{at}.treatment", "'capital'", "'expense', as the line is paid month by month")
        if line.group == "residual" and isinstance(line.timing, Monthly):
            raise InputError(f"{at}.timing.kind", "'monthly'", "'once', as a residual is received once")
        for other in line.percent_of:
            if other not in keys:
                raise InputError(f"{at}.percent_of", repr(other), "the key of a line of this option")
    ordered_lines(option, path)


def _check_phase_ends(path: str, option: Option) -> None:
    """Refuse phases whose ends wait for each other."""
    ends = {phase.key: phase.end for phase in option.phases}
    for key, end in ends.items():
        seen, at = [key], end
        while at.event == "end" and at.phase is not None:
            if at.phase in seen:
                raise InputError(f"{path}.phases.end", " -> ".join([*seen, at.phase]), "free of circles")
            seen.append(at.phase)
            at = ends[at.phase]


def _each(path: str, raw: Any, read: Callable[[str, Any], T]) -> tuple[T, ...]:
    if not isinstance(raw, (list, type(None))):
        raise InputError(path, repr(raw), "a list")
    return tuple(read(f"{path}[{i}]", item) for i, item in enumerate(raw or []))


def _need(raw: Any, path: str, name: str) -> Any:
    if not isinstance(raw, Mapping):
        raise InputError(path, repr(raw), "an object")
    if raw.get(name) is None:
        raise InputError(f"{path}.{name}".lstrip("."), "missing", "given")
    return raw[name]


def _get(raw: Mapping[str, Any], path: str, name: str, kind: type) -> Any:
    value = _need(raw, path, name)
    if not isinstance(value, kind):
        raise InputError(name, repr(value), "an object" if kind is Mapping else "a list")
    return value


def _whole(path: str, raw: Any, lowest: int, highest: int) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not lowest <= raw <= highest:
        raise InputError(path, repr(raw), f"a whole number from {lowest} to {highest}")
    return raw


def _correlation(path: str, raw: Any) -> float:
    value = number(path, raw)
    if not 0 <= value <= 1:
        raise InputError(path, raw, "a rank correlation from 0 to 1; a correlation_sign of -1 turns an input round")
    return value


def _unique(path: str, keys: list[str]) -> None:
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(path, repr(key), "used once")
