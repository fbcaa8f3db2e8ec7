"""Structured logs: one JSON object a line, with request id, run id, user and client where they are known."""

import logging
import logging.config
import re
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.types import Processor

# Neither secrets nor what a client pays belongs into a log, whoever passes it by mistake.
SECRET_NAME = re.compile(
    r"password|passcode|secret|token|authorization|cookie|session|api_?key|price|cost|amount|_usd|_eur|total", re.I
)
# A long path segment that is not a UUID is a share link, an invitation or a reset key.
TOKEN_IN_PATH = re.compile(r"(?<=/)(?![0-9a-f]{8}-[0-9a-f]{4}-)[A-Za-z0-9_:=-]{20,}")
HIDDEN = "[hidden]"


def without_tokens(text: str) -> str:
    """Return `text` with secret parts of addresses replaced."""
    return TOKEN_IN_PATH.sub(HIDDEN, text)


def hide_secrets(_: Any, __: str, record: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace values whose name says that they are secret or a price, and tokens in addresses."""
    for name, value in record.items():
        if SECRET_NAME.search(name):
            record[name] = HIDDEN
        elif isinstance(value, str) and "/" in value and name in ("event", "path"):
            record[name] = without_tokens(value)
    return record


def configure(options: dict[str, Any]) -> None:
    """Send structlog's and the standard library's records to standard error as JSON."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "json": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "processors": [
                        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                        structlog.processors.format_exc_info,
                        hide_secrets,
                        # Escapes line breaks and everything beyond ASCII: one record is one line.
                        structlog.processors.JSONRenderer(ensure_ascii=True, default=str),
                    ],
                    "foreign_pre_chain": shared,
                }
            },
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
            "root": {"handlers": ["stderr"], "level": options["level"]},
            "loggers": {
                "django.server": {"handlers": [], "propagate": True},
                "celery.beat": {"level": "WARNING"},  # every five seconds that it is about to sweep
                "django": {"handlers": [], "propagate": True, "level": options["level"]},
            },
        }
    )
    logging.captureWarnings(True)  # into the same lines
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
