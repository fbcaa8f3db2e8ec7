"""The rules as data: fixtures/rules.json, checked against its schema and against the facts that exist."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from jsonschema import Draft202012Validator

from apps.analyses.rules.logic import Condition, names_in
from apps.analyses.rules.vocabulary import FACTS

FOLDER = Path(settings.BASE_DIR) / "fixtures"


class RuleError(ValueError):
    """A rule cannot be used as written; the message names file, rule and place."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """One severity of a rule and when it holds; the first that holds counts."""

    severity: str
    when: Condition
    title: str
    what: str
    value: str
    threshold: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule. `blocks` says what an open gate of it holds back: the ranking of the option, the sign-off, or both.

    `page` is the screen on which the remedy is carried out.
    """

    id: str
    title: str
    scope: str
    blocks: tuple[str, ...]
    threshold: str | None
    source: str
    why: str
    remedy: str
    page: str
    supplier: str
    levels: tuple[Level, ...]
    unknown_severity: str
    unknown_what: str

    def assumption_keys(self) -> set[str]:
        """Every assumption that the rule reads."""
        keys = set().union(*(names_in(level.when, "assumption") for level in self.levels))
        return keys | ({self.threshold} if self.threshold else set())

    def fact_names(self) -> set[str]:
        return set().union(*(names_in(level.when, "fact") for level in self.levels))


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the file."""
    return read_rules(FOLDER / "rules.json")


def rule(rule_id: str) -> Rule | None:
    return next((found for found in rules() if found.id == rule_id), None)


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a file. Raises `RuleError` where it breaks the schema or speaks of an unknown fact."""
    document = json.loads(path.read_text(encoding="utf-8"))
    schema = json.loads((FOLDER / "rules.schema.json").read_text(encoding="utf-8"))
    for error in Draft202012Validator(schema).iter_errors(document):
        where = "/".join(str(part) for part in error.absolute_path)
        raise RuleError(f"{path.name}, {where}: {error.message}")
    found = tuple(_rule(entry) for entry in document)
    ids = [each.id for each in found]
    for each in found:
        if ids.count(each.id) > 1:
            raise RuleError(f"{path.name}, {each.id}: occurs twice")
        _check_facts(path.name, each)
    return found


def _check_facts(file: str, each: Rule) -> None:
    for name in sorted(each.fact_names()):
        fact = FACTS.get(name)
        if fact is None:
            raise RuleError(f"{file}, {each.id}: {name} is not a fact")
        if each.scope == "assessment" and fact.scope == "option":
            raise RuleError(f"{file}, {each.id}: {name} is a fact of an option, the rule is one of the assessment")


def _rule(entry: Mapping[str, Any]) -> Rule:
    return Rule(
        id=entry["id"],
        title=entry["title"],
        scope=entry["scope"],
        blocks=tuple(entry["blocks"]),
        threshold=entry["threshold"],
        source=entry["source"],
        why=entry["why"],
        remedy=entry["remedy"],
        page=entry["page"],
        supplier=entry["supplier"],
        levels=tuple(Level(**{"title": entry["title"], **level}) for level in entry["levels"]),
        unknown_severity=entry["unknown"]["severity"],
        unknown_what=entry["unknown"]["what"],
    )
