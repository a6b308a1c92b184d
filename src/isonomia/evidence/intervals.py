"""Intervals, computed for whole arrays at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.languages import Message, msg
from isonomia.parameters import LEVEL
from isonomia.typing import Floats

#: What a result says where no bootstrap was asked for.
NO_BOOTSTRAP = msg("No bootstrap was asked for: figures that need one have no interval and no test.")


def without_bootstrap(n_boot: int) -> tuple[Message, ...]:
    """What has to be known of a result without a bootstrap; nothing with one."""
    return () if n_boot else (NO_BOOTSTRAP,)


def check_level(level: float) -> float:
    """A confidence level strictly between 0 and 1."""
    return LEVEL.check("level", level)


@cache
def normal_quantile(level: float) -> float:
    """The two-sided standard normal quantile: 1.96 for 0.95."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + check_level(level) / 2))


def wilson(successes: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's score interval of a rate k / n.

    With z the normal quantile: centre (k + z^2/2) / (n + z^2), half width z sqrt(k (n - k) / n + z^2/4) / (n + z^2).
    It stays within [0, 1] and is sensible for small n and rates near 0 and 1. For weighted data give effective
    numbers: n = (sum w)^2 / sum w^2 and k = rate * n. Where n is 0 the ends are NaN.

    References
    ----------
    E. B. Wilson (1927), J. Am. Stat. Assoc. 22:209.

    Examples
    --------
    >>> low, high = wilson(20, 80)
    >>> round(float(low), 4), round(float(high), 4)
    (0.1681, 0.3548)
    """
    k, total = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    z2 = normal_quantile(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (k + z2 / 2) / (total + z2)
        half = np.sqrt(z2 * (k * (total - k) / total + z2 / 4)) / (total + z2)
    empty = total <= 0
    low = np.where(empty, np.nan, np.clip(centre - half, 0.0, 1.0))
    high = np.where(empty, np.nan, np.clip(centre + half, 0.0, 1.0))
    return np.where(k <= 0, np.where(empty, np.nan, 0.0), low), np.where(k >= total, np.where(empty, np.nan, 1.0), high)


def percentile(draws: NDArray[Any], level: float = 0.95) -> tuple[Floats, Floats]:
    """The percentile interval of bootstrap draws along the first axis; NaN draws are left out.

    Where fewer than half of the draws are defined the ends are NaN.

    >>> low, high = percentile(np.arange(1001.0))
    >>> round(float(low), 9), round(float(high), 9)
    (25.0, 975.0)
    """
    ordered = np.sort(np.moveaxis(np.asarray(draws, dtype=float), 0, -1), axis=-1)  # NaN sorts to the end
    total = ordered.shape[-1]
    if not np.isnan(ordered[..., -1:]).any():
        tail = (1 - check_level(level)) / 2
        return _at(ordered, tail * (total - 1)), _at(ordered, (1 - tail) * (total - 1))
    valid = total - np.isnan(ordered).sum(axis=-1)
    tail = (1 - check_level(level)) / 2
    ends = []
    for share in (tail, 1 - tail):
        place = share * np.maximum(valid - 1, 0)
        below = np.floor(place).astype(int)
        above = np.minimum(below + 1, np.maximum(valid - 1, 0))
        low = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
        high = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
        ends.append(np.where(2 * valid < total, np.nan, low + (place - below) * (high - low)))
    return ends[0], ends[1]


def _at(ordered: Floats, place: float) -> Floats:
    below = int(np.floor(place))
    above = min(below + 1, ordered.shape[-1] - 1)
    low, high = ordered[..., below], ordered[..., above]
    return low + (place - below) * (high - low)
