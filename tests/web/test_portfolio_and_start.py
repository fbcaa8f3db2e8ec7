"""The portfolio lists what a person may see, and a new assessment begins with three questions."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Client, OrganisationMembership, Role
from apps.assessments.models import Assessment
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def client_of_a() -> Client:
    return factories.make_client()


def signed_in(user: Any) -> Browser:
    browser = Browser()
    browser.force_login(user)
    return browser


def test_the_portfolio_shows_only_clients_in_which_the_person_has_a_role(client_of_a: Client) -> None:
    mine = factories.make_assessment(client=client_of_a, name="Own purchase")
    factories.make_assessment(client=factories.make_client(), name="Foreign purchase")
    page = signed_in(factories.make_member(client_of_a, Role.VIEWER)).get(reverse("web:portfolio")).content.decode()
    assert mine.name in page
    assert "Foreign purchase" not in page


def test_a_viewer_finds_no_button_to_add_an_assessment(client_of_a: Client) -> None:
    browser = signed_in(factories.make_member(client_of_a, Role.VIEWER))
    assert "New assessment" not in browser.get(reverse("web:portfolio")).content.decode()
    answer = browser.post(reverse("web:new_assessment"), {"client": client_of_a.pk, "name": "X"})
    assert answer.status_code == 422
    assert not Assessment.objects.of_client(client_of_a).exists()


def test_an_analyst_adds_an_assessment_and_answers_three_questions(client_of_a: Client) -> None:
    browser = signed_in(factories.make_member(client_of_a, Role.ANALYST))
    answer = browser.post(reverse("web:new_assessment"), {"client": client_of_a.pk, "name": "128 GPUs"})
    assessment = Assessment.objects.of_client(client_of_a).get()
    assert answer["Location"] == reverse("web:start", args=[assessment.pk])
    answers = {
        "name": "128 GPUs for the 70 B MoE",
        "dominant_load": "training",
        "goal": "70 B MoE ships",
        "goal_date": "2028-05-31",
        "moe": "yes",
        "existing_capacity": "leased",
        "currency": "eur",
        "horizon_months": "36",
        "draws": "4096",
        "signature_date": "2026-12-15",
        "from_month_0": "9",
        "wanted_0": "128",
        "from_month_1": "0",
        "wanted_1": "32",
    }
    assert browser.post(reverse("web:start", args=[assessment.pk]), answers).status_code == 302
    assessment.refresh_from_db()
    assert (assessment.currency, assessment.moe_within_18_months, assessment.draws) == ("EUR", True, 4096)
    assert assessment.demand == [
        {"from_month": "0", "n_accelerators": 32},
        {"from_month": "9", "n_accelerators": 128},
    ]


def test_a_half_given_step_of_the_demand_is_refused_beside_its_field_and_changes_nothing(client_of_a: Client) -> None:
    assessment = factories.make_assessment(client=client_of_a, name="Before")
    browser = signed_in(factories.make_member(client_of_a, Role.ANALYST))
    answers = {"name": "After", "currency": "USD", "horizon_months": "36", "draws": "8192", "from_month_0": "3"}
    answer = browser.post(reverse("web:start", args=[assessment.pk]), answers)
    assert answer.status_code == 422
    assert "a step of the demand needs a month and a number" in answer.content.decode()
    assessment.refresh_from_db()
    assert assessment.name == "Before"


@pytest.mark.parametrize(("field", "value"), [("draws", "1000"), ("currency", "US$"), ("horizon_months", "0")])
def test_answers_that_cannot_be_are_refused(client_of_a: Client, field: str, value: str) -> None:
    assessment = factories.make_assessment(client=client_of_a)
    browser = signed_in(factories.make_member(client_of_a, Role.ANALYST))
    answers = {"name": "X", "currency": "USD", "horizon_months": "36", "draws": "8192"} | {field: value}
    answer = browser.post(reverse("web:start", args=[assessment.pk]), answers)
    assert answer.status_code == 422
    assert "Nothing was changed" in answer.content.decode()


def test_a_quote_about_to_end_is_counted_down_and_an_expired_one_is_named(client_of_a: Client) -> None:
    from apps.web.portfolio import cards

    assessment = factories.make_assessment(client=client_of_a)
    phase = factories.make_option_phase(
        client=client_of_a, option=factories.make_option(client=client_of_a, assessment=assessment)
    )
    version = factories.make_quote_version(client=client_of_a)
    phase.quote_version = version
    phase.save()
    user = factories.make_member(client_of_a, Role.OWNER)
    today = timezone.localdate()
    for days, severity in ((30, ""), (14, "amber"), (0, "amber"), (-1, "red")):
        version.valid_until = today + timedelta(days=days)
        version.save()
        (card,) = cards(user, today)
        assert card.validity_severity == severity


def test_the_number_of_queries_does_not_grow_with_the_portfolio(
    client_of_a: Client, django_assert_max_num_queries: Any
) -> None:
    browser = signed_in(factories.make_member(client_of_a, Role.OWNER))
    for _ in range(12):
        factories.make_option(client=client_of_a, assessment=factories.make_assessment(client=client_of_a))
    with django_assert_max_num_queries(15):
        browser.get(reverse("web:portfolio"))


def test_an_administrator_adds_and_removes_the_demo_with_one_click_each(client_of_a: Client) -> None:
    from django.core.management import call_command

    call_command("load_catalogue")
    user = factories.make_user()
    OrganisationMembership.objects.create(organisation=client_of_a.organisation, user=user, role="administrator")
    browser = signed_in(user)
    answer = browser.post(reverse("web:add_demo"))
    case = Assessment.objects.visible_to(user).get(client__name__startswith="Larkmere")
    assert answer["Location"] == reverse("web:decision", args=[case.pk])
    assert case.runs.count() == 1
    browser.post(reverse("web:remove_demo", args=[case.client_id]))
    assert not Assessment.objects.visible_to(user).filter(pk=case.pk).exists()


def test_a_real_client_is_never_removed_as_a_demo(client_of_a: Client) -> None:
    browser = signed_in(factories.make_member(client_of_a, Role.OWNER))
    assert browser.post(reverse("web:remove_demo", args=[client_of_a.pk])).status_code == 404
    assert Client.objects.filter(pk=client_of_a.pk, deleted_at=None).exists()
