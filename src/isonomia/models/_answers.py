"""From what a model returned to a `Surface`: identified, checked, put in the order of the dataset's classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import OTHER, OtherAnswers, Task, index_of, listed, look_like_scores, ordered, recoded, two_classes
from isonomia.errors import DataError, ModelError
from isonomia.models._predictors import Answer, as_values, largest
from isonomia.models.classes import distinct, refuse_near_misses
from isonomia.models.surface import Surface, SurfaceKind, check_probabilities, encode_labels, finite_numbers


@dataclass(frozen=True)
class Question:
    """What is known before a model answers.

    Attributes
    ----------
    n : number of rows passed to the model
    make : what the model is, for errors
    task : the task, as far as it is known
    seen : values of the target in the data
    positive : the favourable value, where there are two classes
    classes : the caller's names for the model's classes, in the model's own order
    threshold : where to cut probabilities or scores; None leaves the decision to the model
    other : how decisions are counted that are none of the values of the target
    """

    n: int
    make: str
    task: Task | None
    seen: tuple[Any, ...] = ()
    positive: Any = None
    classes: tuple[Any, ...] | None = None
    threshold: float | None = None
    other: OtherAnswers = "error"


def read_answer(answer: Answer, question: Question) -> Surface:
    """The surface that an answer stands for."""
    values = check_shape(answer.values, question.n, question.make)
    task = question.task
    kind = answer.kind or tell_apart(values, task, question.classes or question.seen)
    try:
        if task == "regression" or kind == "continuous":
            return Surface.of_numbers(values)
        if kind == "probability":
            return _probabilities(values, answer, question)
        if kind == "score":
            return _scores(values, answer, question)
        return _labels(values, answer, question)
    except DataError as error:
        raise ModelError(f"The model ({question.make}) returned something that is not a {kind}: {error}") from error


def joined(parts: Sequence[tuple[Answer, int]], make: str) -> Answer:
    """The answers about portions of the rows, each with its number of rows, as one answer."""
    first = parts[0][0]
    if len(parts) == 1:
        return first
    values = [check_shape(answer.values, n, make) for answer, n in parts]
    widths = {part.shape[1:] for part in values}
    if len(widths) > 1:
        raise ModelError(
            f"The model ({make}) returned arrays of different shapes for portions of the rows: "
            f"{', '.join(sorted(str(('n', *width)) for width in widths))}. "
            "It must return the same columns for all rows."
        )
    labels = None
    if any(answer.labels is not None for answer, _ in parts):
        decided = [largest(answer) if answer.labels is None else answer.labels for answer, _ in parts]
        labels = np.concatenate([check_shape(one, n, make) for one, (_, n) in zip(decided, parts, strict=True)])
    calls = sum(answer.calls for answer, _ in parts)
    return replace(first, values=np.concatenate(values), labels=labels, calls=calls, rows=None)


def check_shape(returned: Any, n: int, make: str) -> NDArray[Any]:
    """The returned values as an array with one row per input row."""
    if returned is None:
        raise ModelError(f"The model ({make}) returned nothing; it must return one value per row.")
    try:
        values = as_values(returned)
    except ValueError as error:  # lists of different lengths
        raise ModelError(
            f"The model ({make}) returned {type(returned).__name__}, which is not an array: {error}"
        ) from error
    if values.ndim not in (1, 2) or values.shape[0] != n:
        shape = f"an array of shape {values.shape}" if values.ndim else f"one {type(returned).__name__}"
        raise ModelError(
            f"The model ({make}) was asked about {n} rows and returned {shape}; expected ({n},) or ({n}, classes)."
        )
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def tell_apart(values: NDArray[Any], task: Task | None, classes: Sequence[Any]) -> SurfaceKind:
    """What the numbers of a model that does not say are: decisions, probabilities, scores or predicted numbers.

    Two columns or more are probabilities. For a regression everything is a number. Otherwise: texts, booleans, whole
    numbers and values that are all among the classes are decisions; numbers that all lie in [0, 1] are probabilities of
    the positive class; other numbers are scores.

    >>> tell_apart(np.array([0.2, 0.7]), "binary", (0, 1)), tell_apart(np.array([0.0, 1.0]), "binary", (0, 1))
    ('probability', 'label')
    """
    if task == "regression":
        return "continuous"
    if values.ndim == 2:
        return "probability"
    if values.dtype == object and all(isinstance(value, float) for value in values.tolist()):
        values = values.astype(float)
    if values.dtype.kind != "f" or task == "multiclass":
        return "label"
    numbers = [label for label in classes if isinstance(label, bool | int | float | np.number)]
    if np.isin(values, np.array(numbers, dtype=float)).all():
        return "label"
    return "probability" if ((values >= 0) & (values <= 1)).all() else "score"


def _own_classes(answer: Answer, question: Question, width: int | None) -> tuple[Any, ...] | None:
    """The model's classes in its own order, under the names the data knows them by."""
    own = answer.classes
    if question.classes is not None:
        if own is not None and len(own) != len(question.classes):
            raise ModelError(
                f"`classes` names {len(question.classes)} classes, but the model ({question.make}) has {len(own)}: "
                f"{', '.join(map(repr, own[:8]))}. Name each of them, in this order."
            )
        own = question.classes
    if own is None:
        if width is None:
            return None
        own = ordered(question.seen)
        if question.task != "multiclass" and len(own) < 2 and question.positive is not None:
            own = ordered(two_classes(own, question.positive, what="the target"))
        if len(own) != width:
            raise ModelError(
                f"The model ({question.make}) returned {width} columns of probabilities, but the data shows {len(own)} "
                f"classes ({', '.join(map(repr, own[:8]))}). Name the class of each column: classes=[...]."
            )
    strange = [label for label in question.seen if index_of(label, own) is None]
    if strange:
        raise ModelError(
            f"The target contains {', '.join(map(repr, strange[:5]))}; the classes of the model ({question.make}) are "
            f"{', '.join(map(repr, own[:8]))}. If the model was trained on codes, name the class behind each: "
            "classes=[...], in this order. If it never saw this class, drop these rows."
        )
    if len(own) < 2:
        raise ModelError(f"The model ({question.make}) has only one class, {own[0]!r}, so it cannot decide anything.")
    return tuple(
        question.seen[index] if (index := index_of(label, question.seen)) is not None else label for label in own
    )


