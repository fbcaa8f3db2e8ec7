"""A throw-away installation: its own folder with database, files and queue, gone after one command."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import django
from django.conf import settings

# whatever would lead the command to a shared service
SHARED = ("REDIS_URL", "CACHE_URL", "DATABASE_URL", "STATIC_ROOT", "DJANGO_SETTINGS_MODULE")
OLDEST_TEMPLATES_KEPT = 3


def run_in_throwaway(arguments: Sequence[str]) -> int:
    """Run `manage.py` with arguments on a fresh database that is deleted afterwards; return its exit code."""
    template = template_database()
    with _folder() as folder:
        shutil.copyfile(template, folder / "spinecut.sqlite3")
        return _manage(arguments, folder)


def template_database() -> Path:
    """A migrated database with the product's catalogue, made once for each state of migrations and fixtures."""
    cache = Path(settings.VAR_DIR) / "cache"
    template = cache / f"assess-{_state()}.sqlite3"
    if template.exists():
        return template
    cache.mkdir(parents=True, exist_ok=True)
    with _folder() as folder:
        # what a first start does, without looking at pages
        for command in (["migrate", "--no-input", "--skip-checks"], ["createcachetable"],
                        ["load_catalogue", "--skip-checks"]):  # fmt: skip
            code = _manage([*command, "--verbosity=0"], folder)
            if code:
                raise RuntimeError(f"manage.py {command[0]} ended with exit code {code}.")
        _settle(folder / "spinecut.sqlite3")
        fresh = cache / f".{template.name}.{os.getpid()}"
        shutil.copyfile(folder / "spinecut.sqlite3", fresh)
        fresh.replace(template)  # whole or not at all, also when two commands start at once
    _forget_old(cache)
    return template


def _manage(arguments: Sequence[str], folder: Path) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in SHARED}
    environment |= {"SPINECUT_VAR_DIR": str(folder), "SPINECUT_PRODUCTION": "False", "LOG_LEVEL": "ERROR"}
    command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *arguments]
    return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 # our own command line


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="spinecut-assess-") as name:
        yield Path(name)


def _settle(database: Path) -> None:
    """Move what stands in the write-ahead log into the file itself, because only the file is copied."""
    import sqlite3

    connection = sqlite3.connect(database)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _state() -> str:
    """A hash of everything that ends up in the template."""
    base = Path(settings.BASE_DIR)
    digest = hashlib.sha256(django.get_version().encode())
    names = [*base.glob("apps/*/migrations/*.py"), *base.glob("fixtures/*.*"), *base.glob("fixtures/catalogue/*")]
    for path in sorted(names):
        digest.update(str(path.relative_to(base)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _forget_old(cache: Path) -> None:
    templates = sorted(cache.glob("assess-*.sqlite3"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in templates[OLDEST_TEMPLATES_KEPT:]:
        path.unlink(missing_ok=True)
