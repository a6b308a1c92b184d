"""Intervals of what was picked from many: the gap between the extremes of groups, the worst of several figures.

The plain interval of a picked figure does not cover: the largest of many differences is above 0 even where all groups
are alike. These intervals hold for all candidates together, so they hold for the one that was picked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.evidence.intervals import (
    Figures,
    check_level,
    difference_interval,
    extremes,
    normal_quantile,
    quotient,
    ratio_interval,
    wilson,
)
from isonomia.evidence.score_intervals import (
    Asking,
    RatePairs,
    agreeing,
    answer,
    answered,
    odds_difference,
    score_odds_ratio,
    score_ratio,
)
from isonomia.typing import Floats

#: Of very many groups only those pair up that are among the first or last so many by rate or an end of its interval.
EXTREME = 20


def simultaneous_level(level: float, candidates: int) -> float:
    """The level of each of m intervals that all hold together at `level`: level^(1 / m).

    For the largest, worst or otherwise picked of m candidates, whether or not they are independent (Sidak's inequality
    for normal estimates): the interval of the picked one at this level covers at least at `level`.

    References
    ----------
    Z. Sidak (1967), J. Am. Stat. Assoc. 62:626.

    Examples
    --------
    >>> round(simultaneous_level(0.95, 80), 6)
    0.999359
    """
    return float(check_level(level) ** (1 / max(int(candidates), 1)))


@cache
def range_quantile(level: float, groups: int) -> float:
    """The quantile of the largest less the smallest of k standard normal values: Tukey's q with infinite degrees.

    The root of k int phi(x) (Phi(x) - Phi(x - q))^(k - 1) dx = level, by the trapezoidal rule, which is exact to
    rounding for such integrands, and Newton's steps.

    >>> round(range_quantile(0.95, 5), 4)
    3.8577
    """
    from scipy.special import ndtr, ndtri

    check_level(level)
    if groups < 2:
        raise ValueError("A range needs at least two groups.")
    x = np.linspace(-9.0, 18.0, 541)
    weight = groups * (x[1] - x[0]) * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    q = float(np.sqrt(2) * ndtri(0.5 + level ** (2 / (groups * (groups - 1))) / 2))  # above the root (Sidak)
    for _ in range(60):
        inside = ndtr(x) - ndtr(x - q)
        missing = float(weight @ inside ** (groups - 1)) - level
        slope = float(weight @ ((groups - 1) * inside ** (groups - 2) * np.exp(-((x - q) ** 2) / 2))) / np.sqrt(
            2 * np.pi
        )
        step = float(missing / slope)
        q -= step
        if abs(step) < 1e-12:
            break
    return q


def pair_level(level: float, groups: int) -> float:
    """The level of the intervals of all pairs of k groups that hold together at `level` (Tukey).

    Exact for estimates of equal variance, above the level for others (Kramer, Hayter).

    References
    ----------
    A. J. Hayter (1984), Ann. Stat. 12:61.

    Examples
    --------
    >>> round(pair_level(0.95, 2), 6), round(pair_level(0.95, 5), 4)
    (0.95, 0.9936)
    """
    from scipy.special import ndtr

    return level if groups <= 2 else float(2 * ndtr(range_quantile(level, groups) / np.sqrt(2)) - 1)


@dataclass(frozen=True, eq=False)
class Gaps:
    """How far apart the sets of each row are: largest less smallest, smallest over largest, with simultaneous ends."""

    difference: Floats
    difference_low: Floats
    difference_high: Floats
    ratio: Floats
    ratio_low: Floats
    ratio_high: Floats


def gaps_of_rates(rate: Floats, size: Floats, level: ArrayLike = 0.95) -> Gaps:
    """The gap between the extremes of G rates, in each of R rows, from the score intervals of all pairs.

    The pairs' intervals hold together at `level` (`pair_level`). The gap of the true rates is then at least the
    largest lower end, or 0, and at most the largest upper end; the true smallest over largest rate is at least the
    smallest lower end of a ratio and at most the smallest upper end, or 1. With two groups the ends are those of the
    plain difference. The observed gap itself is too large on average: of equal groups it is never 0.

    Parameters
    ----------
    rate, size : (..., G) arrays
        Rates and their (effective) numbers of rows; NaN rates are left out. Fewer than two leave NaN.
    level : float, or an array for the rows

    Examples
    --------
    >>> found = gaps_of_rates(np.array([0.4, 0.5, 0.3]), np.array([200.0, 200.0, 200.0]))
    >>> [round(float(part), 3) for part in (found.difference, found.difference_low, found.difference_high)]
    [0.2, 0.086, 0.309]
    >>> [round(float(part), 3) for part in (found.ratio, found.ratio_low, found.ratio_high)]
    [0.6, 0.441, 0.808]
    """
    found: Gaps = answered(asking_gaps(rate, size, level))[0]
    return found


def gaps_of_odds(share: Floats, size: Floats, level: ArrayLike = 0.95) -> Gaps:
    """The same for the odds p / (1 - p) of G shares: score intervals of their ratios, Newcombe's of their differences.

    >>> found = gaps_of_odds(np.array([0.5, 0.75]), np.array([80.0, 80.0]))
    >>> [round(float(part), 3) for part in (found.ratio, found.ratio_low, found.ratio_high)]
    [0.333, 0.171, 0.65]
    """

    value = np.asarray(share, dtype=float)
    asking = asking_gaps(value, size, level)
    a, na, b, nb, levels, _ = next(asking)
    difference, ratio = odds_difference(a / na, na, b / nb, nb, levels), score_odds_ratio(a, na, b, nb, levels)
    ends = *agreeing(difference, 0.0, a, na, b, nb, levels), *agreeing(ratio, 1.0, a, na, b, nb, levels)
    found = answer(asking, (*ends, np.full(levels.shape, np.nan)))
    with np.errstate(divide="ignore", invalid="ignore"):
        odds_gap, odds_ratio = extremes(value / (1 - value))
    return replace(found, difference=odds_gap, ratio=odds_ratio)


def ratios_to_best(hits: Floats, size: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """The ends of each rate's ratio to the best of G rates, whichever that truly is (comparison with the best).

    That ratio is the smallest of the rate's ratios to all of them, 1 to itself, so its ends are the smallest of their
    ends, at most 1. The intervals of all pairs hold together (`pair_level`), so all ends do, also those of the rates
    that came out highest and lowest.

    References
    ----------
    J. C. Hsu (1981), Ann. Stat. 9:1026, with score intervals of the ratios.

    Examples
    --------
    >>> low, high = ratios_to_best(np.array([40.0, 50.0, 20.0]), np.array([100.0, 100.0, 100.0]))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.55, 0.87, 0.23], [1.0, 1.0, 0.66])
    """
    count = len(hits)
    first, second = (index.ravel() for index in np.indices((count, count)))
    first, second = first[(apart := first != second)], second[apart]
    counts = hits[first], size[first], hits[second], size[second]
    each = pair_level(level, count)
    low, high = np.ones(count), np.ones(count)
    for ends, found in zip((low, high), agreeing(score_ratio(*counts, each), 1.0, *counts, each), strict=True):
        np.minimum.at(ends, first, found)
    return low, high


def asking_gaps(rate: Floats, size: Floats, level: ArrayLike = 0.95) -> Asking[Gaps]:
    """`gaps_of_rates` as work that asks for the intervals of its pairs (see `score_intervals.answered`)."""
    shape, groups = np.shape(rate)[:-1], np.shape(rate)[-1]
    value = np.asarray(rate, dtype=float).reshape(-1, groups)
    n = np.broadcast_to(np.asarray(size, dtype=float), np.shape(rate)).reshape(-1, groups)
    difference, ratio = extremes(value)
    row, first, second, levels = _pairs(value, n, np.broadcast_to(np.asarray(level, dtype=float), shape).ravel())
    counts = value[row, first] * n[row, first], n[row, first], value[row, second] * n[row, second], n[row, second]
    low, high, ratio_low, ratio_high, _ = yield RatePairs(*counts, levels, np.zeros(levels.shape, dtype=bool))
    ends = _farthest(len(value), row, low, high)
    ratios = _smallest(len(value), row, ratio_low, ratio_high)
    absent, no_ratio = np.isnan(difference), np.isnan(ratio)
    parts = (
        difference,
        *(np.where(absent, np.nan, end) for end in ends),
        ratio,
        *(np.where(no_ratio, np.nan, end) for end in ratios),
    )
    return Gaps(*(part.reshape(shape) for part in parts))


def gaps_of_figures(figures: Figures, level: float = 0.95) -> Gaps:
    """The same for one row of G figures with ends at any level, replicates or standard errors.

    Figures with ends have the intervals of all pairs at `pair_level`. Of others the plain interval of each pair's
    difference (on the scale of the logarithm for ratios) is stretched about its value by q / (sqrt(2) z), q the range's
    quantile: an interval at the simultaneous level that keeps its skewness.

    Examples
    --------
    >>> found = gaps_of_figures(Figures(np.array([1.0, 2.0]), error=np.array([0.1, 0.1])))
    >>> round(float(found.difference_low), 3), round(float(found.difference_high), 3)
    (0.723, 1.277)
    """
    known = np.flatnonzero(~np.isnan(figures.value))
    difference, ratio = extremes(figures.value)
    if known.size < 2:
        nothing = np.asarray(np.nan)
        return Gaps(*(nothing,) * 6)
    first, second = (known[index] for index in np.triu_indices(known.size, 1))
    one, other = figures.take(first), figures.take(second)
    factor, plain = 1.0, pair_level(level, known.size)
    if figures.ends is None:
        factor, plain = range_quantile(level, known.size) / np.sqrt(2) / normal_quantile(level), level
    row = np.zeros(len(first), dtype=np.intp)
    ends = stretched(one.value - other.value, *difference_interval(one, other, plain), factor)
    low, high = _farthest(1, row, *ends)
    ratios = stretched_ratio(quotient(one.value, other.value), *ratio_interval(one, other, plain), factor)
    ratio_low, ratio_high = _smallest(1, row, *ratios)
    return Gaps(difference, low[0], high[0], ratio, ratio_low[0], ratio_high[0])


def stretched(value: Floats, low: Floats, high: Floats, factor: Floats | float) -> tuple[Floats, Floats]:
    """An interval at another level: its ends this many times as far from the value, which keeps its skewness.

    >>> stretched(np.array([1.0]), np.array([0.5]), np.array([2.0]), 2.0)
    (array([0.]), array([3.]))
    """
    return value - factor * (value - low), value + factor * (high - value)


def stretched_ratio(value: Floats, low: Floats, high: Floats, factor: Floats | float) -> tuple[Floats, Floats]:
    """The same for a ratio, on the scale of the logarithm.

    >>> [end.tolist() for end in stretched_ratio(np.array([1.0]), np.array([0.5]), np.array([2.0]), 2.0)]
    [[0.25], [4.0]]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bottom, top = stretched(np.log(value), np.log(low), np.log(high), factor)
        return np.exp(bottom), np.exp(top)


