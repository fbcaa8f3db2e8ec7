"""Clients, members and invitations."""

import re
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connections
from django.http import Http404
from django.test import Client as Browser
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from apps.accounts import selectors, services
from apps.accounts.models import AuditEntry, Client, Invitation, Membership, OutboxMessage, Role, User
from apps.accounts.permissions import SYSTEM, NotVisible
from tests.factories import (
    FACTORIES,
    PASSWORD,
    make_client,
    make_invitation,
    make_member,
    make_option_phase,
    make_organisation,
    make_organisation_membership,
    make_quote_version,
    make_user,
)
from tests.tenancy.test_factories import CLIENT_OWNED


# clients --------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_an_administrator_makes_a_client_and_owns_it() -> None:
    admin = make_organisation_membership()
    client = services.create_client(actor=admin.user, organisation=admin.organisation, name=" Larkmere ")
    assert client.name == "Larkmere"
    assert selectors.role_of(admin.user, client) == Role.OWNER
    assert AuditEntry.objects.filter(action="client.created", client=client, actor=admin.user).exists()


@pytest.mark.django_db
def test_only_an_administrator_makes_clients() -> None:
    member = make_organisation_membership(role="member")
    with pytest.raises(NotVisible):
        services.create_client(actor=member.user, organisation=member.organisation, name="Mine")
    with pytest.raises(NotVisible):
        services.create_client(actor=make_user(), organisation=member.organisation, name="Mine")


@pytest.mark.django_db
def test_an_administrator_sees_no_client_without_a_role(sign_in, client_a: Client) -> None:
    admin = make_organisation_membership(organisation=client_a.organisation).user
    assert not selectors.clients_visible_to(admin).exists()
    page = sign_in(admin).get(reverse("web:organisation", args=[client_a.organisation_id])).content.decode()
    assert client_a.name not in page


@pytest.mark.django_db
def test_a_name_is_unique_in_its_organisation_and_free_in_others() -> None:
    client = make_client(name="Larkmere")
    with pytest.raises(ValidationError, match="has that name"):
        services.create_client(actor=SYSTEM, organisation=client.organisation, name="larkmere")
    assert services.create_client(actor=SYSTEM, organisation=make_organisation(), name="Larkmere").name == "Larkmere"


@pytest.mark.django_db
def test_only_staff_of_the_installation_make_organisations() -> None:
    with pytest.raises(NotVisible):
        services.create_organisation(actor=make_user(), name="Mine", administrator=make_user())
    root = make_user(is_superuser=True)
    organisation = services.create_organisation(actor=root, name="Consultancy", administrator=(admin := make_user()))
    assert list(selectors.organisations_administered_by(admin)) == [organisation]


@pytest.mark.django_db
def test_an_owner_renames_the_client_and_an_analyst_does_not(sign_in, client_a: Client, owner: User) -> None:
    url = reverse("web:client_settings", args=[client_a.pk])
    sign_in(owner).post(url, {"name": "Larkmere Robotics"})
    client_a.refresh_from_db()
    assert client_a.name == "Larkmere Robotics"
    analyst = make_member(client_a, Role.ANALYST)
    assert sign_in(analyst).post(url, {"name": "Mine"}).status_code == 403
    with pytest.raises(PermissionDenied):
        services.rename_client(actor=analyst, client=client_a, name="Mine")


@pytest.mark.django_db(transaction=True)
def test_deleting_a_client_takes_every_row_and_file_of_it_and_of_no_other(owner: User, client_a: Client) -> None:
    other = make_client()
    for client in (client_a, other):
        for model in CLIENT_OWNED:
            FACTORIES[model](client=client)
        make_option_phase(client=client, quote_version=make_quote_version(client=client))  # protects both
        default_storage.save(f"{services.client_directory(str(client.pk))}/quote.csv", ContentFile(b"x"))
    kept = {model: model.objects.of_client(other).count() for model in CLIENT_OWNED}
    services.delete_client(actor=owner, client=client_a, typed_name="Larkmere")
    for model in CLIENT_OWNED:
        assert not model.unscoped.exclude(client=other).exists(), model.__name__
        assert model.objects.of_client(other).count() == kept[model], model.__name__
    assert not Client.objects.filter(name="Larkmere").exists()
    folder = Path(settings.STORAGES["default"]["OPTIONS"]["location"]) / "clients"
    assert (folder / str(other.pk)).exists()
    assert not (folder / str(client_a.pk)).exists()
    entry = AuditEntry.objects.get(action="client.deleted")
    assert entry.client is None
    assert entry.organisation_id == client_a.organisation_id


@pytest.mark.django_db
def test_deleting_asks_for_the_name(sign_in, owner: User, client_a: Client) -> None:
    browser = sign_in(owner)
    url = reverse("web:delete_client", args=[client_a.pk])
    response = browser.post(url, {"typed_name": "Larkmeer"})
    assert response.status_code == 422
    assert "it must be" in response.content.decode()
    assert Client.objects.filter(pk=client_a.pk).exists()
    assert browser.post(url, {"typed_name": "Larkmere"}).status_code == 302
    assert not Client.objects.filter(pk=client_a.pk).exists()


