"""What the engine refuses, each with the path of what is wrong."""

import re
from copy import deepcopy
from typing import Any

import pytest

from apps.engine.errors import EngineError, InputError
from apps.engine.tco import check_document, evaluate, sweep_points, total_cost_of_ownership
from tests.engine.documents import at, const, document, item, line, once, option, phase, three_options


def put(path: str, value: Any) -> dict[str, Any]:
    """Return a sound document with one value replaced."""
    result = deepcopy(three_options())
    target: Any = result
    *steps, last = [int(part) if part.isdigit() else part for part in re.findall(r"[\w.]+(?=\])|\w+", path)]
    for step in steps:
        target = target[step]
    if value is KeyError:
        del target[last]
    else:
        target[last] = value
    return result


LINES = "options[0][lines]"


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        ("schema", "other/1", "schema"),
        ("horizon_months", 0, "horizon_months"),
        ("horizon_months", 121, "horizon_months"),
        ("horizon_months", 36.0, "horizon_months"),
        ("draws", 1000, "draws"),
        ("seed", -1, "seed"),
        ("seed", None, "seed"),
        ("discount_rate", "unknown", "discount_rate"),
        ("discount_rate", {"const": "7"}, "discount_rate"),
        ("options", [], "options"),
        ("inputs[gpu][likely]", "NaN", "inputs.gpu.likely"),
        ("inputs[gpu][likely]", "1e400", "inputs.gpu.likely"),
        ("inputs[gpu][likely]", "1_000", "inputs.gpu.likely"),
        ("inputs[gpu][likely]", True, "inputs.gpu.likely"),
        ("inputs[gpu][likely]", KeyError, "inputs.gpu.likely"),
        ("inputs[gpu][low]", "35000", "inputs.gpu"),
        ("inputs[gpu][high]", None, "inputs.gpu"),
        ("inputs[gpu][distribution]", "normal", "inputs.gpu.distribution"),
        ("inputs[tariff][low]", "0", "inputs.tariff.low"),
        ("inputs[gpu][correlation_group]", "none", "inputs.gpu.correlation_group"),
        ("inputs[gpu][correlation_sign]", 2, "inputs.gpu.correlation_sign"),
        ("correlation_groups", {"g": "1.5"}, "correlation_groups.g"),
        ("options[1][key]", "A", "options"),
        (f"{LINES}[1][key]", "A.nodes", "options[0].lines"),
        (f"{LINES}[0][factors]", [], "options[0].lines[0].factors"),
        (f"{LINES}[0][factors]", ["missing"], "options[0].lines[0].factors[0]"),
        (f"{LINES}[0][factors]", [{"power": ["gpu"]}], "options[0].lines[0].factors[0]"),
        (f"{LINES}[0][factors]", [{"excess": ["gpu"]}], "options[0].lines[0].factors[0].excess"),
        (f"{LINES}[0][factors]", [{"spot_loss": {"interval": "gpu"}}], "options[0].lines[0].factors[0].spot_loss"),
        (f"{LINES}[0][factors]", [{"divide": ["gpu", const(0)]}], "options.A.lines.A.nodes.factors[0]"),
        (f"{LINES}[0][group]", "other", "options[0].lines[0].group"),
        (f"{LINES}[0][sign]", 0, "options[0].lines[0].sign"),
        (f"{LINES}[0][life_months]", const(0), "options.A.lines.A.nodes.life_months"),
        (f"{LINES}[1][treatment]", "capital", "options[0].lines[1].treatment"),
        (f"{LINES}[1][timing][escalation]", const(-1), "options.A.lines.A.power.timing.escalation"),
        (f"{LINES}[1][timing][upfront_share]", const("1.2"), "options.A.lines.A.power.timing.upfront_share"),
        (f"{LINES}[1][timing][from]", {"event": "ready", "phase": "B.1"}, "options[0].lines[1].timing.from.phase"),
        (f"{LINES}[1][timing][to]", {"event": "payday"}, "options[0].lines[1].timing.to.event"),
        (f"{LINES}[0][timing]", once((0.3, at("signature"))), "options.A.lines.A.nodes.timing.milestones"),
        (f"{LINES}[0][timing]", {"kind": "once", "milestones": []}, "options[0].lines[0].timing.milestones"),
        (f"{LINES}[2][percent_of]", ["A.missing"], "options[0].lines[2].percent_of"),
        (f"{LINES}[0][percent_of]", ["A.support"], "options[0].lines.percent_of"),
        ("options[0][phases][0][end]", at("end", "A.1"), "options[0].phases.end"),
        ("options[0][phases][0][kind]", "rented", "options[0].phases[0].kind"),
        ("options[0][phases][0][availability]", const("1.1"), "options.A.phases.A.1.availability"),
        ("options[0][phases][0][lead_weeks]", const("-1"), "options.A.phases.A.1.lead_weeks"),
        ("options[0][phases][0][n_accelerators]", const("-1"), "options.A.phases.A.1.n_accelerators"),
        ("options[0][financing]", {"kind": "gift"}, "options[0].financing.kind"),
        (
            "options[0][financing]",
            {"kind": "loan", "share": const(2), "annual_rate": const(0), "term_months": 12},
            "options.A.financing.share",
        ),
        (
            "options[0][financing]",
            {"kind": "loan", "share": const(1), "annual_rate": const(0), "term_months": 0},
            "options[0].financing.term_months",
        ),
        ("tax", {"rate": const("0.2"), "method": "none"}, "tax.life_months"),
        ("tax", {"rate": const("0.2"), "method": "none", "life_months": const(1), "absorption": "full"}, "tax.method"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(path, value, name):
    if isinstance(value, dict) and name == "tax.life_months":
        value = {"rate": const("0.2"), "method": "macrs_5", "absorption": "full"}
    with pytest.raises(InputError) as refusal:
        check_document(put(path, value))
    assert refusal.value.name == name, str(refusal.value)


def test_a_sound_document_is_not_refused():
    check_document(three_options())


def test_percentages_of_each_other_are_refused():
    lines = [
        line("A.x", [const(1)], once((1, at("signature"))), percent_of=["A.y"]),
        line("A.y", [const(1)], once((1, at("signature"))), percent_of=["A.x"]),
    ]
    with pytest.raises(InputError, match="free of circles"):
        check_document(document([option("A", lines)]))


def test_phases_that_wait_for_each_other_are_refused():
    phases = [phase("A.1", end=at("end", "A.2")), phase("A.2", end=at("end", "A.1"))]
    with pytest.raises(InputError, match=r"A\.1 -> A\.2 -> A\.1"):
        check_document(document([option("A", [line("A.x", [const(1)], once((1, at("signature"))))], phases)]))


@pytest.mark.parametrize(
    ("overrides", "name"), [({"none": 1.0}, "overrides.none"), ({"gpu": float("nan")}, "overrides.gpu")]
)
def test_an_override_without_input_or_number_is_refused(overrides, name):
    with pytest.raises(InputError) as refusal:
        evaluate(three_options(), overrides)
    assert refusal.value.name == name


@pytest.mark.parametrize(
    ("axis", "name"),
    [
        ({"input": "none", "values": ["1"]}, "axes[0].input"),
        ({"input": "gpu", "values": []}, "axes[0].values"),
        ({"input": "gpu", "values": ["x"]}, "axes[0].values[0]"),
    ],
)
def test_a_wrong_axis_is_refused(axis, name):
    with pytest.raises(InputError) as refusal:
        sweep_points(three_options(), [axis], 0, 1)
    assert refusal.value.name == name


def test_draws_without_a_finite_cost_are_refused_with_a_reason():
    lines = [line("A.x", [{"divide": [const(1), {"excess": ["a", const(9)]}]}], once((1, at("signature"))))]
    base = document([option("A", lines)], {"a": item(10, 5, 20)})
    with pytest.raises(EngineError, match="have no finite cost"):
        total_cost_of_ownership(base)
