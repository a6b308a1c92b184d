"""Score intervals of two independent rates: their difference, their ratio, the ratio of their odds.

An interval holds the values that a score test does not reject: the statistic compares the observed rates with those
that are most likely under the tested value (Miettinen and Nurminen). It exists for every table, cells of zero included,
needs no replicates and no seed, and covers at its level also where a bootstrap or a Wald interval shrinks to nothing.

Where the likelihood is largest under a constraint, its gradient is x times that of the constraint. Both constrained
rates are simple functions of this multiplier x, and so is the statistic, x^2 times a variance, which grows with x: each
end is the root of one equation, solved for whole arrays in two or three of Newton's steps. Upper ends are lower ends
with the groups exchanged.

All functions take numbers of successes k1, k2 and of rows n1, n2, of any shapes that fit together, and a level or an
array of levels. For weighted data give effective numbers: n = (sum w)^2 / sum w^2 and k = rate * n. An empty group
leaves NaN.

References
----------
O. Miettinen, M. Nurminen (1985), Stat. Med. 4:213; R. G. Newcombe (1998), Stat. Med. 17:873.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from isonomia.evidence.intervals import normal_quantiles
from isonomia.evidence.mean_intervals import mover_difference, score_ends
from isonomia.evidence.significance import two_proportions
from isonomia.typing import Bools, Floats

#: From a statistic so close to its target one more step is taken: Newton's steps square the error.
CLOSE = 1e-5
#: A rate closer to 1 than this is 1: effective numbers carry rounding.
SAME = 1e-10
#: Usually 2 or 3 are needed; where Newton's steps do not settle, each halves the bracket.
MAX_STEPS = 100

T = TypeVar("T")

#: A growing function of the multiplier, and its slope when both are on the scale of the logarithm.
Statistic = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class _Tables:
    """Successes a of m rows and b of n rows: the groups as they are given, and exchanged, along a first axis of two.

    `target` is what the squared statistic is at the ends: z^2 N / (N - 1) with N = m + n.
    """

    a: Floats
    m: Floats
    b: Floats
    n: Floats
    target: Floats

    @classmethod
    def of(cls, k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike) -> _Tables:
        parts = np.broadcast_arrays(
            *(np.asarray(part, dtype=float) for part in (k1, n1, k2, n2, normal_quantiles(level)))
        )
        a, m, b, n = np.empty((4, 2, *parts[0].shape))
        for given, there, exchanged in ((parts[0], a, b), (parts[1], m, n), (parts[2], b, a), (parts[3], n, m)):
            there[0] = exchanged[1] = given
        for successes, rows in ((a, m), (b, n)):
            np.copyto(successes, rows, where=rows - successes < SAME * rows)
        empty = (m <= 0) | (n <= 0)
        if empty.any():
            m, n = np.where(empty, np.nan, m), np.where(empty, np.nan, n)
        total = m[0] + n[0]
        return cls(a=a, m=m, b=b, n=n, target=parts[4] ** 2 * total / (total - 1))

    @cached_property
    def start(self) -> tuple[Floats, Floats]:
        """Wilson's lower end of the first rate and upper end of the second: close to the constrained rates."""
        z = np.sqrt(self.target)
        return score_ends(self.a, self.m, z)[0], score_ends(self.b, self.n, z)[1]


