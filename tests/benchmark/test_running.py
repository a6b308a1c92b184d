"""Running a grid: methods that misbehave are rows, what was done is not done again, whatever ends a run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from tests.store.kills import kill_benchmark_runs

import isonomia as iso
from isonomia.benchmark import BUDGETS, CENTRE, CONTESTANTS, Budget, Grid, read_benchmark, run_benchmark, tuning
from isonomia.benchmark.running import missing_sources, planned
from isonomia.benchmark.summary import TIMES, csv_rows
from isonomia.discovery import METHODS, find_subgroups
from isonomia.errors import Cancelled, DataError, SpecError

OWN = "tests.benchmark.own_methods:"
TINY = replace(CENTRE, n_pairs=2, group_rows=40, background=300, judged=500, model="oracle")


@pytest.fixture(scope="module", autouse=True)
def _budget() -> Iterator[None]:
    """A budget that a method which hangs uses up soon."""
    budget = Budget(id="tests", purpose="for tests", model_rows=500, seconds=8.0, memory_mb=500, grace=0.5)
    BUDGETS.add(budget)
    yield
    BUDGETS._entries.pop("tests")


def grid(name: str = "tiny", *, settings: Any = (TINY,), seeds: int = 1, budget: str = "tests") -> Grid:
    return Grid(id=name, purpose="for tests", settings=tuple(settings), seeds=seeds, budget=budget)


def rows_of(store: Any, name: str = "tiny") -> dict[str, dict[str, Any]]:
    return {str(row["method"]).removeprefix(OWN): dict(row) for row in read_benchmark(store, name).cells.rows}


def test_methods_that_misbehave_are_rows(tmp_path: Path) -> None:
    methods = [OWN + name for name in ("PERFECT", "CRASH", "DIE", "HANG", "HOG")] + ["exact"]
    with iso.store.open(tmp_path / "cells.db") as store:
        counts = run_benchmark(grid(), store, methods=methods, jobs=2)
        rows = rows_of(store)
    assert counts == {"done": 1, "unsuitable": 1, "failed": 2, "timeout": 1, "memory": 1, "running": 0, "waiting": 0}
    assert rows["PERFECT"]["f1"] == 1
    assert {rows[name]["f1"] for name in ("CRASH", "DIE", "HANG", "HOG", "exact")} == {0}
    assert rows["CRASH"]["reason"] == "RuntimeError: this method is broken"
    assert "ended with 7" in rows["DIE"]["reason"]
    assert rows["HANG"]["reason"] == "still searching after 8.5 s"
    assert rows["HOG"]["reason"] == "more than 500 MB while searching"
    assert rows["exact"]["status"] == "unsuitable"


def test_what_a_process_took_for_earlier_cells_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isonomia.benchmark.pool.cpu_seconds", lambda pid: 10_000.0)
    with iso.store.open(tmp_path / "cells.db") as store:
        counts = run_benchmark(grid(), store, methods=[OWN + "PERFECT"], jobs=1)
    assert (counts["done"], counts["timeout"]) == (1, 0)


def test_what_is_done_is_not_done_again_and_two_runs_are_equal(tmp_path: Path) -> None:
    methods = ["random", "observed", OWN + "GUESS", OWN + "PERFECT"]
    plan = grid(settings=(TINY, replace(TINY, bias=0.0), replace(TINY, model="logistic")), budget="b10k")
    found = []
    for name in ("a.db", "b.db"):
        with iso.store.open(tmp_path / name) as store:
            if name == "a.db":
                run_benchmark(plan, store, methods=methods, jobs=1, max_seconds=1e-9)
                assert store.cells.counts("tiny")["done"] == 0
                run_benchmark(plan, store, methods=methods, jobs=2)
            run_benchmark(plan, store, methods=methods, jobs=2)
            assert {cell.attempts for cell in store.cells.list("tiny")} == {1}
            found.append(csv_rows(read_benchmark(store, "tiny").cells))
    stable = [[{k: v for k, v in row.items() if k not in TIMES} for row in rows] for rows in found]
    assert stable[0] == stable[1]
    assert len(stable[0]) == 12
    assert {row["status"] for row in stable[0]} == {"done"}
    assert all(row["f1"] is None for row in stable[0] if row["bias"] == 0)


def test_shards_together_are_the_whole(tmp_path: Path) -> None:
    plan = grid(seeds=3)
    methods = [OWN + "PERFECT", OWN + "GUESS"]
    stores = [iso.store.open(tmp_path / f"{part}.db") for part in (1, 2)]
    try:
        for part, store in enumerate(stores, start=1):
            run_benchmark(plan, store, methods=methods, jobs=1, shard=(part, 2))
        sizes = [len(read_benchmark(store, "tiny").cells.rows) for store in stores]
        both = read_benchmark(stores, "tiny").cells
    finally:
        for store in stores:
            store.close()
    assert sizes == [3, 3]
    assert len(both.rows) == 6
    assert both.waiting == 0
    with pytest.raises(SpecError, match=r"got \(3, 2\)"):
        run_benchmark(plan, stores[0], shard=(3, 2))


def test_a_cancelled_run_gives_its_cells_back(tmp_path: Path) -> None:
    progress = iso.Progress(lambda event: progress.cancel() if event.done >= 1 else None)
    with iso.store.open(tmp_path / "cells.db") as store:
        with pytest.raises(Cancelled):
            run_benchmark(grid(seeds=4), store, methods=[OWN + "SLOW"], jobs=1, progress=progress)
        counts = store.cells.counts("tiny")
        assert counts["running"] == 0
        assert counts["done"] >= 1
        run_benchmark(grid(seeds=4), store, methods=[OWN + "SLOW"], jobs=1)
        assert store.cells.counts("tiny")["done"] == 4


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_killed_run_loses_nothing_and_repeats_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Killed (with its workers orphaned) at random moments: what was recorded is there, unchanged."""
    address = str(tmp_path / "cells.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    survived = kill_benchmark_runs(address, 2)
    assert (survived.lost, survived.twice) == (0, 0)
    assert survived.acknowledged >= 1
    with iso.store.open(address) as store:
        cells = store.cells.list("killed", state="done")
    assert {cell.record["scores"]["f1"] for cell in cells} == {1.0}


def test_scenes_are_run_two_by_two() -> None:
    both = grid(settings=(TINY, replace(TINY, bias=-2.0)), seeds=3)
    methods: dict[str, dict[str, Any]] = {"random": {}, "sliceline": {}, "observed": {}}
    plan = planned(both, methods)
    scenes = [(spec["bias"], spec["data_seed"]) for spec in plan]
    assert len(plan) == 18
    assert [len(set(scenes[start : start + 6])) for start in (0, 6, 12)] == [2, 2, 2]
    assert [seed for _, seed in scenes] == sorted(seed for _, seed in scenes)  # all settings once, then again
    assert plan == planned(both, methods)


def test_data_that_are_not_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISONOMIA_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match="not on this machine"):
        planned(grid(settings=(replace(TINY, source="compas"),)), {"random": {}})
    both = grid(settings=(TINY, replace(TINY, source="compas"), replace(TINY, source="compas", bias=-2.0)))
    assert missing_sources(both) == ["compas"]
    assert len(planned(both, {"random": {}})) == 1


