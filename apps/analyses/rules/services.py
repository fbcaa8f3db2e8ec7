"""A named person takes responsibility for a rule that is not met, or takes that back."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.audit import record
from apps.accounts.models import User
from apps.accounts.permissions import Actor, require
from apps.analyses.models import RuleWaiver
from apps.analyses.rules.definitions import rule
from apps.assessments.models import Assessment, Option
from apps.engine.errors import InputError


@transaction.atomic
def waive(
    *,
    by: Actor,
    assessment: Assessment,
    rule_id: str,
    option: Option | None = None,
    reason: str,
    waived_by_name: str = "",
) -> RuleWaiver:
    """Record that `by` takes responsibility; the hit stays visible, struck and named, and holds nothing back.

    `waived_by_name` names the person when a command acts for one, as the demo does; a signed-in person's name always
    wins. Raises `InputError` for an unknown rule, the wrong scope, no reason, or a waiver that stands already.
    """
    require(by, assessment.client, "waive")
    found = rule(rule_id)
    if found is None:
        raise InputError("rule", rule_id, _("a rule of the product"))
    if (found.scope == "option") != (option is not None):
        needed = _("the option it is waived for") if option is None else _("empty; the rule is one of the assessment")
        raise InputError("option", option.letter if option else None, needed)
    if option is not None and option.assessment_id != assessment.pk:
        raise InputError("option", option.letter, _("an option of this assessment"))
    if not reason.strip():
        raise InputError("reason", reason, _("why the rule may be set aside"))
    name = str(by) if isinstance(by, User) else waived_by_name.strip()
    if not name:
        raise InputError("waived by", name, _("the name of a person"))
    if _standing(assessment, rule_id, option):
        raise InputError("rule", rule_id, _("one that is not waived already"))
    waiver = RuleWaiver.objects.create(
        client=assessment.client,
        assessment=assessment,
        option=option,
        rule_id=rule_id,
        reason=reason.strip(),
        waived_by=by if isinstance(by, User) else None,
        waived_by_name=name[:120],
    )
    _record(by, "rule.waived", waiver)
    return waiver


@transaction.atomic
def withdraw_waiver(*, by: Actor, waiver: RuleWaiver) -> RuleWaiver:
    """Let the rule hold again; the row stays as the record of who waived it from when to when."""
    require(by, waiver.client, "waive")
    if waiver.withdrawn_at is not None:
        raise InputError("waiver", waiver.rule_id, _("one that still stands"))
    waiver.withdrawn_at = timezone.now()
    waiver.save(update_fields=["withdrawn_at", "updated_at"])
    _record(by, "rule.waiver_withdrawn", waiver)
    return waiver


def _standing(assessment: Assessment, rule_id: str, option: Option | None) -> bool:
    waivers = RuleWaiver.objects.of_client(assessment.client).filter(
        assessment=assessment, rule_id=rule_id, option=option, withdrawn_at__isnull=True
    )
    return waivers.exists()


def _record(by: Actor, action: str, waiver: RuleWaiver) -> None:
    record(
        actor=by,
        action=action,
        client=waiver.client,
        subject=f"{waiver.rule_id} {waiver.option.letter if waiver.option else ''}".strip(),
        subject_id=waiver.pk,
        details={"reason": waiver.reason, "waived_by": waiver.waived_by_name},
    )
