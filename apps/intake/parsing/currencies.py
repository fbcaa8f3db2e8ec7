"""Which currency each price is in: its column, its symbol, its heading or the quote; a contradiction is refused."""

from dataclasses import dataclass, field

from apps.intake.parsing import money, values
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Table

_COMMON = ("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "AED", "INR", "SEK", "PLN")


@dataclass(slots=True)
class Currencies:
    """Resolves the currency of one row after another; knows which codes the file names anywhere."""

    report: Report
    quote: str | None
    named: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)
    by_symbol: list[tuple[At, str, str]] = field(default_factory=list)

    def of_row(self, at: At, column: str | None, marks: list[tuple[At, str]], heading: str | None) -> str:
        """Return the code of a row's prices; empty while it is asked.

        `column` is the code of the row's currency cell, `marks` the symbols beside its prices, `heading` the code in
        the heading of the price column.
        """
        declared = column or heading
        for place, mark in marks:
            if declared and declared not in money.candidates(mark):
                where = "the currency column" if column else "the heading"
                self.report.error(
                    place,
                    f"currency: the price is marked “{mark}” but {where} says {declared}.",
                    found=mark,
                    expected=declared,
                )
                return declared
        if declared:
            return declared
        codes = {self._of_mark(place, mark) for place, mark in marks}
        if len(codes) > 1:
            self.report.error(marks[0][0], f"currency: the prices of one line are in {', '.join(sorted(codes))}.")
        if codes:
            return sorted(codes)[0]
        if self.quote:
            return self.quote
        self.missing.append(at.ref)
        return ""

    def _of_mark(self, at: At, mark: str) -> str:
        codes = money.candidates(mark)
        if self.quote in codes:
            code = self.quote or ""
        elif len(codes) > 1:
            known = [code for code in codes if code in self.named]
            code = known[0] if len(known) == 1 else ""
            code = code or values.ask_currency("currency", mark, codes, [at.ref], self.report) or codes[0]
        else:
            code = codes[0]
        self.by_symbol.append((at, mark, code))
        return code

    def ask_missing(self) -> str:
        """One question for all rows that name no currency; returns the answer, or nothing while it is open."""
        return (
            self.report.ask(
                "currency",
                about="currency of the prices",
                cells=self.missing,
                choices=[(code, code) for code in dict.fromkeys([*sorted(self.named), *_COMMON])],
                suggested=None,
                reason="Neither the lines nor the quote name a currency.",
            )
            or ""
        )

    def warn_symbols(self) -> None:
        for at, mark, code in self.by_symbol:
            self.report.warn(at, f"currency {code} was read from the mark “{mark}”.", found=mark, expected=code)


def named_codes(table: Table, column: int | None, header_row: int) -> set[str]:
    """The codes that a currency column holds; several, where a symbol stands for several, are left out."""
    if column is None:
        return set()
    found = set()
    for row in table.rows:
        codes = money.candidates(table.cell(row, column).text) if row > header_row else ()
        if len(codes) == 1:
            found.add(codes[0])
    return found
