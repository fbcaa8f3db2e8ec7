"""Captions and units beside the fields of results, so that screens, exports and API all read them in one place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """What a field of the results document is called and measured in."""

    caption: str
    unit: str


QUANTITIES: dict[str, Quantity] = {
    "nominal_usd": Quantity("Nominal cost", "USD"),
    "npv_usd": Quantity("Present value of cost", "USD"),
    "eac_usd_per_year": Quantity("Equivalent annual cost", "USD/year"),
    "capital_usd": Quantity("Capital cost", "USD"),
    "residual_usd": Quantity("Residual value", "USD"),
    "monthly_operating_usd": Quantity("Operating and cloud cost, mean of the months", "USD/month"),
    "amount_usd": Quantity("Amount", "USD"),
    "total_usd": Quantity("Total of the line", "USD"),
    "cash_usd": Quantity("Cash by month", "USD"),
    "accrual_usd": Quantity("Cost by month as consumed", "USD"),
    "cumulative_usd": Quantity("Paid so far, residual left out", "USD"),
    "cumulative_net_usd": Quantity("Paid so far, less the residual at the horizon", "USD"),
    "delivery_month": Quantity("Delivery", "months from signature"),
    "ready_month": Quantity("Ready for use", "months from signature"),
    "end_month": Quantity("End of use", "months from signature"),
    "installed_gpu_hours": Quantity("Installed GPU-hours", "h"),
    "available_gpu_hours": Quantity("Available GPU-hours", "h"),
    "productive_gpu_hours": Quantity("Productive GPU-hours", "h"),
    "pflop_days": Quantity("Delivered PFLOP-days", "PFLOP-days"),
    "demanded_gpu_hours": Quantity("Demanded GPU-hours", "h"),
    "unmet_gpu_hours": Quantity("GPU-hours short of demand", "h"),
    "usd_per_gpu_hour_installed": Quantity("Cost per installed GPU-hour", "USD/h"),
    "usd_per_gpu_hour_available": Quantity("Cost per available GPU-hour", "USD/h"),
    "usd_per_gpu_hour_productive": Quantity("Cost per productive GPU-hour", "USD/h"),
    "usd_per_pflop_day": Quantity("Cost per delivered PFLOP-day", "USD/PFLOP-day"),
    "own_capacity_usd": Quantity("Nominal cost without bridging cloud", "USD"),
    "difference_nominal_usd": Quantity("Difference of nominal cost", "USD"),
    "difference_npv_usd": Quantity("Difference of present value", "USD"),
    "break_even_month": Quantity("Break-even month, paid so far", "months from signature"),
    "break_even_month_net": Quantity("Break-even month, residual counted", "months from signature"),
    "discounted_break_even_month": Quantity("Discounted break-even month", "months from signature"),
    "irr_of_difference": Quantity("Rate of return of the difference", "a year"),
    "crossover_utilisation": Quantity("Crossover utilisation", "-"),
    "probability_cheapest": Quantity("Probability to be cheapest", "-"),
    "probability_first_cheaper": Quantity("Probability that the first is cheaper", "-"),
    "swing_usd": Quantity("Swing from low to high", "USD"),
    "first_order": Quantity("Share of variance alone", "-"),
    "total": Quantity("Share of variance with interactions", "-"),
}
