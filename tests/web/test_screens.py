"""The result screens: what they answer, to whom, with how many queries; files equal what is shown."""

import csv
import html
import io
import json
import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Role
from apps.analyses.models import AnalysisRun
from apps.assessments.models import Option, OptionPhase
from tests import factories
from tests.web.conftest import Case

SCREENS = ("", "tco/", "quotes/", "activity/")


def address(case: Case, rest: str = "") -> str:
    return f"/assessments/{case.assessment.pk}/{rest}"


@pytest.mark.parametrize("screen", SCREENS)
def test_every_screen_answers_with_its_numbers(case: Case, signed_in: Any, screen: str) -> None:
    answer = signed_in.get(address(case, screen))
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "private, no-store"
    assert "Larkmere Robotics" in answer.content.decode()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_without_a_run_says_what_is_missing(db: None, client: Any, screen: str) -> None:
    assessment = factories.make_assessment()
    client.force_login(factories.make_member(assessment.client))
    answer = client.get(f"/assessments/{assessment.pk}/{screen}")
    assert answer.status_code == 200
    assert "No run yet" in answer.content.decode()


def test_foreign_unknown_and_signed_out_look_alike(case: Case, client: Any) -> None:
    client.force_login(factories.make_member(factories.make_client()))
    bodies = set()
    for assessment in (case.assessment.pk, uuid.uuid4()):
        for rest in (
            *SCREENS,
            "tco/?how=A.facility",
            f"runs/{case.run.pk}/results.json",
            f"runs/{case.run.pk}/workbook.xlsx",
        ):
            answer = client.get(f"/assessments/{assessment}/{rest}")
            assert answer.status_code == 404, rest
            bodies.add(answer.content)
        for rest in ("runs/", f"runs/{case.run.pk}/cancel/", f"runs/{case.run.pk}/retry/", "waivers/"):
            answer = client.post(f"/assessments/{assessment}/{rest}")
            assert answer.status_code == 404, rest
            bodies.add(answer.content)
    assert len(bodies) == 1
    client.logout()
    assert client.get(address(case)).status_code == 302


def test_unknown_runs_figures_and_parts_are_404(case: Case, signed_in: Any) -> None:
    for rest in (
        "tco/?run=99",
        "tco/?run=x",
        "tco/?how=A.nothing",
        f"runs/{uuid.uuid4()}/results.json",
        f"runs/{case.run.pk}/secrets.json",
    ):
        assert signed_in.get(address(case, rest)).status_code == 404, rest


@pytest.mark.parametrize("screen", ["", "tco/", "quotes/", "tco/?how=A.facility"])
def test_a_screen_takes_at_most_15_queries_for_5_and_for_50_options(case: Case, signed_in: Any, screen: str) -> None:
    counts = [_queries(signed_in, address(case, screen))]
    _more_options(case, 46)
    counts.append(_queries(signed_in, address(case, screen)))
    assert counts[0] == counts[1]
    assert counts[0] <= 15


def _queries(client: Any, path: str) -> int:
    client.get(path)  # the session is known from here on
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def _more_options(case: Case, n: int) -> None:
    """Options that the run knows as well, copied from A."""
    first = Option.objects.of_client(case.assessment.client).get(assessment=case.assessment, letter="A")
    phase = OptionPhase.objects.of_client(first.client).get(option=first)
    inputs, results = json.loads(case.run.inputs_json), json.loads(case.run.results_json)
    given = next(item for item in inputs["options"] if item["key"] == "A")
    for i in range(n):
        letter = f"X{i}"
        option = factories.make_option(assessment=case.assessment, letter=letter, slot=1)
        factories.make_option_phase(
            option=option, configuration=phase.configuration, quote_version=phase.quote_version, position=1
        )
        own = {key: item for key, item in inputs["inputs"].items() if key.startswith("A.")}
        inputs["inputs"] |= {f"{letter}.{key.removeprefix('A.')}": item for key, item in own.items()}
        inputs["options"].append(json.loads(json.dumps(given).replace('"A.', f'"{letter}.')) | {"key": letter})
        results["options"][letter] = json.loads(json.dumps(results["options"]["A"]).replace('"A.', f'"{letter}.'))
        for name in ("nominal", "npv"):
            results["ranking"][name].append(letter)
            results["probability_cheapest"][name][letter] = 0.0
    case.run.inputs_json, case.run.results_json = json.dumps(inputs), json.dumps(results)
    case.run.save()


