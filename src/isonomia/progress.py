"""How long work tells how far it is, and how it keeps to a time limit: a callback and a clock, nothing printed here."""

from __future__ import annotations

import time
from typing import Protocol

from isonomia.parameters import Number


class Progress(Protocol):
    """Called as work goes on; a door (command line, notebook, web) shows it."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell that `done` of `total` parts of `stage` are finished."""


def silent(stage: str, done: int, total: int) -> None:
    """Show nothing: the default."""


class Clock:
    """Seconds since the start, and whether the limit (if any) is over.

    >>> Clock().over
    False
    >>> Clock(-1)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `max_seconds` must be a finite number above 0, or None for no limit; got -1.
    """

    def __init__(self, max_seconds: float | None = None) -> None:
        if max_seconds is not None:
            Number(above=0).or_none("for no limit").check("max_seconds", max_seconds)
        self.max_seconds = max_seconds
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def over(self) -> bool:
        """Whether the time limit has passed."""
        return self.max_seconds is not None and self.seconds > self.max_seconds
