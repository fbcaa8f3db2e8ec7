"""Run documents that use every kind of line, timing, financing and tax, for tests of what is made from them."""

from typing import Any


def item(
    likely: str, low: str | None = None, high: str | None = None, *, label: str = "", unit: str = "USD"
) -> dict[str, Any]:
    return {
        "label": label or "Input",
        "unit": unit,
        "likely": likely,
        "low": low,
        "high": high,
        "distribution": "triangular",
        "correlation_group": None,
        "correlation_sign": 1,
        "topic": "price",
        "source": {"kind": "quote", "text": "Quote VQ-1 version 1", "ref": "Lines!H2", "evidence_level": "claim"},
    }


INPUTS = {
    "discount_rate": item("0.09", "0.07", "0.12", label="Discount rate", unit="a year"),
    "nodes": item("16", label="Nodes", unit="nodes"),
    "node_price": item("295000", "275000", "325000", label="Node price", unit="USD/node"),
    "switches": item("6", label="Switches", unit="switches"),
    "switch_price": item("48000", "42000", "56000", label="Switch price", unit="USD/switch"),
    "install": item("190000", "150000", "260000", label="Installation"),
    "licence": item("90000", label="Licence for three years"),
    "rebate": item("55000", label="Rebate"),
    "support": item("0.08", label="Support", unit="of price a year"),
    "kw": item("187", label="IT load", unit="kW"),
    "committed_kw": item("150", label="Committed power", unit="kW"),
    "load": item("0.8", label="Load factor", unit="fraction"),
    "pue": item("1.3", label="PUE", unit="ratio"),
    "tariff": item("0.083", "0.06", "0.12", label="Electricity", unit="USD/kWh"),
    "tariff_step": item("0.03", label="Tariff escalation", unit="a year"),
    "fte": item("1.5", "1", "2", label="Staff", unit="FTE"),
    "salary": item("160000", "130000", "200000", label="Loaded pay", unit="USD a year"),
    "lead": item("30", "26", "44", label="Lead time", unit="weeks"),
    "acceptance": item("3", label="Acceptance", unit="weeks"),
    "gpus": item("128", label="Accelerators", unit="accelerators"),
    "residual": item("0.15", "0.05", "0.25", label="Residual", unit="of price"),
    "life": item("60", label="Book life", unit="months"),
    "rate": item("2.25", "2.05", "2.75", label="Rental", unit="USD/GPU-hour"),
    "bridge": item("2.6", "2.2", "3.1", label="Bridge price", unit="USD/GPU-hour"),
    "commit": item("100", label="Committed accelerators", unit="accelerators"),
    "upfront": item("0.25", label="Paid upfront", unit="share"),
    "goodput": item("0.93", "0.9", "0.96", label="Goodput", unit="fraction"),
    "availability": item("0.99", label="Availability", unit="fraction"),
    "occupancy": item("0.85", label="Scheduled share", unit="fraction"),
    "lease_rate": item("0.14", label="Implicit rate", unit="a year"),
    "loan_rate": item("0.07", label="Loan rate", unit="a year"),
    "tax": item("0.25", label="Tax rate", unit="fraction"),
    "checkpoint_h": item("0.05", label="Checkpoint time", unit="h"),
    "interval_h": item("1", label="Checkpoint interval", unit="h"),
    "interruptions": item("0.01", label="Interruptions", unit="1/h"),
    "restart_h": item("0.25", label="Restart", unit="h"),
}

HOURS = {"const": "730", "label": "Hours a month"}
MONTHS = {"const": "12", "label": "Months a year"}
SIGNATURE, HORIZON = {"event": "signature"}, {"event": "horizon"}


def line(
    key: str, group: str, category: str, factors: list[Any], timing: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "key": key,
        "row": key.split(".", 1)[1],
        "label": key.split(".", 1)[1].replace("_", " ").capitalize(),
        "detail": "",
        "group": group,
        "category": category,
        "factors": factors,
        "percent_of": None,
        "sign": 1,
        "timing": timing,
        "treatment": "expense",
        "life_months": None,
        "in_service": None,
        "disposed_at_horizon": False,
        "formula": "product of its inputs",
        "not_given": False,
    } | more


def once(*milestones: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "kind": "once",
        "milestones": [{"share": {"const": share, "label": "Milestone"}, "at": at} for share, at in milestones],
    }


def monthly(start: dict[str, Any], end: dict[str, Any], escalation: Any = None, upfront: Any = None) -> dict[str, Any]:
    return {"kind": "monthly", "from": start, "to": end, "escalation": escalation, "upfront_share": upfront}


