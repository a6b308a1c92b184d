"""Truth, predictions and groups from a table of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import backend_of, check_weights, numbers, wrap
from isonomia.errors import DataError, SpecError, close_to
from isonomia.events import Progress
from isonomia.subject.options import Settings
from isonomia.subject.parts import Parts
from isonomia.subject.reading import predictions_and_truth

#: Counts above this are refused: sums of them would not be exact.
MAX_COUNT = 1 << 53


@dataclass(frozen=True, kw_only=True)
class CountColumns:
    """The columns of a table of counts, as in `Subject.from_counts`."""

    prediction: str
    target: str | None
    protected: str | Sequence[str] | None
    count: str
    weight: str | None


def read_counts(table: Any, columns: CountColumns, reading: Mapping[str, Any], settings: Settings) -> Parts:
    """What a `Subject` is made of: each combination once, with the number of rows that it stands for."""
    target, prediction, protected = columns.target, columns.prediction, columns.protected
    count, weight = columns.count, columns.weight
    frame = wrap(table)
    if unfit := [name for name in reading if name not in ("task", "positive", "privileged")]:
        raise SpecError(f"`{unfit[0]}` cannot be used with counts; name columns of the table instead.")
    roles = [name for name in (target, prediction, count, weight) if name is not None]
    if protected is None:
        protected = [name for name in frame.columns if name not in roles]
    attributes = [protected] if isinstance(protected, str) else list(protected)
    for name in (*roles, *attributes):
        if name not in frame.columns:
            raise DataError(f"The table of counts has no column {name!r}.{close_to(name, frame.columns)}")
    counts = _counts(frame[count], count)
    index = np.flatnonzero(counts)
    counts = counts[index]
    given = {**reading, "y_true": None if target is None else frame[target], "y_pred": frame[prediction]}
    surface, truth, known = predictions_and_truth(None, None, given, Progress())
    groups = [Codes.encode(frame[name], name=name).take(index) for name in attributes]
    weights = None
    if weight is not None:
        sums = check_weights(frame[weight], len(frame), what=f"The weights in '{weight}'")
        assert sums is not None
        weights = sums[index] / counts
    return Parts(
        dataset=None,
        model=None,
        predictions=surface.take(index),
        truth=None if truth is None else truth[index],
        known=known[index],
        counts=counts,
        reading={
            "sensitive_features": tuple(column.observed() for column in groups) or None,
            "weights": weights,
            "backend": backend_of(frame),
            "privileged": reading.get("privileged"),
            "positive": reading.get("positive"),
        },
        settings=settings,
    )


def _counts(column: Any, name: str) -> NDArray[np.int64]:
    """How many rows each combination stands for."""
    counts = numbers(column) if column.dtype.is_numeric() else np.array([np.nan])
    if not np.isfinite(counts).all() or (counts < 0).any() or (counts % 1 != 0).any() or not counts.any():
        raise DataError(f"The counts in '{name}' must be whole numbers of at least 0, not all of them 0.")
    if counts.sum() > MAX_COUNT:
        raise DataError(
            f"The counts in '{name}' add up to {counts.sum():,.0f} rows; at most {MAX_COUNT:,} are counted."
        )
    return counts.astype(np.int64)
