"""Do methods differ, and which: ranks over settings, Friedman's test, and tests of pairs.

Rows of every matrix are settings (blocks), columns are methods; a higher score is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from isonomia.evidence import holm
from isonomia.typing import Bools, Floats


@dataclass(frozen=True)
class Friedman:
    """Friedman's test with the correction of Iman and Davenport.

    Attributes
    ----------
    chi2 : float
        Friedman's statistic, corrected for ties.
    f : float
        Iman and Davenport's: (N - 1) chi2 / (N (k - 1) - chi2), compared with F of k - 1 and (k - 1)(N - 1) degrees.
    p_value : float
    n, k : int
        Settings and methods.
    """

    chi2: float
    f: float
    p_value: float
    n: int
    k: int


def mean_ranks(scores: Floats) -> Floats:
    """The mean rank of each method, 1 for the best; ties share their ranks.

    >>> mean_ranks(np.array([[0.9, 0.5, 0.5], [0.8, 0.7, 0.1]])).tolist()
    [1.0, 2.25, 2.75]
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores, axis=1).mean(axis=0), dtype=float)


def friedman(scores: Floats) -> Friedman | None:
    """Whether any method differs from another; None with fewer than three methods or two settings, or all tied.

    References
    ----------
    R. L. Iman, J. M. Davenport (1980), Approximations of the critical region of the Friedman statistic.
    """
    from scipy.stats import f as f_distribution
    from scipy.stats import friedmanchisquare

    n, k = scores.shape
    if k < 3 or n < 2 or bool((scores == scores[:, :1]).all()):
        return None
    chi2 = float(friedmanchisquare(*scores.T).statistic)
    rest = n * (k - 1) - chi2
    value = (n - 1) * chi2 / rest if rest > 1e-12 else np.inf
    p = float(f_distribution.sf(value, k - 1, (k - 1) * (n - 1)))
    return Friedman(chi2=chi2, f=float(value), p_value=p, n=n, k=k)


def pairwise_p(scores: Floats) -> Floats:
    """Wilcoxon's signed-rank test of every two methods, adjusted over all pairs (Holm), as a symmetric matrix.

    Unlike mean ranks, the comparison of two methods does not depend on which others take part.

    References
    ----------
    A. Benavoli, G. Corani, F. Mangili (2016), Should we really use post-hoc tests based on mean-ranks?, JMLR 17(5).
    """
    from scipy.stats import wilcoxon

    k = scores.shape[1]
    pairs = list(combinations(range(k), 2))
    raw = []
    for i, j in pairs:
        difference = scores[:, i] - scores[:, j]
        exact = not (difference == 0).any() and np.unique(np.abs(difference)).size == difference.size
        method: Literal["exact", "approx"] = "exact" if exact and difference.size <= 50 else "approx"
        raw.append(1.0 if not difference.any() else float(wilcoxon(difference, method=method).pvalue))
    out = np.ones((k, k))
    for (i, j), p in zip(pairs, holm(raw), strict=True):
        out[i, j] = out[j, i] = p
    return out


def critical_difference(k: int, n: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks: q sqrt(k (k + 1) / 6 N), q from the studentised range over sqrt(2).

    >>> round(critical_difference(7, 60), 2), round(critical_difference(11, 36), 2)
    (1.16, 2.52)
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def cliques(ranks: Floats, alike: Bools) -> list[tuple[int, ...]]:
    """The bars of a diagram: largest runs of methods, in the order of ranks, of which every two are alike.

    >>> alike = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    >>> cliques(np.array([1.0, 2.0, 3.0]), alike)
    [(0, 1), (1, 2)]
    """
    order = np.argsort(ranks, kind="stable")
    runs: list[tuple[int, ...]] = []
    end = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and alike[order[stop], order[start:stop]].all():
            stop += 1
        if stop > end and stop - start > 1:
            runs.append(tuple(int(index) for index in order[start:stop]))
        end = max(end, stop)
    return runs


def wins(scores: Floats) -> tuple[Floats, Floats]:
    """In how many settings the method of a row is better than that of a column, and in how many they are equal."""
    first, second = scores[:, :, None], scores[:, None, :]
    return (first > second).sum(axis=0).astype(float), (first == second).sum(axis=0).astype(float)
