"""One factory per model: `make_<model>()` gives a saved row that is valid with everything it needs.

Pass `client=` to put a row of a client there, or the parent (`quote=`, `assessment=`, `option=`) to hang it below one
that exists. Any other field can be given by name. `FACTORIES` finds the factory of a model; a test fails for a model
that has none.
"""

import hashlib
import itertools
import uuid
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.db import models
from django.utils import timezone

from apps.accounts.models import (
    AttemptCounter,
    AuditEntry,
    Client,
    Invitation,
    Membership,
    Organisation,
    OrganisationMembership,
    OutboxMessage,
    PasswordResetLink,
    Role,
    User,
    UserSession,
)
from apps.analyses.models import AnalysisRun, RuleWaiver, RunChunk, Scenario, SweepBeat
from apps.assessments.models import Assessment, EvidenceAnswer, Option, OptionPhase, OptionStaff
from apps.assumptions.models import AssumptionValue, Claim, FxRate
from apps.catalogue.models import CatalogueItem, CatalogueValue
from apps.intake.models import ColumnMapping, ImportBatch, UploadedFile
from apps.racks.models import RackConfiguration
from apps.vendors.models import Quote, QuoteLine, QuoteVersion, Vendor
from apps.workloads.models import RoadmapItem

M = TypeVar("M", bound=models.Model)
Factory = Callable[..., models.Model]
FACTORIES: dict[type[models.Model], Factory] = {}
PASSWORD = "a long enough passphrase 7"
_counter = itertools.count(1)
_letters = itertools.count(1)


def factory_of(model: type[M]) -> Callable[[Callable[..., M]], Callable[..., M]]:
    """Register the decorated function as the factory of `model`."""

    def register(function: Callable[..., M]) -> Callable[..., M]:
        FACTORIES[model] = function
        return function

    return register


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# accounts -----------------------------------------------------------------------------------------------------------
@factory_of(User)
def make_user(*, password: str | None = PASSWORD, **values: Any) -> User:
    number = next(_counter)
    values.setdefault("email", f"person{number}@example.test")
    values.setdefault("display_name", f"Person {number}")
    return User.objects.create_user(password=password, **values)


@factory_of(Organisation)
def make_organisation(**values: Any) -> Organisation:
    values.setdefault("name", f"Organisation {next(_counter)}")
    return Organisation.objects.create(**values)


@factory_of(OrganisationMembership)
def make_organisation_membership(**values: Any) -> OrganisationMembership:
    values.setdefault("organisation", None)
    values["organisation"] = values["organisation"] or make_organisation()
    values["user"] = values.get("user") or make_user()
    values.setdefault("role", OrganisationMembership.Role.ADMINISTRATOR)
    return OrganisationMembership.objects.create(**values)


@factory_of(Client)
def make_client(*, organisation: Organisation | None = None, **values: Any) -> Client:
    values.setdefault("name", f"Client {next(_counter)}")
    return Client.objects.create(organisation=organisation or make_organisation(), **values)


@factory_of(Membership)
def make_membership(
    *, client: Client | None = None, user: User | None = None, role: str = Role.OWNER, **values: Any
) -> Membership:
    return Membership.objects.create(client=client or make_client(), user=user or make_user(), role=role, **values)


def make_member(client: Client, role: str = Role.OWNER, **values: Any) -> User:
    """A user with a role in the client."""
    user = make_user(**values)
    make_membership(client=client, user=user, role=role)
    return user


@factory_of(Invitation)
def make_invitation(*, client: Client | None = None, secret: str = "", **values: Any) -> Invitation:
    number = next(_counter)
    values.setdefault("email", f"guest{number}@example.test")
    values.setdefault("role", Role.VIEWER)
    values.setdefault("secret_sha256", _digest(secret or f"secret {number}"))
    values.setdefault("expires_at", timezone.now() + timedelta(days=7))
    values["invited_by"] = values.get("invited_by") or make_user()
    return Invitation.objects.create(client=client or make_client(), **values)


