"""What all builders of one document share: the assessment's facts, its assumptions, its exchange rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from apps.analyses.inputs.book import Book, Caption, Range, source
from apps.analyses.inputs.factors import Factor
from apps.assessments.models import Assessment, Option
from apps.assumptions.models import FxRate
from apps.assumptions.services import check_bounds
from apps.engine.errors import InputError

if TYPE_CHECKING:
    from apps.assumptions.selectors import ResolvedAssumption

ASSUMPTION_CURRENCY = "USD"  # assumptions whose key says `usd`

# assumptions that move together, by group
GROUP_OF = {
    "residual_fraction.compute": "gpu_price",
    "bridge_usd_per_gpu_hour": "gpu_price",
    "facility_usd_per_kw_month": "site",
    "power.load_factor": "site",
    "power.electricity_usd_per_kwh": "site",
    "power.demand_charge_usd_per_kw_month": "site",
}
TOPICS = ("price", "schedule", "performance", "demand")


@dataclass
class Context:
    """The facts of one assessment while its document is built."""

    assessment: Assessment
    assumptions: Mapping[str, "ResolvedAssumption"]
    rates: Sequence[FxRate]
    book: Book = field(default_factory=Book)
    # what a scenario will change, so that no line is left out that only its numbers need
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def assumption(self, key: str, option: Option | None = None) -> Factor | None:
        """The assumption as an input: the option's own value, else the assessment's; None when nobody gave one."""
        own = option.assumptions.get(key) if option else None
        found = self.assumptions.get(key)
        if option is not None and own:
            value = Range.of(own)
            self._check(key, value)
            name = f"{option.letter}.{key}"
            return self.book.add(name, value, self._caption(key, option), option_source(key, own))
        if found is None or found.likely is None:
            return None
        value = Range(likely=found.likely, low=found.low, high=found.high, distribution=found.distribution)
        self._check(key, value)
        return self.book.add(key, value, self._caption(key), assumption_source(found))

    def _check(self, key: str, value: Range) -> None:
        """Refuse what was stored before its bounds were known."""
        found = self.assumptions.get(key)
        if found is not None:
            check_bounds(key, (value.low, value.likely, value.high), found.minimum, found.maximum)

    def likely(self, key: str, option: Option | None = None) -> Decimal:
        """The likely value that `assumption` would enter; 0 when nobody gave one."""
        own = option.assumptions.get(key) if option else None
        if own:
            return Range.of(own).likely
        found = self.assumptions.get(key)
        return found.likely if found is not None and found.likely is not None else Decimal(0)

    def can_be_positive(self, key: str, option: Option | None = None) -> bool:
        """Whether likely or high of the assumption lies above 0."""
        own = option.assumptions.get(key) if option else None
        found = self.assumptions.get(key)
        high = Range.of(own).high if own else (found.high if found is not None else None)
        return self.likely(key, option) > 0 or (high is not None and high > 0)

    def money(self, key: str, option: Option | None = None) -> Factor | None:
        """An assumption in USD as a factor in the base currency."""
        factor = self.assumption(key, option)
        rate = self.fx(ASSUMPTION_CURRENCY) if factor is not None else None
        return factor if factor is None or rate is None else {"product": [factor, rate]}

    def fx(self, currency: str) -> Factor | None:
        """What one unit of `currency` is worth in the base currency; None when it is the base currency.

        Raises `InputError` when no rate of the pair is dated on or before the day of the assessment's rates.
        """
        base = self.assessment.currency
        if currency == base:
            return None
        name, day = f"fx.{currency}.{base}", self.assessment.fx_date
        if day is None:
            raise InputError(name, "not given", "a dated rate; the assessment does not say of which date")
        dated = [rate for rate in self.rates if rate.rate_date <= day]
        found = max(
            (rate for rate in dated if {rate.base, rate.quote} == {currency, base}),
            key=lambda rate: (rate.rate_date, rate.base == currency),
            default=None,
        )
        if found is None:
            raise InputError(name, "not given", f"a rate between {currency} and {base} dated on or before {day}")
        origin = source("fx", text=found.source, ref=f"{found.base}/{found.quote}", date=found.rate_date)
        caption = Caption(label=f"{base} for one {currency}", unit=f"{base}/{currency}")
        return self.book.add(name, _rate(found, currency), caption, origin)

    def _caption(self, key: str, option: Option | None = None) -> Caption:
        found = self.assumptions.get(key)
        label, unit, topic = (found.label, found.unit, found.topic) if found else (key, "-", "price")
        return Caption(
            label=f"{label}, option {option.letter}" if option else label,
            unit=unit,
            topic=topic if topic in TOPICS else "price",
            correlation_group=GROUP_OF.get(key),
        )


def option_source(key: str, own: Mapping[str, str]) -> dict[str, object]:
    """The source of what one option assumes for itself."""
    return source(
        "option",
        text=own.get("source", ""),
        ref=key,
        author=own.get("author", ""),
        date=own.get("source_date", ""),
        status=own.get("status") or "accepted",
    )


def assumption_source(found: "ResolvedAssumption") -> dict[str, object]:
    return source(
        "assumption",
        text=found.source,
        ref=f"{found.key} ({found.layer})",
        version=found.version,
        author=found.author_label,
        date=found.source_date,
        status=found.status,
    )


def _rate(rate: FxRate, currency: str) -> Range:
    """The rate in the direction from `currency`; the inverse is rounded to 12 significant digits."""
    if rate.base == currency:
        return Range(likely=rate.rate, low=rate.low, high=rate.high)
    low, high = (None if value is None else _inverse(value) for value in (rate.high, rate.low))
    return Range(likely=_inverse(rate.rate), low=low, high=high)


def _inverse(number: Decimal) -> Decimal:
    return Decimal(format(1 / number, ".12g"))
