"""What holds for every cost document."""

import json
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apps.engine.document import parse_document
from apps.engine.draws import Sampler
from apps.engine.simulation import simulate
from apps.engine.tco import draw_totals, evaluate, sweep_points, total_cost_of_ownership
from tests.engine.documents import at, changed, const, document, item, line, monthly, once, option, phase, three_options

money = st.integers(1, 10**6)
months = st.decimals(0, 40, places=2)
shares = st.decimals(0, 1, places=3)

FINANCING = [
    {"kind": "cash"},
    {"kind": "loan", "share": const("0.8"), "annual_rate": const("0.08"), "term_months": 48},
    {"kind": "loan", "share": const("1"), "annual_rate": const("0"), "term_months": 12},
    {
        "kind": "lease",
        "annual_rate": const("0.11"),
        "term_months": 48,
        "residual_share": const("0.2"),
        "starts": at("ready", "A.1"),
    },
    {
        "kind": "lease",
        "annual_rate": const("0.11"),
        "term_months": 24,
        "residual_share": None,
        "starts": at("month", month="2.5"),
    },
]
TAXES = [
    None,
    {"rate": const("0.25"), "method": "straight_line", "life_months": const(60), "absorption": "full"},
    {"rate": const("0.25"), "method": "macrs_5", "life_months": const(60), "absorption": "full"},
    {"rate": const("0.25"), "method": "first_year", "life_months": const(60), "absorption": "carry_forward"},
]


@st.composite
def documents(draw):
    """Return a document of one option with every kind of line."""
    deposit, start = draw(shares), draw(months)
    lead = item(draw(st.integers(0, 60)), 0, 80)
    lines = [
        line(
            "A.nodes",
            ["price", const(draw(st.integers(1, 50)))],
            once((deposit, at("signature")), (1 - deposit, at("ready", "A.1", None, draw(st.integers(-2, 6))))),
            "capital",
            in_service=at("ready", "A.1"),
            life_months=const(draw(st.integers(1, 90))),
            disposed_at_horizon=draw(st.booleans()),
        ),
        line("A.discount", [const("0.1")], once((1, at("signature"))), "capital", percent_of=["A.nodes"], sign=-1),
        line(
            "A.power",
            [const(draw(money))],
            monthly(
                at("month", month=start),
                at("month", month=start + draw(months)),
                "escalation",
                draw(st.sampled_from([None, const("0.4")])),
            ),
        ),
        line("A.set_up", [const(draw(money))], once((0.5, at("signature")), (0.5, at("delivery", "A.1")))),
        line(
            "A.licence",
            [const(draw(money))],
            once((1, at("signature"))),
            life_months=const(30),
            in_service=at("ready", "A.1"),
        ),
        line("A.removal", [const(draw(money))], once((1, at("horizon")))),
        line("A.unknown", [], once((1, at("signature"))), not_given=True),
        line("A.residual", [const("0.2")], once((1, at("horizon"))), "residual", percent_of=["A.nodes"], sign=-1),
    ]
    inputs = {"price": item(draw(money)), "lead": lead, "escalation": item("0.04"), "cloud": item("2.5", "2", "3")}
    more = {
        "financing": draw(st.sampled_from(FINANCING)),
        "demand": [{"from_month": "0", "n_accelerators": const(10)}],
        "bridge": draw(st.sampled_from([None, {"usd_per_gpu_hour": "cloud", "row": "bridge", "label": "Bridge"}])),
    }
    options = [option("A", lines, [phase("A.1", lead="lead", acceptance=const(4))], **more)]
    horizon = draw(st.integers(1, 60))
    return document(options, inputs, horizon_months=horizon, draws=64, tax=draw(st.sampled_from(TAXES)))


def balances(answer):
    parts = {name: np.array(values) for name, values in answer["monthly"]["balances_usd"].items()}
    assets = parts["net_book_value"] + parts["prepaid"]
    return assets - parts["payable"] - parts["loan"] - parts["lease_liability"]


