"""The source of the engine: one home for constants of time, a light import, results in step with their page."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from apps.engine.quantities import QUANTITIES
from apps.engine.tco import total_cost_of_ownership
from tests.engine.documents import three_options

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "apps" / "engine"
OF_TIME = {730, 8760, 720, 8766, 365, 365.25, 24, 52, 30.4375, 84}
MODULES = sorted(path for path in ENGINE.glob("*.py") if path.name != "units.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_constants_of_time_appear_in_units_alone(path):
    found = [
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value in OF_TIME
    ]
    assert found == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_dozen_months_is_written_as_months_per_year(path):
    allowed = {"finance.py"}  # the default of a first year that is whole
    twelves = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == 12 and isinstance(node.value, int)
    ]
    assert len(twelves) <= (path.name in allowed)


def test_importing_the_engine_loads_neither_scipy_nor_django():
    program = (
        "import sys, apps.engine.tco; "
        "print(sorted({'scipy', 'django', 'pandas'} & {m.split('.')[0] for m in sys.modules}))"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_modules_are_short():
    assert {
        path.name: len(path.read_text().splitlines()) for path in MODULES if len(path.read_text().splitlines()) > 500
    } == {}


def names_of(value, found):
    if isinstance(value, dict):
        for name, part in value.items():
            if re.fullmatch(r"[a-z][a-z0-9_]+", name):
                found.add(name)
            names_of(part, found)
    elif isinstance(value, list):
        for part in value:
            names_of(part, found)
    return found


def test_every_field_of_the_results_is_explained_on_the_page_of_the_model():
    page = (ROOT / "docs" / "models" / "tco.md").read_text()
    base = three_options()
    groups = {"operating", "cloud", "capital", "residual", "compute", "power", "support"}
    names = names_of(total_cost_of_ownership(base), set()) - groups - set(base["inputs"])
    missing = sorted(name for name in names if f"`{name}`" not in page)
    assert missing == []


def test_every_quantity_with_a_caption_is_a_field_of_the_results():
    names = names_of(total_cost_of_ownership(three_options()), set())
    assert sorted(set(QUANTITIES) - names) == []