@factory_of(AuditEntry)
def make_audit_entry(**values: Any) -> AuditEntry:
    values.setdefault("action", "assessment.created")
    return AuditEntry.objects.create(**values)


@factory_of(OutboxMessage)
def make_outbox_message(**values: Any) -> OutboxMessage:
    values.setdefault("unique_key", f"mail:{next(_counter)}")
    values.setdefault("kind", "mail")
    return OutboxMessage.objects.create(**values)


@factory_of(UserSession)
def make_user_session(**values: Any) -> UserSession:
    values["user"] = values.get("user") or make_user()
    values.setdefault("session_key", f"session{next(_counter)}")
    values.setdefault("last_seen_at", timezone.now())
    return UserSession.objects.create(**values)


@factory_of(AttemptCounter)
def make_attempt_counter(**values: Any) -> AttemptCounter:
    values.setdefault("key_sha256", _digest(f"key {next(_counter)}"))
    return AttemptCounter.objects.create(**values)


@factory_of(PasswordResetLink)
def make_password_reset_link(*, secret: str = "", **values: Any) -> PasswordResetLink:
    values["user"] = values.get("user") or make_user()
    values["made_by"] = values.get("made_by") or make_user()
    values.setdefault("secret_sha256", _digest(secret or f"reset {next(_counter)}"))
    values.setdefault("expires_at", timezone.now() + timedelta(hours=1))
    return PasswordResetLink.objects.create(**values)


# catalogue, assumptions -----------------------------------------------------------------------------------------------
@factory_of(CatalogueItem)
def make_catalogue_item(**values: Any) -> CatalogueItem:
    number = next(_counter)
    values.setdefault("kind", "accelerator")
    values.setdefault("key", f"Accelerator {number}")
    values.setdefault("name", f"Accelerator {number}")
    return CatalogueItem.objects.create(**values)


@factory_of(CatalogueValue)
def make_catalogue_value(**values: Any) -> CatalogueValue:
    values["item"] = values.get("item") or make_catalogue_item()
    values.setdefault("name", f"price{next(_counter)}_usd")
    values.setdefault("value", "295000")
    values.setdefault("source", "A list price")
    values.setdefault("basis", CatalogueValue.Basis.READ)
    return CatalogueValue.objects.create(**values)


@factory_of(AssumptionValue)
def make_assumption_value(*, client: Client | None = None, **values: Any) -> AssumptionValue:
    """An assumption of the client layer; `client=None` and `organisation=None` make one of the product layer."""
    values.setdefault("key", f"assumption_{next(_counter)}")
    values.setdefault("version", 1)
    values.setdefault("likely", Decimal("0.09"))
    values.setdefault("source", "Finance department")
    return AssumptionValue.objects.create(client=client, **values)


@factory_of(FxRate)
def make_fx_rate(*, client: Client | None = None, **values: Any) -> FxRate:
    values.setdefault("base", "EUR")
    values.setdefault("quote", "USD")
    values.setdefault("rate", Decimal("1.08"))
    values.setdefault("rate_date", date(2026, 11, 1) + timedelta(days=next(_counter)))
    values.setdefault("source", "Central bank reference rate")
    return FxRate.objects.create(client=client or make_client(), **values)


@factory_of(Claim)
def make_claim(*, client: Client | None = None, **values: Any) -> Claim:
    values.setdefault("key", f"X-{next(_counter)}")
    values.setdefault("topic", "cost")
    values.setdefault("statement", "Owning is cheaper.")
    values.setdefault("check_text", "It depends on use.")
    values.setdefault("verdict", Claim.Verdict.HOLDS_IF)
    values.setdefault("status", Claim.Status.CONTESTED)
    values.setdefault("source", "A seed document")
    return Claim.objects.create(client=client, **values)


# vendors ------------------------------------------------------------------------------------------------------------
@factory_of(Vendor)
def make_vendor(*, client: Client | None = None, **values: Any) -> Vendor:
    values.setdefault("name", f"Vendor {next(_counter)}")
    return Vendor.objects.create(client=client or make_client(), **values)


