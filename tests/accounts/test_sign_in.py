"""Signing in and out: limits, sessions, passwords, one-time codes (reliability W5, W-T3)."""

import re
import threading
import time
from datetime import timedelta
from unittest import mock

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.conf import settings
from django.contrib.auth.hashers import get_hasher
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client as Browser
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from apps.accounts import limits, passwords, services
from apps.accounts.models import AttemptCounter, AuditEntry, Client, Membership, PasswordResetLink, User, UserSession
from tests.factories import PASSWORD, make_organisation_membership, make_user

LOGIN = reverse("account_login")
ACCOUNT = reverse("web:account")


def try_password(browser: Browser, email: str, password: str, address: str = "127.0.0.1") -> bytes:
    response = browser.post(LOGIN, {"login": email, "password": password}, REMOTE_ADDR=address)
    return re.sub(rb'csrfmiddlewaretoken" value="[^"]+"', b"", response.content).replace(email.encode(), b"EMAIL")


def is_signed_in(browser: Browser) -> bool:
    return browser.get(ACCOUNT).status_code == 200


# the form -------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_the_right_password_signs_in_whatever_the_case_of_the_address(sign_in) -> None:
    user = make_user(email="lead@example.test")
    browser = Browser()
    response = browser.post(LOGIN, {"login": "Lead@Example.test", "password": PASSWORD})
    assert response.status_code == 302
    assert is_signed_in(browser)
    assert AuditEntry.objects.filter(actor=user, action="user.signed_in").exists()


@pytest.mark.django_db
def test_an_unknown_address_and_a_wrong_password_get_the_same_text() -> None:
    user = make_user()
    known = try_password(Browser(), user.email, "wrong password here")
    unknown = try_password(Browser(), "nobody@example.test", "wrong password here")
    assert known == unknown
    assert b"do not belong together" in known


@pytest.mark.django_db
def test_an_unknown_address_costs_as_much_hashing_as_a_known_one() -> None:
    user = make_user()
    hasher = type(get_hasher())
    counts = []
    for email in (user.email, "nobody@example.test"):
        with mock.patch.object(hasher, "encode", autospec=True, side_effect=hasher.encode) as encode:
            try_password(Browser(), email, "wrong password here")
        counts.append(encode.call_count)
    assert counts[0] == counts[1] == 1


@pytest.mark.django_db
def test_a_closed_account_is_not_signed_in(sign_in) -> None:
    browser = sign_in(make_user(is_active=False))
    assert not is_signed_in(browser)


@pytest.mark.django_db
def test_there_is_no_public_sign_up() -> None:
    assert Browser().get("/accounts/signup/").status_code == 404
    assert b"sign up" not in Browser().get(LOGIN).content.lower()


@pytest.mark.django_db
def test_a_next_address_on_another_host_is_not_followed() -> None:
    user = make_user()
    response = Browser().post(LOGIN, {"login": user.email, "password": PASSWORD, "next": "https://evil.test/"})
    assert response["Location"].startswith("/")


@pytest.mark.django_db
def test_staff_sign_in_where_everybody_does() -> None:
    response = Browser().get("/admin/", follow=True)
    assert response.request["PATH_INFO"] == LOGIN
    user = make_user(is_staff=True, is_superuser=True)
    stock_form = Browser().post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert stock_form["Location"].startswith(LOGIN)


# limits ---------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_the_sixth_wrong_password_is_refused_and_so_is_the_right_one_then() -> None:
    user = make_user()
    browser = Browser()
    for _ in range(5):
        assert b"do not belong together" in try_password(browser, user.email, "wrong password here")
    assert b"too many failed tries" in try_password(browser, user.email, "wrong password here")
    assert b"too many failed tries" in try_password(browser, user.email, PASSWORD)
    assert not is_signed_in(browser)


@pytest.mark.django_db
def test_a_refused_address_looks_the_same_whether_it_has_an_account() -> None:
    user = make_user()
    answers = []
    for email in (user.email, "nobody@example.test"):
        for _ in range(5):
            try_password(Browser(), email, "wrong password here")
        answers.append(try_password(Browser(), email, "wrong password here"))
    assert answers[0] == answers[1]


@pytest.mark.django_db
def test_failures_from_elsewhere_do_not_lock_a_person_out() -> None:
    user = make_user()
    for _ in range(6):
        try_password(Browser(), user.email, "wrong password here", address="192.0.2.7")
    browser = Browser()
    try_password(browser, user.email, PASSWORD, address="192.0.2.8")
    assert is_signed_in(browser)


@pytest.mark.django_db
def test_an_address_may_fail_fifty_times_an_hour_over_all_accounts() -> None:
    for number in range(50):
        assert b"do not belong together" in try_password(Browser(), f"p{number}@example.test", "wrong password here")
    assert b"too many failed tries" in try_password(Browser(), "p99@example.test", "wrong password here")


