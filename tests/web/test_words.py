"""What the screens say is true of what is stored: stale runs, runs that end, quotes without an option, steps, audit."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from apps.accounts.audit import ACTION_WORDS, action_words
from apps.accounts.models import Role
from apps.analyses.models import AnalysisRun
from apps.analyses.rules import RuleHit
from apps.analyses.rules.definitions import rules
from apps.assessments.models import Option
from apps.intake.models import ImportBatch, UploadedFile
from apps.reports import decision
from apps.web.navigation import address as screen_address
from tests import factories
from tests.web.conftest import Case

ROOT = Path(settings.BASE_DIR)


def address(case: Case, rest: str = "") -> str:
    return f"/assessments/{case.assessment.pk}/{rest}"


def page(client: Any, path: str, **headers: Any) -> str:
    return str(client.get(path, **headers).content.decode())


# Stale runs -----------------------------------------------------------------------------------------------------------
def what_is_said_of_changes(client: Any, case: Case, screen: str) -> str:
    """The notice as the reader gets it: part of Activity, and asked for by the other screens once they stand."""
    shown = page(client, address(case, screen))
    if screen == "activity/":
        return shown
    asked = re.search(r'hx-get="([^"]*/changes/[^"]*)" hx-trigger="load"', shown)
    assert asked, screen
    return page(client, asked.group(1))


@pytest.mark.parametrize("screen", ["", "tco/", "quotes/", "activity/"])
def test_a_run_whose_inputs_have_changed_says_so_on_every_screen(case: Case, signed_in: Any, screen: str) -> None:
    assert "Inputs have changed" not in what_is_said_of_changes(signed_in, case, screen)
    case.assessment.horizon_months = 48
    case.assessment.save()
    shown = what_is_said_of_changes(signed_in, case, screen)
    assert f"Inputs have changed since run {case.run.number}; these are its numbers" in shown
    assert ("Rules and next steps are evaluated on the inputs as they stand today" in shown) is (screen == "")
    if screen != "activity/":
        assert f'<a href="{address(case, "activity/")}">Start a run</a>' in shown


# Activity -------------------------------------------------------------------------------------------------------------
def test_the_polled_list_carries_the_heading_and_the_page_comes_anew_at_the_end(case: Case, signed_in: Any) -> None:
    run = factories.make_analysis_run(assessment=case.assessment, state=AnalysisRun.State.RUNNING, number=7)
    asked = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "runs"}
    answer = signed_in.get(address(case, "activity/"), **asked)
    assert '<h1 id="runs-title" hx-swap-oob="true">Run 7 is being computed</h1>' in answer.content.decode()
    assert "HX-Refresh" not in answer
    run.state, run.error, run.finished_at = AnalysisRun.State.FAILED, "no memory", timezone.now()
    run.save()
    assert signed_in.get(address(case, "activity/"), **asked)["HX-Refresh"] == "true"


def test_what_is_said_of_a_new_run_stays_true_when_it_ends(case: Case, signed_in: Any) -> None:
    case.assessment.horizon_months = 48
    case.assessment.save()
    shown = str(signed_in.post(address(case, "runs/"), follow=True).content.decode())
    assert "was requested. You can leave this page." in shown
    assert "is queued. You can" not in shown


# Quotes ---------------------------------------------------------------------------------------------------------------
def test_stored_quotes_without_an_option_are_counted_and_lead_to_their_imports(db: None, client: Any) -> None:
    assessment = factories.make_assessment()
    user = factories.make_member(assessment.client, role=Role.OWNER)
    client.force_login(user)
    where = f"/assessments/{assessment.pk}/quotes/"
    assert "no quote is stored" in page(client, where)
    batches = []
    for _n in range(2):
        version = factories.make_quote_version(client=assessment.client)
        file = UploadedFile.objects.create(
            client=assessment.client, original_name="a.csv", size_bytes=1, sha256="0" * 64, stored_name=""
        )
        batches.append(
            ImportBatch.objects.create(
                client=assessment.client,
                kind="quote_csv",
                state=ImportBatch.State.COMMITTED,
                file=file,
                assessment_id=assessment.pk,
                quote_version_id=version.pk,
                committed_at=timezone.now(),
            )
        )
    shown = page(client, where)
    assert "2 quotes are stored and none is an option yet" in shown
    for batch in batches:
        assert f"/assessments/{assessment.pk}/quotes/import/{batch.pk}/" in shown


def test_the_comparison_leads_with_the_cheapest_option_and_the_best_of_the_other_kind(
    case: Case, signed_in: Any
) -> None:
    for screen in ("tco/", "quotes/"):
        shown = page(signed_in, address(case, screen))
        heading = re.search("<h1>(.*?)</h1>", shown)
        assert heading is not None
        assert " B" in heading[1] or "B’s" in heading[1] or heading[1].startswith("B ")
        assert " C" in heading[1] or heading[1].startswith("C ")


# Steps ----------------------------------------------------------------------------------------------------------------
def made(rule_id: str, letter: str | None, supplier: str, **values: str) -> RuleHit:
    texts = {name: "x" for name in ("title", "value_text", "threshold_text", "what", "remedy", "why", "source")}
    return RuleHit(
        rule_id=rule_id,
        severity="gate",
        option_letter=letter,
        supplier=supplier,
        **{**texts, **values},  # type: ignore[arg-type]
    )


def test_a_shared_step_names_each_option_with_its_own_supplier() -> None:
    words = {"remedy_template": "Ask for {options}.", "page": "option"}
    hits = [made("E1", letter, who, **words) for letter, who in (("A", "Velmora"), ("B", "Quarrow"), ("B+", "Quarrow"))]
    step = decision.next_steps(hits)[0]
    assert step.what == "Ask for options A, B and B+."
    assert step.note == "clears E1 for A, B, B+ · A: Velmora; B, B+: Quarrow"
    options = [Option(letter=letter) for letter in ("A", "B", "B+")]
    row = decision.grouped_hits(hits, options)[0]
    assert (row.remedy, row.supplier) == ("Ask for options A, B and B+.", "A: Velmora; B, B+: Quarrow")


def test_every_remedy_names_its_option_and_a_screen_that_exists(case: Case) -> None:
    for rule in rules():
        assert (rule.scope == "option") == ("{options}" in rule.remedy), rule.id
        assert "them with its source" not in rule.remedy
        arguments = [case.assessment.pk, case.assessment.pk] if rule.page == "option" else [case.assessment.pk]
        assert screen_address(rule.page, *arguments), rule.id


def test_steps_are_links_to_where_they_are_done(case: Case, signed_in: Any) -> None:
    shown = page(signed_in, address(case))
    steps = shown[shown.index('<ol class="steps">') :].split("</ol>")[0]
    assert steps.count("<a href=") >= steps.count("<li>")
    assert "this option" not in steps


def test_sources_say_what_the_seed_texts_are() -> None:
    for name in ("claims.csv", "rules.json", "assumptions.csv"):
        text = (ROOT / "fixtures" / name).read_text()
        assert "eed document" not in text
    assert "Seed text on AI infrastructure (Bulgarian)" in (ROOT / "fixtures" / "claims.csv").read_text()


def test_no_legend_names_a_colour_that_a_theme_changes() -> None:
    assert "black tick" not in (ROOT / "templates" / "tco" / "_screen.html").read_text()


# Audit log ------------------------------------------------------------------------------------------------------------
def test_every_action_in_the_code_has_words_and_an_unknown_one_is_shown_as_it_is() -> None:
    found: set[str] = set()
    for path in (ROOT / "apps").rglob("*.py"):
        text = path.read_text()
        found |= set(re.findall(r'action="([a-z_]+\.[a-z_]+)"', text))
        found |= set(re.findall(r'_record\([^()]*?, "([a-z_]+\.[a-z_]+)"', text))
    assert found
    assert found <= set(ACTION_WORDS)
    assert action_words("something.new") == "something.new"


def test_the_audit_log_speaks_in_words(case: Case, signed_in: Any) -> None:
    signed_in.get(address(case, f"runs/{case.run.pk}/results.json"))
    shown = page(signed_in, f"/clients/{case.assessment.client.pk}/audit/")
    assert "Run exported" in shown
    assert "run.exported" not in shown
