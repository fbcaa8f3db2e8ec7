"""Sign in to a running site as a person would, walk its navigation, and compare its pages with the stored run."""

from __future__ import annotations

import http.client
import http.cookiejar
import io
import json
import re
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

HTML, CSV, JSON = "text/html", "text/csv", "application/json"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# Each must be found by following links of the assessment: its type, and what its address must contain.
MAIN_PAGES = {
    "decision": (HTML, r"/assessments/[0-9a-f-]{36}/$"),
    "quotes": (HTML, r"/quotes/"),
    "configuration": (HTML, r"/configuration"),
    "roadmap": (HTML, r"/roadmap"),
    "assumptions": (HTML, r"/assumptions"),
    "cost": (HTML, r"/tco/"),
    "activity": (HTML, r"/activity/"),
    "workbook": (XLSX, r"workbook"),
    "CSV": (CSV, r"/tco/"),
    "run JSON": (JSON, r"results"),
}
FIRST_CLIENT = "Larkmere"
NOT_RANKED = ">not ranked<"
WITH_FIGURES = ("decision", "cost")  # these show the cost of each option
NOT_FOLLOWED = re.compile(r"logout|/admin|/accounts/|/static/|delete", re.I)
GROUPING = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f,'](?=\d{3}(?!\d))")  # 8,754,321 and 8 754 321
MOST_ADDRESSES = 120
PASSWORD_FIELD = "password"  # noqa: S105 - the name of a form field


class CheckFailedError(RuntimeError):
    """A page does not answer or does not hold what it must; the text names it."""


@dataclass(frozen=True)
class Page:
    url: str
    status: int
    kind: str
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class _Reader(HTMLParser):
    """Links, the fields of forms, and the visible text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fields: dict[str, str] = {}
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        if tag == "input" and values.get("name"):
            self.fields.setdefault(str(values["name"]), values.get("value") or "")
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)


class Visitor:
    """A browser without scripts: cookies, redirects, one address after the other."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def get(self, url: str, form: dict[str, str] | None = None) -> Page:
        body = urllib.parse.urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(url, data=body, headers={"Referer": url})
        try:
            with self._opener.open(request, timeout=30) as answer:
                return _page(answer, url)
        except urllib.error.HTTPError as error:
            return Page(url, error.code, error.headers.get_content_type(), error.read())
        except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
            raise CheckFailedError(f"{url} did not answer: {error}") from error

    def sign_in(self, email: str, password: str) -> Page:
        """Use the real form, hidden fields and all; return the page it leads to."""
        form_page = self.get(f"{self.address}/")
        reader = read(form_page)
        if PASSWORD_FIELD not in reader.fields:
            raise CheckFailedError(f"{form_page.url} shows no sign-in form to a visitor (status {form_page.status})")
        fields = {**reader.fields, "login": email, PASSWORD_FIELD: password}
        after = self.get(form_page.url, fields)
        if after.status != 200 or PASSWORD_FIELD in read(after).fields:
            raise CheckFailedError(f"signing in as {email} led to {after.url} with status {after.status}")
        return after


def _page(answer: Any, url: str) -> Page:
    return Page(answer.geturl() or url, answer.status, answer.headers.get_content_type(), answer.read())


def read(page: Page) -> _Reader:
    reader = _Reader()
    if page.kind == "text/html":
        reader.feed(page.text)
    return reader


def check_site(address: str, email: str, password: str) -> list[str]:
    """Return one line for each main page and one for the rest; raise `CheckFailedError` with the first fault."""
    visitor = Visitor(address)
    portfolio = visitor.sign_in(email, password)
    start = _demo_assessment(portfolio)
    pages = _walk(visitor, urllib.parse.urljoin(portfolio.url, start))
    found = {name: _first(pages, *wanted, name) for name, wanted in MAIN_PAGES.items()}
    figures = _figures(found["run JSON"])
    for name in WITH_FIGURES:
        _check_figures(found[name], figures)
    _check_csv(found["CSV"])
    _check_workbook(found["workbook"])
    main = [f"portfolio  {_path(portfolio.url)}", *(f"{name}  {_path(page.url)}" for name, page in found.items())]
    return [*main, f"and {len(pages) - len(found)} more pages and files that they link to"]


def _path(url: str) -> str:
    return urllib.parse.urlsplit(url).path


