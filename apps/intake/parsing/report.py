"""What the interpreter has to say about a file: messages with their place, questions with their readings."""

from dataclasses import dataclass, field
from typing import Any

from apps.intake.parsing import limits
from apps.intake.parsing.table import Table, letter


@dataclass(frozen=True, slots=True)
class At:
    """The place a message is about."""

    table: Table
    row: int | None = None
    column: int | None = None
    field: str = ""

    @property
    def ref(self) -> str:
        if self.row is None:
            return ""
        return self.table.ref(self.row, self.column) if self.column else self.table.where(self.row, None)

    @property
    def where(self) -> str:
        return self.table.where(self.row, self.column)


@dataclass(slots=True)
class Report:
    """Collects messages and questions; `answers` are those given to earlier questions of the same file."""

    answers: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0
    asked: set[str] = field(default_factory=set)

    def error(self, at: At | None, text: str, *, found: str = "", expected: str = "") -> None:
        self._add("error", at, text, found, expected)

    def warn(self, at: At | None, text: str, *, found: str = "", expected: str = "") -> None:
        self._add("warning", at, text, found, expected)

    def info(self, at: At | None, text: str, *, found: str = "", expected: str = "") -> None:
        self._add("info", at, text, found, expected)

    def must_be(self, at: At, found: str, expected: str) -> None:
        """An error in the form: name is found; it must be expected."""
        shown = found if len(found) <= 60 else found[:57] + "..."
        self.error(at, f"{at.field} is “{shown}”; it must be {expected}.", found=shown, expected=expected)

    def ask(
        self,
        key: str,
        *,
        about: str,
        cells: list[str],
        choices: list[tuple[str, str]],
        suggested: str | None,
        reason: str,
    ) -> str | None:
        """Return the answer if there is one, else note the question and return the suggested reading."""
        self.asked.add(key)
        answer = self.answers.get(key)
        if answer is not None and answer in [value for value, _ in choices]:
            return answer
        if not any(question["id"] == key for question in self.questions):
            self.questions.append(
                {
                    "id": key,
                    "about": about,
                    "cells": cells[:50],
                    "choices": [{"value": value, "label": label} for value, label in choices],
                    "suggested": suggested,
                    "reason": reason,
                }
            )
        return suggested

    def outcome(self) -> str:
        severities = {message["severity"] for message in self.messages}
        if "error" in severities:
            return "reject"
        if self.questions:
            return "ask"
        return "accept_warn" if "warning" in severities else "accept"

    def fixable(self) -> bool:
        """Whether every error stands in a cell that can be corrected in the preview."""
        return all(message["cell"] for message in self.messages if message["severity"] == "error")

    def _add(self, severity: str, at: At | None, text: str, found: str, expected: str) -> None:
        if len(self.messages) >= limits.MESSAGES and severity != "error":
            self.left_out += 1
            return
        if len(self.messages) >= 2 * limits.MESSAGES:
            self.left_out += 1
            return
        self.messages.append(
            {
                "severity": severity,
                "sheet": at.table.name if at else "",
                "row": at.row if at else None,
                "column": letter(at.column) if at and at.column else "",
                "cell": at.ref if at and at.row is not None and at.column is not None else "",
                "where": at.where if at else "",
                "field": at.field if at else "",
                "found": found[: limits.PREVIEW_CHARACTERS],
                "expected": expected,
                "text": text,
            }
        )
