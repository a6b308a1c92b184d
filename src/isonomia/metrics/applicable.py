"""Whether a metric has an answer for this input: the reason why not, instead of a crash or a NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import DataError
from isonomia.metrics.registry import Floats, Metric
from isonomia.models import Surface


def check_applicable(
    metric: Metric, truth: NDArray[Any] | None, surface: Surface, weights: Floats | None = None
) -> str | None:
    """The reason why a metric does not apply to these labels and predictions; None where it does.

    The reason completes the sentence "not applicable because ...".

    Examples
    --------
    >>> from isonomia.metrics import METRICS
    >>> surface = Surface.of_labels(["yes", "no"], classes=("no", "yes"))
    >>> check_applicable(METRICS["auc"], np.array([1, 0]), surface)
    'it needs probability or score, and the predictions hold label only'
    >>> check_applicable(METRICS["mae"], np.array([1, 0]), surface)
    'it is for regression, and the task is binary'
    """
    if surface.task not in metric.tasks:
        return f"it is for {' and '.join(metric.tasks)}, and the task is {surface.task}"
    if not any(kind in surface.kinds for kind in metric.surface):
        held = " and ".join(surface.kinds) or "nothing"
        return f"it needs {' or '.join(metric.surface)}, and the predictions hold {held} only"
    if truth is None and metric.needs_labels:
        return "there are no labels"
    check_lengths(truth, surface, weights)
    rows = len(surface) if weights is None else int(np.count_nonzero(weights))
    if rows == 0:
        return "there are no rows" if len(surface) == 0 else "all weights are 0"
    if rows < metric.min_samples:
        return f"it needs at least {metric.min_samples} rows, and there {'is' if rows == 1 else 'are'} {rows}"
    return _absent_class(metric, truth, surface, weights) if metric.both_classes else None


def check_lengths(truth: NDArray[Any] | None, surface: Surface, weights: Floats | None) -> None:
    """One label, one prediction and one weight a row; weights are finite and not negative."""
    lengths = {"predictions": len(surface)}
    if truth is not None:
        lengths = {"labels": len(truth), **lengths}
    if weights is not None:
        lengths["weights"] = len(weights)
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{size} {name}" for name, size in lengths.items())
        raise DataError(f"There must be one label, one prediction and one weight a row; got {told}.")
    if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all()):
        bad = int((~(np.isfinite(weights) & (weights >= 0))).sum())
        raise DataError(f"Weights must be finite numbers of at least 0; {bad} of {len(weights)} are not.")


def _absent_class(metric: Metric, truth: NDArray[Any] | None, surface: Surface, weights: Floats | None) -> str | None:
    if truth is None:
        return None
    present = np.bincount(truth if weights is None else truth[weights > 0], minlength=len(surface.classes)) > 0
    if present.all():
        return None
    absent = [label for label, there in zip(surface.classes, present, strict=False) if not there]
    if present.sum() == 1:
        only = surface.classes[int(np.flatnonzero(present)[0])]
        return f"the labels are all {only!r}, and it needs {'both' if present.size == 2 else 'all'} classes"
    return f"no label is {' or '.join(map(repr, absent[:5]))}, and it needs all classes"
