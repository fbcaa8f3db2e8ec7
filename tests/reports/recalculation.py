"""Recalculate a workbook in LibreOffice, and read the numbers of all its cells."""

import subprocess
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import openpyxl

# By default LibreOffice trusts the values stored in a file, and a comparison would compare the file with itself.
ALWAYS_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop>
</item>
</oor:items>
"""

Numbers = dict[tuple[str, str], float]


def recalculated(soffice: str, workbooks: Mapping[str, bytes], folder: Path) -> dict[str, bytes]:
    """Return the workbooks with every formula computed anew, all by one start of LibreOffice."""
    profile = folder / "profile" / "user"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "registrymodifications.xcu").write_text(ALWAYS_RECALCULATE)
    target = folder / "out"
    sources = {name: folder / f"book{i}.xlsx" for i, name in enumerate(workbooks)}
    for name, path in sources.items():
        path.write_bytes(workbooks[name])
    command = [soffice, f"-env:UserInstallation=file://{folder / 'profile'}", "--headless", "--norestore"]
    command += ["--convert-to", "xlsx", "--outdir", str(target), *(str(path) for path in sources.values())]
    subprocess.run(command, check=True, capture_output=True, timeout=280)
    return {name: (target / path.name).read_bytes() for name, path in sources.items()}


def numbers(workbook: bytes) -> Numbers:
    """Return every number by sheet and cell."""
    book = openpyxl.load_workbook(BytesIO(workbook), data_only=True)
    return {
        (sheet.title, cell.coordinate): float(cell.value)
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, int | float) and not isinstance(cell.value, bool)
    }


def errors(workbook: bytes) -> list[tuple[str, str, str]]:
    """Return every cell that shows an error."""
    book = openpyxl.load_workbook(BytesIO(workbook), data_only=True)
    return [
        (sheet.title, cell.coordinate, cell.value)
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, str) and cell.value.startswith("#")
    ]


def formulas(workbook: bytes) -> dict[tuple[str, str], str]:
    """Return every formula by sheet and cell."""
    book = openpyxl.load_workbook(BytesIO(workbook))
    return {
        (sheet.title, cell.coordinate): cell.value
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


def with_inputs(workbook: bytes, values: Mapping[str, float]) -> bytes:
    """Return the workbook with some inputs of the sheet Assumptions changed, as a reader would change them."""
    book = openpyxl.load_workbook(BytesIO(workbook))
    sheet = book["Assumptions"]
    rows = {sheet.cell(row, 15).value: row for row in range(5, sheet.max_row + 1)}
    for key, value in values.items():
        sheet.cell(rows[key], 4).value = value
    changed = BytesIO()
    book.save(changed)
    return changed.getvalue()
