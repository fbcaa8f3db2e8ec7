"""The one end of a run: state, reason, audit entry and mail, in one transaction; and the words for each reason."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts import audit, outbox
from apps.accounts.permissions import SYSTEM, Actor
from apps.analyses.models import AnalysisRun

State = AnalysisRun.State


def end_run(
    run_id: uuid.UUID, rows: QuerySet[AnalysisRun], state: str, *, actor: Actor | None = None, **values: Any
) -> bool:
    """Move one run to its end, inside the caller's transaction. False if `rows` no longer holds it.

    `rows` is a query of this one run that says from which state and attempt; its UPDATE is the compare-and-set.
    """
    now = timezone.now()
    if state == State.SUCCEEDED:
        values["progress_done"] = F("progress_total")
    if not rows.update(state=state, finished_at=now, lease_until=None, stage="", updated_at=now, **values):
        return False
    run = AnalysisRun.objects.system("queue").select_related("client", "assessment", "requested_by").get(pk=run_id)
    audit.record(
        actor=actor or SYSTEM,
        action=f"run.{state}",
        client=run.client,
        subject=str(run),
        subject_id=run.pk,
        details={"kind": run.kind, "attempt": run.attempt},
    )
    _post_mail(run)
    return True


def _post_mail(run: AnalysisRun) -> None:
    """Tell whoever asked for a run that took long. Nothing is written where no mail server is set."""
    took = timezone.now() - run.created_at
    asker = run.requested_by
    if not settings.EMAIL_URL_HOST or asker is None or took < timedelta(seconds=settings.RUN_MAIL_AFTER_S):
        return
    if run.state == State.CANCELLED:
        return
    name = f"{run} ({run.assessment.name})"
    succeeded = run.state == State.SUCCEEDED
    outbox.post(
        unique_key=f"run-ended:{run.pk}",
        kind="mail",
        payload={
            "to": [asker.email],
            "subject": (_("%(run)s has finished") if succeeded else _("%(run)s has failed")) % {"run": name},
            "body": _("The figures are on the pages of the assessment.") if succeeded else run.error,
        },
    )


def crash_text(reference: str) -> str:
    return _(
        "The run failed through a fault in the program, not in your inputs. "
        "Give reference %(reference)s when you report it."
    ) % {"reference": reference}


def time_limit_text() -> str:
    limit = settings.CELERY_TASK_SOFT_TIME_LIMIT
    duration = _("%(n)d minutes") % {"n": limit // 60} if limit >= 120 else _("%(n)d seconds") % {"n": limit}
    return _("The run took longer than the limit of %(limit)s. Use fewer draws or sweep points and start it again.") % {
        "limit": duration
    }


def memory_limit_text() -> str:
    return _(
        "The run needed more than the limit of %(limit)d MB. Use fewer draws or sweep points and start it again."
    ) % {"limit": settings.RUN_CHILD_MEMORY_MB}


def lost_text() -> str:
    return _(
        "The worker was lost %(n)d times while it computed this run. "
        "The inputs are kept: start the run again or report it."
    ) % {"n": settings.RUN_MAX_ATTEMPTS}
