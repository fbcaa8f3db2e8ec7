"""What tests of assumptions, claims, catalogue and roadmap share: browsers by role, texts and files of answers."""

import csv
import html
import io
import re
from typing import Any

from django.test import Client as Browser

from apps.accounts.models import Client, Role
from tests import factories


def browser_of(client: Client, role: Role) -> Browser:
    """A browser signed in as a new member of the client."""
    browser = Browser()
    browser.force_login(factories.make_member(client, role))
    return browser


def text_of(answer: Any) -> str:
    """What a reader sees: tags out, entities resolved, all kinds of blanks joined."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def rows_of(answer: Any) -> list[list[str]]:
    """The cells of a file."""
    return list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))


def has_buttons(answer: Any) -> bool:
    """Whether the content of the page, without its frame, holds a form that writes."""
    return 'method="post"' in answer.content.decode().split("<main", 1)[1]


def squeezed(text: str) -> str:
    """The text without grouping of digits and with one kind of blank, to compare a cell with the screen."""
    return re.sub(r"\s+", " ", text.replace(",", ""))
