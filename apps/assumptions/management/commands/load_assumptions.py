"""`manage.py load_assumptions`: product defaults and claims from fixtures/; called by load_catalogue."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.assumptions.product_defaults import FixtureError, load_assumptions, load_claims


class Command(BaseCommand):
    help = "Load the product's assumptions and claims; a changed value becomes a new version."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            versions, claims = load_assumptions(), load_claims()
        except FixtureError as error:
            raise CommandError(str(error)) from error
        if options["verbosity"]:
            self.stderr.write(f"Assumptions: {versions} new versions. Claims: {claims} added or changed.")