@factory_of(Quote)
def make_quote(*, client: Client | None = None, vendor: Vendor | None = None, **values: Any) -> Quote:
    vendor = vendor or make_vendor(client=client)
    values.setdefault("number", f"Q-{next(_counter)}")
    return Quote.objects.create(client=vendor.client, vendor=vendor, **values)


@factory_of(QuoteVersion)
def make_quote_version(*, client: Client | None = None, quote: Quote | None = None, **values: Any) -> QuoteVersion:
    quote = quote or make_quote(client=client)
    values.setdefault("version", next(_counter))
    values.setdefault("currency", "USD")
    values.setdefault("date", date(2026, 11, 18))
    values.setdefault("valid_until", date(2027, 1, 31))
    return QuoteVersion.objects.create(client=quote.client, quote=quote, **values)


@factory_of(QuoteLine)
def make_quote_line(
    *, client: Client | None = None, quote_version: QuoteVersion | None = None, **values: Any
) -> QuoteLine:
    quote_version = quote_version or make_quote_version(client=client)
    number = next(_counter)
    values.setdefault("position", number)
    values.setdefault("kind", "compute")
    values.setdefault("description", f"GPU node {number}")
    values.setdefault("quantity", Decimal(16))
    values.setdefault("unit_price_likely", Decimal("295000"))
    values.setdefault("currency", "USD")
    values.setdefault("charge", QuoteLine.Charge.ONE_OFF)
    return QuoteLine.objects.create(client=quote_version.client, quote_version=quote_version, **values)


# racks, assessments -------------------------------------------------------------------------------------------------
@factory_of(RackConfiguration)
def make_rack_configuration(*, client: Client | None = None, **values: Any) -> RackConfiguration:
    values.setdefault("name", f"Configuration {next(_counter)}")
    values.setdefault("template", RackConfiguration.Template.DGX_CLASS)
    values.setdefault("n_accelerators", 128)
    values.setdefault("accelerators_per_node", 8)
    return RackConfiguration.objects.create(client=client or make_client(), **values)


@factory_of(Assessment)
def make_assessment(*, client: Client | None = None, **values: Any) -> Assessment:
    values.setdefault("name", f"Assessment {next(_counter)}")
    values.setdefault("signature_date", date(2026, 12, 1))
    return Assessment.objects.create(client=client or make_client(), **values)


@factory_of(Option)
def make_option(*, client: Client | None = None, assessment: Assessment | None = None, **values: Any) -> Option:
    assessment = assessment or make_assessment(client=client)
    number = next(_counter)
    values.setdefault("letter", f"O{next(_letters) % 1000}")  # four characters at most, so a counter of its own
    values.setdefault("name", f"Option {number}")
    values.setdefault("slot", 1)
    return Option.objects.create(client=assessment.client, assessment=assessment, **values)


@factory_of(OptionPhase)
def make_option_phase(*, client: Client | None = None, option: Option | None = None, **values: Any) -> OptionPhase:
    option = option or make_option(client=client)
    values["configuration"] = values.get("configuration") or make_rack_configuration(client=option.client)
    values.setdefault("position", next(_counter))
    return OptionPhase.objects.create(client=option.client, option=option, **values)


@factory_of(OptionStaff)
def make_option_staff(*, client: Client | None = None, option: Option | None = None, **values: Any) -> OptionStaff:
    option = option or make_option(client=client)
    values.setdefault("role", f"Network engineer {next(_counter)}")
    values.setdefault("fte_likely", Decimal("1.5"))
    return OptionStaff.objects.create(client=option.client, option=option, **values)


@factory_of(EvidenceAnswer)
def make_evidence_answer(
    *, client: Client | None = None, option: Option | None = None, **values: Any
) -> EvidenceAnswer:
    option = option or make_option(client=client)
    values.setdefault("question", next(_counter))
    return EvidenceAnswer.objects.create(client=option.client, option=option, **values)


