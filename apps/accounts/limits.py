"""How often something may be tried: exact across threads, processes and machines.

The counters are rows of the database, not of the cache: a cache may forget, and its read-then-write is not one step.
"""

import hashlib
import time
from dataclasses import dataclass
from datetime import timedelta

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import AttemptCounter


@dataclass(frozen=True, kw_only=True)
class Limit:
    """At most `tries` within any `window_s` seconds."""

    name: str
    tries: int
    window_s: int


def _limit(name: str) -> Limit:
    tries, window_s = settings.ATTEMPT_LIMITS[name]
    return Limit(name=name, tries=tries, window_s=window_s)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A try that was counted before its outcome was known."""

    key_sha256: str
    at: float

    def forget(self) -> None:
        """The try turned out to be no failure: it does not count."""
        with transaction.atomic():
            counter = AttemptCounter.objects.select_for_update().filter(pk=self.key_sha256).first()
            if counter and self.at in counter.times:
                counter.times.remove(self.at)
                counter.save()

    def forget_all(self) -> None:
        """The person has shown who they are: no earlier failure under this key counts any more."""
        AttemptCounter.objects.filter(pk=self.key_sha256).delete()


def take(name: str, *parts: str) -> Attempt | None:
    """Count one try of the limit called `name` under the key `parts`; None when there were too many already.

    The row stays locked from reading to writing (on SQLite the whole transaction has the write lock), so of fifty
    tries at once exactly as many pass as the limit allows. A refused try is not counted.
    """
    limit = _limit(name)
    key = hashlib.sha256("\n".join([name, *parts]).encode()).hexdigest()
    with transaction.atomic():
        created = AttemptCounter.objects.get_or_create(pk=key)[1]
        counter = AttemptCounter.objects.select_for_update().get(pk=key)
        now = time.time()
        times = [at for at in counter.times if at > now - limit.window_s]
        if len(times) >= limit.tries:
            return None
        counter.times = [*times, now]
        counter.save()
    if created:
        _forget_old()
    return Attempt(key_sha256=key, at=now)


def take_all(*wanted: tuple[str, ...]) -> list[Attempt] | None:
    """Count one try under each (name, *parts); None, and nothing counted, when one of them is used up."""
    attempts: list[Attempt] = []
    for name, *parts in wanted:
        attempt = take(name, *parts)
        if attempt is None:
            for earlier in attempts:
                earlier.forget()
            return None
        attempts.append(attempt)
    return attempts


def address_of(request: HttpRequest) -> str:
    """The address a request comes from, behind as many proxies as are configured."""
    return str(get_adapter(request).get_client_ip(request))


def _forget_old() -> None:
    """Drop counters nobody touched for a day, longer than any window."""
    AttemptCounter.objects.filter(updated_at__lt=timezone.now() - timedelta(days=1)).delete()
