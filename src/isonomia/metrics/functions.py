"""The two doors for users: one metric of two arrays, and the list of metrics there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isonomia.data import Task, kind_of_values, to_numpy
from isonomia.evidence import Column, Estimate, Table
from isonomia.languages import Name, msg
from isonomia.metrics.evaluation import evaluate
from isonomia.metrics.own_functions import as_metric
from isonomia.metrics.registry import METRICS, Metric
from isonomia.metrics.rows import Rows
from isonomia.subject import Subject


def score(
    y_true: Any,
    y_pred: Any,
    *,
    metric: str | Metric | Callable[..., Any] = "accuracy",
    y_score: Any = None,
    task: Task | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
) -> Estimate:
    """One metric of true and predicted values, with its interval.

    Parameters
    ----------
    y_true : column or None
        True labels or numbers; None for metrics of predictions alone.
    y_pred : column or table
        Labels, numbers, or probabilities: (n,) of the positive class or (n, K).
    metric : str, Metric or callable
        An id of the registry (see `metrics.table`), or a function of (y_true, y_pred) (see `own_metric`).
    y_score : column or table, optional
        Probabilities or scores, where `y_pred` holds the decisions.
    task, positive : optional
        As in `Dataset`; read off the labels where they are 0/1, False/True or -1/1.
    sample_weight : column, optional
    level, n_boot, seed
        Of the interval (see `metrics.evaluate`).

    Examples
    --------
    >>> score([0, 1, 1, 0], [0.2, 0.9, 0.6, 0.7], metric="auc").value
    0.75
    >>> score(["no", "no"], ["yes", "no"], metric="recall", positive="yes")
    not available: not applicable because there are no positive labels
    >>> round(score([1.0, 2.5], [1.5, 2.5], metric="mae").value, 3)
    0.25
    """
    entry = as_metric(metric)
    decisions = y_pred
    if y_score is None and y_pred is not None and _holds_scores(entry, y_pred, task):
        decisions, y_score = None, y_pred
    subject = Subject.of(y_true, decisions, y_score=y_score, weights=sample_weight, task=task, positive=positive)
    return evaluate(entry, Rows.of(subject), level=level, n_boot=n_boot, seed=seed)


def _holds_scores(metric: Metric, y_pred: Any, task: Task | None) -> bool:
    """Whether predictions are probabilities or scores: by their shape, by what the metric reads, or by their values."""
    if task == "regression" or "regression" in metric.tasks:
        return False
    array = to_numpy(y_pred)
    if array.ndim == 2 or "label" not in metric.surface:
        return True
    if kind_of_values(y_pred) != "numeric":
        return False
    finite = array[np.isfinite(array)]
    return bool(finite.size) and not bool((finite == np.rint(finite)).all())


def table() -> Table:
    """Every metric there is: id, what it says, tasks, what it reads, which way is better.

    >>> [row["direction"] for row in table().rows() if row["id"] in ("accuracy", "mae", "selection_rate")]
    ['higher', 'none', 'lower']
    """
    metrics = list(METRICS)
    columns = (
        Column("id", [metric.id for metric in metrics], format="text", title=msg("Metric")),
        Column("purpose", [Name.literal(metric.purpose) for metric in metrics], format="text", title=msg("Meaning")),
        Column("tasks", [", ".join(metric.tasks) for metric in metrics], format="text", title=msg("Tasks")),
        Column("surface", [" or ".join(metric.surface) for metric in metrics], format="text", title=msg("Input")),
        Column("direction", [metric.direction for metric in metrics], format="text", title=msg("Better")),
    )
    return Table(columns, msg("Metrics"))
