"""How results are kept: rooms below `store` know what a store has to offer, and ask here for one by its address.

`Report.save`, `find_pairs` and `find_subgroups` can keep what they found, but live below the room that does so, and
imports go up the house only. `isonomia/__init__` knows all rooms: it names the one that opens stores, which is loaded
on first use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Keeper(Protocol):
    """What a store has to offer to the rooms below it."""

    def keep(self, report: Any, *, analysis: str) -> Any:
        """Keep a report; returns its run."""

    def continued(self, report: Any, *, analysis: str) -> Any:
        """The report with a section on what changed since the last run of the analysis."""

    def keep_answer(self, result: Any, *, analysis: str, question: Mapping[str, Any], record: Mapping[str, Any]) -> Any:
        """Keep what a search found, the question it answers, and all that is needed to give the answer again."""

    def answer_to(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The record of the last answer to the same question; None where there is none."""

    def trained(
        self,
        key: Mapping[str, Any],
        train: Callable[[], T],
        *,
        write: Callable[[T], Mapping[str, Any]],
        read: Callable[[Mapping[str, Any]], T],
    ) -> T:
        """What was trained for a key before; trained now, and kept, where it was not."""


_openers: list[Callable[[], Any]] = []


def open_with(load: Callable[[], Any]) -> None:
    """Name the room that opens stores, as a function that loads it."""
    _openers[:] = [load]


def opened(store: Keeper | str | os.PathLike[str]) -> Keeper:
    """The store itself, or the one at an address."""
    if isinstance(store, str | os.PathLike):
        found: Keeper = _openers[0]().open(store)
        return found
    return store