def _pairs(
    value: Floats, n: Floats, level: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Floats]:
    """All pairs of sets with a value: their rows, both sets, and the level of each."""
    known = ~np.isnan(value) & (n > 0)
    groups = known.sum(axis=1)
    row, first, second, levels = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)], []
    for count, each in sorted(set(zip(groups.tolist(), level.tolist(), strict=True))):
        if count < 2:
            continue
        rows = np.flatnonzero((groups == count) & (level == each))
        sets = np.nonzero(known[rows])[1].reshape(len(rows), count)
        if count > 6 * EXTREME:
            sets = _extreme(value, n, rows, sets)
        one, other = _couples(sets.shape[1])
        row.append(np.repeat(rows, one.size))
        first.append(sets[:, one].ravel())
        second.append(sets[:, other].ravel())
        levels.append(np.full(row[-1].size, pair_level(each, count)))
    return (*(np.concatenate(part) for part in (row, first, second)), np.concatenate([np.zeros(0), *levels]))  # type: ignore[return-value]


@cache
def _couples(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Both members of every pair of so many."""
    first, second = np.triu_indices(count, 1)
    return first, second


def _extreme(value: Floats, n: Floats, rows: NDArray[np.intp], sets: NDArray[np.intp]) -> NDArray[np.intp]:
    """The sets that are first or last by rate or by an end of its interval; the same number in each row."""
    rate, size = value[rows[:, None], sets], n[rows[:, None], sets]
    keys = [rate, *wilson(rate * size, size)]
    ranks = np.stack([np.argsort(np.argsort(key, axis=1, kind="stable"), axis=1) for key in keys])
    near = np.minimum(ranks, sets.shape[1] - 1 - ranks).min(axis=0)
    chosen = np.sort(np.argsort(near, axis=1, kind="stable")[:, : 6 * EXTREME], axis=1)
    return np.take_along_axis(sets, chosen, axis=1)


def _farthest(rows: int, row: NDArray[np.intp], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Of each row the largest lower end, at least 0, and the largest upper end, each pair taken in both directions."""
    bottom, top = np.zeros(rows), np.full(rows, -np.inf)
    with np.errstate(invalid="ignore"):
        np.maximum.at(bottom, row, np.maximum(low, -high))
        np.maximum.at(top, row, np.maximum(high, -low))
    return bottom, top


def _smallest(rows: int, row: NDArray[np.intp], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Of each row the smallest lower end and the smallest upper end, at most 1, each pair in both directions."""
    bottom, top = np.full(rows, np.inf), np.ones(rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.minimum.at(bottom, row, np.minimum(low, 1 / high))
        np.minimum.at(top, row, np.minimum(high, 1 / low))
    return bottom, top
