"""Four layers, versions, withdrawal: which value counts, and what stays readable."""

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import Http404

from apps.accounts.models import AuditEntry, OrganisationMembership, Role
from apps.accounts.permissions import SYSTEM
from apps.assumptions import selectors, services
from apps.assumptions.models import AssumptionValue
from apps.engine.errors import InputError
from tests.factories import make_client, make_member, make_organisation_membership

pytestmark = pytest.mark.django_db
KEY = "discount_rate"


@pytest.fixture(autouse=True)
def product_layer() -> None:
    AssumptionValue.objects.create(
        key=KEY, version=1, label="Discount rate", unit="per year", topic="price", status="memory",
        likely="0.09", low="0.06", high="0.14", source="A product default",
    )  # fmt: skip
    AssumptionValue.objects.create(key="pue", version=1, label="PUE", unit="ratio", topic="performance", source="none")


@pytest.fixture
def place() -> dict[str, Any]:
    client = make_client()
    return {"organisation": client.organisation, "client": client, "assessment_id": uuid.uuid4()}


def resolved(place: dict[str, Any]) -> selectors.ResolvedAssumption:
    return selectors.resolve(**place)[KEY]


def put(likely: str, **layer: Any) -> AssumptionValue:
    return services.set_assumption(by=SYSTEM, key=KEY, likely=Decimal(likely), source="Treasury", **layer)


def test_the_product_default_counts_while_nobody_set_another(place: dict[str, Any]) -> None:
    found = resolved(place)
    assert (found.layer, found.likely, found.low, found.high) == ("product", *map(Decimal, ("0.09", "0.06", "0.14")))
    assert (found.label, found.unit, found.topic, found.status) == ("Discount rate", "per year", "price", "memory")


def test_the_strongest_layer_wins_in_its_latest_version(place: dict[str, Any]) -> None:
    client = place["client"]
    put("0.08", organisation=client.organisation)
    assert resolved(place).layer == "organisation"
    put("0.07", client=client)
    assert resolved(place).layer == "client"
    put("0.061", client=client, assessment_id=place["assessment_id"])
    put("0.062", client=client, assessment_id=place["assessment_id"])
    put("0.10", client=client)
    found = resolved(place)
    assert (found.layer, found.likely, found.version) == ("assessment", Decimal("0.062"), 2)
    assert (found.label, found.unit) == ("Discount rate", "per year")


def test_a_withdrawn_value_falls_through_to_the_next_weaker_layer(place: dict[str, Any]) -> None:
    client = place["client"]
    put("0.08", organisation=client.organisation)
    put("0.07", client=client)
    services.withdraw_assumption(by=SYSTEM, client=client, key=KEY, reason="policy changed")
    assert (resolved(place).layer, resolved(place).likely) == ("organisation", Decimal("0.08"))
    services.withdraw_assumption(by=SYSTEM, organisation=client.organisation, key=KEY)
    assert resolved(place).layer == "product"
    with pytest.raises(InputError):
        services.withdraw_assumption(by=SYSTEM, client=client, key=KEY)


def test_restoring_an_old_version_adds_a_new_one(place: dict[str, Any]) -> None:
    client = place["client"]
    first = put("0.07", client=client)
    put("0.08", client=client)
    restored = services.restore_version(by=SYSTEM, value=first)
    assert (restored.version, restored.likely) == (3, Decimal("0.07"))
    assert [value.version for value in selectors.history(key=KEY, **place) if value.client_id] == [3, 2, 1]


def test_values_of_other_clients_organisations_and_assessments_do_not_count(place: dict[str, Any]) -> None:
    other = make_client()
    put("0.01", client=other)
    put("0.02", organisation=other.organisation)
    put("0.03", client=place["client"], assessment_id=uuid.uuid4())
    put("0.04", client=make_client(organisation=place["organisation"]))
    assert resolved(place).layer == "product"


@pytest.mark.parametrize("n_versions", [1, 40])
def test_resolving_takes_one_query(place: dict[str, Any], n_versions: int, django_assert_num_queries: Any) -> None:
    for number in range(n_versions):
        put(f"0.{number + 10}", client=place["client"])
    with django_assert_num_queries(1):
        selectors.resolve(**place)


