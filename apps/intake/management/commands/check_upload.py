"""What the import preview would say about a file; stores nothing and needs no database."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.intake.parsing.numbers import shortest
from apps.intake.parsing.process import parse_in_child
from apps.intake.parsing.quote import Request

KINDS = ("quote_csv", "quote_xlsx", "quote_json")
_MONEY = ("unit_price_low", "unit_price_likely", "unit_price_high")
_NAMES = {"write_gbyte_per_s": "write_gb_per_s"}  # as the interface calls it
_OWN = ("row", "refs", "position", "discount_fraction")


class Command(BaseCommand):
    help = "Check a file as the import preview would, without storing anything."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--kind", required=True)
        parser.add_argument("--planned-accelerators", type=int, default=None)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["kind"] not in KINDS:
            known = ", ".join(KINDS)
            raise CommandError(f"kind is {options['kind']}; it must be one of {known}.", returncode=2)
        try:
            content = options["file"].read_bytes()
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.", returncode=2) from None
        answer = check(options["file"], content, options["kind"])
        if options["json"]:
            self.stdout.write(json.dumps(answer, ensure_ascii=False, allow_nan=False))
        else:
            self._print(answer)

    def _print(self, answer: dict[str, Any]) -> None:
        self.stdout.write(f"{answer['file']}: {answer['outcome']}")
        for message in answer["messages"]:
            self.stdout.write(f"  {message}")
        for name, value in answer["values"].items():
            self.stdout.write(f"  {name} = {value}")


def check(file: Path, content: bytes, kind: str) -> dict[str, Any]:
    """The answer of the command for one file."""
    result = parse_in_child(Request(content, kind))
    return {
        "file": str(file),
        "kind": kind,
        "outcome": result["outcome"],
        "messages": [*map(_message, result["messages"]), *map(_question, result["questions"])],
        "questions": [
            {"about": question["about"], "choices": [choice["label"] for choice in question["choices"]]}
            for question in result["questions"]
        ],
        "values": values(result) if result["outcome"] != "reject" else {},
        "seconds": result["seconds"],
        "peak_rss_mb": result["peak_rss_mb"],
    }


def values(result: dict[str, Any]) -> dict[str, Any]:
    """Every value of a result under its interface name, money with its currency; open questions as suggested."""
    found: dict[str, Any] = {"lines": len(result["lines"])}
    for section in ("quote", "terms", "fabric"):
        found |= {f"{section}.{name}": entry["value"] for name, entry in result[section].items()}
    for number, line in enumerate(result["lines"], 1):
        for name, value in line.items():
            if name not in _OWN:
                found[f"line{number}.{_NAMES.get(name, name)}"] = _shown(name, value, line)
        found[f"line{number}.discount"] = f"{shortest(Decimal(line['discount_fraction']) * 100)} %"
    totals = result["totals"].get("one_off_likely", {})
    if len(totals) == 1:
        code, total = next(iter(totals.items()))
        found["total_one_off_likely"] = f"{total} {code}"
    else:
        found |= {f"total_one_off_likely.{code}": f"{total} {code}" for code, total in totals.items()}
    return found


def _shown(name: str, value: Any, line: dict[str, Any]) -> Any:
    if name in _MONEY and value is not None:
        return f"{value} %" if line["percent_of"] else f"{value} {line['currency']}"
    return value


def _message(message: dict[str, Any]) -> str:
    place = message["where"] if message["row"] is not None else message["sheet"]
    parts = [part for part in (place, message["field"]) if part]
    return f"{', '.join(parts)}: {message['text']}" if parts else message["text"]


def _question(question: dict[str, Any]) -> str:
    choices = " or ".join(choice["label"] for choice in question["choices"])
    cells = f" ({', '.join(question['cells'][:10])})" if question["cells"] else ""
    return f"{question['about']}{cells}: {question['reason']} {choices}?"
