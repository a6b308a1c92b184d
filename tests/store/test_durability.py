"""Killed writers, crashed servers, a write-ahead log cut anywhere: nothing acknowledged is lost or there twice.

`ISONOMIA_KILLS=100 ISONOMIA_CRASHES=20` asks more often than a test run does.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.postgres_cluster import postgres_cluster
from tests.store.reports import audited
from tests.store.writer import Writer, wait_for_one

import isonomia as iso
from isonomia.store import Store

KILLS = int(os.environ.get("ISONOMIA_KILLS", "6"))
CRASHES = int(os.environ.get("ISONOMIA_CRASHES", "2"))


def check_runs(store: Store, safe: list[str], killed: int) -> None:
    """Every acknowledged run is there, once and whole; at most one more per killed writer."""
    found = [run.id for run in store.runs("loans", limit=1 << 20)]
    assert len(found) == len(set(found))
    assert set(safe) <= set(found)
    assert len(found) - len(safe) <= killed
    whole = Counter(line.object.removeprefix("run:") for line in store.log(limit=1 << 20))
    assert whole == Counter(found)  # the last row of each transaction
    for one in found[:2]:
        assert store.load(one).to_dict() == audited().to_dict()


def test_killed_writers_lose_no_acknowledged_run(address: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    safe: list[str] = []
    for _ in range(KILLS):
        writer = Writer(address, tmp_path)
        writer.wait_for(1)
        time.sleep(rng.uniform(0, 0.1))
        safe += writer.kill()
    if not address.startswith("postgresql"):
        assert sqlite3.connect(address).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with iso.store.open(address) as store:
        check_runs(store, safe, KILLS)


def test_killed_workers_leave_no_cell_unanswered_and_none_answered_twice(address: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    safe: list[str] = []
    for turn in range(KILLS):
        with iso.store.open(address) as store:  # new cells every time: two quick workers may have answered all others
            seeds = range(20 * turn, 20 * (turn + 1))
            store.cells.add("quick", [{"method": "x", "data_seed": seed} for seed in seeds])
        writers = [Writer(address, tmp_path, cells=True) for _ in range(2)]
        wait_for_one(writers)
        time.sleep(rng.uniform(0, 0.05))
        safe += [key for writer in writers for key in writer.kill()]
    with iso.store.open(address) as store:
        done = [cell.key for cell in store.cells.list("quick", state="done")]
        assert len(safe) == len(set(safe))  # a cell is answered by one process
        assert set(safe) <= set(done)
        assert len(done) - len(safe) <= 2 * KILLS
        time.sleep(2.1)  # leases of the killed run out
        finish(store)
        assert store.cells.counts("quick") == {"waiting": 0, "running": 0, "done": 20 * KILLS, "failed": 0}


def finish(store: Store) -> None:
    """Answer what is left."""
    while (lease := store.cells.claim("quick")) is not None:
        store.cells.finish(lease, figures={})


@pytest.mark.postgres
def test_a_crashed_server_loses_no_acknowledged_run(tmp_path: Path) -> None:
    with postgres_cluster(fsync=True) as cluster:
        writer = Writer(cluster.url(), tmp_path)
        for _ in range(CRASHES):
            writer.wait_for(1)
            cluster.crash()
            cluster.start()
        writer.wait_for(2)  # it reconnected by itself
        safe = writer.kill()
        with iso.store.open(cluster.url()) as store:
            check_runs(store, safe, 1)


def truncations(size: int) -> list[int]:
    """Where the log is cut: both ends, frames' edges and some bytes between them."""
    rng = np.random.default_rng(3)
    frame = 4096 + 24
    edges = [32 + frame * number for number in range(0, size // frame + 1, max(1, size // frame // 12))]
    return sorted({0, 1, 31, 32, size - 1, size, *edges, *rng.integers(0, size, 12).tolist()} & set(range(size + 1)))


def test_a_log_cut_at_any_byte_opens_to_a_prefix_of_the_runs(tmp_path: Path) -> None:
    """A power cut is a copy of the file and of its log, which ends anywhere."""
    live = tmp_path / "live"
    live.mkdir()
    kept: list[str] = []
    with iso.store.open(live / "runs.db") as store:
        kept.append(store.keep(audited(), analysis="loans").id)
        store.database.write(lambda c: None)
        sqlite3.connect(live / "runs.db").execute("PRAGMA wal_checkpoint(TRUNCATE)")
        kept += [store.keep(audited(), analysis="loans").id for _ in range(3)]
        shutil.copytree(live, tmp_path / "copy")
    log = (tmp_path / "copy" / "runs.db-wal").read_bytes()
    lengths = []
    for size in truncations(len(log)):
        lengths.append(len(opened_after(tmp_path / "copy", tmp_path / f"cut-{size}", log[:size], kept)))
    assert lengths == sorted(lengths)
    assert (lengths[0], lengths[-1]) == (1, 4)


def opened_after(copy: Path, folder: Path, log: bytes, kept: list[str]) -> list[str]:
    """The runs of a store whose log was cut: a prefix of those that were kept, each whole."""
    folder.mkdir()
    shutil.copy(copy / "runs.db", folder / "runs.db")
    (folder / "runs.db-wal").write_bytes(log)
    with iso.store.open(folder / "runs.db") as store:
        found = sorted(run.id for run in store.runs("loans"))
        assert found == kept[: len(found)]
        assert store.load(found[-1]).to_dict() == audited().to_dict()
        store.keep(audited(), analysis="loans")  # and it goes on
    return found


@pytest.mark.parametrize("lost", ["commit", "begin"])
def test_a_lost_answer_is_not_written_twice(address: str, lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks after the commit reached the database, or before: the run is there once."""
    from sqlalchemy import event
    from sqlalchemy.exc import OperationalError

    with iso.store.open(address) as store:
        store.cells.add("quick", [{"method": "x"}, {"method": "y"}])
        breaks = iter([True])

        def broken() -> Exception:
            return OperationalError("", {}, Exception("gone"), connection_invalidated=True)

        if lost == "commit":
            commit: Callable[..., None] = store.database.engine.dialect.do_commit

            def answer_is_lost(connection: object) -> None:
                commit(connection)
                if next(breaks, False):
                    raise broken()

            monkeypatch.setattr(store.database.engine.dialect, "do_commit", answer_is_lost)
        else:

            @event.listens_for(store.database.engine, "begin")
            def connection_is_lost(connection: object) -> None:
                if next(breaks, False):
                    raise broken()

        run = store.keep(audited(), analysis="loans")
        assert [one.id for one in store.runs("loans")] == [run.id]
        breaks = iter([True])
        lease = store.cells.claim("quick")
        assert lease is not None
        assert store.cells.counts("quick")["running"] == 1
        breaks = iter([True])
        store.cells.finish(lease, figures={"f1": 1.0})
        assert store.cells.counts("quick") == {"waiting": 1, "running": 0, "done": 1, "failed": 0}
