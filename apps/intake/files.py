"""Uploaded files: cleaned names, storage under generated names, and headers that keep a browser from opening them."""

import re
import unicodedata
import uuid
from typing import IO
from urllib.parse import quote

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from apps.accounts.models import Client
from apps.accounts.services import client_directory
from apps.intake.models import UploadedFile

MAX_NAME = 120  # characters of a shown name; databases and file systems take more
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def clean_name(name: str) -> str:
    """A file's name as it may be shown and offered for download: one line, no path, no direction tricks.

    It is never used as a path; the stored name is generated.
    """
    name = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    # Cc control characters, Cf format characters such as direction overrides, line and paragraph separators.
    name = "".join(c for c in name if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"))
    name = re.sub(r'[<>:"|?*;]', "_", name)
    name = re.sub(r"\s+", " ", name).strip(" .")
    if not name or _DEVICES.fullmatch(name):
        name = f"upload-{name}" if name else "upload"
    if len(name) > MAX_NAME:
        stem, dot, ending = name.rpartition(".")
        keep = f"{dot}{ending}" if dot and len(ending) <= 8 else ""
        name = (stem if keep else name)[: MAX_NAME - len(keep)] + keep
    return name


def store(*, client: Client, content: bytes) -> str:
    """Write the bytes unchanged under a generated name below the client's folder and return that name."""
    name = f"{client_directory(str(client.pk))}/{uuid.uuid4().hex}"
    return default_storage.save(name, ContentFile(content))


def remove(stored_name: str) -> None:
    if stored_name:
        default_storage.delete(stored_name)


def open_file(file: UploadedFile) -> IO[bytes]:
    """The bytes of a file as they came. Raises `FileNotFoundError` for one that was refused and not kept."""
    if not file.stored_name:
        raise FileNotFoundError("The file was refused and is not kept.")
    return default_storage.open(file.stored_name, "rb")


def download_headers(file: UploadedFile) -> dict[str, str]:
    """Headers of a download: saved, never opened as a page, with one file name in plain and in full spelling."""
    name = clean_name(file.original_name)
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", plain).strip(" .") or "download"
    return {
        "Content-Type": "application/octet-stream",
        "Content-Length": str(file.size_bytes),
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "private, no-store",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
