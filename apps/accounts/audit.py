"""The audit log: what happened, by whom, to what. Entries are added here and never change."""

import uuid
from typing import Any

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
