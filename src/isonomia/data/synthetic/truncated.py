"""Truncated normals: the engine of conditional sampling. No step rejects, so every call ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isonomia.data.synthetic.marginals import Regions
from isonomia.typing import Floats

#: Fewest starting points, and sweeps of Gibbs sampling after they are resampled.
_STARTS = 1024
_SWEEPS = 12


def draw_inside(mean: Floats, deviation: float, regions: Regions, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """One normal per row, truncated to a union of intervals, by inversion; and the log probability of the union.

    Far from the mean (beyond about 37 standard deviations no double tells the mass from 0) the value is the nearest
    border, which is where all of the mass is.

    >>> x, logs = draw_inside(np.zeros(3), 1.0, (np.array([2.0]), np.array([np.inf])), np.random.default_rng(0))
    >>> bool((x > 2).all()), logs.round(4).tolist()
    (True, [-3.7832, -3.7832, -3.7832])
    """
    from scipy.special import log_ndtr

    low, high = regions
    a, b = (low - mean[:, None]) / deviation, (high - mean[:, None]) / deviation
    candidates, mass = invert(a, b, rng.random(mean.size)[:, None])
    total = mass.sum(axis=1)
    chosen = np.zeros(mean.size, dtype=np.int64)
    if low.size > 1:
        chosen = (np.cumsum(mass, axis=1) < (rng.random(mean.size) * total)[:, None]).sum(axis=1)
        chosen = np.minimum(chosen, low.size - 1)
    drawn = candidates[np.arange(mean.size), chosen]
    lost = ~(total > 0)
    with np.errstate(divide="ignore"):
        logs = np.log(total)
    if lost.any():
        gap = np.maximum(np.maximum(a[lost], -b[lost]), 0.0)
        chosen[lost] = gap.argmin(axis=1)
        nearest = np.where(a[lost] > 0, a[lost], b[lost])
        drawn[lost] = nearest[np.arange(gap.shape[0]), chosen[lost]]
        logs[lost] = log_ndtr(-gap.min(axis=1))
    # intervals are open below: a value on the lower border belongs to the level before
    return np.clip(mean + deviation * drawn, np.nextafter(low[chosen], np.inf), high[chosen]), logs


def invert(low: Floats, high: Floats, uniform: Floats) -> tuple[Floats, Floats]:
    """Standard normals inside intervals from uniform numbers, and the intervals' probabilities.

    In the upper tail the mirror image is used, where small numbers are exact.
    """
    from scipy.special import ndtr, ndtri

    flip = low > -high
    start = ndtr(np.where(flip, -high, low))
    mass = ndtr(np.where(flip, -low, high)) - start
    drawn = ndtri(start + uniform * mass)
    return np.where(flip, -drawn, drawn), mass


def sample_box(correlation: Floats, boxes: Sequence[Regions], n: int, rng: np.random.Generator) -> Floats:
    """`n` draws of a multivariate normal truncated to a box (a union of intervals per dimension).

    Sequential draws (the GHK simulator of Geweke, Hajivassiliou and Keane) are reweighted and resampled, then moved by
    Gibbs sweeps. One dimension is exact.
    """
    size = len(boxes)
    if size == 1:
        return draw_inside(np.zeros(n), 1.0, boxes[0], rng)[0][:, None]
    x, logs = _sequential(correlation, boxes, max(n, _STARTS), rng)
    x = x[_resample(np.exp(logs - logs.max()), n, rng)]
    precision = np.linalg.inv(correlation)
    for _ in range(_SWEEPS):
        for i in range(size):
            mean = x[:, i] - x @ precision[i] / precision[i, i]
            x[:, i] = draw_inside(mean, float(1 / np.sqrt(precision[i, i])), boxes[i], rng)[0]
    return x


def box_probability(correlation: Floats, boxes: Sequence[Regions], n: int, rng: np.random.Generator) -> float:
    """The probability of a box under a multivariate normal: the mean weight of `n` sequential draws.

    >>> quarter = (np.array([0.0]), np.array([np.inf]))
    >>> r = np.array([[1.0, 0.5], [0.5, 1.0]])          # orthant: 1/4 + arcsin(r) / (2 pi) = 1/3
    >>> round(box_probability(r, [quarter, quarter], 4096, np.random.default_rng(0)), 2)
    0.33
    """
    return float(np.exp(_sequential(correlation, boxes, n, rng)[1]).mean())


def _sequential(
    correlation: Floats, boxes: Sequence[Regions], n: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Each dimension inside its box given those before it, and the log weight of each draw."""
    x = np.empty((n, len(boxes)))
    logs = np.zeros(n)
    for i, box in enumerate(boxes):
        slope = np.linalg.solve(correlation[:i, :i], correlation[:i, i]) if i else np.zeros(0)
        deviation = float(np.sqrt(max(1.0 - float(correlation[:i, i] @ slope), 1e-12)))
        x[:, i], more = draw_inside(x[:, :i] @ slope, deviation, box, rng)
        logs += more
    return x, logs


def _resample(weights: Floats, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Systematic resampling: `n` positions, each in proportion to its weight, in random order."""
    cumulated = np.cumsum(weights)
    points = (np.arange(n) + rng.random()) / max(n, 1) * cumulated[-1]
    chosen = np.minimum(np.searchsorted(cumulated, points), weights.size - 1)
    return rng.permutation(chosen)
