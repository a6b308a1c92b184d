"""Metrics that are functions of weighted sums of row quantities: a pass over the rows, then only sums.

Because only sums are needed they can be computed group by group in one tally.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.metrics.applicable import KINDS
from isonomia.metrics.counts import CLASSES, NO_ROWS
from isonomia.metrics.registry import METRICS, Metric
from isonomia.metrics.table_functions import ratio
from isonomia.models import Surface, SurfaceKind
from isonomia.typing import Floats

#: Probabilities are kept this far from 0 and 1 before a logarithm is taken, as in scikit-learn.
EPSILON = float(np.finfo(float).eps)
#: A variance below this share of the second moment is rounding: the values are constant.
CONSTANT = 1e-13
#: How many of the most probable classes count as a hit in `top_k_accuracy`.
TOP_K = 2

Quantities = Callable[[NDArray[Any] | None, Surface], Floats]
Combine = Callable[[NDArray[Any], NDArray[Any]], Floats]


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
        raise NotApplicable(msg("the predictions have no {kind} values", kind=KINDS[kind]))
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
    *, quantities: Quantities, surface: SurfaceKind = "continuous", from_sums: Combine = mean, **fields: Any
) -> None:
    """A function of weighted means of row quantities; unless stated otherwise of a regression."""
    defaults: dict[str, Any] = {"tasks": ("regression",), "undefined": NO_ROWS, "format": "num"}
    METRICS.add(
        Metric(
            family="means",
            surface=(surface,),
            quantities=quantities,
            from_sums=from_sums,
            **{**defaults, **fields},
        )
    )


_INF = float("inf")

_add(
    id="top_k_accuracy",
    title=msg("Accuracy of the two most probable classes"),
    purpose="share of rows whose class is among the two most probable",
    quantities=_top_k,
    higher_is_better=True,
    range=(0.0, 1.0),
    tasks=("multiclass",),
    surface="probability",
    proportion=True,
    format="pct",
)
_add(
    id="logloss",
    aliases={"log_loss": msg("Log loss")},
    title=msg("Log loss"),
    purpose="mean surprise at what happened: -log of its probability",
    quantities=_log_loss,
    higher_is_better=False,
    range=(0.0, _INF),
    tasks=CLASSES,
    surface="probability",
    format="num4",
)
_add(
    id="brier_score",
    title=msg("Brier score"),
    purpose="mean squared error of probabilities (summed over classes where there are several)",
    quantities=_brier,
    higher_is_better=False,
    range=(0.0, 2.0),
    tasks=CLASSES,
    surface="probability",
    format="num4",
    references=("G. W. Brier (1950), Mon. Weather Rev. 78:1",),
)
_add(
    id="mean_score",
    title=msg("Mean probability"),
    purpose="mean predicted probability of the positive class",
    quantities=_score,
    higher_is_better=None,
    range=(0.0, 1.0),
    tasks=("binary",),
    surface="probability",
    needs_labels=False,
    format="pct",
)
_add(
    id="r2",
    title=msg("Coefficient of determination R²"),
    purpose="share of the labels' variance that is explained",
    quantities=_explained,
    from_sums=r_squared,
    higher_is_better=True,
    range=(-_INF, 1.0),
    undefined=msg("the labels are all equal"),
    min_samples=2,
    format="num4",
)
_add(
    id="mae",
    title=msg("Mean absolute error"),
    purpose="mean size of the error",
    quantities=lambda y, s: np.abs(_error(y, s)),
    higher_is_better=False,
    range=(0.0, _INF),
)
_add(
    id="mse",
    title=msg("Mean squared error"),
    purpose="mean squared error",
    quantities=lambda y, s: _error(y, s) ** 2,
    higher_is_better=False,
    range=(0.0, _INF),
)
_add(
    id="rmse",
    title=msg("Root mean squared error"),
    purpose="root of the mean squared error",
    quantities=lambda y, s: _error(y, s) ** 2,
    from_sums=root_mean,
    higher_is_better=False,
    range=(0.0, _INF),
)
_add(
    id="mean_error",
    title=msg("Mean error"),
    purpose="mean of prediction minus label: above 0 the model says too much",
    quantities=_error,
    higher_is_better=None,
    range=(-_INF, _INF),
)
_add(
    id="mean_prediction",
    title=msg("Mean prediction"),
    purpose="mean predicted number",
    quantities=_prediction,
    higher_is_better=None,
    range=(-_INF, _INF),
    needs_labels=False,
)
_add(
    id="mean_label",
    title=msg("Mean label"),
    purpose="mean of the labels",
    quantities=_label,
    higher_is_better=None,
    range=(-_INF, _INF),
)
