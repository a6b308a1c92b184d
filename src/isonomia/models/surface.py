"""What a model predicted for a dataset: decisions, probabilities, scores or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Task, index_of, listed, look_like_answers, look_like_scores, to_numpy
from isonomia.errors import DataError, NotApplicable
from isonomia.languages import msg
from isonomia.models.thresholds import GroupThresholds
from isonomia.typing import Bools, Floats

SurfaceKind = Literal["label", "probability", "score", "continuous"]
Threshold = float | GroupThresholds

#: Rows of a probability table may miss 1 by this much (rounding to six decimals adds up over classes).
SUM_TOLERANCE = 1e-3
#: Outcomes and predictions of a regression are at most this large: their fourth powers are floats.
LARGEST = 1e60


@dataclass(frozen=True, eq=False)
class Surface:
    """What a model predicted, row by row.

    Attributes
    ----------
    task : "binary", "multiclass" or "regression"
    classes : tuple
        The classes a code stands for. Binary: (negative, positive), so code 1 is always the positive, favourable
        value. Empty for regression.
    label : array of uint, optional
        The decided class of each row, as a code.
    probability : array of float, optional
        Binary: (n,) probability of the positive class. Multiclass: (n, K), columns in the order of `classes`.
    score : array of float, optional
        Binary: (n,) a score that ranks rows and is not a probability.
    continuous : array of float, optional
        Regression: (n,) the predicted number.
    threshold : float or GroupThresholds
        Binary: where the decision cuts the probability (or the score), for all rows or for each group.
    calibrated : bool, optional
        Whether the probabilities went through a calibration step; None where that is not known.

    Examples
    --------
    >>> surface = Surface.of_probabilities([0.2, 0.9], classes=("no", "yes"))
    >>> surface.kinds, surface.label.tolist()
    (('label', 'probability'), [0, 1])
    """

    task: Task
    classes: tuple[Any, ...] = ()
    label: NDArray[Any] | None = None
    probability: NDArray[np.float64] | None = None
    score: NDArray[np.float64] | None = None
    continuous: NDArray[np.float64] | None = None
    threshold: Threshold = 0.5
    calibrated: bool | None = None
    other: Bools | None = None

    def __post_init__(self) -> None:
        if isinstance(self.threshold, GroupThresholds) and self.kinds and len(self.threshold) != len(self):
            raise DataError(f"There are thresholds for {len(self.threshold)} rows, but {len(self)} predictions.")

    @property
    def kinds(self) -> tuple[SurfaceKind, ...]:
        """What was predicted."""
        names: tuple[SurfaceKind, ...] = ("label", "probability", "score", "continuous")
        return tuple(name for name in names if getattr(self, name) is not None)

    def __len__(self) -> int:
        for name in self.kinds:
            return len(getattr(self, name))
        return 0

    @property
    def ranking(self) -> Floats | None:
        """What ranks the rows of a binary task: probabilities, else scores; None where there are neither."""
        if self.task != "binary":
            return None
        return self.probability if self.probability is not None else self.score

    @property
    def cut(self) -> float | Floats:
        """The threshold: one number, or one per row where groups have their own."""
        return self.threshold.by_row if isinstance(self.threshold, GroupThresholds) else self.threshold

    @property
    def single_threshold(self) -> float:
        """The threshold of all rows; what moves it does not apply where groups have their own."""
        if isinstance(self.threshold, GroupThresholds):
            raise NotApplicable(
                msg("each group of {column} has its own threshold", column=repr(self.threshold.groups.name))
            )
        return self.threshold

    def take(self, rows: NDArray[Any]) -> Surface:
        """The predictions for some of the rows."""
        parts: dict[str, Any] = {name: getattr(self, name)[rows] for name in self.kinds}
        if self.other is not None:
            parts["other"] = self.other[rows]
        if isinstance(self.threshold, GroupThresholds):
            parts["threshold"] = self.threshold.take(rows)
        return replace(self, **parts)

    def with_threshold(self, threshold: Threshold) -> Surface:
        """The same probabilities (or scores), cut at another threshold, or at one for each group.

        A decision changes where its probability lies between the old and the new threshold; decisions that were made
        elsewhere (a column of their own) stay as they are on all other rows.

        >>> surface = Surface.of_probabilities([0.45, 0.45], classes=("no", "yes"))
        >>> sex = Codes.encode(["F", "M"], name="sex")
        >>> surface.with_threshold(GroupThresholds.of(sex, {"F": 0.4, "M": 0.6})).label.tolist()
        [1, 0]
        """
        ranking = self.ranking
        if ranking is None:
            raise DataError("A threshold needs probabilities or scores of two classes; the predictions have neither.")
        moved = replace(self, threshold=threshold if isinstance(threshold, GroupThresholds) else float(threshold))
        was, now = ranking >= self.cut, ranking >= moved.cut
        if self.label is None:
            return replace(moved, label=now.astype(np.uint8))
        return replace(moved, label=np.where(was != now, now, self.label).astype(self.label.dtype))

    def with_label(self, label: NDArray[Any] | None) -> Surface:
        """The same with decisions that were made elsewhere, where there are any."""
        return self if label is None else replace(self, label=label)

    @classmethod
    def of_labels(cls, labels: Any, *, classes: Sequence[Any], task: Task | None = None) -> Surface:
        """Decisions given as values of `classes`."""
        kind: Task = task or ("binary" if len(classes) == 2 else "multiclass")
        return cls(kind, tuple(classes), label=encode_labels(labels, classes, what="predictions"))

    @classmethod
    def of_probabilities(
        cls,
        probability: Any,
        *,
        classes: Sequence[Any],
        threshold: Threshold = 0.5,
        labels: Any = None,
        calibrated: bool | None = None,
    ) -> Surface:
        """Probabilities: (n,) or (n, 2) for two classes, (n, K) for more; decisions follow unless given.

        `calibrated` says whether they went through a calibration step.
        """
        table = check_probabilities(probability, len(classes))
        decided = None if labels is None else encode_labels(labels, classes, what="predictions")
        if table.ndim == 1:
            surface = cls(
                "binary",
                tuple(classes),
                label=decided,
                probability=table,
                threshold=threshold,
                calibrated=calibrated,
            )
            return surface if decided is not None else surface.with_threshold(threshold)
        label = table.argmax(axis=1).astype(np.min_scalar_type(len(classes))) if decided is None else decided
        return cls("multiclass", tuple(classes), label=label, probability=table, calibrated=calibrated)

    @classmethod
    def of_scores(
        cls, score: Any, *, classes: Sequence[Any], threshold: Threshold = 0.0, labels: Any = None
    ) -> Surface:
        """Scores that rank rows; a score of at least `threshold` is a positive decision unless decisions are given."""
        values = finite_numbers(score, what="scores")
        decided = None if labels is None else encode_labels(labels, classes, what="predictions")
        surface = cls("binary", tuple(classes), label=decided, score=values, threshold=threshold)
        return surface if decided is not None else surface.with_threshold(threshold)

    @classmethod
    def of_numbers(cls, continuous: Any) -> Surface:
        """Predicted numbers of a regression."""
        found = finite_numbers(continuous, what="predictions")
        refuse_huge(found, what="predictions")
        return cls("regression", continuous=found)


def finite_numbers(values: Any, *, what: str) -> NDArray[np.float64]:
    """Numbers of one dimension, none of them missing or infinite."""
    numbers = as_numbers(values, what=what)
    if numbers.ndim != 1:
        raise DataError(f"The {what} must have one dimension; got an array of shape {numbers.shape}.")
    bad = ~np.isfinite(numbers)
    if bad.any():
        raise DataError(
            f"{int(bad.sum())} of {numbers.size} {what} are missing or infinite (the first at row "
            f"{int(np.flatnonzero(bad)[0])}). Drop these rows, or repair the model."
        )
    return numbers


def refuse_huge(numbers: NDArray[np.float64], *, what: str) -> None:
    """Numbers whose powers are no floats any more have neither a mean error nor an interval."""
    huge = np.abs(numbers) > LARGEST
    if huge.any():
        row = int(np.flatnonzero(huge)[0])
        raise DataError(
            f"{int(huge.sum())} of {numbers.size} {what} are beyond {LARGEST:g} (the first at row {row}: "
            f"{float(numbers[row]):g}): too large to be squared and added. Rescale them, or drop these rows."
        )


def as_numbers(values: Any, *, what: str) -> NDArray[np.float64]:
    """Values of any shape as floats, or an error that shows one which is not a number."""
    array = to_numpy(values)
    try:
        return array.astype(float, copy=False)
    except (TypeError, ValueError):
        raise DataError(f"The {what} must be numbers; got values such as {array.ravel()[0]!r}.") from None


def check_probabilities(probability: Any, n_classes: int) -> NDArray[np.float64]:
    """Probabilities as (n,) for two classes or (n, K) for more; values in [0, 1], rows that sum to 1."""
    table = as_numbers(probability, what="probabilities")
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if table.ndim not in (1, 2) or (table.ndim == 1 and n_classes != 2):
        raise DataError(
            f"Probabilities of {n_classes} classes must have shape (n, {n_classes}); got {np.shape(table)}."
        )
    if table.ndim == 2 and table.shape[1] != n_classes:
        raise DataError(f"There are {n_classes} classes, but {table.shape[1]} columns of probabilities.")
    if not np.isfinite(table).all():
        raise DataError(f"{int((~np.isfinite(table)).sum())} probabilities are missing or infinite.")
    outside = (table < 0) | (table > 1)
    if outside.any():
        raise DataError(
            f"Probabilities must lie in [0, 1]; {int(outside.sum())} do not (for example "
            f"{float(table[outside][0]):g}). If these are scores, give them as scores."
        )
    if table.ndim == 2:
        off = np.abs(table.sum(axis=1) - 1) > SUM_TOLERANCE
        if off.any():
            raise DataError(
                f"The probabilities of a row must sum to 1; {int(off.sum())} rows do not (row "
                f"{int(np.flatnonzero(off)[0])} sums to {float(table[off][0].sum()):g})."
            )
        if n_classes == 2:
            return np.ascontiguousarray(table[:, 1])
    return table


def encode_labels(labels: Any, classes: Sequence[Any], *, what: str) -> NDArray[Any]:
    """Codes of labels in the order of `classes`; every label must be one of them.

    >>> encode_labels(["yes", "no", "yes"], ("no", "yes"), what="predictions").tolist()
    [1, 0, 1]
    """
    column = labels if isinstance(labels, Codes) else Codes.encode(labels, name=what)
    if column.missing is not None:
        raise DataError(
            f"{int(column.counts()[-1])} of {len(column)} {what} are missing. Drop these rows, or fill them."
        )
    indices = [index_of(label, classes) for label in column.labels]
    strange = [label for label, index in zip(column.labels, indices, strict=True) if index is None]
    if strange:
        raise DataError(
            f"The {what} must be among {listed(classes, 8)}; got {listed(strange, 5)}. "
            f"{look_like_scores(strange)}{look_like_answers(strange)}"
        )
    if indices == list(range(len(indices))):
        return column.codes
    table = np.array([index or 0 for index in indices], dtype=np.min_scalar_type(max(len(classes) - 1, 1)))
    return table[column.codes]
