"""Killed writers, crashed servers, a write-ahead log cut anywhere: nothing acknowledged is lost or there twice."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.postgres_cluster import postgres_cluster
from tests.store.kills import crash_server, kill_while_answering, kill_while_keeping
from tests.store.reports import audited

import isonomia as iso


def test_killed_writers_lose_no_acknowledged_run(address: str, tmp_path: Path) -> None:
    survived = kill_while_keeping(address, tmp_path, 6)
    assert (survived.lost, survived.twice) == (0, 0)
    assert survived.acknowledged >= 6
    if not address.startswith("postgresql"):
        assert sqlite3.connect(address).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_killed_workers_leave_no_cell_unanswered_and_none_answered_twice(address: str, tmp_path: Path) -> None:
    survived = kill_while_answering(address, tmp_path, 6)
    assert (survived.lost, survived.twice) == (0, 0)
    assert survived.acknowledged >= 6


@pytest.mark.postgres
def test_a_crashed_server_loses_no_acknowledged_run(tmp_path: Path) -> None:
    with postgres_cluster(fsync=True) as cluster:
        survived = crash_server(cluster, tmp_path, 2)
    assert (survived.lost, survived.twice) == (0, 0)
    assert survived.acknowledged >= 4


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