# Files ------------------------------------------------------------
def _shown(page: str, table: str) -> list[list[str]]:
    """The texts of a table's cells on the page, hidden words for screen readers left out."""
    body = page[page.index(f'class="{table}') :]
    body = body[: body.index("</table>")]
    body = re.sub(r'<span class="visually-hidden">[^<]*(<[^>]*>)?[^<]*</span>', "", body)
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.S)
    return [[_text(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows]


def _text(cell: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", cell)).replace("\u202f", " ").replace("\u00a0", " ").strip()


def _same(shown: str, saved: str) -> bool:
    shown = " ".join(shown.split())
    saved = " ".join(saved.replace("\u202f", " ").replace("\u00a0", " ").split())
    if saved == "0.0" and shown == "–":
        return True
    return shown == saved or shown.replace(",", "").replace("−", "-").lstrip("+") == saved


@pytest.mark.parametrize("state", ["", "&basis=npv", "&view=accrual", "&option=C", "&basis=npv&option=B"])
def test_the_csv_of_the_year_table_is_what_the_screen_shows(case: Case, signed_in: Any, state: str) -> None:
    page = signed_in.get(address(case, f"tco/?x=1{state}")).content.decode()
    file = signed_in.get(address(case, f"tco/?format=csv{state}"))
    assert file["Content-Disposition"].startswith("attachment")
    saved = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
    shown = _shown(page, "years-table")
    assert len(shown) == len(saved)
    for one, other in zip(shown, saved, strict=True):
        pairs = [(a, b) for a, b in zip(one[1:], other[1:], strict=False)]
        assert all(_same(a, b) for a, b in pairs), (one, other)
        assert len(one) == len(other)


@pytest.mark.parametrize("state", ["", "&differences=1", "&span=month"])
def test_the_csv_of_the_comparison_holds_the_amounts_on_screen(case: Case, signed_in: Any, state: str) -> None:
    page = signed_in.get(address(case, f"quotes/?x=1{state}")).content.decode()
    file = signed_in.get(address(case, f"quotes/?format=csv{state}")).content.decode("utf-8-sig")
    saved = {_text(row[0]): row for row in csv.reader(io.StringIO(file)) if row}
    shown = [row for row in _shown(page, "compare-table") if len(row) == 12]
    assert shown
    for row in shown[1:]:
        label = row[0].split("  ")[0]
        name = max((name for name in saved if name and row[0].startswith(name)), key=len)
        match = saved[name]
        for amount, column in zip((2, 4, 7, 10), (3, 5, 9, 13), strict=True):
            assert _same(row[amount], match[column]), (label, row, match)


def test_files_are_for_roles_that_may_export(case: Case, client: Any) -> None:
    client.force_login(factories.make_member(case.assessment.client, Role.VIEWER))
    assert client.get(address(case, "tco/")).status_code == 200
    for rest in ("tco/?format=csv", "quotes/?format=csv", "?format=csv", f"runs/{case.run.pk}/results.json"):
        assert client.get(address(case, rest)).status_code == 403, rest


def test_the_run_documents_are_the_stored_bytes(case: Case, signed_in: Any) -> None:
    for part, text in (("inputs", case.run.inputs_json), ("results", case.run.results_json)):
        answer = signed_in.get(address(case, f"runs/{case.run.pk}/{part}.json"))
        assert answer.content.decode() == text


def test_text_of_users_cannot_become_markup(case: Case, signed_in: Any) -> None:
    payload = "</script><script>alert(1)</script>"
    case.assessment.name = payload
    case.assessment.save()
    case.run.inputs_json = case.run.inputs_json.replace("Velmora Compute", "<img src=x onerror=alert(1)>")
    case.run.save()
    for screen in SCREENS:
        page = signed_in.get(address(case, screen)).content.decode()
        assert payload not in page
        assert "<img src=x" not in page


# Fragments and actions ------------------------------------------------------------
def test_htmx_gets_the_screen_or_the_panel_alone(case: Case, signed_in: Any) -> None:
    def part(rest: str, target: str) -> str:
        answer = signed_in.get(address(case, rest), HTTP_HX_REQUEST="true", HTTP_HX_TARGET=target)
        return str(answer.content.decode())

    assert part("tco/?basis=npv", "screen").lstrip().startswith('<div id="screen"')
    panel = part("tco/?how=A.facility", "how-panel").lstrip()
    assert panel.startswith('<div class="how-panel"')
    assert "<html" not in panel
    assert part("quotes/?how=B:nominal", "how-panel").lstrip().startswith('<div class="how-panel"')
    assert "<html" not in part("activity/", "runs")


def test_a_run_can_be_started_cancelled_and_tried_again(case: Case, signed_in: Any) -> None:
    case.assessment.seed = 7
    case.assessment.save()
    answer = signed_in.post(address(case, "runs/"), follow=True)
    assert "Run 2 waits for a worker" in answer.content.decode()
    assert "queued, waiting for the worker" in answer.content.decode().lower()
    run = AnalysisRun.objects.of_client(case.assessment.client).get(number=2)
    answer = signed_in.post(address(case, f"runs/{run.pk}/cancel/"), follow=True)
    assert "Run 2 was cancelled" in answer.content.decode()
    answer = signed_in.post(address(case, f"runs/{run.pk}/retry/"), follow=True)
    assert "Run 3 waits for a worker" in answer.content.decode()


def test_equal_inputs_are_not_computed_twice(case: Case, signed_in: Any) -> None:
    answer = signed_in.post(address(case, "runs/"), follow=True)
    assert "Nothing has changed since run 1" in answer.content.decode()


def test_a_waived_hit_is_struck_and_named_and_its_option_is_ranked(case: Case, signed_in: Any) -> None:
    before = signed_in.get(address(case)).content.decode()
    assert "not ranked" in before
    signed_in.post(
        address(case, "waivers/"), {"rule": "F1", "option": "C", "reason": "Asked on 20 November, due in a week"}
    )
    after = signed_in.get(address(case)).content.decode()
    assert f"waived by {case.user}" in after
    assert 'class="waived"' in after
    assert "not ranked" not in after
    signed_in.post(address(case, "waivers/withdraw/"), {"rule": "F1", "option": "C"})
    assert "not ranked" in signed_in.get(address(case)).content.decode()


def test_a_waiver_without_a_reason_is_refused_in_words(case: Case, signed_in: Any) -> None:
    answer = signed_in.post(address(case, "waivers/"), {"rule": "F1", "option": "C", "reason": " "}, follow=True)
    assert "why the rule may be set aside" in answer.content.decode()


def test_search_finds_what_the_user_may_see_and_nothing_else(case: Case, signed_in: Any, client: Any) -> None:
    assert "128 GPUs" in signed_in.get("/search/?q=larkmere").content.decode()
    assert "Nothing has such a name" in signed_in.get("/search/?q=zzzz").content.decode()
    client.force_login(factories.make_member(factories.make_client()))
    assert "128 GPUs" not in client.get("/search/?q=larkmere").content.decode()


@pytest.mark.parametrize("status", [400, 403, 404, 500, 503])
def test_error_pages_stand_without_a_database(rf: Any, status: int) -> None:
    from django.db import OperationalError

    from apps.web.views import errors

    request = rf.get("/")
    if status == 503:
        try:
            raise OperationalError("gone")
        except OperationalError:
            answer = errors.server_error(request)
    else:
        views = {400: errors.bad_request, 403: errors.forbidden, 404: errors.not_found, 500: errors.server_error}
        answer = views[status](request)
    assert answer.status_code == status
    assert "<h1>" in answer.content.decode()
