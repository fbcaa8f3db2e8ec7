"""The secret key and the host names; production mode refuses what is missing, short or copied from a manual."""

import contextlib
import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from apps.config.env import env_list, env_str

SHORTEST_KEY = 50
FEWEST_CHARACTERS = 12  # different ones
SAMPLE_WORDS = ("insecure", "change", "example", "sample", "secret", "replace", "your-", "placeholder", "default")


def secret_key(var_dir: Path, *, production: bool) -> str:
    """Return the configured key; outside production one made on first start and kept out of the repository."""
    key = env_str("SECRET_KEY")
    if production:
        _refuse_weak(key)
    return key or _development_key(var_dir / "secret_key")


def _refuse_weak(key: str) -> None:
    remedy = "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
    if not key:
        raise ImproperlyConfigured(f"SECRET_KEY is not set; production mode does not start without it. {remedy}")
    if len(key) < SHORTEST_KEY or len(set(key)) < FEWEST_CHARACTERS:
        raise ImproperlyConfigured(
            f"SECRET_KEY is too short or too regular; it needs {SHORTEST_KEY} characters. {remedy}"
        )
    if any(word in key.lower() for word in SAMPLE_WORDS):
        raise ImproperlyConfigured(f"SECRET_KEY looks like a sample from a manual. {remedy}")


def _development_key(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        own = path.with_name(f"secret_key.{os.getpid()}")
        with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
        with contextlib.suppress(FileExistsError):  # another process of the same start was first
            os.link(own, path)  # appears complete or not at all
        own.unlink()
    return path.read_text().strip()


def allowed_hosts(*, production: bool) -> list[str]:
    """Return the host names this installation answers to."""
    hosts = env_list("ALLOWED_HOSTS", "" if production else "localhost,127.0.0.1,[::1],testserver")
    if production and (not hosts or "*" in hosts):
        raise ImproperlyConfigured(
            "ALLOWED_HOSTS must list the host names of this installation, such as spinecut.example.com; "
            "production mode does not answer to every name."
        )
    return hosts
