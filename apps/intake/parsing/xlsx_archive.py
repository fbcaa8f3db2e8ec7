"""The archive around a workbook, looked at before anything in it is unpacked."""

import zipfile
from io import BytesIO
from typing import IO

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from apps.intake.parsing import limits
from apps.intake.parsing.table import Refusal

_DAMAGED = "The file is damaged or incomplete: it is not a valid XLSX workbook. Save it again and upload it."


class Archive:
    """Parts of a workbook, each read once and within the limits."""

    def __init__(self, content: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(content))
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, IndexError, UnicodeDecodeError):
            raise Refusal(_DAMAGED) from None
        self._total = 0
        self.names = [info.filename for info in infos]
        _check(infos)
        self._infos = {info.filename: info for info in infos}

    def has(self, name: str) -> bool:
        return name in self._infos

    def read(self, name: str) -> bytes:
        """The bytes of a part; counts what really comes out, whatever the archive declares."""
        with self.open(name) as part:
            try:
                data = part.read(limits.PART_BYTES + 1)
            except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
                raise Refusal(_DAMAGED) from error
        self._total += len(data)
        if len(data) > limits.PART_BYTES or self._total > limits.UNPACKED_BYTES:
            raise Refusal(f"The workbook unpacks to more than its size limit of {megabytes_text()}.")
        return data

    def open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(self._infos[name])
        except (KeyError, zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
            raise Refusal(_DAMAGED) from None

    def check_contents(self) -> None:
        """Refuse document types in any XML part and archives inside the archive."""
        for name in self.names:
            if name.endswith("/"):
                continue
            with self.open(name) as part:
                try:
                    start = part.read(4096)
                except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
                    raise Refusal(_DAMAGED) from error
            if start.startswith((b"PK\x03\x04", b"\x1f\x8b", b"Rar!", b"7z\xbc\xaf")):
                raise Refusal(
                    f"The workbook holds another archive, {name[-60:]}; archives inside archives are refused."
                )
            if b"<!DOCTYPE" in start or b"<!ENTITY" in start or b"<\x00!\x00D\x00O\x00C\x00T" in start:
                raise Refusal(xml_text(name))


def xml_text(name: str) -> str:
    return f"The XML of {name[-60:]} declares a document type (DTD) or entities; that is not allowed in a workbook."


def megabytes_text() -> str:
    return f"{limits.megabytes(limits.UNPACKED_BYTES)} in total and {limits.megabytes(limits.PART_BYTES)} per part"


def parse_xml(data: bytes, name: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - an ElementTree element
    """The root element of a small part; entities, DTD and broken XML are refused."""
    try:
        return fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        raise Refusal(xml_text(name)) from None
    except (SyntaxError, ValueError, LookupError):
        raise Refusal(_DAMAGED) from None


def _check(infos: list[zipfile.ZipInfo]) -> None:
    if len(infos) > limits.ARCHIVE_ENTRIES:
        raise Refusal(
            f"The archive holds {len(infos):,} entries (parts); the limit is {limits.ARCHIVE_ENTRIES} entries."
        )
    names = [info.filename for info in infos]
    largest = max((info.file_size for info in infos), default=0)
    total = sum(info.file_size for info in infos)
    if largest > limits.PART_BYTES or total > limits.UNPACKED_BYTES:
        raise Refusal(
            f"The workbook is too large: it would unpack to {limits.megabytes(total)}, its largest part to "
            f"{limits.megabytes(largest)}; the size limits are {megabytes_text()}."
        )
    if len({name.casefold() for name in names}) < len(names):
        raise Refusal("The archive holds two entries of the same name; it cannot be told which one counts.")
    if len({info.header_offset for info in infos}) < len(infos):
        raise Refusal("The archive's entries overlap; it was not written by a spreadsheet program.")
    for info in infos:
        _check_entry(info)
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/workbook") for name in names):
        raise Refusal("The file is an archive but not a valid XLSX workbook.")


def _check_entry(info: zipfile.ZipInfo) -> None:
    # ZipInfo cuts names at NUL and changes separators; the name as stored counts here.
    name = info.orig_filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in name or "\x00" in name:
        raise Refusal(f"The archive holds an entry with an unsafe path, “{name[-60:]}”; the workbook is refused.")
    if info.flag_bits & 0x1:
        raise Refusal("The workbook's archive is encrypted with a password. Save it without and upload it again.")
    lower = name.casefold()
    if lower.endswith(("vbaproject.bin", "vbadata.xml")) or "/macrosheets/" in lower:
        raise Refusal("The workbook holds a macro project. Save it as .xlsx without macros and upload it again.")
    if lower.endswith((".zip", ".xlsx", ".xlsm", ".docx", ".jar", ".7z", ".rar", ".gz", ".exe", ".dll")):
        raise Refusal(f"The workbook holds another file, {name[-60:]}; embedded archives and programs are refused.")
