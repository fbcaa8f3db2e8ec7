"""Writes of assessments, options, phases, staff and evidence answers."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models, transaction
from django.utils.translation import gettext as _

from apps.accounts.audit import record
from apps.accounts.models import Client, User
from apps.accounts.permissions import Actor, require
from apps.accounts.services import delete_client
from apps.assessments.models import Assessment, EvidenceAnswer, Option, OptionPhase, OptionStaff
from apps.assumptions.services import check_allowed
from apps.engine.errors import InputError
from apps.racks.models import RackConfiguration
from apps.vendors.models import QuoteVersion

LONGEST_HORIZON_MONTHS = 84
FACILITIES = ("colocation", "metered", "none")
FINANCING_KINDS = ("cash", "loan", "lease")
LAST_QUESTION = 17  # the checklist before signature
N_SLOTS = 6  # colours and markers: 0 is the baseline's


def apply_fields(row: models.Model, values: dict[str, Any], *, fixed: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Set fields of a client-owned row and check each against its column.

    Raises `InputError` for a name that is no field a user may set, `ValidationError` for a value that does not fit.
    """
    for name, value in values.items():
        if name in {"id", "client", "created_at", "updated_at", *fixed} or not _has_field(row, name):
            raise InputError(name, value, _("a field of %s") % row._meta.verbose_name)
        setattr(row, name, value)
    row.clean_fields(exclude=["client"])


def _has_field(row: models.Model, name: str) -> bool:
    try:
        field = row._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return bool(field.concrete)


# Assessments ---------------------------------------------------------------------------------------------------------
@transaction.atomic
def create_assessment(*, by: Actor, client: Client, name: str, values: dict[str, Any] | None = None) -> Assessment:
    """Add an assessment; `values` holds any of its fields. Raises `InputError` for what cannot be."""
    require(by, client, "edit")
    assessment = Assessment(client=client, name=name)
    apply_fields(assessment, values or {}, fixed={"state"})
    _check_assessment(assessment)
    assessment.save()
    _record(by, assessment, "assessment.created", assessment.name)
    return assessment


@transaction.atomic
def update_assessment(*, by: Actor, assessment: Assessment, values: dict[str, Any]) -> Assessment:
    """Change fields of an assessment. Runs that were made before keep what they were given."""
    require(by, assessment.client, "edit")
    apply_fields(assessment, values, fixed={"fictional"})
    _check_assessment(assessment)
    assessment.save()
    _record(by, assessment, "assessment.changed", assessment.name, fields=sorted(values))
    return assessment


@transaction.atomic
def delete_assessment(*, by: Actor, assessment: Assessment) -> None:
    require(by, assessment.client, "delete")
    _record(by, assessment, "assessment.deleted", assessment.name)
    assessment.delete()


def _check_assessment(assessment: Assessment) -> None:
    months = assessment.horizon_months
    if not 1 <= months <= LONGEST_HORIZON_MONTHS:
        raise InputError("horizon_months", months, f"a number of months from 1 to {LONGEST_HORIZON_MONTHS}")
    if assessment.draws < 1 or assessment.draws & (assessment.draws - 1):
        raise InputError("draws", assessment.draws, "a power of two, such as 8192")
    if len(assessment.currency) != 3 or not assessment.currency.isupper():
        raise InputError("currency", assessment.currency, "a currency code such as USD")
    for number, step in enumerate(assessment.demand):
        _not_negative(f"demand[{number}].from_month", step.get("from_month"))
        wanted = step.get("n_accelerators")
        check_range(f"demand[{number}].n_accelerators", wanted if isinstance(wanted, dict) else {"likely": wanted})


# Options -------------------------------------------------------------------------------------------------------------
@transaction.atomic
def create_option(
    *, by: Actor, assessment: Assessment, letter: str, name: str, values: dict[str, Any] | None = None
) -> Option:
    """Add an option; without a slot it takes the next free colour and marker."""
    require(by, assessment.client, "edit")
    given = dict(values or {})
    given.setdefault("slot", 0 if given.get("baseline") else _free_slot(assessment))
    option = Option(client=assessment.client, assessment=assessment, letter=letter, name=name)
    apply_fields(option, given, fixed={"assessment"})
    _check_option(option)
    option.save()
    _record(by, option, "option.created", str(option))
    return option


