"""`manage.py load_demo`: the fictional demo cases, computed by a worker, and the comparison of case 1 as a table."""

import os
import secrets
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import Organisation, OrganisationMembership, User
from apps.accounts.permissions import SYSTEM
from apps.accounts.services import create_organisation
from apps.analyses.demo import CASES, add_demo_case
from apps.analyses.models import AnalysisRun
from apps.analyses.rules import evaluate
from apps.analyses.services import request_run
from apps.api.comparison_text import comparison_text
from apps.assessments.spec import SpecError

ORGANISATION = "Spinecut demo"
DEFAULT_EMAIL = "lead@example.com"
DEFAULT_WAIT_S = 150
POLL_S = 0.2


class Command(BaseCommand):
    help = "Add the fictional demo cases, have a worker compute them, and print the comparison of case 1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", type=float, default=DEFAULT_WAIT_S, help="seconds to wait for the worker")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demo has a login that anybody may know; it is not loaded in production mode.")
        user, password = demo_user()
        organisation = _organisation(user)
        try:
            # Each is requested before the next one is loaded, so that the worker computes meanwhile.
            runs = [_requested(key, organisation, user) for key in CASES]
        except SpecError as error:
            raise CommandError(f"A demo case could not be loaded: {error}") from error
        self._wait(runs, options["wait"])
        first = runs[0]
        print(comparison_text(first, evaluate(first.assessment, run=first)))
        if "SPINECUT_DEMO_PASSWORD" not in os.environ:  # whoever set it prints it
            print(f"\n  Sign in   {user.email}\n  Password  {password}")

    def _wait(self, runs: list[AnalysisRun], seconds: float) -> None:
        """Return when the worker has answered all runs, else end with what to look at."""
        deadline = time.monotonic() + seconds
        while any(not run.is_over for run in runs) and time.monotonic() < deadline:
            time.sleep(POLL_S)
            for run in runs:
                run.refresh_from_db()
        for run in runs:
            if not run.is_over:
                message = (
                    f"{run.assessment.name}: the run is still {run.state} after {seconds:.0f} s. Is a worker running?"
                )
                raise CommandError(message)
            if run.state != AnalysisRun.State.SUCCEEDED:
                raise CommandError(f"{run.assessment.name}: {run.error or run.state}")
        print(f"{len(runs)} assessments computed by {_workers(runs)}.", file=sys.stderr)


def _requested(key: str, organisation: Organisation, user: User) -> AnalysisRun:
    """The run of one demo case, queued or already computed."""
    case = add_demo_case(key, organisation=organisation, owner=user)
    return request_run(by=SYSTEM, assessment=case.assessment)


def _workers(runs: list[AnalysisRun]) -> str:
    return ", ".join(sorted({run.worker for run in runs if run.worker})) or "an earlier worker"


def demo_user() -> tuple[User, str]:
    """The demo's user and password; the password is this installation's own and kept readable by its owner only."""
    email = os.environ.get("SPINECUT_DEMO_EMAIL", DEFAULT_EMAIL)
    password = os.environ.get("SPINECUT_DEMO_PASSWORD") or _stored_password()
    user = User.objects.filter(email=email).first()
    if user is None:
        user = User.objects.create_user(email, password, display_name="Demo lead")
    elif not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    return user, password


def _stored_password() -> str:
    path = Path(settings.VAR_DIR) / "demo_password"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(12))
    return path.read_text().strip()


def _organisation(user: User) -> Organisation:
    found = Organisation.objects.filter(
        name=ORGANISATION,
        memberships__user=user,
        memberships__role=OrganisationMembership.Role.ADMINISTRATOR,
    ).first()
    return found or create_organisation(actor=SYSTEM, name=ORGANISATION, administrator=user)