def test_nothing_to_read(tmp_path: Path) -> None:
    with iso.store.open(tmp_path / "cells.db") as store, pytest.raises(DataError, match="isonomia benchmark run quick"):
        read_benchmark(store, "quick")


def test_tuned_methods_run_with_the_best_of_their_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Level 2 scores 1 and all others 0; trials are on data that the grid does not use, and are not run again."""
    monkeypatch.setitem(tuning.CHOICES, "tunable", {"level": (0, 1, 2)})
    methods = [OWN + "TUNABLE", OWN + "GUESS"]
    with iso.store.open(tmp_path / "cells.db") as store:
        with pytest.raises(SpecError, match="leave out `shard`"):
            run_benchmark(grid(seeds=2), store, methods=methods, tuned=True, shard=(1, 2))
        for _ in range(2):
            counts = run_benchmark(grid(seeds=2), store, methods=methods, jobs=2, tuned=True)
        trials = store.cells.list("tiny-tuning")
        rows = read_benchmark(store, "tiny-tuned").cells.rows
    assert counts["done"] == 4
    assert [cell.spec["options"] for cell in trials[:4]] == [{}, {"level": 0}, {"level": 1}, {"level": 2}]
    assert len(trials) == 8  # nothing of a method without choices
    assert {cell.spec["data_seed"] for cell in trials} == set(tuning.SEEDS)
    assert {cell.attempts for cell in trials} == {1}
    assert {row["f1"] for row in rows if row["method"] == OWN + "TUNABLE"} == {1.0}
    assert {row["data_seed"] for row in rows} == {0, 1}


def test_trials_begin_with_the_usual_settings_and_are_twenty_at_most() -> None:
    for name in CONTESTANTS.ids():
        tried = tuning.trials(name)
        assert tried[0] == dict(CONTESTANTS[name].options)
        assert len(tried) <= tuning.TRIALS
        assert tried == tuning.trials(name)
        known = {one.name for one in METHODS[CONTESTANTS[name].method].parameters}
        for options in tried:
            METHODS[CONTESTANTS[name].method].read({key: options[key] for key in known & set(options)})
            assert set(options) - known <= {*signature(find_subgroups).parameters, "first_phase"}


def test_the_first_datasets_are_part_of_the_grid(tmp_path: Path) -> None:
    with iso.store.open(tmp_path / "cells.db") as store:
        counts = run_benchmark(grid(seeds=3), store, methods=[OWN + "PERFECT"], jobs=1, datasets=1)
        assert counts["done"] == 1
        about = {str(name): str(value) for name, value in read_benchmark(store, "tiny").document.about}
        assert about["Data sets for each setting"] == "1"
        counts = run_benchmark(grid(seeds=3), store, methods=[OWN + "PERFECT"], jobs=1)
        assert counts["done"] == 3
        assert {cell.attempts for cell in store.cells.list("tiny")} == {1}


def test_an_unknown_backend_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with iso.store.open(tmp_path / "cells.db") as store:
        with pytest.raises(SpecError, match="joblib cannot use the backend 'nope'"):
            run_benchmark(grid(seeds=1), store, methods=[OWN + "PERFECT"], backend="nope")
        assert store.cells.list("tiny") == []


def test_a_backend_of_joblib_starts_runs_that_share_the_store(tmp_path: Path) -> None:
    with iso.store.open(tmp_path / "cells.db") as store:
        counts = run_benchmark(grid(seeds=6, budget="b10k"), store, methods=[OWN + "PERFECT"], jobs=2, backend="loky")
        cells = store.cells.list("tiny")
    assert counts["done"] == 6
    assert {cell.attempts for cell in cells} == {1}
