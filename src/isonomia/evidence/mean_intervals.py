"""Intervals of means and of areas under curves, and of their differences and ratios: closed forms, no replicates.

A figure is known by its ends at any tail probability (`MeanEnds`, `AreaEnds`, `LogitEnds`). Differences and ratios
follow from the ends of both figures (`mover_difference`, `mover_ratio`), and so does the p-value that two figures are
the same: the level at which the interval of their difference begins to contain 0. Interval and test always agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.evidence.halving import halve
from isonomia.typing import Bools, Floats

#: How much longer than the sample shows the long tail is taken to be: samples of skewed values understate it.
LONG_TAIL = 2.0
#: Below this many (effective) rows of a class areas under curves and functions of tables of three classes or more have
#: no interval, and the calibration gap has that of a rate.
FEWEST_OF_CLASS = 5
#: P-values are found down to this.
SMALLEST_P = 1e-60
#: Halvings of the bracket of a p-value's logarithm.
HALVINGS = 50
#: Halvings to the score interval's end of an area.
STEPS = 30
#: Student's quantiles go no further: that of one degree of freedom would overflow.
LARGEST_T = 1e8
#: Below this the cube root of Hall's transformation goes on as its tangent: at 0 it would jump by several errors.
STEEP = 0.15


class Ends(Protocol):
    """Figures whose intervals are known at any level."""

    @property
    def centre(self) -> Floats | None:
        """The figures without their bias, from which differences measure the distances to the ends; None: unbiased."""

    def at(self, tail: float | Floats) -> tuple[Floats, Floats]:
        """Both ends, each missing the truth with (at most) this probability."""

    def take(self, index: NDArray[Any]) -> Ends:
        """Some of the figures."""


class Arrays:
    """Dataclasses whose arrays have one entry per figure."""

    @property
    def centre(self) -> Floats | None:
        """The figures are not biased."""
        return None

    def take(self, index: NDArray[Any]) -> Any:
        """Some of the figures."""
        arrays = {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]
        chosen = {name: part[index] for name, part in arrays.items() if isinstance(part, np.ndarray)}
        return replace(self, **chosen)  # type: ignore[type-var]

    @classmethod
    def joined(cls, parts: Sequence[Any]) -> Any:
        """The figures of several, one after the other; None stands for one figure without a value (all NaN)."""
        first = next(part for part in parts if part is not None)
        names = [part.name for part in fields(first) if isinstance(getattr(first, part.name), np.ndarray)]
        arrays = {
            name: np.concatenate(
                [np.full_like(getattr(first, name)[:1], np.nan) if p is None else getattr(p, name) for p in parts]
            )
            for name in names
        }
        return replace(first, **arrays)


@dataclass(frozen=True, eq=False)
class MeanEnds(Arrays):
    """Means of rows that may be skewed.

    Attributes
    ----------
    value, error, skewness, df : arrays
        The mean, its standard error, the skewness of its distribution (that of the rows over sqrt n), and degrees of
        freedom.
    kind : "any", "positive" or "root"
        Whether rows can be negative; "root" is the square root of a mean that cannot.
    centre : array, optional
        What the ends are around, where that is not the mean itself: the mean with a few rows added.
    skewed : float or array
        The share of the skewness that counts: all of it for a mean, what does not cancel for a difference of means.
    """

    value: Floats
    error: Floats
    skewness: Floats
    df: Floats
    kind: Literal["any", "positive", "root"] = "any"
    centre: Floats | None = None
    skewed: float | Floats = 1.0

    def at(self, tail: float | Floats) -> tuple[Floats, Floats]:
        """Both ends at this tail probability; equal where all rows have the same value."""
        middle = self.value if self.centre is None else self.centre
        low, high = hall_ends(
            middle, self.error, self.skewness, self.df, tail, positive=self.kind != "any", skewed=self.skewed
        )
        if self.centre is not None:
            low, high = np.minimum(low, self.value), np.maximum(high, self.value)
        return (np.sqrt(low), np.sqrt(high)) if self.kind == "root" else (low, high)

    def beside(self, other: MeanEnds) -> MeanEnds:
        """The same ends for the difference from another mean, in which skewness cancels as far as both have it.

        Only the share that does not cancel counts: all of it where one mean is far less sure than the other, next to
        nothing where both are means of as many rows alike. The share is that of third moments, which fall with the
        square of the number of rows; the larger one of the share in the samples, which an outlier may make too small,
        and the share that the numbers of rows let expect.
        """
        moments, rows = (self._third_moment(), other._third_moment()), (other.df**2, self.df**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.maximum(*(np.abs(one - two) / (np.abs(one) + np.abs(two)) for one, two in (moments, rows)))
        return replace(self, skewed=np.where(np.isnan(left), 1.0, left))

    def _third_moment(self) -> Floats:
        """The third central moment of the figure's distribution."""
        with np.errstate(divide="ignore", invalid="ignore"):
            error = self.error / (2 * np.sqrt(self.value)) if self.kind == "root" else self.error
            return np.asarray(error**3 * self.skewness)


