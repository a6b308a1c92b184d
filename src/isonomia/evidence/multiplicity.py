"""Many tests at once: which of them still count."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values that control the false discovery rate.

    With p(1) <= ... <= p(m): adjusted p(i) = min over j >= i of m p(j) / j, at most 1. NaN (no test) stays NaN and
    does not count towards m.

    References
    ----------
    Y. Benjamini, Y. Hochberg (1995), J. R. Stat. Soc. B 57:289.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    return _adjust(p_values, "bh")


def benjamini_hochberg_among(p_values: ArrayLike, among: ArrayLike) -> NDArray[np.float64]:
    """`benjamini_hochberg` of a few tests that were picked from many, without ordering all of the many.

    `among` holds the p-values of every test made, these included.

    >>> benjamini_hochberg_among([0.03], [0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.04]
    """
    p, all_p = np.asarray(p_values, dtype=float), np.asarray(among, dtype=float).ravel()
    ordered = np.sort(all_p[~np.isnan(all_p)])
    if not ordered.size:
        return np.full(p.shape, np.nan)
    steps = ordered * (ordered.size / np.arange(1, ordered.size + 1))
    adjusted = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    place = np.minimum(np.searchsorted(ordered, p), ordered.size - 1)
    return np.where(np.isnan(p), np.nan, adjusted[place])


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values that control the chance of any false rejection (Holm 1979).

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjust(p_values, "holm")


def _adjust(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    p = np.asarray(p_values, dtype=float)
    flat = p.ravel()
    known = np.flatnonzero(~np.isnan(flat))
    out = np.full(flat.size, np.nan)
    m = known.size
    if m:
        order = known[np.argsort(flat[known], kind="stable")]
        if method == "bh":
            steps = flat[order] * m / np.arange(1, m + 1)
            adjusted = np.minimum.accumulate(steps[::-1])[::-1]
        else:
            adjusted = np.maximum.accumulate(flat[order] * np.arange(m, 0, -1))
        out[order] = np.minimum(adjusted, 1.0)
    return out.reshape(p.shape)
