"""True outcomes, predictions and scores that are columns: given as arrays, or the columns of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import (
    Dataset,
    OtherAnswers,
    Task,
    index_of,
    kind_of_values,
    listed,
    look_like_answers,
    ordered,
    recoded,
    task_of,
    to_numpy,
    two_classes,
)
from isonomia.errors import DataError
from isonomia.models import Surface, check_probabilities, encode_labels, finite_numbers
from isonomia.models.classes import refuse_foreign_labels, refuse_near_misses
from isonomia.models.surface import as_numbers
from isonomia.subject.truth import Truth, over_classes, read_truth
from isonomia.typing import Bools, Floats

ScoreKind = Literal["auto", "probability", "score"]


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeColumns:
    """Columns of true outcomes, predictions and scores.

    Attributes
    ----------
    true, predicted : column or None
        True outcomes, and decisions (or predicted numbers).
    scores : column or table, optional
        Probabilities (n,) of the positive class, or (n, K): one column per class in their order, as scikit-learn has
        them. Numbers outside [0, 1] are scores, which make no decisions of their own.
    task, positive : optional
        As in `Dataset`; read off the labels where they are 0/1, False/True or -1/1.
    true_name, predicted_name, score_names : str
        What messages call the columns; the last two are empty for arrays.
    score_classes : tuple
        The classes that the score columns are about, where they are named.
    other : "error", "unfavourable" or "apart"
        How predictions are counted that are none of the values of the true outcomes.

    Examples
    --------
    >>> surface, truth = OutcomeColumns(true=["no", None], predicted=["yes", "yes"], positive="yes").read()
    >>> surface.task, surface.label.tolist(), truth.values.tolist(), truth.known.tolist()
    ('binary', [1, 1], [0, 2], [True, False])
    """

    true: Any = None
    predicted: Any = None
    scores: Any = None
    task: Task | None = None
    positive: Any = None
    true_name: str = "y_true"
    predicted_name: str = ""
    score_names: tuple[str, ...] = ()
    score_classes: tuple[Any, ...] = ()
    other: OtherAnswers = "error"

    @classmethod
    def of(cls, data: Dataset | None, reading: Mapping[str, Any]) -> OutcomeColumns:
        """The columns given as arrays; those of the dataset where none are given."""
        facts: dict[str, Any] = {name: reading.get(name, getattr(data, name, None)) for name in ("task", "positive")}
        facts["other"] = reading.get("other_answers") or getattr(data, "other_answers", "error")
        true, true_name = reading.get("y_true"), "y_true"
        if true is None and data is not None and data.target is not None:
            true, true_name = data.column(data.target), data.target
        arrays = {"predicted": reading.get("y_pred"), "scores": reading.get("y_score")}
        if data is None or any(values is not None for values in arrays.values()):
            return cls(
                true=true,
                true_name=true_name,
                predicted=arrays["predicted"],
                scores=arrays["scores"],
                score_classes=_classes_named(arrays["scores"], reading.get("classes")),
                **facts,
            )
        roles = data.roles
        predicted: Any = None if roles.prediction is None else data.column(roles.prediction)
        if predicted is not None and facts["task"] == "regression":
            predicted = _numbers(predicted, f"predictions in '{roles.prediction}'")
        scores = [_numbers(data.column(name), f"scores in '{name}'") for name in roles.score]
        return cls(
            true=true,
            predicted=predicted,
            scores=None if not scores else scores[0] if len(scores) == 1 else np.column_stack(scores),
            true_name=true_name,
            predicted_name=roles.prediction or "",
            score_names=roles.score,
            score_classes=data.score_classes,
            **facts,
        )

    def read(self, *, threshold: float | None = None, kind: ScoreKind = "auto") -> tuple[Surface, Truth | None]:
        """Predictions, and the true labels over their classes; `threshold` and `kind` as in `surface_of`."""
        true, predicted = self._codes(self.true, self.true_name), self._codes(self.predicted, "y_pred")
        scores = None if self.scores is None else as_numbers(self.scores, what="scores")
        n_columns = 1 if scores is None or scores.ndim == 1 else scores.shape[1]
        task, other = self.task or self._inferred(true, predicted, n_columns), None
        if self.other != "error" and predicted is not None and task != "regression":
            predicted, other = self._recoded(true, predicted)
            task = "multiclass" if self.other == "apart" and other.any() else task
        if task == "regression":
            numbers = scores if self.predicted is None else self.predicted
            surface = Surface("regression") if numbers is None else Surface.of_numbers(numbers)
            return surface, None if self.true is None else read_truth(self.true, surface, what=self.true_name)
        if self.predicted is not None and predicted is None:
            raise DataError(
                "The predictions are fractions, not labels: they look like scores. Pass them as y_score, or apply a "
                "threshold first."
            )
        classes = self._classes(task, true, predicted, n_columns)
        what = f"predictions in '{self.predicted_name}'" if self.predicted_name else "predictions"
        label = None if predicted is None else encode_labels(predicted, classes, what=what)
        surface = Surface(task, classes, label=label)
        if scores is not None:
            if label is not None and len(label) != len(scores):
                raise DataError(f"There are {len(label)} predictions, but {len(scores)} scores.")
            surface = self._with_scores(scores, surface, threshold, kind)
        surface = surface if other is None else replace(surface, other=other)
        return surface, None if true is None else over_classes(true, classes, what=self.true_name)

    def _recoded(self, true: Codes | None, predicted: Codes) -> tuple[Codes, Bools]:
        """The predictions in the values of the true outcomes, and which are answers of another kind."""
        truth, what = _known(true), f"prediction in '{self.predicted_name}'" if self.predicted_name else "prediction"
        refuse_near_misses(_known(predicted), truth, found_in=f"The {what}", target=self.true_name)
        labels = np.empty(predicted.size, dtype=object)
        labels[:] = predicted.labels
        answers, other = recoded(labels[predicted.codes].tolist(), truth, self.positive, self.other, what=what)
        return Codes.encode(answers.tolist(), name=predicted.name), other

    def _codes(self, values: Any, name: str) -> Codes | None:
        """Encoded labels; None where the values are plainly numbers of a regression."""
        if values is None or self.task == "regression":
            return None
        if self.task is None and self.positive is None and kind_of_values(values) == "numeric":
            numbers = to_numpy(values)
            finite = numbers[np.isfinite(numbers)]
            if finite.size and not (finite == np.rint(finite)).all():
                return None
        return Codes.encode(values, name=name)

    def _inferred(self, true: Codes | None, predicted: Codes | None, n_columns: int) -> Task:
        if self.true is None and self.predicted is None:
            return "multiclass" if n_columns > 2 else "binary"
        base = true if self.true is not None else predicted
        if base is None:
            return "regression"
        known = _known(base)
        if not known:
            raise DataError(f"`{base.name}` has no values: every row is missing.")
        if n_columns > 2:
            return "multiclass"
        number = all(isinstance(label, int | float) and not isinstance(label, bool) for label in known)
        if number and len(known) > 2 and self.predicted is not None and predicted is None:
            return "regression"  # few whole numbers, such as grades, whose predictions are fractions
        return task_of("integer" if number else "category", len(known), name=base.name)

    def _classes(self, task: Task, true: Codes | None, predicted: Codes | None, n_columns: int) -> tuple[Any, ...]:
        """The classes of true outcomes and predictions together; two of them are (negative, positive)."""
        truth, guesses = _known(true), _known(predicted)
        if true is not None:
            found_in = f"The prediction column '{self.predicted_name}'" if self.predicted_name else "`y_pred`"
            refuse_foreign_labels(guesses, truth, found_in=found_in, target=self.true_name)
            refuse_near_misses(guesses, truth, found_in=found_in, target=self.true_name)
            strange = [label for label in guesses if index_of(label, truth) is None]
            if task == "binary" and len(truth) == 2 and look_like_answers(strange):
                raise DataError(
                    f"{found_in} has {listed(strange, 5)}, and the target '{self.true_name}' {listed(truth)} alone. "
                    f"{look_like_answers(strange)}"
                )
        named = self.score_classes if n_columns == 2 and not self.score_names else ()
        labels = (*truth, *guesses, *named)
        if task != "multiclass":
            names = [self.true_name] * (true is not None) + [self.predicted_name] * bool(self.predicted_name)
            shown = f"the labels in {' and '.join(map(repr, names))}" if self.predicted_name else "the labels"
            return two_classes(labels, self.positive, what=shown)
        return ordered((*labels, *self.score_classes)) if labels else tuple(range(n_columns))

    def _with_scores(self, table: Floats, surface: Surface, threshold: float | None, kind: ScoreKind) -> Surface:
        table = table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table
        classes, half = surface.classes, 0.5 if threshold is None else threshold
        if table.ndim == 2 or surface.task == "multiclass":
            columns = self._in_order(table, classes)
            return Surface.of_probabilities(columns, classes=classes, threshold=half).with_label(surface.label)
        what = f"scores in '{self.score_names[0]}'" if self.score_names else "scores"
        return self._of_one_column(finite_numbers(table, what=what), surface, threshold, kind)

    def _in_order(self, table: Floats, classes: tuple[Any, ...]) -> Floats:
        """The columns of scores in the order of `classes`."""
        given = self.score_classes or ordered(classes)
        wide = len(given) == len(classes) and table.ndim == 2 and table.shape[1] == len(classes)
        if self.score_names and not wide:
            raise DataError(
                f"There are {len(classes)} classes ({', '.join(map(repr, classes[:8]))}) but {len(self.score_names)} "
                f"score column{'s' * (len(self.score_names) != 1)} ({', '.join(map(repr, self.score_names[:8]))}). "
                "Name one column of probabilities per class: score={class: column, ...}."
            )
        if not self.score_names and not self.score_classes:
            self._refuse_unnamed(table, classes)
        table = check_probabilities(table, len(classes)) if not wide else table
        indices = [index_of(label, given) for label in classes]
        if None in indices:
            raise DataError(
                f"The score columns are named for the classes {', '.join(map(repr, given[:8]))}; the target has "
                f"{', '.join(map(repr, classes[:8]))}."
            )
        return table[:, [index or 0 for index in indices]]

    def _refuse_unnamed(self, table: Floats, classes: tuple[Any, ...]) -> None:
        """The columns of a table are those of the sorted labels only where all of these are known."""
        width = table.shape[1] if table.ndim == 2 else 1
        seen = [*_known(self._codes(self.true, self.true_name)), *_known(self._codes(self.predicted, "y_pred"))]
        unseen = any(index_of(label, seen) is None for label in classes) and classes != tuple(range(width))
        if width != len(classes) or unseen:
            raise DataError(
                f"The probabilities have {width} columns, and the outcomes show {len(seen)} classes: "
                f"{', '.join(map(repr, seen[:8]))}. Name the class of each column: classes=[...], or give "
                "Surface.of_probabilities(table, classes=[...])."
            )

    def _of_one_column(self, scores: Floats, surface: Surface, threshold: float | None, kind: ScoreKind) -> Surface:
        """One score per row of two classes, of the positive one unless it is named for the other."""
        flipped = self._is_of_the_negative(surface.classes)
        is_probability = kind == "probability" or (kind == "auto" and bool(((scores >= 0) & (scores <= 1)).all()))
        if is_probability:
            check_probabilities(scores, 2)
        cut = 0.5 if threshold is None and is_probability else threshold
        label: NDArray[Any] | None = surface.label
        if label is None and cut is not None:
            chosen = scores >= cut  # for the class that the column is about
            label = (~chosen if flipped else chosen).astype(np.uint8)
        if is_probability:
            ours, edge = (1 - scores, 1 - (cut or 0.0)) if flipped else (scores, cut or 0.0)
            return Surface("binary", surface.classes, label=label, probability=ours, threshold=edge)
        edge = 0.0 if cut is None else cut
        ours, edge = (-scores, -edge) if flipped else (scores, edge)
        return Surface("binary", surface.classes, label=label, score=ours, threshold=edge)

    def _is_of_the_negative(self, classes: tuple[Any, ...]) -> bool:
        """Whether the only score column is named for the unfavourable class."""
        if not self.score_classes:
            return False
        index = index_of(self.score_classes[0], classes)
        if index is None:
            raise DataError(
                f"The score column '{self.score_names[0]}' is named for the class {self.score_classes[0]!r}; the "
                f"classes are {', '.join(map(repr, classes))}."
            )
        return index == 0


def surface_of(data: Dataset, *, threshold: float | None = None, kind: ScoreKind = "auto") -> Surface:
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
    if data.roles.prediction is None and not data.roles.score:
        raise DataError(
            "The dataset has no predictions. Name their column (prediction='...'), the column of the model's "
            "scores (score='...'), or give the model itself."
        )
    return OutcomeColumns.of(data, {}).read(threshold=threshold, kind=kind)[0]


def _classes_named(scores: Any, classes: Any) -> tuple[Any, ...]:
    """The class of each column of a table of probabilities, where they are named."""
    if classes is None:
        return ()
    named, width = tuple(classes), 1 if scores is None or np.ndim(scores) < 2 else np.shape(scores)[1]
    if len(named) != width:
        raise DataError(
            f"`classes` names the columns of a table of probabilities; got {len(named)} names for {width} "
            f"column{'s' * (width != 1)}."
        )
    return named


def _known(column: Codes | None) -> tuple[Any, ...]:
    return () if column is None else tuple(label for label in column.labels if label is not None)


def _numbers(column: Any, what: str) -> Floats:
    """A column of a dataset as numbers, none of them missing or infinite."""
    if not column.dtype.is_numeric():
        example = next((value for value in column.to_list() if value is not None), None)
        raise DataError(f"The {what} must be numbers; got values such as {example!r}.")
    return finite_numbers(np.asarray(column.to_numpy(), dtype=float), what=what)
