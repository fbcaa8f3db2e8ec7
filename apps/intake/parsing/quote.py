"""From the bytes of a file to the result document of docs/import.md."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from apps.intake.parsing import capacity, csv_reader, facts, json_reader, limits, numbers, sniff, values, xlsx_reader
from apps.intake.parsing.currencies import Currencies, named_codes
from apps.intake.parsing.fields import CLAIM_FIELDS, LINE_FIELDS
from apps.intake.parsing.lines import LineReader, Lines, majority_currency
from apps.intake.parsing.mapping import Header, find_header, is_open, lines_sheet, map_columns
from apps.intake.parsing.preview import as_found
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Cell, Refusal, Table
from apps.intake.parsing.totals import check_totals, sums
from apps.intake.parsing.values import Style

_FACT_SHEETS = {"quote": "quote", "terms": "terms", "fabric": "fabric", "angebot": "quote", "devis": "quote"}
_NUMERIC = ("number", "money", "percent")
# Names that would point at rows of the database; a file names vendors and quotes by their own names.
_ID_TEXT = "There is no such entry. Files name a vendor by its name; ids are not accepted."


@dataclass(slots=True)
class Request:
    """What a parse is given: the bytes, the kind, and what the user has said since the first preview."""

    content: bytes
    kind: str = ""  # quote_csv, quote_xlsx, quote_json; empty: as the content says
    answers: dict[str, str] = field(default_factory=dict)
    corrections: dict[str, str] = field(default_factory=dict)
    mapping: dict[str, str | None] = field(default_factory=dict)  # heading -> field, or None to leave it out


def parse(request: Request) -> dict[str, Any]:
    """Return the result document; a file that cannot be used gives one with outcome reject."""
    report = Report(answers=request.answers)
    kind = request.kind
    try:
        if len(request.content) > limits.FILE_BYTES:
            raise Refusal(
                f"The file's size is {limits.megabytes(len(request.content))}; "
                f"the size limit is {limits.megabytes(limits.FILE_BYTES)}."
            )
        kind = kind or sniff.kind_of(request.content)
        sniff.check_kind(request.content, kind)
        return _Parser(request, kind, report).parse()
    except Refusal as refusal:
        report.error(None, str(refusal))
        return _document(kind, report)


def refused(kind: str, text: str, *, seconds: float = 0.0) -> dict[str, Any]:
    """The result document of a file that could not be looked into."""
    report = Report()
    report.error(None, text)
    return {**_document(kind, report), "seconds": round(seconds, 3), "peak_rss_mb": 0}


def _document(kind: str, report: Report, **parts: Any) -> dict[str, Any]:
    """The result document with every key, whatever was found."""
    if report.left_out:
        report.messages.append(
            {
                **dict.fromkeys(report.messages[0], ""),
                "severity": "info",
                "row": None,
                "text": f"{report.left_out} more messages are not listed.",
            }
        )
    document: dict[str, Any] = {
        "kind": kind,
        "outcome": report.outcome(),
        "fixable": report.fixable(),
        "messages": report.messages,
        "questions": report.questions,
        "number_style": None,
        "header_sha256": "",
        "sheets": [],
        "quote": {},
        "lines": [],
        "terms": {},
        "fabric": {},
        "claims": [],
        "totals": {},
        "mapping_needed": [],
        "mapping": {},
    }
    return {**document, **parts}


class _Parser:
    """One parse of one file."""

    def __init__(self, request: Request, kind: str, report: Report) -> None:
        self.request, self.kind, self.report = request, kind, report
        self.style = Style()
        self.epoch_1904 = False
        self.tables: list[Table] = []
        self.lines_table: Table | None = None

    def parse(self) -> dict[str, Any]:
        self._read_tables()
        self._note_hidden()
        unused = set(self.request.corrections)
        for table in self.tables:
            unused -= table.apply_corrections(self.request.corrections)
        for key in sorted(unused):
            self.report.warn(None, f"The correction of {key[:60]} has no cell in this file; ignored.")
        table = self.lines_table = self._lines_table()
        header = self._header(table)
        found = self._facts(table, header)
        self._find_styles(table, header, found)
        interpreted = facts.interpret(found, self.style, self.report, epoch_1904=self.epoch_1904)
        facts.name_kept(found, interpreted, self.report)
        currencies = Currencies(self.report, interpreted.value("currency"))
        currencies.named = named_codes(table, header.fields.get("currency"), header.row)
        result = Lines()
        if not is_open(header, self.report):  # else every line would be an error of its own
            reader = LineReader(table, header, self.style, self.report, currencies)
            months = interpreted.value("term_months")
            reader.contract_months = Decimal(months) if months else None
            reader.per_node = facts.per_node(interpreted)
            result = reader.read()
            self._finish(result, interpreted, currencies)
        claims = self._claims()
        self._warn_text_numbers()
        return _document(
            self.kind,
            self.report,
            number_style=numbers.STYLE_LABELS.get(self.style.decimal or ""),
            header_sha256=header.sha256,
            sheets=[as_found(item, header if item is table else None, self.report) for item in self._shown(table)],
            quote=interpreted.quote,
            lines=result.lines,
            terms=interpreted.terms,
            fabric=interpreted.fabric,
            claims=claims,
            totals=sums(result.lines),
            mapping_needed=header.needed,
            mapping=self._mapping(table, header),
        )

    # reading ------------------------------------------------------------------------------------------------------

    def _read_tables(self) -> None:
        if self.kind == "quote_xlsx":
            if self.request.content.startswith(b"\xd0\xcf\x11\xe0"):
                raise Refusal(sniff.ole_text(self.request.content))
            self.tables, book = xlsx_reader.read(self.request.content, self.report)
            self.epoch_1904 = book.epoch_1904
            return
        text = sniff.decode(self.request.content, self.report)
        if self.kind == "quote_json":
            self.tables = list(json_reader.read(text, self.report).values())
        else:
            self.tables = [csv_reader.read(text, self.report)]

    def _note_hidden(self) -> None:
        hidden = [table.name for table in self.tables if table.hidden]
        if hidden:
            self.report.warn(None, f"Hidden sheets are not imported: {', '.join(name[:40] for name in hidden)}.")
        for table in self.tables:
            if table.hidden:
                continue
            columns = [
                column for column in sorted(table.hidden_columns) if any(column in row for row in table.rows.values())
            ]
            if columns:
                refs = ", ".join(table.ref(1, column).rstrip("1") for column in columns[:20])
                self.report.warn(At(table), f"Hidden columns of {table.name} are read like all others: {refs}.")
            if table.filtered:
                self.report.info(At(table), f"{table.name} has a filter; rows it hides are treated as hidden rows.")

    def _lines_table(self) -> Table:
        if self.kind == "quote_xlsx":
            table = lines_sheet(self.tables)
            if table is None:
                names = ", ".join(table.name[:40] for table in self.tables if not table.hidden)
                raise Refusal(f"The workbook has no sheet Lines and none that looks like one; its sheets are: {names}.")
            return table
        return next(table for table in self.tables if table.name.casefold() == "lines")

    def _header(self, table: Table) -> Header:
        if self.kind == "quote_json":
            if not table.rows.get(1):
                raise Refusal('There are no lines: "lines" is empty or not a list.')
            self._refuse_ids(table)
            return map_columns(table, 1, self.report, self.request.mapping)
        row, _ = find_header(table)
        # A mapping that was given or remembered knows the headings even where none of them is one of ours.
        given = set(self.request.mapping)
        for candidate in sorted(table.rows)[:40] if given else ():
            texts = {cell.text for cell in table.rows[candidate].values()}
            if len(texts & given) >= max(2, len(given) // 2):
                row = candidate
                break
        row = row or min(table.rows, default=0)
        if not row:
            raise Refusal(f"The sheet {table.name} is empty: there are no lines.")
        header = map_columns(table, row, self.report, self.request.mapping)
        if not any(r > row for r in table.rows):
            raise Refusal("The file has a header but no lines (no rows below it).")
        return header

    def _refuse_ids(self, table: Table) -> None:
        for item in self.tables:
            labels = (
                [(row, 1, cells[1].text) for row, cells in item.rows.items() if 1 in cells]
                if item.name not in ("lines", "claims")
                else [(1, column, cell.text) for column, cell in item.rows.get(1, {}).items()]
            )
            for row, column, label in labels:
                if label.endswith("_id"):
                    self.report.error(At(item, row, column, label), f"{label}: {_ID_TEXT}")

    def _mapping(self, table: Table, header: Header) -> dict[str, str | None]:
        """The field of each heading; of two columns with one heading the one that is read counts."""
        found: dict[str, str | None] = {}
        for column, cell in table.rows[header.row].items():
            if cell.text:
                found[cell.text] = header.columns.get(column) or found.get(cell.text)
        return found

    # facts and styles ---------------------------------------------------------------------------------------------

    def _facts(self, lines: Table, header: Header) -> list[facts.Fact]:
        found = facts.above_lines(lines, header.row) if self.kind != "quote_json" else []
        for table in self.tables:
            section = _FACT_SHEETS.get(table.name.casefold())
            if section and not table.hidden and table is not lines:
                found += facts.of_sheet(table, section)
        if self.kind == "quote_json":
            return self._known_only(found)
        for fact in found:  # what a Quote sheet says beyond its fields is kept with the terms
            fact.section = "terms" if fact.definition is None and fact.section == "quote" else fact.section
        return found

    def _known_only(self, found: list[facts.Fact]) -> list[facts.Fact]:
        """Of the section quote only its fields count; anything else in it has no effect and is named."""
        kept = []
        for fact in found:
            if fact.definition is None and fact.section == "quote":
                if not fact.name.endswith("_id"):
                    self.report.warn(fact.at, f"“{fact.name}” is not a field of a quote; ignored.")
            else:
                kept.append(fact)
        return kept

    def _find_styles(self, table: Table, header: Header, found: list[facts.Fact]) -> None:
        if self.kind == "quote_json":
            self.style.decimal = "."
        else:
            places = [*self._line_places(table, header, _NUMERIC), *self._fact_places(found, _NUMERIC)]
            values.find_number_style(places, self.report, self.style)
        dates = [*self._line_places(table, header, ("date",)), *self._fact_places(found, ("date",))]
        values.find_date_order(dates, self.report, self.style)

    def _line_places(self, table: Table, header: Header, kinds: tuple[str, ...]) -> Iterator[tuple[At, Cell]]:
        for name, column in header.fields.items():
            if LINE_FIELDS[name].kind in kinds:
                for row in table.rows:
                    if row > header.row:
                        yield At(table, row, column, name), table.cell(row, column)

    def _fact_places(self, found: list[facts.Fact], kinds: tuple[str, ...]) -> Iterator[tuple[At, Cell]]:
        for fact in found:
            if fact.definition is not None and fact.definition.kind in kinds:
                yield fact.at, fact.cell

    # after the lines ----------------------------------------------------------------------------------------------

    def _finish(self, result: Lines, interpreted: facts.Facts, currencies: Currencies) -> None:
        if not result.lines:
            self.report.error(None, "The file has no lines (no rows that are a priced line).")
        self._share_facts(result, interpreted)
        currencies.warn_symbols()
        if currencies.missing:
            code = currencies.ask_missing()
            for line in result.lines:
                line["currency"] = line["currency"] or code
        codes = majority_currency(result.lines)
        if "currency" not in interpreted.quote and codes:
            self._quote_currency(codes, interpreted)
        if len(codes) > 1:
            self.report.warn(
                None, f"Lines are in several currencies, {', '.join(codes)}; no sum is formed without a dated rate."
            )
        capacity.note_link_rates(result.lines, self.style, self.report)
        check_totals(result, self.report)

    def _quote_currency(self, codes: list[str], interpreted: facts.Facts) -> None:
        code: str | None = codes[0]
        if len(codes) > 1:
            code = self.report.ask(
                "quote_currency",
                about="currency of the quote",
                cells=[],
                choices=[(item, item) for item in codes],
                suggested=codes[0],
                reason="The lines are in several currencies and the quote names none. Each line keeps its own.",
            )
        if code:
            interpreted.quote["currency"] = {"value": code, "ref": "lines"}

    def _share_facts(self, result: Lines, interpreted: facts.Facts) -> None:
        """Facts of the quote that stand on every line, if they agree."""
        for name, places in result.shared.items():
            texts = {cell.text for _, cell in places}
            if len(texts) > 1:
                self.report.error(
                    places[-1][0], f"{name} differs between lines: {', '.join(sorted(texts)[:5])}; it must be the same."
                )
            elif name not in interpreted.quote:
                definition = LINE_FIELDS[name]
                fact = facts.Fact(name, "quote", places[0][0], places[0][1], definition)
                one = facts.interpret([fact], self.style, self.report, epoch_1904=self.epoch_1904)
                interpreted.quote.update(one.quote)

    def _claims(self) -> list[dict[str, str]]:
        table = next((item for item in self.tables if item.name.casefold() == "claims" and not item.hidden), None)
        if table is None or not table.rows:
            return []
        row = 1 if self.kind == "quote_json" else find_header(table, "claims")[0]
        if not row or row not in table.rows:
            return []
        header = map_columns(table, row, Report(), {}, "claims")
        claims = []
        for number in sorted(r for r in table.rows if r > row):
            claim = {name: "" for name in CLAIM_FIELDS}
            for name, column in header.fields.items():
                cell = table.cell(number, column)
                at = At(table, number, column, name)
                if name == "evidence_level":
                    claim[name] = values.choice(at, cell, self.report, name) or ""
                else:
                    claim[name] = values.text_value(cell)
            if claim["statement"]:
                claims.append({**claim, "ref": table.where(number, None)})
        return claims

    def _warn_text_numbers(self) -> None:
        refs = self.style.text_numbers
        if refs:
            self.report.warn(
                None,
                f"Numbers stored as text were read as numbers: {', '.join(refs[:20])}{' …' if len(refs) > 20 else ''}.",
            )

    def _shown(self, lines: Table) -> list[Table]:
        return [table for table in self.tables if not table.hidden or table is lines]
