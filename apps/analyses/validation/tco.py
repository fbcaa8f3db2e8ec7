"""Worked examples of cost: each set of input names has an adapter that asks engine functions for every output."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from apps.analyses.validation.compare import Row, compared, finite, refused
from apps.engine import finance
from apps.engine.checks import number, positive
from apps.engine.errors import EngineError
from apps.engine.finance import level_payment
from apps.engine.sensitivity import sobol_indices
from apps.engine.training_run_cost import constant_dollars, value_at, worth_of_a_run
from apps.engine.units import HOURS_PER_YEAR, MONTHS_PER_YEAR, W_PER_KW

Inputs = Mapping[str, Any]
Answer = Callable[[], Any]
Answers = dict[str, Answer]

ADAPTERS: list["Adapter"] = []
SOBOL_BASE_SAMPLES = 16384
"""The published task asks for 4,096 base samples or more."""


@dataclass(frozen=True)
class Adapter:
    """A set of input names, some of them needed, and the answers it can give."""

    needed: frozenset[str]
    optional: frozenset[str]
    answers: Callable[[Inputs], Answers]

    def fits(self, names: frozenset[str]) -> bool:
        """Whether these names are all known here and all that are needed are there."""
        return self.needed <= names <= self.needed | self.optional


def adapter(needed: str, optional: str = "") -> Callable[[Callable[[Inputs], Answers]], Callable[[Inputs], Answers]]:
    """Enter a function in the table under the input names it takes."""

    def enter(answers: Callable[[Inputs], Answers]) -> Callable[[Inputs], Answers]:
        ADAPTERS.append(Adapter(frozenset(needed.split()), frozenset(optional.split()), answers))
        return answers

    return enter


def case_rows(case: Mapping[str, Any]) -> list[Row]:
    """Return one row for each output of a worked example."""
    inputs, outputs = case["inputs"], case["outputs"]
    relative, absolute = case.get("tolerance"), case.get("tolerance_absolute")
    tolerance = relative if absolute is None else absolute
    found = _answers(inputs, outputs)
    rows = []
    for quantity, published in outputs.items():
        about = {"case_id": str(case["id"]), "quantity": quantity, "published": published}
        answer = found.get(quantity) if isinstance(found, dict) else found
        if answer is None:
            answer = "the inputs of this case do not lead to this output"
        if isinstance(answer, str):
            rows.append(refused(**about, tolerance=tolerance, reason=answer))
            continue
        try:
            with np.errstate(all="ignore"):  # what is not finite is refused below
                computed = _plain(answer())
            if not finite(computed):
                rows.append(refused(**about, tolerance=tolerance, reason="the result is not finite: it overflows"))
                continue
            rows.append(compared(**about, computed=computed, relative=relative, absolute=absolute))
        except (EngineError, KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            rows.append(refused(**about, tolerance=tolerance, reason=_reason(error)))
    return rows


def _answers(inputs: Inputs, outputs: Iterable[str]) -> Answers | str:
    """Return the answers for a set of inputs, those of the adapter that knows most outputs, or why there are none."""
    names = frozenset(inputs)
    fitting = [item for item in ADAPTERS if item.fits(names)] or nearest(names)
    if not fitting:
        return "no model takes this set of inputs: " + ", ".join(sorted(names))
    try:
        with np.errstate(all="ignore"):
            tables = [item.answers(inputs) for item in fitting]
    except (EngineError, KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        return _reason(error)
    return max(tables, key=lambda table: sum(name in table for name in outputs))


def nearest(names: frozenset[str]) -> list[Adapter]:
    """Return the adapters that know all these names and miss fewest; each output then says which input it misses."""
    knowing = [item for item in ADAPTERS if names and names <= item.needed | item.optional]
    fewest = min((len(item.needed - names) for item in knowing), default=0)
    return [item for item in knowing if len(item.needed - names) == fewest]


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the input {error} is missing"
    return str(error) or type(error).__name__


def _plain(value: Any) -> Any:
    """Return numpy numbers and arrays as what JSON holds."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return float(value)


def _floats(inputs: Inputs, *names: str) -> list[float]:
    return [number(name, inputs[name]) for name in names]


# Data centres: a level payment for each class of asset, power, people.


