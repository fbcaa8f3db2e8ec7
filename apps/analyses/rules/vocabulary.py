"""The facts that rules may speak of: their names, captions, and how their values are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from django.utils.formats import date_format, number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


@dataclass(frozen=True)
class Fact:
    """Caption and scope of one fact; facts of an assessment can be read by rules on its options too."""

    label: str | Promise
    scope: str = "option"


FACTS: Final[dict[str, Fact]] = {
    "signature_date": Fact(gettext_lazy("expected signature"), "assessment"),
    "sign_off_missing": Fact(gettext_lazy("what finance has to confirm"), "assessment"),
    "n_sign_off_missing": Fact(gettext_lazy("number of choices to confirm"), "assessment"),
    "nominal_winner": Fact(gettext_lazy("cheapest option, nominal"), "assessment"),
    "npv_winner": Fact(gettext_lazy("cheapest option, present value"), "assessment"),
    "reordered_pairs": Fact(gettext_lazy("pairs in different order"), "assessment"),
    "reordered_names": Fact(gettext_lazy("options in different order"), "assessment"),
    "price_ages": Fact(gettext_lazy("age of market prices"), "assessment"),
    "undated_prices": Fact(gettext_lazy("market prices without an exact date"), "assessment"),
    "contested_drivers": Fact(gettext_lazy("contested drivers"), "assessment"),
    "n_contested_drivers": Fact(gettext_lazy("number of contested drivers"), "assessment"),
    "vendors": Fact(gettext_lazy("vendors")),
    "n_quotes": Fact(gettext_lazy("number of quotes")),
    "quote_valid_until": Fact(gettext_lazy("quote valid until")),
    "owned": Fact(gettext_lazy("own hardware")),
    "disaggregated": Fact(gettext_lazy("disaggregated racks")),
    "own_racks": Fact(gettext_lazy("own racks")),
    "fabric_facts_missing": Fact(gettext_lazy("missing facts of the fabric")),
    "fabric_facts_given": Fact(gettext_lazy("given facts of the fabric")),
    "staff_lines": Fact(gettext_lazy("staff lines")),
    "staff_fte": Fact(gettext_lazy("staff in FTE")),
    "break_even_fte": Fact(gettext_lazy("break-even staff in FTE")),
    "break_even_text": Fact(gettext_lazy("break-even staffing")),
    "rack_lead_weeks": Fact(gettext_lazy("lead time")),
    "delivery_committed": Fact(gettext_lazy("delivery commitment")),
    "rack_power_kw": Fact(gettext_lazy("power per rack")),
    "site_rack_limit_kw": Fact(gettext_lazy("site limit per rack")),
    "liquid_on_air_site": Fact(gettext_lazy("cooling of racks and site")),
    "nameplate_billed": Fact(gettext_lazy("whether the IT load is typical or nameplate")),
    "occupancy_fraction": Fact(gettext_lazy("scheduled share of the hours")),
    "availability_given": Fact(gettext_lazy("availability")),
    "goodput_given": Fact(gettext_lazy("goodput")),
    "reserved_accelerators": Fact(gettext_lazy("accelerators in reserved cloud")),
    "owned_option_beside": Fact(gettext_lazy("an owned option computed beside it")),
    "weakest_evidence_rank": Fact(gettext_lazy("weakest evidence")),
    "evidence_levels": Fact(gettext_lazy("evidence levels")),
    "evidence": Fact(gettext_lazy("answers to the three mandatory questions")),
}


def caption(name: str) -> str:
    """The caption of a fact, or the name itself for the key of an assumption."""
    fact = FACTS.get(name)
    return str(fact.label) if fact else name


def written(value: Any) -> str:
    """A fact's value as text: "not given" when it is missing, numbers without needless digits."""
    if value is None:
        return _("not given")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, date):
        return date_format(value, "j M Y")
    if isinstance(value, int | float | Decimal):
        return number(Decimal(str(value)))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(written(item[0] if isinstance(item, tuple) else item) for item in value)
    return str(value)


def number(value: Decimal) -> str:
    """Three significant digits, whole numbers in full; only for words, tables have their own rules."""
    if value == value.to_integral_value() or abs(value) >= 1000:
        return str(number_format(int(value.to_integral_value()), use_l10n=True, force_grouping=True))
    places = 1 if abs(value) >= 10 else 2
    rounded = round(value, places)
    return str(number_format(f"{rounded.normalize():f}", use_l10n=True))


def money(amount: float, currency: str) -> str:
    """An amount in words, in millions from a tenth of one on."""
    if abs(amount) >= 100_000:
        return f"{number_format(f'{amount / 1e6:.2f}', use_l10n=True)} M {currency}"
    return f"{number_format(round(amount), use_l10n=True, force_grouping=True)} {currency}"


def joined(names: Sequence[str]) -> str:
    """A, B and C."""
    if len(names) < 2:
        return "".join(names)
    return _("%(first)s and %(last)s") % {"first": ", ".join(names[:-1]), "last": names[-1]}
