"""Typed readers of environment variables; each refuses a bad value by name."""

import os
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def env_str(name: str, default: str = "") -> str:
    return os.getenv(name, default)


def env_bool(name: str, default: bool) -> bool:
    value = os.getenv(name, str(default))
    if value not in ("True", "False"):
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be True or False.")
    return value == "True"


def env_int(name: str, default: int) -> int:
    value = os.getenv(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number.") from None


def env_float(name: str, default: float) -> float:
    value = os.getenv(name, str(default))
    try:
        return float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a number.") from None


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in os.getenv(name, default).split(",") if part.strip()]


def database_from_url(url: str) -> dict[str, Any]:
    """Return Django's database settings for `sqlite:///path` or `postgres://user:password@host:port/name`."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        path = unquote(parts.path)
        return {
            "ENGINE": "django.db.backends.sqlite3",
            # three slashes: relative to the working directory, four: absolute
            "NAME": path[1:],
            "OPTIONS": {
                "timeout": 20,
                "transaction_mode": "IMMEDIATE",
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
            },
        }
    if parts.scheme in ("postgres", "postgresql"):
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "CONN_HEALTH_CHECKS": True,
            # Workers fork and may be killed: they open and close. Web processes keep theirs (DATABASE_CONN_MAX_AGE_S).
            "CONN_MAX_AGE": env_int("DATABASE_CONN_MAX_AGE_S", 0),
            "OPTIONS": {
                "options": (
                    # A web page may wait shorter for the database than a worker.
                    f"-c statement_timeout={env_int('DATABASE_STATEMENT_TIMEOUT_S', 15) * 1000}"
                    " -c lock_timeout=5000 -c idle_in_transaction_session_timeout=30000"
                )
            },
        }
    raise ImproperlyConfigured(f"DATABASE_URL begins with {parts.scheme!r}; it must begin with sqlite or postgres.")
