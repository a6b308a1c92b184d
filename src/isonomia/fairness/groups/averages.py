"""Weighted means over rows, with their intervals: normal ones, or Hall's for skewed values."""

from __future__ import annotations

import numpy as np

from isonomia.evidence.intervals import Figures, normal_interval
from isonomia.evidence.mean_intervals import MeanEnds
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


def mean_of_losses(values: Floats, weights: Floats | None) -> Figures:
    """The mean of values that are not negative, such as losses or shares, with the ends of Hall's interval.

    >>> found = mean_of_losses(np.array([0.0, 0.0, 0.0, 0.1, 0.0, 0.9, 0.0, 0.2] * 5), None)
    >>> found.value.round(3).tolist(), [end.round(3).tolist() for end in found.ends.at(0.025)]
    ([0.15], [[0.072], [0.381]])
    """
    w = np.ones(values.size) if weights is None else weights
    total, squares = float(w.sum()), float(w @ w)
    mean = float(w @ values / total) if total > 0 else float("nan")
    error, skewness, df = float("nan"), 0.0, 1.0
    if squares < total**2:
        apart = w * (values - mean)
        error = float(np.sqrt(apart @ apart / (1 - squares / total**2))) / total
        skewness = float((apart**3).sum() / (total * error) ** 3) if error > 0 else 0.0
        df = squares**2 / float((w**4).sum()) - 1
    value, spread, third, freedom = (np.full(1, part) for part in (mean, error, skewness, df))
    return Figures(value, ends=MeanEnds(value, spread, third, freedom, kind="positive"))


def effective_rows(n: int, weights: Floats | None) -> float:
    """Rows that unweighted data of the same precision would have."""
    return float(n) if weights is None else float(weights.sum() ** 2 / max(float(weights @ weights), 1e-300))
