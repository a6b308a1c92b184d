"""``python -m benchmarks.statistics [TOPIC ...]``: run simulations, print their rows, write docs/statistics.md."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import benchmarks.statistics
from benchmarks.statistics.page import line, load, save
from benchmarks.statistics.setting import SETTINGS


def discover() -> None:
    """Import every file of this folder, so that its settings are registered."""
    for info in pkgutil.iter_modules(benchmarks.statistics.__path__):
        if info.name != "__main__":
            importlib.import_module(f"benchmarks.statistics.{info.name}")


def main(arguments: list[str] | None = None) -> int:
    """Run the topics named, or all; ends with 1 where a promise is not kept."""
    discover()
    topics = sorted({setting.topic for setting in SETTINGS.values()})
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics", description=__doc__)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"any of: {', '.join(topics)} (default: all)")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--repetitions", type=int, help="so many instead of each setting's own; nothing is kept")
    parser.add_argument("--unsettled", action="store_true", help="settings without a kept outcome that settles them")
    parser.add_argument("--share", type=float, default=1.0, help="a share of each setting's repetitions, at least 20")
    given = parser.parse_args(arguments)
    unknown = [topic for topic in given.topics if topic not in topics]
    if unknown:
        parser.error(f"unknown topic {unknown[0]!r}. Available: {', '.join(topics)}")
    kept = {(row.topic, row.name): row for rows in load().values() for row in rows}
    failed = False
    for topic in given.topics or topics:
        print(f"== {topic}", flush=True)
        for setting in SETTINGS.values():
            if setting.topic != topic or given.only not in setting.name:
                continue
            before = kept.get((setting.topic, setting.name))
            if given.unsettled and before is not None and (same := setting.promising(before)).outcome() == "holds":
                if same != before:
                    save(same)
                continue
            row = setting.simulate(given.repetitions or max(20, round(given.share * setting.repetitions)))
            print("  " + " | ".join(cell for cell in line(row) if cell), flush=True)
            failed |= row.outcome() in ("below", "above")
            if given.repetitions is None:
                save(row)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