# members --------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_a_viewer_sees_members_but_neither_invitations_nor_buttons(sign_in, client_a: Client, owner: User) -> None:
    make_invitation(client=client_a, email="guest@example.test")
    viewer = make_member(client_a, Role.VIEWER)
    page = sign_in(viewer).get(reverse("web:client_people", args=[client_a.pk])).content.decode()
    assert owner.email in page
    assert "guest@example.test" not in page
    assert "/remove/" not in page
    with pytest.raises(PermissionDenied):
        selectors.invitations_of(viewer, client_a)


@pytest.mark.django_db
def test_the_last_owner_can_neither_leave_nor_step_down(sign_in, client_a: Client, owner: User) -> None:
    membership = Membership.objects.get(user=owner, client=client_a)
    with pytest.raises(ValidationError, match="last owner"):
        services.remove_member(actor=owner, membership=membership)
    with pytest.raises(ValidationError, match="last owner"):
        services.change_role(actor=owner, membership=membership, role=Role.VIEWER)
    page = sign_in(owner).post(reverse("web:remove_member", args=[client_a.pk, membership.pk]), follow=True)
    assert "last owner" in page.content.decode()
    make_member(client_a, Role.OWNER)
    services.change_role(actor=owner, membership=membership, role=Role.VIEWER)
    assert selectors.role_of(owner, client_a) == Role.VIEWER


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_remove_each_other_at_once_leave_one(client_a: Client) -> None:
    first, second = make_member(client_a), make_member(client_a)
    start = threading.Barrier(2)
    outcomes: list[str] = []

    def remove(actor: User, person: User) -> None:
        membership = Membership.objects.get(user=person, client=client_a)
        start.wait(timeout=30)
        try:
            services.remove_member(actor=actor, membership=membership)
            outcomes.append("removed")
        except (ValidationError, Http404):
            outcomes.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=remove, args=pair) for pair in ((first, second), (second, first))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(outcomes) == ["refused", "removed"]
    assert Membership.objects.filter(client=client_a, role=Role.OWNER).count() == 1


@pytest.mark.django_db
def test_a_removed_person_is_refused_at_the_next_request_and_signed_out(sign_in, client_a: Client, owner: User) -> None:
    analyst = make_member(client_a, Role.ANALYST)
    browser = sign_in(analyst)
    url = reverse("web:client_people", args=[client_a.pk])
    assert browser.get(url).status_code == 200
    membership = Membership.objects.get(user=analyst, client=client_a)
    sign_in(owner).post(reverse("web:remove_member", args=[client_a.pk, membership.pk]))
    assert browser.get(url)["Location"].startswith(reverse("account_login"))
    assert sign_in(analyst).get(url).status_code == 404


@pytest.mark.django_db
def test_roles_change_on_the_page_and_are_recorded(sign_in, client_a: Client, owner: User) -> None:
    analyst = make_member(client_a, Role.ANALYST)
    membership = Membership.objects.get(user=analyst, client=client_a)
    url = reverse("web:change_role", args=[client_a.pk, membership.pk])
    sign_in(owner).post(url, {"role": "architect"})
    assert selectors.role_of(analyst, client_a) == Role.ARCHITECT
    entry = AuditEntry.objects.get(action="member.role_changed")
    assert entry.details == {"role": "architect", "earlier_role": "analyst"}
    sign_in(owner).post(url, {"role": "emperor"})
    assert selectors.role_of(analyst, client_a) == Role.ARCHITECT
    assert sign_in(analyst).post(url, {"role": "owner"}).status_code == 403


# invitations ----------------------------------------------------------------------------------------------------------
NEW_ACCOUNT = {"display_name": "Nia", "password": PASSWORD, "password_again": PASSWORD}


def invite(browser: Browser, client: Client, email: str = "nia@example.test", role: str = "analyst") -> str:
    """The path of a new invitation link, read from the page."""
    page = browser.post(reverse("web:invite", args=[client.pk]), {"email": email, "role": role}).content.decode()
    return re.search(r"http://testserver(/invitations/[^/]+/)", page)[1]


@pytest.mark.django_db
def test_a_new_person_accepts_makes_an_account_and_sees_the_client(sign_in, client_a: Client, owner: User) -> None:
    link = invite(sign_in(owner), client_a, "Nia@Example.test")
    guest = Browser()
    page = guest.get(link).content.decode()
    assert "nia@example.test" in page
    assert guest.post(link, {**NEW_ACCOUNT, "password_again": "other"}).status_code == 422
    assert guest.post(link, NEW_ACCOUNT).status_code == 302
    assert guest.get(reverse("web:client_people", args=[client_a.pk])).status_code == 200
    person = User.objects.get(email="nia@example.test")
    assert selectors.role_of(person, client_a) == Role.ANALYST
    assert guest.get(link).status_code == 404
    assert AuditEntry.objects.filter(action="invitation.accepted", actor=person).exists()


