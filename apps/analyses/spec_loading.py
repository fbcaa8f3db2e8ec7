"""A whole assessment spec into the database: quotes through the import, everything else through its services."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import transaction

from apps.accounts.models import Client
from apps.accounts.permissions import Actor
from apps.analyses.rules.services import waive
from apps.assessments.models import Assessment, Option
from apps.assessments.spec import SpecError, at, load_assessment, plain
from apps.assumptions.services import set_assumption, set_fx_rate
from apps.intake.models import ImportBatch
from apps.intake.services import answer, commit_import, preview_upload, undo_import
from apps.vendors.models import QuoteVersion
from apps.workloads.services import add_roadmap_item


@dataclass(frozen=True)
class QuoteFile:
    """A quote as a file, with what its columns mean where the vendor has headings of its own."""

    name: str
    kind: str
    content: bytes
    mapping: Mapping[str, str | None] = field(default_factory=dict)


def load_spec(
    spec: Mapping[str, Any], *, by: Actor, client: Client, files: Mapping[str, QuoteFile] | None = None
) -> Assessment:
    """Store a checked spec for a client and return its assessment.

    Quotes are imported one by one, as from a screen; `files` holds those that come from a file, by their keys in the
    spec. Everything else is stored in one transaction. Raises `SpecError` with the place in the spec; what was imported
    before is undone then.
    """
    batches: list[ImportBatch] = []
    try:
        versions = {}
        for number, quote in enumerate(spec["quotes"]):
            file = (files or {}).get(quote["key"]) or _as_file(quote)
            batch = _imported(file, f"$.quotes[{number}]", by=by, client=client)
            batches.append(batch)
            versions[quote["key"]] = _version_of(batch)
        return _load_rest(spec, by=by, client=client, versions=versions)
    except SpecError:
        for batch in reversed(batches):
            undo_import(by=by, batch=batch)
        raise


@transaction.atomic
def _load_rest(
    spec: Mapping[str, Any], *, by: Actor, client: Client, versions: Mapping[str, QuoteVersion]
) -> Assessment:
    assessment = load_assessment(spec, by=by, client=client, quote_versions=versions)
    for number, rate in enumerate(spec.get("fx_rates", [])):
        with at(f"$.fx_rates[{number}]"):
            set_fx_rate(by=by, client=client, **_rate(rate))
    for number, item in enumerate(spec.get("assumptions", [])):
        with at(f"$.assumptions[{number}]"):
            set_assumption(by=by, client=client, **_assumption(item, assessment))
    for number, item in enumerate(spec.get("roadmap", [])):
        with at(f"$.roadmap[{number}]"):
            add_roadmap_item(by=by, assessment=assessment, values=plain(dict(item)))
    for number, item in enumerate(spec.get("waivers", [])):
        with at(f"$.waivers[{number}]"):
            _waive(item, by=by, assessment=assessment)
    return assessment


# Quotes --------------------------------------------------------------------------------------------------------------
def quote_document(quote: Mapping[str, Any]) -> dict[str, Any]:
    """A quote of a spec as the quote JSON import reads it."""
    return {name: plain(part) for name, part in quote.items() if name != "key"}


def _as_file(quote: Mapping[str, Any]) -> QuoteFile:
    content = json.dumps(quote_document(quote), ensure_ascii=False, indent=1)
    return QuoteFile(f"{quote['key']}.json", "quote_json", content.encode())


def _imported(file: QuoteFile, path: str, *, by: Actor, client: Client) -> ImportBatch:
    """The committed import of one file. Raises `SpecError` with what the preview says or asks when it cannot be."""
    batch = preview_upload(by=by, client=client, name=file.name, content=file.content, kind=file.kind)
    if batch.state == ImportBatch.State.QUESTIONS and file.mapping:
        batch = answer(by=by, batch=batch, mapping=file.mapping)
    if batch.state != ImportBatch.State.READY:
        raise SpecError(f"{path}: {_preview_text(batch)}")
    commit_import(by=by, batch=batch)
    batch.refresh_from_db()
    return batch


def _version_of(batch: ImportBatch) -> QuoteVersion:
    return QuoteVersion.objects.of_client(batch.client).get(pk=batch.quote_version_id)


def _preview_text(batch: ImportBatch) -> str:
    said = [str(message.get("text", message)) for message in batch.preview.get("messages", [])]
    asked = [str(question.get("about", question)) for question in batch.preview.get("questions", [])]
    return "; ".join(said + asked) or f"the quote is {batch.get_state_display()}"


# Parts ---------------------------------------------------------------------------------------------------------------
def _number(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))


def _rate(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **item,
        "rate": _number(item["rate"]),
        "low": _number(item.get("low")),
        "high": _number(item.get("high")),
        "rate_date": date.fromisoformat(item["rate_date"]),
    }


def _assumption(item: Mapping[str, Any], assessment: Assessment) -> dict[str, Any]:
    values = {name: value for name, value in item.items() if name != "layer"}
    values |= {name: _number(item.get(name)) for name in ("low", "likely", "high")}
    if values["low"] is None and values["high"] is None and values["likely"] is not None:
        values.setdefault("distribution", "fixed")
    return {**values, "assessment_id": None if item.get("layer") == "client" else assessment.pk}


def _waive(item: Mapping[str, Any], *, by: Actor, assessment: Assessment) -> None:
    option = None
    if "option" in item:
        option = Option.objects.of_client(assessment.client).get(assessment=assessment, letter=item["option"])
    waive(
        by=by,
        assessment=assessment,
        rule_id=item["rule"],
        option=option,
        reason=item["reason"],
        waived_by_name=item["name"],
    )
