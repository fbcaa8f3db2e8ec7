"""Assessment specs: one JSON file with a whole assessment, checked against the published schema, then stored."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError as DjangoValidationError
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError, best_match

from apps.accounts.models import Client
from apps.accounts.permissions import Actor
from apps.assessments.models import Assessment, Option
from apps.assessments.services import (
    add_phase,
    answer_evidence,
    create_assessment,
    create_option,
    set_staff,
)
from apps.engine.errors import EngineError, InputError
from apps.racks.models import RackConfiguration
from apps.racks.services import create_configuration
from apps.vendors.models import QuoteVersion

SCHEMA_PATH = Path(settings.BASE_DIR) / "docs" / "schemas" / "assessment.json"
LARGEST_SPEC_BYTES = 20 * 1024 * 1024
_OPTION_PARTS = {"letter", "name", "phases", "staff", "evidence"}


class SpecError(Exception):
    """A spec cannot be used; the message names the place in the file and what would be right."""


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA_PATH.read_text()), format_checker=FormatChecker())


def read_spec(path: Path) -> dict[str, Any]:
    """The checked spec in a file, its numbers exact. Raises `SpecError` with the JSON path of the first fault."""
    try:
        size = path.stat().st_size
        if size > LARGEST_SPEC_BYTES:
            raise SpecError(f"{path} has {size:,} bytes; a spec has at most {LARGEST_SPEC_BYTES:,}.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} cannot be read: {_reason(error)}.") from None
    return check_spec(parse_spec(text))


def parse_spec(text: str) -> Any:
    """The JSON in a text, decimals exact; NaN and keys that stand twice are refused."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise SpecError(f"Not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise SpecError("Not usable JSON: nested too deep.") from None


def check_spec(spec: Any) -> dict[str, Any]:
    """Return the spec if it fits the schema and its keys lead somewhere, else raise `SpecError`."""
    error = best_match(_validator().iter_errors(spec))
    if error is not None:
        raise SpecError(f"{_path(error)}: {_message(error)}.")
    _check_keys(spec)
    return spec


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not UTF-8 text"


def _no_constant(text: str) -> None:
    raise SpecError(f"{text} is not a number that JSON has.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SpecError(f"The key {twice!r} stands twice in one object.")
    return found


def _path(error: ValidationError) -> str:
    return error.json_path


def _message(error: ValidationError) -> str:
    text = str(error.message)
    return text if len(text) <= 200 else text[:197] + "..."


def _check_keys(spec: Mapping[str, Any]) -> None:
    """Refuse keys used twice and keys that nothing in the file has."""
    quotes = _unique(spec["quotes"], "quotes", "key")
    configurations = _unique(spec["configurations"], "configurations", "key")
    letters = _unique(spec["options"], "options", "letter")
    for number, option in enumerate(spec["options"]):
        for place, phase in enumerate(option["phases"]):
            path = f"$.options[{number}].phases[{place}]"
            _known(f"{path}.configuration", phase["configuration"], configurations)
            if "quote" in phase:
                _known(f"{path}.quote", phase["quote"], quotes)
    for number, waiver in enumerate(spec.get("waivers", [])):
        if "option" in waiver:
            _known(f"$.waivers[{number}].option", waiver["option"], letters)


def _unique(rows: list[dict[str, Any]], name: str, key: str) -> list[str]:
    found: list[str] = []
    for number, row in enumerate(rows):
        if row[key] in found:
            raise SpecError(f"$.{name}[{number}].{key}: {row[key]!r} stands twice.")
        found.append(row[key])
    return found


def _known(path: str, key: str, known: list[str]) -> None:
    if key not in known:
        raise SpecError(f"{path}: {key!r} is not in this file; it must be one of {', '.join(known) or 'none'}.")


# Storing -------------------------------------------------------------------------------------------------------------
def load_assessment(
    spec: Mapping[str, Any], *, by: Actor, client: Client, quote_versions: Mapping[str, QuoteVersion]
) -> Assessment:
    """Store assessment, configurations and options of a checked spec; the caller holds the transaction.

    `quote_versions` holds what the import made of the spec's quotes, by their keys. Raises `SpecError` with the place
    of a value that does not fit.
    """
    facts = plain(dict(spec["assessment"]))
    facts["demand"] = plain(spec.get("demand", []))
    facts["fictional"] = bool(spec["client"].get("fictional", False))
    with at("$.assessment"):
        assessment = create_assessment(by=by, client=client, name=facts.pop("name"), values=facts)
    configurations = {}
    for number, item in enumerate(spec["configurations"]):
        with at(f"$.configurations[{number}]"):
            configurations[item["key"]] = _configuration(item, by=by, client=client, assessment=assessment)
    for number, item in enumerate(spec["options"]):
        with at(f"$.options[{number}]"):
            _option(item, by=by, assessment=assessment, configurations=configurations, quote_versions=quote_versions)
    return assessment


@contextmanager
def at(path: str) -> Iterator[None]:
    """Turns what a service refuses into a `SpecError` that names the place in the spec."""
    try:
        yield
    except EngineError as error:
        raise SpecError(f"{path}: {error}") from None
    except DjangoValidationError as error:
        raise SpecError(f"{path}: {'; '.join(_refusals(error))}") from None


def _refusals(error: DjangoValidationError) -> list[str]:
    if hasattr(error, "error_dict"):
        return [f"{name}: {' '.join(found)}" for name, found in error.message_dict.items()]
    return list(error.messages)


def plain(value: Any) -> Any:
    """The same JSON with exact decimals as text, as JSON columns keep them."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _configuration(item: Mapping[str, Any], *, by: Actor, client: Client, assessment: Assessment) -> RackConfiguration:
    values = {name: plain(value) for name, value in item.items() if name not in ("key", "name", "template")}
    return create_configuration(
        by=by,
        client=client,
        assessment_id=assessment.pk,
        template=item["template"],
        name=item["name"],
        values=values,
    )


def _option(
    item: Mapping[str, Any],
    *,
    by: Actor,
    assessment: Assessment,
    configurations: Mapping[str, RackConfiguration],
    quote_versions: Mapping[str, QuoteVersion],
) -> Option:
    values = {name: plain(value) for name, value in item.items() if name not in _OPTION_PARTS}
    option = create_option(by=by, assessment=assessment, letter=item["letter"], name=item["name"], values=values)
    for phase in item["phases"]:
        add_phase(
            by=by,
            option=option,
            configuration=configurations[phase["configuration"]],
            quote_version=quote_versions[phase["quote"]] if "quote" in phase else None,
            values={name: plain(value) for name, value in phase.items() if name not in ("configuration", "quote")},
        )
    _check_phase_ends(item)
    set_staff(by=by, option=option, people=plain(item.get("staff", [])))
    for answer in item.get("evidence", []):
        answer_evidence(by=by, option=option, **answer)
    return option


def _check_phase_ends(item: Mapping[str, Any]) -> None:
    for place, phase in enumerate(item["phases"], start=1):
        ends = phase.get("ends_when_ready")
        if ends is not None and (ends == place or ends > len(item["phases"])):
            raise InputError(f"phase {place}, ends_when_ready", ends, "the place of another phase")


def spec_date(spec: Mapping[str, Any]) -> date:
    return date.fromisoformat(spec["date"])
