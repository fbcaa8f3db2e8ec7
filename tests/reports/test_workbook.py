"""The finance workbook: its formulas give the engine's numbers, and follow changed inputs as the engine does."""

import re
from io import BytesIO
from typing import Any

import openpyxl
import pytest

from apps.engine.tco import evaluate, total_cost_of_ownership
from apps.reports.workbook import tco_workbook
from tests.reports.documents import whole_document
from tests.reports.recalculation import errors, formulas, numbers, recalculated, with_inputs

META = {"client": "Larkmere", "date": "2026-11-24", "run": "Run 42", "inputs_sha256": "ab" * 32, "engine_version": "1"}
CENT = 0.01
TAXES = {
    "no taxes": None,
    "MACRS, fully absorbed": {"rate": "tax", "method": "macrs_5", "life_months": "life", "absorption": "full"},
    "straight line, carried forward": {
        "rate": "tax",
        "method": "straight_line",
        "life_months": "life",
        "absorption": "carry_forward",
    },
    "first year": {"rate": "tax", "method": "first_year", "life_months": "life", "absorption": "full"},
}


def made(document: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    results = total_cost_of_ownership(document)
    return results, tco_workbook(document, results, META)


def column_of(workbook: bytes, label: str) -> list[float]:
    """The numbers of one row of the summary, option by option."""
    sheet = openpyxl.load_workbook(BytesIO(workbook), data_only=True)["Summary"]
    for row in sheet.iter_rows(values_only=True):
        if row[0] == label:
            return [value for value in row[1:] if value is not None]
    raise AssertionError(f"no row {label}")


def as_engine(results: dict[str, Any], document: dict[str, Any], name: str) -> list[float]:
    return [results["options"][option["key"]][name]["likely"] for option in document["options"]]


CHANGES: dict[str, dict[str, float]] = {
    "tariff": {"tariff": 0.2},
    "residual": {"residual": 0.02},
    "GPU price": {"node_price": 333_333.33},
    "quantity": {"nodes": 20.0},
    "lead time": {"lead": 52.0},
    "never delivered": {"lead": 200.0},
    "discount and pay": {"discount_rate": 0.15, "salary": 210_000.0},
    "commitment": {"upfront": 1.0, "commit": 200.0},
    "financing": {"loan_rate": 0.0, "lease_rate": 0.2},
    "life and acceptance": {"life": 24.0, "acceptance": 30.0},
}


@pytest.fixture(scope="module")
def books(soffice: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, bytes]]:
    """Each workbook as written and as LibreOffice recalculated it."""
    written = {name: made(whole_document(tax=tax))[1] for name, tax in TAXES.items()}
    written |= {name: with_inputs(written["MACRS, fully absorbed"], values) for name, values in CHANGES.items()}
    computed = recalculated(soffice, written, tmp_path_factory.mktemp("workbooks"))
    return {name: (written[name], computed[name]) for name in written}


@pytest.mark.xdist_group("workbooks")  # one start of LibreOffice serves them all
@pytest.mark.libreoffice
@pytest.mark.parametrize("tax", TAXES)
def test_every_number_recalculates_to_what_the_engine_gave(tax: str, books: dict[str, tuple[bytes, bytes]]) -> None:
    document = whole_document(tax=TAXES[tax])
    results = total_cost_of_ownership(document)
    workbook, computed = books[tax]
    assert errors(computed) == []
    written, read = numbers(workbook), numbers(computed)
    assert written.keys() == read.keys()
    assert len(written) > 8000
    differing = {cell: (written[cell], read[cell]) for cell in written if abs(written[cell] - read[cell]) > CENT}
    assert differing == {}
    for label, name in (("Total cost, nominal", "nominal_usd"), ("Net present value", "npv_usd")):
        assert column_of(computed, label) == pytest.approx(as_engine(results, document, name), abs=CENT)


