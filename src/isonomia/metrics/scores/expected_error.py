"""What a score lets expect: how often its decision is wrong, how often its people turn out favourable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.counting.threads import in_threads
from isonomia.models import Surface
from isonomia.typing import Floats


def expected_error(truth: NDArray[Any], surface: Surface, weights: Floats | None = None) -> Floats | None:
    """For each row the share of wrong decisions among rows with the same decision and the same score.

    Errors are more frequent near the border between two decisions, also those of the best possible model. A subgroup
    is of interest where it has more errors than its scores let expect. Among rows with one decision the errors are
    regressed on the score by a decreasing step function (isotonic regression): the more certain the model is, the
    fewer errors are expected. The average over all rows is the error rate, whether the model is calibrated or not.

    Parameters
    ----------
    truth : (n,) array of int
        True classes as codes.
    surface : Surface
        Decisions with probabilities or scores.
    weights : (n,) array of float, optional

    Returns
    -------
    (n,) array of float, or None where the model gives no scores or predicts a number

    References
    ----------
    R. E. Barlow, D. J. Bartholomew, J. M. Bremner, H. D. Brunk (1972), Statistical Inference under Order Restrictions.

    Examples
    --------
    >>> surface = Surface.of_probabilities([0.6, 0.6, 0.9, 0.9, 0.2], classes=(0, 1))
    >>> expected_error(np.array([0, 1, 1, 1, 0]), surface).tolist()
    [0.5, 0.5, 0.0, 0.0, 0.0]
    """
    certainty = _certainty(surface)
    if certainty is None or surface.label is None:
        return None
    wrong = (surface.label != truth).astype(float)
    weight = np.ones(wrong.size) if weights is None else weights
    out, label = np.zeros(wrong.size), surface.label

    def fit(decision: Any) -> None:
        rows = np.flatnonzero((label == decision) & (weight > 0))
        out[rows] = _steps(wrong[rows], certainty[rows], weight[rows], increasing=False)

    in_threads(fit, np.unique(label), wrong.size)
    return out


def expected_favourable(truth: NDArray[Any], surface: Surface, weights: Floats | None = None) -> Floats | None:
    """For each row the share of favourable true outcomes among rows with the same score.

    People whose outcomes are better than this are underrated by the score, others overrated. The outcomes of all rows
    are regressed on the score by an increasing step function, so the average over all rows is the base rate.

    Parameters
    ----------
    truth : (n,) array of int
        True classes as codes; 1 is favourable.
    surface : Surface
        Probabilities or scores of two classes.
    weights : (n,) array of float, optional

    Returns
    -------
    (n,) array of float, or None where the model gives no score or there are not two classes

    Examples
    --------
    >>> surface = Surface.of_probabilities([0.6, 0.6, 0.9, 0.9, 0.2], classes=(0, 1))
    >>> expected_favourable(np.array([0, 1, 1, 1, 0]), surface).tolist()
    [0.5, 0.5, 1.0, 1.0, 0.0]
    """
    ranks = surface.probability if surface.probability is not None else surface.score
    if surface.task != "binary" or ranks is None:
        return None
    weight = np.ones(len(truth)) if weights is None else weights
    rows = np.flatnonzero(weight > 0)
    out = np.zeros(len(truth))
    out[rows] = _steps((truth[rows] == 1).astype(float), ranks[rows], weight[rows], increasing=True)
    return out


def _steps(values: Floats, by: Floats, weight: Floats, *, increasing: bool) -> Floats:
    """Values regressed on others by a monotone step function; rows with equal numbers have one expectation."""
    from scipy.optimize import isotonic_regression

    levels, index = np.unique(by, return_inverse=True)
    if not levels.size:
        return values
    total = sum_by(index, weight, levels.size)
    share = sum_by(index, weight * values, levels.size) / total
    return np.asarray(isotonic_regression(share, weights=total, increasing=increasing).x[index], dtype=float)


def _certainty(surface: Surface) -> Floats | None:
    """What rises with the certainty of a row's own decision."""
    label, probability, score = surface.label, surface.probability, surface.score
    if label is None or (probability is None and score is None):
        return None
    if probability is not None and probability.ndim == 2:
        return np.asarray(probability[np.arange(label.size), label], dtype=float)
    ranks = probability if probability is not None else score
    assert ranks is not None  # one of the two is there
    return np.where(label == 1, ranks, -ranks)