def hall_ends(
    mean: ArrayLike,
    error: ArrayLike,
    skewness: ArrayLike,
    df: ArrayLike,
    tail: float | Floats = 0.025,
    *,
    positive: bool = False,
    skewed: float | Floats = 1.0,
) -> tuple[Floats, Floats]:
    """Ends of the interval of a mean of skewed values: Hall's transformed t, wider on the side of the long tail.

    With a the skewness of the mean and t Student's quantile, the ends are mean - error h(+-t),
    h(x) = 3 / a ((1 + a (x - a / 6))^(1/3) - 1): the cubic transformation that removes the skewness of Student's t.
    Samples of long tails understate their skewness, so that on that side the farther one of the ends for a and for
    2 a counts. The upper end of values that cannot be negative is mean exp(t error / mean) at least, which matters in
    small samples, and the lower one mean exp(-2 t error / mean): it comes near 0 but does not reach it. Without
    skewness it is Student's interval; of all that skewness adds, the share `skewed` counts. Where the bracket falls
    below 0.15 its cube root goes on as a line.

    It assumes independent rows. By simulation it covers 94-97% from 30 rows on for absolute and squared errors
    (Student's t with 5 degrees of freedom included).

    References
    ----------
    P. Hall (1992), J. R. Stat. Soc. B 54:221 (transformation); N. J. Johnson (1978), J. Am. Stat. Assoc. 73:536.

    Examples
    --------
    >>> [round(float(end), 3) for end in hall_ends(1.0, 0.2, 0.0, 29)]
    [0.591, 1.409]
    >>> [round(float(end), 3) for end in hall_ends(1.0, 0.2, 0.2, 29)]
    [0.642, 1.694]
    """
    from scipy.special import stdtrit

    at, se, a = (np.asarray(part, dtype=float) for part in (mean, error, np.asarray(skewness) * skewed))
    t = np.minimum(-stdtrit(np.maximum(np.asarray(df, dtype=float), 1.0), tail), LARGEST_T)
    far = (1 + (LONG_TAIL - 1) * skewed) * a
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high = at - se * _untransformed(t, a), at - se * _untransformed(-t, a)
        low = np.where(a < 0, np.fmin(low, at - se * _untransformed(t, far)), low)
        high = np.where(a > 0, np.fmax(high, at - se * _untransformed(-t, far)), high)
        if positive:
            part = np.where(at > 0, t * se / at, 0.0)
            high = np.maximum(np.fmax(high, at * (1 + skewed * np.expm1(part))), 0.0)
            low = np.maximum(low, np.maximum(at, 0.0) * np.exp(-2 * part))  # rounding leaves some just below 0
    return low, high


def _untransformed(x: Floats, a: Floats) -> Floats:
    """The t whose transformed value is x."""
    flat = np.abs(a) < 1e-6
    safe = np.where(flat, 1.0, a)
    inner = 1 + safe * (x - safe / 6)
    steep = np.cbrt(STEEP) + (inner - STEEP) / (3 * np.cbrt(STEEP) ** 2)
    return np.where(flat, x, 3 / safe * (np.where(inner < STEEP, steep, np.cbrt(inner)) - 1))


def score_ends(k: Floats, n: Floats, z: float | Floats) -> tuple[Floats, Floats]:
    """Wilson's ends of the rate k / n at the normal quantile z, without a correction; NaN where n is 0.

    >>> [round(float(end), 4) for end in score_ends(np.array(20.0), np.array(80.0), 1.96)]
    [0.1681, 0.3548]
    """
    z2 = z * z
    with np.errstate(divide="ignore", invalid="ignore"):
        centre, half = (k + z2 / 2) / (n + z2), np.sqrt(z2 * (k * (n - k) / n + z2 / 4)) / (n + z2)
    return centre - half, centre + half


