"""Score intervals of two independent rates: their difference, their ratio, the ratio of their odds.

An interval holds the values that a score test does not reject: the statistic compares the observed rates with those
that are most likely under the tested value (Miettinen and Nurminen). It exists for every table, cells of zero included,
needs no replicates and no seed, and covers at its level also where a bootstrap or a Wald interval shrinks to nothing.
The constrained rates have closed forms, so whole arrays are solved together in a few secant steps.

All functions take numbers of successes k1, k2 and of rows n1, n2, of any shapes that fit together, and a level or an
array of levels. For weighted data give effective numbers: n = (sum w)^2 / sum w^2 and k = rate * n. An empty group
leaves NaN.

References
----------
O. Miettinen, M. Nurminen (1985), Stat. Med. 4:213; R. G. Newcombe (1998), Stat. Med. 17:873.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.evidence.intervals import normal_quantiles
from isonomia.evidence.mean_intervals import mover_difference, mover_ratio, score_ends
from isonomia.evidence.significance import two_proportions
from isonomia.typing import Floats

#: The statistic is z to within this share before a last step, which makes an end exact to about 1e-6 of the width.
TOLERANCE = 3e-5
#: A last secant step from so close a point is taken where it is shorter than this share.
LAST_STEP = 1e-2
ROUNDING = 1e-12
#: Secant steps, usually 4 to 6, before the bracket is halved instead.
SECANT_STEPS = 16
#: The first secant goes through the start and this share of it.
NEAR = 0.97
HALVINGS = 60

Statistic = Callable[[Floats], Floats]


def score_difference(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """The score interval of the difference k1 / n1 - k2 / n2 of two rates.

    The ends are the d with (k1 / n1 - k2 / n2 - d)^2 = z^2 V(d), where V(d) = (p1 (1 - p1) / n1 + p2 (1 - p2) / n2)
    N / (N - 1), N = n1 + n2, at the most likely rates with p1 - p2 = d (`constrained_rate`). The interval leaves out 0
    exactly where the score test of equal rates has a p-value below 1 - level.

    Examples
    --------
    >>> low, high = score_difference([56, 0, 9], [70, 20, 10], [48, 0, 3], [80, 30, 10])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0528, -0.1156, 0.17], [0.3382, 0.1639, 0.8406])
    """
    a, na, b, nb, z = _counts(k1, n1, k2, n2, level)
    flipped = a + b > (na + nb) / 2  # rates near 0 are computed more exactly than rates near 1
    a, b = np.where(flipped, na - a, a), np.where(flipped, nb - b, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = a / na, b / nb
        gap = one - other
        scale = (na + nb) / (na + nb - 1)
        side = np.array([1.0, -1.0]).reshape(2, *(1,) * gap.ndim)

        def statistic(reach: Floats) -> Floats:
            d = gap - side * reach
            second = constrained_rate(a, na, b, nb, d)
            first = np.maximum(second + d, 0.0)
            return reach / np.sqrt((first * (1 - first) / na + second * (1 - second) / nb) * scale)  # type: ignore[no-any-return]

        # Newcombe's interval, from Wilson's ends of each rate, is a close start
        (a_low, a_high), (b_low, b_high) = score_ends(a, na, z), score_ends(b, nb, z)
        start = np.stack([np.hypot(one - a_low, b_high - other), np.hypot(a_high - one, other - b_low)])
        low, high = gap - side * _solve(statistic, start, 1 + side * gap, z)
    return np.where(flipped, -high, low), np.where(flipped, -low, high)


def score_ratio(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """The score interval of the ratio (k1 / n1) / (k2 / n2) of two rates, from 0 to infinity.

    The ends are the r with (k1 / n1 - r k2 / n2)^2 = z^2 (p1 (1 - p1) / n1 + r^2 p2 (1 - p2) / n2) N / (N - 1), at the
    most likely rates with p1 = r p2. Without successes in the second group there is no upper end (infinity), without
    any the data say nothing: 0 to infinity. It leaves out 1 exactly where `score_difference` leaves out 0.

    Examples
    --------
    >>> low, high = score_ratio([56, 0, 3], [70, 20, 30], [48, 2, 0], [80, 30, 30])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.079, 0.0, 0.812], [1.672, 2.755, inf])
    """
    a, na, b, nb, z = _counts(k1, n1, k2, n2, level)
    total, hits = na + nb, a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other, scale = a / na, b / nb, total / (total - 1)

        def statistic(t: Floats) -> Floats:
            # the ratio is t / u; the rates t s and u s, with s the root of a quadratic
            u = 1 - t
            linear = hits + (na - a) * t + (nb - b) * u
            s = 2 * hits / (linear + np.sqrt(np.maximum(linear**2 - 4 * t * u * total * hits, 0.0)))
            first, second = np.minimum(t * s, 1.0), np.minimum(u * s, 1.0)
            variance = (u * u * first * (1 - first) / na + t * t * second * (1 - second) / nb) * scale
            return (u * one - t * other) / np.sqrt(variance)  # type: ignore[no-any-return]

        # from Wilson's ends of each rate, as for differences
        starts = mover_ratio((one, *score_ends(a, na, z)), (other, *score_ends(b, nb, z)))
        share = np.where(hits > 0, one / (one + other), np.nan)
        return _of_shares(statistic, share, starts, z, empty=(na <= 0) | (nb <= 0))


def score_odds_ratio(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """The score interval of the ratio of odds k1 / (n1 - k1) / (k2 / (n2 - k2)), from 0 to infinity.

    The ends are the r with (k1 - n1 p1)^2 (1 / (n1 p1 (1 - p1)) + 1 / (n2 p2 (1 - p2))) = z^2 N / (N - 1), at the most
    likely rates with odds in the proportion r.

    Examples
    --------
    >>> low, high = score_odds_ratio([56, 0], [70, 20], [48, 5], [80, 30])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.282, 0.0], [5.54, 1.064])
    """
    a, na, b, nb, z = _counts(k1, n1, k2, n2, level)
    total, hits = na + nb, a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = total / (total - 1)

        def statistic(t: Floats) -> Floats:
            # the odds are t w and u w, with w the root of a quadratic: expected successes add up to the observed ones
            u = 1 - t
            linear = na * t + nb * u - hits
            root = np.sqrt(linear**2 + 4 * t * u * (total - hits) * hits)
            w = np.where(linear > 0, 2 * hits / (linear + root), (root - linear) / (2 * t * u * (total - hits)))
            first, second = t * w / (1 + t * w), u * w / (1 + u * w)
            information = 1 / (1 / (na * first * (1 - first)) + 1 / (nb * second * (1 - second)))
            return (a - na * first) / np.sqrt(information * scale)

        spread = np.sqrt(sum(1 / (x + 0.5) for x in (a, na - a, b, nb - b)))
        centre = np.log((a + 0.5) / (na - a + 0.5) * (nb - b + 0.5) / (b + 0.5))
        starts = np.exp(centre - z * spread), np.exp(centre + z * spread)
        share = a * (nb - b) / (a * (nb - b) + b * (na - a))  # NaN where all rows of both groups have one outcome
        return _of_shares(statistic, share, starts, z, empty=(na <= 0) | (nb <= 0))


def odds_difference(
    p1: ArrayLike, n1: ArrayLike, p2: ArrayLike, n2: ArrayLike, level: ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """Newcombe's interval of the difference of the odds p / (1 - p) of two shares, from Wilson's ends of each.

    >>> low, high = odds_difference(0.5, 80, 0.75, 80)
    >>> round(float(low), 3), round(float(high), 3)
    (-3.982, -0.699)
    """
    one, na, other, nb, z = _counts(p1, n1, p2, n2, level)
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


def _counts(
    k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike, level: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    parts = (np.asarray(part, dtype=float) for part in (k1, n1, k2, n2, normal_quantiles(level)))
    a, na, b, nb, z = np.broadcast_arrays(*parts)
    return a, na, b, nb, z


def _of_shares(
    statistic: Statistic, share: Floats, starts: tuple[Floats, Floats], z: Floats, *, empty: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Ends of a ratio r, solved for t = r / (1 + r), from first guesses of both."""
    side = np.array([1.0, -1.0]).reshape(2, *(1,) * share.ndim)
    start = side * (share - np.stack([ratio / (1 + ratio) for ratio in starts]))
    span = np.where(side > 0, share, 1 - share)
    low, high = share - side * _solve(lambda reach: side * statistic(share - side * reach), start, span, z)
    unknown = np.isnan(share)
    bottom = np.where(unknown, 0.0, low / (1 - low))
    top = np.where(unknown | (high >= 1), np.inf, high / (1 - high))
    return np.where(empty, np.nan, bottom), np.where(empty, np.nan, top)


