"""True outcomes and predictions, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task, to_numpy
from isonomia.models import Surface


@dataclass(frozen=True, eq=False)
class Outcome:
    """True outcomes and predictions, row by row.

    `truth` holds class codes over ``surface.classes`` (numbers for a regression), or is None where no labels are given.
    """

    truth: NDArray[Any] | None
    surface: Surface

    def __len__(self) -> int:
        return len(self.surface)

    @property
    def task(self) -> Task:
        """The kind of task."""
        return self.surface.task

    def take(self, rows: NDArray[Any]) -> Outcome:
        """Some of the rows."""
        return Outcome(None if self.truth is None else self.truth[rows], self.surface.take(rows))


def are_probabilities(y_pred: Any, y_true: Any, task: Task | None) -> bool:
    """Whether a column of predictions contains fractions between 0 and 1 although the outcomes are classes."""
    values = to_numpy(y_pred)
    if values.ndim == 2:
        return True
    if task == "regression" or values.dtype.kind != "f":
        return False
    if task is None and y_true is not None:
        truth = to_numpy(y_true)
        if truth.dtype.kind == "f" and not (truth[~np.isnan(truth)] % 1 == 0).all():
            return False
    inside = bool(((values >= 0) & (values <= 1)).all())
    return inside and not bool((values == np.rint(values)).all())
