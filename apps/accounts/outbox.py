"""Effects outside the database. They are written with what causes them and carried out once afterwards."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from django.core.mail import EmailMessage
from django.db.models import F, Q
from django.utils import timezone

from apps.accounts.models import OutboxMessage

log = structlog.get_logger(__name__)

CLAIM_S = 120  # longer than any mail server may take to answer
MAX_ATTEMPTS = 8
FIRST_RETRY_S = 30  # doubles with every attempt


def post(*, unique_key: str, kind: str, payload: dict[str, Any]) -> bool:
    """Write an effect; it commits with the caller. Returns False if the same key was written before."""
    if kind not in HANDLERS:
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(HANDLERS)}.")
    _message, created = OutboxMessage.objects.get_or_create(
        unique_key=unique_key, defaults={"kind": kind, "payload": payload}
    )
    return created


def deliver_due(*, limit: int = 20) -> int:
    """Carry out what is waiting and return how many worked.

    Any number of processes may call this at the same moment. A process that dies between the effect and its note lets
    the message be sent once more; its Message-ID is then the same, so that a mail server or reader can tell.
    """
    now = timezone.now()
    due = OutboxMessage.objects.filter(sent_at__isnull=True, attempts__lt=MAX_ATTEMPTS).filter(
        Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    )
    return sum(_deliver(message) for message in due.order_by("created_at")[:limit])


def _deliver(message: OutboxMessage) -> bool:
    """Claim one message by compare-and-set, outside any transaction, and carry it out."""
    mine = OutboxMessage.objects.filter(pk=message.pk, sent_at__isnull=True)
    claimed = mine.filter(attempts=message.attempts).update(
        attempts=F("attempts") + 1, claimed_until=timezone.now() + timedelta(seconds=CLAIM_S)
    )
    if not claimed:
        return False
    mine = mine.filter(attempts=message.attempts + 1)
    try:
        HANDLERS[message.kind](message)
    except Exception as error:  # whatever a mail server says, the next message must go out
        wait = timedelta(seconds=FIRST_RETRY_S * 2**message.attempts)
        mine.update(error=f"{type(error).__name__}: {error}"[:500], claimed_until=timezone.now() + wait)
        log.warning("outbox.failed", message=str(message.pk), kind=message.kind, error=type(error).__name__)
        return False
    mine.update(sent_at=timezone.now(), error="", claimed_until=None)
    log.info("outbox.sent", message=str(message.pk), kind=message.kind)
    return True


def _send_mail(message: OutboxMessage) -> None:
    """Payload: to (list of addresses), subject, body."""
    EmailMessage(
        subject=message.payload["subject"],
        body=message.payload["body"],
        to=message.payload["to"],
        headers={"Message-ID": f"<{message.pk}@spinecut>"},
    ).send()


HANDLERS: dict[str, Callable[[OutboxMessage], None]] = {"mail": _send_mail}
