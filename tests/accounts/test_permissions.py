"""Roles and actions: what the table says, and nothing else (reliability W-T1)."""

import re
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.accounts.models import AppendOnlyError, AuditEntry, Client, Role
from apps.accounts.permissions import (
    ACTION_MEANINGS,
    ACTIONS,
    SYSTEM,
    NotVisible,
    allowed_actions,
    can,
    require,
    role_of,
)
from apps.accounts.services import record
from tests.factories import make_client, make_member, make_membership, make_user

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "roles.md"


def table_in_the_document() -> dict[str, dict[str, str]]:
    """Action -> role -> yes or no, as docs/roles.md has it."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in DOCUMENT.read_text().splitlines()
        if line.startswith("|")
    ]
    head, _rule, *body = rows
    return {row[0].strip("`"): dict(zip(head[2:], row[2:], strict=True)) for row in body}


def test_the_document_has_the_table_of_the_code() -> None:
    expected = {
        action: {str(role.label): "yes" if action in ACTIONS[role] else "no" for role in Role}
        for action in ACTION_MEANINGS
    }
    assert table_in_the_document() == expected


def test_the_document_gives_the_meaning_of_each_action() -> None:
    text = DOCUMENT.read_text()
    for action, meaning in ACTION_MEANINGS.items():
        assert re.search(rf"\| `{action}` \| {re.escape(str(meaning))} \|", text), action


@pytest.mark.django_db
@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("action", list(ACTION_MEANINGS))
def test_each_role_may_do_what_the_table_says_and_nothing_else(role: Role, action: str) -> None:
    client = make_client()
    user = make_member(client, role)
    expected = action in ACTIONS[role]
    assert can(user, client, action) is expected
    assert (action in allowed_actions(user, client)) is expected
    if expected:
        require(user, client, action)
    else:
        with pytest.raises(PermissionDenied):
            require(user, client, action)


@pytest.mark.django_db
@pytest.mark.parametrize("action", list(ACTION_MEANINGS))
def test_without_a_role_a_client_does_not_exist(action: str) -> None:
    client = make_client()
    stranger = make_member(make_client(), Role.OWNER)
    closed = make_member(client, Role.OWNER, is_active=False)
    for user in (stranger, closed, make_user(is_staff=True, is_superuser=True)):
        assert not can(user, client, action)
        with pytest.raises(NotVisible):
            require(user, client, action)
    assert issubclass(NotVisible, Http404)


@pytest.mark.django_db
def test_an_unknown_action_is_an_error_and_never_a_no() -> None:
    with pytest.raises(ValueError, match="it must be one of"):
        can(make_user(), make_client(), "vew")


@pytest.mark.django_db
def test_commands_pass_as_the_system_and_nobody_else_does() -> None:
    client = make_client()
    require(SYSTEM, client, "delete")
    assert role_of(SYSTEM, client) is None
    with pytest.raises(NotVisible):
        require(None, client, "view")  # type: ignore[arg-type]


@pytest.mark.django_db
def test_a_role_ends_with_the_membership_at_once() -> None:
    membership = make_membership(role=Role.OWNER)
    assert can(membership.user, membership.client, "delete")
    membership.delete()
    assert not can(membership.user, membership.client, "view")


# audit ----------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_audit_entries_are_added_and_never_changed() -> None:
    user, client = make_user(), make_client()
    entry = record(actor=user, action="quote.imported", client=client, subject="Q-1", details={"lines": 4})
    assert entry.organisation_id == client.organisation_id
    entry.action = "nothing.happened"
    attempts = [
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(action="x"),
        lambda: AuditEntry.objects.bulk_update([entry], ["action"]),
    ]
    for attempt in attempts:
        with pytest.raises(AppendOnlyError):
            attempt()
    assert AuditEntry.objects.get().action == "quote.imported"


@pytest.mark.django_db
def test_the_system_is_recorded_without_a_person() -> None:
    assert record(actor=SYSTEM, action="run.failed", client=make_client()).actor is None


@pytest.mark.django_db
def test_a_deleted_person_leaves_the_entries() -> None:
    user, client = make_user(), make_client()
    record(actor=user, action="quote.imported", client=client)
    user.delete()
    assert AuditEntry.objects.get().actor is None


@pytest.mark.django_db
def test_nobody_reaches_a_client_that_is_marked_deleted() -> None:
    from django.utils import timezone

    client = make_client()
    user = make_member(client)
    Client.objects.filter(pk=client.pk).update(deleted_at=timezone.now())
    client.refresh_from_db()
    with pytest.raises(NotVisible):
        require(user, client, "view")
