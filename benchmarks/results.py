"""Where results are kept: results.json for machines, RESULTS.md for people."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.bench import BENCHMARKS, Row, Target

JSON = Path(__file__).with_name("results.json")
MARKDOWN = Path(__file__).with_name("RESULTS.md")


def surroundings() -> dict[str, Any]:
    """What a number depends on."""
    packages = ("numpy", "scipy", "pandas", "polars", "scikit-learn")
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
    }


def save(name: str, rows: Sequence[Row]) -> None:
    """Put one benchmark's rows in place of its earlier ones; others keep theirs."""
    kept = json.loads(JSON.read_text(encoding="utf-8")) if JSON.exists() else {}
    kept[name] = {"surroundings": surroundings(), "rows": [row.to_dict() for row in rows]}
    JSON.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    MARKDOWN.write_text(_markdown(kept), encoding="utf-8")


def line(row: dict[str, Any]) -> list[str]:
    """One row as a person reads it."""
    target = "" if row["target"] is None else str(Target(**row["target"]))
    return [
        row["case"],
        "" if row["size"] is None else f"{row['size']:,}",
        _seconds(row["ours"]),
        row["peer_name"],
        _seconds(row["peer"]),
        "" if row["value"] is None else f"{_short(row['value'])} {row['measure']}",
        target,
        row["outcome"],
        "" if row["difference"] is None else f"{row['difference']:.1g} over {row['compared']}",
        row["note"],
    ]


HEADINGS = ["case", "rows", "ours", "peer", "peer's", "measured", "target", "outcome", "largest difference", "note"]


def _markdown(kept: dict[str, Any]) -> str:
    parts = [
        "# Results of the benchmarks",
        "",
        "Written by `make bench`; each row is from one run, best of several repeats, results compared first. A row",
        "whose results differ has no ratio.",
    ]
    for name in [*(n for n in BENCHMARKS if n in kept), *(n for n in kept if n not in BENCHMARKS)]:
        entry = kept[name]
        where = entry["surroundings"]
        packages = ", ".join(f"{package} {number}" for package, number in where["packages"].items())
        parts += ["", f"## {name}", ""]
        if name in BENCHMARKS:
            parts += [BENCHMARKS[name].purpose, ""]
        parts += [f"{where['date']}, {where['cores']} cores, Python {where['python']}, {packages}.", ""]
        parts += ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
        parts += ["| " + " | ".join(cell.replace("|", "\\|") for cell in line(row)) + " |" for row in entry["rows"]]
    return "\n".join(parts) + "\n"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value * 1000:.2f} ms" if value < 1 else f"{value:.2f} s"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
