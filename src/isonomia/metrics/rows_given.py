"""Rows as any caller gives them: rows that were read, true labels and a `Surface`, columns, or data and a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.data import to_numpy
from isonomia.metrics.applicable import check_lengths
from isonomia.metrics.rows import Rows
from isonomia.models import Surface
from isonomia.subject import Subject, are_probabilities, is_column, is_table, labels_beside
from isonomia.typing import Bools


class Given(NamedTuple):
    """Rows with a known outcome and a weight, and which of those given they are (None: all)."""

    rows: Rows
    kept: Bools | None


def rows_given(
    data: Any,
    model: Any,
    *,
    weights: Any = None,
    counts: NDArray[np.int64] | None = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
) -> Given:
    """Truth as codes, predictions as a `Surface`, weights.

    `Rows` are taken as they are. Beside a `Surface` the truth holds labels, which its classes say the codes of (see
    `labels_beside`). Otherwise `data` and `model` are what `Subject.of` takes; a column of fractions beside two classes
    holds probabilities, not decisions.

    >>> rows_given(["no", "yes"], ["yes", "yes"], positive="yes").rows.truth.tolist()
    [0, 1]
    >>> rows_given([0, 1, 1], [0.2, 0.9, 0.4]).rows.surface.label.tolist()
    [0, 1, 0]
    >>> rows_given([0, 0, 1], Surface.of_labels([0, 1, 1], classes=(1, 0))).rows.truth.tolist()  # 0 is favourable
    [1, 1, 0]
    """
    if isinstance(data, Rows):
        return Given(data, None)
    if isinstance(model, Surface):
        return _beside(model, data, weights, counts)
    columns = is_column(model) and is_column(data) and not is_table(model)
    scores = model if columns and are_probabilities(model, data, None) else None
    model = None if scores is not None else model
    subject = Subject.of(data, model, y_score=scores, weights=weights, positive=positive, classes=classes)
    return Given(Rows.of(subject), None if subject.rows.all() else subject.rows)


def _beside(surface: Surface, labels: Any, weights: Any, counts: NDArray[np.int64] | None) -> Given:
    """The rows of a surface with a known outcome and a weight above 0."""
    plain = None if weights is None else np.asarray(to_numpy(weights), dtype=float)
    truth = None if labels is None else labels_beside(labels, surface)
    check_lengths(None if truth is None else truth.values, surface, plain)
    rows = Rows(None if truth is None else truth.values, surface, plain, counts)
    kept = np.ones(len(surface), dtype=bool) if truth is None else truth.known
    if plain is not None and plain[kept].any():
        kept = kept & (plain > 0)
    return Given(rows, None) if kept.all() and plain is None else Given(rows.take(kept).weighing(), kept)