@pytest.mark.xdist_group("workbooks")  # one start of LibreOffice serves them all
@pytest.mark.libreoffice
@pytest.mark.parametrize("change", CHANGES)
def test_changed_inputs_give_what_the_engine_gives_for_them(change: str, books: dict[str, tuple[bytes, bytes]]) -> None:
    document = whole_document(tax=TAXES["MACRS, fully absorbed"])
    computed = books[change][1]
    expected = evaluate(document, CHANGES[change])
    assert errors(computed) == []
    for label, name in (
        ("Total cost, nominal", "nominal_usd"),
        ("Net present value", "npv_usd"),
        ("Equivalent annual cost", "eac_usd_per_year"),
    ):
        assert column_of(computed, label) == pytest.approx(as_engine(expected, document, name), abs=CENT)
    book = openpyxl.load_workbook(BytesIO(computed), data_only=True)
    assert next(row[4] for row in book["Checks"].iter_rows(values_only=True) if row[0] == "Failed checks") == 0
    assert next(row[1] for row in book["Cover"].iter_rows(values_only=True) if row[0] == "Checks").startswith(
        "all checks hold; inputs were changed"
    )


def test_equal_runs_give_equal_bytes() -> None:
    document = whole_document()
    results = total_cost_of_ownership(document)
    assert tco_workbook(document, results, META) == tco_workbook(document, results, META)


def test_a_copy_with_values_only_holds_the_same_numbers_and_no_formula() -> None:
    document = whole_document()
    results = total_cost_of_ownership(document)
    live = tco_workbook(document, results, META)
    copy = tco_workbook(document, results, META, values_only=True)
    assert numbers(copy) == pytest.approx(numbers(live), rel=1e-12)
    assert formulas(copy) == {}


def test_formulas_hold_addresses_and_never_figures_or_volatile_functions() -> None:
    _, workbook = made(whole_document(tax=TAXES["first year"]))
    for cell, formula in formulas(workbook).items():
        bare = re.sub(r"'[^']*'!|\"[^\"]*\"|\$?[A-Z]{1,3}\$?\d+", "", formula)
        figures = set(re.findall(r"(?<![A-Za-z])\d+(?:\.\d+)?", bare)) - {"0", "1"}
        assert not figures, (cell, formula)
        assert not re.search(r"OFFSET|INDIRECT|NOW\(|TODAY|RAND", formula), (cell, formula)


def test_text_that_looks_like_a_formula_stays_text() -> None:
    document = whole_document()
    document["options"][0]["lines"][0]["label"] = '=HYPERLINK("http://x")'
    document["inputs"] = document["inputs"] | {"nodes": document["inputs"]["nodes"] | {"label": "@SUM(A1)"}}
    document["inputs"] = document["inputs"] | {
        "kw": document["inputs"]["kw"] | {"source": {"author": "-1", "text": "=1+1"}}
    }
    results = total_cost_of_ownership(document)
    workbook = tco_workbook(document, results, META | {"client": "+1"})
    book = openpyxl.load_workbook(BytesIO(workbook))
    texts = [cell for sheet in book for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]
    risky = [cell for cell in texts if cell.value.startswith(("=HYPER", "@SUM", "=1+1", "+1", "-1"))]
    assert risky
    assert all(cell.data_type == "s" for cell in risky)


def test_the_sheets_stand_in_the_order_a_reviewer_expects() -> None:
    _, workbook = made(whole_document())
    assert openpyxl.load_workbook(BytesIO(workbook)).sheetnames == [
        "Cover",
        "Summary",
        "Assumptions",
        "Timing",
        "Quotes",
        "Capex",
        "Opex",
        "Cloud",
        "Financing",
        "Depreciation & tax",
        "Cash flow",
        "Accrual",
        "Balance sheet",
        "Comparison",
        "Sensitivity",
        "Monte Carlo",
        "Checks",
        "Audit log",
        "Sign-off",
        "Glossary & method",
    ]


def test_what_is_not_given_is_said_and_never_shown_as_zero() -> None:
    _, workbook = made(whole_document())
    sheet = openpyxl.load_workbook(BytesIO(workbook))["Opex"]
    row = next(row for row in sheet.iter_rows(values_only=True) if row[1] == "Unpriced")
    assert row[2] == "not given"
    assert all(value is None for value in row[3:])


@pytest.mark.parametrize("horizon", [12, 30, 60])
def test_other_horizons_tie_out(horizon: int) -> None:
    document = whole_document(horizon_months=horizon)
    _, workbook = made(document)
    sheet = openpyxl.load_workbook(BytesIO(workbook), data_only=True)["Checks"]
    rows = [row for row in sheet.iter_rows(min_row=5, values_only=True) if row[0] and row[3] is not None]
    assert len(rows) > 20
    assert all(abs(row[3]) < CENT for row in rows), rows
