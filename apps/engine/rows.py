"""The rows of an option at likely values: what each line pays by month, what it accrues, and the balances between."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.engine.accrual import accrual_profile, balances
from apps.engine.factors import Value
from apps.engine.figures import Figures, by_period
from apps.engine.financing import Schedule
from apps.engine.records import Line

Floats = NDArray[np.float64]


@dataclass(kw_only=True)
class Row:
    """One row: months from 0 to the horizon, shape (horizon + 1,). `settled` is the part of `cash` that settles."""

    key: str
    row: str
    label: str
    detail: str = ""
    formula: str = ""
    group: str
    category: str
    not_given: bool = False
    paid_by_lessor: bool = False
    amount: float
    cash: Floats
    settled: float = 0.0
    accrual: Floats


def option_rows(figures: Figures) -> list[Row]:
    """Return the rows of an option computed at single values; they sum to its cash and to its accrual."""
    rows = [_line_row(figures, line) for line in figures.option.lines]
    cash = figures.cash
    if figures.option.bridge is not None and cash.bridged is not None:
        flow = cash.bridged[:, 0]
        rows.append(
            Row(
                key=f"{figures.option.key}.bridge",
                row=figures.option.bridge.row,
                label=figures.option.bridge.label,
                formula="max(0, demand − installed) × hours a month × price",
                group="cloud",
                category="cloud",
                amount=float(flow.sum()),
                cash=flow,
                accrual=flow,
            )
        )
    for schedule in cash.schedules:
        rows.extend(_schedule_rows(figures.option.key, schedule))
    if cash.tax is not None:
        running, disposal = cash.tax.running[:, 0], _scalar(cash.tax.on_disposal)
        rows.append(_tax_row(figures.option.key, "tax_saved", "Taxes saved by deductions", running, 0.0))
        last = np.zeros_like(running)
        last[-1] = disposal
        rows.append(_tax_row(figures.option.key, "tax_on_disposal", "Tax on disposal", last, disposal))
    return rows


def _line_row(figures: Figures, line: Line) -> Row:
    clock, amount = figures.clock, _scalar(figures.cash.amounts[line.key])
    absent = figures.option.leaves_to_lessor(line)
    zero = np.zeros(clock.horizon + 1)
    row = Row(
        key=line.key,
        row=line.row,
        label=line.label,
        detail=line.detail,
        formula=line.formula,
        group=line.group,
        category=line.category,
        not_given=line.not_given,
        paid_by_lessor=absent,
        amount=amount,
        cash=zero,
        accrual=zero,
    )
    if line.not_given or absent:
        return row
    row.cash = clock.profile(line.timing)[:, 0] * amount
    row.accrual = accrual_profile(line, clock)[:, 0] * amount
    row.settled = float(row.cash[-1]) if line.settles else 0.0
    return row


def _schedule_rows(option_key: str, schedule: Schedule) -> list[Row]:
    """Return the rows of a loan or a lease: what is drawn, paid and settled; the payments carry interest and debt."""
    drawn, payments = -schedule.drawn[:, 0], schedule.payments[:, 0]
    settled = float(schedule.settlement[0])
    last = np.zeros_like(payments)
    last[-1] = settled
    zero = np.zeros_like(payments)
    name = schedule.kind
    rows = [
        Row(
            key=f"{option_key}.{name}_payments",
            row=f"{name}_payments",
            label=f"{name.capitalize()} payments",
            formula="level payment × months",
            group="financing",
            category="financing",
            amount=float(payments.max()),
            cash=payments,
            accrual=schedule.interest[:, 0] + schedule.depreciation[:, 0],
        ),
        Row(
            key=f"{option_key}.{name}_settlement",
            row=f"{name}_settlement",
            label=f"{name.capitalize()} settled at the horizon",
            formula="what is still owed",
            group="financing",
            category="financing",
            amount=settled,
            cash=last,
            settled=settled,
            accrual=zero,
        ),
    ]
    if name == "loan":
        row = Row(
            key=f"{option_key}.loan_drawn",
            row="loan_drawn",
            label="Loan drawn",
            formula="share × capital lines",
            group="financing",
            category="financing",
            amount=float(drawn[0]),
            cash=drawn,
            accrual=zero,
        )
        rows.insert(0, row)
    return rows


def _tax_row(option_key: str, row: str, label: str, cash: Floats, settled: float) -> Row:
    return Row(
        key=f"{option_key}.{row}",
        row=row,
        label=label,
        formula="tax rate × deductions",
        group="tax",
        category="tax",
        amount=float(cash.sum()),
        cash=cash,
        settled=settled,
        accrual=cash,
    )


def option_balances(figures: Figures) -> dict[str, Floats]:
    """Return the balances of an option by month; debts and payables are positive numbers.

    Cumulative cash = cumulative accrual + net book value + prepaid − payable − loan − lease liability.
    """
    of_lines = balances(figures.option.bought_lines, figures.cash.amounts, figures.clock)
    result = {
        "net_book_value": of_lines.net_book_value[:, 0],
        "prepaid": of_lines.prepaid[:, 0],
        "payable": of_lines.payable[:, 0],
        "loan": np.zeros(figures.clock.horizon + 1),
        "lease_liability": np.zeros(figures.clock.horizon + 1),
    }
    for schedule in figures.cash.schedules:
        debt = "loan" if schedule.kind == "loan" else "lease_liability"
        result[debt] = result[debt] + schedule.owed[:, 0]
        result["net_book_value"] = result["net_book_value"] + schedule.right_of_use[:, 0]
    return result


def row_results(rows: list[Row], figures: Figures, totals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as they stand in the results; what is not given has no figures, and is not 0."""
    if not rows:
        return []
    cash = np.stack([row.cash for row in rows], axis=1)
    settled = np.array([row.settled for row in rows])
    flows = cash.copy()
    flows[-1] -= settled
    periods = by_period(flows, settled).T.tolist()
    npv = (cash * figures.discount[:, :1]).sum(axis=0).tolist()
    return [
        {
            "key": row.key,
            "row": row.row,
            "label": row.label,
            "detail": row.detail,
            "group": row.group,
            "category": row.category,
            "formula": row.formula,
            "not_given": row.not_given,
            "paid_by_lessor": row.paid_by_lessor,
            "amount_usd": None if row.not_given else row.amount,
            "total_usd": totals[i],
            "npv_usd": None if row.not_given else npv[i],
            "by_period_usd": periods[i],
            "cash_usd": row.cash.tolist(),
            "accrual_usd": row.accrual.tolist(),
        }
        for i, row in enumerate(rows)
    ]


def _scalar(value: Value) -> float:
    return float(np.asarray(value).reshape(-1)[0])