def _solve(statistic: Statistic, start: Floats, span: Floats, z: Floats) -> Floats:
    """How far from the value (between 0 and `span`) an increasing statistic, 0 at the value, is z.

    The logarithm of statistic / z is solved: a statistic that grows steeply near a bound misleads a secant.
    """
    found = ~(span > 0)  # the value lies at a bound, or there is none
    low, high = np.zeros(span.shape), span
    x1 = np.where((start > 0) & (start < span), start, span / 2)
    x0 = NEAR * x1
    f0 = np.log(statistic(x0) / z)
    for step in range(SECANT_STEPS + HALVINGS):
        f1 = np.log(statistic(x1) / z)
        above = f1 > 0
        low, high = np.where(above, low, x1), np.where(above, x1, high)
        x2, middle = x1 - f1 * (x1 - x0) / (f1 - f0), (low + high) / 2
        x2 = np.where((x2 > low) & (x2 < high), x2, middle) if step < SECANT_STEPS else middle
        close = (np.abs(f1) < TOLERANCE) | (high - low <= ROUNDING * high)
        # a last step from a close point costs nothing and doubles the digits
        x2 = np.where(found, x1, np.where(close & (np.abs(x2 - x1) > LAST_STEP * x1), x1, x2))
        found |= close
        x0, f0, x1 = x1, f1, x2
        if found.all():
            break
    return np.where(span > 0, x1, span)
