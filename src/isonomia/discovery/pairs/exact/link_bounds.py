"""Bounds of predictions and of their differences, from bounds of raw scores.

Two people whose raw scores differ by d, the lower at m, have predictions g(m + d) - g(m) apart. For the logistic link
that is largest at m = -d/2 and smallest at an end of the range of m; for exp it grows with m.
"""

from __future__ import annotations

import numpy as np

from isonomia.models import Link, apply_link
from isonomia.typing import Floats


def prediction_bounds(link: Link, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Bounds (..., K) of predictions from bounds of raw scores."""
    if link != "softmax":
        return apply_link(link, lower), apply_link(link, upper)
    low, high = np.empty_like(lower), np.empty_like(upper)
    with np.errstate(over="ignore"):
        for k in range(lower.shape[-1]):
            others = np.arange(lower.shape[-1]) != k
            low[..., k] = 1.0 / (1.0 + np.exp(upper[..., others] - lower[..., [k]]).sum(axis=-1))
            high[..., k] = 1.0 / (1.0 + np.exp(lower[..., others] - upper[..., [k]]).sum(axis=-1))
    return low, high


def rise(link: Link, at: Floats, by: Floats) -> Floats:
    """The increase of the prediction from raw score `at` to `at + by`."""
    return apply_link(link, at + by) - apply_link(link, at)


def steepest(link: Link, by: Floats, lower: Floats, upper: Floats) -> Floats:
    """The largest increase over a step `by` from a raw score between `lower` and `upper`."""
    at = np.clip(-by / 2, lower, upper) if link == "logistic" else upper
    return rise(link, at, by)


def apart(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Lower and upper bound of the largest difference between two of V numbers (n, V) known within bounds.

    >>> sure, possible = apart(np.array([[0.0, 3.0]]), np.array([[1.0, 5.0]]))
    >>> float(sure[0]), float(possible[0])
    (2.0, 5.0)
    """
    sure = lower.max(axis=1) - upper.min(axis=1)
    if lower.shape[1] < 2:
        return np.zeros(len(lower)), np.zeros(len(lower))
    top, bottom = upper.argmax(axis=1), lower.argmin(axis=1)
    index = np.arange(len(lower))
    one = upper[index, top] - lower[index, bottom]
    without_top, without_bottom = upper.copy(), lower.copy()
    without_top[index, top], without_bottom[index, bottom] = -np.inf, np.inf
    other = np.maximum(upper[index, top] - without_bottom.min(axis=1), without_top.max(axis=1) - lower[index, bottom])
    return np.maximum(sure, 0.0), np.maximum(np.where(top == bottom, other, one), 0.0)
