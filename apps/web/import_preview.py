"""A previewed import as a screen shows it: the sheets as found, what is to correct or decide, what would change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.intake import selectors
from apps.intake.models import ImportBatch
from apps.intake.parsing.fields import LINE_FIELDS, QUOTE_FIELDS
from apps.intake.services import VENDOR_QUESTION
from apps.vendors.models import QuoteVersion
from apps.web.import_changes import Change, before, changed_cells, changes_of, diff_of, made_by

State = ImportBatch.State
RADIOS = 4  # more choices than this become a list
NOTES = 40
LONG = 18  # characters from which a cell is given a wide column
CELL = "cell:"
ANSWER = "answer:"
ASK_AGAIN = "?"  # no question has it as a choice, so the question is put again
KINDS = {"quote_xlsx": "XLSX", "quote_csv": "CSV", "quote_json": "JSON"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing to correct or decide; `number` also stands in the cells it is about."""

    number: int
    severity: str  # red: to correct, amber: to decide
    place: str
    texts: tuple[str, ...]
    cells: tuple[str, ...]
    name: str
    value: str = ""
    choices: tuple[dict[str, str], ...] = ()
    suggested: str | None = None
    sheet: str = ""

    @property
    def id(self) -> str:
        return f"entry-{self.number}"

    @property
    def is_list(self) -> bool:
        return len(self.choices) > RADIOS


@dataclass(frozen=True)
class Note:
    """Something that the import says and that holds nothing up."""

    severity: str
    place: str
    text: str


@dataclass(frozen=True)
class ShownCell:
    text: str
    number: int | None = None
    severity: str = ""
    changed: bool = False
    numeric: bool = False
    long: bool = False

    @property
    def css(self) -> str:
        mark = f"cell-{self.severity}" if self.severity else "cell-changed" if self.changed else ""
        width = "num" if self.numeric else "cell-long" if self.long else ""
        return f"{width} {mark}".strip()


@dataclass(frozen=True)
class ShownRow:
    label: str
    cells: list[ShownCell]
    header: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Tab:
    name: str
    errors: int
    asked: int
    current: bool


@dataclass(frozen=True)
class Sheet:
    """One sheet as found; `meanings` is the row marked with an arrow, empty where columns have no meaning."""

    name: str
    columns: list[str]
    meanings: list[str]
    rows: list[ShownRow]
    header_row: int | None
    left_out: int
    is_json: bool


@dataclass(kw_only=True)
class Preview:
    """Everything that the preview page shows about one import."""

    batch: ImportBatch
    entries: list[Entry]
    notes: list[Note]
    n_notes_left: int
    counts: dict[str, int]
    tabs: list[Tab]
    sheet: Sheet | None
    earlier: QuoteVersion | None
    version: int  # that the import makes, or has made
    changes: list[Change] = field(default_factory=list)

    @property
    def n_cells(self) -> int:
        return sum(1 for entry in self.entries if entry.severity == "red")

    @property
    def n_questions(self) -> int:
        return len(self.entries) - self.n_cells

    @property
    def is_open(self) -> bool:
        return self.batch.state in (State.QUESTIONS, State.READY)

    @property
    def n_facts(self) -> int:
        return sum(self.counts[name] for name in ("ready", "errors", "asked", "not_given"))

    @property
    def segments(self) -> list[tuple[str, int]]:
        counts = self.counts
        return [
            ("done", counts["ready"]),
            ("errors", counts["errors"]),
            ("open", counts["asked"]),
            ("track", counts["not_given"]),
        ]


def preview_of(batch: ImportBatch, sheet_name: str = "") -> Preview:
    """The preview with the sheet asked for, else the first one with something to correct, else that of the lines."""
    found = batch.preview
    entries = entries_of(batch)
    made = made_by(batch)
    earlier = before(made) if made else selectors.earlier_version(batch)
    diff = diff_of(batch, earlier) if earlier is not None else None
    sheets = found.get("sheets", [])
    chosen = _chosen(sheets, entries, sheet_name)
    changed = changed_cells(found.get("lines", []), diff) if diff else set()
    notes = notes_of(batch)
    return Preview(
        batch=batch,
        entries=entries,
        notes=notes[:NOTES],
        n_notes_left=max(0, len(notes) - NOTES),
        counts=selectors.progress(batch),
        tabs=[_tab(sheet, entries, sheet is chosen) for sheet in sheets],
        sheet=shown_sheet(chosen, entries, changed, is_json=batch.kind == "quote_json") if chosen else None,
        earlier=earlier,
        version=made.version if made else earlier.version + 1 if earlier else 1,
        changes=changes_of(batch, earlier, diff) if earlier is not None and diff is not None else [],
    )


