"""Jobs that other processes do, and tallied cells kept with a run."""

from __future__ import annotations

import numpy as np
import pytest
from tests.store.reports import audited

from isonomia.counting import Cells, Codes
from isonomia.errors import LeaseLost, StoreError
from isonomia.store import Store
from isonomia.store.tallies import OTHER, merged


def test_a_job_is_done_once_and_says_how_far_it_is(store: Store) -> None:
    first, second = (store.jobs.submit("audits", {"number": number}) for number in (1, 2))
    lease = store.jobs.claim("audits")
    assert lease is not None
    assert (lease.key, lease.spec) == (first.key, {"number": 1})
    assert store.jobs.report(lease, stage="group_fairness", done=1, total=2)
    assert store.jobs.report(lease, stage="group_fairness", done=2, total=2)
    running = store.jobs.get(first.key)
    assert (running.state, running.stage, running.done, running.total) == ("running", "group_fairness", 2, 2)
    assert [event["done"] for event in store.jobs.events(first.key, after=1)] == [2]
    run = store.keep(audited(), analysis="loans")
    store.jobs.finish(lease, run=run.id)
    assert (store.jobs.get(first.key).state, store.jobs.get(first.key).run) == ("done", run.id)
    with pytest.raises(LeaseLost):
        store.jobs.report(lease, stage="late", done=0, total=1)
    assert [job.key for job in store.jobs.list("audits")] == [second.key, first.key]


def test_a_job_can_be_asked_to_stop(store: Store) -> None:
    waiting, running = store.jobs.submit("audits", {}), None
    store.jobs.cancel(waiting.key)
    assert store.jobs.get(waiting.key).error == {"reason": "cancelled"}
    assert store.jobs.claim("audits") is None
    running = store.jobs.submit("audits", {})
    lease = store.jobs.claim("audits")
    assert lease is not None
    store.jobs.cancel(running.key)
    assert not store.jobs.report(lease, stage="x", done=0, total=1)
    store.jobs.fail(lease, "cancelled")
    assert store.jobs.get(running.key).state == "failed"
    with pytest.raises(StoreError, match="has no job"):
        store.jobs.cancel("nothing")


def test_cells_come_back_with_the_same_totals_and_without_small_ones(store: Store, rng: np.random.Generator) -> None:
    sex = Codes.encode(rng.choice(["F", "M"], 200).tolist(), name="sex")
    city = Codes.encode([*rng.choice(["x", "y"], 197).tolist(), "z", "z", None], name="city")
    age = Codes.cut(rng.integers(18, 80, 200), [18, 40, 80], name="age")
    cells = Cells.of([sex, city, age], weights=rng.random(200), values={"y": rng.random(200)}, products=True)
    run = store.keep(audited(), analysis="loans")
    store.keep_cells(run, "groups", cells)
    again = store.load_cells(run, "groups")
    assert again.rows == cells.rows == 200
    assert again.w.sum() == pytest.approx(cells.w.sum())
    assert again.sums["y"].sum() == pytest.approx(cells.sums["y"].sum())
    large = cells.n >= 5
    assert sorted(again.n.tolist()) == sorted([*cells.n[large].tolist(), int(cells.n[~large].sum())])
    other = [column.labels[code] for column in again.columns for code in column.codes[-1:].tolist()]
    assert other == [OTHER] * 3
    store.keep_cells(run, "groups", cells, min_cell=1)  # in place of the earlier ones
    whole = store.load_cells(run, "groups")
    assert [column.codes.tolist() for column in whole.columns] == [column.codes.tolist() for column in cells.columns]
    assert [column.labels for column in whole.columns] == [column.labels for column in cells.columns]
    assert whole.columns[2].edges == cells.columns[2].edges
    assert np.array_equal(whole.products["y", "y"], cells.products["y", "y"])
    assert merged(cells, 1) is cells
    with pytest.raises(StoreError, match=r"has no cells 'slices'\. Available: groups"):
        store.load_cells(run, "slices")
