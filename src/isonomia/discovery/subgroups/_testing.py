"""The best of many subgroups, averages with their intervals, and tests of a subgroup against the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.subgroups.explained import shift_of_odds, tilted
from isonomia.discovery.subgroups.mass import Mass
from isonomia.discovery.subgroups.rates import Quantity
from isonomia.evidence import Estimate, wilson
from isonomia.evidence.intervals import normal_interval
from isonomia.languages import msg
from isonomia.typing import Bools, Floats

#: Sums of at most this many chances are counted out.
_FEW = 50


def best_indices(score: Floats, size: Floats, k: int) -> list[int]:
    """Where the k highest scores above 0 stand; equal ones (to 12 digits) in the order of size, then of index.

    >>> best_indices(np.array([0.5, 0.7, 0.5, -1.0]), np.array([10.0, 5.0, 20.0, 40.0]), 2)
    [1, 2]
    """
    if not score.size:
        return []
    kth = np.partition(score, max(score.size - k, 0))[max(score.size - k, 0)]
    few = np.flatnonzero((score > 0) & (score >= kth - abs(kth) * 1e-12))
    order = np.lexsort((few, -size[few], -np.round(score[few], 12)))
    return [int(index) for index in few[order][:k]]


def average(values: Floats, mass: Mass, *, binary: bool, level: float = 0.95) -> Estimate:
    """The (weighted) average: a rate with Wilson's interval, or a mean with a normal one.

    >>> average(np.array([0.0, 1.0, 1.0, 1.0]), Mass(4), binary=True)
    0.75 [0.2486, 0.9873] (n=4)
    """
    n = mass.n
    if mass.total <= 0:
        return Estimate.missing(msg("no rows"), n=n)
    mean, effective = mass.mean(values), mass.effective
    if binary:
        low, high = wilson(mean * effective, effective, level)
        return Estimate(mean, float(low), float(high), n, "wilson", level=level)
    if n < 2:
        return Estimate(mean, n=n, note="one row has no spread")
    low, high = normal_interval(mean, np.sqrt(mass.variance(values) / max(effective - 1, 1)), level)
    return Estimate(mean, float(low), float(high), n, "normal", level=level)


def compared_with(examined: Quantity, inside: Bools, mass: Mass) -> float | None:
    """What a subgroup's average is compared with: the expected one of its rows, else the average of everyone."""
    if examined.expected is None:
        return average(examined.values, mass, binary=examined.binary).value
    return average(examined.expected[inside], mass.take(inside), binary=False).value


def upper_tail(examined: Quantity, inside: Bools, mass: Mass) -> float | None:
    """The p-value that a subgroup's average is not above the rest's, or not above the expected one.

    For rates without weights Fisher's exact one-sided test; against expected chances the tail of the sum of events with
    these chances. Otherwise Welch's t, on what the values have beyond the expected ones.
    """
    own = mass.take(inside)
    if own.n in (0, mass.n):
        return None
    if examined.binary and mass.weights is None:
        hits = round(own.sum(examined.values[inside]))
        if examined.expected is not None:
            return tail_of_chances(hits, examined.expected[inside], own.counts)
        return hypergeometric_tail(hits, own.n, round(mass.sum(examined.values)), mass.n)
    return _welch_upper(examined.excess(), inside, mass)


def beyond_parent(examined: Quantity, inside: Bools, parent: Bools, mass: Mass) -> float:
    """The p-value that a condition adds nothing: that a subgroup is not worse than the rest of a larger one.

    Against expected chances a score test: where the condition adds nothing, every row of the parent has its expected
    chance plus one shift, the parent's, and these chances give the variance. 1 where one of the two has fewer than two
    rows.
    """
    if mass.take(inside).n < 2 or mass.take(parent & ~inside).n < 2:
        return 1.0
    rows = np.flatnonzero(parent)
    around = mass.take(rows)
    if examined.binary and examined.expected is not None and mass.weights is None:
        return _score_upper(examined.values[rows], examined.expected[rows], inside[rows], around)
    plain = examined.expected is None
    part = replace(
        examined, values=examined.excess()[rows], defined=None, binary=examined.binary and plain, expected=None
    )
    p = upper_tail(part, inside[rows], around)
    return 1.0 if p is None else p


def _score_upper(values: Floats, expected: Floats, inside: Bools, mass: Mass) -> float:
    """The p-value that the rows inside have no more beyond their expected chances than the others; t for few rows."""
    excess = values - expected
    chance = np.clip(expected + mass.mean(excess), 0.0, 1.0)
    variance = chance * (1 - chance)
    parts = []
    for side in (inside, ~inside):
        own = mass.take(side)
        parts.append((own.mean(excess[side]), own.mean(variance[side]), own.n))
    return float(welch_upper(*(np.array([float(number)]) for part in parts for number in part))[0])


