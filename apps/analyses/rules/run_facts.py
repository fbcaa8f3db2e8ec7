"""Facts that only a finished cost run knows, read from its two documents (docs/run-json.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.analyses.rules.periods import period
from apps.analyses.rules.vocabulary import joined, money, number

MARKET_KINDS: Final = ("catalogue", "fx")
DOUBTFUL: Final = ("contested", "memory")


@dataclass(frozen=True, kw_only=True)
class RunDocuments:
    """Inputs and results of one succeeded run."""

    inputs: Mapping[str, Any]
    results: Mapping[str, Any]

    @property
    def currency(self) -> str:
        return str(self.results["currency"])

    def nominal(self, letter: str) -> float:
        return float(self.results["options"][letter]["nominal_usd"]["likely"])

    def capital(self, letter: str) -> float:
        return float(self.results["options"][letter]["capital_usd"]["likely"])

    def staff(self, letter: str) -> float:
        """What the option's people cost over the window."""
        lines = self.results["options"][letter]["lines"]
        return float(sum(line["total_usd"]["likely"] for line in lines if line["category"] == "staff"))

    def npv(self, letter: str) -> float:
        return float(self.results["options"][letter]["npv_usd"]["likely"])


# T6 ------------------------------------------------------------------------------------------------------------------
def ranking_facts(run: RunDocuments) -> dict[str, Any]:
    """Who is cheapest in either view, and every pair that the two views order differently."""
    nominal, npv = list(run.results["ranking"]["nominal"]), list(run.results["ranking"]["npv"])
    pairs = [(one, other) for one, other in combinations(nominal, 2) if npv.index(one) > npv.index(other)]
    return {
        "nominal_winner": nominal[0] if nominal else None,
        "npv_winner": npv[0] if npv else None,
        "reordered_pairs": [_pair_text(run, one, other) for one, other in pairs],
        "reordered_names": joined([letter for letter in nominal if any(letter in pair for pair in pairs)]),
    }


def _pair_text(run: RunDocuments, one: str, other: str) -> str:
    return _(
        "%(one)s costs less nominally (%(nominal_one)s against %(nominal_other)s), "
        "%(other)s at present value (%(npv_other)s against %(npv_one)s)"
    ) % {
        "one": one,
        "other": other,
        "nominal_one": money(run.nominal(one), run.currency),
        "nominal_other": money(run.nominal(other), run.currency),
        "npv_one": money(run.npv(one), run.currency),
        "npv_other": money(run.npv(other), run.currency),
    }


# T8 ------------------------------------------------------------------------------------------------------------------
def price_facts(run: RunDocuments, *, today: date, max_age_days: Decimal | None) -> dict[str, Any]:
    """Market prices and rates among the inputs with their least possible age, and those whose date decides nothing.

    A date such as 2025 may mean any of its days: the price is old when the last of them is too old, and undecided
    when only the first one is.
    """
    ages: list[tuple[str, int]] = []
    undated: list[str] = []
    for entry in run.inputs["inputs"].values():
        if not _is_market_price(entry):
            continue
        label, days = _price_label(entry), period(entry["source"].get("date", ""))
        if days is None:
            undated.append(label)
            continue
        most, least = (max(0, (today - day).days) for day in days)
        if max_age_days is not None and least <= max_age_days < most:
            undated.append(label)
        else:
            ages.append((label, least))
    return {"price_ages": sorted(ages, key=lambda pair: (-pair[1], pair[0])), "undated_prices": sorted(undated)}


def _is_market_price(entry: Mapping[str, Any]) -> bool:
    source = entry["source"]
    if source["kind"] in MARKET_KINDS:
        return True
    return source["kind"] == "assumption" and entry["topic"] == "price" and entry["unit"].startswith("USD/")


def _price_label(entry: Mapping[str, Any]) -> str:
    dated = entry["source"].get("date", "")
    return _("%(label)s as of %(date)s") % {"label": entry["label"], "date": dated} if dated else str(entry["label"])


