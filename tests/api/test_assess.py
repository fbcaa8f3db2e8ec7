"""`manage.py assess`: a spec in, files out, the same bytes each time; what cannot be used ends with 2 and one line."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
LARKMERE = ROOT / "fixtures" / "demo" / "larkmere.json"
LEFT_OUT = ("DATABASE_URL", "REDIS_URL", "CACHE_URL", "DJANGO_SETTINGS_MODULE")  # as on a bare machine


def assess(spec, out, *arguments, var_dir):
    environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    environment["SPINECUT_VAR_DIR"] = str(var_dir)
    command = [sys.executable, "manage.py", "assess", str(spec), "--out", str(out), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def var_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("var")


@pytest.fixture(scope="module")
def two_answers(tmp_path_factory, var_dir):
    """The files of two runs on one spec, in two processes with two databases."""
    folders = [tmp_path_factory.mktemp("out") for _ in range(2)]
    for folder in folders:
        done = assess(LARKMERE, folder, "--ephemeral", var_dir=var_dir)
        assert done.returncode == 0, done.stderr
    return folders


def test_two_runs_on_equal_input_give_equal_bytes(two_answers):
    first, second = two_answers
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert {"results.json", "tco.xlsx", "tco_A.csv", "tco_B_plus.csv"} <= set(names)
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_the_results_have_the_keys_of_the_interface(two_answers):
    results = json.loads((two_answers[0] / "results.json").read_text())
    assert {"assessment", "currency", "inputs_sha256", "engine_version", "seed", "options", "decision"} <= set(results)
    assert results["decision"] is None
    for option in results["options"]:
        assert {"name", "gated_by", "tco", "fabric", "training", "velocity", "probability_cheapest"} <= set(option)
        assert (option["fabric"], option["training"], option["velocity"]) == (None, None, None)
        for name in ("nominal_usd", "npv_usd"):
            assert set(option["tco"][name]) == {"likely", "p10", "p50", "p90"}
        for total in (option["tco"]["by_year_usd"], option["tco"]["by_category_usd"].values()):
            assert sum(total) == pytest.approx(option["tco"]["nominal_usd"]["likely"], abs=0.01)


def test_the_workbook_lists_every_quoted_line(two_answers):
    with zipfile.ZipFile(two_answers[0] / "tco.xlsx") as workbook:
        texts = workbook.read("xl/sharedStrings.xml").decode()
    for wanted in ("Larkmere Robotics", "VC-26118", "QR-7731", "DGX H100 node"):
        assert wanted in texts


def test_nothing_is_left_in_the_installation(two_answers, var_dir):
    assert not (var_dir / "spinecut.sqlite3").exists()
    assert not (var_dir / "files").exists()
    assert len(list((var_dir / "cache").iterdir())) == 1


def one_line(done):
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_a_pdf_is_refused_in_one_line(tmp_path, var_dir):
    done = assess(LARKMERE, tmp_path, "--ephemeral", "--format", "json,pdf", var_dir=var_dir)
    assert done.returncode == 2
    assert "report.pdf is not part of this version yet" in one_line(done)
    assert not list(tmp_path.iterdir())


def test_a_spec_that_does_not_fit_ends_with_2_and_its_path(tmp_path, var_dir):
    spec = json.loads(LARKMERE.read_text())
    spec["options"][1]["facility"] = "garage"
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    done = assess(path, tmp_path / "out", "--ephemeral", var_dir=var_dir)
    assert done.returncode == 2
    assert "$.options[1].facility: 'garage'" in one_line(done)
    assert not (tmp_path / "out").exists()


def test_a_quote_that_the_import_refuses_ends_with_2_and_its_place(tmp_path, var_dir, two_answers):
    spec = json.loads(LARKMERE.read_text())
    spec["quotes"][0]["lines"][0]["quantity"] = "sixteen"
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    done = assess(path, tmp_path / "out", "--ephemeral", var_dir=var_dir)
    assert done.returncode == 2
    assert "$.quotes[0]: " in one_line(done)
    assert "sixteen" in done.stderr


def test_a_missing_spec_ends_with_2(tmp_path, var_dir):
    done = assess(tmp_path / "no.json", tmp_path / "out", var_dir=var_dir)
    assert done.returncode == 2
    assert "no.json" in one_line(done)
