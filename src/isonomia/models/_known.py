"""What a predictor knows of its model once it has looked at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from isonomia.data import Task


@dataclass
class Known:
    """The facts that every kind of model states in the same form; its own predictor reads them off the model.

    Attributes
    ----------
    make : str
        What it is, for errors and reports.
    names : tuple of str or None
        The columns it was fitted on, where it says so.
    n_features : int or None
        How many there are.
    task : Task or None
        None where the model does not tell.
    alias : callable or None
        How it spells the name of a column, where it changes names.
    """

    make: str = field(init=False)
    names: tuple[str, ...] | None = field(init=False)
    n_features: int | None = field(init=False)
    task: Task | None = field(init=False)
    alias: Callable[[str], str] | None = field(init=False, default=None)