@adapter(
    "critical_load_kw avg_load_fraction pue electricity_usd_per_kwh hours_per_month facility_capex_usd "
    "power_cooling_share facility_amort_months server_amort_months annual_interest",
    "servers server_price_usd servers_capex_usd network_capex_usd network_amort_months people_usd_per_month",
)
def data_centre(inputs: Inputs) -> Answers:
    """Return the monthly cost of a data centre by class of asset."""
    servers = inputs.get("servers_capex_usd")
    if servers is None:
        servers = inputs["servers"] * inputs["server_price_usd"]
    network, people = inputs.get("network_capex_usd", 0.0), inputs.get("people_usd_per_month", 0.0)
    facility, share, life = _floats(inputs, "facility_capex_usd", "power_cooling_share", "facility_amort_months")
    rate = float(finance.nominal_monthly_rate(inputs["annual_interest"]))

    def monthly(principal: float, months: float) -> float:
        return float(level_payment(principal=principal, rate=rate, periods=months))

    load = inputs["critical_load_kw"] * inputs["avg_load_fraction"] * inputs["pue"]
    parts = {
        "servers_usd_per_month": monthly(servers, inputs["server_amort_months"]),
        "power_cooling_infra_usd_per_month": monthly(facility * share, life),
        "other_infra_usd_per_month": monthly(facility * (1 - share), life),
        "power_usd_per_month": load * inputs["hours_per_month"] * inputs["electricity_usd_per_kwh"],
    }
    if network:
        parts["network_usd_per_month"] = monthly(network, inputs["network_amort_months"])
    total = sum(parts.values()) + people
    return {
        **_constants(parts),
        "total_usd_per_month": lambda: total,
        "total_capex_usd": lambda: facility + servers + network,
    }


def _constants(values: Mapping[str, Any]) -> Answers:
    return {name: (lambda value=value: value) for name, value in values.items()}


@adapter("onprem_capex_usd onprem_opex_usd_per_hour cloud_usd_per_hour")
def own_or_rent(inputs: Inputs) -> Answers:
    """Return when an own server has cost as much as a rented one."""
    capex, running, cloud = _floats(inputs, "onprem_capex_usd", "onprem_opex_usd_per_hour", "cloud_usd_per_hour")

    def hours() -> float:
        return finance.break_even_hours(capex_usd=capex, owned_usd_per_hour=running, cloud_usd_per_hour=cloud)

    source_hours_per_month = 720  # the source counts months of 30 days; the name of its output says so
    return {
        "breakeven_hours": hours,
        "breakeven_months_720h": lambda: hours() / source_hours_per_month,
        "cloud_usd_per_year": lambda: cloud * HOURS_PER_YEAR,
        "cloud_usd_5y": lambda: cloud * HOURS_PER_YEAR * 5,
    }


@adapter("nodes gpus switches facility_ops_usd_per_node node_price_usd switch_price_usd cable_usd_per_gpu")
def cluster_price(inputs: Inputs) -> Answers:
    """Return what a cluster costs: counts times unit prices."""
    parts = {
        "facility_ops_usd": inputs["nodes"] * inputs["facility_ops_usd_per_node"],
        "nodes_usd": inputs["nodes"] * inputs["node_price_usd"],
        "switches_usd": inputs["switches"] * inputs["switch_price_usd"],
        "cables_usd": inputs["gpus"] * inputs["cable_usd_per_gpu"],
    }
    total = sum(parts.values())
    return {
        **_constants(parts),
        "total_usd": lambda: total,
        "avg_per_node_usd": lambda: total / inputs["nodes"],
        "avg_per_gpu_usd": lambda: total / inputs["gpus"],
    }


@adapter(
    "gpus hours_per_month gpu_usd_per_gpu_hour months",
    "storage_usd_per_month network_usd_per_month cpu_usd_per_month support_fraction_of_direct goodput_usd_per_month "
    "setup_one_time_usd debug_usd_per_month",
)
def rented_cluster(inputs: Inputs) -> Answers:
    """Return the cost of a rented cluster in eight parts; the support uplift is on direct cost."""
    gpu = inputs["gpus"] * inputs["hours_per_month"] * inputs["gpu_usd_per_gpu_hour"]
    direct = gpu + sum(inputs.get(f"{name}_usd_per_month", 0.0) for name in ("storage", "network", "cpu"))
    support = direct * inputs.get("support_fraction_of_direct", 0.0)
    setup = inputs.get("setup_one_time_usd", 0.0) / inputs["months"]
    total = direct + support + setup + sum(inputs.get(f"{name}_usd_per_month", 0.0) for name in ("goodput", "debug"))
    return {
        "gpu_usd_per_month": lambda: gpu,
        "support_usd_per_month": lambda: support,
        "total_usd_per_month": lambda: total,
        "total_usd_36_months": lambda: total * inputs["months"],
    }


