"""Messages as files, for installations without Redis: kombu's transport with two faults taken out, and its upkeep."""

import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any, Final

import structlog
from django.conf import settings
from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps

log = structlog.get_logger(__name__)

STALE_S: Final = 900  # wake-ups expire after a minute; what is left after this is rubbish


class Channel(filesystem.Channel):
    """kombu opens the final name and then writes, so that a reader can take an empty file and die of it."""

    def _put(self, queue: str, payload: dict[str, Any], **_: Any) -> None:
        """Write beside the queue, then rename: a message is there whole or not at all."""
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}.msg"
        hidden = Path(self.data_folder_out) / f".{name}.writing"
        try:
            hidden.parent.mkdir(parents=True, exist_ok=True)
            hidden.write_text(dumps(payload), encoding="utf-8")
            hidden.rename(hidden.with_name(name))
        except OSError as error:
            raise ChannelError(f"Cannot write message {name!r}: {error.strerror}.") from error

    def _get(self, queue: str) -> dict[str, Any]:
        """Take the oldest message that can be read; one that cannot is dropped, the sweep sends another."""
        try:
            return super()._get(queue)
        except ValueError as error:
            log.warning("queue.garbled_message", queue=queue, error=str(error))
            raise Empty from error
        except FileNotFoundError as error:  # nobody has sent anything yet
            raise Empty from error

    def _queue_bind(self, *args: Any) -> None:
        self.control_folder.mkdir(parents=True, exist_ok=True)
        super()._queue_bind(*args)


class Transport(filesystem.Transport):
    Channel = Channel


def remove_stale(*, older_than_s: float = STALE_S) -> int:
    """Delete messages that nobody took, such as answers to workers that are gone, and return how many."""
    if settings.REDIS_URL:
        return 0
    limit = time.time() - older_than_s
    removed = 0
    for path in (settings.QUEUE_DIR / "messages").glob("*"):
        try:
            if path.stat().st_mtime < limit:
                path.unlink()
                removed += 1
        except FileNotFoundError:  # a worker or another sweep was faster
            continue
    return removed