@dataclass(frozen=True, eq=False)
class LogitEnds(Arrays):
    """Values in (0, 1) with standard errors, on the logit scale; `size` rows where the error is not known.

    Attributes
    ----------
    value, error, size : arrays
        Where the error is not known (NaN: perfect separation) an interval of no width would claim too much: Wilson's
        interval of a proportion of `size` rows stands in. Where the size is NaN there is no interval.
    """

    value: Floats
    error: Floats
    size: Floats

    def at(self, tail: float | Floats) -> tuple[Floats, Floats]:
        """Both ends at this tail probability."""
        from scipy.special import ndtri

        z = -ndtri(np.asarray(tail, dtype=float))
        at, n = self.value, self.size
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            centre, half = np.log(at / (1 - at)), z * self.error / (at * (1 - at))
            low, high = 1 / (1 + np.exp(half - centre)), 1 / (1 + np.exp(-half - centre))
        unknown = np.isnan(self.error) | ~((at > 0) & (at < 1))
        low, high = (np.where(unknown, *ends) for ends in zip(score_ends(at * n, n, z), (low, high), strict=True))
        absent = np.isnan(n)
        return np.where(absent, np.nan, np.clip(low, 0, at)), np.where(absent, np.nan, np.clip(high, at, 1))


@dataclass(frozen=True, eq=False)
class AreaEnds(Arrays):
    """Areas under the ROC curve: Newcombe's score interval, widened where DeLong's error asks for more.

    The score interval holds the areas A' with |A - A'| <= z sqrt(V(A')), where for m positives and n negatives
    V(A) = A (1 - A) / (m n) [1 + (N - 1) ((1 - A) / (2 - A) + A / (1 + A))] and N = (m + n) / 2. It covers with few
    rows of a class and at areas near 1, where DeLong's error is too small; but it is a model of the scores. Where they
    are spread more widely (some positives far below the negatives) DeLong's error on the logit scale gives the end.

    Attributes
    ----------
    value, error : arrays
        Areas, and DeLong's standard errors (NaN at perfect separation).
    positives, negatives : arrays
        (Effective) rows of each class; NaN where there is to be no interval.

    References
    ----------
    R. G. Newcombe (2006), Stat. Med. 25:559 (method 5). E. R. DeLong et al. (1988), Biometrics 44:837.

    Examples
    --------
    >>> area = AreaEnds(*(np.array([part]) for part in (0.8, 0.05, 40.0, 40.0)))
    >>> [round(float(end[0]), 3) for end in area.at(0.025)]
    [0.683, 0.881]
    """

    value: Floats
    error: Floats
    positives: Floats
    negatives: Floats

    def at(self, tail: float | Floats) -> tuple[Floats, Floats]:
        """Both ends at this tail probability."""
        from scipy.special import ndtri

        z2 = ndtri(np.asarray(tail, dtype=float)) ** 2
        smaller = np.fmin(self.positives, self.negatives)
        missing = np.isnan(self.positives) | np.isnan(self.negatives)
        delong = LogitEnds(value=self.value, error=self.error, size=np.where(missing, np.nan, smaller)).at(tail)
        known = np.where(np.isnan(self.error), np.nan, 1.0)  # at perfect separation the score interval alone
        low, high = self._score(z2, 0.0), self._score(z2, 1.0)
        return np.fmin(low, delong[0] * known), np.fmax(high, delong[1] * known)

    def _score(self, z2: Floats, bound: float) -> Floats:
        """The end between the area and a bound, by bisection."""
        shape = np.broadcast_shapes(self.value.shape, z2.shape)
        outer, inner = np.full(shape, bound), np.array(np.broadcast_to(self.value, shape))

        def inside(area: Floats) -> Bools:
            return (self.value - area) ** 2 <= z2 * area_variance(area, self.positives, self.negatives)

        with np.errstate(invalid="ignore"):
            outer, inner = halve(inside, outer, inner, STEPS)
        missing = np.isnan(self.positives) | np.isnan(self.negatives)
        return np.where(missing, np.nan, (outer + inner) / 2)


