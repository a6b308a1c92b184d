"""The predictions that a dataset carries in its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset, index_of, ordered, two_classes
from isonomia.errors import DataError
from isonomia.models.classes import distinct, refuse_foreign_labels, refuse_near_misses
from isonomia.models.surface import Surface, check_probabilities, encode_labels, finite_numbers


def surface_of(
    data: Dataset, *, threshold: float | None = None, kind: Literal["auto", "probability", "score"] = "auto"
) -> Surface:
    """The surface of the predictions and scores that a dataset carries in its columns.

    Parameters
    ----------
    data : Dataset
        With a `prediction` column, a `score` column (one per class), or both. The score of a binary target is that of
        the positive class; ``score={0: "risk"}`` says that a column is about another one.
    threshold : float, optional
        Where scores are cut into decisions when there is no `prediction` column: 0.5 for probabilities by default.
        Scores that are not probabilities are not cut unless it is given: they have no decisions then.
    kind : "auto", "probability" or "score"
        What the score column of a binary target holds. By default numbers that all lie in [0, 1] are probabilities,
        others are scores.

    Raises
    ------
    DataError
        When there is no prediction and no score, or when they do not go with the target.

    Examples
    --------
    >>> data = Dataset({"y": ["no", "yes", "no"], "p": [0.1, 0.8, 0.6]}, target="y", positive="yes", score="p")
    >>> surface_of(data).label.tolist(), surface_of(data).classes
    ([0, 1, 1], ('no', 'yes'))
    """
    roles = data.roles
    if roles.prediction is None and not roles.score:
        raise DataError(
            "The dataset has no predictions. Name their column (prediction='...'), the column of the model's "
            "scores (score='...'), or give the model itself."
        )
    if data.task == "regression":
        return _numbers(data)
    classes = _classes(data)
    labels = None if roles.prediction is None else _labels(data, roles.prediction, classes)
    if not roles.score:
        return Surface(data.task or "binary", classes, label=labels)
    if data.task == "multiclass":
        table = check_probabilities(_score_table(data, classes), len(classes))
        return Surface.of_probabilities(table, classes=classes).with_label(labels)
    if len(roles.score) > 1:
        surface = Surface.of_probabilities(_score_table(data, classes), classes=classes, threshold=_half(threshold))
        return surface.with_label(labels)
    return _one_score(data, roles.score[0], classes, labels, threshold, kind)


def _classes(data: Dataset) -> tuple[Any, ...]:
    """The classes of target and prediction together; two of them are (negative, positive)."""
    roles = data.roles
    truth = distinct(data.column(roles.target)) if roles.target is not None else ()
    predicted = distinct(data.column(roles.prediction)) if roles.prediction is not None else ()
    if roles.target is not None and roles.prediction is not None:
        refuse_foreign_labels(
            predicted, truth, found_in=f"The prediction column '{roles.prediction}'", target=roles.target
        )
        refuse_near_misses(
            predicted, truth, found_in=f"The prediction column '{roles.prediction}'", target=roles.target
        )
    if data.task == "multiclass":
        return ordered((*truth, *predicted, *data.score_classes))
    return two_classes(
        (*truth, *predicted), data.positive, what=f"target and prediction ('{roles.target}', '{roles.prediction}')"
    )


def _labels(data: Dataset, column: str, classes: Sequence[Any]) -> NDArray[Any]:
    return encode_labels(data.column(column), classes, what=f"predictions in '{column}'")


def _numbers(data: Dataset) -> Surface:
    names = [name for name in (data.roles.prediction, *data.roles.score) if name is not None]
    return Surface("regression", continuous=_finite(data, names[0], "predictions"))


def _finite(data: Dataset, name: str, what: str) -> NDArray[np.float64]:
    return finite_numbers(_as_numbers(data.column(name), f"{what} in '{name}'"), what=f"{what} in '{name}'")


def _as_numbers(column: Any, what: str) -> NDArray[np.float64]:
    if not column.dtype.is_numeric():
        example = next((value for value in column.to_list() if value is not None), None)
        raise DataError(f"The {what} must be numbers; got values such as {example!r}.")
    return np.asarray(column.to_numpy(), dtype=float)


def _score_table(data: Dataset, classes: tuple[Any, ...]) -> NDArray[np.float64]:
    """The score columns in the order of `classes`."""
    names, given = data.roles.score, data.score_classes or ordered(classes)
    if len(names) != len(classes) or len(given) != len(classes):
        raise DataError(
            f"There are {len(classes)} classes ({', '.join(map(repr, classes[:8]))}) but {len(names)} score "
            f"column{'s' * (len(names) != 1)} ({', '.join(map(repr, names[:8]))}). Name one column of probabilities "
            "per class: score={class: column, ...}."
        )
    indices = [index_of(label, given) for label in classes]
    if None in indices:
        raise DataError(
            f"The score columns are named for the classes {', '.join(map(repr, given[:8]))}; the target has "
            f"{', '.join(map(repr, classes[:8]))}."
        )
    return np.column_stack([_finite(data, names[index or 0], "scores") for index in indices])


def _one_score(
    data: Dataset,
    column: str,
    classes: tuple[Any, ...],
    labels: NDArray[Any] | None,
    threshold: float | None,
    kind: Literal["auto", "probability", "score"],
) -> Surface:
    scores = _finite(data, column, "scores")
    turned = _is_of_the_negative(data, column, classes)
    is_probability = kind == "probability" or (kind == "auto" and bool(((scores >= 0) & (scores <= 1)).all()))
    if is_probability:
        check_probabilities(scores, 2)
    cut = 0.5 if threshold is None and is_probability else threshold
    if labels is None and cut is not None:
        chosen = scores >= cut  # for the class that the column is about
        labels = (~chosen if turned else chosen).astype(np.uint8)
    if is_probability:
        ours, edge = (1 - scores, 1 - _half(cut)) if turned else (scores, _half(cut))
        return Surface("binary", classes, label=labels, probability=ours, threshold=edge)
    edge = 0.0 if cut is None else cut
    return Surface(
        "binary", classes, label=labels, score=-scores if turned else scores, threshold=-edge if turned else edge
    )


def _is_of_the_negative(data: Dataset, column: str, classes: tuple[Any, ...]) -> bool:
    """Whether a single score column was named as the score of the unfavourable class."""
    if not data.score_classes:
        return False
    index = index_of(data.score_classes[0], classes)
    if index is None:
        raise DataError(
            f"The score column '{column}' is named for the class {data.score_classes[0]!r}; the classes are "
            f"{', '.join(map(repr, classes))}."
        )
    return index == 0


def _half(threshold: float | None) -> float:
    return 0.5 if threshold is None else threshold
