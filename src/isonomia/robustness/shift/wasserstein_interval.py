"""The interval of the Wasserstein distance between two samples: from the noise of their distribution functions."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from isonomia.evidence import Estimate
from isonomia.languages import msg
from isonomia.languages.naming import as_text
from isonomia.typing import Floats, Indices

ONE_VALUE = msg("all values are the same: no interval")
#: Points at which distribution functions are compared, at most.
POINTS = 128
#: Draws of the noise; they are the same for everyone, so that an interval does not depend on a seed.
DRAWS = 1_000
#: Distribution functions this many standard errors apart are taken to differ there.
STANDS_OUT = 2.5


def wasserstein_interval(
    values: Floats, below: Floats, other: Floats, sizes: tuple[float, float], distance: float, level: float = 0.95
) -> Estimate:
    """The area between two distribution functions with its interval.

    The estimate is the integral of |F - G + D|, with D the noise of both samples: Brownian bridges in F / sqrt(n) and
    G / sqrt(m). Where F and G differ D moves the area by its sign alone; where they may be equal it adds |D|, whatever
    its sign. The lower end is the distance less the upper quantile of what noise adds, and not below 0. For the upper
    end noise has a sign everywhere: the estimated one, or the same throughout, whichever lies farther.

    Parameters
    ----------
    values : (K,) array
        Points in order.
    below, other : (K,) arrays
        The two distribution functions at these points.
    sizes : two floats
        (Effective) rows.
    distance : float
        The area between the two.

    References
    ----------
    Z. Fang, A. Santos (2019), Rev. Econ. Stud. 86:377 (estimated directional derivatives).

    Examples
    --------
    >>> points = np.linspace(-3, 4, 60)
    >>> below, other = np.clip(points, 0, 1), np.clip(points - 0.5, 0, 1)
    >>> found = wasserstein_interval(points, below, other, (400, 400), 0.5)
    >>> 0.44 < found.low < 0.5 < found.high < 0.56
    True
    """
    n = int(min(sizes))
    if values.size < 2:
        return Estimate(distance, n=n, note=as_text(ONE_VALUE))
    widths, f, g = np.diff(values), below[:-1], other[:-1]
    noise = _noise(f, g, sizes)
    error = np.sqrt(f * (1 - f) / sizes[0] + g * (1 - g) / sizes[1])
    tail, apart, sign = (1 - level) / 2, np.abs(f - g) > STANDS_OUT * error, np.sign(f - g)
    # where they may be equal: signs as estimated, or one sign throughout, as where a distribution is shifted
    moved, estimated, same = _product(np.stack([sign * apart, sign * ~apart, ~apart]) * widths, noise)
    added = _product((widths * ~apart)[None], np.abs(noise, out=noise))[0]
    least, most = np.quantile(moved + np.stack([estimated, same, -same, added]), (tail, 1 - tail), axis=1)
    low, high = max(distance - float(most[3]), 0.0), distance - float(least[:3].min())
    return Estimate(distance, low, high, n=n, method="directional delta", level=level)


def of_samples(a: Floats, b: Floats, distance: float, level: float) -> Estimate:
    """The distance of two sorted samples with its interval."""
    values = np.unique(np.concatenate([ordered[_ranks(ordered.size)] for ordered in (a, b)]))
    below, other = (np.searchsorted(x, values, side="right") / x.size for x in (a, b))
    return wasserstein_interval(values, below, other, (float(a.size), float(b.size)), distance, level)


def of_masses(
    values: Floats, below: Floats, other: Floats, sizes: tuple[float, float], distance: float, level: float
) -> Estimate:
    """The same from distribution functions at all values."""
    chosen = np.union1d(*(_at_ranks(share, size) for share, size in ((below, sizes[0]), (other, sizes[1]))))
    return wasserstein_interval(values[chosen], below[chosen], other[chosen], sizes, distance, level)


def _ranks(n: int) -> Indices:
    """The first, the last and others between them, at equal distances."""
    half = POINTS // 2
    return np.arange(n) if n <= half else np.linspace(0, n - 1, half).round().astype(np.intp)


def _at_ranks(share: Floats, size: float) -> Indices:
    """The indices of values that have these ranks among so many rows, from the shares of rows up to each value."""
    n = max(1, round(size))
    return np.asarray(np.minimum(np.searchsorted(share * n, _ranks(n) + 0.5), share.size - 1))


def _noise(below: Floats, other: Floats, sizes: tuple[float, float]) -> Floats:
    """Draws of the noise of both at these shares, which grow: a row per share, a column per draw.

    A bridge is a walk less the share of its end; the difference of two walks is one walk.
    """
    first, second = (
        np.sqrt(np.maximum(np.diff(share, prepend=0.0, append=1.0), 0.0) / size)
        for share, size in zip((below, other), sizes, strict=True)
    )
    one, two = _normals(0, first.size), _normals(1, second.size)
    walk = one[:-1] * first[:-1, None]
    walk -= two[:-1] * second[:-1, None]
    for before, step in pairwise(walk):  # a fifth of the time of np.cumsum, which adds number by number
        step += before
    ends = np.concatenate([_product(first[None], one), _product(second[None], two)])
    walk -= _product(np.stack([below, -other], axis=1), ends)
    return walk


def _product(weights: Floats, draws: Floats) -> Floats:
    """`weights @ draws` on one thread: starting threads takes longer than so small a product."""
    return np.asarray(np.einsum("ij,jn->in", weights, draws))


@cache
def _normals(which: int, width: int) -> Floats:
    return np.ascontiguousarray(np.random.default_rng([POINTS, which]).standard_normal((DRAWS, width)).T)
