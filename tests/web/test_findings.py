"""Headings are true of the run they are built from, and the panel's numbers multiply to its result."""

import copy
import json
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from apps.engine import tco as engine
from apps.reports import charts, comparison, explain, findings, tco_tables, what_if
from apps.reports.cost_run import NOMINAL, NPV, CostRun
from tests.web.conftest import Case


@pytest.fixture
def cost(case: Case) -> CostRun:
    return CostRun.read(case.run)


def _changed(cost: CostRun, **month: Any) -> CostRun:
    found = copy.deepcopy(dict(cost.found))
    for pair in found["comparisons"]:
        for name in ("break_even_month", "break_even_month_net", "discounted_break_even_month"):
            pair[name] |= month
    return CostRun(cost.given, found, cost.number)


def test_the_heading_names_the_month_in_which_owning_undercuts_renting(cost: CostRun) -> None:
    a, c = cost.options["A"], cost.options["C"]
    month = cost.comparison("A", "C")["break_even_month_net"]["likely"]  # type: ignore[index]
    heading = findings.tco_finding(cost, a, c, NOMINAL).heading
    if month is None:
        assert "month" not in heading.split("over")[0]
    else:
        assert heading == f"Owning A undercuts renting C from month\u00a0{month:g}"


def test_without_a_break_even_the_heading_tells_the_difference_of_totals(cost: CostRun) -> None:
    changed = _changed(cost, likely=None)
    a, c = changed.options["A"], changed.options["C"]
    heading = findings.tco_finding(changed, a, c, NOMINAL).heading
    less = a.total(NOMINAL)["likely"] < c.total(NOMINAL)["likely"]
    assert ("less" if less else "more") in heading
    assert heading.startswith("Owning A costs")


def _with_totals(cost: CostRun, **millions: float) -> CostRun:
    """The run with other totals, so that another option is the cheapest."""
    found = copy.deepcopy(dict(cost.found))
    for key, amount in millions.items():
        for name in ("nominal_usd", "npv_usd"):
            found["options"][key][name]["likely"] = amount * 1e6
    for basis, name in ((NOMINAL, "nominal_usd"), (NPV, "npv_usd")):
        found["ranking"][basis].sort(key=lambda key: found["options"][key][name]["likely"])
    return CostRun(cost.given, found, cost.number)


def test_the_pair_holds_the_cheapest_option_against_the_best_of_the_other_kind(cost: CostRun) -> None:
    for basis in (NOMINAL, NPV):
        option = findings.default_option(cost, basis)
        rival = findings.default_rival(cost, option, basis)
        assert rival is not None
        assert option.key == cost.found["ranking"][basis][0]
        assert option.owned != rival.owned
        heading = findings.tco_finding(cost, option, rival, basis).heading
        assert option.key in heading
        assert rival.key in heading


def test_an_option_that_is_not_the_cheapest_stands_against_the_cheapest(cost: CostRun) -> None:
    cheapest = findings.default_option(cost)
    for option in cost.compared:
        rival = findings.default_rival(cost, option)
        assert rival is not None
        assert cheapest.key in (option.key, rival.key)


def test_where_renting_is_cheapest_the_heading_leads_with_it(cost: CostRun) -> None:
    changed = _with_totals(cost, C=4, A=6, B=7, **{"B+": 8})
    option = findings.default_option(changed)
    rival = findings.default_rival(changed, option)
    assert (option.key, rival and rival.key) == ("C", "A")
    heading = findings.tco_finding(changed, option, rival, NOMINAL).heading
    assert heading.startswith("Renting C ")
    assert "Owning A undercuts" not in heading


def test_the_comparison_leads_with_the_cheaper_of_owned_and_rented(cost: CostRun) -> None:
    changed = _with_totals(cost, C=4, A=6)
    for first, second in (("A", "C"), ("C", "A")):
        heading = findings.comparison_finding(changed, changed.options[first], changed.options[second]).heading
        assert heading == "C costs 2.00\u00a0M less than A over 36 months"


def test_where_owning_wins_b_undercuts_renting(cost: CostRun) -> None:
    changed = _changed(_with_totals(cost, B=6, A=7, C=8, **{"B+": 9}), likely=20)
    option = findings.default_option(changed)
    heading = findings.tco_finding(changed, option, findings.default_rival(changed, option), NOMINAL).heading
    assert heading == "Owning B undercuts renting C from month\u00a020"


def test_a_single_option_is_told_alone(cost: CostRun) -> None:
    heading = findings.tco_finding(cost, cost.options["A"], None, NOMINAL).heading
    assert heading.startswith("A costs")
    assert "36 months" in heading


def test_the_decision_says_when_another_option_wins_more_draws(cost: CostRun) -> None:
    found = copy.deepcopy(dict(cost.found))
    ranked = [cost.options[key] for key in found["ranking"][NOMINAL]]
    lead, other = ranked[0].key, ranked[1].key
    for share, expected in ((0.9, f"{lead} costs least over 36 months"), (0.1, f"{other} in most draws")):
        found["probability_cheapest"] = {NOMINAL: {lead: share, other: 1 - share}}
        heading = findings.decision_finding(CostRun(cost.given, found), ranked, 0).heading
        assert expected in heading
    assert "2\u00a0gates are open" in findings.decision_finding(cost, ranked, 2).heading
    assert "Nothing is ranked" in findings.decision_finding(cost, [], 2).heading