# E4 ------------------------------------------------------------------------------------------------------------------
def driver_facts(
    run: RunDocuments, *, n_drivers: Decimal | None, claims_of: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Which of the largest drivers between the two cheapest options rest on something contested or recalled."""
    letters = run.results["ranking"]["nominal"][:2]
    if n_drivers is None or len(letters) < 2:
        return {"contested_drivers": None if n_drivers is None else []}
    bars = run.results["tornado_difference"]
    drivers = bars.get("|".join(letters)) or bars.get("|".join(reversed(letters))) or []
    found = [_doubt(run, driver, claims_of) for driver in drivers[: int(n_drivers)]]
    return {"contested_drivers": [text for text in found if text]}


def _doubt(run: RunDocuments, driver: Mapping[str, Any], claims_of: Mapping[str, Sequence[str]]) -> str:
    entry = run.inputs["inputs"].get(driver["input"])
    if entry is None:
        return ""
    source = entry["source"]
    claims = (
        claims_of.get(source.get("ref", "").split(" ")[0], ()) if source["kind"] in ("assumption", "option") else ()
    )
    if claims:
        words = {"input": entry["label"], "claims": joined(claims)}
        return _("%(input)s rests on the contested claim %(claims)s") % words
    if source.get("status") == "contested":
        return _("%(input)s is contested") % {"input": entry["label"]}
    if source.get("status") == "memory":
        return _("%(input)s is recalled, not read") % {"input": entry["label"]}
    return ""


# C3, T1 --------------------------------------------------------------------------------------------------------------
THREE_YEARS: Final = 36


def has_power_and_cooling(run: RunDocuments, letter: str) -> bool:
    """Whether the run computed the option over three years or more with its facility or power."""
    option = run.results["options"].get(letter)
    if option is None or run.results["horizon_months"] < THREE_YEARS:
        return False
    site = [entry for entry in option["lines"] if entry["category"] in ("facility", "power")]
    return any(not entry["not_given"] and entry["total_usd"]["likely"] > 0 for entry in site)


def break_even_facts(
    run: RunDocuments, *, letter: str, fte: Decimal | None, others: Mapping[str, Decimal]
) -> dict[str, Any]:
    """Up to how many people the option stays cheaper than the cheapest owned option of another build.

    `others` are those options with their staff in FTE. Break-even = own FTE + (their nominal total − own nominal
    total) / (what one FTE of this option costs over the window).
    """
    computed = run.results["options"]
    known = [other for other in others if other in computed]
    if letter not in computed or not known:
        return {"break_even_text": _("There is no owned option of another build to compare with.")}
    reference = min(known, key=run.nominal)
    saving = run.capital(reference) - run.capital(letter)
    staff = run.staff(letter)
    if not fte or staff <= 0:
        return {"break_even_text": _saving_text(run, letter, reference, saving)}
    dearer = Decimal(str(run.nominal(reference) - run.nominal(letter)))
    break_even = max(Decimal(0), fte + dearer * fte / Decimal(str(staff)))
    text = _("%(saving)s Its staff costs %(staff)s against %(other_staff)s. %(end)s") % {
        "saving": _saving_text(run, letter, reference, saving),
        "staff": money(staff, run.currency),
        "other_staff": money(run.staff(reference), run.currency),
        "end": _("In all it is cheaper than %(reference)s up to %(break_even)s FTE; %(fte)s are planned.")
        % {"reference": reference, "break_even": number(round(break_even, 1)), "fte": number(fte)},
    }
    return {"break_even_fte": round(break_even, 1), "break_even_text": text}


def _saving_text(run: RunDocuments, letter: str, reference: str, saving: float) -> str:
    words = {"letter": letter, "reference": reference, "amount": money(abs(saving), run.currency)}
    if saving < 0:
        return _("%(letter)s costs %(amount)s more to buy than %(reference)s.") % words
    return _("%(letter)s costs %(amount)s less to buy than %(reference)s.") % words
