"""The three fictional demo cases as clients of an organisation, each once, each to be removed as a whole."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.accounts.models import Client, Organisation, User
from apps.accounts.permissions import SYSTEM, Actor
from apps.accounts.services import create_client, delete_client
from apps.analyses.spec_loading import QuoteFile, load_spec
from apps.assessments.models import Assessment
from apps.assessments.spec import read_spec

FOLDER = Path(settings.BASE_DIR) / "fixtures" / "demo"
CASES = ("larkmere", "corvane", "pellstone")

# Quotes of case 1 that come in as files, as a user would bring them; the others stand in the spec itself.
LARKMERE_FILES = {"velmora": "velmora.xlsx", "quarrow-v1": "quarrow.xlsx", "nimbrel": "nimbrel.json"}
IMPORT_KINDS = {".xlsx": "quote_xlsx", ".json": "quote_json", ".csv": "quote_csv"}


@dataclass(frozen=True)
class DemoCase:
    """A demo case that is in the database, and whether it was put there just now."""

    key: str
    assessment: Assessment
    added: bool


def add_demo_case(key: str, *, organisation: Organisation, owner: User, by: Actor = SYSTEM) -> DemoCase:
    """Add a case as a fictional client owned by `owner`, unless the organisation has it already.

    What an interrupted start left behind is removed first. Raises `SpecError` when the files do not fit the program.
    """
    spec = read_spec(FOLDER / f"{key}.json")
    client = Client.objects.filter(
        organisation=organisation, name=spec["client"]["name"], deleted_at__isnull=True
    ).first()
    if client is not None:
        found = _assessment(client, spec)
        if found is not None:
            return DemoCase(key, found, added=False)
        delete_client(actor=SYSTEM, client=client, typed_name=client.name)
    client = create_client(
        actor=SYSTEM, organisation=organisation, name=spec["client"]["name"], fictional=True, owner=owner
    )
    files = quote_files() if key == "larkmere" else {}
    return DemoCase(key, load_spec(spec, by=by, client=client, files=files), added=True)


def quote_files() -> dict[str, QuoteFile]:
    """The files of case 1 by the keys of the quotes they hold; Quarrow's come with the meaning of its headings."""
    found = {}
    for key, name in LARKMERE_FILES.items():
        path = FOLDER / "quotes" / name
        columns = path.with_name(f"{path.stem}.columns.json")
        mapping = json.loads(columns.read_text()) if columns.exists() else {}
        found[key] = QuoteFile(name, IMPORT_KINDS[path.suffix], path.read_bytes(), mapping)
    return found


def _assessment(client: Client, spec: Mapping[str, Any]) -> Assessment | None:
    found = Assessment.objects.of_client(client).filter(name=spec["assessment"]["name"])
    return found.select_related("client__organisation").first()
