"""What a file is, told by its bytes and never by its name, and how its text is encoded."""

from apps.intake.parsing.report import Report
from apps.intake.parsing.table import Refusal

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES = (
    (b"PK\x03\x04", "xlsx"),
    (b"PK\x05\x06", "xlsx"),
    (_OLE, "ole"),
    (b"%PDF-", "PDF"),
    (b"\x1f\x8b", "gzip archive"),
    (b"Rar!", "RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
    (b"{\\rtf", "RTF document"),
)
CONTENT_TYPES = {
    "quote_csv": "text/csv",
    "quote_json": "application/json",
    "quote_xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_CANDIDATES = (
    ("cp1252", "Windows-1252 (Western Europe)"),
    ("iso8859_15", "ISO 8859-15 (Western Europe)"),
    ("cp1250", "Windows-1250 (Central Europe)"),
    ("cp1251", "Windows-1251 (Cyrillic)"),
    ("mac_roman", "Mac Roman"),
    ("cp850", "DOS 850"),
    ("shift_jis", "Shift JIS"),
    ("gb18030", "GB 18030"),
)


def kind_of(content: bytes) -> str:
    """quote_xlsx, quote_json or quote_csv; raises `Refusal` for anything that cannot be one of these."""
    found = _signature(content)
    if found == "xlsx":
        return "quote_xlsx"
    if found == "ole":
        raise Refusal(ole_text(content))
    if found:
        raise Refusal(f"The file is a {found}, not a quote in XLSX, CSV or JSON.")
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<script", b"<table")):
        raise Refusal("The file is a web page or XML, not a quote in XLSX, CSV or JSON. Save it as .xlsx or .csv.")
    return "quote_json" if start[:1] in (b"{", b"[") else "quote_csv"


def check_kind(content: bytes, kind: str) -> None:
    """Refuse a file whose content is not of the kind it was uploaded as."""
    if not content.strip(b"\x00 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise Refusal("The file is empty: it holds no data.")
    if kind == "quote_xlsx" and _signature(content) not in ("xlsx", "ole"):
        raise Refusal("The file is not a valid XLSX workbook: its content is something else or damaged.")
    found = kind_of(content)
    if found == kind or (found != "quote_xlsx" and kind != "quote_xlsx"):
        return
    name = "CSV" if kind == "quote_csv" else "JSON"
    raise Refusal(f"The file is a spreadsheet (XLSX), not a {name} file, whatever its name says. Upload it as XLSX.")


def ole_text(content: bytes) -> str:
    encrypted = "EncryptedPackage".encode("utf-16-le") in content
    what = (
        "is protected by a password (encrypted)"
        if encrypted
        else "is protected by a password (encrypted) or is an old .xls workbook from before 2007"
    )
    return f"The file {what}; neither can be read. Save it as .xlsx without a password and upload it again."


def decode(content: bytes, report: Report) -> str:
    """Return the text of a file: UTF-8 with or without mark, UTF-16 with mark; any other encoding is asked."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            raise Refusal("The file begins as UTF-16 but is damaged or incomplete.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _ask_encoding(content, error.start, report)


def _ask_encoding(content: bytes, at: int, report: Report) -> str:
    """Offer the encodings that give sensible text, each with a sample of it."""
    if b"\x00" in content:
        raise Refusal("The file holds NUL characters: it is binary data, not text.")
    start = content.rfind(b"\n", 0, at) + 1
    end = content.find(b"\n", at)
    line = content[start : end if end >= 0 else len(content)]
    line = line[max(0, at - start - 40) : at - start + 60]
    samples: dict[str, tuple[str, str]] = {}
    for codec, name in _CANDIDATES:
        try:
            sample = line.decode(codec)
            content.decode(codec)
        except UnicodeDecodeError:
            continue
        if any(
            (ord(character) < 32 and character not in "\t\r") or 127 <= ord(character) < 160 for character in sample
        ):
            continue
        samples.setdefault(sample, (codec, name))
    if not samples:
        raise Refusal("The file's text encoding was not recognised. Save it as CSV UTF-8 and upload it again.")
    choices = [(codec, f"{name}: {sample.strip()}") for sample, (codec, name) in samples.items()]
    answer = report.ask(
        "encoding",
        about="text encoding of the file",
        cells=[],
        choices=choices,
        suggested=choices[0][0],
        reason="The file is not UTF-8. Choose the encoding in which the sample reads right.",
    )
    return content.decode(answer or choices[0][0])


def _signature(content: bytes) -> str:
    return next((name for signature, name in _SIGNATURES if content.startswith(signature)), "")