@settings(max_examples=150, deadline=None)
@given(documents())
def test_sums_by_line_year_category_group_and_month_equal_the_total(base):
    answer = evaluate(base)["options"]["A"]
    total = answer["nominal_usd"]["likely"]
    close = {"rel": 1e-9, "abs": 1e-3}
    given_lines = [row for row in answer["lines"] if not row["not_given"]]
    assert sum(row["total_usd"]["likely"] for row in given_lines) == pytest.approx(total, **close)
    assert sum(sum(row["by_period_usd"]) for row in given_lines) == pytest.approx(total, **close)
    for name in ("by_year_usd", "by_period_usd"):
        assert sum(answer[name]) == pytest.approx(total, **close)
    for name in ("by_category_usd", "by_group_usd"):
        assert sum(answer[name].values()) == pytest.approx(total, **close)
    assert sum(answer["monthly"]["cash_usd"]) == pytest.approx(total, **close)
    assert sum(row["npv_usd"] for row in given_lines) == pytest.approx(answer["npv_usd"]["likely"], **close)
    assert sum(answer["npv_by_period_usd"]) == pytest.approx(answer["npv_usd"]["likely"], **close)


@settings(max_examples=150, deadline=None)
@given(documents())
def test_cash_is_accrual_plus_balances_in_every_month(base):
    answer = evaluate(base)["options"]["A"]
    cash = np.cumsum(answer["monthly"]["cash_usd"])
    accrual = np.cumsum(answer["monthly"]["accrual_usd"])
    scale = 1 + np.abs(cash).max()
    assert np.abs(cash - accrual - balances(answer)).max() < 1e-9 * scale
    assert answer["monthly"]["balances_usd"]["loan"][-1] == 0
    assert answer["monthly"]["balances_usd"]["lease_liability"][-1] == 0
    assert all(min(answer["monthly"]["balances_usd"][name]) > -1e-6 * scale for name in ("loan", "lease_liability"))


@settings(max_examples=50, deadline=None)
@given(documents(), st.integers(1, 1000))
def test_a_dearer_price_is_never_cheaper(base, more):
    price = int(base["inputs"]["price"]["likely"])
    cheap, dear = (evaluate(base, {"price": price + extra})["options"]["A"] for extra in (0, more))
    nodes = cheap["lines"][0]
    # with payments after the horizon the proceeds are there before the price is paid
    assume(nodes["paid_by_lessor"] or nodes["total_usd"]["likely"] == pytest.approx(nodes["amount_usd"]))
    assert dear["nominal_usd"]["likely"] >= cheap["nominal_usd"]["likely"] - 1e-6


@settings(max_examples=50, deadline=None)
@given(documents())
def test_twice_the_price_is_twice_what_depends_on_it(base):
    # Losses that are carried forward save tax only up to the gain: that is a kink by law, not a sum.
    assume(base["tax"] is None or base["tax"]["absorption"] == "full")
    price = int(base["inputs"]["price"]["likely"])
    none, single, double = (evaluate(base, {"price": price * n})["options"]["A"] for n in (0, 1, 2))
    first = single["nominal_usd"]["likely"] - none["nominal_usd"]["likely"]
    second = double["nominal_usd"]["likely"] - none["nominal_usd"]["likely"]
    assert second == pytest.approx(2 * first, rel=1e-9, abs=1e-3)


@settings(max_examples=50, deadline=None)
@given(split=months, end=months, amount=money)
def test_a_window_cut_in_two_adds_up(split, end, amount):
    middle = min(split, end)

    def cost(start, stop):
        lines = [line("A.rent", [const(amount)], monthly(at("month", month=start), at("month", month=stop)))]
        return np.array(evaluate(document([option("A", lines)]))["options"]["A"]["monthly"]["cash_usd"])

    assert cost(0, middle) + cost(middle, end) == pytest.approx(cost(0, end), abs=1e-6)


@pytest.fixture(scope="module")
def results():
    return total_cost_of_ownership(three_options())


def without_order(answer):
    return json.dumps({**answer, "comparisons": sorted(answer["comparisons"], key=str)}, sort_keys=True)


def test_the_order_of_options_changes_no_number(results):
    turned = three_options()
    turned["options"].reverse()
    assert without_order(total_cost_of_ownership(turned)) == without_order(results)


def test_the_size_of_a_chunk_changes_no_number(results):
    for size in (64, 100, 1024):
        assert json.dumps(total_cost_of_ownership(three_options(), chunk_draws=size)) == json.dumps(results)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(results):
    assert json.dumps(total_cost_of_ownership(three_options())) == json.dumps(results)
    other = total_cost_of_ownership(three_options(seed=8))
    assert other["options"]["A"]["nominal_usd"]["p50"] != results["options"]["A"]["nominal_usd"]["p50"]
    assert other["options"]["A"]["nominal_usd"]["likely"] == results["options"]["A"]["nominal_usd"]["likely"]


