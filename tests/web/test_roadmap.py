"""The roadmap: lanes, items, presets of the catalogue, confirmation, and who may change it."""

import re
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Role
from apps.assessments.models import Assessment
from apps.catalogue.selectors import catalogue
from apps.web.roadmap_rows import preset
from apps.workloads.models import RoadmapItem
from tests import factories
from tests.web.facts import browser_of, has_buttons, rows_of, squeezed, text_of

ITEM = {
    "name": "70 B MoE",
    "first_quarter": 3,
    "last_quarter": 5,
    "workload_class": "training",
    "architecture": "moe",
    "parameters_billion": "70",
    "active_parameters_billion": "14",
    "layers": 48,
    "hidden_size": 5120,
    "experts": 64,
    "top_k": 6,
    "ep_degree": 64,
    "tokens_per_experiment_billion": "60",
    "experiments_per_week": "4",
    "decisions": 12,
    "final_run_tokens_billion": "1000",
    "source": "Roadmap workshop",
}


@pytest.fixture
def assessment(db: None) -> Assessment:
    return factories.make_assessment(moe_within_18_months=True)


@pytest.fixture
def architect(assessment: Assessment) -> Browser:
    return browser_of(assessment.client, Role.ARCHITECT)


def at(assessment: Assessment, rest: str = "") -> str:
    return f"/assessments/{assessment.pk}/roadmap/{rest}"


def only_item(assessment: Assessment) -> RoadmapItem:
    return RoadmapItem.objects.of_client(assessment.client).get(assessment=assessment)


def test_an_empty_roadmap_says_what_it_is_for(assessment: Assessment, architect: Browser) -> None:
    text = text_of(architect.get(at(assessment)))
    assert "No item yet" in text
    assert "not computed yet" in text


def test_an_item_keeps_every_field_and_spans_its_quarters(assessment: Assessment, architect: Browser) -> None:
    assert architect.post(at(assessment, "add/"), ITEM).status_code == 302
    item = only_item(assessment)
    for name, value in ITEM.items():
        stored = getattr(item, name)
        assert stored == (Decimal(str(value)) if isinstance(stored, Decimal) else value), name
    page = architect.get(at(assessment))
    assert re.search(r'colspan="3" class="bar-cell"><div class="bar bar-moe"><b>70 B MoE', page.content.decode())
    text = text_of(page)
    assert "1 item to quarter +5, the first MoE in +3" in text
    assert "+3 to +5 70 B MoE training MoE, 70 B, 14 B active" in text
    assert "48 layers, hidden 5,120, 64 experts, top-6, EP 64" in text
    assert "60 B 4 12 1.0 T" in text


def test_what_an_item_lacks_is_named(assessment: Assessment, architect: Browser) -> None:
    factories.make_roadmap_item(assessment=assessment, architecture="hybrid_moe", name="X")
    missing = rows_of(architect.get(at(assessment, "?format=csv")))[1][11]
    for fact in ("class", "experts per token", "window", "tokens per experiment", "confirmation by an architect"):
        assert fact in missing
    assert f"Missing: {missing}" in text_of(architect.get(at(assessment)))


def test_the_file_holds_what_the_screen_shows(assessment: Assessment, architect: Browser) -> None:
    architect.post(at(assessment, "add/"), ITEM)
    shown = squeezed(text_of(architect.get(at(assessment))))
    row = rows_of(architect.get(at(assessment, "?format=csv")))[1]
    for cell in (*row[1:10], row[11]):
        assert squeezed(cell.removeprefix("'")) in shown, cell


def test_overlapping_items_of_a_class_take_lines_of_their_own(assessment: Assessment, architect: Browser) -> None:
    for name, first, last in (("a", 0, 3), ("b", 2, 4), ("c", 5, 13)):
        factories.make_roadmap_item(
            assessment=assessment, name=name, first_quarter=first, last_quarter=last, workload_class="training"
        )
    body = architect.get(at(assessment)).content.decode()
    assert '<th scope="row" rowspan="2">Training' in body
    assert ">+13<br>" in body


def test_the_answer_about_experts_is_checked_against_the_items(assessment: Assessment, architect: Browser) -> None:
    factories.make_roadmap_item(assessment=assessment, architecture="dense")
    assert "The roadmap holds no MoE" in text_of(architect.get(at(assessment)))
    Assessment.objects.of_client(assessment.client).update(moe_within_18_months=False)
    factories.make_roadmap_item(assessment=assessment, architecture="moe", name="Big one")
    assert "The roadmap says otherwise: Big one" in text_of(architect.get(at(assessment)))
    Assessment.objects.of_client(assessment.client).update(moe_within_18_months=None)
    assert "not answered" in text_of(architect.get(at(assessment)))