def _task(question: Question, own: Sequence[Any]) -> Task:
    task: Task = question.task or ("binary" if len(own) == 2 else "multiclass")
    if task == "binary" and len(own) > 2:
        raise ModelError(
            f"The model ({question.make}) has {len(own)} classes ({', '.join(map(repr, own[:8]))}), but the "
            "task is binary. Give the dataset task='multiclass', or give a model of two classes."
        )
    return task


def _final_classes(question: Question, own: tuple[Any, ...]) -> tuple[Any, ...]:
    """(negative, positive) for two classes, sorted ones otherwise."""
    if _task(question, own) == "multiclass":
        return ordered(own)
    if question.positive is not None and index_of(question.positive, own) is None:
        raise ModelError(
            f"The favourable value is {question.positive!r}; the classes of the model ({question.make}) are "
            f"{', '.join(map(repr, own))}. Name them as in the data: classes=[...]."
        )
    return two_classes(own, question.positive, what="the model's classes")


def _probabilities(values: NDArray[Any], answer: Answer, question: Question) -> Surface:
    width = values.shape[1] if values.ndim == 2 else None
    own = _own_classes(answer, question, width)
    if own is None:  # one number per row from a model that names no classes: of the positive class
        if question.task == "multiclass":
            raise ModelError(
                f"The model ({question.make}) returned one probability per row for more than two classes; expected one "
                "column per class."
            )
        classes = two_classes(question.seen, question.positive, what="the target")
        threshold = 0.5 if question.threshold is None else question.threshold
        return Surface.of_probabilities(values, classes=classes, threshold=threshold)
    if width is None:
        first = check_probabilities(values, 2)
        values = np.column_stack([1 - first, first])
    if values.shape[1] != len(own):
        raise ModelError(
            f"The model ({question.make}) has {len(own)} classes, but returned {values.shape[1]} columns of "
            "probabilities."
        )
    classes = _final_classes(question, own)
    order = [own.index(label) for label in classes]
    threshold = 0.5 if question.threshold is None else question.threshold
    surface = Surface.of_probabilities(values[:, order], classes=classes, threshold=threshold)
    if (
        surface.task == "binary" and _task(question, own) == "multiclass"
    ):  # a table of two columns that is requested as (n, K)
        raise ModelError(f"The task is multiclass, but the model ({question.make}) has only two classes.")
    if question.threshold is not None and surface.task == "binary":
        return surface
    return surface.with_label(_own_decisions(values, answer, own, order, question))


