"""What the numbers of a run say, as sentences that rules build: the headings and decks of the result screens.

A sentence is either true of the run it is built from or not built at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.reports import figures
from apps.reports.cost_run import NOMINAL, NPV, CostOption, CostRun

LEVEL_FRACTION = 0.005  # totals closer than half a percent are called level


@dataclass(frozen=True)
class Finding:
    """A heading and what stands under it."""

    heading: str
    deck: SafeString


def default_option(run: CostRun, basis: str = NOMINAL) -> CostOption:
    """What a screen opens with: the option that costs least on the basis shown, so that no heading leads past it."""
    ranked = _by_cost(run, basis)
    return ranked[0] if ranked else next(iter(run.options.values()))


def default_rival(run: CostRun, option: CostOption, basis: str = NOMINAL) -> CostOption | None:
    """What an option is held against, so that the cheapest option is always one of the two.

    The cheapest option stands against the best one of the other kind, own against rented, else against the runner-up;
    every other option stands against the cheapest.
    """
    others = [other for other in _by_cost(run, basis) if other.key != option.key]
    if not others or option.baseline or option.total(basis)["likely"] > others[0].total(basis)["likely"]:
        return others[0] if others else None
    return next((other for other in others if other.owned != option.owned), others[0])


def _by_cost(run: CostRun, basis: str) -> list[CostOption]:
    return [option for option in run.ordered(basis) if not option.baseline]


def break_even(run: CostRun, option: CostOption, rival: CostOption, basis: str = NOMINAL) -> Mapping[str, Any] | None:
    """The first month in which the option has cost less than the rival, the residual values of the horizon counted."""
    pair = run.comparison(option.key, rival.key)
    if pair is None:
        return None
    return pair["discounted_break_even_month"] if basis == NPV else pair["break_even_month_net"]


def _named(option: CostOption) -> str:
    return f"{option.verb} {option.key}" if option.verb else option.key


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def tco_finding(run: CostRun, option: CostOption, rival: CostOption | None, basis: str) -> Finding:
    if rival is None:
        total = figures.millions_m(option.total(basis)["likely"])
        heading = _("%(option)s costs %(total)s %(currency)s over %(horizon)s months") % {
            "option": option.key,
            "total": total,
            "currency": run.currency,
            "horizon": run.horizon,
        }
        return Finding(heading, _single_deck(run, option))
    return Finding(_pair_heading(run, option, rival, basis), _pair_deck(run, option, rival))


def _pair_heading(run: CostRun, option: CostOption, rival: CostOption, basis: str) -> str:
    names = {"option": _capital(_named(option)), "rival": _named(rival), "horizon": run.horizon}
    if option.verb != rival.verb:
        for lower, higher in ((option, rival), (rival, option)):
            month = (break_even(run, lower, higher, basis) or {}).get("likely")
            # Who falls below the other once and ends above it has not undercut it over the horizon.
            if month and lower.total(basis)["likely"] < higher.total(basis)["likely"]:
                words = _("%(lower)s undercuts %(higher)s from %(month)s")
                if basis == NPV:
                    words = _("%(lower)s undercuts %(higher)s from %(month)s, discounted")
                return words % {
                    "lower": _capital(_named(lower)),
                    "higher": _named(higher),
                    "month": figures.months(month),
                }
    return _difference_heading(option, rival, basis, names)


def _difference_heading(option: CostOption, rival: CostOption, basis: str, names: dict[str, Any]) -> str:
    own, other = option.total(basis)["likely"], rival.total(basis)["likely"]
    if abs(own - other) <= LEVEL_FRACTION * max(abs(own), abs(other)):
        words = _("%(option)s and %(rival)s cost the same over %(horizon)s months, within half a percent")
    elif own < other:
        words = _("%(option)s costs %(amount)s less than %(rival)s over %(horizon)s months")
    else:
        words = _("%(option)s costs %(amount)s more than %(rival)s over %(horizon)s months")
    sentence = words % {**names, "amount": figures.millions_m(abs(own - other))}
    return _("%s, at present value") % sentence if basis == NPV else sentence


def _single_deck(run: CostRun, option: CostOption) -> SafeString:
    return format_html(
        _("Nominal; <b>{npv}</b> at {rate} a year. There is no second option to hold it against."),
        npv=figures.millions_m(option.total(NPV)["likely"]),
        rate=run.rate_text,
    )


def _pair_deck(run: CostRun, option: CostOption, rival: CostOption) -> SafeString:
    nominal = (option.total(NOMINAL)["likely"], rival.total(NOMINAL)["likely"])
    npv = (option.total(NPV)["likely"], rival.total(NPV)["likely"])
    first = format_html(
        _("Over {horizon} months {a} costs <b>{a_total}</b> and {b} <b>{b_total}</b> nominal."),
        horizon=run.horizon,
        a=option.key,
        b=rival.key,
        a_total=figures.millions_m(nominal[0]),
        b_total=figures.millions_m(nominal[1]),
    )
    turns = (nominal[0] < nominal[1]) != (npv[0] < npv[1])
    words = (
        _("At {rate} a year the order turns, {a} against {b}.")
        if turns
        else _("At {rate} a year the order stays, {a} against {b}.")
    )
    second = words.format(rate=run.rate_text, a=figures.millions(npv[0]), b=figures.millions_m(npv[1]))
    return format_html("{} {} {}", first, second, cheapest_sentence(run))


def cheapest_sentence(run: CostRun) -> str:
    """Which option costs least on each count, when there are more than two to tell apart."""
    if len(run.compared) < 3:
        return ""
    by_nominal, by_npv = run.found["ranking"][NOMINAL][0], run.found["ranking"][NPV][0]
    if by_nominal == by_npv:
        return _("%s costs least on both counts.") % by_nominal
    return _("%(nominal)s costs least nominal, %(npv)s at present value.") % {"nominal": by_nominal, "npv": by_npv}


def decision_finding(
    run: CostRun, ranked: Sequence[CostOption], open_gates: int, held: Mapping[str, Sequence[str]] | None = None
) -> Finding:
    """The lead on cost, how firm it is, and whether anything keeps it from being signed.

    `held` names the options that a gate keeps out of the ranking, each with the rules that are open; a cheaper one
    among them is told in the heading.
    """
    if not ranked:
        words = _("Nothing is ranked: every option has an open gate")
        return Finding(words, format_html("{}", _("The options stand below with what each of them waits for.")))
    lead, most = ranked[0], _most_often(run, ranked)
    below = _cheaper_held(run, lead, held or {})
    heading = _lead_words(run, lead, most, below)
    if open_gates:
        one, many = _("One gate is open before signature."), _("gates are open before signature.")
        heading += " " + (one if open_gates == 1 else f"{open_gates}{figures.NBSP}{many}")
    return Finding(heading if open_gates else heading.rstrip("."), _decision_deck(run, lead, most, ranked))


def _lead_words(
    run: CostRun, lead: CostOption, most: CostOption, below: Sequence[tuple[CostOption, Sequence[str]]]
) -> str:
    """One sentence on the cheapest ranked option that leaves out no option that costs less."""
    names = {"lead": lead.key, "most": most.key, "n": run.horizon}
    if below:
        words = _("%(lead)s costs least of those that can be ranked; %(below)s.")
        return words % {**names, "below": "; ".join(_held_words(lead, option, rules) for option, rules in below)}
    if most.key != lead.key:
        share = run.found["probability_cheapest"][NOMINAL].get(most.key, 0.0)
        if share > 0.5:
            return _("%(lead)s costs least at likely values, %(most)s in most draws.") % names
        return _("%(lead)s costs least at likely values, %(most)s in more draws than any other.") % names
    if any(o.baseline and o.total(NOMINAL)["likely"] < lead.total(NOMINAL)["likely"] for o in run.options.values()):
        return _("The baseline aside, %(lead)s costs least over %(n)d months.") % names
    return _("%(lead)s costs least over %(n)d months.") % names


def _cheaper_held(
    run: CostRun, lead: CostOption, held: Mapping[str, Sequence[str]]
) -> list[tuple[CostOption, Sequence[str]]]:
    """The options that a gate holds back and that cost less than the lead, the cheapest first."""
    limit = lead.total(NOMINAL)["likely"]
    found = [(run.options[key], rules) for key, rules in held.items() if key in run.options]
    found = [(option, rules) for option, rules in found if option.total(NOMINAL)["likely"] < limit]
    return sorted(found, key=lambda pair: pair[0].total(NOMINAL)["likely"])


def _held_words(lead: CostOption, option: CostOption, rules: Sequence[str]) -> str:
    names = {
        "option": option.key,
        "amount": figures.millions_m(lead.total(NOMINAL)["likely"] - option.total(NOMINAL)["likely"]),
        "rules": ", ".join(dict.fromkeys(rules)),
    }
    if len(set(rules)) == 1:
        return _("%(option)s is %(amount)s cheaper but %(rules)s is open") % names
    return _("%(option)s is %(amount)s cheaper but %(rules)s are open") % names


def _most_often(run: CostRun, ranked: Sequence[CostOption]) -> CostOption:
    """The ranked option that is cheapest in most draws; the lead when shares are equal or one not ranked wins more."""
    shares = run.found["probability_cheapest"][NOMINAL]
    most = max(ranked, key=lambda option: (shares.get(option.key, 0.0), -ranked.index(option)))
    return ranked[0] if any(share > shares.get(most.key, 0.0) for share in shares.values()) else most


def _decision_deck(run: CostRun, lead: CostOption, most: CostOption, ranked: Sequence[CostOption]) -> SafeString:
    draws = figures.draws_of_100(run.found["probability_cheapest"][NOMINAL])
    first = format_html(
        _("{a} costs <b>{total} {currency}</b> nominal and is cheapest in <b>{n} of 100</b> draws."),
        a=lead.key,
        total=figures.millions_m(lead.total(NOMINAL)["likely"]),
        currency=run.currency,
        n=draws.get(lead.key, 0),
    )
    second = ""
    if most.key != lead.key:
        words = _("{b} is cheapest in <b>{n} of 100</b>: its range reaches less far up than that of {a}.")
        if most.total(NOMINAL)["p90"] >= lead.total(NOMINAL)["p90"]:
            words = _("{b} is cheapest in <b>{n} of 100</b>.")
        second = format_html(words, a=lead.key, b=most.key, n=draws.get(most.key, 0))
    elif len(ranked) > 1:
        gap = ranked[1].total(NOMINAL)["likely"] - lead.total(NOMINAL)["likely"]
        words = _("{b} follows with <b>{gap}</b> more.")
        if len(ranked) < len(run.compared):
            words = _("Of those ranked, {b} follows with <b>{gap}</b> more.")
        second = format_html(words, b=ranked[1].key, gap=figures.millions_m(gap))
    last = _("This is cost alone: training cycles and dates are not computed yet, so it is no advice to buy.")
    return format_html("{} {} {}", first, second, last)


def basis_conflict(run: CostRun) -> tuple[str, str] | None:
    """The finding and its reason when nominal cost and present value name different winners or orders."""
    nominal, npv = run.found["ranking"][NOMINAL], run.found["ranking"][NPV]
    for i, first in enumerate(nominal):
        for second in nominal[i + 1 :]:
            if npv.index(second) < npv.index(first):
                return _conflict_words(run, run.options[first], run.options[second])
    return None


def _conflict_words(run: CostRun, first: CostOption, second: CostOption) -> tuple[str, str]:
    bold = _("Nominal and NPV disagree on %(a)s and %(b)s.") % {"a": first.key, "b": second.key}
    words = _(
        "%(a)s costs less nominally (%(an)s against %(bn)s); at %(rate)s %(b)s costs less (%(bv)s against %(av)s)."
    )
    reason = words % {
        "a": first.key,
        "b": second.key,
        "an": figures.millions(first.total(NOMINAL)["likely"]),
        "bn": figures.millions_m(second.total(NOMINAL)["likely"]),
        "rate": run.rate_text,
        "av": figures.millions_m(first.total(NPV)["likely"]),
        "bv": figures.millions(second.total(NPV)["likely"]),
    }
    return bold, reason


def comparison_finding(run: CostRun, reference: CostOption, other: CostOption | None) -> Finding:
    """What one option saves on hardware and what its running costs take back."""
    if other is None:
        return tco_finding(run, reference, None, NOMINAL)
    capital = other.found["capital_usd"]["likely"] - reference.found["capital_usd"]["likely"]
    total = other.total(NOMINAL)["likely"] - reference.total(NOMINAL)["likely"]
    eats = _largest_offset(reference, other, capital)
    deck = _comparison_deck(run, reference, other, total)
    if other.owned and reference.owned and eats is not None and abs(capital) > 0:
        cheaper = capital < 0
        share = abs(eats[1]) / abs(capital)
        verb = _("more than eats it") if share > 1 else _("nearly eats it") if share > 0.7 else _("takes back a part")
        words = (
            _("%(b)s’s purchase is %(saving)s cheaper; %(amount)s of %(row)s %(verb)s")
            if cheaper
            else _("%(b)s’s purchase is %(saving)s dearer; %(amount)s less for %(row)s %(verb)s")
        )
        if not cheaper:
            verb = (
                _("more than wins it back")
                if share > 1
                else _("wins nearly all back")
                if share > 0.7
                else _("wins a part back")
            )
        return Finding(
            words
            % {
                "b": other.key,
                "saving": figures.millions_m(abs(capital)),
                "amount": figures.millions_m(abs(eats[1])),
                "row": eats[0].lower(),
                "verb": verb,
            },
            deck,
        )
    lower, higher = sorted((reference, other), key=lambda option: option.total(NOMINAL)["likely"])
    names = {"option": lower.key, "rival": higher.key, "horizon": run.horizon}
    return Finding(_difference_heading(lower, higher, NOMINAL, names), deck)


def _largest_offset(reference: CostOption, other: CostOption, capital: float) -> tuple[str, float] | None:
    """The recurring row that works most against the difference in what is paid once."""
    best: tuple[str, float] | None = None
    for label, difference in recurring_differences(reference, other).items():
        if difference * capital < 0 and (best is None or abs(difference) > abs(best[1])):
            best = (label, difference)
    return best


def recurring_differences(reference: CostOption, other: CostOption) -> dict[str, float]:
    found: dict[str, float] = {}
    for sign, option in ((-1, reference), (1, other)):
        for line in option.lines:
            if line["group"] in ("operating", "cloud"):
                found[line["label"]] = found.get(line["label"], 0.0) + sign * line["total_usd"]["likely"]
    return found


def _comparison_deck(run: CostRun, reference: CostOption, other: CostOption, total: float) -> SafeString:
    word = _("less") if total < 0 else _("more")
    pair = run.comparison(other.key, reference.key)
    share = (
        figures.draws_of_100({"yes": pair["probability_first_cheaper"], "no": 1 - pair["probability_first_cheaper"]})[
            "yes"
        ]
        if pair
        else 0
    )
    return format_html(
        _(
            "Over {horizon} months {b} costs <b>{gap}</b> {word} than {a}, and is cheaper in <b>{n} of 100</b> draws. "
            "Ranges are low to high as quoted."
        ),
        horizon=run.horizon,
        a=reference.key,
        b=other.key,
        gap=figures.millions_m(abs(total)),
        word=word,
        n=share,
    )
