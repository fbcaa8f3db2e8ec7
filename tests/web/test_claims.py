"""The claim register: filters, file, judging and adding, and who may."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Role
from apps.assessments.models import Assessment
from apps.assumptions.models import Claim
from tests import factories
from tests.web.facts import browser_of, has_buttons, rows_of, squeezed, text_of

OWN = {
    "key": "L-1",
    "topic": "cost",
    "statement": "=Cloud is always dearer.",
    "source": "Vendor deck",
    "verdict": "unsourced",
    "status": "contested",
    "assumption_keys": ["discount_rate", "staff_usd_per_year"],
}


@pytest.fixture
def assessment(db: None) -> Assessment:
    call_command("load_assumptions", verbosity=0)
    return factories.make_assessment()


@pytest.fixture
def analyst(assessment: Assessment) -> Browser:
    return browser_of(assessment.client, Role.ANALYST)


def at(assessment: Assessment, rest: str = "") -> str:
    return f"/assessments/{assessment.pk}/claims/{rest}"


def test_the_heading_says_how_many_are_contested(assessment: Assessment, analyst: Browser) -> None:
    contested = Claim.objects.filter(status="contested").count()
    assert f"{contested} of {Claim.objects.count()} claims are contested" in text_of(analyst.get(at(assessment)))


def test_filters_of_the_address_choose_the_claims(assessment: Assessment, analyst: Browser) -> None:
    wrong = rows_of(analyst.get(at(assessment, "?verdict=wrong&format=csv")))[1:]
    assert {row[4] for row in wrong} == {"contradicted by a source"}
    assert len(wrong) == Claim.objects.filter(verdict="wrong").count()
    fabric = rows_of(analyst.get(at(assessment, "?topic=fabric&status=contested&format=csv")))[1:]
    assert {(row[1], row[5]) for row in fabric} == {("Fabric", "contested")}
    assert "No claim fits" in text_of(analyst.get(at(assessment, "?topic=fabric&verdict=holds")))


def test_the_file_holds_what_the_screen_shows(assessment: Assessment, analyst: Browser) -> None:
    analyst.post(at(assessment, "add/"), OWN)
    shown = squeezed(text_of(analyst.get(at(assessment, "?topic=cost"))))
    table = rows_of(analyst.get(at(assessment, "?topic=cost&format=csv")))
    assert len(table) > 5
    for row in table[1:]:
        for cell in (*row[:6], row[6], row[7]):
            assert squeezed(cell.removeprefix("'")) in shown, cell
    assert [row[2] for row in table if row[0] == "L-1"] == ["'=Cloud is always dearer."]


def test_a_claim_names_the_assumptions_that_rest_on_it_with_their_values(
    assessment: Assessment, analyst: Browser
) -> None:
    text = text_of(analyst.get(at(assessment, "?how=B-C1")))
    assert "Colocation 194.95 USD/kW-month" in text
    assert analyst.get(at(assessment, "?how=Z-9")).status_code == 404


def test_judging_holds_for_the_client_alone_and_keeps_the_register_row(
    assessment: Assessment, analyst: Browser
) -> None:
    before = list(Claim.objects.filter(client=None).values())
    data = {"key": "B-C5", "status": "accepted", "reason": "Our own staffing plan agrees"}
    assert analyst.post(at(assessment, "judge/"), data).status_code == 302
    assert list(Claim.objects.filter(client=None).values()) == before
    text = text_of(analyst.get(at(assessment, "?how=B-C5")))
    assert "Our own staffing plan agrees" in text
    assert "product: contested" in text
    # the assumption that rests on it is no longer contested
    assert "on contested B-C5" not in text_of(analyst.get(f"/assessments/{assessment.pk}/assumptions/"))
    other = factories.make_assessment()
    theirs = browser_of(other.client, Role.ANALYST)
    assert "Our own staffing plan agrees" not in text_of(theirs.get(at(other, "?how=B-C5")))


def test_judging_without_a_reason_is_refused(assessment: Assessment, analyst: Browser) -> None:
    answer = analyst.post(at(assessment, "judge/"), {"key": "B-C5", "status": "accepted", "reason": " "})
    assert answer.status_code == 422
    assert "Nothing was changed" in text_of(answer)
    assert not Claim.objects.filter(client=assessment.client).exists()


def test_an_own_claim_marks_the_assumptions_that_rest_on_it(assessment: Assessment, analyst: Browser) -> None:
    answer = analyst.post(at(assessment, "add/"), OWN)
    assert answer.status_code == 302
    assert answer["Location"] == at(assessment, "?how=L-1")
    assert "own claim" in text_of(analyst.get(at(assessment)))
    rows = rows_of(analyst.get(f"/assessments/{assessment.pk}/assumptions/?format=csv"))
    assert [row[13] for row in rows if row[2:3] == ["discount_rate"]] == ["L-1"]
    again = analyst.post(at(assessment, "add/"), OWN)
    assert again.status_code == 422
    assert "does not hold yet" in text_of(again)


def test_a_viewer_reads_and_cannot_judge_or_add(assessment: Assessment) -> None:
    browser = browser_of(assessment.client, Role.VIEWER)
    assert not has_buttons(browser.get(at(assessment, "?how=B-C5")))
    data = {"key": "B-C5", "status": "accepted", "reason": "x"}
    assert browser.post(at(assessment, "judge/"), data).status_code == 403
    assert browser.post(at(assessment, "add/"), OWN).status_code == 403
    assert browser.get(at(assessment, "add/")).status_code == 403
    assert not Claim.objects.filter(client=assessment.client).exists()


def test_a_claim_of_another_client_is_not_found(assessment: Assessment, analyst: Browser) -> None:
    foreign: Any = factories.make_claim(client=factories.make_client(), key="F-1")
    data = {"key": foreign.key, "status": "accepted", "reason": "x"}
    assert analyst.post(at(assessment, "judge/"), data).status_code == 404
    assert analyst.get(at(factories.make_assessment())).status_code == 404


def test_queries_are_few_and_equal_for_one_and_fifty_claims(assessment: Assessment, analyst: Browser) -> None:
    analyst.get(at(assessment))  # the first visit of a session writes
    counts = []
    for more in (1, 50):
        for _number in range(more):
            factories.make_claim(client=assessment.client, assumption_keys=["discount_rate"])
        with CaptureQueriesContext(connection) as queries:
            assert analyst.get(at(assessment, "?how=B-C1")).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert max(counts) <= 15
