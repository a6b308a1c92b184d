"""Truth, predictions and groups from a table of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import backend_of, check_weights, numbers, wrap
from isonomia.data.labels import listed
from isonomia.errors import DataError, SpecError, close_to
from isonomia.events import Progress
from isonomia.languages import Message, msg
from isonomia.subject.options import Settings
from isonomia.subject.parts import Parts
from isonomia.subject.reading import predictions_and_truth

#: Counts above this are refused: sums of them would not be exact.
MAX_COUNT = 1 << 53


#: The names by which a column is known that no option names.
PREDICTION = ("prediction", "predicted", "decision", "y_pred")
TARGET = ("truth", "target", "outcome", "actual", "y_true")
COUNT = ("n", "count", "counts")


@dataclass(frozen=True, kw_only=True)
class CountColumns:
    """The columns of a table of counts, as in `Subject.from_counts`; None where a column is known by its name."""

    prediction: str | None
    target: str | None
    protected: str | Sequence[str] | None
    count: str | None
    weight: str | None


def read_counts(table: Any, columns: CountColumns, reading: Mapping[str, Any], settings: Settings) -> Parts:
    """What a `Subject` is made of: each combination once, with the number of rows that it stands for."""
    frame = wrap(table)
    prediction, target, count, notes = _by_name(columns, frame.columns)
    protected, weight = columns.protected, columns.weight
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
        notes=notes,
    )


def _by_name(columns: CountColumns, names: Sequence[str]) -> tuple[str, str | None, str, tuple[Message, ...]]:
    """The columns of predictions, true outcomes and counts; what was read off their names is noted."""
    protected = [columns.protected] if isinstance(columns.protected, str) else list(columns.protected or ())
    taken = {columns.prediction, columns.target, columns.count, columns.weight, *protected}
    free = [name for name in names if name not in taken]
    prediction = columns.prediction or _called("prediction", PREDICTION, free)
    count = columns.count or _called("count", COUNT, free)
    target = columns.target or _called("target", TARGET, free, needed=False)
    if columns.prediction is not None and columns.target == target:
        return prediction, target, count, ()
    if target is None:
        note = msg(
            "No column of true outcomes is named: {prediction} is taken as the decision. target= names one.",
            prediction=prediction,
        )
    else:
        note = msg(
            "The columns are known by their names: {prediction} is the decision, {target} the true outcome, {count} "
            "the number of rows.",
            prediction=prediction,
            target=target,
            count=count,
        )
    return prediction, target, count, (note,)


def _called(role: str, known: Sequence[str], names: Sequence[str], *, needed: bool = True) -> Any:
    """The column that has one of the names by which a role is known."""
    found = [name for name in names if name in known]
    if len(found) > 1:
        raise DataError(
            f"The table of counts has several columns that may be its `{role}`: {listed(found)}. Name one with the "
            "option of that name."
        )
    if needed and not found:
        raise DataError(
            f"The table of counts needs a column for `{role}`, and none of {listed(names)} is called "
            f"{' or '.join(map(repr, known))}. Name it with the option of that name."
        )
    return found[0] if found else None


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