@pytest.mark.django_db
def test_old_failures_stop_counting_and_a_success_clears_them(monkeypatch) -> None:
    user = make_user()
    for _ in range(5):
        try_password(Browser(), user.email, "wrong password here")
    real = time.time
    monkeypatch.setattr(limits.time, "time", lambda: real() + 901)
    browser = Browser()
    for _ in range(4):
        try_password(browser, user.email, "wrong password here")
    assert b"too many" not in try_password(browser, user.email, PASSWORD)
    assert b"do not belong together" in try_password(Browser(), user.email, "wrong password here")


@pytest.mark.django_db
def test_counters_keep_no_mail_address_and_old_ones_are_dropped() -> None:
    user = make_user()
    try_password(Browser(), user.email, "wrong password here")
    assert AttemptCounter.objects.count() == 2
    AttemptCounter.objects.update(updated_at=timezone.now() - timedelta(days=2))
    limits.take("link_address", "192.0.2.1")
    assert AttemptCounter.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_fifty_tries_at_the_same_moment_five_are_looked_at() -> None:
    allowed: list[bool] = []
    errors: list[Exception] = []
    start = threading.Barrier(50)

    def attempt() -> None:
        try:
            start.wait(timeout=60)
            allowed.append(limits.take("sign_in_account", "lead@example.test", "192.0.2.1") is not None)
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=attempt) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not errors, f"{connection.vendor}: {errors[:3]}"
    assert len(allowed) == 50
    assert sum(allowed) == settings.ATTEMPT_LIMITS["sign_in_account"][0]


@pytest.mark.django_db(transaction=True)
def test_fifty_parallel_sign_in_posts_check_five_passwords() -> None:
    call_command("createcachetable", verbosity=0)
    user = make_user()
    answers: list[bytes] = []
    errors: list[Exception] = []

    def attempt() -> None:
        try:
            answers.append(try_password(Browser(), user.email, "wrong password here"))
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=attempt) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not errors, f"{connection.vendor}: {errors[:3]}"
    checked = sum(b"do not belong together" in answer for answer in answers)
    refused = sum(b"too many failed tries" in answer for answer in answers)
    assert (checked, refused) == (5, 45)


# sessions -------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_sign_in_gives_a_new_session_id(sign_in) -> None:
    browser = Browser()
    browser.get(LOGIN)
    session = browser.session
    session["planted"] = "by an attacker"
    session.save()
    planted = session.session_key
    browser.cookies[settings.SESSION_COOKIE_NAME] = planted
    sign_in(make_user(), browser=browser)
    assert is_signed_in(browser)
    assert browser.cookies[settings.SESSION_COOKIE_NAME].value != planted
    attacker = Browser()
    attacker.cookies[settings.SESSION_COOKIE_NAME] = planted
    assert not is_signed_in(attacker)


@pytest.mark.django_db
def test_sign_out_needs_a_post_and_kills_the_session(sign_in) -> None:
    browser = sign_in(make_user())
    stolen = browser.cookies[settings.SESSION_COOKIE_NAME].value
    browser.get(reverse("account_logout"))
    assert is_signed_in(browser)
    assert browser.post(reverse("account_logout"))["Location"] == LOGIN
    thief = Browser()
    thief.cookies[settings.SESSION_COOKIE_NAME] = stolen
    assert not is_signed_in(thief)
    assert not UserSession.objects.exists()


