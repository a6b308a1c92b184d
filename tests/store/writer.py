"""Processes that keep runs, or answer cells, until they are killed: what a store acknowledged, they write to a file."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

from tests.store.reports import audited

import isonomia as iso
from isonomia.store import Store


class Writer:
    """A process that writes, and what it was told is safe."""

    def __init__(self, address: str, folder: Path, *, cells: bool = False) -> None:
        self.file = folder / f"acknowledged-{time.monotonic_ns()}"
        self.file.touch()
        audited()  # before the fork: the process need not audit
        self.process = get_context("fork").Process(target=_write, args=(address, str(self.file), cells))
        self.process.start()

    def acknowledged(self) -> list[str]:
        """The ids of what is safe."""
        return self.file.read_text().splitlines()

    def wait_for(self, more: int) -> None:
        """Wait until so many more are safe."""
        wanted, ends = len(self.acknowledged()) + more, time.monotonic() + 120
        while len(self.acknowledged()) < wanted:
            assert time.monotonic() < ends, "the writer does not write"
            assert self.process.is_alive(), "the writer ended by itself"
            time.sleep(0.005)

    def kill(self) -> list[str]:
        """Kill it with signal 9; returns what it was told is safe."""
        self.process.kill()
        self.process.join()
        self.process.close()
        return self.acknowledged()


def wait_for_one(writers: Sequence[Writer]) -> None:
    """Wait until one of them has something that is safe: one may leave nothing for the other."""
    ends = time.monotonic() + 120
    while not any(writer.acknowledged() for writer in writers):
        assert time.monotonic() < ends, "no writer writes"
        time.sleep(0.005)


def _write(address: str, acknowledged: str, cells: bool) -> None:
    file = os.open(acknowledged, os.O_WRONLY | os.O_APPEND)
    with iso.store.open(address) as store:
        _answer_cells(store, file) if cells else _keep_runs(store, file)


def _keep_runs(store: Store, file: int) -> None:
    while True:
        _acknowledge(file, store.keep(audited(), analysis="loans").id)


def _answer_cells(store: Store, file: int) -> None:
    while (lease := store.cells.claim("quick", seconds=2)) is not None:
        store.cells.finish(lease, figures={"f1": 0.5}, record={"process": os.getpid()})
        _acknowledge(file, lease.key)
    time.sleep(1000)  # until it is killed


def _acknowledge(file: int, line: str) -> None:
    """One line, in one write: whole, or not there."""
    os.write(file, f"{line}\n".encode())
