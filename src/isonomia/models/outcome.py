"""True outcomes and predictions given as arrays, read into one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Task, index_of, kind_of_values, listed, ordered, task_of, to_numpy, two_classes
from isonomia.data.schema import TASKS
from isonomia.errors import DataError
from isonomia.models.surface import Surface, as_numbers, check_probabilities, finite_numbers
from isonomia.parameters import Choice, validated


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was true and what was said, row by row.

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


@validated(task=Choice(TASKS).or_none())
def read_outcome(
    y_true: Any,
    y_pred: Any,
    *,
    y_score: Any = None,
    task: Task | None = None,
    positive: Any = None,
) -> Outcome:
    """True labels and decisions (and probabilities, if any) as an `Outcome`.

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
    >>> outcome = read_outcome(["no", "yes"], ["yes", "yes"], positive="yes")
    >>> outcome.task, outcome.truth.tolist(), outcome.surface.label.tolist()
    ('binary', [0, 1], [1, 1])
    """
    if y_pred is None and y_score is None:
        raise DataError("Give predictions (y_pred) or scores (y_score).")
    true = None if y_true is None else _column(y_true, "y_true", positive, task)
    said = None if y_pred is None else _column(y_pred, "y_pred", positive, task)
    kind = task or _infer(true, said)
    if kind != "regression" and y_pred is not None and said is None:
        raise DataError(
            "The predictions are fractional numbers where labels are wanted: they look like scores. Give them as "
            "y_score, or cut them at a threshold."
        )
    if kind == "regression":
        truth = None if y_true is None else finite_numbers(y_true, what="true outcomes")
        outcome = Outcome(truth, Surface.of_numbers(y_pred))
    else:
        classes = _classes(kind, true, said, positive, y_score)
        label = None if said is None else _place(said, classes, "predictions")
        truth = None if true is None else _place(true, classes, "true outcomes")
        outcome = Outcome(truth, _with_scores(kind, classes, label, y_score))
    if outcome.truth is not None and len(outcome.truth) != len(outcome.surface):
        raise DataError(f"There are {len(outcome.truth)} true outcomes, but {len(outcome.surface)} predictions.")
    if len(outcome) == 0:
        raise DataError("There are no rows; nothing can be measured.")
    return outcome


def _with_scores(kind: Task, classes: tuple[Any, ...], label: NDArray[Any] | None, y_score: Any) -> Surface:
    if y_score is None:
        return Surface(kind, classes, label=label)
    table = as_numbers(y_score, what="scores")
    if kind == "binary" and table.ndim == 1 and np.isfinite(table).all() and ((table < 0) | (table > 1)).any():
        # where scores that are no probabilities become decisions is not known
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


def _infer(true: Codes | None, said: Codes | None) -> Task:
    base = true if true is not None else said
    if base is None:
        return "regression"
    known = [label for label in base.labels if label is not None]
    if not known:
        raise DataError(f"`{base.name}` holds no value at all; every row is missing.")
    number = all(isinstance(label, int | float) and not isinstance(label, bool) for label in known)
    return task_of("integer" if number else "category", len(known), name=base.name)


def _classes(task: Task, true: Codes | None, said: Codes | None, positive: Any, y_score: Any) -> tuple[Any, ...]:
    if true is None and said is None:
        return (0, 1)
    labels = [label for column in (true, said) if column is not None for label in column.labels if label is not None]
    if task != "multiclass":
        return two_classes(labels, positive, what="the labels")
    known = ordered(labels)
    if positive is not None:
        raise DataError(f"`positive` is for two classes; there are {len(known)}: {listed(known)}.")
    return known


def _place(column: Codes, classes: tuple[Any, ...], what: str) -> NDArray[Any]:
    if column.missing is not None:
        missing = int(column.counts()[-1])
        raise DataError(f"{missing} of {len(column)} {what} are missing. Drop these rows, or fill them.")
    places = [index_of(label, classes) or 0 for label in column.labels]
    if places == list(range(len(places))):
        return column.codes
    return np.array(places, dtype=column.codes.dtype)[column.codes]
