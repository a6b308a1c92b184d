"""Metrics that are functions of weighted sums of row quantities: a pass over the rows, then only sums.

Because only sums are needed they can be computed group by group in one tally, and bootstrapped from their moments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.errors import NotApplicable
from isonomia.languages import Message, msg
from isonomia.metrics.applicable import KINDS
from isonomia.metrics.counts import CLASSES, NO_ROWS, ratio
from isonomia.metrics.registry import METRICS, Metric
from isonomia.models import Surface, SurfaceKind
from isonomia.typing import Floats

#: Probabilities are kept this far from 0 and 1 before a logarithm is taken, as in scikit-learn.
EPSILON = float(np.finfo(float).eps)
#: A variance below this share of the second moment is rounding: the values are constant.
CONSTANT = 1e-13
#: How many of the most probable classes count as a hit in `top_k_accuracy`.
TOP_K = 2

Quantities = Callable[[NDArray[Any] | None, Surface], Floats]


def mean(W: NDArray[Any], S: NDArray[Any]) -> Floats:
    """The weighted mean of the one quantity."""
    return ratio(S[..., 0], W)


def _column(values: NDArray[Any]) -> Floats:
    return np.asarray(values, dtype=float)[:, None]


def _known(truth: NDArray[Any] | None) -> NDArray[Any]:
    if truth is None:
        raise NotApplicable(msg("there are no labels"))
    return truth


def _part(surface: Surface, kind: SurfaceKind) -> Floats:
    values: Floats | None = getattr(surface, kind)
    if values is None:
        raise NotApplicable(msg("the predictions hold no {kind} values", kind=KINDS[kind]))
    return values


# --- probabilities ----------------------------------------------------------------------------------------------------


def probability_of_truth(truth: NDArray[Any], surface: Surface) -> Floats:
    """The probability that the model gave to what happened, row by row."""
    table = _part(surface, "probability")
    if table.ndim == 1:
        return np.where(truth == 1, table, 1.0 - table)
    return np.take_along_axis(table, truth[:, None].astype(np.int64), axis=1)[:, 0]


def _log_loss(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    return _column(-np.log(np.clip(probability_of_truth(_known(truth), surface), EPSILON, 1.0)))


def _brier(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    """Binary: (p - y)^2. Several classes: sum over classes of (p_k - y_k)^2 = sum p_k^2 - 2 p_true + 1."""
    table = _part(surface, "probability")
    if table.ndim == 1:
        return _column((table - _known(truth)) ** 2)
    square = np.einsum("nk,nk->n", table, table) - 2.0 * probability_of_truth(_known(truth), surface) + 1.0
    return _column(np.maximum(square, 0.0))


def _top_k(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    """1 where fewer than k classes come before the true one; of equal probabilities the first class comes first."""
    table = _part(surface, "probability")
    own = probability_of_truth(_known(truth), surface)[:, None]
    earlier = np.arange(table.shape[1])[None, :] < _known(truth)[:, None]
    before = (table > own).sum(axis=1) + ((table == own) & earlier).sum(axis=1)
    return _column(before < TOP_K)


def _score(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    return _column(_part(surface, "probability"))


# --- numbers ----------------------------------------------------------------------------------------------------------


def _error(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    return _column(_part(surface, "continuous") - _known(truth))


def _prediction(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    return _column(_part(surface, "continuous"))


def _label(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    return _column(_known(truth))


def _explained(truth: NDArray[Any] | None, surface: Surface) -> Floats:
    """Squared error, label, squared label; labels measured from their mean, which keeps the variance exact."""
    labels = np.asarray(_known(truth), dtype=float)
    centred = labels - labels.mean() if labels.size else labels
    return np.stack([(_part(surface, "continuous") - labels) ** 2, centred, centred**2], axis=1)


def r_squared(W: NDArray[Any], S: NDArray[Any]) -> Floats:
    """1 - (sum of squared errors) / (sum of squared deviations of the labels from their mean)."""
    deviation = S[..., 2] - ratio(S[..., 1] ** 2, W)
    deviation = np.where(deviation > CONSTANT * S[..., 2], deviation, 0.0)
    return 1.0 - ratio(S[..., 0], deviation)


def root_mean(W: NDArray[Any], S: NDArray[Any]) -> Floats:
    """The square root of the mean of the one quantity."""
    return np.sqrt(np.maximum(mean(W, S), 0.0))


# --- the registry -----------------------------------------------------------------------------------------------------


def _add(
    id: str,  # noqa: A002  the field's name
    title: Message,
    purpose: str,
    quantities: Quantities,
    better: bool | None,
    bounds: tuple[float, float],
    *,
    tasks: tuple[Task, ...] = ("regression",),
    surface: SurfaceKind = "continuous",
    from_sums: Callable[[NDArray[Any], NDArray[Any]], Floats] = mean,
    undefined: Message = NO_ROWS,
    **more: Any,
) -> None:
    METRICS.add(
        Metric(
            id,
            purpose,
            title,
            tasks,
            (surface,),
            "means",
            better,
            bounds,
            undefined,
            more.pop("format", "num"),
            quantities=quantities,
            from_sums=from_sums,
            **more,
        )
    )


_INF = float("inf")

# fmt: off
_add("top_k_accuracy", msg("Accuracy of the two most probable classes"),
     "share of rows whose class is among the two most probable", _top_k, True, (0.0, 1.0),
     tasks=("multiclass",), surface="probability", proportion=True, format="pct")
_add("logloss", msg("Log loss"), "mean surprise at what happened: -log of its probability", _log_loss, False,
     (0.0, _INF), tasks=CLASSES, surface="probability", format="num4")
_add("brier_score", msg("Brier score"),
     "mean squared error of probabilities (summed over classes where there are several)", _brier, False, (0.0, 2.0),
     tasks=CLASSES, surface="probability", format="num4", references=("G. W. Brier (1950), Mon. Weather Rev. 78:1",))
_add("mean_score", msg("Mean probability"), "mean predicted probability of the positive class", _score, None,
     (0.0, 1.0), tasks=("binary",), surface="probability", needs_labels=False, format="pct")
_add("r2", msg("Coefficient of determination R²"), "share of the labels' variance that is explained", _explained, True,
     (-_INF, 1.0), from_sums=r_squared, undefined=msg("the labels are all equal"), min_samples=2, format="num4")
_add("mae", msg("Mean absolute error"), "mean size of the error", lambda y, s: np.abs(_error(y, s)), False, (0.0, _INF))
_add("mse", msg("Mean squared error"), "mean squared error", lambda y, s: _error(y, s) ** 2, False, (0.0, _INF))
_add("rmse", msg("Root mean squared error"), "root of the mean squared error", lambda y, s: _error(y, s) ** 2, False,
     (0.0, _INF), from_sums=root_mean)
_add("mean_error", msg("Mean error"), "mean of prediction minus label: above 0 the model says too much", _error, None,
     (-_INF, _INF))
_add("mean_prediction", msg("Mean prediction"), "mean predicted number", _prediction, None, (-_INF, _INF),
     needs_labels=False)
_add("mean_label", msg("Mean label"), "mean of the labels", _label, None, (-_INF, _INF))
# fmt: on
