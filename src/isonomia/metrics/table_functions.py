"""Functions of a confusion table that are not plain proportions: F1, balanced accuracy, correlation, agreement.

They take whole stacks of tables, or of their margins, and keep complex numbers, through which their derivatives are
computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats


def ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> Floats:
    """numerator / denominator, NaN where the denominator is not positive; complex where either is (`derivative`)."""
    top, bottom = np.asarray(numerator), np.asarray(denominator)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom.real > 0, top / bottom, np.nan)


@dataclass(frozen=True, eq=False)
class Margins:
    """What most functions of a confusion table depend on, 3 K numbers instead of K x K, each of shape (..., K).

    Attributes
    ----------
    true, predicted : array
        Rows of each true class, and of each predicted one.
    right : array
        Rows of each class that were decided right.
    """

    true: NDArray[Any]
    predicted: NDArray[Any]
    right: NDArray[Any]

    @classmethod
    def of(cls, C: Table) -> Margins:
        """The margins of tables (..., K, K); margins as they are.

        >>> Margins.of(np.array([[5, 1], [2, 6]])).true.tolist()
        [6, 8]
        """
        return C if isinstance(C, Margins) else cls(C.sum(axis=-1), C.sum(axis=-2), hits(C))


#: Confusion tables (..., K, K), or what their functions depend on.
Table = NDArray[Any] | Margins


def _numbers(counts: NDArray[Any]) -> NDArray[Any]:
    """Counts as numbers whose products do not overflow."""
    return counts if np.iscomplexobj(counts) else np.asarray(counts, dtype=float)


def hits(C: Table) -> NDArray[Any]:
    """Rows of each class that were decided right."""
    return C.right if isinstance(C, Margins) else np.diagonal(C, axis1=-2, axis2=-1)


def total(C: Table) -> NDArray[Any]:
    """Rows of all classes."""
    return np.asarray(C.true.sum(axis=-1) if isinstance(C, Margins) else C.sum(axis=(-2, -1)))


def _recalls(C: Table) -> Floats:
    m = Margins.of(C)
    return ratio(m.right, m.true)


def _precisions(C: Table) -> Floats:
    m = Margins.of(C)
    return ratio(m.right, m.predicted)


def _f1s(C: Table) -> Floats:
    m = Margins.of(C)
    return ratio(2 * m.right, m.true + m.predicted)


def _mean_of_defined(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))


def balanced_accuracy(C: Table) -> Floats:
    """The mean over all classes of the share of their rows that is found; NaN where a class has no rows."""
    return _recalls(C).mean(axis=-1)  # type: ignore[no-any-return]


def f1(C: Table) -> Floats:
    """2 TP / (2 TP + FP + FN) of the positive class: the harmonic mean of precision and recall."""
    return _f1s(C)[..., 1]


def macro_f1(C: Table) -> Floats:
    """The mean of F1 over the classes that occur in the labels or in the predictions."""
    return _mean_of_defined(_f1s(C))


def weighted_f1(C: Table) -> Floats:
    """The mean of F1 over classes, weighted by their share of the labels."""
    support = Margins.of(C).true
    return ratio((np.nan_to_num(_f1s(C)) * support).sum(axis=-1), support.sum(axis=-1))


def macro_precision(C: Table) -> Floats:
    """The mean precision over the classes that were predicted at all (the others have none)."""
    return _mean_of_defined(_precisions(C))


def macro_recall(C: Table) -> Floats:
    """The mean recall over the classes that occur in the labels."""
    return _mean_of_defined(_recalls(C))


def matthews(C: Table) -> Floats:
    """The correlation of labels and predictions, for any number of classes (Gorodkin's R_K).

    (c s - sum t_k p_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)), with c the hits, s the total, t_k and p_k the
    true and predicted counts of class k. NaN where labels or predictions are all of one class.
    """
    m = Margins.of(C)
    true, predicted, right = _numbers(m.true), _numbers(m.predicted), _numbers(m.right).sum(axis=-1)
    covariance = right * true.sum(axis=-1) - (true * predicted).sum(axis=-1)
    spread_true, spread_predicted = _spread(true), _spread(predicted)
    return np.clip(ratio(covariance, np.sqrt(spread_true * spread_predicted)), -1.0, 1.0)


def _spread(margin: Floats) -> Floats:
    """s^2 - sum m_k^2 as a sum of positive terms, so that a constant margin gives exactly 0."""
    return (margin * (margin.sum(axis=-1, keepdims=True) - margin)).clip(min=0.0).sum(axis=-1)  # type: ignore[no-any-return]


def kappa(C: Table) -> Floats:
    """Agreement beyond chance: (p_o - p_e) / (1 - p_e), p_e = sum of products of the two margins' shares.

    NaN where labels and predictions are all of one and the same class.
    """
    m = Margins.of(C)
    true, predicted = _numbers(m.true), _numbers(m.predicted)
    rows = true.sum(axis=-1)
    by_chance = (true * (rows[..., None] - predicted)).clip(min=0.0).sum(axis=-1)  # s^2 (1 - p_e)
    missed = (rows - _numbers(m.right).sum(axis=-1)) * rows  # s^2 (1 - p_o)
    return 1.0 - ratio(missed, by_chance)


def misses_per_alarm(C: NDArray[Any]) -> Floats:
    """FN / FP: positives missed for each negative taken for a positive; NaN without false positives."""
    return ratio(C[..., 1, 0], C[..., 0, 1])
