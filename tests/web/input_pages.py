"""Helpers for tests of the input screens: signed-in browsers, uploads, posts."""

from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.assessments.models import Assessment
from apps.intake.models import ImportBatch
from tests import factories


@dataclass(frozen=True)
class Desk:
    """An assessment and a browser signed in with a role in its client."""

    assessment: Assessment
    user: User
    browser: Browser

    def url(self, route: str, *arguments: Any) -> str:
        return reverse(f"web:{route}", args=[self.assessment.pk, *arguments])

    def get(self, route: str, /, *arguments: Any, **query: Any) -> Any:
        return self.browser.get(self.url(route, *arguments), query)

    def post(self, route: str, /, *arguments: Any, **data: Any) -> Any:
        return self.browser.post(self.url(route, *arguments), data.pop("data", data))

    def upload(self, content: bytes, name: str = "quote.csv", **data: Any) -> Any:
        file = SimpleUploadedFile(name, content)
        return self.browser.post(self.url("intake"), {"file": file, **data})

    def batch(self) -> ImportBatch:
        """The newest import."""
        found = ImportBatch.objects.of_client(self.assessment.client).order_by("-created_at").first()
        assert found is not None
        return found

    def as_(self, role: str) -> "Desk":
        user = factories.make_member(self.assessment.client, role)
        browser = Browser()
        browser.force_login(user)
        return Desk(self.assessment, user, browser)


def make_desk(role: str = Role.ANALYST, **values: Any) -> Desk:
    return Desk(factories.make_assessment(**values), factories.make_user(), Browser()).as_(role)


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())
