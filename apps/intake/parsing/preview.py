"""A sheet as found, bounded, for the preview: row numbers, column letters, and where each column goes."""

from typing import Any

from apps.intake.parsing import limits
from apps.intake.parsing.mapping import Header
from apps.intake.parsing.report import Report
from apps.intake.parsing.table import Table, letter

_SHOWN_COLUMNS = 40


def as_found(table: Table, header: Header | None, report: Report) -> dict[str, Any]:
    """Return name, columns, header row, mapping and rows; rows with a message are never cut off."""
    width = min(table.width(), _SHOWN_COLUMNS)
    spoken_of = {message["row"] for message in report.messages if message["sheet"] == table.name and message["row"]}
    named = {cell for question in report.questions for cell in question["cells"]}
    rows = sorted(table.rows)
    if len(rows) > limits.PREVIEW_ROWS:
        first = set(rows[: limits.PREVIEW_ROWS])
        asked = {row for row in rows if any(table.ref(row, column) in named for column in table.rows[row])}
        rows = [row for row in rows if row in first | set(sorted(spoken_of | asked)[: limits.PREVIEW_ROWS])]
    return {
        "name": table.name,
        "columns": [letter(column) for column in range(1, width + 1)],
        "header_row": header.row if header else None,
        "mapping": {letter(column): name for column, name in sorted(header.columns.items())} if header else {},
        "n_rows": len(table.rows),
        "rows": [
            {
                "row": row,
                "cells": [table.cell(row, column).text[: limits.PREVIEW_CHARACTERS] for column in range(1, width + 1)],
                "refs": [table.ref(row, column) for column in range(1, width + 1)] if table.medium == "json" else [],
                "hidden": row in table.hidden_rows,
            }
            for row in rows
        ],
    }
