"""The population stability index without its noise, and how sure it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isonomia.evidence import Estimate
from isonomia.evidence.intervals import normal_quantile
from isonomia.typing import Floats

#: From this many times the index (on the scale of a chi-square) on, its distribution is as good as normal.
LARGE = 1_000.0


def psi(reference: ArrayLike, current: ArrayLike) -> float:
    """Population stability index: sum (q - p) ln(q / p) over the shares p before and q now.

    Bins that are empty on both sides count nothing. Where a bin is empty on one side the sum is infinite: all counts
    are raised by a half then.

    >>> round(psi([500, 500], [700, 300]), 3), round(psi([10, 0], [5, 5]), 3)
    (0.169, 1.384)
    """
    counts = np.asarray(reference, dtype=float), np.asarray(current, dtype=float)
    used = (counts[0] + counts[1]) > 0
    a, b = (part[used] for part in counts)
    if (np.minimum(a, b) <= 0).any():
        return _raised(a, b)
    p, q = a / a.sum(), b / b.sum()
    return float(((q - p) * np.log(q / p)).sum())


def _raised(reference: ArrayLike, current: ArrayLike) -> float:
    """The index of counts that are raised by a half."""
    p, q = _shares(reference), _shares(current)
    return float(((q - p) * np.log(q / p)).sum())


def stability(
    reference: ArrayLike, current: ArrayLike, *, sizes: tuple[float, float] | None = None, level: float = 0.95
) -> Estimate:
    """The stability index less what noise alone adds to it, never below 0, with its interval.

    All counts are raised by a half, which small samples need: their plain index varies much more.

    Two samples of n and m rows of one population over B bins have an index of (B - 1) (1/n + 1/m) on average. With
    N = n m / (n + m), N times the index is nearly a noncentral chi-square with B - 1 degrees of freedom whose
    noncentrality is N times the true index: the interval inverts it. Far from equal shares the index varies more than
    that; the interval is widened by the ratio to the error of the delta method.

    Parameters
    ----------
    reference, current : (B,) counts
    sizes : (n, m), optional
        Effective numbers of rows, where counts are sums of weights.
    level : float

    References
    ----------
    B. Yurdakul, J. Naranjo (2020), J. Risk Model Validation 14(4): statistical properties of the PSI.

    Examples
    --------
    >>> stability([500, 500], [700, 300])
    0.1671 [0.1046, 0.249] (n=2000)
    """
    counts = [np.asarray(part, dtype=float) for part in (reference, current)]
    n, m = sizes if sizes is not None else (float(counts[0].sum()), float(counts[1].sum()))
    used = (counts[0] + counts[1]) > 0
    bins, rows = int(used.sum()), round(n + m)
    if bins < 2:
        return Estimate(0.0, 0.0, 0.0, n=rows, method="one bin", level=level)
    raw, scale = _raised(counts[0][used], counts[1][used]), n * m / (n + m)
    value = max(raw - (bins - 1) / scale, 0.0)
    low, high = (end / scale for end in _noncentrality(raw * scale, bins - 1, level))
    wider = _wider(counts[0][used], counts[1][used], raw, n, m)
    low, high = max(value - wider * (value - low), 0.0), value + wider * max(high - value, 0.0)
    return Estimate(value, min(low, value), max(high, value), n=rows, method="noncentral chi-square", level=level)


def _noncentrality(x: float, freedom: int, level: float) -> tuple[float, float]:
    """The ends of the noncentrality of a chi-square that came out as x.

    The upper end is that of at least half the mean without noncentrality: with less, an interval would have no width.
    """
    from scipy.special import chndtr, chndtrinc

    if x > LARGE:
        half = normal_quantile(level) * np.sqrt(2 * (freedom + 2 * (x - freedom)))
        return max(x - freedom - half, 0.0), x - freedom + half
    ends = []
    for at, share in ((x, 0.5 + level / 2), (max(x, freedom / 2), 0.5 - level / 2)):
        reached = float(chndtr(at, freedom, 0.0)) > share  # also without any drift so much is frequent enough
        ends.append(float(chndtrinc(at, freedom, share)) if reached else 0.0)
    return ends[0], ends[1]


def _wider(reference: Floats, current: Floats, raw: float, n: float, m: float) -> float:
    """How much larger the error of the index is than near equal shares, at least 1."""
    if raw <= 0:
        return 1.0
    p, q = _shares(reference), _shares(current)
    of_p, of_q = 1 - q / p - np.log(q / p), 1 - p / q + np.log(q / p)
    variance = (p @ of_p**2 - (p @ of_p) ** 2) / n + (q @ of_q**2 - (q @ of_q) ** 2) / m
    return max(1.0, float(np.sqrt(variance / (4 * raw * (1 / n + 1 / m)))))


def _shares(counts: ArrayLike) -> Floats:
    raised = np.asarray(counts, dtype=float) + 0.5
    return np.asarray(raised / raised.sum(), dtype=float)
