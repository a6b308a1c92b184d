"""Weighted means over rows, with their normal intervals."""

from __future__ import annotations

import numpy as np

from isonomia.evidence.intervals import normal_interval
from isonomia.typing import Floats


def mean_interval(values: Floats, weights: Floats | None, level: float) -> tuple[float, float, float]:
    """A mean and the ends of its interval: variance sum w^2 (x - mean)^2 / (sum w)^2, times m / (m - 1).

    m is the effective number of rows, (sum w)^2 / sum w^2. NaN ends for a single row; NaN for none.

    >>> tuple(round(end, 4) for end in mean_interval(np.array([1.0, 2.0, 3.0]), None, 0.95))
    (2.0, 0.8684, 3.1316)
    """
    w = np.ones(values.size) if weights is None else weights
    total = float(w.sum())
    if total <= 0:
        return float("nan"), float("nan"), float("nan")
    mean = float(w @ values / total)
    effective = total * total / float(w @ w)
    if effective <= 1:
        return mean, float("nan"), float("nan")
    error = np.sqrt((w * w) @ np.square(values - mean) / total**2 * effective / (effective - 1))
    low, high = normal_interval(mean, error, level)
    return mean, float(low), float(high)


def effective_rows(n: int, weights: Floats | None) -> float:
    """Rows that unweighted data of the same precision would have."""
    return float(n) if weights is None else float(weights.sum() ** 2 / max(float(weights @ weights), 1e-300))
