"""What must hold of a document's numbers: at likely values, and at the ends of their ranges."""

from collections.abc import Mapping

import numpy as np

from apps.engine.draws import likely_values
from apps.engine.errors import InputError
from apps.engine.factors import Factor, Ref, Value, evaluate
from apps.engine.records import Document, Monthly, Option, Phase

SHARE_SLACK = 1e-9


def check_values(document: Document, values: Mapping[str, Value] | None = None) -> None:
    """Refuse shares that do not add to 1, fractions outside 0 to 1, rates that cannot be, lives without length.

    Raises
    ------
    InputError
        Its `name` is the path of the factor; for a factor that is one input, both ends of its range are looked at.
    """
    check = _Check(document, likely_values(document.inputs) if values is None else values)
    check.rate("discount_rate", document.discount_rate)
    for option in document.options:
        _check_option(check, option)
    if document.tax is not None:
        check.within("tax.rate", document.tax.rate, 0.0, 1.0)
        check.above_zero("tax.life_months", document.tax.life_months)


class _Check:
    def __init__(self, document: Document, values: Mapping[str, Value]) -> None:
        self.document, self.values = document, values

    def worths(self, path: str, factor: Factor) -> list[float]:
        """Return the value of a factor, and of a factor that is one input also its ends."""
        try:
            worth = float(np.asarray(evaluate(factor, self.values)))
        except ZeroDivisionError:
            raise InputError(path, "a division by zero", "finite at likely values") from None
        if not np.isfinite(worth):
            raise InputError(path, worth, "finite at likely values")
        if isinstance(factor, Ref) and self.document.inputs[factor.key].is_uncertain:
            item = self.document.inputs[factor.key]
            return [worth, item.low] if item.distribution == "lognormal" else [worth, item.low, item.high]
        return [worth]

    def within(self, path: str, factor: Factor | None, low: float, high: float) -> None:
        for worth in [] if factor is None else self.worths(path, factor):
            if not low <= worth <= high:
                raise InputError(path, f"{worth:g}", f"from {low:g} to {high:g}")

    def rate(self, path: str, factor: Factor | None) -> None:
        for worth in [] if factor is None else self.worths(path, factor):
            if not -1 < worth <= 1:
                raise InputError(path, f"{worth:g}", "a fraction above -1 and at most 1, such as 0.07 for 7 %")

    def above_zero(self, path: str, factor: Factor | None) -> None:
        for worth in [] if factor is None else self.worths(path, factor):
            if worth <= 0:
                raise InputError(path, f"{worth:g}", "above zero")

    def not_negative(self, path: str, factor: Factor | None) -> None:
        for worth in [] if factor is None else self.worths(path, factor):
            if worth < 0:
                raise InputError(path, f"{worth:g}", "zero or more")


def _check_option(check: _Check, option: Option) -> None:
    at = f"options.{option.key}"
    for phase in option.phases:
        _check_phase(check, f"{at}.phases.{phase.key}", phase)
    for month, n_accelerators in option.demand:
        check.not_negative(f"{at}.demand.{month:g}.n_accelerators", n_accelerators)
    if option.bridge is not None:
        check.not_negative(f"{at}.bridge.usd_per_gpu_hour", option.bridge.usd_per_gpu_hour)
    financing = option.financing
    check.within(f"{at}.financing.share", financing.share, 0.0, 1.0)
    check.within(f"{at}.financing.residual_share", financing.residual_share, 0.0, 1.0)
    check.rate(f"{at}.financing.annual_rate", financing.annual_rate)
    for line in option.lines:
        path = f"{at}.lines.{line.key}"
        for i, factor in enumerate(line.factors):
            check.worths(f"{path}.factors[{i}]", factor)
        check.above_zero(f"{path}.life_months", line.life_months)
        if isinstance(line.timing, Monthly):
            check.rate(f"{path}.timing.escalation", line.timing.escalation)
            check.within(f"{path}.timing.upfront_share", line.timing.upfront_share, 0.0, 1.0)
            continue
        shares = [
            check.worths(f"{path}.timing.milestones[{i}]", s)[0] for i, (s, _) in enumerate(line.timing.milestones)
        ]
        if abs(sum(shares) - 1) > SHARE_SLACK:
            raise InputError(f"{path}.timing.milestones", f"{sum(shares):.12g}", "shares that add to 1")


def _check_phase(check: _Check, path: str, phase: Phase) -> None:
    check.not_negative(f"{path}.n_accelerators", phase.n_accelerators)
    check.not_negative(f"{path}.lead_weeks", phase.lead_weeks)
    check.not_negative(f"{path}.acceptance_weeks", phase.acceptance_weeks)
    check.not_negative(f"{path}.peak_tflops", phase.peak_tflops)
    for name in ("availability", "occupancy", "goodput", "mfu"):
        check.within(f"{path}.{name}", getattr(phase, name), 0.0, 1.0)