def test_a_change_takes_the_confirmation_away_until_it_is_given_anew(
    assessment: Assessment, architect: Browser
) -> None:
    architect.post(at(assessment, "add/"), ITEM)
    item = only_item(assessment)
    assert architect.post(at(assessment, f"{item.pk}/confirm/"), {"confirmed_on": "2026-11-20"}).status_code == 302
    assert only_item(assessment).architect_confirmed_on == date(2026, 11, 20)
    assert "Confirmed by an architect, 20 Nov 2026" in text_of(architect.get(at(assessment)))
    assert architect.post(at(assessment, f"{item.pk}/"), {**ITEM, "layers": 52}).status_code == 302
    assert (only_item(assessment).layers, only_item(assessment).architect_confirmed_on) == (52, None)
    architect.post(at(assessment, f"{item.pk}/confirm/"), {"confirmed_on": "2999-01-01"})
    assert only_item(assessment).architect_confirmed_on is None


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("last_quarter", "2", "at least 3"),
        ("first_quarter", "12", "less than or equal to 11"),
        ("parameters_billion", "-1", "zero or more"),
        ("full_to_window", "some", "two numbers such as 1:3"),
        ("layers", "many", "whole number"),
        ("name", "", "required"),
    ],
)
def test_a_refused_item_is_explained_and_kept_as_typed(
    assessment: Assessment, architect: Browser, field: str, typed: str, said: str
) -> None:
    answer = architect.post(at(assessment, "add/"), {**ITEM, field: typed})
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert not typed or f'value="{typed}"' in answer.content.decode()
    assert not RoadmapItem.objects.of_client(assessment.client).exists()


def test_an_item_leaves_the_roadmap(assessment: Assessment, architect: Browser) -> None:
    item = factories.make_roadmap_item(assessment=assessment)
    assert architect.post(at(assessment, f"{item.pk}/remove/")).status_code == 302
    assert not RoadmapItem.objects.of_client(assessment.client).exists()


def test_a_preset_fills_in_the_shape_and_its_source(assessment: Assessment, architect: Browser) -> None:
    call_command("load_catalogue", verbosity=0)
    body = architect.get(at(assessment, "add/"), {"preset": "DeepSeek-V2"}).content.decode()
    for name, value in (("parameters_billion", "235.7"), ("layers", "60"), ("hidden_size", "5120"), ("top_k", "6")):
        assert re.search(rf'name="{name}" value="{value}"', body), name
    assert '<option value="moe" selected>' in body
    assert "MaxText model config" in body
    assert architect.get(at(assessment, "add/"), {"preset": "No such model"}).status_code == 404


def test_every_model_of_the_catalogue_makes_an_item(assessment: Assessment, architect: Browser) -> None:
    call_command("load_catalogue", verbosity=0)
    models = catalogue(organisation=None, kind="model")
    assert len(models) > 40
    for model in models:
        values = preset(model).values
        answer = architect.post(at(assessment, "add/"), {**values, "first_quarter": 0, "last_quarter": 0})
        assert answer.status_code == 302, (model.name, text_of(answer))
    recalled = [preset(model) for model in models if preset(model).recalled]
    assert recalled
    assert all("recalled, to be confirmed" in found.source for found in recalled)


def test_a_viewer_sees_the_roadmap_and_cannot_change_it(assessment: Assessment) -> None:
    item = factories.make_roadmap_item(assessment=assessment)
    browser = browser_of(assessment.client, Role.VIEWER)
    page = browser.get(at(assessment))
    assert item.name in text_of(page)
    assert not has_buttons(page)
    for rest in ("add/", f"{item.pk}/", f"{item.pk}/confirm/", f"{item.pk}/remove/"):
        assert browser.post(at(assessment, rest), ITEM).status_code == 403, rest
    assert only_item(assessment).name == item.name


def test_an_item_of_another_assessment_is_not_found(assessment: Assessment, architect: Browser) -> None:
    sibling = factories.make_roadmap_item(assessment=factories.make_assessment(client=assessment.client))
    foreign = factories.make_roadmap_item()
    for item in (sibling, foreign):
        for rest in (f"{item.pk}/", f"{item.pk}/confirm/", f"{item.pk}/remove/"):
            assert architect.post(at(assessment, rest), ITEM).status_code == 404
    assert architect.get(at(foreign.assessment)).status_code == 404


def test_queries_are_few_and_equal_for_one_and_fifty_items(assessment: Assessment, architect: Browser) -> None:
    architect.get(at(assessment))  # the first visit of a session writes
    counts: list[Any] = []
    for more in (1, 50):
        for _number in range(more):
            factories.make_roadmap_item(assessment=assessment)
        with CaptureQueriesContext(connection) as queries:
            assert architect.get(at(assessment)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] <= 15