@transaction.atomic
def update_option(*, by: Actor, option: Option, values: dict[str, Any]) -> Option:
    require(by, option.client, "edit")
    apply_fields(option, values, fixed={"assessment"})
    _check_option(option)
    option.save()
    _record(by, option, "option.changed", str(option), fields=sorted(values))
    return option


@transaction.atomic
def drop_option(*, by: Actor, option: Option, reason: str) -> Option:
    """Take an option out of the comparison, with the reason; an empty reason takes it back in."""
    return update_option(by=by, option=option, values={"dropped_reason": reason, "shortlisted": not reason})


@transaction.atomic
def delete_option(*, by: Actor, option: Option) -> None:
    require(by, option.client, "edit")
    _record(by, option, "option.deleted", str(option))
    option.delete()


def _free_slot(assessment: Assessment) -> int:
    used = set(Option.objects.of_client(assessment.client).filter(assessment=assessment).values_list("slot", flat=True))
    return next((slot for slot in range(1, N_SLOTS) if slot not in used), 1 + len(used) % (N_SLOTS - 1))


def _check_option(option: Option) -> None:
    if option.facility not in FACILITIES:
        raise InputError("facility", option.facility, f"one of {', '.join(FACILITIES)}")
    kind = option.financing.get("kind", "cash")
    if kind not in FINANCING_KINDS:
        raise InputError("financing.kind", kind, f"one of {', '.join(FINANCING_KINDS)}")
    for key, value in option.assumptions.items():
        check_range(f"assumptions.{key}", value)
        check_allowed(key, [_decimal(f"assumptions.{key}.{end}", value.get(end)) for end in ("low", "likely", "high")])
        if not str(value.get("source", "")).strip():
            raise InputError(f"assumptions.{key}.source", "empty", "where the value comes from")
    price = option.bridge.get("usd_per_gpu_hour")
    if price is not None:
        check_range("bridge.usd_per_gpu_hour", price)


# Phases and staff ----------------------------------------------------------------------------------------------------
@transaction.atomic
def add_phase(
    *,
    by: Actor,
    option: Option,
    configuration: RackConfiguration,
    quote_version: QuoteVersion | None = None,
    values: dict[str, Any] | None = None,
) -> OptionPhase:
    """Add a phase behind the others. Raises `InputError` when configuration or quote is another client's."""
    require(by, option.client, "edit")
    last = OptionPhase.objects.of_client(option.client).filter(option=option).order_by("-position").first()
    phase = OptionPhase(
        client=option.client,
        option=option,
        position=last.position + 1 if last else 1,
        configuration=configuration,
        quote_version=quote_version,
    )
    return _save_phase(by, phase, values or {}, "phase.added")


@transaction.atomic
def update_phase(
    *, by: Actor, phase: OptionPhase, quote_version: QuoteVersion | None = None, values: dict[str, Any]
) -> OptionPhase:
    """Change a phase; `quote_version` pins another version of the quote."""
    require(by, phase.client, "edit")
    if quote_version is not None:
        phase.quote_version = quote_version
    return _save_phase(by, phase, values, "phase.changed")


def _save_phase(by: Actor, phase: OptionPhase, values: dict[str, Any], action: str) -> OptionPhase:
    for name, row in (("configuration", phase.configuration), ("quote_version", phase.quote_version)):
        if row is not None and row.client_id != phase.client_id:
            raise InputError(name, row.pk, "one of this client's")
    apply_fields(phase, values, fixed={"option", "configuration", "quote_version"})
    _not_negative("order_month", phase.order_month)
    if phase.end_month is not None and phase.end_month <= phase.order_month:
        raise InputError("end_month", phase.end_month, f"later than order_month, {phase.order_month}")
    if not phase.quantity_scale > 0:
        raise InputError("quantity_scale", phase.quantity_scale, "above zero")
    siblings = OptionPhase.objects.of_client(phase.client).filter(option=phase.option).exclude(pk=phase.pk)
    check_phase_ends({row.position: row.ends_when_ready for row in [*siblings, phase]})
    phase.save()
    _record(by, phase.option, action, f"{phase.option}, {phase.configuration.name}", fields=sorted(values))
    return phase


