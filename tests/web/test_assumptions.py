"""The assumptions screen: values, filters, file, versions that never change, and who may write what."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import Min, Value
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Role
from apps.assessments.models import Assessment
from apps.assumptions.models import AssumptionValue, FxRate
from apps.assumptions.selectors import resolve
from tests import factories
from tests.web.facts import browser_of, has_buttons, rows_of, squeezed, text_of

FORM = {
    "layer": "assessment",
    "likely": "8.5 %",
    "low": "7 %",
    "high": "0.11",
    "distribution": "triangular",
    "source": "Treasury memo",
    "source_date": "2026-11",
    "status": "accepted",
    "reason": "New facility of the bank",
}


@pytest.fixture
def assessment(db: None) -> Assessment:
    call_command("load_assumptions", verbosity=0)
    return factories.make_assessment()


@pytest.fixture
def analyst(assessment: Assessment) -> Browser:
    return browser_of(assessment.client, Role.ANALYST)


def at(assessment: Assessment, rest: str = "") -> str:
    return f"/assessments/{assessment.pk}/assumptions/{rest}"


def counted(assessment: Assessment, key: str) -> Any:
    client = assessment.client
    return resolve(organisation=client.organisation, client=client, assessment_id=assessment.pk)[key]


# reading --------------------------------------------------------------------------------------------------------------
def test_the_heading_counts_assumptions_and_their_doubts(assessment: Assessment, analyst: Browser) -> None:
    values = resolve(organisation=None, client=None, assessment_id=None)
    recalled = sum(1 for value in values.values() if value.status == "memory")
    assert f"{len(values)} assumptions, {recalled} recalled and" in text_of(analyst.get(at(assessment)))


def test_each_value_shows_range_unit_layer_source_and_date(assessment: Assessment, analyst: Browser) -> None:
    text = text_of(analyst.get(at(assessment)))
    assert "0.0861 , how? USD/kWh 0.059–0.12 product v1 EIA monthly industrial prices" in text
    assert (
        "9\u202f% , how? a year 6–14\u202f% product v1" in text.replace("\xa0", " ")
        or "9 % , how? a year 6–14 %" in text
    )


def test_filters_of_the_address_choose_the_rows(assessment: Assessment, analyst: Browser) -> None:
    analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate"})
    only = rows_of(analyst.get(at(assessment, "?changed=1&format=csv")))
    assert [row[2] for row in only[1:-2]] == ["discount_rate"]
    rules = rows_of(analyst.get(at(assessment, "?topic=rule&format=csv")))[1:-2]
    assert rules
    assert all(row[2].startswith("rule.") for row in rules)
    contested = rows_of(analyst.get(at(assessment, "?status=contested&format=csv")))[1:-2]
    assert contested
    assert all(row[12] == "contested" or row[13] for row in contested)


def test_the_file_holds_what_the_screen_shows(assessment: Assessment, analyst: Browser) -> None:
    factories.make_fx_rate(client=assessment.client)
    query = "?topic=price"
    shown = text_of(analyst.get(at(assessment, query)))
    table = rows_of(analyst.get(at(assessment, f"{query}&format=csv")))
    assert len(table) > 10
    for row in table[1 : table.index([])]:
        for cell in (*row[1:7], *row[9:13]):
            assert squeezed(cell) in squeezed(shown), cell
    keys = re.findall(r'data-figure="([^"]+)"', analyst.get(at(assessment, query)).content.decode())
    assert keys == [row[2] for row in table[1 : table.index([])]]


def test_the_history_names_author_reason_and_what_changed(assessment: Assessment, analyst: Browser) -> None:
    analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate"})
    analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate", "likely": "9.5 %", "reason": "Rates rose"})
    text = text_of(analyst.get(at(assessment, "?how=discount_rate")))
    assert "assessment v2" in text
    assert "Rates rose" in text
    assert "New facility of the bank" in text
    assert re.search(r"likely 8\.5.% became 9\.5.%", text)


def test_a_key_that_the_product_does_not_know_is_not_found(assessment: Assessment, analyst: Browser) -> None:
    assert analyst.get(at(assessment, "?how=no_such_key")).status_code == 404
    assert analyst.post(at(assessment, "set/"), {**FORM, "key": "no_such_key"}).status_code == 404


def test_queries_are_few_and_equal_for_one_and_fifty_rows(assessment: Assessment, analyst: Browser) -> None:
    analyst.get(at(assessment))  # the first visit of a session writes
    counts = []
    for more in (1, 50):
        for number in range(more):
            key = f"extra_{more}_{number}"
            factories.make_assumption_value(key=key, label=key, topic="price", unit="USD")
            factories.make_assumption_value(client=assessment.client, key=key)
            factories.make_fx_rate(client=assessment.client)
        for rest in ("", "?how=discount_rate"):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert analyst.get(at(assessment, rest)).status_code == 200
            counts.append(len(queries))
    assert counts[:2] == counts[2:]
    assert max(counts) <= 15


# writing --------------------------------------------------------------------------------------------------------------
def test_a_percentage_is_kept_as_the_fraction_it_means(assessment: Assessment, analyst: Browser) -> None:
    answer = analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate"})
    assert answer.status_code == 302
    assert answer["Location"] == at(assessment, "?how=discount_rate")
    value = counted(assessment, "discount_rate")
    assert (value.low, value.likely, value.high) == (Decimal("0.07"), Decimal("0.085"), Decimal("0.11"))
    assert (value.layer, value.version, value.reason) == ("assessment", 1, "New facility of the bank")


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("likely", "9", "may mean a percentage"),
        ("likely", "0,09", "is no number"),
        ("likely", "1e-2", "is no number"),
        ("low", "10 %", "at most likely"),
        ("source", "", "required"),
        ("reason", "", "required"),
        ("source_date", "last week", "it must be a date"),
    ],
)
def test_a_refused_value_is_explained_and_kept_as_typed(
    assessment: Assessment, analyst: Browser, field: str, typed: str, said: str
) -> None:
    answer = analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate", field: typed})
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert not typed or f'value="{typed}"' in answer.content.decode()
    assert f'action="{at(assessment)}"' in answer.content.decode()  # links lead on from the screen itself
    assert counted(assessment, "discount_rate").layer == "product"


def test_a_number_with_a_unit_is_no_percentage(assessment: Assessment, analyst: Browser) -> None:
    data = {**FORM, "key": "facility_usd_per_kw_month", "low": "", "high": "", "likely": "190 %"}
    answer = analyst.post(at(assessment, "set/"), data)
    assert answer.status_code == 422
    assert "is a percentage" in text_of(answer)


def test_no_write_changes_an_older_version(assessment: Assessment, analyst: Browser) -> None:
    def stored() -> dict[Any, dict[str, Any]]:
        return {row["id"]: row for row in AssumptionValue.objects.values()}

    before = stored()
    analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate"})
    analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate", "likely": "0.1"})
    first = AssumptionValue.objects.get(client=assessment.client, version=1)
    analyst.post(at(assessment, "restore/"), {"value": first.pk})
    data = {"key": "discount_rate", "layer": "assessment", "reason": "Back to the default"}
    analyst.post(at(assessment, "withdraw/"), data)
    after = stored()
    assert {key: after[key] for key in before} == before
    versions = AssumptionValue.objects.filter(client=assessment.client).order_by("version")
    assert [(row.version, row.likely, row.withdrawn) for row in versions] == [
        (1, Decimal("0.085"), False),
        (2, Decimal("0.1"), False),
        (3, Decimal("0.085"), False),
        (4, Decimal("0.085"), True),
    ]
    assert counted(assessment, "discount_rate").layer == "product"


def test_the_client_layer_holds_for_its_other_assessments(assessment: Assessment, analyst: Browser) -> None:
    analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate", "layer": "client"})
    other = factories.make_assessment(client=assessment.client)
    assert counted(other, "discount_rate").layer == "client"


def test_only_an_administrator_writes_for_the_organisation(assessment: Assessment, analyst: Browser) -> None:
    data = {**FORM, "key": "discount_rate", "layer": "organisation"}
    assert analyst.post(at(assessment, "set/"), data).status_code == 422
    owner = factories.make_member(assessment.client)
    factories.make_organisation_membership(organisation=assessment.client.organisation, user=owner)
    browser = Browser()
    browser.force_login(owner)
    assert browser.post(at(assessment, "set/"), data).status_code == 302
    assert counted(assessment, "discount_rate").layer == "organisation"


def test_a_rate_is_kept_in_the_direction_in_which_it_was_typed(assessment: Assessment, analyst: Browser) -> None:
    data = {"base": "eur", "quote": "USD", "rate": "1.08", "rate_date": "2026-11-18", "source": "ECB"}
    assert analyst.post(at(assessment, "rates/"), data).status_code == 302
    assert FxRate.objects.of_client(assessment.client).get().rate == Decimal("1.08")
    text = text_of(analyst.get(at(assessment)))
    assert "1 EUR in USD 18 Nov 2026" in text
    assert "1 USD = 0.92593 EUR" in text
    refused = analyst.post(at(assessment, "rates/"), {**data, "quote": "EUR"})
    assert refused.status_code == 422
    assert "another currency than EUR" in text_of(refused)


# who ------------------------------------------------------------------------------------------------------------------
def test_a_viewer_sees_values_and_no_buttons_and_cannot_post(assessment: Assessment) -> None:
    factories.make_assumption_value(client=assessment.client, key="discount_rate")
    browser = browser_of(assessment.client, Role.VIEWER)
    page = browser.get(at(assessment, "?how=discount_rate"))
    assert page.status_code == 200
    assert not has_buttons(page)
    value = AssumptionValue.objects.get(client=assessment.client)
    posts = {
        "set/": {**FORM, "key": "discount_rate"},
        "withdraw/": {"key": "discount_rate", "layer": "client", "reason": "No"},
        "restore/": {"value": value.pk},
        "rates/": {},
    }
    for rest, data in posts.items():
        assert browser.post(at(assessment, rest), data).status_code == 403, rest
    assert browser.get(at(assessment, "?format=csv")).status_code == 403
    assert AssumptionValue.objects.filter(client=assessment.client).count() == 1


def test_a_version_of_another_client_is_not_found(assessment: Assessment, analyst: Browser) -> None:
    foreign = factories.make_assumption_value(client=factories.make_client(), key="discount_rate")
    other = factories.make_assessment(client=assessment.client)
    sibling = factories.make_assumption_value(client=assessment.client, assessment_id=other.pk, key="discount_rate")
    for value in (foreign.pk, sibling.pk, "x"):
        assert analyst.post(at(assessment, "restore/"), {"value": value}).status_code == 404
    assert analyst.get(at(factories.make_assessment())).status_code == 404


def test_two_writers_at_once_are_told_to_repeat(
    assessment: Assessment, analyst: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.make_assumption_value(client=assessment.client, key="discount_rate")
    # The newest version as the slower of two writers sees it: the faster one has not committed yet.
    monkeypatch.setattr("apps.assumptions.services.Max", lambda name: Min(Value(0)))
    answer = analyst.post(at(assessment, "set/"), {**FORM, "key": "discount_rate", "layer": "client"})
    assert answer.status_code == 422
    assert "changed this value at the same moment" in text_of(answer)
    assert AssumptionValue.objects.filter(client=assessment.client).count() == 1
