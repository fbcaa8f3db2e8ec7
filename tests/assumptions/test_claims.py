"""The claim register: what ships, and how a client sees it differently."""

from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction

from apps.accounts.models import Role
from apps.accounts.permissions import SYSTEM
from apps.assumptions import selectors, services
from apps.assumptions.models import Claim
from apps.assumptions.product_defaults import FixtureError, load_claims, read_assumptions, read_claims
from apps.engine.errors import InputError
from tests.factories import make_client, make_member


def test_every_claim_says_what_a_check_found_and_whose_it_is() -> None:
    claims = read_claims()
    assert len(claims) == 46
    assert sum(claim.key.startswith("B-V") for claim in claims) == 10
    assert sum(claim.key.startswith("B-C") for claim in claims) == 16
    assert sum(claim.key.startswith("A-C") for claim in claims) == 20
    assert all(claim.source.startswith("Seed text on AI infrastructure (") for claim in claims)


def test_claims_rest_on_assumptions_that_exist() -> None:
    known = {value.key for value in read_assumptions()}
    resting = {key for claim in read_claims() for key in claim.assumption_keys}
    assert resting
    assert resting <= known


def test_no_claim_that_a_check_contradicts_is_accepted() -> None:
    doubtful = {Claim.Verdict.WRONG, Claim.Verdict.INCONSISTENT, Claim.Verdict.UNSOURCED}
    assert [claim.key for claim in read_claims() if claim.verdict in doubtful and claim.status == "accepted"] == []


@pytest.mark.django_db
def test_a_client_judges_a_claim_for_itself_alone() -> None:
    load_claims()
    client, other = make_client(), make_client()
    services.judge_claim(by=SYSTEM, client=client, key="B-C1", status="own_data", reason="three quotes of our own")
    seen = {claim.key: claim for claim in selectors.claims(client=client)}
    assert (seen["B-C1"].status, seen["B-C1"].reason) == ("own_data", "three quotes of our own")
    assert len(seen) == 46
    assert {claim.key: claim.status for claim in selectors.claims(client=other)}["B-C1"] == "contested"
    assert "rule.C3.min_gpus" not in selectors.contested_claims_by_assumption(client=client)
    assert "rule.C3.min_gpus" in selectors.contested_claims_by_assumption(client=other)
    services.judge_claim(by=SYSTEM, client=client, key="B-C1", status="accepted", reason="checked twice")
    assert Claim.objects.filter(client=client).count() == 1


@pytest.mark.django_db
def test_claims_stand_in_the_order_of_their_numbers() -> None:
    load_claims()
    keys = [claim.key for claim in selectors.claims(client=None)]
    assert keys.index("B-C2") < keys.index("B-C10")
    assert {claim.topic for claim in selectors.claims(client=None, topic="velocity")} == {"velocity"}


@pytest.mark.django_db
def test_a_client_adds_its_own_claim_once() -> None:
    load_claims()
    client = make_client()
    values = {"key": "N-1", "topic": "cost", "statement": "Nodes get 10 % cheaper.", "source": "Vendor talk, 2026-11"}
    claim = services.add_claim(by=SYSTEM, client=client, **values)  # type: ignore[arg-type]
    assert (claim.verdict, claim.status) == ("unsourced", "contested")
    for key in ("N-1", "B-C1"):
        with pytest.raises(InputError):
            services.add_claim(by=SYSTEM, client=client, **values | {"key": key})  # type: ignore[arg-type]
    assert "N-1" not in {claim.key for claim in selectors.claims(client=make_client())}


@pytest.mark.django_db
def test_a_judgement_needs_a_role_and_a_reason() -> None:
    load_claims()
    client = make_client()
    with pytest.raises(InputError):
        services.judge_claim(by=SYSTEM, client=client, key="B-C1", status="accepted", reason=" ")
    viewer = make_member(client, Role.VIEWER)
    with pytest.raises(PermissionDenied):
        services.judge_claim(by=viewer, client=client, key="B-C1", status="accepted", reason="so")


@pytest.mark.django_db
def test_the_database_holds_a_claim_once_for_each_client() -> None:
    load_claims()
    with pytest.raises(IntegrityError), transaction.atomic():
        Claim.objects.create(key="B-C1", topic="x", statement="x", check_text="x", verdict="holds", status="accepted")


def test_a_bad_cell_is_told_with_file_row_and_field(tmp_path: Path) -> None:
    head = "key,topic,statement,check_text,verdict,status,assumption_keys,source,as_of\n"
    path = tmp_path / "claims.csv"
    path.write_text(head + "X-1,cost,A,B,true,accepted,,Seed text X,2026\n")
    with pytest.raises(FixtureError, match=r"^claims\.csv, row 2, verdict: is 'true'"):
        read_claims(path)
