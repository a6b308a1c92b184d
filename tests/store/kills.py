"""Processes killed with signal 9 at random moments while they keep audits, answer cells or run a benchmark.

The tests do it a few times, ``python -m benchmarks store_kills`` at full size.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from tests.postgres_cluster import PostgresCluster
from tests.store.reports import audited
from tests.store.writer import Writer, wait_for_one

import isonomia as iso
from isonomia.store import Store

#: Cells of a benchmark that nobody could finish before the last kill.
CELLS_PER_KILL = 20
OWN = "tests.benchmark.own_methods:SLOW"


@dataclass(frozen=True)
class Survived:
    """What was acknowledged before the kills, and how many of these are lost, there twice, or were done again."""

    acknowledged: int
    lost: int
    twice: int


def kill_while_keeping(address: str, folder: Path, kills: int) -> Survived:
    """Audits are kept, one after the other, by processes that are killed."""
    rng = np.random.default_rng(1)
    safe: list[str] = []
    for _ in range(kills):
        writer = Writer(address, folder)
        writer.wait_for(1)
        time.sleep(rng.uniform(0, 0.1))
        safe += writer.kill()
    with iso.store.open(address) as store:
        return survived_runs(store, safe, kills)


def survived_runs(store: Store, safe: list[str], killed: int) -> Survived:
    """Every acknowledged run is there, once and whole; at most one more per killed writer."""
    found = [run.id for run in store.runs("loans", limit=1 << 20)]
    assert len(found) - len(safe) <= killed
    whole = Counter(line.object.removeprefix("run:") for line in store.log(limit=1 << 20))
    assert whole == Counter(found)  # the last row of each transaction
    for one in found[:2]:
        assert store.load(one).to_dict() == audited().to_dict()
    return Survived(len(safe), len(set(safe) - set(found)), len(found) - len(set(found)))


def kill_while_answering(address: str, folder: Path, kills: int) -> Survived:
    """Cells are answered by two processes at a time, both of which are killed; in the end all are answered."""
    rng = np.random.default_rng(2)
    safe: list[str] = []
    for turn in range(kills):
        with iso.store.open(address) as store:  # new cells every time: two quick workers may have answered all others
            seeds = range(CELLS_PER_KILL * turn, CELLS_PER_KILL * (turn + 1))
            store.cells.add("quick", [{"method": "x", "data_seed": seed} for seed in seeds])
        writers = [Writer(address, folder, cells=True) for _ in range(2)]
        wait_for_one(writers)
        time.sleep(rng.uniform(0, 0.05))
        safe += [key for writer in writers for key in writer.kill()]
    with iso.store.open(address) as store:
        done = [cell.key for cell in store.cells.list("quick", state="done")]
        assert len(done) - len(safe) <= 2 * kills
        time.sleep(2.1)  # leases of the killed run out
        while (lease := store.cells.claim("quick")) is not None:
            store.cells.finish(lease, figures={})
        total = CELLS_PER_KILL * kills
        assert store.cells.counts("quick") == {"waiting": 0, "running": 0, "done": total, "failed": 0}
    return Survived(len(safe), len(set(safe) - set(done)), len(safe) - len(set(safe)))


def kill_benchmark_runs(address: str, kills: int) -> Survived:
    """`run_benchmark` is killed, half of the time after a cell was done, else at any moment; its workers are orphaned.

    Whatever was recorded before a kill has to be there at the end, unchanged: recorded at the same time, run once.
    """
    rng = np.random.default_rng(3)
    recorded: dict[str, tuple[Any, int]] = {}
    lost = twice = 0
    for turn in range(kills + 1):
        if turn:
            process = get_context("fork").Process(target=_run_benchmark, args=(address, CELLS_PER_KILL * kills))
            process.start()
            if turn % 2:
                _wait_for_cells(address, len(recorded) + 1)
            time.sleep(rng.uniform(0, 1.0 if turn % 2 else 3.0))
            process.kill()
            process.join()
        with iso.store.open(address) as store:
            cells = store.cells.list("killed", state="done")
        done = {cell.key: (cell.finished, cell.attempts) for cell in cells}
        lost += len(set(recorded) - set(done))
        twice += sum(done[key] != cell for key, cell in recorded.items() if key in done)
        recorded |= done
    return Survived(len(recorded), lost, twice)


def _wait_for_cells(address: str, wanted: int) -> None:
    ends = time.monotonic() + 120
    with iso.store.open(address) as store:
        while store.cells.counts("killed")["done"] < wanted:
            assert time.monotonic() < ends, "the benchmark does not get on"
            time.sleep(0.02)


def _run_benchmark(address: str, cells: int) -> None:
    import isonomia.benchmark.running as running
    from isonomia.benchmark import CENTRE, Grid

    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    running.LEASE = 1.0
    tiny = replace(CENTRE, n_pairs=2, group_rows=40, background=300, judged=500, model="oracle")
    grid = Grid(id="killed", purpose="", settings=(tiny,), seeds=2, budget="b10k", method_seeds=cells // 2)
    with iso.store.open(address) as store:
        running.run_benchmark(grid, store, methods=[OWN], jobs=1)


def crash_server(cluster: PostgresCluster, folder: Path, crashes: int) -> Survived:
    """The server is stopped at once, again and again, under a process that keeps audits and reconnects by itself."""
    writer = Writer(cluster.url(), folder)
    for _ in range(crashes):
        writer.wait_for(1)
        cluster.crash()
        cluster.start()
    writer.wait_for(2)
    safe = writer.kill()
    with iso.store.open(cluster.url()) as store:
        return survived_runs(store, safe, 1)
