"""Hypothesis tests, computed for whole arrays at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.typing import Floats

#: Below this expected count in any cell of a 2 x 2 table, Fisher's exact test is asked beside the score test.
SMALL_CELL = 5.0
#: From here on into the tail, the skewness of counts matters to the p-value of two rates.
SKEWED = 0.01


def normal_p(z: ArrayLike) -> Floats:
    """The two-sided p-value of a standard normal statistic."""
    from scipy.special import ndtr

    return 2 * ndtr(-np.abs(np.asarray(z, dtype=float)))  # type: ignore[no-any-return]


def two_proportions(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike) -> Floats:
    """P-values that two rates k1 / n1 and k2 / n2 are the same.

    The score test: z = (p1 - p2) / sqrt(p (1 - p) (1/n1 + 1/n2) N / (N - 1)) with p the pooled rate and N = n1 + n2,
    which rejects at 5% exactly where the score interval of the difference leaves out 0. Counts are skewed, so that its
    tail is too thin where a small group has more of a rare outcome: below 0.01 the p-value is at least that of
    `likelihood_root`, and where an expected count is below 5 or a cell is empty at least that of Fisher's exact test,
    of effective numbers to the nearest whole one. NaN where a group is empty; 1 where both rates are 0 or both are 1.

    References
    ----------
    E. S. Pearson (1947), Biometrika 34:139, for N / (N - 1); I. Campbell (2007), Stat. Med. 26:3661.

    Examples
    --------
    >>> two_proportions([30, 1], [100, 8], [45, 7], [100, 9]).round(4).tolist()
    [0.0289, 0.0152]
    """
    a, na, b, nb = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (k1, n1, k2, n2)))
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (a + b) / (na + nb)
        spread = np.sqrt(pooled * (1 - pooled) * (1 / na + 1 / nb) * (na + nb) / (na + nb - 1))
        p = normal_p((a / na - b / nb) / spread)
        smallest = np.minimum(pooled, 1 - pooled) * np.minimum(na, nb)
    p = np.where((pooled <= 0) | (pooled >= 1), 1.0, p)
    p = np.where((na <= 0) | (nb <= 0), np.nan, p)
    tail = p < SKEWED
    if tail.any():
        p[tail] = np.fmax(p[tail], likelihood_root(a[tail], na[tail], b[tail], nb[tail]))
    empty = (np.minimum(a, b) <= 0) | (a >= na) | (b >= nb)
    return _with_fisher(p, ((smallest < SMALL_CELL) | empty & tail) & (p < 1), a, na, b, nb)


def likelihood_root(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike) -> Floats:
    """P-values that two rates are the same, from the modified signed root of their likelihood ratio.

    r* = r + log(v / r) / r with r the signed root of the likelihood ratio statistic and v = log(odds ratio)
    sqrt(v1 v2 / v0), where v1, v2 and v0 are n p (1 - p) of the two rates and of the pooled one. It is standard normal
    to the third order given the margins: right in tails where the score test is not. NaN where a cell is empty or the
    rates are the same.

    References
    ----------
    O. E. Barndorff-Nielsen (1986), Biometrika 73:307.

    Examples
    --------
    >>> likelihood_root([26.0], [240.0], [124.0], [2760.0]).round(6).tolist()
    [0.00012]
    """
    a, na, b, nb = (np.asarray(x, dtype=float) for x in (k1, n1, k2, n2))
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = np.stack([a, na - a, b, nb - b])
        total = na + nb
        expected = np.stack([na * (a + b), na * (total - a - b), nb * (a + b), nb * (total - a - b)]) / total
        logs = np.log(cells / expected)
        r = np.sqrt(2 * (cells * logs).sum(axis=0))
        odds = np.abs(logs[0] - logs[1] - logs[2] + logs[3])
        v = odds * np.sqrt(cells[0] * cells[1] * cells[2] * cells[3] * total / (na * nb * (a + b) * (total - a - b)))
        return np.where(r > 0, normal_p(r + np.log(v / r) / r), np.nan)


def _with_fisher(p: Floats, small: NDArray[np.bool_], *counts: NDArray[Any]) -> Floats:
    out = np.array(p, dtype=float)
    for index in zip(*np.nonzero(small), strict=True) if out.ndim else [()] * int(small):
        a, na, b, nb = (int(np.rint(count[index])) for count in counts)
        if na > 0 and nb > 0:
            out[index] = max(out[index], fisher(a, na, b, nb))
    return out


def fisher(k1: int, n1: int, k2: int, n2: int) -> float:
    """Fisher's exact test of two rates k1 / n1 and k2 / n2, two-sided.

    The probability, given the margins, of all tables that are no more likely than this one (those within a relative
    1e-7 of it count as equally likely, as in R and SciPy).

    >>> round(fisher(1, 8, 7, 9), 6)
    0.01522
    """
    from scipy.special import gammaln

    drawn = k1 + k2
    support = np.arange(max(0, drawn - n2), min(n1, drawn) + 1)
    log_p = -(
        gammaln(support + 1)
        + gammaln(n1 - support + 1)
        + gammaln(drawn - support + 1)
        + gammaln(n2 - drawn + support + 1)
    )
    likely = np.exp(log_p - log_p.max())
    own = likely[k1 - support[0]]
    return float(min(1.0, likely[likely <= own * (1 + 1e-7)].sum() / likely.sum()))


def welch(mean1: ArrayLike, se1: ArrayLike, df1: ArrayLike, mean2: ArrayLike, se2: ArrayLike, df2: ArrayLike) -> Floats:
    """P-values that two means are the same, from their standard errors (Welch's t-test).

    Degrees of freedom after Welch and Satterthwaite: (v1 + v2)^2 / (v1^2 / df1 + v2^2 / df2) with v = se^2.
    """
    from scipy.special import stdtr

    v1, v2 = np.square(np.asarray(se1, dtype=float)), np.square(np.asarray(se2, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (np.asarray(mean1, dtype=float) - np.asarray(mean2, dtype=float)) / np.sqrt(v1 + v2)
        df = (v1 + v2) ** 2 / (v1**2 / np.asarray(df1, dtype=float) + v2**2 / np.asarray(df2, dtype=float))
        p = 2 * stdtr(df, -np.abs(t))
    return np.where((v1 + v2) == 0, np.where(np.asarray(mean1) == np.asarray(mean2), 1.0, 0.0), p)
