"""``python -m benchmarks [NAME ...]``: run benchmarks, print their rows, keep them in RESULTS.md and results.json."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from dataclasses import replace

import benchmarks
from benchmarks.bench import BENCHMARKS, Scale
from benchmarks.results import line, save


def discover() -> None:
    """Import every file of this folder, so that its benchmarks are registered."""
    for info in pkgutil.iter_modules(benchmarks.__path__):
        if not info.ispkg and info.name != "__main__":
            importlib.import_module(f"benchmarks.{info.name}")


def main(arguments: list[str] | None = None) -> int:
    """Run what is named, or everything; ends with 1 where results differ or a target is missed."""
    discover()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Isonomia against other libraries.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    parser.add_argument("--quick", action="store_true", help="small sizes, one repeat, nothing kept: does it run?")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}. Available: {', '.join(BENCHMARKS)}")
    if given.list:
        for entry in BENCHMARKS.values():
            print(f"{entry.name:28}{entry.purpose}")
        return 0
    failed = False
    for name in given.names or BENCHMARKS:
        print(f"== {name}: {BENCHMARKS[name].purpose}", flush=True)
        rows = []
        for row in BENCHMARKS[name].run(Scale(quick=given.quick)):
            rows.append(replace(row, benchmark=name))
            print("  " + " | ".join(cell for cell in line(rows[-1].to_dict()) if cell), flush=True)
        failed |= any(row.outcome in ("missed", "differs", "not measured") for row in rows)
        if not given.quick:
            save(name, rows)
    return int(failed and not given.quick)


if __name__ == "__main__":
    sys.exit(main())
