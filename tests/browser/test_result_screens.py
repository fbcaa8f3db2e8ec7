"""The result screens in a browser: no axe violations, no policy violations, no sideways scrolling, keys work."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests import factories
from tests.web.conftest import Case, make_case

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Plotly's map library tries to insert a style element of its own when it loads; no chart of ours needs it.
KNOWN_POLICY_REPORTS = ("vendor/plotly",)
WIDTHS = (1440, 400)
THEMES = ("light", "dark")
COLLECT = """
  window.policyReports = [];
  document.addEventListener("securitypolicyviolation", (event) => {
    const { effectiveDirective: directive, sourceFile: source, blockedURI: blocked } = event;
    window.policyReports.push({ directive, source, blocked });
  });
"""


@pytest.fixture
def case(live_server: Any) -> Case:
    return make_case()


@pytest.fixture
def open_page(case: Case, live_server: Any, browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address of the case in a profile of its own, signed in, with errors and policy reports collected."""
    signed_in = Client()
    signed_in.force_login(case.user)
    cookie = signed_in.cookies[settings.SESSION_COOKIE_NAME].value
    contexts = []

    def start(rest: str = "", *, width: int = 1440, theme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        contexts.append(context)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
        context.add_init_script(COLLECT)
        page = context.new_page()
        page.script_errors = []
        page.on("pageerror", lambda error: page.script_errors.append(str(error)))
        page.set_default_timeout(20_000)
        page.goto(rest if rest.startswith("http") else f"{live_server.url}{rest}")
        page.wait_for_load_state("load")
        return page

    yield start
    for context in contexts:
        context.close()


def _unexpected_reports(page: Any) -> list[Any]:
    reports = page.evaluate("window.policyReports")
    known = [r for r in reports if any(part in (r["source"] or "") for part in KNOWN_POLICY_REPORTS)]
    assert len(known) <= 1, known
    return [report for report in reports if report not in known]


def _wait_until(page: Any, expression: str) -> None:
    """Poll from here: the page's policy forbids the evaluation that Playwright's own waiting does inside it."""
    for _attempt in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never true: {expression}")


def _overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def _addresses(case: Case) -> list[str]:
    base = f"/assessments/{case.assessment.pk}/"
    empty = factories.make_assessment(client=case.assessment.client, name="New assessment")
    other = f"/assessments/{empty.pk}/"
    screens = [base, f"{base}tco/?how=A.facility", f"{base}tco/?basis=npv&view=accrual&option=C", f"{base}quotes/"]
    return [*screens, f"{base}activity/", other, f"{other}tco/", f"{other}quotes/", "/search/?q=lark", "/nowhere/"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_no_screen_has_axe_or_policy_violations(
    case: Case, open_page: Callable[..., Any], axe: Callable[[Any], list[str]], width: int, theme: str
) -> None:
    page = open_page("/search/", width=width, theme=theme)
    for address in _addresses(case):
        page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/")[2] + address)
        page.wait_for_load_state("load")
        if page.locator("[data-plotly]").count():
            page.wait_for_selector("[data-plotly] .main-svg")
        assert axe(page) == [], address
        assert _unexpected_reports(page) == [], address
        assert page.script_errors == [], address


def test_nothing_scrolls_sideways_at_320_pixels(case: Case, open_page: Callable[..., Any]) -> None:
    page = open_page("/search/", width=320)
    for address in _addresses(case):
        page.goto("/".join(page.url.split("/")[:3]) + address)
        page.wait_for_load_state("load")
        assert _overflow(page) <= 0, address


def test_the_chart_draws_areas_lines_and_marks_in_the_colours_of_the_theme(
    case: Case, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"/assessments/{case.assessment.pk}/tco/")
    page.wait_for_selector("[data-plotly] .main-svg")
    types = page.evaluate("document.querySelector('[data-plotly]')._fullData.map((trace) => trace.type)")
    assert types.count("bar") == 2
    assert types.count("scatter") > 8
    colour = "document.querySelector('[data-plotly]')._fullLayout.font.color"
    light = page.evaluate(colour)
    page.click("[data-theme-choice=dark]")
    _wait_until(page, f"{colour} !== '{light}'")
    page.reload()
    page.wait_for_selector("[data-plotly] .main-svg")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    with page.expect_download() as download:
        page.click("[data-svg]")
    assert download.value.suggested_filename == "cumulative-cost-B.svg"


def test_a_figure_is_explained_by_keys_alone_and_the_focus_returns(case: Case, open_page: Callable[..., Any]) -> None:
    page = open_page(f"/assessments/{case.assessment.pk}/tco/?option=A")
    link = page.locator('a.how[data-figure="A.facility"]')
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#how-panel .how-panel")
    assert "how=A.facility" in page.url
    assert "= 1" in page.inner_text("#how-panel .formula >> nth=-1")
    assert link.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Escape")
    page.wait_for_selector("#how-panel .how-panel", state="detached")
    assert "how=" not in page.url
    assert page.evaluate("document.activeElement.dataset.figure") == "A.facility"


def test_views_switch_in_place_and_the_address_holds_them(case: Case, open_page: Callable[..., Any]) -> None:
    page = open_page(f"/assessments/{case.assessment.pk}/tco/")
    page.click("#basis-npv")
    _wait_until(page, "location.search.includes('basis=npv')")
    page.wait_for_selector("#basis-npv[aria-current=true]")
    page.click("#option-C")
    page.wait_for_selector("#option-C[aria-current=true]")
    page.reload()
    assert page.locator("#basis-npv[aria-current=true]").count() == 1
    assert page.locator("#option-C[aria-current=true]").count() == 1
    page.go_back()
    page.wait_for_selector("#option-B[aria-current=true]")


def test_single_keys_go_search_move_and_help_but_not_in_fields(case: Case, open_page: Callable[..., Any]) -> None:
    page = open_page(f"/assessments/{case.assessment.pk}/")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/tco/")
    page.keyboard.press("j")
    assert page.locator("tr[data-row-focus]").count() == 1
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("g t?")
    assert page.input_value("#search") == "g t?"
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    page.wait_for_selector("#keyboard-help[open]")
    page.uncheck("[data-keys-switch]")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 0


def test_the_navigation_is_a_menu_on_narrow_windows(case: Case, open_page: Callable[..., Any]) -> None:
    page = open_page(f"/assessments/{case.assessment.pk}/", width=400)
    assert not page.is_visible("#sidenav")
    page.click("[data-menu]")
    assert page.is_visible("#sidenav")
    page.keyboard.press("Escape")
    assert not page.is_visible("#sidenav")
    assert page.evaluate("document.activeElement.hasAttribute('data-menu')")


def test_without_scripts_every_figure_still_opens(case: Case, browser: Any, live_server: Any) -> None:
    signed_in = Client()
    signed_in.force_login(case.user)
    context = browser.new_context(java_script_enabled=False)
    cookie = signed_in.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/assessments/{case.assessment.pk}/tco/?option=A")
    page.click('a.how[data-figure="A.facility"]')
    assert page.is_visible("#how-panel .how-panel")
    page.click(".how-close")
    assert not page.is_visible("#how-panel .how-panel")
    context.close()


@pytest.mark.parametrize("screen", ["quotes/", "activity/"])
def test_buttons_of_a_page_head_are_equally_high_at_touch_widths(
    case: Case, open_page: Callable[..., Any], screen: str
) -> None:
    page = open_page(f"/assessments/{case.assessment.pk}/{screen}", width=400)
    heights = page.evaluate("[...document.querySelectorAll('.page-head-end .button')].map((e) => e.offsetHeight)")
    assert set(heights) == {44}


def test_a_table_that_goes_on_sideways_has_a_shadow_at_its_edge(case: Case, open_page: Callable[..., Any]) -> None:
    page = open_page(f"/assessments/{case.assessment.pk}/quotes/", width=400)
    wrap = page.locator(".table-wrap").first
    assert wrap.evaluate("(e) => e.scrollWidth > e.clientWidth")
    assert "local" in wrap.evaluate("(e) => getComputedStyle(e).backgroundAttachment")
