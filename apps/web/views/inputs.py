"""What every input screen needs: the assessment, the newest finished run for the top bar, what the person may do."""

from typing import Any

from apps.accounts.models import User
from apps.accounts.permissions import allowed_actions
from apps.analyses.models import AnalysisRun
from apps.analyses.selectors import runs_visible_to
from apps.assessments.models import Assessment


def frame(user: User, assessment: Assessment) -> dict[str, Any]:
    """Context of the page around an input screen; three queries, none of which reads a run's documents."""
    runs = runs_visible_to(user).filter(
        assessment=assessment, kind=AnalysisRun.Kind.TCO, state=AnalysisRun.State.SUCCEEDED, scenario=None
    )
    return {
        "assessment": assessment,
        "run": runs.order_by("-number").first(),
        "allowed": allowed_actions(user, assessment.client),
    }
