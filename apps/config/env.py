"""Typed readers of environment variables; each refuses a bad value by name."""

import os
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


def database_from_url(url: str) -> dict[str, object]:
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
            "CONN_MAX_AGE": 0,
        }
    raise ImproperlyConfigured(f"DATABASE_URL begins with {parts.scheme!r}; it must begin with sqlite or postgres.")
