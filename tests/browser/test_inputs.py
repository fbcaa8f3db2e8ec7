"""From an empty assessment and three files to a computed decision, in a browser; every page on the way is checked."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from apps.accounts.models import Role
from apps.assessments.models import Assessment, Option
from tests import factories
from tests.intake.generate import saved, workbook

pytestmark = [pytest.mark.browser, pytest.mark.worker, pytest.mark.django_db(transaction=True)]

QUOTES = Path(settings.BASE_DIR) / "fixtures" / "demo" / "quotes"
OWN_HEADINGS = {"Sheet row": "comparison_key", "Per": "period", "% of": "percent_of", "Art. no.": "part_number"}


@pytest.fixture
def assessment(live_server: Any) -> Assessment:
    call_command("load_assumptions", verbosity=0)
    client = factories.make_client(name="Larkmere Robotics")
    return factories.make_assessment(client=client, name="128 GPUs", signature_date="2026-12-01", draws=256)


@pytest.fixture
def signed_in_page(assessment: Assessment, live_server: Any, page: Any) -> Iterator[Any]:
    user = factories.make_member(assessment.client, Role.ANALYST)
    browser = Client()
    browser.force_login(user)
    cookie = browser.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    page.set_default_timeout(30_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    yield page
    assert errors == []


def check(page: Any, axe: Callable[[Any], list[str]]) -> None:
    """No axe violation and no sideways scrolling, wide in light and narrow in dark colours."""
    for width, theme in ((1440, "light"), (400, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        assert axe(page) == [], f"{page.url} at {width}, {theme}"
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow == 0, f"{page.url} at {width}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})


def upload(page: Any, base: str, name: str) -> None:
    page.goto(f"{base}quotes/import/")
    page.set_input_files("input[name=file]", str(QUOTES / name))
    page.get_by_role("button", name="Read the file").click()
    page.wait_for_url("**/quotes/import/*-*/")


def answer_all(page: Any) -> None:
    """Say which columns are which where the headings do not, and take every suggested reading."""
    for _round in range(4):
        button = page.get_by_role("button", name="Read again with these answers").last
        if not button.is_visible():
            return
        for label in page.locator(".entry-list select").all():
            if label.input_value() == "?":
                label.select_option(index=1)
        button.click()
        page.wait_for_load_state("load")
    raise AssertionError(page.locator("h1").inner_text())


def make_option(page: Any, letter: str, kind: str) -> None:
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_load_state("load")
    assert page.get_by_label("Letter").input_value() == letter
    page.locator(f"input[name=template][value={kind}]").check()
    page.get_by_label("Accelerators in all").fill("128")
    page.get_by_role("button", name="Make the option").click()
    page.wait_for_load_state("load")
    assert f"is now option {letter}" in page.locator(".message").first.inner_text()


def test_three_files_become_three_options_and_a_finished_run(
    assessment: Assessment,
    live_server: Any,
    signed_in_page: Any,
    axe: Callable[[Any], list[str]],
    celery_worker_process: Callable[..., Any],
) -> None:
    page, base = signed_in_page, f"{live_server.url}/assessments/{assessment.pk}/"
    page.goto(f"{base}configuration/")
    check(page, axe)

    upload(page, base, "velmora.xlsx")
    check(page, axe)
    answer_all(page)
    make_option(page, "A", "dgx_class")
    check(page, axe)

    upload(page, base, "quarrow.xlsx")
    page.get_by_text("Change mapping").click()
    for heading, field in OWN_HEADINGS.items():
        page.get_by_label(heading, exact=True).select_option(field)
    page.get_by_role("button", name="Read again with this mapping").click()
    page.wait_for_load_state("load")
    check(page, axe)
    answer_all(page)
    make_option(page, "B", "disaggregated")

    upload(page, base, "nimbrel.json")
    answer_all(page)
    make_option(page, "C", "cloud_reserved")
    page.goto(f"{base}quotes/import/")
    check(page, axe)

    options = list(Option.objects.of_client(assessment.client).order_by("letter"))
    assert [option.letter for option in options] == ["A", "B", "C"]
    page.goto(f"{base}options/{options[1].pk}/")
    page.get_by_role("button", name="Add a role").click()
    page.wait_for_load_state("load")
    page.get_by_label("Role").fill("Platform operations")
    page.get_by_label("FTE, likely").fill("3.25")
    page.get_by_role("button", name="Save the people").last.click()
    page.wait_for_load_state("load")
    check(page, axe)
    page.goto(f"{base}configuration/")
    check(page, axe)
    page.get_by_role("link", name="Edit A Velmora Compute").click()
    page.wait_for_load_state("load")
    check(page, axe)

    celery_worker_process()
    page.goto(f"{base}activity/")
    page.get_by_role("button", name="Start a run").click()
    page.wait_for_load_state("load")
    page.get_by_role("link", name="Open", exact=True).wait_for(timeout=60_000)
    page.goto(base)
    table = page.locator(".option-table")
    table.wait_for()
    assert all(name in table.inner_text() for name in ("Velmora Compute", "Quarrow Racks", "Nimbrel Cloud"))


def test_a_sheet_is_changed_without_losing_what_was_typed(
    assessment: Assessment, live_server: Any, signed_in_page: Any, tmp_path: Path
) -> None:
    path = tmp_path / f"{uuid.uuid4().hex}.xlsx"
    book = workbook()
    book["Lines"]["H2"] = "n/a"
    path.write_bytes(saved(book))
    page, base = signed_in_page, f"{live_server.url}/assessments/{assessment.pk}/"
    upload(page, base, str(path))
    field = page.locator("input[name='cell:Lines!H2']")
    field.fill("44000.5")

    page.get_by_role("navigation", name="Sheets").get_by_role("link", name="Terms").click()
    page.get_by_role("navigation", name="Sheets").locator("[aria-current=true]", has_text="Terms").wait_for()

    assert field.input_value() == "44000.5"
    page.get_by_role("button", name="Read again with these answers").last.click()
    page.wait_for_load_state("load")
    assert page.locator("h1").inner_text() == "4 lines are ready to import"
