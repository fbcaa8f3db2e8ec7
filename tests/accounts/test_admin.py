"""Django's administration opens for staff and shows no secret."""

import pytest
from django.contrib import admin
from django.test import Client as Browser
from django.urls import reverse

from apps.accounts.models import AuditEntry
from tests.factories import FACTORIES, make_audit_entry, make_client, make_invitation, make_user, make_user_session


@pytest.fixture
def staff(db: None) -> Browser:
    browser = Browser()
    browser.force_login(make_user(is_staff=True, is_superuser=True))
    return browser


@pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model.__name__)
def test_every_list_opens(staff: Browser, model: type) -> None:
    if model in FACTORIES:
        FACTORIES[model]()
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    assert staff.get(reverse(name)).status_code == 200


def test_a_person_can_be_added_without_a_user_name(staff: Browser) -> None:
    values = {
        "email": "Nia@Example.test",
        "display_name": "Nia",
        "usable_password": "true",
        "password1": "a fine passphrase 3",
        "password2": "a fine passphrase 3",
    }
    assert staff.post(reverse("admin:accounts_user_add"), values).status_code == 302
    from apps.accounts.models import User

    assert User.objects.get(email="nia@example.test").check_password("a fine passphrase 3")


def test_audit_entries_cannot_be_changed_or_deleted(staff: Browser) -> None:
    entry = make_audit_entry(client=make_client())
    url = reverse("admin:accounts_auditentry_change", args=[entry.pk])
    assert staff.post(url, {"action": "x"}).status_code == 403
    assert staff.post(reverse("admin:accounts_auditentry_delete", args=[entry.pk]), {"post": "yes"}).status_code == 403
    assert AuditEntry.objects.filter(pk=entry.pk, action=entry.action).exists()


def test_hashes_and_session_keys_are_not_shown(staff: Browser) -> None:
    invitation, session = make_invitation(), make_user_session()
    pages = [
        staff.get(reverse("admin:accounts_invitation_change", args=[invitation.pk])),
        staff.get(reverse("admin:accounts_usersession_change", args=[session.pk])),
    ]
    for page in pages:
        assert page.status_code == 200
        assert invitation.secret_sha256 not in page.content.decode()
        assert session.session_key not in page.content.decode()