def score_difference(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """The score interval of the difference k1 / n1 - k2 / n2 of two rates.

    The ends are the d with (k1 / n1 - k2 / n2 - d)^2 = z^2 V(d), where V(d) = (p1 (1 - p1) / n1 + p2 (1 - p2) / n2)
    N / (N - 1), N = n1 + n2, at the most likely rates with p1 - p2 = d. With (k1 - n1 p1) / (p1 (1 - p1)) = x =
    -(k2 - n2 p2) / (p2 (1 - p2)) each rate is the root of a quadratic, and the left side is (x V)^2. The interval
    leaves out 0 exactly where the score test of equal rates has a p-value below 1 - level.

    Examples
    --------
    >>> low, high = score_difference([56, 0, 9], [70, 20, 10], [48, 0, 3], [80, 30, 10])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0528, -0.1156, 0.17], [0.3382, 0.1639, 0.8406])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _difference(_Tables.of(k1, n1, k2, n2, level))


def score_ratio(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """The score interval of the ratio (k1 / n1) / (k2 / n2) of two rates, from 0 to infinity.

    The ends are the r with (k1 / n1 - r k2 / n2)^2 = z^2 (p1 (1 - p1) / n1 + r^2 p2 (1 - p2) / n2) N / (N - 1), at the
    most likely rates with p1 = r p2: p1 = (k1 - x) / (n1 - x) and p2 = (k2 + x) / (n2 + x), so that
    x^2 ((1 - p1) / (p1 n1) + (1 - p2) / (p2 n2)) = z^2 N / (N - 1). Without successes in the second group there is no
    upper end (infinity), without any the data say nothing: 0 to infinity. It leaves out 1 exactly where
    `score_difference` leaves out 0.

    Examples
    --------
    >>> low, high = score_ratio([56, 0, 3], [70, 20, 30], [48, 2, 0], [80, 30, 30])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.079, 0.0, 0.812], [1.672, 2.755, inf])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _ratio(_Tables.of(k1, n1, k2, n2, level))


