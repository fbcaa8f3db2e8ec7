"""Sobol indices against closed forms and an independent library; tornados."""

import numpy as np
import pytest

from apps.engine.errors import NoAnswerError
from apps.engine.sensitivity import sobol_indices
from apps.engine.tco import evaluate, total_cost_of_ownership
from tests.engine.documents import three_options


def ishigami(points):
    x = np.pi * (2 * points - 1)
    return np.sin(x[0]) + 7 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])


def test_indices_of_the_ishigami_function_are_met_to_two_hundredths():
    variance, first, total = sobol_indices(ishigami, 3, base_samples=4096, seed=3)
    assert variance == pytest.approx(13.8446, rel=0.02)
    assert first == pytest.approx([0.3139, 0.4424, 0], abs=0.02)
    assert total == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.02)


def test_indices_agree_with_salib():
    from SALib.analyze import sobol as analyse
    from SALib.sample import sobol as sample

    problem = {"num_vars": 3, "names": ["x1", "x2", "x3"], "bounds": [[0, 1]] * 3}
    points = sample.sample(problem, 4096, calc_second_order=False, seed=1)
    found = analyse.analyze(problem, ishigami(points.T), calc_second_order=False, seed=1)
    _, first, total = sobol_indices(ishigami, 3, base_samples=4096, seed=3)
    assert first == pytest.approx(found["S1"], abs=0.03)
    assert total == pytest.approx(found["ST"], abs=0.03)


def test_a_result_that_does_not_vary_has_no_indices():
    with pytest.raises(NoAnswerError):
        sobol_indices(lambda points: np.ones(points.shape[1]), 2, base_samples=64, seed=1)


def test_only_chosen_inputs_get_indices():
    _, first, _ = sobol_indices(ishigami, 3, base_samples=256, seed=1, chosen=[1])
    assert first.shape == (1,)


def test_a_tornado_holds_what_one_input_alone_does_largest_first():
    base = three_options()
    answer = total_cost_of_ownership(base)
    bars = answer["tornado"]["A"]
    assert [bar["swing_usd"] for bar in bars] == sorted((bar["swing_usd"] for bar in bars), reverse=True)
    bar = next(bar for bar in bars if bar["input"] == "gpu")
    for end in ("low", "high"):
        single = evaluate(base, {"gpu": bar[end]})["options"]["A"]["nominal_usd"]["likely"]
        assert bar[f"at_{end}_usd"] == pytest.approx(single)
    difference = {bar["input"]: bar["swing_usd"] for bar in answer["tornado_difference"]["A|C"]}
    # the bridge price moves the cloud option far more than the purchase that it bridges
    assert difference["cloud"] > next(bar["swing_usd"] for bar in bars if bar["input"] == "cloud")


def test_indices_of_the_best_pair_explain_its_difference():
    answer = total_cost_of_ownership(three_options())
    ((pair, found),) = answer["sensitivity"].items()
    assert pair == "|".join(answer["ranking"]["nominal"][:2])
    assert sum(item["first_order"] for item in found["indices"]) == pytest.approx(1, abs=0.1)
    assert all(item["total"] >= item["first_order"] - 0.05 for item in found["indices"])