def test_stretches_of_draws_join_to_the_whole():
    base = three_options()
    whole = draw_totals(base, 0, 256)
    parts = [draw_totals(base, first, last, chunk_draws=50) for first, last in ((0, 100), (100, 256))]
    for key, block in whole.items():
        assert np.array_equal(np.concatenate([part[key] for part in parts], axis=1), block)
    totals = simulate(parse_document(base)).totals
    assert np.array_equal(totals["A"]["nominal_usd"], whole["A"][0])


def test_an_option_that_brings_no_input_changes_no_draw(results):
    base = three_options()
    base["options"].append(option("D", [line("D.fee", [const(1)], once((1, at("signature"))))]))
    assert total_cost_of_ownership(base)["options"]["A"] == results["options"]["A"]


def test_percentiles_are_in_order_and_results_hold_no_nan(results):
    json.dumps(results, allow_nan=False)
    found = 0

    def look(value):
        nonlocal found
        if isinstance(value, dict):
            if {"p10", "p50", "p90"} <= value.keys() and value["p10"] is not None:
                found += 1
                assert value["p10"] <= value["p50"] <= value["p90"]
            for part in value.values():
                look(part)
        elif isinstance(value, list):
            for part in value:
                look(part)

    look(results)
    assert found > 30


def test_probabilities_to_be_cheapest_add_to_1_and_leave_baselines_out(results):
    assert sum(results["probability_cheapest"]["nominal"].values()) == pytest.approx(1)
    base = three_options()
    base["options"][2]["baseline"] = True
    answer = total_cost_of_ownership(base)
    assert "C" not in answer["ranking"]["nominal"] + list(answer["probability_cheapest"]["npv"])


@pytest.mark.parametrize(("asked", "sign"), [("0.6", 1), ("0.3", 1), ("0.8", -1)])
def test_the_rank_correlation_asked_for_is_reached(asked, sign):
    from scipy.stats import spearmanr

    group = {"correlation_group": "gpu"}
    inputs = {
        "a": item(10, 5, 20, **group),
        "b": item(10, 5, 20, "lognormal", **group, correlation_sign=sign),
        "c": item(10, 5, 20, "pert", **group),
        "d": item(10, 5, 20),
    }
    base = document(
        [option("A", [line("A.a", ["a"], once((1, at("signature"))))])], inputs, correlation_groups={"gpu": asked}
    )
    values = next(Sampler.of(parse_document(base)).chunks(0, 8192, 8192))
    for one, other, expected in (("a", "b", sign), ("b", "c", sign), ("a", "c", 1), ("a", "d", 0)):
        assert spearmanr(values[one], values[other]).statistic == pytest.approx(expected * float(asked), abs=0.03)
    alone = deepcopy(base) | {"correlation_groups": {"gpu": "0"}}
    free = next(Sampler.of(parse_document(alone)).chunks(0, 8192, 8192))
    assert np.sort(values["a"]) == pytest.approx(np.sort(free["a"]), abs=0.15)


@pytest.mark.parametrize(
    ("distribution", "mean", "p5"),
    [
        ("triangular", (5 + 10 + 20) / 3, 5 + (0.05 * 15 * 5) ** 0.5),
        ("pert", (5 + 40 + 20) / 6, None),
        ("lognormal", None, 5),
    ],
)
def test_distributions_have_their_mean_and_percentiles(distribution, mean, p5):
    base = document(
        [option("A", [line("A.a", ["a"], once((1, at("signature"))))])], {"a": item(10, 5, 20, distribution)}
    )
    values = next(Sampler.of(parse_document(base)).chunks(0, 8192, 8192))["a"]
    if mean is not None:
        assert values.mean() == pytest.approx(mean, rel=1e-3)
    if p5 is not None:
        assert np.quantile(values, 0.05) == pytest.approx(p5, rel=1e-3)
    if distribution == "lognormal":
        assert np.quantile(values, 0.95) == pytest.approx(20, rel=1e-3)


