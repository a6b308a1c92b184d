"""Where the outcomes are kept: results.json for machines, docs/statistics.md for people."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.statistics.setting import SETTINGS, Row

JSON = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"

HEADINGS = ["setting", "share of", "promised", "measured", "repetitions", "mean width", "not given", "outcome", "note"]

INTRODUCTION = """# How sure are the numbers?

Isonomia's intervals, tests and verdicts were examined by simulation: data are drawn whose truth is known, the public
functions are called on them, and the tables below count how often the promise was kept. `make statistics` repeats every
line; a reduced version runs with the tests.

- **Coverage** is the share of intervals of level 95% that contain the truth. **Size** is the share of tests that reject
  although nothing is there, **power** the share that find what was planted.
- *Measured* comes with its Monte-Carlo error. *Outcome* is "below" or "above" where the share lies outside the promise
  by more than two of these errors, and "holds" where it lies inside and a promise that is clearly broken would hardly
  have given it (twice as many false alarms, or a quarter more misses). "Not settled" is everything between: more
  repetitions have to tell.
- *Not given* is the share of intervals that were left out with a reason, since the data could not carry one; the
  outcome is "no intervals" where that is nearly all.
"""


def load() -> dict[str, list[Row]]:
    """The rows kept so far, by topic."""
    if not JSON.exists():
        return {}
    kept = json.loads(JSON.read_text(encoding="utf-8"))
    return {topic: [Row(**row) for row in rows] for topic, rows in kept.items()}


def save(row: Row) -> None:
    """Put a row in place of its earlier one, leave out rows whose setting is gone, and write the page."""
    rows = {(one.topic, one.name): one for own in load().values() for one in own} | {(row.topic, row.name): row}
    kept: dict[str, list[Row]] = {}
    for key in SETTINGS:
        if key in rows:
            kept.setdefault(key[0], []).append(rows[key])
    text = json.dumps({name: [one.to_dict() for one in kept[name]] for name in sorted(kept)}, indent=1)
    JSON.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")


def page(kept: dict[str, list[Row]]) -> str:
    """The page in Markdown."""
    parts = [INTRODUCTION]
    for topic in sorted(kept):
        parts += [f"## {topic}", "", "| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
        parts += ["| " + " | ".join(cell.replace("|", "\\|") for cell in line(row)) + " |" for row in kept[topic]]
        parts.append("")
    return "\n".join(parts)


def line(row: Row) -> list[str]:
    """One row as a person reads it."""
    digits = 2 if row.high < 0.02 else 1
    measured = "" if row.share is None else f"{row.share:.{digits}%} ± {row.error:.{digits}%}"
    zero = f" ({row.zero_width:.0%} zero)" if row.zero_width > 0 else ""
    return [
        row.name,
        row.question,
        _promise(row.low, row.high),
        measured,
        f"{row.n:,}",
        "" if row.width is None else f"{row.width:.3g}{zero}",
        f"{row.missing:.0%}" if row.missing else "",
        row.outcome(),
        row.note,
    ]


def _promise(low: float, high: float) -> str:
    if low <= 0:
        return f"≤ {high:.{2 if high < 0.02 else 1}%}"
    return f"≥ {low:.1%}" if high >= 1 else f"{low:.1%} to {high:.1%}"