# workloads, intake --------------------------------------------------------------------------------------------------
@factory_of(RoadmapItem)
def make_roadmap_item(
    *, client: Client | None = None, assessment: Assessment | None = None, **values: Any
) -> RoadmapItem:
    assessment = assessment or make_assessment(client=client)
    values.setdefault("name", f"Model {next(_counter)}")
    values.setdefault("first_quarter", 0)
    values.setdefault("last_quarter", 3)
    return RoadmapItem.objects.create(client=assessment.client, assessment=assessment, **values)


@factory_of(UploadedFile)
def make_uploaded_file(*, client: Client | None = None, **values: Any) -> UploadedFile:
    number = next(_counter)
    values.setdefault("original_name", f"quote{number}.csv")
    values.setdefault("sha256", _digest(f"file {number}"))
    values.setdefault("size_bytes", 1200)
    values.setdefault("content_type", "text/csv")
    values.setdefault("stored_name", uuid.uuid4().hex)
    return UploadedFile.objects.create(client=client or make_client(), **values)


@factory_of(ImportBatch)
def make_import_batch(*, client: Client | None = None, file: UploadedFile | None = None, **values: Any) -> ImportBatch:
    file = file or make_uploaded_file(client=client)
    values.setdefault("kind", "quote_csv")
    values.setdefault("state", ImportBatch.State.READY)
    return ImportBatch.objects.create(client=file.client, file=file, **values)


@factory_of(ColumnMapping)
def make_column_mapping(*, client: Client | None = None, **values: Any) -> ColumnMapping:
    values.setdefault("vendor_name", f"Vendor {next(_counter)}")
    values.setdefault("header_sha256", _digest("Qty,Price"))
    values.setdefault("mapping", {"Qty": "quantity"})
    return ColumnMapping.objects.create(client=client or make_client(), **values)


# analyses -----------------------------------------------------------------------------------------------------------
@factory_of(Scenario)
def make_scenario(*, client: Client | None = None, assessment: Assessment | None = None, **values: Any) -> Scenario:
    assessment = assessment or make_assessment(client=client)
    values.setdefault("name", f"Scenario {next(_counter)}")
    return Scenario.objects.create(client=assessment.client, assessment=assessment, **values)


@factory_of(AnalysisRun)
def make_analysis_run(
    *, client: Client | None = None, assessment: Assessment | None = None, **values: Any
) -> AnalysisRun:
    """A queued run; its inputs are no real ones, so it can be shown in lists but not computed."""
    assessment = assessment or make_assessment(client=client)
    values.setdefault("number", next(_counter))
    values.setdefault("kind", AnalysisRun.Kind.TCO)
    values.setdefault("inputs_json", "{}")
    values.setdefault("inputs_sha256", _digest("{}"))
    values.setdefault("engine_version", "1.0")
    values.setdefault("seed", 20261130)
    values.setdefault("draws", 8192)
    return AnalysisRun.objects.create(client=assessment.client, assessment=assessment, **values)


@factory_of(RunChunk)
def make_run_chunk(*, client: Client | None = None, run: AnalysisRun | None = None, **values: Any) -> RunChunk:
    run = run or make_analysis_run(client=client, kind=AnalysisRun.Kind.TCO_SWEEP)
    values.setdefault("index", next(_counter))
    return RunChunk.objects.create(client=run.client, run=run, **values)


@factory_of(SweepBeat)
def make_sweep_beat(**values: Any) -> SweepBeat:
    values.setdefault("name", f"sweep {next(_counter)}")
    values.setdefault("at", timezone.now())
    return SweepBeat.objects.create(**values)


@factory_of(RuleWaiver)
def make_rule_waiver(
    *, client: Client | None = None, assessment: Assessment | None = None, **values: Any
) -> RuleWaiver:
    assessment = assessment or make_assessment(client=client)
    values.setdefault("rule_id", "F1")
    values.setdefault("reason", "The vendor measured it on our site.")
    values.setdefault("waived_by_name", "A. Person")
    return RuleWaiver.objects.create(client=assessment.client, assessment=assessment, **values)