def check_phase_ends(ends_when_ready: Mapping[int, int | None]) -> None:
    """Raise `InputError` where phases, by position, end one another in a circle: none of them would ever begin."""
    for position in ends_when_ready:
        seen, following = [position], ends_when_ready[position]
        while following is not None and following not in seen:
            seen.append(following)
            following = ends_when_ready.get(following)
        if following == position:
            circle = " → ".join(str(place) for place in (*seen, position))
            raise InputError("ends_when_ready", circle, _("a later phase; phases cannot end one another in a circle"))


@transaction.atomic
def remove_phase(*, by: Actor, phase: OptionPhase) -> None:
    require(by, phase.client, "edit")
    _record(by, phase.option, "phase.removed", f"{phase.option}, {phase.configuration.name}")
    phase.delete()


@transaction.atomic
def set_staff(*, by: Actor, option: Option, people: Sequence[dict[str, Any]]) -> list[OptionStaff]:
    """Replace the people of an option by those given, one row a role."""
    require(by, option.client, "edit")
    OptionStaff.objects.of_client(option.client).filter(option=option).delete()
    rows = [_staff(option, values) for values in people]
    OptionStaff.objects.bulk_create(rows)
    _record(by, option, "staff.set", str(option), roles=[row.role for row in rows])
    return rows


def _staff(option: Option, values: dict[str, Any]) -> OptionStaff:
    row = OptionStaff(client=option.client, option=option)
    apply_fields(row, values, fixed={"option"})
    check_range(row.role, {"low": row.fte_low, "likely": row.fte_likely, "high": row.fte_high})
    if row.starts not in ("signature", "delivery"):
        raise InputError("starts", row.starts, "signature or delivery")
    return row


# Evidence ------------------------------------------------------------------------------------------------------------
@transaction.atomic
def answer_evidence(*, by: Actor, option: Option, question: int, level: str, note: str = "") -> EvidenceAnswer:
    """Say how well a question before signature is answered for an option; a later answer replaces it."""
    require(by, option.client, "edit")
    if not 1 <= question <= LAST_QUESTION:
        raise InputError("question", question, f"a number from 1 to {LAST_QUESTION}")
    found = EvidenceAnswer.objects.of_client(option.client).filter(option=option, question=question).first()
    answer = found or EvidenceAnswer(client=option.client, option=option, question=question)
    before = answer.level if found else ""
    answer.answered_by = by if isinstance(by, User) else None
    apply_fields(answer, {"level": level, "note": note})
    answer.save()
    _record(by, option, "evidence.answered", str(option), question=question, before=before, after=level)
    return answer


# Checks --------------------------------------------------------------------------------------------------------------
def check_range(name: str, value: Any) -> None:
    """Raise `InputError` unless likely is given and those of low, likely and high that are given rise from zero."""
    if not isinstance(value, Mapping):
        raise InputError(name, value, "an object with likely, and low and high where there is a range")
    numbers = {end: _decimal(f"{name}.{end}", value.get(end)) for end in ("low", "likely", "high")}
    low, likely, high = numbers["low"], numbers["likely"], numbers["high"]
    if likely is None:
        raise InputError(f"{name}.likely", "not given", "a number")
    if not (likely if low is None else low) <= likely <= (likely if high is None else high):
        raise InputError(name, f"{low} / {likely} / {high}", "low, likely and high in rising order")
    if min(number for number in numbers.values() if number is not None) < 0:
        raise InputError(name, f"{low} / {likely} / {high}", "zero or more")


def _decimal(name: str, value: Any) -> Decimal | None:
    if value is None or value == "":
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise InputError(name, value, "a number") from None
    if not number.is_finite():
        raise InputError(name, value, "a finite number")
    return number


def _not_negative(name: str, value: Any) -> None:
    number = _decimal(name, value)
    if number is None or number < 0:
        raise InputError(name, value, "zero or more")


def _record(by: Actor, row: Assessment | Option, action: str, subject: str, **details: Any) -> None:
    record(actor=by, client=row.client, action=action, subject=subject, subject_id=row.pk, details=details)


# Demo ----------------------------------------------------------------------------------------------------------------
def remove_demo(*, by: Actor, client: Client) -> None:
    """Delete a fictional client with everything it holds. Raises `InputError` for a client that is real."""
    require(by, client, "delete")
    if not client.fictional:
        raise InputError("client", client.name, _("a fictional demo client; a real one is deleted in its settings"))
    delete_client(actor=by, client=client, typed_name=client.name)
