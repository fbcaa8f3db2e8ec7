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
from kombu.utils.json import dumps, loads

log = structlog.get_logger(__name__)

TURN_S: Final = 0.1
STALE_S: Final = 900  # wake-ups expire after a minute; what is left after this is rubbish


class Channel(filesystem.Channel):
    """kombu writes under the final name, so that a reader can take half a message; and such a one ends its worker."""

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
        for path in self._waiting(queue):
            taken = path.with_name(f".{path.name}.taken")
            try:
                path.rename(taken)  # whoever renames first has it
                text = taken.read_text(encoding="utf-8")
                taken.unlink()
            except OSError:
                continue
            try:
                message = loads(text)
                if isinstance(message, dict) and "properties" in message:
                    return message
            except ValueError:
                pass
            log.warning("queue.garbled_message", queue=queue, name=path.name)
        raise Empty

    def _size(self, queue: str) -> int:
        return len(self._waiting(queue))

    def _purge(self, queue: str) -> int:
        waiting = self._waiting(queue)
        for path in waiting:
            path.unlink(missing_ok=True)
        return len(waiting)

    def _waiting(self, queue: str) -> list[Path]:
        """Messages of one queue, oldest first; none while the folder is not there yet or not to be read."""
        try:
            return sorted(Path(self.data_folder_in).glob(f"[!.]*.{queue}.msg"))
        except OSError:
            return []

    def _queue_bind(self, *args: Any) -> None:
        self.control_folder.mkdir(parents=True, exist_ok=True)
        super()._queue_bind(*args)


class Transport(filesystem.Transport):
    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **values: Any) -> None:
        """Wait for one message, in short turns: between two of them Celery frees the slot of a finished task.

        It waits two seconds otherwise, and a worker then takes one task every two seconds.
        """
        turn = self.polling_interval or TURN_S
        super().drain_events(connection, timeout=turn if timeout is None else min(timeout, turn), **values)


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