def _own_decisions(
    values: NDArray[Any], answer: Answer, own: tuple[Any, ...], order: Sequence[int], question: Question
) -> NDArray[Any]:
    """The decisions of the model itself: its labels, or its largest probability (a tie goes to its first class)."""
    if answer.labels is not None:
        return _encode(answer.labels, answer, own, [own[index] for index in order], question)
    dtype = np.min_scalar_type(max(len(own) - 1, 1))
    decided: NDArray[Any] = np.argsort(order).astype(dtype)[values.argmax(axis=1)]
    return decided


def _scores(values: NDArray[Any], answer: Answer, question: Question) -> Surface:
    if values.ndim == 2:
        raise ModelError(
            f"The model ({question.make}) returned {values.shape[1]} scores per row. Scores are for two classes; ask "
            "for decisions (output='label') instead."
        )
    scores = finite_numbers(values, what="scores")
    own = _own_classes(answer, question, None)
    cut = question.threshold
    if own is None:
        classes = two_classes(question.seen, question.positive, what="the target")
        label = None if cut is None else (scores >= cut).astype(np.uint8)
        if answer.labels is not None:
            label = _encode(answer.labels, answer, classes, classes, question)
        return Surface("binary", classes, label=label, score=scores, threshold=cut or 0.0)
    classes = _final_classes(question, own)
    if _task(question, own) == "multiclass":
        raise ModelError(f"Scores are for two classes; the model ({question.make}) has {len(own)}.")
    flipped = own[0] == classes[1]
    chosen = scores > 0  # as scikit-learn decides: for its second class
    decided = (~chosen if flipped else chosen).astype(np.uint8)
    if answer.labels is not None:
        decided = _encode(answer.labels, answer, own, classes, question)
    scores = -scores if flipped else scores
    if cut is not None:
        decided = (scores >= cut).astype(np.uint8)
    return Surface("binary", classes, label=decided, score=scores, threshold=cut or 0.0)


def _labels(values: NDArray[Any], answer: Answer, question: Question) -> Surface:
    """The surface of decisions; those of another kind are counted as the question says."""
    if question.other == "error" or values.ndim == 2:
        return _decisions(values, answer, question)
    known = question.classes or question.seen
    refuse_near_misses(distinct(values), known, found_in=f"The model ({question.make})", target="the data")
    decided, other = recoded(values.tolist(), known, question.positive, question.other, what="decision")
    if question.other == "apart" and other.any():
        surface = Surface.of_labels(decided, classes=ordered((*known, OTHER)), task="multiclass")
    else:
        surface = _decisions(decided, replace(answer, classes=None), replace(question, classes=None))
    return replace(surface, other=other)


def _decisions(values: NDArray[Any], answer: Answer, question: Question) -> Surface:
    if values.ndim == 2:
        raise ModelError(
            f"The model ({question.make}) returned {values.shape[1]} columns; expected one decision per row."
        )
    if answer.classes is None and _are_codes(values, question.classes):
        answer = replace(answer, classes=tuple(range(len(question.classes or ()))))
    own = _own_classes(answer, question, None)
    if own is None:
        predicted = distinct(values)
        if question.task == "multiclass":
            own = ordered(question.seen or predicted)
            strange = [label for label in predicted if index_of(label, own) is None]
            if strange and not look_like_scores(strange):
                raise ModelError(
                    f"The model ({question.make}) predicts {listed(strange, 5)}, and the target is never that "
                    f"({listed(own, 8)}). Name all classes of the model: `classes=[...]`."
                )
        else:
            every = (*question.seen, *predicted) if len(question.seen) < 2 else question.seen
            own = two_classes(every, question.positive, what="the model's decisions")
    classes = _final_classes(question, own)
    label = _encode(values, answer, own, classes, question)
    return Surface(_task(question, own), classes, label=label)


def _are_codes(values: NDArray[Any], classes: Sequence[Any] | None) -> bool:
    """Whether decisions are the indices of the named classes, as from a model trained on codes."""
    if classes is None or values.dtype.kind not in "iu" or not values.size:
        return False
    numbers = any(isinstance(label, bool | int | float | np.number) for label in classes)
    return not numbers and bool(((values >= 0) & (values < len(classes))).all())


def _encode(
    values: Any, answer: Answer, own: Sequence[Any], classes: Sequence[Any], question: Question
) -> NDArray[Any]:
    """Decisions as codes over `classes`; a model's own names of its classes give way to the caller's."""
    named = own if answer.classes is None or question.classes is None else answer.classes
    codes = encode_labels(check_shape(values, question.n, question.make), named, what="decisions")
    table = np.array([list(classes).index(label) for label in own], dtype=np.min_scalar_type(max(len(own) - 1, 1)))
    encoded: NDArray[Any] = table[codes]
    return encoded
