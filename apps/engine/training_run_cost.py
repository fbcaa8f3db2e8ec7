"""What a known training run cost: hardware worn out, interconnect, energy, in dollars of one year."""

from dataclasses import dataclass

import numpy as np

from apps.engine.checks import fraction, positive
from apps.engine.units import DAYS_PER_JULIAN_YEAR


@dataclass(frozen=True, kw_only=True)
class RunCost:
    """Cost of one training run. [USD]"""

    server_usd: float
    interconnect_usd: float
    energy_usd: float

    @property
    def total_usd(self) -> float:
        """All three parts. [USD]"""
        return self.server_usd + self.interconnect_usd + self.energy_usd


def value_at(*, price_usd: float, orders_of_magnitude_per_year: float, age_days: float) -> float:
    """Return what hardware is still worth when better hardware gets cheaper at a steady rate. [USD]

    Value falls by a factor of ten in 1 / `orders_of_magnitude_per_year` years.
    """
    positive("price_usd", price_usd)
    return float(price_usd * 10 ** (-orders_of_magnitude_per_year * age_days / DAYS_PER_JULIAN_YEAR))


def worth_of_a_run(
    *,
    value_usd_per_chip: float,
    chip_hours: float,
    orders_of_magnitude_per_year: float,
    hours_per_year: float,
    interconnect_fraction: float,
    power_kw_per_chip: float,
    mean_power_fraction: float,
    pue: float,
    electricity_usd_per_kwh: float,
) -> RunCost:
    """Return the cost of a training run by amortised hardware and energy.

    An hour costs what the hardware loses in it: value × rate × ln 10 / hours a year. `interconnect_fraction` is the
    share of the whole cluster's price, so servers × f / (1 - f).

    References
    ----------
    B. Cottier et al., "The rising costs of training frontier AI models," 2024, arXiv:2405.21015, appendix A.
    """
    fraction("interconnect_fraction", interconnect_fraction)
    positive("hours_per_year", hours_per_year)
    per_hour = value_usd_per_chip * orders_of_magnitude_per_year * np.log(10) / hours_per_year
    servers = float(per_hour * chip_hours)
    energy_kwh = power_kw_per_chip * mean_power_fraction * pue * chip_hours
    return RunCost(
        server_usd=servers,
        interconnect_usd=servers * interconnect_fraction / (1 - interconnect_fraction),
        energy_usd=energy_kwh * electricity_usd_per_kwh,
    )


def constant_dollars(usd: float, *, index_then: float, index_target: float) -> float:
    """Return an amount in dollars of the year to which a price index points."""
    return float(usd * index_target / positive("index_then", index_then))
