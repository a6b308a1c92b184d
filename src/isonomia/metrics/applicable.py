"""Whether a metric has an answer for this input: the reason why not, instead of a crash or a NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by
from isonomia.data import Task
from isonomia.errors import DataError
from isonomia.languages import Message, Name, msg
from isonomia.languages.naming import both, either
from isonomia.metrics.registry import Metric
from isonomia.models import Surface, SurfaceKind
from isonomia.typing import Floats

#: What tasks and kinds of predictions are called in a reason.
TASKS: Mapping[Task, Message] = {
    "binary": msg("binary"),
    "multiclass": msg("multiclass"),
    "regression": msg("regression"),
}
KINDS: Mapping[SurfaceKind, Message] = {
    "label": msg("label"),
    "probability": msg("probability"),
    "score": msg("score"),
    "continuous": msg("continuous"),
}


def not_for(task: Task, tasks: Sequence[Task]) -> Message:
    """That something is for other tasks than this one.

    >>> str(not_for("binary", ["multiclass", "regression"]))
    'it applies to multiclass and regression, and the task is binary'
    """
    names = both(TASKS[one] for one in tasks)
    return msg("it applies to {tasks}, and the task is {task}", tasks=names, task=TASKS[task])


def check_applicable(
    metric: Metric,
    truth: NDArray[Any] | None,
    surface: Surface,
    weights: Floats | None = None,
    counts: NDArray[np.int64] | None = None,
) -> Name | None:
    """The reason why a metric does not apply to these labels and predictions; None where it does.

    The reason completes the sentence "not applicable because ...".

    Examples
    --------
    >>> from isonomia.metrics import METRICS
    >>> surface = Surface.of_labels(["yes", "no"], classes=("no", "yes"))
    >>> check_applicable(METRICS["auc"], np.array([1, 0]), surface)
    'it needs probability or score, and the predictions have only label'
    >>> check_applicable(METRICS["mae"], np.array([1, 0]), surface).text("pt-BR")
    'exige tarefa do tipo regressão, e esta é do tipo binária'
    """
    reason = _reason(metric, truth, surface, weights, counts)
    return None if reason is None else Name(reason)


def _reason(
    metric: Metric,
    truth: NDArray[Any] | None,
    surface: Surface,
    weights: Floats | None,
    counts: NDArray[np.int64] | None,
) -> Message | None:
    if surface.task not in metric.tasks:
        return not_for(surface.task, metric.tasks)
    if not any(kind in surface.kinds for kind in metric.surface):
        available = both(KINDS[kind] for kind in surface.kinds) if surface.kinds else msg("nothing")
        kinds = either(KINDS[kind] for kind in metric.surface)
        return msg("it needs {wanted}, and the predictions have only {available}", wanted=kinds, available=available)
    if truth is None and metric.needs_labels:
        return msg("there are no labels")
    if weights is not None and not metric.weighted:
        return msg("the rows have weights, and it takes none")
    check_lengths(truth, surface, weights)
    times = np.ones(len(surface), dtype=np.int64) if counts is None else counts
    rows = int(times.sum() if weights is None else times[weights > 0].sum())
    if rows == 0:
        return msg("there are no rows") if len(surface) == 0 else msg("all weights are 0")
    if rows < metric.min_samples:
        return msg("it needs at least {least:int} rows, and there {n:is #|are #}", least=metric.min_samples, n=rows)
    return _absent_class(truth, surface, weights) if metric.both_classes else None


def check_lengths(truth: NDArray[Any] | None, surface: Surface, weights: Floats | None) -> None:
    """One label, one prediction and one weight per row; weights are finite and not negative."""
    lengths = {"predictions": len(surface)}
    if truth is not None:
        lengths = {"labels": len(truth), **lengths}
    if weights is not None:
        lengths["weights"] = len(weights)
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{size} {name}" for name, size in lengths.items())
        raise DataError(f"There must be one label, one prediction and one weight per row; got {found}.")
    if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all()):
        bad = int((~(np.isfinite(weights) & (weights >= 0))).sum())
        raise DataError(f"Weights must be finite numbers of at least 0; {bad} of {len(weights)} are not.")


def _absent_class(truth: NDArray[Any] | None, surface: Surface, weights: Floats | None) -> Message | None:
    if truth is None:
        return None
    present = count_by(truth if weights is None else truth[weights > 0], len(surface.classes)) > 0
    if present.all():
        return None
    absent = [label for label, there in zip(surface.classes, present, strict=False) if not there]
    if present.sum() == 1:
        only = surface.classes[int(np.flatnonzero(present)[0])]
        if present.size == 2:
            return msg("the labels are all {label}, and it needs both classes", label=repr(only))
        return msg("the labels are all {label}, and it needs all classes", label=repr(only))
    lacking = either(Message("{label}", {"label": repr(label)}) for label in absent[:5])
    return msg("no label is {labels}, and it needs all classes", labels=lacking)
