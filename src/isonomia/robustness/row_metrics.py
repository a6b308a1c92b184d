"""How wrong a model is, as metrics that add up over rows: those of slices, and those of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.languages import msg
from isonomia.metrics import METRICS, Metric
from isonomia.metrics.counts import ERROR_RATE, NO_ROWS
from isonomia.metrics.means import mean, probability_of_truth
from isonomia.models import Surface
from isonomia.parameters import Choice
from isonomia.typing import Floats

_ALL: tuple[Task, ...] = ("binary", "multiclass", "regression")
_INF = float("inf")


def _absolute(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    """|prediction - label|; for classes 1 - the probability of what happened."""
    if truth is None:
        raise NotApplicable(msg("there are no labels"))
    if surface.task == "regression":
        assert surface.continuous is not None
        return np.asarray(np.abs(surface.continuous - truth)[:, None], dtype=float)
    return (1.0 - probability_of_truth(truth, surface))[:, None]


def _squared(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    """Squared error of the number; for classes the Brier score."""
    if surface.task == "regression":
        return _absolute(truth, surface) ** 2
    brier = METRICS["brier_score"].quantities
    assert brier is not None
    return brier(truth, surface)


_MAE = Metric(
    id="mae",
    purpose="mean size of the residual",
    title=msg("Mean absolute error"),
    tasks=_ALL,
    surface=("continuous", "probability"),
    family="means",
    higher_is_better=False,
    range=(0.0, _INF),
    undefined=NO_ROWS,
    format="num",
    quantities=_absolute,
    from_sums=mean,
)

#: Metrics of slices that the registry does not have, or has for fewer tasks.
MEASURES: Mapping[str, Metric] = {
    "error_rate": ERROR_RATE,
    "mae": _MAE,
    "residual": replace(_MAE, id="residual", title=msg("Mean absolute residual")),
    "mse": replace(_MAE, id="mse", title=msg("Mean squared error"), quantities=_squared),
}

#: An option that names a metric of rows, or any other metric.
METRIC = Choice(lambda: (*MEASURES, *METRICS.names()), what="the name of a metric").or_none()


def measure_named(name: str | None, surface: Surface, *, ranks: bool = False) -> Metric:
    """The metric of this name for this task; without a name the error rate, or the mean absolute error of numbers.

    Parameters
    ----------
    name : str or None
    surface : Surface
        What was predicted.
    ranks : bool
        Whether metrics of ordered rows (AUC) will do, which do not add up over slices.

    Examples
    --------
    >>> surface = Surface.of_labels(["yes", "no"], classes=("no", "yes"))
    >>> measure_named(None, surface).id, measure_named("recall", surface).direction
    ('error_rate', 'higher')
    """
    if name is None:
        if surface.kinds == ("score",):
            raise NotApplicable(msg("the predictions are scores only: there are neither decisions nor probabilities"))
        name = "mae" if surface.task == "regression" else "error_rate" if surface.label is not None else "log_loss"
    if not isinstance(name, str) or (name not in MEASURES and name not in METRICS):
        raise SpecError(f"Unknown metric {name!r}.{close_to(name, [*MEASURES, *METRICS.names()])}")
    metric = MEASURES[name] if name in MEASURES else METRICS[name]
    if metric.higher_is_better is None:
        raise SpecError(f"The metric '{name}' is descriptive: neither higher nor lower is better. Choose another one.")
    if not metric.adds_up and not ranks:
        raise SpecError(
            f"The metric '{name}' does not add up over slices. Choose one of counts or "
            "means, such as error_rate, log_loss, mae, accuracy or recall."
        )
    if surface.task not in metric.tasks:
        raise SpecError(
            f"The metric '{name}' is for {' and '.join(metric.tasks)} tasks; this is a {surface.task} task. `isonomia "
            "metrics` lists the others."
        )
    if not any(kind in surface.kinds for kind in metric.surface):
        kinds = " and ".join(surface.kinds) or "nothing"
        raise SpecError(
            f"The metric '{name}' needs {' or '.join(metric.surface)} values, but the predictions have only {kinds}. "
            "Choose another metric, or a model that gives them."
        )
    return metric


def as_error(metric: Metric, value: Any) -> Any:
    """How wrong a value says the model is: itself where lower is better, else what is missing to the best value."""
    return metric.range[1] - value if metric.higher_is_better else value