@adapter("gpus price_usd_per_gpu tdp_w utilisation pue electricity_usd_per_kwh years hours_per_year dense_fp16_pflops")
def accelerators_over_years(inputs: Inputs) -> Answers:
    """Return purchase and energy of accelerators, and their cost per PFLOP-year in use."""
    bought = inputs["gpus"] * inputs["price_usd_per_gpu"]
    power_kw = inputs["gpus"] * inputs["tdp_w"] / W_PER_KW * inputs["utilisation"] * inputs["pue"]
    energy = power_kw * inputs["hours_per_year"] * inputs["years"] * inputs["electricity_usd_per_kwh"]
    work = inputs["gpus"] * inputs["dense_fp16_pflops"] * inputs["utilisation"] * inputs["years"]
    return {
        "acquisition_usd": lambda: bought,
        "energy_usd": lambda: energy,
        "total_usd": lambda: bought + energy,
        "usd_per_effective_pflop_year": lambda: (bought + energy) / work,
    }


@adapter(
    "accelerators chip_hours server_price_per_chip_at_acquisition_usd price_performance_ooms_per_year hours_per_year "
    "interconnect_fraction_of_total chip_tdp_w chip_to_server_power_ratio mean_power_fraction pue "
    "electricity_usd_per_kwh price_index_at_publication price_index_target",
    "accelerator acquisition_date training_start_date server_value_per_chip_at_start_usd "
    "cloud_3y_commit_usd_per_chip_hour",
)
def training_run(inputs: Inputs) -> Answers:
    """Return the cost of a known training run by three methods."""
    price = inputs["server_price_per_chip_at_acquisition_usd"]
    decline = inputs["price_performance_ooms_per_year"]
    value = inputs.get("server_value_per_chip_at_start_usd")
    if value is None:
        age = date.fromisoformat(inputs["training_start_date"]) - date.fromisoformat(inputs["acquisition_date"])
        value = value_at(price_usd=price, orders_of_magnitude_per_year=decline, age_days=age.days)
    run = worth_of_a_run(
        value_usd_per_chip=value,
        chip_hours=inputs["chip_hours"],
        orders_of_magnitude_per_year=decline,
        hours_per_year=inputs["hours_per_year"],
        interconnect_fraction=inputs["interconnect_fraction_of_total"],
        power_kw_per_chip=inputs["chip_tdp_w"] / W_PER_KW * inputs["chip_to_server_power_ratio"],
        mean_power_fraction=inputs["mean_power_fraction"],
        pue=inputs["pue"],
        electricity_usd_per_kwh=inputs["electricity_usd_per_kwh"],
    )

    def in_target_dollars(usd: float) -> float:
        return constant_dollars(
            usd, index_then=inputs["price_index_at_publication"], index_target=inputs["price_index_target"]
        )

    bought = inputs["accelerators"] * price / (1 - inputs["interconnect_fraction_of_total"])
    answers: Answers = {
        "amortised_server_usd": lambda: run.server_usd,
        "interconnect_usd": lambda: run.interconnect_usd,
        "energy_usd": lambda: run.energy_usd,
        "amortised_total_nominal_usd": lambda: run.total_usd,
        "amortised_total_dec2024_usd": lambda: in_target_dollars(run.total_usd),
        "acquisition_dec2024_usd": lambda: in_target_dollars(bought),
    }
    if "cloud_3y_commit_usd_per_chip_hour" in inputs:
        rented = inputs["cloud_3y_commit_usd_per_chip_hour"] * inputs["chip_hours"]
        answers["cloud_dec2024_usd"] = lambda: in_target_dollars(rented)
    return answers


@adapter("gpus ondemand_usd_per_hour", "one_year_usd_per_hour three_year_usd_per_hour")
def committed_rates(inputs: Inputs) -> Answers:
    """Return cloud rates per accelerator, and what a commitment saves."""
    answers: Answers = {}
    on_demand = inputs["ondemand_usd_per_hour"]
    for term in ("ondemand", "one_year", "three_year"):
        rate = inputs.get(f"{term}_usd_per_hour")
        if rate is not None:
            answers[f"{term}_usd_per_gpu_hour"] = lambda rate=rate: rate / inputs["gpus"]
            answers[f"{term}_discount"] = lambda rate=rate: 1 - rate / on_demand
    return answers


