"""`manage.py load_catalogue`: make the product's catalogue, assumptions and claims equal to the files in fixtures/."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.catalogue.fixture_files import FixtureError
from apps.catalogue.services import load_catalogue


class Command(BaseCommand):
    help = "Load catalogue, assumptions and claims of the product; repeating it changes nothing."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            loaded = load_catalogue()
        except FixtureError as error:
            raise CommandError(str(error)) from error
        if options["verbosity"]:
            self.stderr.write(f"Catalogue: {loaded.added} added, {loaded.changed} changed, {loaded.removed} removed.")
        # By name: the app of the assumptions stands beside this one and must not be imported from here.
        call_command("load_assumptions", verbosity=options["verbosity"])
