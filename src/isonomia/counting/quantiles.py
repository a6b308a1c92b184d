"""Quantiles of values that stand for several rows each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats


def quantiles(values: Floats, shares: Floats, counts: NDArray[np.int64] | None = None) -> Floats:
    """The quantiles of values that occur `counts` times each: ``np.quantile(np.repeat(values, counts), shares)``.

    >>> quantiles(np.array([2.0, 1.0]), np.array([0.0, 0.5, 1.0]), np.array([1, 3])).tolist()
    [1.0, 1.0, 2.0]
    """
    if counts is None:
        return np.asarray(np.quantile(values, shares))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(counts[order])
    index = np.asarray(shares) * (ends[-1] - 1)
    low = np.floor(index)
    ordered = values[order]
    below, above = (ordered[np.searchsorted(ends, at, side="right")] for at in (low, np.ceil(index)))
    part = index - low
    # as NumPy rounds: from the nearer end
    return np.asarray(np.where(part >= 0.5, above - (above - below) * (1 - part), below + (above - below) * part))
