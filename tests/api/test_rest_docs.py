"""docs/api.md names every address and every kind of error of the API."""

import re
from pathlib import Path

from django.conf import settings

from apps.api import problems
from apps.api.urls import urlpatterns

TEXT = (Path(settings.BASE_DIR) / "docs/api.md").read_text()


def test_every_address_is_documented():
    addresses = {re.sub(r"<uuid:\w+>", "ID", str(entry.pattern)) for entry in urlpatterns if entry.name != "unknown"}
    assert sorted(address for address in addresses if f"{address}`" not in TEXT) == []


def test_every_kind_of_error_is_documented():
    errors = TEXT.split("## Errors")[1]
    for status, (name, _title) in problems.KINDS.items():
        assert f"`{name}`" in errors
        assert str(status) in errors
