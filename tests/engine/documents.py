"""Small cost documents for tests."""

from copy import deepcopy
from typing import Any


def item(
    likely: Any, low: Any = None, high: Any = None, distribution: str = "triangular", **more: Any
) -> dict[str, Any]:
    """Return one input."""
    text = [None if value is None else str(value) for value in (likely, low, high)]
    return {
        "label": "Input",
        "unit": "USD",
        "likely": text[0],
        "low": text[1],
        "high": text[2],
        "distribution": distribution,
        **more,
    }


def const(value: Any) -> dict[str, str]:
    """Return a constant factor."""
    return {"const": str(value)}


def at(event: str, phase: str | None = None, month: Any = None, offset: Any = None) -> dict[str, Any]:
    """Return an anchor."""
    return {
        "event": event,
        "phase": phase,
        "month": None if month is None else str(month),
        "offset_months": None if offset is None else const(offset),
    }


def once(*milestones: tuple[Any, dict[str, Any]]) -> dict[str, Any]:
    """Return a timing of shares and anchors."""
    return {
        "kind": "once",
        "milestones": [{"share": s if isinstance(s, str | dict) else const(s), "at": a} for s, a in milestones],
    }


def monthly(start: dict[str, Any], end: dict[str, Any], escalation: Any = None, upfront: Any = None) -> dict[str, Any]:
    """Return a timing by month."""
    return {"kind": "monthly", "from": start, "to": end, "escalation": escalation, "upfront_share": upfront}


def line(key: str, factors: list[Any], timing: dict[str, Any], group: str = "operating", **more: Any) -> dict[str, Any]:
    """Return a line."""
    capital = group == "capital"
    return {
        "key": key,
        "row": key.rsplit(".", maxsplit=1)[-1],
        "label": key,
        "detail": "",
        "group": group,
        "category": "compute" if capital else "cloud" if group == "cloud" else "power",
        "factors": factors,
        "percent_of": None,
        "sign": 1,
        "timing": timing,
        "treatment": "capital" if capital else "expense",
        "life_months": const(60) if capital else None,
        "in_service": None,
        "disposed_at_horizon": capital,
        "formula": "quantity × unit price",
        "not_given": False,
        **more,
    }


def phase(
    key: str, kind: str = "owned", n: Any = 64, lead: Any = None, acceptance: Any = None, **more: Any
) -> dict[str, Any]:
    """Return a phase that ends at the horizon."""
    return {
        "key": key,
        "label": f"Phase {key}",
        "kind": kind,
        "order_month": "0",
        "lead_weeks": lead,
        "acceptance_weeks": acceptance,
        "end": at("horizon"),
        "n_accelerators": n if isinstance(n, str | dict) else const(n),
        "availability": const("0.97"),
        "occupancy": const("0.85"),
        "goodput": const("0.9"),
        "peak_tflops": const("989"),
        "mfu": const("0.4"),
        **more,
    }


def option(
    key: str, lines: list[dict[str, Any]], phases: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    """Return an option paid in cash."""
    return {
        "key": key,
        "name": f"Option {key}",
        "detail": "",
        "slot": 1,
        "baseline": False,
        "phases": phases or [],
        "lines": lines,
        "financing": {"kind": "cash"},
        "demand": [],
        "bridge": None,
        **more,
    }


def document(options: list[dict[str, Any]], inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a document of 36 months at 9 % and 256 draws."""
    return {
        "schema": "spinecut.tco/1",
        "assessment": "test",
        "currency": "USD",
        "horizon_months": 36,
        "signature_date": None,
        "draws": 256,
        "seed": 7,
        "discount_rate": const("0.09"),
        "correlation_groups": {},
        "inputs": inputs or {},
        "options": options,
        "tax": None,
        **more,
    }


def three_options(**more: Any) -> dict[str, Any]:
    """Return a purchase, a leaner purchase and a cloud contract, with ranges on what matters."""
    inputs = {
        "gpu": item(30000, 25000, 40000),
        "gpu_b": item(27000, 24000, 33000, "pert"),
        "lead": item(30, 20, 44),
        "tariff": item("0.08", "0.05", "0.14", "lognormal"),
        "cloud": item("2.1", "1.7", "2.9"),
        "residual": item("0.15", "0.05", "0.25"),
        "rate": item("0.09", "0.07", "0.12"),
        "escalation": item("0.03"),
    }
    options = [
        option(
            key,
            [
                line(
                    f"{key}.nodes",
                    [price, const(64)],
                    once((0.3, at("signature")), (0.6, at("delivery", f"{key}.1")), (0.1, at("ready", f"{key}.1"))),
                    "capital",
                    in_service=at("ready", f"{key}.1"),
                ),
                line(
                    f"{key}.power",
                    [const(90), const(730), "tariff"],
                    monthly(at("delivery", f"{key}.1"), at("end", f"{key}.1"), "escalation"),
                ),
                line(
                    f"{key}.support",
                    [const("0.05"), {"divide": [const(1), const(12)]}],
                    monthly(at("delivery", f"{key}.1"), at("end", f"{key}.1"), None, const("0.5")),
                    percent_of=[f"{key}.nodes"],
                    category="support",
                ),
                line(
                    f"{key}.residual",
                    ["residual"],
                    once((1, at("horizon"))),
                    "residual",
                    percent_of=[f"{key}.nodes"],
                    sign=-1,
                ),
            ],
            [phase(f"{key}.1", lead="lead", acceptance=const(4))],
            demand=[
                {"from_month": "0", "n_accelerators": const(32)},
                {"from_month": "12", "n_accelerators": const(64)},
            ],
            bridge={"usd_per_gpu_hour": "cloud", "row": "bridge", "label": "Bridge"} if key == "A" else None,
        )
        for key, price in (("A", "gpu"), ("B", "gpu_b"))
    ]
    cloud = option(
        "C",
        [line("C.rent", [const(64), const(730), "cloud"], monthly(at("signature"), at("horizon")), "cloud")],
        [phase("C.1", "cloud")],
    )
    return document([*options, cloud], inputs, discount_rate="rate", **more)


def changed(base: dict[str, Any], **likely: Any) -> dict[str, Any]:
    """Return a copy with other likely values and without ranges on them."""
    result = deepcopy(base)
    for key, value in likely.items():
        result["inputs"][key] |= {"likely": str(value), "low": None, "high": None}
    return result
