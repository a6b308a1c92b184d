"""How long work tells how far it is: a callback, nothing printed here."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called as work goes on; a door (command line, notebook, web) shows it."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell that `done` of `total` parts of `stage` are finished."""


def silent(stage: str, done: int, total: int) -> None:
    """Show nothing: the default."""