def test_the_decision_tells_of_a_cheaper_option_that_a_gate_holds_back(cost: CostRun) -> None:
    changed = _with_totals(cost, C=5.46, A=6, B=7, **{"B+": 8})
    ranked = [changed.options[key] for key in ("A", "B", "B+")]
    heading = findings.decision_finding(changed, ranked, 1, {"C": ["T1"]}).heading
    assert heading == (
        "A costs least of those that can be ranked; C is 0.54\u00a0M cheaper but T1 is open. "
        "One gate is open before signature."
    )
    dearer = findings.decision_finding(changed, [changed.options["C"]], 0, {"A": ["T1"], "B": ["T1"]}).heading
    assert dearer == "C costs least over 36 months"
    several = findings.decision_finding(changed, [changed.options["B"]], 0, {"A": ["F1", "T1"], "C": ["T1"]}).heading
    assert "C is 1.54\u00a0M cheaper but T1 is open; A is 1.00\u00a0M cheaper but F1, T1 are open" in several


def test_an_option_that_is_not_ranked_and_wins_most_draws_is_not_passed_over(cost: CostRun) -> None:
    found = copy.deepcopy(dict(cost.found))
    keys = found["ranking"][NOMINAL]
    found["probability_cheapest"] = {NOMINAL: {keys[0]: 0.1, keys[1]: 0.2, keys[2]: 0.7}}
    changed = CostRun(cost.given, found)
    heading = findings.decision_finding(changed, [changed.options[key] for key in keys[:2]], 0).heading
    assert "draws" not in heading


def test_every_line_and_total_has_an_explanation_whose_numbers_multiply(cost: CostRun) -> None:
    for option in cost.options.values():
        for line in option.lines:
            found = explain.explain(cost, line["key"])
            assert found is not None
            assert found.inputs or line["not_given"] or line["key"].endswith("bridge")
            if line["group"] != "residual":
                assert found.headline
        for name in ("nominal", "npv", "capital", "operating"):
            assert explain.explain(cost, f"{option.key}:{name}") is not None
    assert explain.explain(cost, "A.nothing") is None
    assert explain.explain(cost, "Z:nominal") is None
    assert explain.explain(cost, "A:nothing") is None


def test_the_facility_line_multiplies_by_hand(cost: CostRun) -> None:
    found = explain.explain(cost, "A.facility")
    assert found is not None
    product = Decimal(1)
    for text in found.numbers:
        product *= Decimal(text.split("\u00a0")[0].replace(",", ""))
    assert f"{product:,.0f} USD" == found.result


def test_what_if_agrees_with_the_engine(cost: CostRun) -> None:
    key = "facility_usd_per_kw_month"
    low, high = what_if.totals_with(cost, key, ("150", "240"))
    for value, totals in ((150.0, low), (240.0, high)):
        expected = engine.evaluate(cost.given, {key: value})["options"]
        assert totals == pytest.approx({k: o["nominal_usd"]["likely"] for k, o in expected.items()})


def test_the_stack_of_the_chart_ends_at_what_is_paid(cost: CostRun) -> None:
    for option in cost.compared:
        chart = charts.cumulative_cost(cost, option, None, NOMINAL)
        assert chart["bands"][-1]["high"][-1] == pytest.approx(chart["paid"][-1], abs=1e-5)
        assert len(chart["y_ticks"]) <= 7
        json.dumps(chart, allow_nan=False)


def test_the_table_of_years_adds_up_to_the_total(cost: CostRun) -> None:
    for option in cost.compared:
        rows = tco_tables.year_table(cost, option).rows
        lines = [row for row in rows if row.kind == "line"]
        total = next(row for row in rows if row.kind == "total")
        for column in range(len(total.cells)):
            summed = sum(_number(row.cells[column].text) for row in lines)
            assert summed == pytest.approx(_number(total.cells[column].text), abs=0.06 * len(lines))


def _number(text: str) -> float:
    return 0.0 if text in ("–", "") else float(text.replace(",", "").replace("−", "-"))


def test_the_waterfall_leads_from_one_total_to_the_other(cost: CostRun) -> None:
    steps = comparison.waterfall(cost, cost.options["A"], cost.options["C"]).steps
    for before, after in pairwise(steps):
        assert before.end == pytest.approx(after.start, abs=0.01)
    assert all(0 <= step.start <= 100 and 0 <= step.end <= 100 for step in steps)


def test_differences_only_leaves_out_rows_that_are_equal(cost: CostRun) -> None:
    options = [cost.options["A"], cost.options["B"]]
    every = comparison.comparison(cost, options).rows
    some = comparison.comparison(cost, options, differences_only=True).rows
    gone = {row.label for row in every} - {row.label for row in some}
    assert "Storage" in gone
    assert "Switches" not in gone


def test_owned_and_rented_lines_are_not_compared_but_staff_and_totals_are(cost: CostRun) -> None:
    rows = {row.label: row for row in comparison.comparison(cost, [cost.options["A"], cost.options["C"]]).rows}
    assert rows["Capex"].cells[1].difference == "not comparable"
    assert rows["Staff"].cells[1].difference_note.endswith("better")
    assert rows["TCO, nominal"].cells[1].difference not in ("", "not comparable")
    assert rows["Compute nodes"].cells[1].amount == "rented"
