"""Assessment specs: the schema, its keys, and errors that name their place."""

import copy
import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist

from apps.assessments.models import Assessment, Option, OptionPhase, OptionStaff
from apps.assessments.spec import SCHEMA_PATH, SpecError, check_spec, parse_spec, read_spec
from apps.racks.models import RackConfiguration

DEMO = Path(settings.BASE_DIR) / "fixtures" / "demo"


@pytest.fixture
def spec():
    return copy.deepcopy(read_spec(DEMO / "larkmere.json"))


@pytest.mark.parametrize("name", ["larkmere", "corvane", "pellstone"])
def test_the_demo_specs_fit_the_schema(name):
    assert read_spec(DEMO / f"{name}.json")["schema"] == "spinecut.assessment/1"


def schema():
    return json.loads(SCHEMA_PATH.read_text())


def test_every_property_of_the_schema_is_described():
    def check(node, path):
        for name, item in node.get("properties", {}).items():
            where = f"{path}.{name}"
            assert item.get("description") or "$ref" in item or "enum" in item or "const" in item, where
            check(item, where)
        if isinstance(node.get("items"), dict):
            check(node["items"], f"{path}[]")

    root = schema()
    check(root, "$")
    for name, part in root["$defs"].items():
        check(part, name)


@pytest.mark.parametrize(
    ("place", "model", "own"),
    [
        (("properties", "configurations", "items"), RackConfiguration, {"key"}),
        (("properties", "assessment"), Assessment, set()),
        (("$defs", "option"), Option, {"phases", "staff", "evidence"}),
        (("$defs", "option", "properties", "phases", "items"), OptionPhase, {"quote"}),
        (("$defs", "option", "properties", "staff", "items"), OptionStaff, set()),
    ],
)
def test_the_schema_names_fields_that_exist(place, model, own):
    node = schema()
    for name in place:
        node = node[name]
    for name in set(node["properties"]) - own:
        try:
            model._meta.get_field(name)
        except FieldDoesNotExist:
            pytest.fail(f"{name} is no field of {model.__name__}")


def test_every_field_of_a_configuration_can_be_given():
    named = set(schema()["properties"]["configurations"]["items"]["properties"])
    fields = {field.name for field in RackConfiguration._meta.fields}
    assert fields - named == {"id", "client", "created_at", "updated_at", "assessment_id"}


def without(spec, *path):
    *parents, last = path
    node = spec
    for name in parents:
        node = node[name]
    del node[last]


def put(spec, value, *path):
    *parents, last = path
    node = spec
    for name in parents:
        node = node[name]
    node[last] = value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda spec: without(spec, "client"), r"^\$: 'client' is a required property"),
        (lambda spec: put(spec, "x", "options", 1, "phases", 0, "n_accelerators"), r"^\$\.options\[1\]\.phases\[0\]"),
        (lambda spec: put(spec, "garage", "options", 1, "facility"), r"^\$\.options\[1\]\.facility: 'garage'"),
        (lambda spec: put(spec, 1, "configurations", 0, "colour"), r"^\$\.configurations\[0\]: .*colour"),
        (lambda spec: put(spec, "2026-02-30", "date"), r"^\$\.date: '2026-02-30'"),
        (lambda spec: put(spec, "z", "options", 1, "phases", 0, "quote"), r"^\$\.options\[1\]\.phases\[0\]\.quote"),
        (lambda spec: put(spec, "A", "options", 2, "letter"), r"^\$\.options\[2\]\.letter: 'A' stands twice"),
        (lambda spec: put(spec, "Z", "waivers", 0, "option"), r"^\$\.waivers\[0\]\.option: 'Z'"),
        (lambda spec: put(spec, "1e9", "assumptions", 0, "likely"), r"^\$\.assumptions\[0\]\.likely"),
    ],
)  # fmt: skip
def test_an_error_names_its_place_in_the_file(spec, change, message):
    change(spec)
    with pytest.raises(SpecError, match=message):
        check_spec(spec)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1, column 2"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "nested too deep"),
        ("[]", r"\$: \[\] is not of type 'object'"),
    ],
)
def test_text_that_is_no_spec_is_refused_with_the_reason(text, message):
    with pytest.raises(SpecError, match=message):
        check_spec(parse_spec(text))


def test_a_missing_file_is_refused_by_its_name(tmp_path):
    with pytest.raises(SpecError, match=r"no_such\.json"):
        read_spec(tmp_path / "no_such.json")


def extra_line(spec, **values):
    line = {"kind": "service", "description": "Guard", "charge": "recurring", "period": "month"} | values
    spec["options"][1]["extra_lines"] = [{name: value for name, value in line.items() if value is not None}]
    return spec


def test_an_extra_line_takes_the_names_of_quote_lines(spec):
    check_spec(extra_line(spec, quantity=2, unit_price_likely="10.5", discount="0.1", starts="delivery"))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"period": None}, "'period' is a required property"),
        ({"unit_price_likely": "many"}, "extra_lines[0].unit_price_likely"),
        ({"unit_prize_likely": 3}, "'unit_prize_likely' was unexpected"),
        ({"discount": "1.2"}, "extra_lines[0].discount"),
        ({"discount": -0.1}, "extra_lines[0].discount"),
        ({"quantity": "-2"}, "extra_lines[0].quantity"),
    ],
)
def test_an_extra_line_that_cannot_be_used_is_refused_by_its_path(spec, values, told):
    with pytest.raises(SpecError) as error:
        check_spec(extra_line(spec, **values))
    assert str(error.value).startswith("$.options[1].extra_lines[0]")
    assert told in str(error.value)


@pytest.mark.parametrize(("field", "value"), [("goodput_likely", "1.5"), ("availability", 2), ("it_load_kw_low", -1)])
def test_a_figure_of_a_configuration_out_of_range_is_refused_by_its_path(spec, field, value):
    spec["configurations"][0][field] = value
    with pytest.raises(SpecError, match=rf"^\$\.configurations\[0\]\.{field}"):
        check_spec(spec)