# What is to be done ---------------------------------------------------------------------------------------------------
def entries_of(batch: ImportBatch) -> list[Entry]:
    """Cells to correct, then questions, numbered through; nothing is to be done about an import that is over."""
    if batch.state not in (State.QUESTIONS, State.READY):
        return []
    found = batch.preview
    texts = texts_of_cells(found.get("sheets", []), is_json=batch.kind == "quote_json")
    errors: dict[str, list[dict[str, Any]]] = {}
    for message in found.get("messages", []):
        if message["severity"] == "error" and message["cell"]:
            errors.setdefault(message["cell"], []).append(message)
    captions = captions_of(found.get("sheets", []))
    entries = [
        _to_correct(number, cell, messages, texts, batch.kind, captions)
        for number, (cell, messages) in enumerate(_in_order(errors, found.get("sheets", [])), start=1)
    ]
    questions = found.get("questions", [])
    return entries + [
        _to_decide(number, question, batch.kind) for number, question in enumerate(questions, start=len(entries) + 1)
    ]


def _in_order(
    errors: dict[str, list[dict[str, Any]]], sheets: list[dict[str, Any]]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Cells as they stand in the file: by sheet, row and column; the sheet of the lines first."""
    names = sorted((sheet["name"] for sheet in sheets), key=lambda name: not _is_lines(name, sheets))
    place = {name: number for number, name in enumerate(names)}

    def key(item: tuple[str, list[dict[str, Any]]]) -> tuple[int, int, int, str]:
        message = item[1][0]
        column = str(message["column"])
        return (place.get(message["sheet"], len(place)), message["row"] or 0, len(column), column)

    return sorted(errors.items(), key=key)


def _is_lines(name: str, sheets: list[dict[str, Any]]) -> bool:
    return any(sheet["name"] == name and sheet["mapping"] for sheet in sheets)


def captions_of(sheets: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """What the table head calls a field: the file's own heading, or our words where the file uses the field's name."""
    found: dict[tuple[str, str], str] = {}
    for sheet in sheets:
        header = next((row for row in sheet["rows"] if row["row"] == sheet["header_row"]), None)
        headings = dict(zip(sheet["columns"], header["cells"], strict=False)) if header else {}
        for column, name in (sheet["mapping"] or {}).items():
            heading = str(headings.get(column, "")).strip()
            if name in LINE_FIELDS:
                found[(sheet["name"], name)] = heading if heading and heading != name else LINE_FIELDS[name].label
    return found


def worded(message: Mapping[str, Any], captions: Mapping[tuple[str, str], str]) -> str:
    """The text of a message with the caption in front of the name that scripts use, which follows in brackets."""
    text, name = str(message["text"]), str(message["field"])
    known = LINE_FIELDS.get(name) or QUOTE_FIELDS.get(name)
    caption = captions.get((message["sheet"], name)) or (known.label if known else "")
    if not caption or caption == name or not text.startswith(f"{name} "):
        return text
    return f"{caption} ({name}){text[len(name) :]}"


def _to_correct(
    number: int,
    cell: str,
    messages: list[dict[str, Any]],
    texts: Mapping[str, str],
    kind: str,
    captions: Mapping[tuple[str, str], str],
) -> Entry:
    return Entry(
        number=number,
        severity="red",
        place=place_of([cell], kind),
        texts=tuple(dict.fromkeys(worded(message, captions) for message in messages)),
        cells=(cell,),
        name=f"{CELL}{cell}",
        value=texts.get(cell, messages[0]["found"]),
        sheet=messages[0]["sheet"],
    )


def _to_decide(number: int, question: dict[str, Any], kind: str) -> Entry:
    cells = tuple(question["cells"])
    about = str(question["about"])
    return Entry(
        number=number,
        severity="amber",
        place=place_of(cells, kind) or about[:1].upper() + about[1:],
        texts=tuple(text for text in (f"{about[:1].upper()}{about[1:]}." if cells else "", question["reason"]) if text),
        cells=cells,
        name=f"{ANSWER}{question['id']}",
        choices=tuple(question["choices"]),
        suggested=question["suggested"],
        sheet=cells[0].rpartition("!")[0] if cells and "!" in cells[0] else "",
    )


def place_of(cells: Iterable[str], kind: str) -> str:
    """Lines!E7:G7 for cells of one row; F9 of a CSV file is row 9, column F; a path for JSON."""
    found = list(cells)
    if not found:
        return ""
    first, last = found[0], found[-1]
    if kind == "quote_csv":
        address = first.rpartition("!")[2]
        letters = address.rstrip("0123456789")
        first = _("row %(row)s, column %(column)s") % {"row": address[len(letters) :], "column": letters}
        return first if len(found) == 1 else _("%(place)s and %(n)d more") % {"place": first, "n": len(found) - 1}
    same_row = first.rstrip("0123456789") != first and _row(first) == _row(last) and "!" in first
    if len(found) == 1:
        return first
    if same_row and len({_row(cell) for cell in found}) == 1 and first.rpartition("!")[0] == last.rpartition("!")[0]:
        return f"{first}:{last.rpartition('!')[2]}"
    return _("%(place)s and %(n)d more") % {"place": first, "n": len(found) - 1}


def _row(cell: str) -> str:
    address = cell.rpartition("!")[2]
    return address[len(address.rstrip("0123456789")) :]


def notes_of(batch: ImportBatch) -> list[Note]:
    """Warnings and notes; of a refused file also its errors, and of an open one those without a cell."""
    messages = batch.preview.get("messages", [])
    captions = captions_of(batch.preview.get("sheets", []))
    listed = batch.state in (State.QUESTIONS, State.READY)
    glyphs = {"error": "red", "warning": "amber", "info": "info"}
    notes = [
        Note(glyphs.get(message["severity"], "info"), message["where"], worded(message, captions))
        for message in messages
        if not (listed and message["severity"] == "error" and message["cell"])
    ]
    return sorted(notes, key=lambda note: ("red", "amber", "info").index(note.severity))


def given_answers(batch: ImportBatch) -> dict[str, Any]:
    """What people have corrected and decided so far, to be shown and taken back."""
    answers = batch.answers or {}
    return {
        "corrections": [
            {"cell": cell, "place": place_of([cell], batch.kind), "text": text}
            for cell, text in answers.get("corrections", {}).items()
        ],
        "n_answers": sum(
            1 for key, text in answers.get("answers", {}).items() if key != VENDOR_QUESTION and text != ASK_AGAIN
        ),
    }


# The sheets -----------------------------------------------------------------------------------------------------------
def _chosen(sheets: list[dict[str, Any]], entries: list[Entry], name: str) -> dict[str, Any] | None:
    by_name = {sheet["name"]: sheet for sheet in sheets}
    if name in by_name:
        return by_name[name]
    mapped = next((sheet for sheet in sheets if sheet["mapping"]), None)
    if mapped is not None and any(entry.sheet == mapped["name"] for entry in entries):
        return mapped
    asked = next((by_name[entry.sheet] for entry in entries if entry.sheet in by_name), None)
    return asked or mapped or next(iter(sheets), None)


def _tab(sheet: dict[str, Any], entries: list[Entry], current: bool) -> Tab:
    refs = {ref for row in sheet["rows"] for ref in _refs(sheet, row)}
    counts = {
        severity: len({cell for entry in entries if entry.severity == severity for cell in entry.cells} & refs)
        for severity in ("red", "amber")
    }
    return Tab(sheet["name"], counts["red"], counts["amber"], current)


def _refs(sheet: dict[str, Any], row: dict[str, Any]) -> list[str]:
    if row["refs"]:
        return list(row["refs"])
    return [f"{sheet['name']}!{column}{row['row']}" for column in sheet["columns"]]


def texts_of_cells(sheets: list[dict[str, Any]], *, is_json: bool) -> dict[str, str]:
    """The text of each shown cell by the name a correction of it has."""
    found: dict[str, str] = {}
    for sheet in sheets:
        for row in sheet["rows"]:
            for ref, text in zip(_refs(sheet, row), row["cells"], strict=False):
                if is_json and (ref in found or text == ref.rpartition(".")[2]):
                    # name and value of a JSON field share one path: the value stands behind its name
                    found[ref] = text if text != ref.rpartition(".")[2] else found.get(ref, "")
                else:
                    found[ref] = text
    return found


def shown_sheet(sheet: dict[str, Any], entries: list[Entry], changed: set[str], *, is_json: bool) -> Sheet:
    marks = {cell: entry for entry in reversed(entries) for cell in entry.cells}
    mapping = sheet["mapping"]
    header = sheet["header_row"]
    rows = [row for row in sheet["rows"] if not (is_json and header == row["row"])]
    return Sheet(
        name=sheet["name"],
        columns=sheet["columns"],
        meanings=[_meaning(mapping, column) for column in sheet["columns"]] if mapping else [],
        rows=[_shown_row(sheet, row, marks, changed, is_json=is_json) for row in rows],
        header_row=None if is_json else header,
        left_out=max(0, sheet["n_rows"] - len(sheet["rows"])),
        is_json=is_json,
    )


def _meaning(mapping: Mapping[str, str], column: str) -> str:
    name = mapping.get(column)
    return LINE_FIELDS[name].label if name in LINE_FIELDS else ""


def _shown_row(
    sheet: dict[str, Any], row: dict[str, Any], marks: Mapping[str, Entry], changed: set[str], *, is_json: bool
) -> ShownRow:
    refs = _refs(sheet, row)
    header = row["row"] == sheet["header_row"]
    cells = []
    for index, (ref, text) in enumerate(zip(refs, row["cells"], strict=False)):
        mark = None if is_json and not sheet["mapping"] and index == 0 else marks.get(ref)
        cells.append(
            ShownCell(
                text=text,
                number=mark.number if mark else None,
                severity=mark.severity if mark else "",
                changed=ref in changed and not header,
                numeric=not header and _looks_numeric(text),
                long=row["row"] > (sheet["header_row"] or 0) and len(text) > LONG,
            )
        )
    label = str(row["row"])
    if is_json:
        label = refs[0].partition(".")[0] if refs and "[" in refs[0] else str(row["row"])
    return ShownRow(label, cells, header=header, hidden=row["hidden"])


def _looks_numeric(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return 0 < digits >= len(text.strip()) * 0.6 and not text.strip()[:1].isalpha() and text.count("-") < 2


# Words ---------------------------------------------------------------------------------------------------------------
def heading(shown: Preview) -> str:
    batch = shown.batch
    if batch.state == State.REFUSED:
        return _("This file cannot be used")
    if batch.state == State.CANCELLED:
        return _("This import was cancelled")
    if batch.state == State.UNDONE:
        return _("This import was undone")
    if batch.state == State.COMMITTED:
        return _("Imported: %(vendor)s") % {"vendor": batch.vendor_name}
    parts = to_do(shown)
    if parts:
        text = ", ".join(parts)
        return text[:1].upper() + text[1:]
    n = len(batch.preview.get("lines", []))
    return ngettext("%(n)d line is ready to import", "%(n)d lines are ready to import", n) % {"n": n}


def read_as(batch: ImportBatch) -> str:
    """What to say where the name of a file promises another kind than its bytes are; empty where they agree."""
    ending = batch.file.original_name.rpartition(".")[2].casefold()
    if (
        batch.kind not in KINDS
        or ending == KINDS[batch.kind].casefold()
        or ending not in ("xlsx", "xls", "csv", "json")
    ):
        return ""
    if ending in ("xlsx", "xls"):
        return _("It is not a workbook; it was read as %(kind)s.") % {"kind": KINDS[batch.kind]}
    return _("Its name says %(ending)s; it was read as %(kind)s.") % {
        "ending": ending.upper(),
        "kind": KINDS[batch.kind],
    }


def to_do(shown: Preview) -> list[str]:
    """["2 cells to correct", "2 questions to answer"], without what is done."""
    parts = []
    if shown.n_cells:
        parts.append(ngettext("%(n)d cell to correct", "%(n)d cells to correct", shown.n_cells) % {"n": shown.n_cells})
    if shown.n_questions:
        words = ngettext("%(n)d question to answer", "%(n)d questions to answer", shown.n_questions)
        parts.append(words % {"n": shown.n_questions})
    return parts


def waits_for(shown: Preview) -> str:
    """What the Import button says while it cannot be pressed."""
    parts = []
    if shown.n_cells:
        words = ngettext("%(n)d correction", "%(n)d corrections", shown.n_cells)
        parts.append(words % {"n": shown.n_cells})
    if shown.n_questions:
        words = ngettext("%(n)d answer", "%(n)d answers", shown.n_questions)
        parts.append(words % {"n": shown.n_questions})
    return _("Import after %s") % _(" and ").join(parts) if parts else _("Import")
