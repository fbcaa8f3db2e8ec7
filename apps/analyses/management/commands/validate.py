"""Published worked examples through the engine: `validate KIND FILE [--search] [--json]`. No database is needed."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.analyses.validation.compare import Row
from apps.analyses.validation.tco import case_rows
from apps.engine import __version__

KINDS = ("tco", "velocity", "training", "mlperf_times", "fabric", "collectives")
UNUSABLE = 2


class Command(BaseCommand):
    """Computes every case of a file and prints each figure beside the published one."""

    help = "Compute published worked examples and compare them with what was published."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the kind, the file and how to answer."""
        parser.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--search", action="store_true", help="search for layouts (training)")
        parser.add_argument("--json", action="store_true", help="print JSON alone on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the answers, or leave with 2 when the file cannot be used."""
        if options["kind"] != "tco":
            self.leave(f"validate {options['kind']}: not part of this version yet")
        cases = self.read(options["file"])
        rows = [row for case in cases for row in case_rows(case)]
        answer = {
            "kind": options["kind"],
            "engine_version": __version__,
            "rows": [row.as_json() for row in rows],
            "summary": summary(rows),
        }
        if options["json"]:
            self.stdout.write(json.dumps(answer, allow_nan=False, indent=1))
        else:
            self.stdout.write(table(rows))

    def read(self, path: Path) -> list[dict[str, Any]]:
        """Return the cases of a file."""
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            cases = raw["cases"] if isinstance(raw, dict) else raw
            fits = isinstance(cases, list) and all(
                isinstance(case, dict)
                and "id" in case
                and isinstance(case.get("inputs"), dict)
                and isinstance(case.get("outputs"), dict)
                for case in cases
            )
        except (OSError, ValueError, KeyError) as error:
            self.leave(f"{path} cannot be read: {error}")
        if not fits:
            self.leave(f"{path} holds no list of cases with id, inputs and outputs")
        return cases

    def leave(self, reason: str) -> None:
        """Say in one line why nothing can be answered, and leave with 2."""
        self.stderr.write(reason.replace("\n", " "))
        sys.exit(UNUSABLE)


def summary(rows: list[Row]) -> dict[str, Any]:
    """Return how many figures were computed, refused and within tolerance."""
    computed = [row for row in rows if row.refused is None]
    return {
        "rows": len(rows),
        "computed": len(computed),
        "refused": len(rows) - len(computed),
        "ok": sum(row.ok is True for row in rows),
        "by_class": {},
        "sweeps": {},
    }


def table(rows: list[Row]) -> str:
    """Return the rows as text."""
    lines = [f"{'case':34} {'quantity':36} {'published':>18} {'computed':>18} {'error':>10}  verdict"]
    for row in rows:
        error = "" if row.relative_error is None else f"{row.relative_error:+.2e}"
        verdict = f"refused: {row.refused}" if row.refused else {True: "ok", False: "MISS", None: ""}[row.ok]
        lines.append(
            f"{row.id:34} {row.quantity:36} {_short(row.published):>18} {_short(row.computed):>18} "
            f"{error:>10}  {verdict}"
        )
    figures = summary(rows)
    lines.append(f"{figures['ok']} of {figures['rows']} within tolerance, {figures['refused']} refused")
    return "\n".join(lines)


def _short(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, int | float) else f"list of {len(value)}"