@adapter("energy_kwh_per_year electricity_usd_per_kwh", "it_load_mw")
def energy_of_a_site(inputs: Inputs) -> Answers:
    """Return what a site's energy costs, and its mean draw over its IT load."""
    energy = inputs["energy_kwh_per_year"]

    def ratio() -> float:
        return energy / (inputs["it_load_mw"] * W_PER_KW * HOURS_PER_YEAR)

    return {
        "energy_usd_per_year": lambda: energy * inputs["electricity_usd_per_kwh"],
        "implied_mean_facility_to_it_ratio": ratio,
    }


# Commitments: what is billed, and what is used of it.


@adapter("hourly_commit_usd hours", "upfront_share")
def commitment(inputs: Inputs) -> Answers:
    """Return what is billed when, and what an hour effectively costs."""
    bill = finance.commitment_schedule(
        commit_usd_per_hour=inputs["hourly_commit_usd"],
        hours=inputs["hours"],
        upfront_share=inputs.get("upfront_share", 0.0),
    )
    return {
        "billed_upfront_usd": lambda: bill.upfront_usd,
        "billed_each_later_hour_usd": lambda: bill.usd_per_hour,
        "billed_per_month_usd": lambda: bill.usd_per_month,
        "billed_first_period_usd": lambda: bill.first_period_usd,
        "effective_per_hour_usd": lambda: bill.effective_usd_per_hour,
    }


@adapter("hourly_commit_usd", "demand_case_a_usd demand_case_b_usd")
def use_it_or_lose_it(inputs: Inputs) -> Answers:
    """Return what demand in single hours uses of a commitment, and what is bought on demand above it."""
    commit = inputs["hourly_commit_usd"]

    def part(case: str, name: str) -> Answer:
        return lambda: _summed(
            finance.commitment_bill(commit_usd_per_hour=commit, demand_usd_per_hour=inputs[f"demand_case_{case}_usd"])[
                name
            ],
            inputs[f"demand_case_{case}_usd"],
        )

    names = {
        "used": "used",
        "unused": "unused",
        "commitment": "commitment",
        "ondemand": "on_demand",
        "total": "total",
    }
    return {f"case_{case}_{name}_usd": part(case, key) for case in "ab" for name, key in names.items()}


def _summed(values: Any, demand: Any) -> Any:
    """Return the sum over the hours of a case; one hour is given as a number, several as a list."""
    return np.sum(values) if isinstance(demand, list) else values


# Formulas of finance.


@adapter("rate_per_period periods present_value")
def payment(inputs: Inputs) -> Answers:
    """Return a level payment; paid is negative, as the sign of what was received asks for."""
    rate, periods, value = _floats(inputs, "rate_per_period", "periods", "present_value")
    return {"payment": lambda: -level_payment(principal=value, rate=rate, periods=periods)}


@adapter("rate_per_period periods payment present_value")
def future_value(inputs: Inputs) -> Answers:
    """Return what a sum and payments grow to."""
    rate, periods, paid, value = _floats(inputs, "rate_per_period", "periods", "payment", "present_value")
    return {"future_value": lambda: finance.future_value(present_value=value, payment=paid, rate=rate, periods=periods)}


@adapter("cashflows")
def internal_rate(inputs: Inputs) -> Answers:
    """Return the internal rate of return."""
    return {"irr": lambda: finance.irr(inputs["cashflows"])}


@adapter("cashflows_5y cashflows_4y")
@adapter("cashflows_5y")
@adapter("cashflows_4y")
def internal_rates(inputs: Inputs) -> Answers:
    """Return internal rates of return after some years."""
    years = [name.removeprefix("cashflows_") for name in inputs]
    return {f"irr_{year}": (lambda year=year: finance.irr(inputs[f"cashflows_{year}"])) for year in years}


@adapter("cashflows finance_rate reinvest_rate")
def modified_rate(inputs: Inputs) -> Answers:
    """Return the modified internal rate of return."""
    rates = {"finance_rate": inputs["finance_rate"], "reinvest_rate": inputs["reinvest_rate"]}
    return {"mirr": lambda: finance.mirr(cashflows=inputs["cashflows"], **rates)}


@adapter("rate cashflows")
def excel_present_value(inputs: Inputs) -> Answers:
    """Return Excel's NPV, which discounts the first flow as well."""
    return {"npv": lambda: finance.excel_npv(rate_per_period=inputs["rate"], cashflows=inputs["cashflows"])}