@pytest.mark.django_db
def test_only_a_hash_of_the_secret_is_kept(sign_in, client_a: Client, owner: User) -> None:
    browser = sign_in(owner)
    link = invite(browser, client_a)
    secret = link.rstrip("/").rsplit("/", 1)[1]
    invitation = Invitation.objects.of_client(client_a).get()
    assert secret not in str(vars(invitation))
    assert invitation.secret_sha256 == services.hash_secret(secret)
    assert secret not in browser.get(reverse("web:client_people", args=[client_a.pk])).content.decode()
    assert secret not in str(list(AuditEntry.objects.values()))


@pytest.mark.django_db
def test_a_person_with_an_account_signs_in_to_accept(sign_in, client_a: Client, owner: User) -> None:
    known = make_user(email="nia@example.test")
    link = invite(sign_in(owner), client_a)
    assert "Sign in to accept" in Browser().get(link).content.decode()
    assert Browser().post(link, NEW_ACCOUNT).status_code == 200
    assert not Membership.objects.filter(user=known).exists()
    browser = sign_in(known)
    assert browser.post(link).status_code == 302
    assert selectors.role_of(known, client_a) == Role.ANALYST


@pytest.mark.django_db
def test_a_link_for_another_address_gives_nothing(sign_in, client_a: Client, owner: User) -> None:
    link = invite(sign_in(owner), client_a)
    other = make_user()
    page = sign_in(other).post(link).content.decode()
    assert "Sign out" in page
    assert selectors.role_of(other, client_a) is None
    with pytest.raises(ValidationError, match="another mail address"):
        services.accept_invitation(secret=link.rstrip("/").rsplit("/", 1)[1], user=other)


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["expired", "revoked", "accepted"])
def test_links_that_no_longer_work_look_like_unknown_ones(state: str) -> None:
    now = timezone.now()
    values = {
        "expired": {"expires_at": now - timedelta(seconds=1)},
        "revoked": {"revoked_at": now},
        "accepted": {"accepted_at": now},
    }[state]
    make_invitation(secret="spent", **values)
    for method in ("get", "post"):
        spent = getattr(Browser(), method)(reverse("web:invitation", args=["spent"]))
        unknown = getattr(Browser(), method)(reverse("web:invitation", args=["never"]))
        assert (spent.status_code, spent.content) == (unknown.status_code, unknown.content)
        assert spent.status_code == 404


@pytest.mark.django_db
def test_an_owner_revokes_and_a_new_invitation_replaces_the_old(sign_in, client_a: Client, owner: User) -> None:
    browser = sign_in(owner)
    first = invite(browser, client_a)
    second = invite(browser, client_a)
    assert Browser().get(first).status_code == 404
    assert Browser().get(second).status_code == 200
    open_one = selectors.invitations_of(owner, client_a).get()
    browser.post(reverse("web:revoke_invitation", args=[client_a.pk, open_one.pk]))
    assert Browser().get(second).status_code == 404


@pytest.mark.django_db
def test_members_are_not_invited_again(sign_in, client_a: Client, owner: User) -> None:
    url = reverse("web:invite", args=[client_a.pk])
    response = sign_in(owner).post(url, {"email": owner.email, "role": "viewer"})
    assert response.status_code == 422
    assert "has a role" in response.content.decode()


@pytest.mark.django_db
def test_with_a_mail_server_the_link_is_mailed_and_not_shown(sign_in, client_a: Client, owner: User) -> None:
    with override_settings(EMAIL_URL_HOST="mail.test"):
        page = sign_in(owner).post(
            reverse("web:invite", args=[client_a.pk]), {"email": "nia@example.test", "role": "viewer"}, follow=True
        )
    assert "/invitations/" not in re.sub(r"/invitations/[0-9a-f-]{36}/revoke/", "", page.content.decode())
    message = OutboxMessage.objects.get()
    assert message.payload["to"] == ["nia@example.test"]
    link = re.search(r"http://testserver(\S+)", message.payload["body"])[1]
    assert Browser().get(link).status_code == 200


@pytest.mark.django_db
def test_guessing_links_is_limited_by_address() -> None:
    url = reverse("web:invitation", args=["guess"])
    statuses = [Browser().get(url).status_code for _ in range(11)]
    assert statuses == [404] * 10 + [429]
    assert Browser().get(url, REMOTE_ADDR="192.0.2.9").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_one_link_accepted_twice_at_once_gives_one_role(client_a: Client) -> None:
    person = make_user(email="nia@example.test")
    make_invitation(client=client_a, email=person.email, secret="one")
    start = threading.Barrier(4)
    outcomes: list[str] = []

    def accept() -> None:
        start.wait(timeout=30)
        try:
            services.accept_invitation(secret="one", user=person)
            outcomes.append("accepted")
        except Http404:
            outcomes.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=accept) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(outcomes) == ["accepted", "refused", "refused", "refused"]
    assert Membership.objects.filter(user=person, client=client_a).count() == 1


# audit log ------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_the_audit_log_is_for_owners(sign_in, client_a: Client, owner: User) -> None:
    services.record(actor=owner, action="quote.imported", client=client_a, subject="Q-17")
    url = reverse("web:audit_log", args=[client_a.pk])
    assert "Q-17" in sign_in(owner).get(url).content.decode()
    assert sign_in(make_member(client_a, Role.VIEWER)).get(url).status_code == 403
