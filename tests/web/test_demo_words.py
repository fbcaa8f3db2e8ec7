"""Headings of the three demo cases: they lead with the cheapest option and hold it against the best of another kind."""

import json
from typing import Any

import pytest
from django.core.management import call_command

from apps.analyses.demo import add_demo_case
from apps.analyses.inputs import tco_document
from apps.engine.tco import total_cost_of_ownership
from apps.reports import findings
from apps.reports.cost_run import NOMINAL, NPV, CostRun
from tests.factories import make_organisation, make_user


@pytest.fixture
def demo(db: None) -> Any:
    """The run of a demo case, computed here by the real engine with few draws."""
    call_command("load_assumptions", verbosity=0)

    def run(key: str) -> CostRun:
        assessment = add_demo_case(key, organisation=make_organisation(), owner=make_user()).assessment
        assessment.draws = 64
        assessment.save()
        given = json.loads(json.dumps(tco_document(assessment)))
        return CostRun(given, json.loads(json.dumps(total_cost_of_ownership(given))), 1)

    return run


def _pair(cost: CostRun, basis: str = NOMINAL) -> tuple[str, str, str]:
    option = findings.default_option(cost, basis)
    rival = findings.default_rival(cost, option, basis)
    assert rival is not None
    return option.key, rival.key, findings.tco_finding(cost, option, rival, basis).heading.replace("\u00a0", " ")


def test_case_1_says_from_when_owning_b_undercuts_renting_c(demo: Any) -> None:
    option, rival, heading = _pair(demo("larkmere"))
    assert (option, rival) == ("B", "C")
    assert heading.startswith("Owning B undercuts renting C from month ")


@pytest.mark.parametrize("key", ["larkmere", "corvane", "pellstone"])
@pytest.mark.parametrize("basis", [NOMINAL, NPV])
def test_no_option_is_cheaper_than_the_one_that_a_demo_case_leads_with(demo: Any, key: str, basis: str) -> None:
    cost = demo(key)
    option, rival, heading = _pair(cost, basis)
    print(key, basis, heading)
    totals = {each.key: each.total(basis)["likely"] for each in cost.compared}
    assert totals[option] == min(totals.values())
    other_kind = [k for k in totals if cost.options[k].owned != cost.options[option].owned]
    assert rival == min(other_kind or set(totals) - {option}, key=totals.__getitem__)
    first = heading.split(" undercuts ")[0] if " undercuts " in heading else heading
    assert option in first or "the same" in heading


def test_case_3_leads_with_the_rented_option_that_costs_least(demo: Any) -> None:
    option, _rival, heading = _pair(demo("pellstone"))
    assert option == "Z"
    assert "Z" in heading
