"""Configurations: their templates, what is refused, who sees them."""

from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import ProtectedError

from apps.accounts.models import Role
from apps.accounts.permissions import SYSTEM
from apps.engine.errors import InputError
from apps.racks import selectors, services
from apps.racks.models import RackConfiguration
from apps.racks.templates import CHOICES, TEMPLATES
from tests.factories import make_client, make_membership, make_option_phase, make_rack_configuration

pytestmark = pytest.mark.django_db


@pytest.fixture
def customer():
    return make_client()


def create(customer, **values):
    return services.create_configuration(
        by=SYSTEM, client=customer, assessment_id=None, template="dgx_class", name="16 nodes", values=values
    )


def test_every_template_names_fields_that_exist():
    fields = {field.name for field in RackConfiguration._meta.fields}
    assert set(TEMPLATES) == set(RackConfiguration.Template.values)
    for template in TEMPLATES.values():
        assert set(template.fields) | set(template.defaults) <= fields
        assert len(template.fields) == len(set(template.fields))
    assert set(CHOICES) <= fields


def test_every_field_of_a_configuration_is_asked_for_by_some_template():
    asked = {name for template in TEMPLATES.values() for name in template.fields}
    fields = {field.name for field in RackConfiguration._meta.fields}
    assert fields - asked == {
        "id", "client", "created_at", "updated_at", "assessment_id", "name", "template", "sources",
    }  # fmt: skip


def test_text_becomes_exact_numbers(customer):
    made = create(customer, nic_gbit_per_s="400", goodput_likely="0.93", n_accelerators=128)
    made.refresh_from_db()
    assert (made.nic_gbit_per_s, made.goodput_likely) == (Decimal(400), Decimal("0.93"))


@pytest.mark.parametrize(
    "values",
    [
        {"topology": "ring"},
        {"goodput_likely": "1.2"},
        {"goodput_low": "0.9", "goodput_likely": "0.8", "goodput_high": "0.95"},
        {"goodput_low": "0.9"},
        {"client": "x"},
        {"colour": "blue"},
    ],
)
def test_a_configuration_refuses_what_cannot_be(customer, values):
    with pytest.raises(InputError):
        create(customer, **values)


def test_a_value_that_is_no_number_is_refused(customer):
    with pytest.raises(ValidationError):
        create(customer, nic_gbit_per_s="fast")


def test_a_finance_reviewer_looks_but_does_not_change(customer):
    reviewer = make_membership(client=customer, role=Role.FINANCE_REVIEWER).user
    made = create(customer)
    assert selectors.get_configuration(reviewer, made.pk) == made
    with pytest.raises(PermissionDenied):
        services.update_configuration(by=reviewer, configuration=made, values={"topology": "flat"})


def test_a_configuration_of_another_client_does_not_exist(customer):
    analyst = make_membership(client=customer, role=Role.ANALYST).user
    with pytest.raises(RackConfiguration.DoesNotExist):
        selectors.get_configuration(analyst, make_rack_configuration().pk)


def test_a_configuration_in_use_is_not_deleted(customer):
    made = create(customer)
    make_option_phase(client=customer, configuration=made)
    with pytest.raises(ProtectedError):
        services.delete_configuration(by=SYSTEM, configuration=made)
