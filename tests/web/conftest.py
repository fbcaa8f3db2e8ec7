"""Case 1 with a finished run, for tests of screens."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.core.management import call_command

from apps.accounts.models import User
from apps.analyses.models import AnalysisRun
from apps.assessments.models import Assessment
from tests import factories
from tests.web import larkmere


@dataclass(frozen=True)
class Case:
    assessment: Assessment
    run: AnalysisRun
    user: User


def make_case(draws: int = 256) -> Case:
    call_command("load_assumptions", verbosity=0)
    client = factories.make_client(name="Larkmere Robotics")
    user = factories.make_member(client)
    assessment = larkmere.build(client, draws=draws)
    return Case(assessment, larkmere.computed_run(assessment, user), user)


@pytest.fixture
def case(db: None) -> Case:
    return make_case()


@pytest.fixture
def signed_in(case: Case, client: Any) -> Any:
    """The test client, signed in as the owner of case 1."""
    client.force_login(case.user)
    return client