def test_sweep_points_equal_single_answers_whatever_the_stretch():
    base = three_options()
    axes = [{"input": "gpu", "values": ["20000", "30000", "40000"]}, {"input": "lead", "values": ["10", "50"]}]
    whole = sweep_points(base, axes, 0, 6)
    parts = [sweep_points(base, axes, first, last) for first, last in ((0, 1), (1, 5), (5, 6))]
    for name in ("nominal_usd", "npv_usd"):
        for i in range(3):
            assert [value for part in parts for value in part[name][i]] == whole[name][i]
    single = evaluate(base, {"gpu": 30000, "lead": 50})["options"]["A"]
    assert whole["nominal_usd"][0][3] == pytest.approx(single["nominal_usd"]["likely"], rel=1e-12)


def test_overrides_and_edited_inputs_give_the_same_answer():
    base = three_options()
    assert evaluate(base, {"gpu": 31000.0}) == evaluate(changed(base, gpu=31000))


def test_a_what_if_has_the_shape_of_results(results):
    answer = evaluate(three_options())
    assert answer.keys() == results.keys()
    assert answer["options"]["A"].keys() == results["options"]["A"].keys()
    assert answer["options"]["A"]["nominal_usd"]["p50"] is None


def test_progress_is_told_and_may_stop_the_run():
    seen = []
    total_cost_of_ownership(three_options(), progress=lambda *about: seen.append(about[0]), chunk_draws=64)
    assert [stage for i, stage in enumerate(seen) if stage not in seen[:i]] == [
        "inputs",
        "draws",
        "cash flows",
        "comparisons",
        "sensitivity",
    ]

    class CancelledError(Exception):
        pass

    def stop(stage, done, total):
        if stage == "cash flows":
            raise CancelledError

    with pytest.raises(CancelledError):
        total_cost_of_ownership(three_options(), progress=stop, chunk_draws=64)


def test_unmet_demand_is_told_whether_or_not_it_is_bridged(results):
    bridged, reported = results["options"]["A"], results["options"]["B"]
    hours = reported["supply"]["unmet_gpu_hours"]["likely"]
    assert hours == bridged["supply"]["unmet_gpu_hours"]["likely"] > 0
    row = next(row for row in bridged["lines"] if row["row"] == "bridge")
    assert row["total_usd"]["likely"] == pytest.approx(hours * 2.1)
    assert any("not met" in text for text in reported["warnings"])
    assert not any("not met" in text for text in bridged["warnings"])


def test_a_line_without_a_price_is_no_zero():
    lines = [
        line("A.fee", [const(1)], once((1, at("signature")))),
        line("A.x", [], once((1, at("signature"))), not_given=True),
    ]
    answer = total_cost_of_ownership(document([option("A", lines)]))["options"]["A"]
    assert answer["lines"][1]["amount_usd"] is answer["lines"][1]["total_usd"]["likely"] is None
    assert any("no price is given" in text for text in answer["warnings"])


def test_cumulative_cost_net_of_resale_ends_at_the_nominal_total(results):
    for answer in results["options"].values():
        assert answer["monthly"]["cumulative_net_usd"]["likely"][-1] == pytest.approx(answer["nominal_usd"]["likely"])


def test_break_even_is_the_first_month_back_below_after_being_above():
    def paid(*by_month):
        return [line(f"X.{m}", [const(usd)], once((1, at("month", month=m)))) for m, usd in enumerate(by_month) if usd]

    base = document(
        [
            option("A", paid(1, 9, 0, 0, 0, 1)),
            option("B", [{**row, "key": "B" + row["key"]} for row in paid(2, 2, 2, 2, 3, 9)]),
        ],
        horizon_months=5,
    )
    first = next(item for item in total_cost_of_ownership(base)["comparisons"] if item["first"] == "A")
    assert first["break_even_month"]["likely"] == 4
    assert first["break_even_month"]["share_of_draws"] == 1


def test_tax_saved_is_the_rate_times_what_is_deducted():
    lines = [line("A.fee", [const(100)], monthly(at("signature"), at("horizon")))]
    tax = {"rate": const("0.25"), "method": "straight_line", "life_months": const(60), "absorption": "full"}
    answer = evaluate(document([option("A", lines)], tax=tax))["options"]["A"]
    assert answer["by_group_usd"] == pytest.approx({"operating": 3600, "tax": -900})
    waiting = evaluate(document([option("A", lines)], tax={**tax, "absorption": "carry_forward"}))["options"]["A"]
    assert waiting["nominal_usd"]["likely"] == pytest.approx(3600)
    assert waiting["tax_deductions_carried_forward_usd"] == pytest.approx(3600)