def area_variance(area: Floats, positives: Floats, negatives: Floats) -> Floats:
    """The variance of an area under the ROC curve after Newcombe: V(A) of `AreaEnds`.

    >>> round(float(area_variance(np.array(0.8), np.array(40.0), np.array(40.0)) ** 0.5), 4)
    0.0498
    """
    m, n = positives, negatives
    shape = (1 - area) / (2 - area) + area / (1 + area)
    return area * (1 - area) / (m * n) * (1 + ((m + n) / 2 - 1) * shape)


def mover_difference(
    one: tuple[Floats, Floats, Floats], other: tuple[Floats, Floats, Floats], correlation: ArrayLike = 0.0
) -> tuple[Floats, Floats]:
    """The interval of the difference one - other, each figure (value, low, high).

    From a, b and their distances to the ends, da = a - a_low and db = b_high - b, the lower end is
    a - b - sqrt(da^2 + db^2 - 2 r da db); the upper end likewise with the other two. r is the figures' correlation.

    References
    ----------
    G. Y. Zou, A. Donner (2008), Stat. Med. 27:1693; with Wilson's ends of two rates that of R. G. Newcombe (1998),
    Stat. Med. 17:873.
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    r = np.asarray(correlation, dtype=float)
    return a - b - _joint(a - a_low, b_high - b, r), a - b + _joint(a_high - a, b - b_low, r)


def _joint(one: Floats, other: Floats, r: Floats) -> Floats:
    if not r.any():
        return np.hypot(one, other)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.sqrt(np.maximum(one * one + other * other - 2 * r * one * other, 0.0))


def mover_ratio(
    one: tuple[Floats, Floats, Floats], other: tuple[Floats, Floats, Floats], correlation: ArrayLike = 0.0
) -> tuple[Floats, Floats]:
    """The interval of the ratio one / other of positive figures, each (value, low, high).

    The ends are the R at which the interval of one - R other (`mover_difference`) begins or ceases to contain 0. NaN
    where the other figure may be 0, so that the ratio has no upper end.

    References
    ----------
    A. Donner, G. Y. Zou (2012), Stat. Methods Med. Res. 21:347.

    Examples
    --------
    >>> ends = mover_ratio(*((np.array([v]), np.array([l]), np.array([h])) for v, l, h in [(2, 1, 4), (4, 3, 6)]))
    >>> [round(float(end[0]), 3) for end in ends]
    [0.226, 1.067]
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    r = np.asarray(correlation, dtype=float)
    ends = []
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for da, db, sign in ((a - a_low, b_high - b, -1.0), (a_high - a, b - b_low, 1.0)):
            square, middle, rest = b * b - db * db, a * b - r * da * db, a * a - da * da
            root = np.sqrt(np.maximum(middle * middle - square * rest, 0.0))
            if sign < 0:
                ends.append(np.maximum(rest / (middle + root), 0.0))
            else:
                ends.append(np.where(square > 0, (middle + root) / square, np.nan))
    defined = (b > 0) & (a >= 0) & ~np.isnan(ends[0]) & ~np.isnan(ends[1])
    return np.where(defined, ends[0], np.nan), np.where(defined, ends[1], np.nan)


def same_p(
    difference: Floats, interval: Callable[[Floats], tuple[Floats, Floats]], *, smallest: float = SMALLEST_P
) -> Floats:
    """P-values that differences are 0: twice the tail probability at which their interval begins to contain 0.

    Parameters
    ----------
    difference : array
    interval : callable
        Tail probabilities (..., and one per difference) to both ends. Many are tried at once.

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> same_p(np.array([1.96]), lambda tail: (1.96 + ndtri(tail), 1.96 - ndtri(tail))).round(3).tolist()
    [0.05]
    """

    def apart(logarithm: Floats) -> Bools:
        low, high = interval(np.exp(logarithm))
        return np.where(difference > 0, low > 0, high < 0)

    away, near = np.full(difference.shape, np.log(smallest / 2)), np.full(difference.shape, np.log(0.5))
    _, near = halve(apart, away, near, HALVINGS)
    low, high = interval(np.full(difference.shape, 0.025))
    unknown = np.isnan(difference) | np.isnan(low) | np.isnan(high) | (high <= low)
    return np.where(unknown, np.nan, np.where(difference == 0, 1.0, np.minimum(2 * np.exp(near), 1.0)))
