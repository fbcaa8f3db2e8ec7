"""JSON as tables, read strictly: exact decimals, no NaN, no key twice, bounded depth."""

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.intake.parsing import limits
from apps.intake.parsing.report import At, Report
from apps.intake.parsing.table import Cell, Refusal, Table

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_RANGE = {"low", "likely", "high"}
_SECTIONS = ("quote", "lines", "terms", "fabric", "claims")


class NotFinite(str):
    """NaN or Infinity as it stood in the file; JSON has neither."""

    __slots__ = ()


class Object(dict[str, Any]):
    """A JSON object that remembers which keys stood in it twice."""

    twice: tuple[str, ...] = ()


def read(text: str, report: Report) -> dict[str, Table]:
    """Return one table a section; messages name the path of each value that cannot be used."""
    _check_depth(text)
    try:
        document = json.loads(
            text, parse_float=Decimal, parse_int=_integer, parse_constant=NotFinite, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise Refusal(f"The file is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except (ValueError, InvalidOperation, RecursionError):
        raise Refusal("The file is not valid JSON: a number in it cannot be read.") from None
    if not isinstance(document, Object):
        raise Refusal('The file must hold one JSON object with "quote" and "lines".')
    _report_twice(document, "", report)
    tables = {}
    for name in _SECTIONS:
        if name in document:
            tables[name] = _section(name, document[name], report)
    known = {*_SECTIONS, "schema", "$schema"}
    for key in document:
        if key not in known:
            report.warn(At(Table(str(key)[:60], "json")), f"“{str(key)[:60]}” is not a section of a quote; ignored.")
    if "lines" not in document:
        raise Refusal('The file has no "lines".')
    return tables


def _integer(text: str) -> Decimal:
    return Decimal(text)


def _object(pairs: list[tuple[str, Any]]) -> Object:
    result = Object(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        result.twice = tuple(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return result


def _check_depth(text: str) -> None:
    depth = 0
    for token in _TOKENS.finditer(text):
        character = token[0]
        if character in "[{":
            depth += 1
            if depth > limits.JSON_DEPTH:
                raise Refusal(f"The JSON is nested too deep: more than {limits.JSON_DEPTH} levels.")
        elif character in "]}":
            depth -= 1


def _report_twice(value: Any, path: str, report: Report) -> None:
    if isinstance(value, Object):
        for key in value.twice:
            at = At(Table(path or "document", "json"))
            report.error(at, f"“{key[:60]}” stands twice (duplicate key) in {path or 'the document'}.")
        for key, item in value.items():
            _report_twice(item, f"{path}.{key}" if path else str(key), report)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _report_twice(item, f"{path}[{index}]", report)


def _section(name: str, value: Any, report: Report) -> Table:
    table = Table(name, "json")
    if name in ("lines", "claims"):
        if not isinstance(value, list):
            report.error(At(table), f"{name} is {_type(value)}; it must be a list of objects.")
            return table
        if len(value) > limits.LINES:
            raise Refusal(f"The file has {len(value):,} lines; the limit is {limits.LINES:,}.")
        _fill_list(table, value, report)
    elif isinstance(value, dict):
        for row, (key, item) in enumerate(_flat(value), 1):
            table.rows[row] = {1: Cell("text", key), 2: _cell(item)}
            table.paths[row, 1] = table.paths[row, 2] = f"{name}.{key}"
    else:
        report.error(At(table), f"{name} is {_type(value)}; it must be an object with fields such as currency.")
    return table


def _fill_list(table: Table, items: list[Any], report: Report) -> None:
    columns: dict[str, int] = {}
    for index, item in enumerate(items):
        row = index + 2
        if not isinstance(item, dict):
            report.error(At(table, row), f"{table.name}[{index}] is {_type(item)}; it must be an object.")
            continue
        cells = table.rows.setdefault(row, {})
        for key, value in _flat(item):
            column = columns.setdefault(key, len(columns) + 1)
            if column > limits.COLUMNS:
                raise Refusal(f"The lines have more than {limits.COLUMNS} different fields.")
            cells[column] = _cell(value)
            table.paths[row, column] = f"{table.name}[{index}].{key}"
    table.rows[1] = {column: Cell("text", key) for key, column in columns.items()}
    table.rows = dict(sorted(table.rows.items()))


def _flat(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """Keys and values; an object of low, likely and high becomes three keys."""
    pairs: list[tuple[str, Any]] = []
    for key, item in value.items():
        if isinstance(item, dict) and item and set(item) <= _RANGE:
            pairs += [(f"{key}_{part}"[:100], inner) for part, inner in item.items()]
        else:
            pairs.append((key[:100], item))
    return pairs


def _cell(value: Any) -> Cell:  # noqa: PLR0911 - one return a type
    if value is None:
        return Cell("empty")
    if isinstance(value, bool):
        return Cell("boolean", "true" if value else "false")
    if isinstance(value, NotFinite):
        return Cell("error", str(value))
    if isinstance(value, Decimal):
        return Cell("number", str(value)[:60], value)
    if isinstance(value, str):
        if len(value) > limits.CELL_CHARACTERS:
            raise Refusal(f"A text is too long: {len(value):,} characters; the limit is {limits.CELL_CHARACTERS:,}.")
        if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", value):
            return Cell("error", "a control character")
        kept = value.strip(" \r\n\u00a0\u202f")
        return Cell("text", kept) if kept else Cell("empty")
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return Cell("object", json.dumps(value, default=str)[: limits.CELL_CHARACTERS])
    return Cell("object", _type(value))


def _type(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return {"str": "text", "Decimal": "a number", "bool": "true or false"}.get(type(value).__name__, "nothing")
