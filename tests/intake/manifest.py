"""Checks a folder of uploads against its manifest: outcome, parts of the messages, values, memory.

The manifest is a CSV with the columns file, kind, outcome, message_has, values, max_rss_mb. Parts are parted by `;`,
alternatives by `|`. Values are compared by value: 295000 USD equals 295000.00 USD.
"""

import csv
import gzip
import os
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from apps.intake.management.commands.check_upload import KINDS, check

ROOT = Path(__file__).resolve().parents[2]


def given_corpus() -> Path | None:
    """The corpus beside the repository, where somebody has put one."""
    base = os.environ.get("SPINECUT_SHARED")
    folder = (Path(base) if base else ROOT.parent / "shared") / "bad_inputs"
    return folder if (folder / "manifest.csv").is_file() else None


def rows(folder: Path) -> list[dict[str, str]]:
    """The rows of a manifest that are quotes."""
    with (folder / "manifest.csv").open(newline="", encoding="utf-8") as stream:
        return [row for row in csv.DictReader(stream) if row["kind"] in KINDS]


def problems(folder: Path, row: dict[str, str]) -> list[str]:
    """Everything in which the answer to a file differs from its manifest row."""
    content = (folder / row["file"]).read_bytes()
    if row["file"].endswith(".gz"):
        content = gzip.decompress(content)
    answer = check(Path(row["file"]), content, row["kind"])
    found = []
    if answer["outcome"] not in row["outcome"].split("|"):
        found.append(f"outcome {answer['outcome']}, expected {row['outcome']}: {answer['messages']}")
    text = "\n".join(answer["messages"]).casefold()
    for part in filter(None, row["message_has"].split(";")):
        if not any(word.strip().casefold() in text for word in part.split("|")):
            found.append(f"no message has {part!r}: {answer['messages']}")
    if answer["outcome"] != "reject":
        found += _wrong_values(row["values"], answer["values"], content)
    if row.get("max_rss_mb") and answer["peak_rss_mb"] > int(row["max_rss_mb"]):
        found.append(f"{answer['peak_rss_mb']} MB, at most {row['max_rss_mb']}")
    return found


def _wrong_values(wanted: str, values: dict[str, Any], content: bytes) -> list[str]:
    wrong = []
    for item in filter(None, (part.strip() for part in wanted.split(";"))):
        name, _, expected = item.partition("=")
        found = values.get(name)
        if expected == "verbatim":
            expected = _cell(content, name)
        if not _equal(found, expected):
            wrong.append(f"{name} is {found!r}, expected {expected!r}")
    return wrong


def _cell(content: bytes, name: str) -> str:
    """The text of lineN.field as it stands in a CSV file."""
    line, _, field = name.partition(".")
    table = list(csv.DictReader(content.decode().splitlines()))
    return table[int(line.removeprefix("line")) - 1][field]


def _equal(found: Any, expected: str) -> bool:
    if str(found) == expected:
        return True
    number, _, unit = str(found).partition(" ")
    wanted_number, _, wanted_unit = expected.partition(" ")
    try:
        return Decimal(number) == Decimal(wanted_number) and unit == wanted_unit
    except InvalidOperation:
        return False
