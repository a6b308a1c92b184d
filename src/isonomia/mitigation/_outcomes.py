"""Outcomes as classes: labels as they are, the numbers of a regression in bands of equal mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, bin_edges, cross_sum
from isonomia.data import Task, kind_of_values, task_of, to_numpy
from isonomia.errors import DataError
from isonomia.typing import Floats

#: Bands that the numbers of a regression are cut into.
BANDS = 10


def outcome_classes(y: Any, *, regression: bool | None = None, bands: int = BANDS) -> Codes:
    """The outcome of every row as a class; whether it is a regression is read off the values unless given."""
    values = to_numpy(y)
    kind = kind_of_values(values)
    labels = Codes.encode(values, name="y")
    if labels.missing is not None:
        missing = int(labels.counts()[labels.missing])
        raise DataError(f"y has {missing} missing values; leave out the rows without an outcome.")
    if regression is None:
        whole = kind == "numeric" and bool((values == np.rint(values)).all())
        regression = _task(labels, kind, whole) == "regression"
    if not regression or labels.size <= bands:
        return labels
    return Codes.cut(values, bin_edges(values, bins=bands), name="y")


def _task(labels: Codes, kind: Any, whole: bool) -> Task:
    return task_of(kind, labels.size, name="y", whole=whole)


def cell_counts(groups: Codes, outcomes: Codes, weights: Floats | None) -> Floats:
    """Rows (or their weights) by group and outcome."""
    if len(groups) != len(outcomes):
        raise DataError(f"There are {len(outcomes)} outcomes, but {len(groups)} rows of protected attributes.")
    return cross_sum(groups.codes, outcomes.codes, (groups.size, outcomes.size), weights)


def empty_cells(groups: Codes, outcomes: Codes, counts: NDArray[Any]) -> list[str]:
    """The outcomes that some group has no rows of, in words."""
    return [
        f"{' x '.join(_text(value) for value in groups.labels[group])} with y = {outcomes.text(int(outcome))}"
        for group, outcome in np.argwhere((counts == 0) & (counts.sum(axis=0) > 0))
    ]


def _text(value: Any) -> str:
    return "missing" if value is None else str(value)
