"""A cost document of a given size for the benchmarks: three options, sixty lines each, most prices uncertain."""

from typing import Any


def _input(likely: float, spread: float = 0.0, **more: Any) -> dict[str, Any]:
    ranged = spread > 0
    return {
        "label": more.pop("label", "input"),
        "unit": "USD",
        "likely": f"{likely:.6g}",
        "low": f"{likely * (1 - spread):.6g}" if ranged else None,
        "high": f"{likely * (1 + spread):.6g}" if ranged else None,
        "distribution": "triangular" if ranged else "fixed",
        "correlation_group": None,
        "correlation_sign": 1,
        "topic": "price",
        "source": {"kind": "quote", "text": "benchmark"},
        **more,
    }


def at(event: str, phase: str | None = None, month: str | None = None) -> dict[str, Any]:
    """Return an anchor."""
    return {"event": event, "phase": phase, "month": month, "offset_months": None}


def _line(option: str, number: int, **more: Any) -> dict[str, Any]:
    name = f"{option}.line_{number}"
    return {
        "key": name,
        "row": f"line_{number}",
        "label": f"Line {number}",
        "detail": "",
        "percent_of": None,
        "sign": 1,
        "treatment": "expense",
        "life_months": None,
        "in_service": None,
        "disposed_at_horizon": False,
        "formula": "quantity × unit price",
        "not_given": False,
        **more,
    }


def _owned_lines(option: str, n_lines: int, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    phase, lines = f"{option}.1", []
    milestones = [
        {"share": {"const": "0.3"}, "at": at("signature")},
        {"share": {"const": "0.6"}, "at": at("delivery", phase)},
        {"share": {"const": "0.1"}, "at": at("ready", phase)},
    ]
    n_capital = n_lines // 2
    for number in range(n_lines - 1):
        key = f"{option}.price_{number}"
        capital = number < n_capital
        inputs[key] = _input((40_000 if capital else 900) * (1 + number % 7), 0.15 if number % 6 else 0.0)
        factors = [key, {"const": "16"}] if capital else [key, {"product": ["load", {"const": "3"}]}]
        lines.append(
            _line(
                option,
                number,
                group="capital" if capital else "operating",
                category=("compute", "fabric", "storage")[number % 3]
                if capital
                else ("power", "staff", "facility")[number % 3],
                factors=factors,
                treatment="capital" if capital else "expense",
                life_months={"const": "60"} if capital else None,
                in_service=at("ready", phase) if capital else None,
                disposed_at_horizon=capital,
                timing={"kind": "once", "milestones": milestones}
                if capital
                else {
                    "kind": "monthly",
                    "from": at("delivery", phase),
                    "to": at("end", phase),
                    "escalation": "escalation" if number % 2 else None,
                    "upfront_share": None,
                },
            )
        )
    lines.append(
        _line(
            option,
            n_lines - 1,
            group="residual",
            category="compute",
            factors=["residual"],
            percent_of=[f"{option}.line_{number}" for number in range(n_capital)],
            sign=-1,
            timing={"kind": "once", "milestones": [{"share": {"const": "1"}, "at": at("horizon")}]},
        )
    )
    return lines


def _cloud_lines(option: str, n_lines: int, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    lines = []
    for number in range(n_lines):
        key = f"{option}.price_{number}"
        inputs[key] = _input(0.04 * (1 + number % 5), 0.2 if number % 6 else 0.0)
        lines.append(
            _line(
                option,
                number,
                group="cloud",
                category="cloud",
                factors=[{"const": "128"}, {"const": "730", "label": "hours a month"}, key],
                timing={
                    "kind": "monthly",
                    "from": at("ready", f"{option}.1"),
                    "to": at("end", f"{option}.1"),
                    "escalation": None,
                    "upfront_share": None,
                },
            )
        )
    return lines


def document(*, n_lines: int = 60, horizon_months: int = 36, draws: int = 8192, seed: int = 20261130) -> dict[str, Any]:
    """Return three options: two purchases with lead times, one cloud contract with a bridge in each purchase."""
    inputs: dict[str, Any] = {
        "discount_rate": _input(0.09, 0.2),
        "load": _input(0.7, 0.2),
        "escalation": _input(0.03),
        "residual": _input(0.15, 0.6),
        "bridge": _input(2.4, 0.2),
    }
    options: list[dict[str, Any]] = []
    for key in ("A", "B", "C"):
        cloud = key == "C"
        if not cloud:
            inputs[f"{key}.lead"] = _input(30 if key == "A" else 22, 0.3, topic="schedule")
        phase = {
            "key": f"{key}.1",
            "label": f"Phase of {key}",
            "kind": "cloud" if cloud else "owned",
            "order_month": "0",
            "lead_weeks": None if cloud else f"{key}.lead",
            "acceptance_weeks": None if cloud else {"const": "4"},
            "end": at("horizon"),
            "n_accelerators": {"const": "128"},
            "availability": {"const": "0.97"},
            "occupancy": {"const": "0.85"},
            "goodput": {"const": "0.93"},
            "peak_tflops": {"const": "989"},
            "mfu": {"const": "0.4"},
        }
        options.append(
            {
                "key": key,
                "name": f"Option {key}",
                "detail": "",
                "slot": len(options) + 1,
                "baseline": False,
                "phases": [phase],
                "lines": (_cloud_lines if cloud else _owned_lines)(key, n_lines, inputs),
                "financing": {"kind": "cash"},
                "demand": [{"from_month": "0", "n_accelerators": {"const": "100"}}],
                "bridge": None if cloud else {"usd_per_gpu_hour": "bridge", "row": "bridge", "label": "Bridging cloud"},
            }
        )
    return {
        "schema": "spinecut.tco/1",
        "assessment": "benchmark",
        "currency": "USD",
        "horizon_months": horizon_months,
        "signature_date": None,
        "draws": draws,
        "seed": seed,
        "discount_rate": "discount_rate",
        "correlation_groups": {},
        "inputs": inputs,
        "options": options,
        "tax": None,
    }
