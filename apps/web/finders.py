"""Serve scripts that installed packages carry, without copying them into the repository."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

PACKAGED = {"vendor/plotly.min.js": ("plotly", "package_data/plotly.min.js")}


class PackagedScriptFinder(BaseFinder):
    """Expose single files of installed packages under `vendor/`."""

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        found = self._location(path)
        if found is None:
            return [] if find_all else None
        return [str(found)] if find_all else str(found)

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, Storage]]:
        for path in PACKAGED:
            location = self._location(path)
            if location is not None:
                storage = FileSystemStorage(location=str(location.parent))
                storage.prefix = "vendor"  # type: ignore[attr-defined]
                yield location.name, storage

    @staticmethod
    def _location(path: str) -> Path | None:
        if path not in PACKAGED:
            return None
        package, inside = PACKAGED[path]
        location = Path(str(files(package) / inside))
        return location if location.exists() else None