@adapter("cashflows dates", "rate")
def dated_flows(inputs: Inputs) -> Answers:
    """Return present value and rate of return of dated flows."""
    flows, dates = inputs["cashflows"], [date.fromisoformat(day) for day in inputs["dates"]]
    return {
        "xnpv": lambda: finance.xnpv(annual_rate=inputs["rate"], cashflows=flows, dates=dates),
        "xirr": lambda: finance.xirr(cashflows=flows, dates=dates),
    }


@adapter("cost salvage life_years")
def depreciation(inputs: Inputs) -> Answers:
    """Return depreciation of single years: straight line, sum of digits, double declining balance."""
    cost, salvage = _floats(inputs, "cost", "salvage")
    life = int(positive("life_years", inputs["life_years"]))
    book: dict[str, Any] = {"cost": cost, "salvage": salvage, "life": life}
    answers: Answers = {"sln": lambda: finance.straight_line(**book)}
    for year in range(1, life + 1):
        answers[f"syd_year_{year}"] = lambda year=year: finance.sum_of_digits(**book)[year - 1]
        answers[f"year_{year}"] = lambda year=year: finance.declining_balance(**book)[year - 1]
        answers[f"year_{year}_factor_1_5"] = lambda year=year: finance.declining_balance(**book, factor=1.5)[year - 1]
    return answers


@adapter("cost salvage life_years first_year_months")
@adapter("cost salvage life_years")
def fixed_declining_balance(inputs: Inputs) -> Answers:
    """Return the whole schedule of Excel's DB."""
    months = int(inputs.get("first_year_months", MONTHS_PER_YEAR))
    cost, salvage = _floats(inputs, "cost", "salvage")
    life = int(positive("life_years", inputs["life_years"]))
    return {
        "schedule": lambda: finance.fixed_declining_balance(
            cost=cost, salvage=salvage, life=life, first_year_months=months
        )
    }


@adapter("basis_usd", "percent")
def tax_table(inputs: Inputs) -> Answers:
    """Return depreciation by a table of percentages."""
    percent = inputs.get("percent", finance.MACRS_5_YEAR_PERCENT)

    def schedule() -> Any:
        return finance.percent_schedule(basis=inputs["basis_usd"], percent=percent)

    return {"schedule": schedule, "total": lambda: schedule().sum()}


@adapter("cost salvage lives")
def straight_lines(inputs: Inputs) -> Answers:
    """Return straight lines over several lives."""
    cost, salvage = _floats(inputs, "cost", "salvage")
    return {
        f"per_year_{life:g}y": (lambda life=life: finance.straight_line(cost=cost, salvage=salvage, life=life))
        for life in inputs["lives"]
    }


@adapter("rate capex opex_per_year years")
def annual_cost(inputs: Inputs) -> Answers:
    """Return present value and equivalent annual cost of a machine."""
    rate, years = inputs["rate"], int(inputs["years"])
    flows = [inputs["capex"], *[inputs["opex_per_year"]] * years]
    value = finance.present_value(rate_per_period=rate, cashflows=flows)
    return {
        "pv": lambda: value,
        "eac": lambda: finance.equivalent_annual_cost(npv=value, annual_rate=rate, years=years),
    }


@adapter("investment price_now price_up price_down prob_up rate")
def waiting(inputs: Inputs) -> Answers:
    """Return the worth of investing now, of waiting a year, and of being able to wait."""
    names = ("investment", "price_now", "price_up", "price_down", "prob_up")
    now, later = finance.option_to_wait(**{name: inputs[name] for name in names}, rate_per_year=inputs["rate"])
    return {
        "npv_invest_now": lambda: now,
        "npv_wait": lambda: later,
        "option_value": lambda: later - max(now, 0.0),
    }


@adapter("a b", "inputs")
def ishigami(inputs: Inputs) -> Answers:
    """Return the variance of the Ishigami function and its Sobol indices, as the sensitivity code finds them."""
    a, b = _floats(inputs, "a", "b")

    def function(points: Any) -> Any:
        x = np.pi * (2 * points - 1)
        return np.sin(x[0]) + a * np.sin(x[1]) ** 2 + b * x[2] ** 4 * np.sin(x[0])

    variance, first, total = sobol_indices(function, 3, base_samples=SOBOL_BASE_SAMPLES, seed=1)
    answers: Answers = {"variance": lambda: variance}
    for i in range(3):
        answers[f"S{i + 1}"] = lambda i=i: first[i]
        answers[f"ST{i + 1}"] = lambda i=i: total[i]
    return answers
