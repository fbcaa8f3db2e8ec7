"""Files of a run and of what a screen shows."""

import re
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

from apps.reports.csv_export import table_csv

PLAIN = re.compile(r"[^A-Za-z0-9]+")


def file_name(*parts: object, extension: str) -> str:
    """A plain file name out of names that people typed."""
    words = [PLAIN.sub("-", str(part)).strip("-").lower() for part in parts]
    return "-".join(word for word in words if word)[:120] + f".{extension}"


def attachment(content: bytes | str, name: str, content_type: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def csv_answer(rows: Iterable[Sequence[str]], name: str) -> HttpResponse:
    return attachment(table_csv(rows), name, "text/csv; charset=utf-8")
