"""A residual is earned only by what is in service."""

from typing import Any

import pytest

from apps.engine.tco import evaluate, total_cost_of_ownership
from tests.reports.documents import whole_document


def of(document: dict[str, Any], changes: dict[str, float]) -> dict[str, Any]:
    return evaluate(document, changes)["options"]["A"]


def test_machines_that_come_after_the_horizon_leave_no_residual() -> None:
    document = whole_document()
    assert of(document, {})["residual_usd"]["likely"] > 0
    late = of(document, {"lead": 200.0})
    assert late["residual_usd"]["likely"] == 0
    assert late["nominal_usd"]["likely"] > 0


def test_a_residual_is_never_more_than_what_was_paid_in_any_draw() -> None:
    document = whole_document(horizon_months=12)
    lead = {"likely": "40", "low": "30", "high": "80"}
    document["inputs"] = document["inputs"] | {"lead": document["inputs"]["lead"] | lead}
    result = total_cost_of_ownership(document)["options"]["A"]
    assert result["residual_usd"]["p10"] == pytest.approx(0)
    assert result["nominal_usd"]["p10"] > 0
