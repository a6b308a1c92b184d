"""Tests that two figures are the same within a margin: the burden of proof lies on being equal.

A large p-value of an ordinary test does not show that groups are treated alike; it may only mean few rows. Two
one-sided tests (TOST) turn the question round: they reject that the difference is as large as the margin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isonomia.parameters import Number
from isonomia.typing import Floats


def check_margin(margin: float, *, most: float = np.inf) -> float:
    """A margin above 0 (and below `most`)."""
    below = None if np.isinf(most) else most
    return Number(above=0, below=below, hint=", such as 0.05 for five points").check("margin", margin)


def equivalent_proportions(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, *, margin: float) -> Floats:
    """P-values that two rates differ by `margin` or more; a small one shows that they are the same within it.

    Two one-sided score tests of p1 - p2 = +-margin, with the variance at the most likely rates that differ by just
    the margin (Farrington and Manning), which holds up in small groups and at rates of 0 and 1. The p-value is the
    larger of the two. NaN where a group is empty.

    References
    ----------
    D. J. Schuirmann (1987), J. Pharmacokinet. Biopharm. 15:657; C. P. Farrington, G. Manning (1990), Stat. Med. 9:1447.

    Examples
    --------
    >>> equivalent_proportions([300, 30], [1000, 100], [310, 31], [1000, 100], margin=0.05).round(4).tolist()
    [0.026, 0.2694]
    """
    from scipy.special import ndtr

    check_margin(margin, most=1.0)
    a, na, b, nb = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (k1, n1, k2, n2)))
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = a / na - b / nb
        below, above = (
            (gap - edge) / _score_error(a, na, b, nb, edge) for edge in (-margin, margin)
        )  # far above the lower edge, far below the upper one
        p = np.maximum(ndtr(-below), ndtr(above))
    return np.where((na > 0) & (nb > 0), p, np.nan)


def equivalent_means(difference: ArrayLike, error: ArrayLike, *, margin: float) -> Floats:
    """The same for any difference with a standard error (two one-sided z-tests).

    >>> equivalent_means([0.01, 0.04], [0.01, 0.01], margin=0.05).round(4).tolist()
    [0.0, 0.1587]
    """
    from scipy.special import ndtr

    check_margin(margin)
    d, s = np.asarray(difference, dtype=float), np.asarray(error, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = ndtr((np.abs(d) - margin) / s)
    return np.where(s > 0, p, np.where(s == 0, np.where(np.abs(d) < margin, 0.0, 1.0), np.nan))


def constrained_rate(a: Floats, na: Floats, b: Floats, nb: Floats, edge: ArrayLike) -> Floats:
    """The most likely second rate, given that the first is larger by `edge`: a root of the likelihood's cubic.

    The closed form of Miettinen and Nurminen (1985), which loses half of the digits where roots nearly coincide, and
    a Newton step that restores them.

    >>> one = np.array(8.0), np.array(10.0), np.array(4.0), np.array(10.0)
    >>> round(float(constrained_rate(*one, 0.0)), 4), round(float(constrained_rate(*one, 0.4)), 4)
    (0.6, 0.4)
    """
    d = np.asarray(edge, dtype=float)
    total = na + nb
    with np.errstate(divide="ignore", invalid="ignore"):
        # x^3 + l2 x^2 + l1 x + l0 = 0
        l2 = ((na + 2 * nb) * d - total - (a + b)) / total
        l1 = ((nb * d - total - 2 * b) * d + a + b) / total
        l0 = b * d * (1 - d) / total
        third = l2 / 3
        q = third**3 - l1 * third / 2 + l0 / 2
        p = np.copysign(np.sqrt(np.maximum(third * third - l1 / 3, 0.0)), q)
        cosine = np.minimum(np.maximum(q / (p * p * p), -1.0), 1.0)
        root = 2 * p * np.cos((np.pi + np.arccos(cosine)) / 3) - third
        lowest, highest = np.maximum(0.0, -d), np.minimum(1.0, 1 - d)
        step = (((root + l2) * root + l1) * root + l0) / ((3 * root + 2 * l2) * root + l1)
        root = np.where(np.abs(step) < 1e-3, root - step, root)
    root = np.where(p == 0, -third, root)
    return np.minimum(np.maximum(root, lowest), highest)  # type: ignore[no-any-return]


def _score_error(a: Floats, na: Floats, b: Floats, nb: Floats, edge: float) -> Floats:
    """The standard error of a / na - b / nb at the most likely rates whose difference is `edge`."""
    second = constrained_rate(a, na, b, nb, edge)
    first = np.clip(second + edge, 0.0, 1.0)
    return np.sqrt(first * (1 - first) / na + second * (1 - second) / nb)
