"""Cells of a benchmark, shared by several processes: each is answered once."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

import isonomia as iso
from isonomia.errors import LeaseLost, StoreError
from isonomia.store import FACTORS, SCORES, Store, cell_key
from isonomia.store.tables import cell


def specs(n: int) -> list[dict[str, Any]]:
    return [{"method": "sliceline", "bias": -0.5, "data_seed": seed, "note": "é\x00\ud800"} for seed in range(n)]


def test_cells_are_added_once_and_claimed_in_order(store: Store) -> None:
    assert store.cells.add("quick", specs(3)) == 3
    assert store.cells.add("quick", specs(5)) == 2
    assert store.cells.add("standard", specs(1)) == 1
    claimed = [store.cells.claim("quick") for _ in range(6)]
    assert [lease.spec["data_seed"] for lease in claimed if lease] == [0, 1, 2, 3, 4]
    assert claimed[-1] is None
    assert claimed[0] is not None
    assert claimed[0].spec == specs(1)[0]
    assert claimed[0].key == cell_key("quick", specs(1)[0])
    assert store.cells.benchmarks() == ["quick", "standard"]
    assert store.cells.counts("quick") == {"waiting": 0, "running": 5, "done": 0, "failed": 0}


def test_a_finished_cell_keeps_its_answer_in_columns(store: Store) -> None:
    store.cells.add("quick", specs(1))
    lease = store.cells.claim("quick")
    assert lease is not None
    store.cells.finish(lease, figures={"f1": 0.75, "seconds": 2, "recall": None}, record={"found": ["\x00"]})
    (done,) = store.cells.list("quick", state="done")
    assert (done.figures["f1"], done.figures["seconds"], done.figures["recall"]) == (0.75, 2.0, None)
    assert done.record == {"found": ["\x00"]}
    assert done.finished is not None
    assert done.finished.tzinfo is UTC
    row = store.database.read(lambda connection: connection.execute(select(cell)).one())
    assert (row.bias, row.method, row.f1, row.model) == (-0.5, "sliceline", 0.75, None)
    assert {*FACTORS, *SCORES} <= set(cell.c.keys())


def test_a_failed_cell_says_why_and_can_be_tried_again(store: Store) -> None:
    store.cells.add("quick", specs(2))
    lease = store.cells.claim("quick")
    assert lease is not None
    store.cells.fail(lease, "time-out", figures={"f1": 0.0}, seconds=60)
    (failed,) = store.cells.list("quick", state="failed")
    assert failed.error == {"reason": "time-out", "seconds": 60}
    assert store.cells.again("quick") == 1
    assert store.cells.counts("quick") == {"waiting": 2, "running": 0, "done": 0, "failed": 0}


def test_a_lease_that_ran_out_goes_to_the_next_and_the_first_is_refused(store: Store) -> None:
    store.cells.add("quick", specs(1))
    first = store.cells.claim("quick", seconds=-1)
    second = store.cells.claim("quick", seconds=60)
    assert first is not None
    assert second is not None
    assert (first.key, first.attempt, second.attempt) == (second.key, 1, 2)
    for late in (lambda: store.cells.renew(first), lambda: store.cells.finish(first, figures={})):
        with pytest.raises(LeaseLost, match="another process"):
            late()
    renewed = store.cells.renew(second, seconds=1000)
    assert renewed.until > datetime.now(UTC) + timedelta(seconds=900)
    store.cells.finish(renewed, figures={"f1": 1})
    store.cells.finish(renewed, figures={"f1": 1})  # as after an answer that was lost on the way
    with pytest.raises(LeaseLost):
        store.cells.fail(renewed, "too late")
    assert [found.figures["f1"] for found in store.cells.list("quick")] == [1.0]


def test_a_lease_that_nobody_took_over_is_still_good_after_its_time(store: Store) -> None:
    store.cells.add("quick", specs(1))
    lease = store.cells.claim("quick", seconds=-1)
    assert lease is not None
    store.cells.finish(lease, figures={})
    assert store.cells.counts("quick")["done"] == 1


def test_a_cell_that_kills_its_processes_has_failed(store: Store) -> None:
    store.cells.add("quick", specs(1))
    assert [store.cells.claim("quick", seconds=-1) is not None for _ in range(4)] == [True, True, True, False]
    (failed,) = store.cells.list("quick")
    assert failed.state == "failed"
    assert failed.error == {"reason": "The process that worked on it ended 3 times without a result."}


def test_a_released_cell_waits_again(store: Store) -> None:
    store.cells.add("quick", specs(1))
    lease = store.cells.claim("quick")
    assert lease is not None
    store.cells.release(lease)
    again = store.cells.claim("quick")
    assert again is not None
    assert again.attempt == 2


def test_shards_divide_the_cells_without_overlap(store: Store) -> None:
    store.cells.add("quick", specs(10))
    found: list[list[int]] = []
    for part in (1, 2, 3):
        leases = [store.cells.claim("quick", shard=(part, 3)) for _ in range(10)]
        found.append([lease.spec["data_seed"] for lease in leases if lease is not None])
    assert sorted(seed for part in found for seed in part) == list(range(10))
    assert [len(part) for part in found] == [4, 3, 3]


def test_threads_never_claim_the_same_cell(store: Store) -> None:
    store.cells.add("quick", specs(24))

    def take(_: int) -> list[str]:
        keys = []
        while (lease := store.cells.claim("quick")) is not None:
            store.cells.finish(lease, figures={})
            keys.append(lease.key)
        return keys

    with ThreadPoolExecutor(4) as pool:
        keys = [key for part in pool.map(take, range(4)) for key in part]
    assert len(keys) == len(set(keys)) == 24
    assert store.cells.counts("quick")["done"] == 24


def _claim_all(store: Store) -> list[str]:
    keys = []
    while (lease := store.cells.claim("quick")) is not None:
        store.cells.finish(lease, figures={})
        keys.append(lease.key)
    return keys


def test_a_forked_process_and_a_pickled_store_open_their_own_connections(store: Store) -> None:
    store.cells.add("quick", specs(8))
    with multiprocessing.get_context("fork").Pool(2) as pool:  # the parent's connections are open
        parts = pool.map(_claim_all, [store, pickle.loads(pickle.dumps(store))])
    keys = [key for part in parts for key in part]
    assert len(set(keys)) == len(keys) == 8
    assert store.cells.counts("quick")["done"] == 8


def test_wrong_names_are_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="`benchmark` must be a name"):
        store.cells.add("Quick!", specs(1))
    store.cells.add("quick", specs(1))
    lease = store.cells.claim("quick")
    assert lease is not None
    with pytest.raises(StoreError, match="no figure 'f2'"):
        store.cells.finish(lease, figures={"f2": 1.0})


def test_an_address_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISONOMIA_STORE", raising=False)
    with pytest.raises(StoreError, match="set the environment variable ISONOMIA_STORE"):
        iso.store.open()
