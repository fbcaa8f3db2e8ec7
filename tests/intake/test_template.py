"""The template is byte-equal each time, and what is filled in comes back as it was typed."""

import json
import subprocess
import sys
from datetime import date
from io import BytesIO
from pathlib import Path

import jsonschema
import openpyxl
import pytest

from apps.intake.parsing.quote import Request, parse
from apps.intake.template import (
    LINE_COLUMNS,
    TemplateOptions,
    quote_csv_template_bytes,
    quote_schema,
    quote_template_bytes,
)
from tests.intake.generate import json_document, saved

ROOT = Path(__file__).resolve().parents[2]


def test_the_template_has_equal_bytes_each_time() -> None:
    assert quote_template_bytes() == quote_template_bytes(TemplateOptions())
    assert quote_template_bytes(TemplateOptions(vendor_name="A")) != quote_template_bytes()


def test_the_empty_template_is_refused_because_it_has_no_lines() -> None:
    for content in (quote_template_bytes(), quote_csv_template_bytes()):
        result = parse(Request(content))
        assert result["outcome"] == "reject"
        assert "no lines" in result["messages"][-1]["text"]


def test_a_filled_template_is_accepted_without_a_question() -> None:
    book = openpyxl.load_workbook(BytesIO(quote_template_bytes(TemplateOptions("Tintern", "USD"))))
    facts = {"quote_number": "T-1", "valid_until": date(2027, 3, 1), "lead_weeks_low": 4, "lead_weeks_likely": 6}
    terms = {"payment_milestones": "50 % at signature; 50 % at delivery", "it_load_kw": 187, "renewable": "yes"}
    fabric = {"topology": "two-tier", "nic_gbit_per_s": 400, "oversubscription": "2:1", "fabric_kind": "roce"}
    for sheet, values in (("Quote", facts), ("Terms", terms), ("Fabric", fabric)):
        rows = {row[0].value: row[1] for row in book[sheet].iter_rows(max_col=2)}
        for name, value in values.items():
            rows[name].value = value
    lines = [
        {"kind": "compute", "description": "Node", "quantity": 16, "unit": "node", "unit_price_likely": 295000,
         "charge": "one-off", "discount": 0.125, "evidence_level": "own-measurement"},
        {"kind": "support", "description": "Compute support", "quantity": 1, "unit_price_likely": 8,
         "charge": "recurring", "period": "year", "percent_of": "compute", "escalation_fraction_per_year": 0.03,
         "starts": "delivery", "term_months": 36},
    ]  # fmt: skip
    for row, line in enumerate(lines, 2):
        for name, value in line.items():
            cell = book["Lines"].cell(row=row, column=LINE_COLUMNS.index(name) + 1, value=value)
            if name in ("discount", "escalation_fraction_per_year"):  # a spreadsheet takes the column's format
                cell.number_format = "0.0##%"
    result = parse(Request(saved(book)))

    assert (result["outcome"], result["messages"], result["questions"]) == ("accept", [], [])
    first, second = result["lines"]
    assert (first["discount_fraction"], first["currency"], first["evidence_level"]) == (
        "0.125",
        "USD",
        "own_measurement",
    )
    assert (second["percent_of"], second["escalation_fraction_per_year"], second["term_months"]) == (
        "compute",
        "0.03",
        "36",
    )
    assert result["fabric"]["oversubscription"]["value"] == "2"
    assert result["terms"]["renewable"]["value"] is True


def test_the_schema_in_the_documentation_is_the_one_in_the_program() -> None:
    stored = json.loads((ROOT / "docs" / "schemas" / "quote.json").read_text())
    assert stored == json.loads(json.dumps(quote_schema()))
    jsonschema.Draft202012Validator.check_schema(stored)


def test_a_good_quote_fits_the_schema_and_a_wrong_one_does_not() -> None:
    document = json_document()
    jsonschema.validate(document, quote_schema())
    document["lines"][0]["quantity"] = "three"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, quote_schema())


def test_the_command_answers_without_a_database_and_refuses_other_kinds(tmp_path: Path) -> None:
    file = tmp_path / "q.json"
    file.write_text(json.dumps(json_document()))
    command = [sys.executable, "manage.py", "check_upload", str(file), "--json", "--kind"]
    environment = {
        "SPINECUT_VAR_DIR": str(tmp_path),
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "PATH": "/usr/bin",
    }
    done = subprocess.run(
        [*command, "quote_json"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "accept"
    assert answer["values"]["line1.unit_price_likely"] == "44000.50 EUR"
    assert set(answer) >= {"file", "kind", "outcome", "messages", "questions", "values", "seconds", "peak_rss_mb"}
    other = subprocess.run([*command, "pdf"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (other.returncode, len(other.stderr.strip().splitlines())) == (2, 1)
