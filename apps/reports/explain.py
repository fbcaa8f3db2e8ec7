"""One figure of a cost run taken apart: what it is, its formula in words and numbers, its inputs, what changes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from apps.reports import figures, formulas
from apps.reports.cost_run import NOMINAL, NPV, CostOption, CostRun, shared_scale
from apps.reports.what_if import Change, changes_of

MOST_INPUTS_CHANGED = 3
MOST_DECIMALS = 9


@dataclass(frozen=True)
class InputFact:
    """One input as the panel lists it."""

    key: str
    label: str
    value: str
    range_words: str
    unit: str
    source: list[str]
    level: str
    status: str


@dataclass(frozen=True)
class Part:
    """A summand of a total, with the name of what explains it."""

    label: str
    value: str
    how: str = ""


@dataclass(frozen=True)
class Explanation:
    """All that the panel beside a figure says."""

    id: str
    option: CostOption
    title: str
    headline: str
    unit: str
    distribution: Mapping[str, Any] | None
    scale: tuple[float, float]
    range_words: str
    words: list[str]
    numbers: list[str]
    result: str
    inputs: list[InputFact] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def explain(run: CostRun, figure: str) -> Explanation | None:
    """The explanation of a line ("A.facility") or of a total ("A:nominal"); None when the run has no such figure."""
    if ":" in figure:
        key, _colon, name = figure.partition(":")
        option = run.options.get(key)
        build = _TOTALS.get(name)
        return build(run, option, figure) if option is not None and build is not None else None
    for option in run.options.values():
        line = option.line(figure)
        if line is not None:
            return _explain_line(run, option, line)
    return None


# A line -------------------------------------------------------------------------------------------------------------
def _explain_line(run: CostRun, option: CostOption, line: Mapping[str, Any]) -> Explanation:
    given = option.given_line(line["key"])
    title = _("%(option)s · %(label)s, %(horizon)s months") % {
        "option": option.key,
        "label": line["label"],
        "horizon": run.horizon,
    }
    if line["not_given"]:
        return _not_given(run, option, line, title)
    total = line["total_usd"]
    words, numbers = _line_formula(run, option, line, given)
    keys = list(dict.fromkeys(formulas.input_keys(given["factors"]))) if given else []
    timing = _timing_keys(option, given) if given else []
    return Explanation(
        id=line["key"],
        option=option,
        title=title,
        headline=_headline(total["likely"]),
        unit=_("%s, nominal") % run.currency,
        distribution=total,
        scale=shared_scale([total]),
        range_words=_range_words(option, total),
        words=words,
        numbers=numbers,
        result=f"{figures.fixed(total['likely'], 0)} {run.currency}",
        inputs=[input_fact(run, key) for key in dict.fromkeys([*keys, *timing])],
        parts=_base_parts(option, given),
        changes=changes_of(run, option, keys, MOST_INPUTS_CHANGED),
        notes=[line["detail"]] if line["detail"] and line["detail"] != line["label"] else [],
    )


def _not_given(run: CostRun, option: CostOption, line: Mapping[str, Any], title: str) -> Explanation:
    note = _("No price was given for this line. It is left out of the total, which is therefore too low.")
    return Explanation(
        id=line["key"],
        option=option,
        title=title,
        headline=figures.not_given(),
        unit="",
        distribution=None,
        scale=(0, 1),
        range_words="",
        words=[line["formula"]] if line["formula"] else [],
        numbers=[],
        result="",
        notes=[note],
    )


def _headline(value: float) -> str:
    return figures.short_k(value) if abs(value) < 100_000 else figures.millions_m(value)


def _range_words(option: CostOption, total: Mapping[str, Any]) -> str:
    if total["p10"] is None or total["p10"] == total["p90"]:
        return _("no range given")
    words = _("P10–P90 %(range)s · %(width)s wide") % {
        "range": figures.p10_p90(total, figures.millions),
        "width": figures.millions_m(abs(total["p90"] - total["p10"])),
    }
    whole = option.total(NOMINAL)["likely"]
    if whole <= 0 or total["likely"] <= 0 or total is option.total(NOMINAL) or total is option.total(NPV):
        return words
    share = figures.percent(total["likely"] / whole, 0)
    return f"{words}, " + _("%(share)s of %(option)s’s TCO") % {"share": share, "option": option.key}


def _line_formula(
    run: CostRun, option: CostOption, line: Mapping[str, Any], given: Mapping[str, Any] | None
) -> tuple[list[str], list[str]]:
    """Factors in words and in numbers. What they leave open, such as months of use, is the last factor."""
    if given is None:
        return ([line["formula"]] if line["formula"] else []), []
    words = [formulas.words(factor, run.inputs) for factor in given["factors"]]
    numbers = [formulas.numbers(factor, run.inputs) for factor in given["factors"]]
    if given.get("percent_of"):
        amounts = [option.line(key) for key in given["percent_of"]]
        known = [base for base in amounts if base is not None]
        words.append(_sum([base["label"] for base in known]))
        numbers.append(_sum([figures.fixed(base["amount_usd"], 0) for base in known]))
    last = _last_factor(option, line, given)
    if last:
        words.append(last[0])
        numbers.append(last[1])
    if given.get("sign", 1) < 0:
        words[0], numbers[0] = f"{figures.MINUS}{words[0]}", f"{figures.MINUS}{numbers[0]}"
    return words, numbers


def _sum(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else "(" + " + ".join(parts) + ")"


def _last_factor(option: CostOption, line: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[str, str] | None:
    amount, total = line["amount_usd"], line["total_usd"]["likely"]
    if not amount or not total:
        return None
    ratio = abs(total / amount)
    timing = given["timing"]
    if timing["kind"] == "monthly":
        words = _("months from %(start)s to %(end)s") % {
            "start": anchor_words(option, timing["from"]),
            "end": anchor_words(option, timing["to"]),
        }
        if timing.get("escalation"):
            words = _("months, each year raised, from %(start)s to %(end)s") % {
                "start": anchor_words(option, timing["from"]),
                "end": anchor_words(option, timing["to"]),
            }
        return words, shortest_that_multiplies(ratio, amount)
    if abs(ratio - 1) < 1e-9:
        return None
    return _("share paid within the horizon"), shortest_that_multiplies(ratio, amount)


def shortest_that_multiplies(ratio: float, amount: float) -> str:
    """`ratio` with as few decimals as still give the result to the unit, so that anybody can check the product."""
    exact = Decimal(str(ratio)) * Decimal(str(abs(amount)))
    for decimals in range(MOST_DECIMALS):
        shown = figures.rounded(ratio, decimals)
        if abs(shown * Decimal(str(abs(amount))) - exact) < Decimal("0.5"):
            return figures.fixed(shown, decimals)
    return figures.fixed(ratio, MOST_DECIMALS)


def anchor_words(option: CostOption, anchor: Mapping[str, Any]) -> str:
    """Signature, delivery (month 6.9), month 36."""
    event, phase = anchor["event"], anchor.get("phase")
    if event == "signature":
        return _("signature")
    if event == "horizon":
        return _("the end")
    if event == "month":
        return figures.months(anchor.get("month"))
    supply = next((item for item in option.found["supply"]["phases"] if item["key"] == phase), None)
    names = {"delivery": _("delivery"), "ready": _("acceptance"), "end": _("the end of the phase")}
    month = (supply or {}).get(f"{event}_month")
    return f"{names[event]} ({figures.months(month['likely'])})" if month else names[event]


def _timing_keys(option: CostOption, given: Mapping[str, Any]) -> list[str]:
    """The inputs that decide when the line is paid: lead time and acceptance of the phases its anchors name."""
    timing = given["timing"]
    anchors = [timing[name] for name in ("from", "to") if name in timing]
    anchors += [milestone["at"] for milestone in timing.get("milestones", [])]
    named = {(anchor.get("phase"), anchor["event"]) for anchor in anchors}
    keys: list[str] = []
    for phase in option.given["phases"]:
        events = {event for key, event in named if key == phase["key"]}
        if events & {"delivery", "ready"}:
            keys += formulas.input_keys(phase.get("lead_weeks"))
        if "ready" in events:
            keys += formulas.input_keys(phase.get("acceptance_weeks"))
    return keys


def _base_parts(option: CostOption, given: Mapping[str, Any] | None) -> list[Part]:
    if not given or not given.get("percent_of"):
        return []
    bases = [option.line(key) for key in given["percent_of"]]
    return [Part(base["label"], figures.fixed(base["amount_usd"], 0), base["key"]) for base in bases if base]


def input_fact(run: CostRun, key: str) -> InputFact:
    """An input with its range in the unit as given, and who says so."""
    item = run.inputs.by_key[key]
    unit = str(item.get("unit", ""))
    low, high = item.get("low"), item.get("high")
    ranged = low is not None and high is not None
    return InputFact(
        key=key,
        label=str(item["label"]),
        value=figures.number_in_unit(item["likely"], unit),
        range_words=figures.range_text(low, high, lambda v: figures.number_in_unit(v, unit)) if ranged else "",
        unit=figures.unit_words(unit),
        source=source_words(item["source"], ranged=ranged, group=item.get("correlation_group")),
        level=str(item["source"].get("evidence_level") or ""),
        status=str(item["source"].get("status") or ""),
    )


def source_words(source: Mapping[str, Any], *, ranged: bool, group: str | None) -> list[str]:
    """Who gives the value: kind and text, place, version, author, date; then what is not known about it."""
    kinds = {
        "quote": _("Quote"),
        "assumption": _("Assumption"),
        "configuration": _("Configuration"),
        "option": _("Option"),
        "catalogue": _("Catalogue"),
        "fx": _("Exchange rate"),
    }
    kind = kinds.get(str(source.get("kind")), str(source.get("kind")))
    parts = [f"{kind}: {source['text']}" if source.get("text") else kind]
    if source.get("ref"):
        parts.append(str(source["ref"]))
    if source.get("version"):
        parts.append(f"v{source['version']}")
    if source.get("author"):
        parts.append(str(source["author"]))
    if source.get("date"):
        parts.append(_date_words(str(source["date"])))
    if source.get("status") in ("contested", "memory", "superseded"):
        parts.append(
            {"contested": _("contested"), "memory": _("from memory, not checked"), "superseded": _("superseded")}[
                str(source["status"])
            ]
        )
    parts.append(_("same draw for all options") if ranged and source.get("kind") in ("assumption", "fx") else "")
    parts.append("" if ranged else _("no range given"))
    parts.append(_("moves with the group %s") % group.replace("_", " ") if group and ranged else "")
    return [part for part in parts if part]


def _date_words(text: str) -> str:
    try:
        return figures.day(text)
    except ValueError:
        return text


# A total ------------------------------------------------------------------------------------------------------------
def _drivers_of(run: CostRun, option: CostOption) -> list[str]:
    return [row["input"] for row in run.found["tornado"].get(option.key, []) if row["swing_usd"]]


def _group_parts(run: CostRun, option: CostOption) -> list[tuple[str, float, str]]:
    sums: dict[str, float] = {}
    for line in option.lines:
        group = "operating" if line["group"] in ("operating", "cloud") else str(line["group"])
        sums[group] = sums.get(group, 0.0) + line["total_usd"]["likely"]
    names = {"capital": _("Paid once"), "operating": _("Recurring"), "residual": _("Residual")}
    return [(names.get(group, group.capitalize()), value, f"{option.key}:{group}") for group, value in sums.items()]


def _total(run: CostRun, option: CostOption, figure: str) -> Explanation:
    parts = _group_parts(run, option)
    keys = _drivers_of(run, option)
    return _sum_explanation(
        run,
        option,
        figure,
        title=_("%(option)s · TCO, %(horizon)s months") % {"option": option.key, "horizon": run.horizon},
        distribution=option.total(NOMINAL),
        parts=[
            Part(label, figures.fixed(value, 0), how if how.split(":")[1] in _TOTALS else "")
            for label, value, how in parts
        ],
        keys=keys[:MOST_INPUTS_CHANGED],
        notes=[_("The inputs below are those whose ranges move this total most.")] if keys else [],
    )


def _npv(run: CostRun, option: CostOption, figure: str) -> Explanation:
    periods = zip(run.periods, option.found["npv_by_period_usd"], strict=True)
    rate_keys = list(formulas.input_keys(run.given["discount_rate"]))
    return _sum_explanation(
        run,
        option,
        figure,
        title=_("%(option)s · NPV at %(rate)s a year") % {"option": option.key, "rate": run.rate_text},
        distribution=option.total(NPV),
        parts=[Part(name.capitalize(), figures.fixed(value, 0)) for name, value in periods],
        keys=[*rate_keys, *_drivers_of(run, option)[:2]],
        notes=[
            _("Each payment is divided by (1 + %(rate)s) to the power of month / 12; month 0 counts in full.")
            % {"rate": run.rate_text}
        ],
        unit=_("%s, at present value") % run.currency,
        basis=NPV,
    )


def _subtotal(groups: tuple[str, ...], words: str) -> Any:
    def build(run: CostRun, option: CostOption, figure: str) -> Explanation | None:
        lines = [line for line in option.lines if line["group"] in groups]
        if not lines:
            return None
        likely = sum(line["total_usd"]["likely"] for line in lines)
        known = {"capital": option.found["capital_usd"]}.get(groups[0])
        keys = {
            key for line in lines for key in formulas.input_keys((option.given_line(line["key"]) or {}).get("factors"))
        }
        ranked = [key for key in _drivers_of(run, option) if key in keys]
        return _sum_explanation(
            run,
            option,
            figure,
            title=f"{option.key} · {_(words)}, " + _("%s months") % run.horizon,
            distribution=known if known and abs(known["likely"] - likely) < 0.5 else None,
            parts=[Part(line["label"], figures.fixed(line["total_usd"]["likely"], 0), line["key"]) for line in lines],
            keys=ranked[:MOST_INPUTS_CHANGED],
            likely=likely,
        )

    return build


def _sum_explanation(
    run: CostRun,
    option: CostOption,
    figure: str,
    *,
    title: str,
    distribution: Mapping[str, Any] | None,
    parts: list[Part],
    keys: list[str],
    notes: list[str] | None = None,
    unit: str = "",
    likely: float | None = None,
    basis: str = NOMINAL,
) -> Explanation:
    value = float(distribution["likely"] if distribution else likely or 0.0)
    return Explanation(
        id=figure,
        option=option,
        title=title,
        headline=figures.millions_m(value),
        unit=unit or _("%s, nominal") % run.currency,
        distribution=distribution,
        scale=shared_scale([distribution]) if distribution else (0, 1),
        range_words=_range_words(option, distribution) if distribution else "",
        words=[],
        numbers=[],
        result=f"{figures.fixed(value, 0)} {run.currency}",
        parts=parts,
        inputs=[input_fact(run, key) for key in keys],
        changes=changes_of(run, option, keys, MOST_INPUTS_CHANGED, basis),
        notes=notes or [],
    )


_TOTALS: dict[str, Any] = {
    "nominal": _total,
    "npv": _npv,
    "capital": _subtotal(("capital",), "Paid once"),
    "operating": _subtotal(("operating", "cloud"), "Recurring"),
    "residual": _subtotal(("residual",), "Residual"),
}
