"""Assumptions, claims, catalogue and roadmap in a browser: axe, keyboard, filters in the address, forms that write."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client as Browser

from apps.assessments.models import Assessment
from apps.assumptions.models import AssumptionValue
from apps.workloads.models import RoadmapItem
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS = (1440, 400)


@pytest.fixture
def assessment(live_server: Any) -> Assessment:
    call_command("load_catalogue", verbosity=0)
    client = factories.make_client(name="Larkmere Robotics")
    assessment = factories.make_assessment(client=client, name="128 GPUs", moe_within_18_months=True)
    factories.make_fx_rate(client=client)
    for name, first, last, architecture in (
        ("7 B", 0, 1, "dense"),
        ("70 B MoE", 3, 5, "moe"),
        ("13 B", 1, 2, "hybrid"),
    ):
        factories.make_roadmap_item(
            assessment=assessment,
            name=name,
            first_quarter=first,
            last_quarter=last,
            architecture=architecture,
            workload_class="training",
            parameters_billion=Decimal(7),
        )
    return assessment


@pytest.fixture
def at(assessment: Assessment, live_server: Any, page: Any) -> Iterator[Callable[[str], Any]]:
    """Open a path as an owner who administers the organisation; the console of the browser stays empty."""
    user = factories.make_member(assessment.client)
    factories.make_organisation_membership(organisation=assessment.client.organisation, user=user)
    browser = Browser()
    browser.force_login(user)
    cookie = browser.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.extend([message.text] if _is_fault(message) else []))

    def go(path: str) -> Any:
        page.goto(live_server.url + path.replace("~", f"/assessments/{assessment.pk}"))
        return page

    yield go
    assert errors == []


def _is_fault(message: Any) -> bool:
    """An error of the console, unless it only tells that a form was refused."""
    return bool(message.type == "error" and "422" not in message.text)


@pytest.mark.parametrize(
    "path",
    [
        "~/assumptions/",
        "~/assumptions/?how=discount_rate",
        "~/claims/?topic=cost&how=B-C1",
        "~/claims/add/",
        "/catalogue/?kind=price",
        "~/roadmap/",
        "~/roadmap/add/?preset=DeepSeek-V2",
    ],
)
def test_axe_finds_nothing_and_no_page_scrolls_sideways(
    at: Callable[[str], Any], axe: Callable[[Any], list[str]], path: str
) -> None:
    page = at(path)
    for details in page.locator("main details").all():
        details.evaluate("element => { element.open = true }")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert axe(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_value_opens_by_keyboard_and_gives_the_focus_back(at: Callable[[str], Any]) -> None:
    page = at("~/assumptions/")
    link = page.locator('a.how[data-figure="discount_rate"]')
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#how-panel .how-panel")
    assert "how=discount_rate" in page.url
    assert page.locator("#how-panel h2").inner_text() == "Discount rate"
    page.keyboard.press("Escape")
    page.wait_for_selector("#how-panel .how-panel", state="detached")
    assert page.evaluate("document.activeElement.dataset.figure") == "discount_rate"


def test_a_filter_changes_rows_and_address(at: Callable[[str], Any]) -> None:
    page = at("~/assumptions/")
    page.select_option("#filter-topic", "rule")
    page.wait_for_url("**topic=rule**")
    page.wait_for_selector("text=Cloud used until own hardware is ready", state="detached")
    page.reload()
    assert page.locator("tr.group").count() == 1


def test_a_value_set_in_the_panel_is_a_new_version(at: Callable[[str], Any], assessment: Assessment) -> None:
    page = at("~/assumptions/?how=discount_rate")
    page.get_by_text("Set another value").click()
    page.fill("#id_likely", "9")
    page.fill("#id_source", "Treasury memo")
    page.fill("#id_source_date", "2026-11")
    page.fill("#id_reason", "New facility of the bank")
    page.get_by_role("button", name="Add the version").click()
    page.wait_for_selector("#id_likely_error")
    assert page.input_value("#id_likely") == "9"
    page.fill("#id_likely", "9.5 %")
    page.get_by_role("button", name="Add the version").click()
    page.wait_for_url("**/assumptions/?how=discount_rate")
    value = AssumptionValue.objects.get(client=assessment.client, key="discount_rate")
    assert (value.likely, value.assessment_id) == (Decimal("0.095"), assessment.pk)
    assert "9.5" in page.locator("#how-panel .figure-key").inner_text()


def test_a_preset_becomes_an_item_of_the_roadmap(at: Callable[[str], Any], assessment: Assessment) -> None:
    page = at("~/roadmap/")
    page.get_by_role("link", name="Add an item").click()
    page.select_option("#preset", "DeepSeek-V2")
    page.get_by_role("button", name="Fill in its shape").click()
    page.wait_for_url("**preset=DeepSeek-V2")
    page.fill("#id_first_quarter", "6")
    page.fill("#id_last_quarter", "7")
    page.get_by_role("button", name="Add the item").click()
    page.wait_for_url("**/roadmap/")
    item = RoadmapItem.objects.of_client(assessment.client).get(name="DeepSeek-V2")
    assert (item.first_quarter, item.layers, item.architecture) == (6, 60, "moe")
    bar = page.locator(".bar", has_text="DeepSeek-V2").bounding_box()
    assert bar["width"] > 100
