"""The benchmark of discovery methods: what the harness adds to every cell, and how long the grid `quick` takes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from benchmarks.bench import Row, Scale, Target, benchmark


def _nothing(scene: Any, budget: Any, seed: int, who: Any) -> Any:
    from isonomia.benchmark import Answer

    return Answer()


def __getattr__(name: str) -> Any:
    """A contestant that answers at once, made when a worker asks for it."""
    if name != "NOTHING":
        raise AttributeError(name)
    from isonomia.benchmark import Contestant

    return Contestant(id="benchmarks.contest:NOTHING", purpose="answers at once", finds="subgroups", ask=_nothing)


def _cpu() -> float:
    """Processor time of this process and of those it has ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@benchmark("contest_overhead")
def contest_overhead(scale: Scale) -> Iterator[Row]:
    """Processor seconds per cell that are not the method's: claim, process, scoring of no claim, record (SQLite)."""
    import isonomia as iso
    from isonomia.benchmark import CENTRE, Grid, run_benchmark

    small = replace(CENTRE, n_pairs=2, group_rows=50, background=500, judged=1000, model="oracle")
    few, many = (2, 6) if scale.quick else (20, 220)
    spent = []
    for cells in (few, many):
        grid = Grid(id="overhead", purpose="", settings=(small,), seeds=1, budget="b10k", method_seeds=cells)
        with tempfile.TemporaryDirectory() as folder, iso.store.open(f"{folder}/cells.db") as store:
            began = _cpu()
            run_benchmark(grid, store, methods=["benchmarks.contest:NOTHING"], jobs=1)
            spent.append(_cpu() - began)
    seconds = (spent[1] - spent[0]) / (many - few)  # the start of the process and the scene are in both
    measure = "processor seconds per cell"
    yield Row("per cell", many, seconds, measure=measure, value=seconds, target=Target("at most", 0.05))


@benchmark("contest_quick")
def contest_quick(scale: Scale) -> Iterator[Row]:
    """The grid `quick` with two processes: at most ten minutes on two cores, so twenty of processor time."""
    import isonomia as iso
    from isonomia.benchmark import GRIDS, run_benchmark

    grid = GRIDS["quick"]
    if scale.quick:
        grid = replace(grid, settings=grid.settings[:1], seeds=1)
    with tempfile.TemporaryDirectory() as folder, iso.store.open(f"{folder}/cells.db") as store:
        began, began_cpu = time.perf_counter(), _cpu()
        counts = run_benchmark(grid, store, jobs=2)
        minutes, seconds = (time.perf_counter() - began) / 60, _cpu() - began_cpu
    cells = sum(counts.values())
    note = f"{counts['done']:,} of {cells:,} cells with an answer"
    for measure, value, limit in (("processor seconds", seconds, 1200), ("minutes on the clock", minutes, 10)):
        target = None if scale.quick else Target("at most", limit)
        yield Row("quick", cells, minutes * 60, measure=measure, value=value, target=target, note=note)
