"""Rows as any caller gives them: class codes and a `Surface`, columns, or data and a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import to_numpy
from isonomia.metrics.rows import Rows
from isonomia.models import Surface
from isonomia.subject import Subject, are_probabilities, is_column


def rows_given(
    data: Any,
    model: Any,
    *,
    weights: Any = None,
    counts: NDArray[np.int64] | None = None,
    positive: Any = None,
) -> Rows:
    """Truth as codes, predictions as a `Surface`, weights.

    With a `Surface` the truth is codes over its classes, as it is given. Otherwise `data` and `model` are what
    `Subject.of` takes; a column of fractions beside two classes holds probabilities, not decisions.

    >>> rows_given(["no", "yes"], ["yes", "yes"], positive="yes").truth.tolist()
    [0, 1]
    >>> rows_given([0, 1, 1], [0.2, 0.9, 0.4]).surface.label.tolist()
    [0, 1, 0]
    """
    if isinstance(model, Surface):
        plain = None if weights is None else np.asarray(to_numpy(weights), dtype=float)
        return Rows(data, model, plain, counts)
    columns = is_column(model) and is_column(data)
    scores = model if columns and are_probabilities(model, data, None) else None
    subject = Subject.of(
        data, None if scores is not None else model, y_score=scores, weights=weights, positive=positive
    )
    return Rows(subject.outcome.truth, subject.surface, subject.weights)