@pytest.mark.django_db
def test_signed_in_pages_are_not_kept_for_the_back_button(sign_in) -> None:
    assert "no-store" in sign_in(make_user()).get(ACCOUNT)["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "age_s"), [("seen_at", 8 * 3600 + 1), ("signed_in_at", 7 * 86400 + 1)])
def test_a_session_ends_when_idle_or_too_old(sign_in, name: str, age_s: int) -> None:
    browser = sign_in(make_user())
    session = browser.session
    session[name] = time.time() - age_s
    session.save()
    assert not is_signed_in(browser)


@pytest.mark.django_db
def test_a_used_session_is_noted_at_most_once_a_minute_and_never_by_a_page_that_refreshes_itself(sign_in) -> None:
    browser = sign_in(make_user())
    session = browser.session
    session["seen_at"] = seen = time.time() - 3600
    session.save()
    browser.get(ACCOUNT, headers={"HX-Request": "true"})
    assert browser.session["seen_at"] == seen
    browser.get(ACCOUNT)
    assert browser.session["seen_at"] > seen
    noted = browser.session["seen_at"]
    browser.get(ACCOUNT)
    assert browser.session["seen_at"] == noted


@pytest.mark.django_db
def test_sessions_are_listed_and_can_be_ended_one_by_one_or_all(sign_in) -> None:
    user = make_user()
    here, there, elsewhere = (sign_in(user, HTTP_USER_AGENT=name) for name in ("Here", "There", "Elsewhere"))
    page = here.get(ACCOUNT).content.decode()
    assert all(name in page for name in ("Here", "There", "Elsewhere"))
    other = UserSession.objects.get(browser="There")
    here.post(reverse("web:end_session", args=[other.pk]))
    assert not is_signed_in(there)
    assert is_signed_in(elsewhere)
    here.post(reverse("web:end_other_sessions"))
    assert not is_signed_in(elsewhere)
    assert is_signed_in(here)


@pytest.mark.django_db
def test_nobody_ends_another_persons_session(sign_in) -> None:
    victim = sign_in(make_user())
    other = UserSession.objects.get()
    attacker = sign_in(make_user())
    assert attacker.post(reverse("web:end_session", args=[other.pk])).status_code == 404
    assert is_signed_in(victim)


# passwords ------------------------------------------------------------------------------------------------------------
NEW = "quite another passphrase 9"


@pytest.mark.django_db
def test_a_password_change_ends_every_other_session_and_keeps_this_one(sign_in) -> None:
    user = make_user()
    here, stolen = sign_in(user), sign_in(user)
    values = {"current_password": PASSWORD, "password": NEW, "password_again": NEW}
    assert here.post(reverse("web:change_password"), values).status_code == 302
    assert is_signed_in(here)
    assert not is_signed_in(stolen)
    assert [row.session_key for row in UserSession.objects.filter(user=user)] == [here.session.session_key]
    user.refresh_from_db()
    assert user.check_password(NEW)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("password", "reason"),
    [("short", "12"), ("password1234", "common"), ("x" * 129, "128")],
)
def test_weak_and_endless_passwords_are_refused(sign_in, password: str, reason: str) -> None:
    browser = sign_in(make_user())
    values = {"current_password": PASSWORD, "password": password, "password_again": password}
    response = browser.post(reverse("web:change_password"), values)
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert 'aria-invalid="true"' in response.content.decode()


@pytest.mark.django_db
def test_the_current_password_is_needed_and_guessing_it_is_limited(sign_in) -> None:
    user = make_user()
    browser = sign_in(user)
    values = {"current_password": "guess number one", "password": NEW, "password_again": NEW}
    for _ in range(5):
        assert "not right" in browser.post(reverse("web:change_password"), values).content.decode()
    right = {**values, "current_password": PASSWORD}
    assert "too many failed tries" in browser.post(reverse("web:change_password"), right).content.decode()


@pytest.mark.django_db
def test_without_a_mail_server_the_reset_page_names_who_helps() -> None:
    page = Browser().get(reverse("web:password_reset")).content.decode()
    assert "administrator of your organisation" in page
    Browser().post(reverse("web:password_reset"), {"email": make_user().email})
    assert not PasswordResetLink.objects.exists()


@pytest.mark.django_db
def test_a_reset_by_mail_gives_one_answer_and_one_working_link(sign_in) -> None:
    user = make_user()
    stolen = sign_in(user)
    url = reverse("web:password_reset")
    with override_settings(EMAIL_URL_HOST="mail.test"):
        known = Browser().post(url, {"email": user.email}).content
        assert known == Browser().post(url, {"email": "nobody@example.test"}).content
    from apps.accounts.models import OutboxMessage

    message = OutboxMessage.objects.get()
    assert message.payload["to"] == [user.email]
    link = re.search(r"http://testserver(\S+)", message.payload["body"])[1]
    assert Browser().post(link, {"password": NEW, "password_again": NEW})["Location"] == LOGIN
    assert not is_signed_in(stolen)
    assert is_signed_in(sign_in(user, NEW))
    assert Browser().get(link).status_code == 404


@pytest.mark.django_db
def test_reset_mails_are_limited_and_each_link_replaces_the_one_before() -> None:
    user = make_user()
    with override_settings(EMAIL_URL_HOST="mail.test"):
        statuses = [Browser().post(reverse("web:password_reset"), {"email": user.email}).status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]
    assert PasswordResetLink.objects.filter(used_at=None).count() == 1


@pytest.mark.django_db
def test_an_administrator_resets_only_people_who_belong_to_nobody_else(sign_in, client_a: Client, owner: User) -> None:
    administrator = make_organisation_membership(organisation=client_a.organisation).user
    browser = sign_in(administrator)
    url = reverse("web:make_reset_link", args=[client_a.organisation_id, owner.pk])
    page = browser.post(url).content.decode()
    link = re.search(r"http://testserver(/password/new/[^/]+/)", page)[1]
    assert Browser().post(link, {"password": NEW, "password_again": NEW}).status_code == 302
    Membership.objects.create(client=services_client(), user=owner, role="viewer")
    browser.post(url)
    assert not PasswordResetLink.objects.filter(used_at=None).exists()
    with pytest.raises(Exception, match="not found"):
        passwords.make_reset_link(actor=administrator, organisation=client_a.organisation, person=owner)