def test_a_key_without_a_value_is_not_given(place: dict[str, Any]) -> None:
    found = selectors.resolve(**place)["pue"]
    assert (found.likely, found.given, found.confirmed) == (None, False, False)


def test_a_recalled_default_is_a_proposal_until_somebody_sets_it(place: dict[str, Any]) -> None:
    assert resolved(place).given
    assert not resolved(place).confirmed
    put("0.09", client=place["client"])
    assert resolved(place).confirmed


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"key": "discont_rate"}, "key"),
        ({"likely": None}, "likely"),
        ({"low": Decimal("0.2")}, "low"),
        ({"high": Decimal("0.01")}, "high"),
        ({"likely": Decimal("NaN")}, "likely"),
        ({"source": " "}, "source"),
        ({"distribution": "normal"}, "distribution"),
        ({"status": "good"}, "status"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(
    place: dict[str, Any], change: dict[str, Any], named: str
) -> None:
    good: dict[str, Any] = {"key": KEY, "likely": Decimal("0.08"), "source": "Treasury"}
    with pytest.raises(InputError) as refusal:
        services.set_assumption(by=SYSTEM, client=place["client"], **good | change)
    assert refusal.value.name == named


def test_the_product_layer_is_read_only(place: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        put("0.5")
    with pytest.raises(InputError):
        put("0.5", assessment_id=place["assessment_id"])
    product = AssumptionValue.objects.get(key=KEY)
    with pytest.raises(InputError):
        services.restore_version(by=SYSTEM, value=product)


def test_roles_decide_who_may_set_a_value(place: dict[str, Any]) -> None:
    client = place["client"]
    analyst, viewer = make_member(client, Role.ANALYST), make_member(client, Role.VIEWER)
    value = services.set_assumption(by=analyst, client=client, key=KEY, likely=Decimal("0.08"), source="Treasury")
    assert value.author_label == str(analyst)
    with pytest.raises(PermissionDenied):
        services.set_assumption(by=viewer, client=client, key=KEY, likely=Decimal("0.08"), source="Treasury")
    with pytest.raises(Http404):
        services.set_assumption(by=analyst, client=make_client(), key=KEY, likely=Decimal("0.08"), source="Treasury")
    put_by: dict[str, Any] = {"by": analyst, "key": KEY, "likely": Decimal("0.08"), "source": "Treasury"}
    with pytest.raises(PermissionDenied):
        services.set_assumption(organisation=client.organisation, **put_by)


def test_an_administrator_sets_values_of_the_organisation(place: dict[str, Any]) -> None:
    membership = make_organisation_membership(
        organisation=place["organisation"], role=OrganisationMembership.Role.ADMINISTRATOR
    )
    services.set_assumption(
        by=membership.user, organisation=place["organisation"], key=KEY, likely=Decimal("0.08"), source="Board"
    )
    assert resolved(place).layer == "organisation"


def test_each_change_is_in_the_audit_log(place: dict[str, Any]) -> None:
    put("0.08", client=place["client"])
    services.withdraw_assumption(by=SYSTEM, client=place["client"], key=KEY)
    actions = AuditEntry.objects.filter(client=place["client"]).values_list("action", flat=True)
    assert sorted(actions) == ["assumption.set", "assumption.withdrawn"]


@pytest.mark.parametrize("layer", ["product", "organisation", "client", "assessment"])
def test_the_database_holds_each_version_once_on_each_layer(place: dict[str, Any], layer: str) -> None:
    columns: dict[str, Any] = {"key": "x", "version": 1, "source": "twice"}
    if layer != "product":
        columns["organisation"] = place["organisation"]
    if layer in ("client", "assessment"):
        columns["client"] = place["client"]
    if layer == "assessment":
        columns["assessment_id"] = place["assessment_id"]
    AssumptionValue.objects.create(**columns)
    with pytest.raises(IntegrityError), transaction.atomic():
        AssumptionValue.objects.create(**columns)


@pytest.mark.parametrize("value", ["1e40", "0.00000000000000000001"])
def test_a_number_that_no_column_holds_is_refused_instead_of_rounded(value: str) -> None:
    with pytest.raises(InputError, match="at most 10 decimals"):
        services.check_range(None, Decimal(value), None)
