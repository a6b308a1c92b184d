"""A store with 10,000 runs of 200 figures each: how long a list and a trend take, and keeping one more run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text
from tests.postgres_cluster import find_programs, postgres_cluster

import isonomia as iso
from benchmarks.bench import Row, Scale, Target, benchmark, best_of
from isonomia.store import Store
from isonomia.store.analyses import add_analysis
from isonomia.store.ids import new_id
from isonomia.store.records import pack
from isonomia.store.runs import insert_all
from isonomia.store.tables import run

FIGURES = 200
#: The seconds that the design allows.
LIST, TREND = 0.02, 0.05


@benchmark("store")
def store(scale: Scale) -> Iterator[Row]:
    """Listing runs, a figure over time and keeping a run, in a store of 10,000 runs with 200 figures each."""
    size = 200 if scale.quick else 10_000
    for name, opened in _stores():
        with opened as kept:
            _fill(kept, size)
            yield from _rows(name, kept, size, scale)


def _rows(name: str, kept: Store, size: int, scale: Scale) -> Iterator[Row]:
    def row(case: str, seconds: float, limit: float | None = None, note: str = "") -> Row:
        target = None if limit is None else Target("at most", limit)
        return Row(f"{name}: {case}", size, seconds, measure="seconds", value=seconds, target=target, note=note)

    repeats = scale.repeats(20)
    seconds, listed = best_of(lambda: kept.runs("loans", limit=100), repeats)
    assert len(listed) == 100
    yield row("list the newest 100 runs of an analysis", seconds, LIST)
    seconds, _ = best_of(lambda: kept.runs(limit=100), repeats)
    yield row("list the newest 100 runs of all", seconds, LIST)
    figure: dict[str, Any] = {"analysis": "loans", "who": {"sex": "F"}}
    seconds, trend = best_of(lambda: kept.history("metric_7", **figure), repeats)
    assert len(trend.tables["history"]) == min(size, 500)
    yield row("a figure in the newest 500 runs", seconds, TREND, "with its chart and as a table")
    report = _report()
    seconds, _ = best_of(lambda: kept.keep(report, analysis="loans"), scale.repeats(5))
    yield row("keep a report", seconds, note=f"{len(kept.record('loans')) / 1000:,.0f} kB as JSON; waits for the disk")


def _stores() -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        yield "SQLite", iso.store.open(Path(folder) / "runs.db")
    if find_programs() is not None:
        with postgres_cluster(fsync=True) as cluster:
            yield "PostgreSQL", iso.store.open(cluster.url())


def _fill(kept: Store, size: int) -> None:
    """Runs a minute apart; figures by one statement, since ten thousand audits would take days."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    packed, sha256 = pack(b"{}")
    rows = [
        {
            "id": new_id(),
            "analysis": "loans",
            "kind": "audit",
            "state": "done",
            "created": start + timedelta(minutes=number),
            "verdict": "meets",
            "n_findings": 3,
            "record": packed,
            "record_sha256": sha256,
        }
        for number in range(size)
    ]
    figures = f"""
        WITH RECURSIVE places(place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM places WHERE place < {FIGURES - 1})
        INSERT INTO figure (analysis, run, place, at, metric, measure, attribute, who_key, value, low, high, se, n)
        SELECT 'loans', run.id, place, run.created, 'metric_' || (place / 10), 'value', 'sex',
               CASE WHEN place % 10 = 0 THEN 'sex=F' ELSE 'sex=' || (place % 10) END, 0.5, 0.4, 0.6, 0.05, 400
        FROM run CROSS JOIN places"""

    def work(connection: Any) -> None:
        add_analysis(connection, "loans")
        insert_all(connection, run, rows)
        connection.execute(text(figures))

    kept.database.write(work)
    kept.database.write(lambda connection: connection.execute(text("ANALYZE")))


def _report() -> Any:
    columns = {"sex": ["F", "M"] * 200, "y": [0, 1, 1, 0] * 100, "p": [0, 1] * 200}
    data = iso.Dataset(columns, target="y", protected=["sex"], prediction="p")
    return iso.audit(data, policy="eeoc", checks=["performance", "group_fairness"], n_boot=50)