def _demo_assessment(portfolio: Page) -> str:
    """The address of the first demo case: its card on the portfolio names the client."""
    if portfolio.status != 200:
        raise CheckFailedError(f"the portfolio answered {portfolio.status}")
    links = [link for link in read(portfolio).links if re.search(r"/assessments/[0-9a-f-]{36}/", link)]
    if not links:
        raise CheckFailedError("the portfolio links to no assessment")
    cards = [card for card in re.split(r"<li\b", portfolio.text) if FIRST_CLIENT in card]
    named = [link for card in cards for link in links if f'href="{link}"' in card]
    if not named:
        raise CheckFailedError(f"the portfolio names no assessment of {FIRST_CLIENT}")
    return named[0]


def _walk(visitor: Visitor, start: str) -> list[Page]:
    """Follow every link that stays inside the assessment; each must answer 200."""
    inside = re.search(r"/assessments/[0-9a-f-]{36}/", start)
    root = inside.group(0) if inside else "/"
    waiting, seen = [start], {_file(start)}
    pages: list[Page] = []
    while waiting and len(pages) < MOST_ADDRESSES:
        page = visitor.get(waiting.pop(0))
        if page.status != 200:
            raise CheckFailedError(f"{page.url} answered {page.status}")
        pages.append(page)
        for link in read(page).links:
            url = urllib.parse.urldefrag(urllib.parse.urljoin(page.url, link)).url
            own = url.startswith(visitor.address) and not NOT_FOLLOWED.search(url)
            if own and root in url and _file(url) not in seen:
                seen.add(_file(url))
                # A page is looked at as the navigation opens it, not as a link with its own parameters does.
                waiting.append(url if _file(url)[1] else url.split("?")[0])
    return pages


def _file(url: str) -> tuple[str, str]:
    """What tells two addresses apart: path and file format; views of one page with other parameters are one page."""
    parts = urllib.parse.urlsplit(url)
    return parts.path, urllib.parse.parse_qs(parts.query).get("format", [""])[0]


def _first(pages: list[Page], kind: str, pattern: str, name: str) -> Page:
    for page in pages:
        if page.kind == kind and re.search(pattern, urllib.parse.urlsplit(page.url).path):
            return page
    raise CheckFailedError(f"no link of the assessment leads to its page: {name}")


def _figures(page: Page) -> dict[str, float]:
    """The likely nominal cost of each option that is compared; the baseline is not."""
    try:
        results = _results(json.loads(page.text))
    except ValueError as error:
        raise CheckFailedError(f"{page.url} is not JSON: {error}") from error
    if not results or not results.get("options") or not results["ranking"]["nominal"]:
        raise CheckFailedError(f"{page.url} holds no results of a cost run")
    compared = results["ranking"]["nominal"]
    return {key: float(results["options"][key]["nominal_usd"]["likely"]) for key in compared}


def _results(document: Any) -> dict[str, Any] | None:
    """The results document, wherever the download has put it."""
    if isinstance(document, str) and document.startswith("{"):
        document = json.loads(document)
    if not isinstance(document, dict):
        return None
    if str(document.get("schema", "")).startswith("spinecut.tco-results/"):
        return document
    return next((found for value in document.values() if (found := _results(value))), None)


def shows(html: str, amount: float) -> bool:
    """Whether a page shows an amount as a number of its own: in full, or in millions with three digits or more."""
    reader = _Reader()
    reader.feed(html)
    text = GROUPING.sub("", " ".join(reader.words))
    millions = amount / 1e6
    forms = {f"{amount:.0f}", f"{millions:.3f}", f"{millions:.2f}", f"{millions:#.3g}"}
    return any(re.search(rf"(?<![\d.]){re.escape(form)}(?![\d]|\.\d)", text) for form in forms)


def _check_figures(page: Page, figures: dict[str, float]) -> None:
    """Each option's cost is on the page, except for as many as the page says are not ranked."""
    missing = {option: amount for option, amount in figures.items() if not shows(page.text, amount)}
    if len(missing) > min(page.text.lower().count(NOT_RANKED), len(figures) - 1):
        option, amount = next(iter(missing.items()))
        raise CheckFailedError(f"{page.url} does not show the cost of {option}, {amount:,.2f}")


def _check_csv(page: Page) -> None:
    rows = [line for line in page.text.splitlines() if line.strip()]
    if len(rows) < 5 or "," not in rows[0]:
        raise CheckFailedError(f"{page.url} has {len(rows)} rows")


def _check_workbook(page: Page) -> None:
    try:
        names = zipfile.ZipFile(io.BytesIO(page.body)).namelist()
    except zipfile.BadZipFile as error:
        raise CheckFailedError(f"{page.url} is not a workbook") from error
    if "xl/workbook.xml" not in names:
        raise CheckFailedError(f"{page.url} is not a workbook")
