"""Adaptive concentration: bounds on a mean that hold for all sample sizes at once, and verdicts that follow.

With probability at least 1 - delta, for all n together, a mean of n values in [0, 1] is within
eps = sqrt((3/5 ln(log_1.1(n) + 1) + 5/9 ln(24 / delta)) / n) of its expectation. So one may look after every sample and
stop as soon as the answer is clear, without spending error probability on looking.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

Answer = Literal["fair", "unfair", "not decided"]


class Verdict(NamedTuple):
    """An answer, the ratio with the interval it follows from, and samples (of each group) it took."""

    answer: Answer
    ratio: float | None
    low: float | None
    high: float | None
    n: int


def deviation(delta: float, n: Any) -> Any:
    """How far a mean of n values in [0, 1] may be from its expectation, for all n at once.

    References
    ----------
    O. Bastani, X. Zhang, A. Solar-Lezama (2019), Probabilistic verification of fairness properties via concentration,
    OOPSLA; S. Zhao et al. (2016), Adaptive concentration inequalities for sequential decision problems, NeurIPS.

    Examples
    --------
    >>> [round(float(deviation(0.5e-10, n)), 4) for n in (1e3, 1e4, 1e5)]
    [0.1324, 0.0421, 0.0134]
    """
    size = np.asarray(n, dtype=float)
    return np.sqrt((0.6 * np.log(np.log(size) / np.log(1.1) + 1) + 5 / 9 * np.log(24 / delta)) / size)


def certainty(e: float, n: int) -> float:
    """The delta at which `deviation` is e: the error probability of a conclusion that needs means within e."""
    if e <= 0:
        return 1.0
    power = 1.8 * (n * e * e - 0.6 * np.log(np.log(n) / np.log(1.1) + 1))
    return float(min(1.0, 24 * np.exp(-max(power, 0.0))))


def ratio_error(a: Any, b: Any, e: Any) -> Any:
    """How far a ratio of two means a / b may be off when each is off by at most e; infinite unless b > e."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = e / b + e * (e + a) / (b * (b - e))
    return np.where(np.asarray(b) > e, error, np.inf)


def decide_ratio(a: Floats, b: Floats, n: NDArray[np.int64], c: float, delta: float) -> Verdict:
    """Whether the smaller of two rates is at least 1 - c times the larger one, at the first n where it is clear.

    Parameters
    ----------
    a, b : arrays
        Means of the first n values of each group.
    n : array
        The sample sizes looked at.
    delta : float
        The error probability of each mean.
    """
    e = deviation(delta, n)
    limit = 1 - c
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = a / b, b / a
    err_one, err_other = ratio_error(a, b, e), ratio_error(b, a, e)
    with np.errstate(invalid="ignore"):
        unfair = (one + err_one < limit) | (other + err_other < limit)
        fair = (one - err_one > limit) & (other - err_other > limit)
    clear = np.flatnonzero(unfair | fair)
    at = int(clear[0]) if clear.size else len(n) - 1
    answer: Answer = "not decided" if not clear.size else "unfair" if unfair[at] else "fair"
    first = a[at] <= b[at]
    ratio, error = (one[at], err_one[at]) if first else (other[at], err_other[at])
    if not np.isfinite(ratio):
        return Verdict(answer=answer, ratio=None, low=None, high=None, n=int(n[at]))
    bounded = bool(np.isfinite(error))
    low = max(0.0, float(ratio - error)) if bounded else 0.0
    return Verdict(
        answer=answer, ratio=float(ratio), low=low, high=float(ratio + error) if bounded else None, n=int(n[at])
    )


#: More samples than this are not worth stating: the two rates are as good as at the limit.
MOST_NEEDED = 10**12


def samples_needed(decide: Callable[[Floats, NDArray[np.int64]], Verdict]) -> int | None:
    """The sample size at which a verdict would be clear if the rates stayed as they are; None beyond `MOST_NEEDED`.

    Parameters
    ----------
    decide : callable
        The verdict for a number of sample sizes: an array of ones (what rates are multiplied by), and the sizes.

    Examples
    --------
    >>> samples_needed(lambda ones, n: decide_ratio(0.15 * ones, 0.5 * ones, n, 0.15, 0.5e-10))
    793
    """
    sizes = np.unique(np.geomspace(2, MOST_NEEDED, 400).astype(np.int64))
    for _ in range(8):  # the first clear size lies between two of them: look closer there
        verdict = decide(np.ones(len(sizes)), sizes)
        if verdict.answer == "not decided":
            return None
        at = int(np.searchsorted(sizes, verdict.n))
        if at == 0 or sizes[at] - sizes[at - 1] <= 1:
            break
        sizes = np.unique(np.linspace(sizes[at - 1], sizes[at], 400).astype(np.int64))
    return int(verdict.n)


def decide_share(share: Floats, n: NDArray[np.int64], c: float, delta: float) -> Verdict:
    """Whether a share (of decisions that stay the same) is at least 1 - c, at the first n where it is clear."""
    e = deviation(delta, n)
    fair, unfair = share - e > 1 - c, share + e < 1 - c
    clear = np.flatnonzero(fair | unfair)
    at = int(clear[0]) if clear.size else len(n) - 1
    answer: Answer = "not decided" if not clear.size else "fair" if fair[at] else "unfair"
    value = float(share[at])
    return Verdict(
        answer=answer,
        ratio=value,
        low=max(0.0, value - float(e[at])),
        high=min(1.0, value + float(e[at])),
        n=int(n[at]),
    )