def services_client() -> Client:
    organisation = make_organisation_membership().organisation
    return services.create_client(actor=services.SYSTEM, organisation=organisation, name="Elsewhere")


@pytest.mark.django_db
def test_an_expired_reset_link_looks_like_an_unknown_one() -> None:
    from tests.factories import make_password_reset_link

    make_password_reset_link(secret="old", expires_at=timezone.now() - timedelta(seconds=1))
    expired = Browser().get(reverse("web:password_new", args=["old"]))
    unknown = Browser().get(reverse("web:password_new", args=["never"]))
    assert (expired.status_code, expired.content) == (unknown.status_code, unknown.content)
    assert expired.status_code == 404


# one-time codes -------------------------------------------------------------------------------------------------------
def code_of(secret: str, steps: int = 0) -> str:
    counter = int(time.time()) // 30 + steps
    return totp.format_hotp_value(totp.hotp_value(secret, counter))


def switch_on_codes(browser: Browser) -> str:
    page = browser.get(reverse("mfa_activate_totp"))
    secret = page.context["form"].secret
    assert browser.post(reverse("mfa_activate_totp"), {"code": code_of(secret)}).status_code == 302
    return secret


@pytest.mark.django_db
def test_one_time_codes_can_be_switched_on_and_are_asked_for_then(sign_in) -> None:
    user = make_user()
    browser = sign_in(user)
    secret = switch_on_codes(browser)
    stored = Authenticator.objects.get(user=user, type="totp").data["secret"]
    assert secret not in stored
    second = sign_in(user)
    assert not is_signed_in(second)
    assert "not right" in second.post(reverse("mfa_authenticate"), {"code": "000000"}).content.decode()
    with mock.patch("allauth.mfa.totp.internal.auth.validate_totp_code", return_value=True):
        second.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    assert is_signed_in(second)


@pytest.mark.django_db
def test_a_recovery_code_signs_in_once(sign_in) -> None:
    user = make_user()
    browser = sign_in(user)
    switch_on_codes(browser)
    codes = Authenticator.objects.get(user=user, type="recovery_codes").wrap().get_unused_codes()
    assert codes[0] in browser.get(reverse("mfa_view_recovery_codes")).content.decode()
    second = sign_in(user)
    second.post(reverse("mfa_authenticate"), {"code": codes[0]})
    assert is_signed_in(second)
    third = sign_in(user)
    third.post(reverse("mfa_authenticate"), {"code": codes[0]})
    assert not is_signed_in(third)


@pytest.mark.django_db
def test_wrong_one_time_codes_are_limited(sign_in) -> None:
    user = make_user()
    switch_on_codes(sign_in(user))
    browser = sign_in(user)
    for _ in range(5):
        browser.post(reverse("mfa_authenticate"), {"code": "000000"})
    page = browser.post(reverse("mfa_authenticate"), {"code": "000000"}).content.decode()
    assert "too many failed tries" in page


@pytest.mark.django_db
def test_an_organisation_can_require_codes_and_then_nobody_gets_past_the_set_up(
    sign_in, client_a: Client, owner: User
) -> None:
    client_a.organisation.one_time_codes_required = True
    client_a.organisation.save()
    browser = sign_in(owner)
    assert browser.get(reverse("web:people"))["Location"] == reverse("mfa_activate_totp")
    assert browser.get(ACCOUNT).status_code == 302
    switch_on_codes(browser)
    assert browser.get(reverse("web:people")).status_code == 200
    page = browser.post(reverse("mfa_deactivate_totp")).content.decode()
    assert "cannot be switched off" in page
    assert Authenticator.objects.filter(user=owner, type="totp").exists()


@pytest.mark.django_db
def test_the_set_up_page_keeps_to_the_content_policy(sign_in) -> None:
    browser = sign_in(make_user())
    for name in ("mfa_activate_totp", "mfa_index", "web:account", "web:people"):
        page = browser.get(reverse(name)).content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page), name


@pytest.mark.django_db
def test_sensitive_actions_ask_for_the_password_again_and_then_go_on(sign_in, client_a: Client, owner: User) -> None:
    browser = sign_in(owner)
    session = browser.session
    session["signed_in_at"] = time.time() - 700
    session.save()
    invite = reverse("web:invite", args=[client_a.pk])
    asked = browser.post(invite, {"email": "new@example.test", "role": "viewer"})
    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    assert b"not right" in browser.post(asked["Location"], {"password": "wrong password here"}).content
    done = browser.post(reverse("account_reauthenticate"), {"password": PASSWORD, "next": invite})
    assert b"/invitations/" in done.content
    assert Session.objects.count() == 1