def owned(key: str, financing: dict[str, Any], *, disposed: bool) -> dict[str, Any]:
    """A purchase with milestones, percentages, power, a licence, a rebate, and a bridge until it is ready."""
    phase = f"{key}.1"
    delivery, ready, end = ({"event": event, "phase": phase} for event in ("delivery", "ready", "end"))
    capital = {"treatment": "capital", "life_months": "life", "in_service": ready, "disposed_at_horizon": disposed}
    return {
        "key": key,
        "name": f"Owned, {financing['kind']}",
        "detail": "",
        "slot": 1,
        "baseline": False,
        "financing": financing,
        "phases": [
            {
                "key": phase,
                "label": "racks",
                "kind": "owned",
                "order_month": "0",
                "lead_weeks": "lead",
                "acceptance_weeks": "acceptance",
                "end": HORIZON,
                "n_accelerators": "gpus",
                "availability": "availability",
                "occupancy": "occupancy",
                "goodput": "goodput",
                "peak_tflops": {"const": "989", "label": "Peak"},
                "mfu": {"const": "0.42", "label": "MFU"},
            }
        ],
        "demand": [
            {"from_month": "0", "n_accelerators": {"const": "32", "label": "Wanted first"}},
            {"from_month": "6", "n_accelerators": "gpus"},
        ],
        "bridge": {"usd_per_gpu_hour": "bridge", "row": "bridge", "label": "Bridging cloud"},
        "lines": [
            line(
                f"{key}.compute_nodes",
                "capital",
                "compute",
                ["nodes", "node_price"],
                once(("0.3", SIGNATURE), ("0.5", delivery), ("0.2", ready)),
                **capital,
            ),
            line(
                f"{key}.switches", "capital", "fabric", ["switches", "switch_price"], once(("1", SIGNATURE)), **capital
            ),
            line(f"{key}.installation", "capital", "service", ["install"], once(("1", delivery)), **capital),
            line(f"{key}.rebate", "capital", "compute", ["rebate"], once(("1", ready)), sign=-1, **capital),
            line(
                f"{key}.licence",
                "operating",
                "software",
                ["licence"],
                once(("1", SIGNATURE)),
                life_months={"const": "36", "label": "Licence term"},
                in_service=delivery,
            ),
            line(
                f"{key}.support",
                "operating",
                "support",
                ["support", {"divide": [{"const": "1", "label": "One year"}, MONTHS]}],
                monthly(delivery, end),
                percent_of=[f"{key}.compute_nodes", f"{key}.switches"],
            ),
            line(
                f"{key}.power",
                "operating",
                "power",
                ["kw", "load", "pue", "tariff", HOURS],
                monthly(delivery, end, escalation="tariff_step"),
            ),
            line(
                f"{key}.space",
                "operating",
                "facility",
                [{"max": ["kw", "committed_kw"]}, {"const": "120", "label": "Rate"}],
                monthly(delivery, end),
            ),
            line(
                f"{key}.staff",
                "operating",
                "staff",
                ["fte", {"divide": ["salary", MONTHS]}],
                monthly(SIGNATURE, HORIZON, escalation="tariff_step"),
            ),
            line(f"{key}.unpriced", "operating", "other", [], monthly(delivery, end), not_given=True),
            line(
                f"{key}.residual",
                "residual",
                "compute",
                ["residual"],
                once(("1", HORIZON)),
                percent_of=[f"{key}.compute_nodes"],
                sign=-1,
            ),
        ],
    }


def rented(key: str) -> dict[str, Any]:
    """Cloud with a commitment, overage, spot, and a share paid upfront."""
    phase = f"{key}.1"
    ready, end = {"event": "ready", "phase": phase}, {"event": "end", "phase": phase}
    spot = {
        "one_plus": {
            "spot_loss": {
                "checkpoint": "checkpoint_h",
                "interval": "interval_h",
                "interruptions_per_hour": "interruptions",
                "restart": "restart_h",
            }
        }
    }
    return {
        "key": key,
        "name": "Rented",
        "detail": "",
        "slot": 4,
        "baseline": False,
        "financing": {"kind": "cash"},
        "phases": [
            {
                "key": phase,
                "label": "reserved",
                "kind": "cloud",
                "order_month": "0",
                "lead_weeks": {"const": "3", "label": "Set-up"},
                "acceptance_weeks": None,
                "end": {"event": "month", "month": "30.5"},
                "n_accelerators": "gpus",
                "availability": "availability",
                "occupancy": "occupancy",
                "goodput": "goodput",
                "peak_tflops": None,
                "mfu": None,
            }
        ],
        "demand": [],
        "bridge": None,
        "lines": [
            line(
                f"{key}.committed", "cloud", "cloud", ["commit", "rate", HOURS], monthly(ready, end, upfront="upfront")
            ),
            line(
                f"{key}.overage",
                "cloud",
                "cloud",
                [{"excess": ["gpus", "commit"]}, {"product": ["rate", {"const": "1.4", "label": "On demand"}]}, HOURS],
                monthly(ready, end, escalation="tariff_step"),
            ),
            line(
                f"{key}.spot",
                "cloud",
                "cloud",
                [{"const": "8", "label": "Spot"}, "rate", spot, HOURS],
                monthly(ready, end),
            ),
            line(
                f"{key}.setup", "operating", "service", [{"const": "25000", "label": "Set-up"}], once(("1", SIGNATURE))
            ),
        ],
    }


LEASE = {
    "kind": "lease",
    "annual_rate": "lease_rate",
    "term_months": 30,
    "residual_share": {"const": "0.1", "label": "Lessor's residual"},
    "starts": {"event": "ready", "phase": "L.1"},
}
LOAN = {"kind": "loan", "share": {"const": "0.7", "label": "Share"}, "annual_rate": "loan_rate", "term_months": 48}


def whole_document(*, tax: dict[str, Any] | None = None, horizon_months: int = 36) -> dict[str, Any]:
    """Four options that together use everything a document can say."""
    return {
        "schema": "spinecut.tco/1",
        "assessment": "Everything at once",
        "currency": "USD",
        "horizon_months": horizon_months,
        "signature_date": "2026-11-24",
        "draws": 256,
        "seed": 7,
        "discount_rate": "discount_rate",
        "correlation_groups": {},
        "inputs": INPUTS,
        "options": [
            owned("A", {"kind": "cash"}, disposed=True),
            owned("K", LOAN, disposed=False),
            owned("L", LEASE, disposed=False),
            rented("C"),
        ],
        "tax": tax,
    }
