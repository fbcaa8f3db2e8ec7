"""The catalogue: every figure with source, date and mark, and an organisation's own figures."""

import uuid
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Client, Role
from apps.catalogue.models import CatalogueItem, CatalogueValue
from tests import factories
from tests.web.facts import browser_of, has_buttons, rows_of, squeezed, text_of

ADDRESS = "/catalogue/"


@pytest.fixture
def ours(db: None) -> Client:
    call_command("load_catalogue", verbosity=0)
    return factories.make_client()


@pytest.fixture
def administrator(ours: Client) -> Browser:
    user = factories.make_member(ours)
    factories.make_organisation_membership(organisation=ours.organisation, user=user)
    browser = Browser()
    browser.force_login(user)
    return browser


@pytest.fixture
def h100(ours: Client) -> CatalogueItem:
    return CatalogueItem.objects.get(kind="accelerator", key="H100 SXM")


def own(ours: Client, item: CatalogueItem, **changes: Any) -> dict[str, Any]:
    return {
        "organisation": ours.organisation_id,
        "item": item.pk,
        "name": "tdp_w",
        "value": "650",
        "as_of": "2026-11",
        "source": "Our meter",
        "reason": "Capped in the site",
        **changes,
    }


@pytest.mark.parametrize("kind", ["accelerator", "network_part", "price", "cloud_rate", "model"])
def test_each_kind_is_shown_as_its_file_says(ours: Client, kind: str) -> None:
    browser = browser_of(ours, Role.VIEWER)
    shown = squeezed(text_of(browser.get(ADDRESS, {"kind": kind})))
    table = rows_of(browser.get(ADDRESS, {"kind": kind, "format": "csv"}))
    assert len(table) == 1 + CatalogueItem.objects.filter(kind=kind).count()
    for row in table[1:]:
        for cell in row[1:]:
            assert squeezed(cell.removeprefix("'")) in shown, cell


def test_words_and_kind_of_the_address_choose_the_items(ours: Client) -> None:
    browser = browser_of(ours, Role.VIEWER)
    found = rows_of(browser.get(ADDRESS, {"kind": "cloud_rate", "q": "h100 lambda", "format": "csv"}))[1:]
    assert found
    assert all("lambda" in ",".join(row).lower() and row[0] == "Public cloud rate" for row in found)
    everything = rows_of(browser.get(ADDRESS, {"kind": "all", "format": "csv"}))
    assert ["Accelerator", "H100 SXM", "NVIDIA", "", "989", "", "Peak, dense BF16, TFLOPS"] in [
        row[:7] for row in everything
    ]
    assert len(everything) == 1 + CatalogueItem.objects.count()
    assert "holds nothing" in text_of(browser.get(ADDRESS, {"q": "abacus"}))


def test_an_item_shows_every_figure_with_its_source_and_mark(ours: Client, h100: CatalogueItem) -> None:
    text = text_of(browser_of(ours, Role.VIEWER).get(ADDRESS, {"how": str(h100.pk)}))
    for value in CatalogueValue.objects.filter(item=h100):
        assert value.source in text
    assert "Thermal design power 700 W read" in text


def test_an_own_figure_counts_for_the_organisation_and_the_product_stays(
    ours: Client, administrator: Browser, h100: CatalogueItem
) -> None:
    before = list(CatalogueValue.objects.filter(organisation=None).order_by("pk").values())
    assert administrator.post(f"{ADDRESS}override/", own(ours, h100)).status_code == 302
    text = text_of(administrator.get(ADDRESS, {"how": str(h100.pk)}))
    assert "650 W own , in place of 700" in text
    assert "Capped in the site" in text
    assert list(CatalogueValue.objects.filter(organisation=None).order_by("pk").values()) == before
    elsewhere = browser_of(factories.make_client(), Role.OWNER)
    assert "Our meter" not in text_of(elsewhere.get(ADDRESS, {"how": str(h100.pk)}))
    data = {"organisation": ours.organisation_id, "item": h100.pk, "name": "tdp_w"}
    assert administrator.post(f"{ADDRESS}withdraw/", data).status_code == 302
    assert "700 W read" in text_of(administrator.get(ADDRESS, {"how": str(h100.pk)}))


def test_an_incomplete_own_figure_is_refused(ours: Client, administrator: Browser, h100: CatalogueItem) -> None:
    answer = administrator.post(f"{ADDRESS}override/", own(ours, h100, reason="", as_of="soon"))
    assert answer.status_code == 422
    assert "it must be a date such as" in text_of(answer)
    assert not CatalogueValue.objects.filter(organisation=ours.organisation).exists()
    assert administrator.post(f"{ADDRESS}override/", own(ours, h100, name="no_figure")).status_code == 404


def test_a_member_who_is_no_administrator_sees_no_buttons_and_cannot_post(ours: Client, h100: CatalogueItem) -> None:
    browser = browser_of(ours, Role.OWNER)
    assert not has_buttons(browser.get(ADDRESS, {"how": str(h100.pk), "figure": "tdp_w"}))
    assert browser.post(f"{ADDRESS}override/", own(ours, h100)).status_code == 404
    assert browser.post(f"{ADDRESS}withdraw/", own(ours, h100)).status_code == 404
    assert not CatalogueValue.objects.filter(organisation=ours.organisation).exists()


def test_a_foreign_organisation_is_not_found(administrator: Browser, h100: CatalogueItem) -> None:
    foreign = factories.make_organisation()
    for organisation in (str(foreign.pk), str(uuid.uuid4()), "x"):
        assert administrator.get(ADDRESS, {"organisation": organisation}).status_code == 404
        data = {"organisation": organisation, "item": h100.pk, "name": "tdp_w"}
        assert administrator.post(f"{ADDRESS}withdraw/", data).status_code == 404
    assert administrator.get(ADDRESS, {"how": str(uuid.uuid4())}).status_code == 404


def test_queries_do_not_depend_on_the_number_of_items(ours: Client) -> None:
    browser = browser_of(ours, Role.OWNER)
    browser.get(ADDRESS)  # the first visit of a session writes
    counts = []
    for words in ("H100 SXM", ""):
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(ADDRESS, {"kind": "all", "q": words}).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] <= 15
