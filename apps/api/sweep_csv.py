"""A finished sweep as a table: one row a point, its axis values, then the cost of each option."""

from itertools import product
from typing import TYPE_CHECKING, Any

from apps.reports.csv_export import csv_cell

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"nominal_usd": "nominal", "npv_usd": "NPV"}  # key of the results -> heading; in the base currency


def sweep_csv(document: dict[str, Any], results: dict[str, Any]) -> str:
    """The table as CSV with a byte order mark, costs with every digit that is stored."""
    return "\ufeff" + sweep_table(document, results).to_csv(index=False, lineterminator="\r\n")


def sweep_table(document: dict[str, Any], results: dict[str, Any]) -> "pd.DataFrame":
    """Points in the order of the results, the last axis changing fastest; texts are safe to open in a spreadsheet."""
    import pandas as pd  # heavy, and only here

    currency = document["base"]["currency"]
    axes, options = results["axes"], results["options"]
    values = [[csv_cell(str(value)) for value in axis["values"]] for axis in axes]
    columns: list[Any] = [list(column) for column in zip(*product(*values), strict=True)]
    names = [csv_cell(axis["input"]) for axis in axes]
    for key, caption in MEASURES.items():
        for position, option in enumerate(options):
            names.append(csv_cell(f"{option} {caption} [{currency}]"))
            columns.append([point[position] for point in results[key]])
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(names)
    return frame
