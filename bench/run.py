"""Run the benchmarks: a table to read, or the JSON of docs/interfaces.md with `--json`."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

import bench

Benchmark = Callable[[], dict[str, Any]]  # {"value": number, "unit": str, "detail": {...}}


def discover() -> dict[str, Benchmark]:
    """Return the benchmarks of every module of this package, by name."""
    found: dict[str, Benchmark] = {}
    for module in sorted(pkgutil.iter_modules(bench.__path__), key=lambda item: item.name):
        if module.name == "run":
            continue
        table = getattr(importlib.import_module(f"bench.{module.name}"), "BENCHMARKS", {})
        twice = found.keys() & table.keys()
        if twice:
            raise SystemExit(f"two benchmarks are called {', '.join(sorted(twice))}")
        found.update(table)
    return found


def main(arguments: list[str]) -> int:
    """Return 0 when every benchmark asked for gave a figure, 1 when one broke, 2 when one does not exist."""
    names = [argument for argument in arguments if not argument.startswith("--")]
    known = discover()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(sorted(known))}", file=sys.stderr)
        return 2
    figures, broken = {}, False
    for name in names or sorted(known):
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            figures[name] = known[name]()
        except Exception as error:  # the others still have their figures
            broken = True
            reason = f"{type(error).__name__}: {error}"
            figures[name] = {"value": None, "unit": "", "detail": {"reason": reason}}
    print(json.dumps(figures, indent=1, allow_nan=False) if "--json" in arguments else _table(figures))
    return 1 if broken else 0


def _table(figures: dict[str, dict[str, Any]]) -> str:
    width = max((len(name) for name in figures), default=0)
    lines = []
    for name, figure in figures.items():
        value = "failed" if figure["value"] is None else f"{figure['value']:,.4g}"
        detail = ", ".join(f"{key} {item}" for key, item in figure.get("detail", {}).items())
        lines.append(f"{name:{width}}  {value:>12} {figure['unit']:<8} {detail}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
