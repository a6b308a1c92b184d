"""Functions of a confusion table that are not plain proportions: F1, balanced accuracy, correlation, agreement.

They take whole stacks of tables, and keep complex numbers, through which their derivatives are computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats


def ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> Floats:
    """numerator / denominator, NaN where the denominator is not positive; complex where either is (`derivative`)."""
    top, bottom = np.asarray(numerator), np.asarray(denominator)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom.real > 0, top / bottom, np.nan)


def _numbers(C: NDArray[Any]) -> NDArray[Any]:
    """Counts as numbers whose products do not overflow."""
    return C if np.iscomplexobj(C) else np.asarray(C, dtype=float)


def hits(C: NDArray[Any]) -> NDArray[Any]:
    """Rows of each class that were decided right."""
    return np.diagonal(C, axis1=-2, axis2=-1)


def _recalls(C: NDArray[Any]) -> Floats:
    return ratio(hits(C), C.sum(axis=-1))


def _precisions(C: NDArray[Any]) -> Floats:
    return ratio(hits(C), C.sum(axis=-2))


def _f1s(C: NDArray[Any]) -> Floats:
    return ratio(2 * hits(C), C.sum(axis=-1) + C.sum(axis=-2))


def _mean_of_defined(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))


def balanced_accuracy(C: NDArray[Any]) -> Floats:
    """The mean over all classes of the share of their rows that is found; NaN where a class has no rows."""
    return _recalls(C).mean(axis=-1)  # type: ignore[no-any-return]


def f1(C: NDArray[Any]) -> Floats:
    """2 TP / (2 TP + FP + FN) of the positive class: the harmonic mean of precision and recall."""
    return _f1s(C)[..., 1]


def macro_f1(C: NDArray[Any]) -> Floats:
    """The mean of F1 over the classes that occur in the labels or in the predictions."""
    return _mean_of_defined(_f1s(C))


def weighted_f1(C: NDArray[Any]) -> Floats:
    """The mean of F1 over classes, weighted by their share of the labels."""
    support = C.sum(axis=-1)
    return ratio((np.nan_to_num(_f1s(C)) * support).sum(axis=-1), support.sum(axis=-1))


def macro_precision(C: NDArray[Any]) -> Floats:
    """The mean precision over the classes that were predicted at all (the others have none)."""
    return _mean_of_defined(_precisions(C))


def macro_recall(C: NDArray[Any]) -> Floats:
    """The mean recall over the classes that occur in the labels."""
    return _mean_of_defined(_recalls(C))


def matthews(C: NDArray[Any]) -> Floats:
    """The correlation of labels and predictions, for any number of classes (Gorodkin's R_K).

    (c s - sum t_k p_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)), with c the hits, s the total, t_k and p_k the
    true and predicted counts of class k. NaN where labels or predictions are all of one class.
    """
    true, predicted = _numbers(C).sum(axis=-1), _numbers(C).sum(axis=-2)
    total, right = true.sum(axis=-1), hits(C).sum(axis=-1)
    covariance = right * total - (true * predicted).sum(axis=-1)
    spread_true, spread_predicted = _spread(true), _spread(predicted)
    return np.clip(ratio(covariance, np.sqrt(spread_true * spread_predicted)), -1.0, 1.0)


def _spread(margin: Floats) -> Floats:
    """s^2 - sum m_k^2 as a sum of positive terms, so that a constant margin gives exactly 0."""
    return (margin * (margin.sum(axis=-1, keepdims=True) - margin)).clip(min=0.0).sum(axis=-1)  # type: ignore[no-any-return]


def kappa(C: NDArray[Any]) -> Floats:
    """Agreement beyond chance: (p_o - p_e) / (1 - p_e), p_e = sum of products of the two margins' shares.

    NaN where labels and predictions are all of one and the same class.
    """
    true, predicted = _numbers(C).sum(axis=-1), _numbers(C).sum(axis=-2)
    total = true.sum(axis=-1)
    by_chance = (true * (total[..., None] - predicted)).clip(min=0.0).sum(axis=-1)  # s^2 (1 - p_e)
    missed = (total - hits(C).sum(axis=-1)) * total  # s^2 (1 - p_o)
    return 1.0 - ratio(missed, by_chance)


def misses_per_alarm(C: NDArray[Any]) -> Floats:
    """FN / FP: positives missed for each negative taken for a positive; NaN without false positives."""
    return ratio(C[..., 1, 0], C[..., 0, 1])
