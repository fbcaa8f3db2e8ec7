"""The pages about people in a real browser: no axe finding, no sideways scroll, nothing the content policy refuses."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from apps.accounts import services
from apps.accounts.models import Role
from tests.factories import (
    PASSWORD,
    make_invitation,
    make_member,
    make_organisation,
    make_organisation_membership,
    make_user,
)


def press(page: Any, selector: str) -> None:
    with page.expect_navigation():
        page.click(selector)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (400, "dark")])
def test_pages_about_people_are_accessible_and_fit(
    live_server: Any, page: Any, axe: Callable[[Any], list[str]], width: int, scheme: str
) -> None:
    owner = make_user()
    organisation = make_organisation_membership(organisation=make_organisation(), user=owner).organisation
    client = services.create_client(actor=owner, organisation=organisation, name="Larkmere Robotics")
    make_member(client, Role.ARCHITECT, display_name="", email="architect-with-a-long-address@larkmere.example")
    make_invitation(client=client, invited_by=owner, secret="fresh")
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    refused: list[str] = []
    page.on("console", lambda message: "Content Security Policy" in message.text and refused.append(message.text))

    def look(name: str, *arguments: object) -> None:
        page.goto(live_server.url + reverse(name, args=arguments))
        check(name)

    def check(name: str) -> None:
        assert axe(page) == [], name
        root = "document.documentElement"
        assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), f"{name} scrolls sideways"

    look("web:invitation", "fresh")
    look("account_login")
    page.fill("#id_login", owner.email)
    page.fill("#id_password", "wrong password here")
    press(page, "main .button-primary")
    check("account_login with an error")
    page.fill("#id_password", PASSWORD)
    press(page, "main .button-primary")
    look("web:people")
    look("web:roles")
    look("web:client_people", client.pk)
    page.fill("#id_email", "no address")
    press(page, "text=Make invitation link")
    assert page.get_attribute("#id_email", "aria-describedby") == "id_email_error"
    assert "valid" in page.inner_text("#id_email_error")
    page.fill("#id_email", "third@larkmere.example")
    press(page, "text=Make invitation link")
    assert "/invitations/" in page.input_value("#new-link")
    check("web:client_people with a link")
    look("web:audit_log", client.pk)
    look("web:client_settings", client.pk)
    look("web:organisation", organisation.pk)
    look("web:account")
    look("mfa_activate_totp")
    assert page.evaluate("document.querySelector('img.qr').naturalWidth") > 0
    look("account_logout")
    assert refused == []
