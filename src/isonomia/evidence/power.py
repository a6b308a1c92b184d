"""How small a gap these group sizes could have shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.parameters import Number, validated

ALPHA = 0.05
POWER = 0.8


def detectable_difference(
    rate: ArrayLike, n1: ArrayLike, n2: ArrayLike, *, alpha: float = ALPHA, power: float = POWER
) -> NDArray[np.float64]:
    """The smallest difference of two rates that a two-sided test would find with the given power.

    (z_{1 - alpha/2} + z_{power}) sqrt(p (1 - p) (1/n1 + 1/n2)), with p the rate of the reference group, at least one
    success or failure away from 0 and 1 (otherwise a rate of 0 would seem to detect any gap). At most 1.

    >>> round(float(detectable_difference(0.3, 200, 200)), 3)
    0.128
    """
    a, b = np.asarray(n1, dtype=float), np.asarray(n2, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = np.minimum(1.0 / np.maximum(b, 1.0), 0.5)
        p = np.clip(np.asarray(rate, dtype=float), edge, 1 - edge)
        gap = detectable_mean_difference(np.sqrt(p * (1 - p)), a, np.sqrt(p * (1 - p)), b, alpha=alpha, power=power)
    return np.asarray(np.minimum(gap, 1.0), dtype=float)


@validated(alpha=Number(above=0, below=1), power=Number(above=0, below=1))
def detectable_mean_difference(
    sd1: ArrayLike, n1: ArrayLike, sd2: ArrayLike, n2: ArrayLike, *, alpha: float = ALPHA, power: float = POWER
) -> NDArray[np.float64]:
    """The smallest difference of two means that a two-sided test would find with the given power.

    (z_{1 - alpha/2} + z_{power}) sqrt(sd1^2/n1 + sd2^2/n2); NaN where a group is empty.
    """
    from scipy.special import ndtri

    reach = float(ndtri(1 - alpha / 2) + ndtri(power))
    a, b = np.asarray(n1, dtype=float), np.asarray(n2, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.square(np.asarray(sd1, dtype=float)) / a + np.square(np.asarray(sd2, dtype=float)) / b)
    return np.where((a > 0) & (b > 0), reach * spread, np.nan)
