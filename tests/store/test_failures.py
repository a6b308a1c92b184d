"""What goes wrong around a store: a clear error, no secret in it, and nothing lost."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest
from tests.postgres_cluster import GUARDED, PASSWORD, PostgresCluster
from tests.store.reports import audited

import isonomia as iso
from isonomia.errors import StoreError
from isonomia.store import Store, address
from isonomia.store.address import read_address


@contextmanager
def nobody() -> Iterator[None]:
    """As a user without rights, where the tests run as root, whom no permission stops."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def kept(path: Path) -> None:
    """Everything that was kept is still there."""
    with iso.store.open(path) as store:
        assert store.load("loans").to_dict() == audited().to_dict()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store with one run, closed."""
    path = tmp_path / "runs.db"
    with iso.store.open(path) as store:
        store.keep(audited(), analysis="loans")
    return path


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("mysql://ann:secret@host/db", r"in 'mysql' is not supported"),
        ("sqlite://", "in memory is lost"),
        ("sqlite:///:memory:", "in memory is lost"),
        ("postgresql://ann:secret@host:port/db", "is not the address of a store"),
        ("", "No store was named"),
        ("no/such/folder/runs.db", "There is no folder"),
    ],
)
def test_a_wrong_address_is_explained_without_its_password(given: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as caught:
        iso.store.open(given)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_folder_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a file"):
        iso.store.open(tmp_path)
    other = tmp_path / "notes.txt"
    other.write_text("not a database, but longer than the header of one: " + "x" * 200)
    with pytest.raises(StoreError, match="not a SQLite database"):
        iso.store.open(other)
    assert other.read_text().startswith("not a database")


def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mounts"
    lines = [
        "/dev/vda / ext4 rw 0 0",
        f"server:/share {tmp_path}/far\\040away nfs4 rw 0 0",
        f"x {tmp_path}/near xfs rw 0 0",
    ]
    table.write_text("\n".join(lines))
    monkeypatch.setattr(address, "Path", lambda given: table if given == "/proc/self/mounts" else Path(given))
    for name in ("far away", "near"):
        (tmp_path / name).mkdir()
    with pytest.raises(StoreError, match=r"network file system \(nfs4\)"):
        iso.store.open(tmp_path / "far away" / "runs.db")
    assert list((tmp_path / "far away").iterdir()) == []
    iso.store.open(tmp_path / "near" / "runs.db").close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user reaches, unlike those of the tests of root."""
    with tempfile.TemporaryDirectory(prefix="iso-store-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_read_only_file_is_explained(open_folder: Path) -> None:
    path = open_folder / "runs.db"
    with iso.store.open(path) as store:
        store.keep(audited(), analysis="loans")
    open_folder.chmod(0o555)
    path.chmod(0o444)
    try:
        with nobody(), pytest.raises(StoreError, match=r"read-only|cannot be opened") as caught:
            iso.store.open(path).keep(audited(1), analysis="loans")
        assert str(path) in str(caught.value)
        open_folder.chmod(0o700 if os.geteuid() == 0 else 0o000)
        with nobody(), pytest.raises(StoreError, match="cannot be reached: Permission denied"):
            iso.store.open(path)
    finally:
        open_folder.chmod(0o755)
        path.chmod(0o644)
    kept(path)


def test_a_full_disk_loses_nothing(file: Path) -> None:
    with iso.store.open(file) as store:
        pages = sqlite3.connect(file).execute("PRAGMA page_count").fetchone()[0]

        from sqlalchemy import event

        @event.listens_for(store.database.engine, "checkout")
        def limit(connection: sqlite3.Connection, *others: object) -> None:
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")

        with pytest.raises(StoreError, match="the disk is full"):
            store.keep(audited(1), analysis="loans")
        assert len(store.runs("loans")) == 1
    kept(file)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root can make a small disk")
def test_a_small_disk_that_fills_up_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(disk)], capture_output=True)
    if made.returncode != 0:
        pytest.skip("this machine does not let root mount a disk (a container without rights)")
    try:
        runs: list[str] = []
        with iso.store.open(disk / "runs.db") as store, pytest.raises(StoreError, match="disk"):
            runs.extend(store.keep(audited(seed % 3), analysis="loans").id for seed in range(60))
        assert runs
        shutil.copytree(disk, tmp_path / "copy")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    with iso.store.open(tmp_path / "copy" / "runs.db") as store:
        assert sorted(run.id for run in store.runs("loans")) == sorted(runs)


@pytest.mark.postgres
def test_a_wrong_password_is_explained_and_never_shown(
    postgres: PostgresCluster, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = "hunter2/secret"
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreError, match="the password is wrong") as caught:
        iso.store.open(postgres.url(user=GUARDED, password=wrong))
    for text in (str(caught.value), repr(caught.value), caplog.text):
        assert wrong not in text
        assert "hunter2" not in text
    assert caught.value.__cause__ is None
    right = read_address(postgres.url(user=GUARDED, password=PASSWORD))
    assert "***" in str(right)
    assert PASSWORD not in f"{right} {right!r}"
    with pytest.raises(StoreError, match="the user may not do this"):  # it may look, but not make tables
        iso.store.open(postgres.url(user=GUARDED, password=PASSWORD))


@pytest.mark.postgres
def test_a_database_or_server_that_is_not_there_is_explained(postgres: PostgresCluster, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the database has to exist"):
        iso.store.open(postgres.url("nowhere"))
    with pytest.raises(StoreError, match="cannot be used"):
        iso.store.open(f"postgresql://postgres@/postgres?host={tmp_path}")


def _keep_some(task: tuple[str, int]) -> list[str]:
    place, number = task
    with iso.store.open(place) as store:
        return [store.keep(audited(number), analysis="loans").id for _ in range(3)]


def test_eight_writers_at_once_all_succeed(address: str) -> None:
    audited(0)  # before the processes fork, so that they need not audit
    with ProcessPoolExecutor(8, mp_context=get_context("fork")) as pool:
        ids = [one for part in pool.map(_keep_some, [(address, 0)] * 8) for one in part]
    with iso.store.open(address) as store:
        assert sorted(run.id for run in store.runs("loans")) == sorted(ids)
        assert len(set(ids)) == 24
        assert all(store.load(run).to_dict() == audited(0).to_dict() for run in store.runs("loans", limit=3))


def test_a_store_shows_where_it_is(file: Path) -> None:
    with iso.store.open(file) as store:
        assert repr(store) == f"Store({file})"
        assert isinstance(store, Store)


def test_without_its_packages_the_room_says_how_to_install_them() -> None:
    code = "import sys; sys.modules['sqlalchemy'] = None; import isonomia as iso; iso.store.open('runs.db')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'isonomia[store]'" in done.stderr.splitlines()[-1]
