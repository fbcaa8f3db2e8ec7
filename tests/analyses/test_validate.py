"""`manage.py validate` on worked examples of cost: answers, refusals, exit codes."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from apps.analyses.validation.compare import compared
from apps.analyses.validation.tco import case_rows

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "engine" / "golden" / "tco.json"


def answer(path):
    out = StringIO()
    call_command("validate", "tco", str(path), "--json", stdout=out)
    return json.loads(out.getvalue())


def case(inputs, outputs, **more):
    return {"id": "case", "inputs": inputs, "outputs": outputs, **({"tolerance": 1e-4} | more)}


def one(inputs, outputs, **more):
    (row,) = case_rows(case(inputs, outputs, **more))
    return row


def test_all_published_cases_hold_in_the_form_of_the_interface():
    found = answer(GOLDEN)
    assert found["kind"] == "tco"
    assert found["summary"] == {"rows": 157, "computed": 157, "refused": 0, "ok": 157, "by_class": {}, "sweeps": {}}
    fields = "id quantity published computed relative_error tolerance ok low high class sweep refused"
    assert all(set(row) == set(fields.split()) for row in found["rows"])


def test_a_published_zero_has_no_relative_error():
    row = next(row for row in answer(GOLDEN)["rows"] if row["quantity"] == "S3")
    assert row["relative_error"] is None
    assert row["ok"]


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        (
            {"hourly_commit_usd": 1.0, "demand_case_a_usd": 0.75, "demand_case_b_usd": 1.5},
            {
                "case_a_used_usd": 0.75,
                "case_a_unused_usd": 0.25,
                "case_b_commitment_usd": 1.0,
                "case_b_ondemand_usd": 0.5,
                "case_b_total_usd": 1.5,
            },
        ),
        (
            {"hourly_commit_usd": 1.0, "demand_case_a_usd": [0.75, 2.0]},
            {"case_a_used_usd": 1.75, "case_a_total_usd": 3.0},
        ),
        (
            {
                "cashflows_5y": [-70000, 12000, 15000, 18000, 21000, 26000],
                "cashflows_4y": [-70000, 12000, 15000, 18000, 21000],
            },
            {"irr_5y": 0.086631, "irr_4y": -0.021245},
        ),
        (
            {
                "rate": 0.09,
                "cashflows": [-10000, 2750, 4250, 3250, 2750],
                "dates": ["2008-01-01", "2008-03-01", "2008-10-30", "2009-02-15", "2009-04-01"],
            },
            {"xnpv": 2086.6476, "xirr": 0.3733625},
        ),
        (
            {"cost": 1000000, "salvage": 100000, "life_years": 6, "first_year_months": 7},
            {"schedule": [186083.33, 259639.42, 176814.44, 120410.64, 81999.64, 55841.76, 15845.10]},
        ),
        ({"gpus": 8, "ondemand_usd_per_hour": 32.0, "one_year_usd_per_hour": 16.0}, {"one_year_discount": 0.5}),
        (
            {
                "accelerators": 10,
                "chip_hours": 8766,
                "server_price_per_chip_at_acquisition_usd": 1000,
                "acquisition_date": "2020-01-01",
                "training_start_date": "2022-01-01",
                "price_performance_ooms_per_year": 0.14,
                "hours_per_year": 8766,
                "interconnect_fraction_of_total": 0.19,
                "chip_tdp_w": 400,
                "chip_to_server_power_ratio": 2,
                "mean_power_fraction": 0.75,
                "pue": 1.1,
                "electricity_usd_per_kwh": 0.08,
                "price_index_at_publication": 100,
                "price_index_target": 110,
            },
            {"amortised_server_usd": 1000 * 10 ** (-0.14 * 731 / 365.25) * 0.14 * 2.302585},
        ),
    ],
)
def test_every_set_of_input_names_has_an_answer(inputs, outputs):
    rows = case_rows(case(inputs, outputs))
    assert [row.refused for row in rows] == [None] * len(rows)
    assert all(row.ok for row in rows), rows


@pytest.mark.parametrize(
    ("inputs", "outputs", "reason"),
    [
        ({"cashflows": [-1, 5, -6]}, {"irr": 0.5}, "change sign 2 times"),
        ({"colour": 1}, {"irr": 0.5}, "no model takes this set of inputs: colour"),
        ({"cashflows": [-1, 2]}, {"npv": 0.5}, "do not lead to this output"),
        ({"cashflows": [-1, 2], "finance_rate": 0.1}, {"mirr": 0.5}, "'reinvest_rate' is missing"),
        (
            {"onprem_capex_usd": 1, "onprem_opex_usd_per_hour": 2, "cloud_usd_per_hour": 1},
            {"breakeven_hours": 1},
            "No break-even",
        ),
        ({"cost": "x", "salvage": 0, "life_years": 3}, {"sln": 1}, "cost is 'x'"),
        ({"basis_usd": 100, "percent": [50, 50]}, {"schedule": [50, 50, 0]}, "another shape"),
    ],
)
def test_what_the_engine_must_not_answer_is_refused_with_a_reason(inputs, outputs, reason):
    row = one(inputs, outputs)
    assert row.refused is not None
    assert reason in row.refused
    assert row.ok is None


def test_a_miss_is_told_and_changes_no_exit_code(tmp_path):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"cases": [case({"cashflows": [-100, 110]}, {"irr": 0.2})]}))
    row = answer(path)["rows"][0]
    assert row["ok"] is False
    assert row["relative_error"] == pytest.approx(-0.5)


def test_dictionaries_are_compared_element_by_element():
    row = compared(
        case_id="x",
        quantity="y",
        published={"a": 1.0, "b": 2.0},
        computed={"a": 1.0, "b": 2.2},
        relative=0.01,
        absolute=None,
    )
    assert row.relative_error == pytest.approx(0.1)
    assert row.ok is False


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["tco", "missing.json"], "cannot be read"),
        (["fabric", str(GOLDEN)], "not part of this version yet"),
        (["tco", __file__], "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_leaves_with_2_and_one_line(arguments, text):
    command = [sys.executable, "manage.py", "validate", *arguments, "--json"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert text in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_case_that_overflows_is_refused_and_leaves_the_others(tmp_path):
    given = {"periods": 1000, "payment": -1.0, "present_value": -1.0}
    cases = [
        {"id": "far", "inputs": given | {"rate_per_period": 10.0}, "outputs": {"future_value": 1.0}},
        {"id": "near", "inputs": given | {"rate_per_period": 0.001}, "outputs": {"future_value": 1.0}},
    ]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"cases": cases}))
    far, near = answer(path)["rows"]
    assert (far["computed"], far["refused"]) == (None, "the result is not finite: it overflows")
    assert near["refused"] is None


@pytest.mark.parametrize("value", ["many", None, [1.0], {"a": "b"}, True])
def test_a_case_of_odd_values_is_refused_row_by_row(value):
    row = one({"rate_per_period": value, "periods": value, "payment": 1.0, "present_value": 1.0}, {"future_value": 1.0})
    assert row.refused


@pytest.mark.parametrize("published", ["many", None])
def test_a_published_value_that_is_no_number_is_refused(published):
    given = {"rate_per_period": 0.01, "periods": 10, "payment": 1.0, "present_value": 1.0}
    assert one(given, {"future_value": published}).refused