def tail_of_chances(hits: int, chances: Floats, counts: NDArray[np.int64] | None = None) -> float:
    """The chance of at least `hits` events where each row has a chance of its own (Poisson's binomial).

    `counts` says how many rows have each of the chances.

    Few rows are summed exactly; more by the saddlepoint of the sum with H. E. Daniels' (1987) correction for whole
    numbers, right to 1% of the p-value. One binomial with the average chance has a larger variance and heavier tails.

    >>> tail_of_chances(3, np.full(4, 0.5)), round(tail_of_chances(2, np.array([0.9, 0.1, 0.1])), 3)
    (0.3125, 0.172)
    """
    n = np.ones(chances.size) if counts is None else counts.astype(float)
    certain, open_ones = chances >= 1, (chances > 0) & (chances < 1)
    p, n, k = chances[open_ones], n[open_ones], hits - int(n[certain].sum())
    size = int(n.sum())
    if k <= 0:
        return 1.0
    if k > size:
        return 0.0
    if k == size:
        return float(np.exp(np.log(p) @ n))
    if size <= _FEW:
        return _tail_by_convolution(k, np.repeat(p, n.astype(np.int64)))
    odds = p / (1 - p)
    s = shift_of_odds(odds, k - 0.5, n)
    chance = tilted(odds, s)
    variance = float((chance * (1 - chance)) @ n)
    if abs(s) < 1e-4:  # the limit at the mean
        third = float((chance * (1 - chance) * (1 - 2 * chance)) @ n)
        return float(0.5 - third / (6 * np.sqrt(2 * np.pi) * variance**1.5))
    cumulant = float((np.log1p(odds * np.exp(s)) + np.log1p(-p)) @ n)
    w = np.sign(s) * np.sqrt(2 * max(s * (k - 0.5) - cumulant, 0.0))
    u = 2 * np.sinh(s / 2) * np.sqrt(variance)
    from scipy.special import ndtr

    tail = float(ndtr(-w)) + float(np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)) * (1 / u - 1 / w)
    return float(min(max(tail, 0.0), 1.0))


def _tail_by_convolution(k: int, p: Floats) -> float:
    """The same by adding one row after the other."""
    counts = np.array([1.0])
    for chance in p.tolist():
        counts = np.convolve(counts, [1 - chance, chance])
    return float(min(counts[k:].sum(), 1.0))


def hypergeometric_tail(hits: int, size: int, total_hits: int, n: int) -> float:
    """The chance of at least `hits` among `size` rows drawn from `n`, of which `total_hits` are hits.

    Fisher's exact one-sided test. Summed from log gammas: scipy's distribution costs a second to import.

    >>> round(hypergeometric_tail(3, 4, 5, 10), 6)
    0.261905
    """
    from scipy.special import gammaln

    largest = min(size, total_hits)
    if hits <= max(0, size + total_hits - n):
        return 1.0
    k = np.arange(hits, largest + 1, dtype=float)
    misses = n - total_hits

    def choose(a: float, b: Floats) -> Floats:
        return np.asarray(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1), dtype=float)

    logs = choose(total_hits, k) + choose(misses, size - k) - choose(n, np.array([float(size)]))
    if not logs.size:
        return 0.0
    top = float(logs.max())
    return min(1.0, float(np.exp(top) * np.exp(logs - top).sum()))


def _welch_upper(values: Floats, inside: Bools, mass: Mass) -> float | None:
    parts = []
    for chosen in (inside, ~inside):
        mine, own = values[chosen], mass.take(chosen)
        if own.total <= 0 or own.n < 2:
            return None
        spare = max(own.effective - 1, 1e-9)
        parts.append((own.mean(mine), own.variance(mine) * own.effective / spare, own.effective))
    p = welch_upper(*(np.array([number]) for part in parts for number in part))
    return float(p[0])


def welch_upper(mean1: Floats, var1: Floats, n1: Floats, mean2: Floats, var2: Floats, n2: Floats) -> Floats:
    """One-sided p-values of Welch's t-test that mean 1 is not above mean 2, from means, variances (n - 1) and sizes.

    Where both variances are 0 the p-value is 0 if mean 1 is larger, else 1.
    """
    from scipy.special import stdtr

    v1, v2 = var1 / n1, var2 / n2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (mean1 - mean2) / np.sqrt(v1 + v2)
        df = (v1 + v2) ** 2 / (v1**2 / (n1 - 1) + v2**2 / (n2 - 1))
        p = stdtr(df, -t)
    return np.where(v1 + v2 > 0, p, np.where(mean1 > mean2, 0.0, 1.0))
