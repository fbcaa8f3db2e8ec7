"""`manage.py assess SPEC.json --out DIR`: a whole assessment from one file, through the services of the screens."""

import argparse
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import Client, Organisation
from apps.accounts.permissions import SYSTEM
from apps.accounts.services import create_client
from apps.analyses.spec_loading import load_spec
from apps.api.assessing import FORMATS, computed_run, write_files
from apps.api.ephemeral import run_in_throwaway
from apps.assessments.models import Assessment
from apps.assessments.spec import SpecError, read_spec, spec_date
from apps.engine.errors import EngineError

ORGANISATION = "Command line"
UNUSABLE = 2


class Command(BaseCommand):
    requires_system_checks = []  # pages are no part of it, and importing them takes longer than the work
    help = "Compute an assessment spec (docs/schemas/assessment.json) and write its results."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("spec", type=Path, help="the spec, a JSON file")
        parser.add_argument("--out", type=Path, required=True, help="folder for the results; made when missing")
        parser.add_argument("--format", default=",".join(FORMATS), help="any of json, xlsx, csv, pdf, parted by commas")
        parser.add_argument("--ephemeral", action="store_true", help="keep nothing: use a database of its own")
        parser.add_argument("--throwaway", action="store_true", help=argparse.SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        formats = _formats(options["format"])
        try:
            spec = read_spec(options["spec"])
            if options["ephemeral"]:
                self._in_throwaway(options)
            else:
                self._assess(spec, options["out"], formats)
        except (SpecError, EngineError) as error:
            raise CommandError(_one_line(error), returncode=UNUSABLE) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.", returncode=UNUSABLE) from error

    def _in_throwaway(self, options: dict[str, Any]) -> None:
        arguments = ["assess", str(options["spec"].resolve()), "--out", str(options["out"].resolve())]
        code = run_in_throwaway([*arguments, "--format", options["format"], "--throwaway"])
        if code:
            sys.exit(code)  # it has said why

    def _assess(self, spec: dict[str, Any], out: Path, formats: list[str]) -> None:
        run = computed_run(by=SYSTEM, assessment=_stored(spec))
        for path in write_files(run, out, formats, today=spec_date(spec)):
            self.stderr.write(str(path))


def _formats(text: str) -> list[str]:
    formats = [part.strip() for part in text.split(",") if part.strip()]
    for name in formats:
        if name == "pdf":
            raise CommandError("report.pdf is not part of this version yet", returncode=UNUSABLE)
        if name not in FORMATS:
            raise CommandError(f"--format: {name!r} is not one of {', '.join(FORMATS)}, pdf.", returncode=UNUSABLE)
    if not formats:
        raise CommandError("--format is empty; it must name at least one of json, xlsx, csv.", returncode=UNUSABLE)
    return formats


def _stored(spec: dict[str, Any]) -> Assessment:
    organisation, _created = Organisation.objects.get_or_create(name=ORGANISATION)
    name = spec["client"]["name"]
    known = Client.objects.filter(organisation=organisation, name__iexact=name, deleted_at__isnull=True).first()
    client = known or create_client(
        actor=SYSTEM, organisation=organisation, name=name, fictional=bool(spec["client"].get("fictional"))
    )
    return load_spec(spec, by=SYSTEM, client=client)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
