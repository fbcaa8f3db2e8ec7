"""`manage.py sweep_once`: what the scheduler does every few seconds, once and by hand."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from apps.analyses.sweeper import sweep


class Command(BaseCommand):
    help = "Resend lost wake-ups, end abandoned runs, deliver the outbox; prints what was done as JSON."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(sweep(), sort_keys=True))
