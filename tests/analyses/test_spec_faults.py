"""Specs with a fault in any place end as one line that a user can act on, never as a traceback."""

import copy
import json
import random
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction

from apps.accounts.permissions import SYSTEM
from apps.analyses.inputs import tco_document
from apps.analyses.spec_loading import load_spec
from apps.assessments.spec import SpecError, check_spec, read_spec
from apps.engine.errors import InputError
from tests.factories import make_client

pytestmark = pytest.mark.django_db
SPEC = Path(settings.BASE_DIR) / "fixtures" / "demo" / "larkmere.json"
KEPT = ("A", "C")
N_FAULTS = 150
SEED = 20261130
FAULTS = {
    "drop": None,
    "null": lambda value: None,
    "text": lambda value: "many",
    "empty": lambda value: "",
    "list": lambda value: [value],
    "object": lambda value: {"likely": value},
    "boolean": lambda value: True,
    "negative": lambda value: -1,
    "zero": lambda value: 0,
    "huge": lambda value: 10**40,
    "small": lambda value: "0.00000000000000000001",
}


@pytest.fixture
def base(db):
    """The demo with an owned and a cloud option alone, so that a try takes half the time."""
    call_command("load_catalogue", verbosity=0)
    spec = read_spec(SPEC)
    spec["options"] = [option for option in spec["options"] if option["letter"] in KEPT]
    phases = [phase for option in spec["options"] for phase in option["phases"]]
    for part, name in (("quotes", "quote"), ("configurations", "configuration")):
        used = {phase.get(name) for phase in phases}
        spec[part] = [item for item in spec[part] if item["key"] in used]
    return spec


def places(node, path=()):
    """Every path that leads to a value of the spec."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in pairs:
        yield (*path, name)
        yield from places(value, (*path, name))


def spoiled(spec, path, fault):
    changed = copy.deepcopy(spec)
    parent = changed
    for name in path[:-1]:
        parent = parent[name]
    if fault == "drop":
        del parent[path[-1]]
    else:
        parent[path[-1]] = FAULTS[fault](parent[path[-1]])
    return changed


class UndoneError(Exception):
    """Takes back what one try has stored."""


def outcome(spec):
    """What building the document of a spec says; "" when it succeeds."""
    said = ""
    try:
        with transaction.atomic():
            try:
                tco_document(load_spec(check_spec(spec), by=SYSTEM, client=make_client()))
            except (SpecError, InputError) as error:
                said = str(error)
            raise UndoneError
    except UndoneError:
        return said


@pytest.mark.parametrize("part", range(5))
def test_a_spec_with_one_fault_is_built_or_refused_in_words(base, part):
    draws = random.Random(SEED + part)
    found, refused = list(places(base)), 0
    for _number in range(N_FAULTS // 5):
        path, fault = draws.choice(found), draws.choice(list(FAULTS))
        try:
            said = outcome(spoiled(base, path, fault))
        except Exception as error:
            raise AssertionError(f"{path} {fault}: {type(error).__name__}: {error}") from error
        refused += bool(said)
    assert refused


def two_phases(spec):
    option = next(option for option in spec["options"] if len(option["phases"]) == 1 and option["letter"] != "0")
    first = option["phases"][0]
    option["phases"] = [first | {"ends_when_ready": 2}, first | {"ends_when_ready": 1}]
    return spec


def test_phases_that_end_one_another_are_refused_by_their_option(base):
    said = outcome(two_phases(copy.deepcopy(base)))
    assert said.startswith("$.options[")
    assert "circle" in said


def assumed(spec, **values):
    spec["options"][1]["assumptions"] = {
        key.replace("__", "."): {"likely": value, "source": "A test"} for key, value in values.items()
    }
    return spec


def test_what_an_option_assumes_beyond_its_bounds_is_refused_by_its_place(base):
    said = outcome(assumed(copy.deepcopy(base), residual_fraction__compute="2"))
    assert said == "$.options[1]: residual_fraction.compute is 2; it must be from 0 to 1."


def test_a_misspelt_assumption_of_an_option_is_refused_by_its_place(base):
    said = outcome(assumed(copy.deepcopy(base), residual_fraction__gpu="0.2"))
    assert said.startswith("$.options[1]: key is residual_fraction.gpu")


def test_an_assumption_beyond_its_bounds_is_refused_by_its_place(base):
    spec = copy.deepcopy(base)
    spec["assumptions"] = [{"key": "residual_fraction.compute", "likely": "2", "source": "A test"}]
    assert outcome(spec) == "$.assumptions[0]: residual_fraction.compute is 2; it must be from 0 to 1."


@pytest.mark.parametrize("line", [{}, {"period": "month", "unit_price_likely": "many"}])
def test_assess_refuses_an_extra_line_with_one_line_and_two(base, tmp_path, line):
    spec = json.loads(SPEC.read_text())
    spec["options"][1]["extra_lines"] = [{"kind": "service", "description": "Guard", "charge": "recurring"} | line]
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    with pytest.raises(CommandError) as error:
        call_command("assess", str(path), "--out", str(tmp_path / "out"))
    assert error.value.returncode == 2
    assert str(error.value).startswith("$.options[1].extra_lines[0]")
    assert "\n" not in str(error.value)
