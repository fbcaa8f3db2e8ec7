"""People of two clients, and the limits of sign-in."""

from collections.abc import Callable

import pytest
from django.test import Client as Browser
from django.urls import reverse

from apps.accounts.models import Client, Role, User
from tests.factories import PASSWORD, make_client, make_member


@pytest.fixture
def client_a(db: None) -> Client:
    return make_client(name="Larkmere")


@pytest.fixture
def owner(client_a: Client) -> User:
    return make_member(client_a, Role.OWNER)


SignIn = Callable[..., Browser]


@pytest.fixture
def sign_in() -> SignIn:
    """Sign in through the form, as a person does."""

    def enter(user: User, password: str = PASSWORD, browser: Browser | None = None, **extra: str) -> Browser:
        browser = browser or Browser()
        browser.post(reverse("account_login"), {"login": user.email, "password": password}, **extra)
        return browser

    return enter
