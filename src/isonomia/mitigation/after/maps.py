"""Maps of scores by group: quantile matching towards the barycentre, isotonic and logistic calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import mean_by, sum_by
from isonomia.mitigation.after.fixes import expit, logit
from isonomia.typing import Floats, Indices

#: Knots of a map.
KNOTS = 401

Map = tuple[Floats, Floats]


def barycentre_maps(score: Floats, group: Indices, n_groups: int, weights: Floats | None = None) -> list[Map]:
    """For each group the map x -> sum_s p_s Q_s(F_a(x)): every group gets the distribution between all of them.

    F_a is the group's distribution function, Q_s the quantiles of group s, p_s its share of the rows. Tied scores get
    the mean over their ranks.

    References
    ----------
    T. Le Gouic, J.-M. Loubes, P. Rigollet (2020), Projection to fairness in statistical learning, arXiv 2005.11720.
    E. Chzhen et al. (2020), Fair regression with Wasserstein barycenters, NeurIPS.
    """
    w = np.ones(score.size) if weights is None else weights
    mass = sum_by(group, w, n_groups)
    levels = (np.arange(KNOTS) + 0.5) / KNOTS
    score = _rounded(score)
    quantiles = np.stack([_quantiles(score[group == g], w[group == g], levels) for g in range(n_groups)])
    middle = (mass / mass.sum()) @ quantiles
    return [_without_ties(own, middle) for own in quantiles]


def _rounded(score: Floats) -> Floats:
    """Scores that differ by rounding only made equal."""
    unit = 1e-12 * max(float(np.ptp(score)), 1e-300)
    return np.asarray(np.rint((score - score.min()) / unit) * unit + score.min(), dtype=float)


def _quantiles(score: Floats, weights: Floats, levels: Floats) -> Floats:
    """Quantiles by linear interpolation between the mid-ranks of the values."""
    values, index = np.unique(score, return_inverse=True)
    w = sum_by(index, weights, values.size)
    rank = (np.cumsum(w) - w / 2) / w.sum()
    return np.interp(levels, rank, values)


def _without_ties(x: Floats, y: Floats) -> Map:
    """Knots with increasing x; where several share one, the mean of their y."""
    own, index = np.unique(x, return_inverse=True)
    return own, mean_by(index, y, own.size)


def isotonic_map(score: Floats, truth: NDArray[Any], weights: Floats | None = None) -> Map:
    """The non-decreasing map of scores to mean outcomes (the share of positives) that minimises squared error."""
    from scipy.optimize import isotonic_regression

    w = np.ones(score.size) if weights is None else weights
    x, index = np.unique(score, return_inverse=True)
    total = sum_by(index, w, x.size)
    fitted = isotonic_regression(mean_by(index, truth.astype(float), x.size, w), weights=total).x
    corner = np.ones(x.size, dtype=bool)
    corner[1:-1] = (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:])
    return x[corner], fitted[corner]


def logistic_map(score: Floats, truth: NDArray[Any], weights: Floats | None = None) -> tuple[float, float]:
    """a and b of P(y = 1) = expit(a + b logit(score)), by Newton's method with Platt's targets.

    References
    ----------
    J. Platt (1999), Probabilistic outputs for support vector machines.
    """
    w = np.ones(score.size) if weights is None else weights
    x = np.column_stack([np.ones(score.size), logit(score)])
    positive, negative = w[truth == 1].sum(), w[truth != 1].sum()
    target = np.where(truth == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    at = np.array([0.0, 1.0])
    for _ in range(100):
        p = expit(x @ at)
        gradient = x.T @ (w * (p - target))
        curvature = (x * (w * p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        at = at - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return float(at[0]), float(at[1])