def score_odds_ratio(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """The score interval of the ratio of odds k1 / (n1 - k1) / (k2 / (n2 - k2)), from 0 to infinity.

    The ends are the r with x^2 (1 / (n1 p1 (1 - p1)) + 1 / (n2 p2 (1 - p2))) = z^2 N / (N - 1), at the most likely
    rates with odds in the proportion r: p1 = (k1 - x) / n1 and p2 = (k2 + x) / n2.

    Examples
    --------
    >>> low, high = score_odds_ratio([56, 0], [70, 20], [48, 5], [80, 30])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.282, 0.0], [5.54, 1.064])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _odds_ratio(_Tables.of(k1, n1, k2, n2, level))


def odds_difference(
    p1: ArrayLike, n1: ArrayLike, p2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """Newcombe's interval of the difference of the odds p / (1 - p) of two shares, from Wilson's ends of each.

    >>> low, high = odds_difference(0.5, 80, 0.75, 80)
    >>> round(float(low), 3), round(float(high), 3)
    (-3.982, -0.699)
    """
    parts = (np.asarray(part, dtype=float) for part in (p1, n1, p2, n2, normal_quantiles(level)))
    one, na, other, nb, z = np.broadcast_arrays(*parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        (a, a_low, a_high), (b, b_low, b_high) = (
            tuple(part / (1 - part) for part in (p, *score_ends(p * n, n, z))) for p, n in ((one, na), (other, nb))
        )
        return mover_difference((a, a_low, a_high), (b, b_low, b_high))


def agreeing(
    ends: tuple[Floats, Floats],
    same: float,
    k1: ArrayLike,
    n1: ArrayLike,
    k2: ArrayLike,
    n2: ArrayLike,
    level: ArrayLike = 0.95,
) -> tuple[Floats, Floats]:
    """Score ends of a difference or a ratio, extended to `same` (0 or 1) where `two_proportions` does not reject.

    Of small cells that test is more careful than the score interval, since it asks Fisher's test too. Tables, gaps and
    verdicts take these ends: none claims a difference that its test does not confirm.

    >>> table = (6, 7, 2, 7)
    >>> [[round(float(end), 3) for end in ends] for ends in (
    ...     score_difference(*table), agreeing(score_difference(*table), 0.0, *table))]
    [[0.034, 0.853], [0.0, 0.853]]
    """
    *counts, levels, low, high = np.broadcast_arrays(
        *(np.asarray(part, dtype=float) for part in (k1, n1, k2, n2, level, *ends))
    )
    outside = (low > same) | (high < same)
    if not outside.any():
        return ends
    equal = np.zeros(low.shape, dtype=bool)
    equal[outside] = two_proportions(*(count[outside] for count in counts)) >= 1 - levels[outside]
    return np.where(equal, np.minimum(low, same), low), np.where(equal, np.maximum(high, same), high)


def agreeing_ends(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats, Floats, Floats]:
    """Both ends of `score_difference`, then both of `score_ratio`, `agreeing` with the test, which decides about both.

    >>> [round(float(end), 3) for end in agreeing_ends(6, 7, 2, 7)]
    [0.0, 0.853, 1.0, 11.148]
    """
    a, na, b, nb, levels = np.broadcast_arrays(*(np.asarray(part, dtype=float) for part in (k1, n1, k2, n2, level)))
    ends, _ = _tested_ends(RatePairs(a, na, b, nb, levels, np.zeros(levels.shape, dtype=bool)))
    return ends[0], ends[1], ends[2], ends[3]


class RatePairs(NamedTuple):
    """Pairs of rates whose intervals are wanted, as `agreeing_ends` takes them: arrays of one shape.

    `tested` says whose p-values are wanted too.
    """

    k1: Floats
    n1: Floats
    k2: Floats
    n2: Floats
    level: Floats
    tested: Bools


#: Work that asks once for score intervals: it yields pairs of rates, is sent their four ends and p-values (NaN where
#: neither the ends nor the work need one), and returns its result.
Asking = Generator[RatePairs, tuple[Floats, ...], T]


def answered(*work: Asking[Any]) -> list[Any]:
    """The results of several pieces of work; all their intervals are solved in one call, which costs little more.

    >>> def width(k, n):
    ...     none = np.zeros(1)
    ...     low, high, *_ = yield RatePairs(none + k, none + n, none + 5, none + 20, none + 0.95, none > 0)
    ...     return round(float(high[0] - low[0]), 3)
    >>> answered(width(5, 20), width(50, 200))
    [0.544, 0.382]
    """
    requests = [next(one) for one in work]
    ends, p = _tested_ends(RatePairs(*(np.concatenate(column) for column in zip(*requests, strict=True))))
    results, start = [], 0
    for one, pairs in zip(work, requests, strict=True):
        own = slice(start, start + len(pairs.k1))
        results.append(answer(one, (*ends[:, own], p[own])))
        start = own.stop
    return results


def _tested_ends(pairs: RatePairs) -> tuple[Floats, Floats]:
    """Four ends (4, ...) that agree with the test, and the p-values where they matter to an end or are asked for."""
    counts, levels = pairs[:4], pairs.level
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tables = _Tables.of(*pairs[:5])
        ends = np.stack([*_difference(tables), *_ratio(tables)])
    outside = (ends[0] > 0) | (ends[1] < 0)
    wanted, p = outside | pairs.tested, np.full(outside.shape, np.nan)
    if wanted.any():
        p[wanted] = two_proportions(*(count[wanted] for count in counts))
    equal = outside & (p >= 1 - levels)
    if equal.any():
        same = np.reshape([0.0, 0.0, 1.0, 1.0], (4, *(1,) * equal.ndim))
        ends[::2] = np.where(equal, np.minimum(ends[::2], same[::2]), ends[::2])
        ends[1::2] = np.where(equal, np.maximum(ends[1::2], same[1::2]), ends[1::2])
    return ends, p


def answer(work: Asking[T], ends: Iterable[Floats]) -> T:
    """The result of work that has asked, sent these ends and p-values."""
    try:
        work.send(tuple(ends))
    except StopIteration as finished:
        result: T = finished.value
        return result
    raise RuntimeError("Work asks for intervals once.")


def _difference(tables: _Tables) -> tuple[Floats, Floats]:
    a, m, b, n = tables.a, tables.m, tables.b, tables.n
    failures = n - b
    missed, hit, twice, thrice = 4 * (m - a), 4 * b, 2 * a, 2 * failures

    def rates(x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The first rate, one less the second (at most 1, also rounded), and the roots in their quadratics."""
        root, other = np.sqrt((m - x) ** 2 + x * missed), np.sqrt((n - x) ** 2 + x * hit)
        return np.minimum(twice / (m + x + root), 1.0), np.minimum(thrice / (n + x + other), 1.0), root, other

    def statistic(x: Floats) -> tuple[Floats, Floats]:
        p, q, root, other = rates(x)
        one, two = p * (1 - p) / m, q * (1 - q) / n
        variance = one + two
        return x * x * variance, 2 + x * ((2 * p - 1) * one / root + (2 * q - 1) * two / other) / variance

    p, second = tables.start
    start = np.sqrt(tables.target / (p * (1 - p) / m + second * (1 - second) / n))
    span = np.where((a > 0) | (failures > 0), np.inf, 0.0)  # rates of 0 and 1 cannot be farther apart
    p, q, _, _ = rates(_solve(statistic, start, span, tables.target))
    low, high = p + q - 1
    return low, -high


def _ratio(tables: _Tables) -> tuple[Floats, Floats]:
    a, m, b, n, target = tables.a, tables.m, tables.b, tables.n, tables.target
    missed, others = (m - a) / m, (n - b) / n

    def statistic(x: Floats) -> tuple[Floats, Floats]:
        left, grown = a - x, b + x
        one, two = missed / left, others / grown
        variance = one + two
        return x * x * variance, 2 + x * (one / left - two / grown) / variance

    p, q = tables.start
    start = np.sqrt(target / ((1 - p) / (p * m) + (1 - q) / (q * n)))
    # a first rate of 1 stays there until x is n1, and falls from then on while x stays
    certain = missed == 0
    x = _solve(statistic, start, np.where(certain, np.where(others > 0, np.inf, 0.0), a), target)
    x = np.minimum(x, a)
    p = np.where(certain, m / (m + np.maximum(target - x * x * others / (b + x), 0.0)), (a - x) / (m - x))
    low, high = np.where(a == 0, 0 * m, p * (n + x) / (b + x))
    return low, 1 / high


def _odds_ratio(tables: _Tables) -> tuple[Floats, Floats]:
    a, m, b, n = tables.a, tables.m, tables.b, tables.n

    def statistic(x: Floats) -> tuple[Floats, Floats]:
        one, two, three, four = a - x, m - a + x, b + x, n - b - x
        first, second = m / (one * two), n / (three * four)
        information = first + second
        return x * x * information, 2 + x * (
            first * (1 / one - 1 / two) - second * (1 / three - 1 / four)
        ) / information

    p, q = tables.start
    start = np.sqrt(tables.target / (1 / (m * p * (1 - p)) + 1 / (n * q * (1 - q))))
    span = np.minimum(a, n - b)
    x = _solve(statistic, start, span, tables.target)
    low, high = np.where(span == 0, 0 * m, (a - x) * (n - b - x) / ((m - a + x) * (b + x)))
    return low, 1 / high


def _solve(statistic: Statistic, start: Floats, span: Floats, target: Floats) -> Floats:
    """Where between 0 and `span` a statistic that grows from 0 reaches the target; 0 where the span is 0.

    Newton's steps on the scale of the logarithm, on which such functions are nearly straight lines. Where they leave
    the bracket, or do not shrink, the bracket is halved.
    """
    low, high = np.zeros(span.shape), span
    x = np.where(start < span, start, span / 2)
    found, last = ~(span > 0) | np.isnan(target), np.full(span.shape, np.inf)
    for _ in range(MAX_STEPS):
        value, slope = statistic(x)
        missing = np.log(target / value)
        step, close = missing / slope, np.abs(missing) < CLOSE
        new = x * np.exp(step)
        if (found | close).all():
            x = np.where(found, x, new)
            break
        low, high, size = np.where(missing > 0, x, low), np.where(missing > 0, high, x), np.abs(step)
        astray = ~close & (low > 0) & ~((new > low) & (new < high) & (2 * size < last))
        if astray.any():
            new = np.where(astray, np.where(np.isinf(high), 2 * x, np.sqrt(low * high)), new)
            size = np.where(astray, np.inf, size)
        x, last = np.where(found, x, new), size
        found |= close
    return np.where(span > 0, x, 0.0)
