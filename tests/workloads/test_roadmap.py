"""Roadmap items: order, confirmation, refusals, who sees them."""

from datetime import date
from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied

from apps.accounts.models import Role
from apps.accounts.permissions import SYSTEM
from apps.engine.errors import InputError
from apps.workloads import selectors, services
from apps.workloads.models import RoadmapItem
from tests.factories import make_assessment, make_membership, make_roadmap_item

pytestmark = pytest.mark.django_db


@pytest.fixture
def assessment():
    return make_assessment()


def add(assessment, **values):
    return services.add_roadmap_item(
        by=SYSTEM, assessment=assessment, values={"name": "7 B", "first_quarter": 0, "last_quarter": 1, **values}
    )


def test_items_are_listed_in_the_order_of_time(assessment):
    analyst = make_membership(client=assessment.client, role=Role.ANALYST).user
    later = add(assessment, first_quarter=3, last_quarter=5, name="70 B MoE")
    first = add(assessment, parameters_billion="7")
    assert list(selectors.roadmap_of(analyst, assessment)) == [first, later]
    assert first.parameters_billion == Decimal(7)


def test_a_change_takes_the_architects_confirmation_away(assessment):
    item = add(assessment, architect_confirmed_on="2026-11-20")
    services.update_roadmap_item(by=SYSTEM, item=item, values={"experts": 64})
    item.refresh_from_db()
    assert item.architect_confirmed_on is None
    services.update_roadmap_item(by=SYSTEM, item=item, values={"architect_confirmed_on": "2026-11-21"})
    item.refresh_from_db()
    assert item.architect_confirmed_on == date(2026, 11, 21)


def test_an_item_does_not_end_before_it_begins(assessment):
    with pytest.raises(InputError, match="last_quarter"):
        add(assessment, first_quarter=3, last_quarter=2)


def test_a_viewer_adds_nothing(assessment):
    viewer = make_membership(client=assessment.client, role=Role.VIEWER).user
    with pytest.raises(PermissionDenied):
        services.add_roadmap_item(by=viewer, assessment=assessment, values={"name": "7 B"})


def test_an_item_of_another_client_does_not_exist(assessment):
    analyst = make_membership(client=assessment.client, role=Role.ANALYST).user
    with pytest.raises(RoadmapItem.DoesNotExist):
        selectors.get_roadmap_item(analyst, make_roadmap_item().pk)


def test_a_removed_item_is_gone(assessment):
    item = add(assessment)
    services.remove_roadmap_item(by=SYSTEM, item=item)
    assert not RoadmapItem.objects.of_client(assessment.client).exists()
