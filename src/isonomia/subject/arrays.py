"""True outcomes and predictions given as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Task, kind_of_values, listed, ordered, task_of, to_numpy, two_classes
from isonomia.errors import DataError
from isonomia.models import Surface, check_probabilities, encode_labels, finite_numbers
from isonomia.models.surface import as_numbers
from isonomia.subject.truth import Truth, over_classes, read_truth


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


def read_arrays(
    y_true: Any,
    y_pred: Any,
    *,
    y_score: Any = None,
    task: Task | None = None,
    positive: Any = None,
) -> tuple[Surface, Truth | None]:
    """Predictions, and the true labels over their classes.

    Parameters
    ----------
    y_true : column or None
        True outcomes; None where only predictions are known.
    y_pred : column or None
        Decisions (or predicted numbers); None where `y_score` is given and decisions follow from it.
    y_score : column or table, optional
        Probabilities (n,) of the positive class or (n, K); numbers outside [0, 1] are taken as scores, which make no
        decisions of their own.
    task, positive : optional
        As in `Dataset`; read off the labels where they are 0/1, False/True or -1/1.

    Examples
    --------
    >>> surface, truth = read_arrays(["no", None], ["yes", "yes"], positive="yes")
    >>> surface.task, surface.label.tolist(), truth.values.tolist(), truth.known.tolist()
    ('binary', [1, 1], [0, 2], [True, False])
    """
    if y_pred is None and y_score is None:
        raise DataError("Give predictions (y_pred) or scores (y_score).")
    true = None if y_true is None else _column(y_true, "y_true", positive, task)
    predicted = None if y_pred is None else _column(y_pred, "y_pred", positive, task)
    if y_true is None and y_pred is None and task != "regression":
        return _scores_alone(y_score), None
    kind = task or _infer(true, predicted)
    if kind != "regression" and y_pred is not None and predicted is None:
        raise DataError(
            "The predictions are fractions, not labels: they look like scores. Pass them as y_score, or apply a "
            "threshold first."
        )
    if kind == "regression":
        surface = Surface.of_numbers(y_pred)
        return surface, None if y_true is None else read_truth(y_true, surface, what="y_true")
    classes = _classes(kind, true, predicted, positive)
    label = None if predicted is None else encode_labels(predicted, classes, what="predictions")
    surface = _with_scores(kind, classes, label, y_score)
    return surface, None if true is None else over_classes(true, classes, what="y_true")


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


def _scores_alone(y_score: Any) -> Surface:
    """Scores without any label: of two classes, 0 and 1, or of as many as there are columns."""
    table = as_numbers(y_score, what="scores")
    several = table.ndim == 2 and table.shape[1] > 2
    classes = tuple(range(table.shape[1] if several else 2))
    return _with_scores("multiclass" if several else "binary", classes, None, table)


def truth_alone(y_true: Any, task: Task | None, positive: Any) -> tuple[Surface, Truth]:
    """True outcomes without predictions: an empty surface that has their task and classes."""
    true = _column(y_true, "y_true", positive, task)
    kind = task or _infer(true, None)
    if kind == "regression" or true is None:
        surface = Surface("regression")
        return surface, read_truth(y_true, surface, what="y_true")
    surface = Surface(kind, _classes(kind, true, None, positive))
    return surface, over_classes(true, surface.classes, what="y_true")


def _with_scores(kind: Task, classes: tuple[Any, ...], label: NDArray[Any] | None, y_score: Any) -> Surface:
    if y_score is None:
        return Surface(kind, classes, label=label)
    table = as_numbers(y_score, what="scores")
    if kind == "binary" and table.ndim == 1 and np.isfinite(table).all() and ((table < 0) | (table > 1)).any():
        # where scores that are not probabilities become decisions is not known
        surface = Surface(kind, classes, score=finite_numbers(table, what="scores"))
    else:
        surface = Surface.of_probabilities(check_probabilities(table, len(classes)), classes=classes)
    if label is None:
        return surface
    if len(label) != len(surface):
        raise DataError(f"There are {len(label)} predictions, but {len(surface)} scores.")
    return Surface(kind, classes, label=label, probability=surface.probability, score=surface.score)


def _column(values: Any, what: str, positive: Any, task: Task | None) -> Codes | None:
    """Encoded labels; None where the values are plainly numbers of a regression."""
    if task == "regression":
        return None
    if task is None and positive is None and kind_of_values(values) == "numeric":
        numbers = to_numpy(values)
        finite = numbers[np.isfinite(numbers)]
        if finite.size and not (finite == np.rint(finite)).all():
            return None
    return Codes.encode(values, name=what)


def _infer(true: Codes | None, predicted: Codes | None) -> Task:
    base = true if true is not None else predicted
    if base is None:
        return "regression"
    known = [label for label in base.labels if label is not None]
    if not known:
        raise DataError(f"`{base.name}` has no values: every row is missing.")
    number = all(isinstance(label, int | float) and not isinstance(label, bool) for label in known)
    return task_of("integer" if number else "category", len(known), name=base.name)


def _classes(task: Task, true: Codes | None, predicted: Codes | None, positive: Any) -> tuple[Any, ...]:
    if true is None and predicted is None:
        return (0, 1)
    labels = [
        label for column in (true, predicted) if column is not None for label in column.labels if label is not None
    ]
    if task != "multiclass":
        return two_classes(labels, positive, what="the labels")
    known = ordered(labels)
    if positive is not None:
        raise DataError(f"`positive` is for two classes; there are {len(known)}: {listed(known)}.")
    return known
