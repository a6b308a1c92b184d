"""How often a decision with this score is wrong: what a subgroup's errors are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
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
    from scipy.optimize import isotonic_regression

    wrong = (surface.label != truth).astype(float)
    weight = np.ones(wrong.size) if weights is None else weights
    out = np.zeros(wrong.size)
    for decision in np.unique(surface.label):
        rows = np.flatnonzero((surface.label == decision) & (weight > 0))
        levels, index = np.unique(certainty[rows], return_inverse=True)  # equal scores have one expectation
        if not levels.size:
            continue
        total = sum_by(index, weight[rows], levels.size)
        share = sum_by(index, weight[rows] * wrong[rows], levels.size) / total
        out[rows] = isotonic_regression(share, weights=total, increasing=False).x[index]
    return out


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
