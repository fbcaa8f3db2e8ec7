"""The audit log: what happened, by whom, to what. Entries are added here and never change."""

import uuid
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import AuditEntry, Client, Organisation, User
from apps.accounts.permissions import SystemActor


def record(
    *,
    actor: User | SystemActor | None,
    action: str,
    client: Client | None = None,
    organisation: Organisation | None = None,
    subject: str = "",
    subject_id: uuid.UUID | None = None,
    details: dict[str, Any] | None = None,
) -> AuditEntry:
    """Add one entry, such as action "import.committed" with the quote as its subject; it commits with the caller."""
    organisation_id = organisation.pk if organisation else client.organisation_id if client else None
    return AuditEntry.objects.create(
        actor=actor if isinstance(actor, User) else None,
        action=action,
        client=client,
        organisation_id=organisation_id,
        subject=subject[:200],
        subject_id=subject_id,
        details=details or {},
    )


# What the audit log says for each action; one that is not named here is shown as it is stored.
ACTION_WORDS: Final[dict[str, Promise]] = {
    "assessment.changed": _("assessment changed"),
    "assessment.created": _("assessment created"),
    "assessment.deleted": _("assessment deleted"),
    "assumption.set": _("assumption set"),
    "assumption.withdrawn": _("assumption withdrawn"),
    "catalogue.overridden": _("value of the catalogue replaced"),
    "catalogue.override_changed": _("replaced value of the catalogue changed"),
    "catalogue.override_withdrawn": _("replaced value of the catalogue withdrawn"),
    "claim.added": _("claim added"),
    "claim.judged": _("claim judged"),
    "client.created": _("client created"),
    "client.deleted": _("client deleted"),
    "client.renamed": _("client renamed"),
    "configuration.changed": _("configuration changed"),
    "configuration.created": _("configuration created"),
    "configuration.deleted": _("configuration deleted"),
    "evidence.answered": _("evidence for a question entered"),
    "fx_rate.corrected": _("exchange rate corrected"),
    "fx_rate.set": _("exchange rate set"),
    "import.answered": _("question about an import answered"),
    "import.cancelled": _("import cancelled"),
    "import.committed": _("quote imported"),
    "import.previewed": _("file read for an import"),
    "import.refused": _("file refused"),
    "import.undone": _("import undone"),
    "invitation.accepted": _("invitation accepted"),
    "invitation.created": _("invitation made"),
    "invitation.revoked": _("invitation revoked"),
    "member.added": _("person added"),
    "member.removed": _("person removed"),
    "member.role_changed": _("role of a person changed"),
    "option.changed": _("option changed"),
    "option.created": _("option created"),
    "option.deleted": _("option deleted"),
    "organisation.created": _("organisation created"),
    "organisation.one_time_codes_changed": _("rule on one-time codes changed"),
    "phase.added": _("phase of an option added"),
    "phase.changed": _("phase of an option changed"),
    "phase.removed": _("phase of an option removed"),
    "roadmap.added": _("item of the roadmap added"),
    "roadmap.changed": _("item of the roadmap changed"),
    "roadmap.removed": _("item of the roadmap removed"),
    "rule.waived": _("rule waived"),
    "rule.waiver_withdrawn": _("waiver withdrawn"),
    "run.cancel_requested": _("run asked to stop"),
    "run.cancelled": _("run cancelled"),
    "run.deleted": _("run deleted"),
    "run.exported": _("run exported"),
    "run.failed": _("run failed"),
    "run.requested": _("run requested"),
    "run.succeeded": _("run finished"),
    "sign_in.failed": _("sign-in failed"),
    "sign_in.limited": _("too many sign-ins refused"),
    "staff.set": _("people of an option set"),
    "user.password_changed": _("password changed"),
    "user.password_reset_link_made": _("link for a new password made"),
    "user.password_reset_requested": _("new password asked for"),
    "user.signed_in": _("signed in"),
}


def action_words(action: str) -> str:
    """What an action is called on screen."""
    return str(ACTION_WORDS.get(action, action))
