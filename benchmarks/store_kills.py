"""Processes killed, and a server stopped, at random moments: is anything lost, or there twice?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.postgres_cluster import find_programs, postgres_cluster
from tests.store.kills import Survived, crash_server, kill_benchmark_runs, kill_while_answering, kill_while_keeping

from benchmarks.bench import Row, Scale, Target, benchmark


@benchmark("store_kills")
def store_kills(scale: Scale) -> Iterator[Row]:
    """Acknowledged results lost or there twice after 100 kills (signal 9) of each kind, and 20 stops of the server."""
    kills, crashes = (3, 2) if scale.quick else (100, 20)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["ISONOMIA_SCENES"] = str(folder / "scenes")
        numbers = iter(range(3))
        yield from _kills("SQLite", lambda: str(folder / f"{next(numbers)}.db"), folder, kills)
        if find_programs() is None:
            yield Row("PostgreSQL", None, None, note="no server is installed here")
            return
        with postgres_cluster(fsync=True) as cluster:
            for case, kill in _CASES.items():
                with cluster.database() as url:
                    yield _row(f"PostgreSQL, {case}", kills, kill(url, folder, kills))
            yield _row("PostgreSQL, stopped while audits are kept", crashes, crash_server(cluster, folder, crashes))


_CASES: dict[str, Callable[[str, Path, int], Survived]] = {
    "audits being kept": kill_while_keeping,
    "cells being answered, two processes each": kill_while_answering,
    "benchmark runs": lambda address, folder, kills: kill_benchmark_runs(address, kills),
}


def _kills(name: str, address: Callable[[], str], folder: Path, kills: int) -> Iterator[Row]:
    for case, kill in _CASES.items():
        yield _row(f"{name}, {case}", kills, kill(address(), folder, kills))


def _row(case: str, kills: int, found: Survived) -> Row:
    return Row(
        case,
        kills,
        None,
        measure="lost or twice",
        value=float(found.lost + found.twice),
        target=Target("at most", 0),
        note=f"{kills} kills; {found.acknowledged:,} acknowledged, {found.lost} lost, {found.twice} twice",
    )
