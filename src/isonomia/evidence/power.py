"""How small a gap these group sizes could have shown."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from isonomia.evidence.halving import halve
from isonomia.evidence.significance import SKEWED, SMALL_CELL
from isonomia.parameters import Number, validated
from isonomia.typing import Bools, Floats

ALPHA = 0.05
POWER = 0.8
#: Steps of the way to 0 or 1, and as many by halvings: gaps are exact to 0.01 points, and never too small.
HALVINGS = 14
STEPS = 1 << HALVINGS
#: Steps of the secant method: the last of them is far below one step of the grid.
SECANTS = 4


@validated(alpha=Number(above=0, below=1), power=Number(above=0, below=1))
def detectable_rates(
    rate: ArrayLike, reference_size: ArrayLike, size: ArrayLike, *, alpha: float = ALPHA, power: float = POWER
) -> tuple[Floats, Floats]:
    """The smallest gap below, and above, a reference rate that a two-sided test finds with the given power.

    With p the rate of the reference, q that of the group and r the pooled one, the smallest |q - p| for which

        |q - p| - c >= z_{1 - alpha/2} sqrt(r (1 - r) (1/n + 1/m)) + z_{power} sqrt(q (1 - q) / n + p (1 - p) / m)

    the variance of the test where the rates are equal, and that of both rates where they differ by the gap; counts are
    whole numbers, and c = (1/n + 1/m) / 2 allows for it (twice as much where an expected count is below 5, since
    Fisher's exact test decides there). Of tests below 0.01 the first z is larger by s (z^2 - 1) / 6 where the skewness
    s of the difference points the same way, since `two_proportions` allows for it.

    Parameters
    ----------
    rate : array
        Rates of the references.
    reference_size, size : arrays
        (Effective) rows of the references and of the groups.
    alpha : float
        The level of the test: that of the first step of a correction (alpha over the number of tests) where there
        are many.
    power : float

    Returns
    -------
    below, above : arrays
        Sizes of gaps; NaN where no rate within [0, 1] is so far away.

    References
    ----------
    J. L. Fleiss, A. Tytun, H. K. Ury (1980), Biometrics 36:343.

    Examples
    --------
    >>> below, above = detectable_rates([0.3, 0.3, 0.05], [200, 1000, 100], [200, 100, 100])
    >>> below.round(3).tolist(), above.round(3).tolist()
    ([0.124, 0.132, nan], [0.14, 0.144, 0.137])
    """
    p, m, n = np.broadcast_arrays(*(np.asarray(part, dtype=float) for part in (rate, reference_size, size)))
    below, above = _nearest(p, m, n, alpha, power)
    return below, above


def _nearest(p: Floats, m: Floats, n: Floats, alpha: float, power: float) -> Floats:
    """How far from p, towards 0 and towards 1, the nearest detectable rate lies; NaN where there is none."""
    from scipy.special import ndtri

    reach, beyond = float(ndtri(1 - alpha / 2)), float(ndtri(power))
    bend = (reach**2 - 1) / 6 if alpha < SKEWED else 0.0  # Cornish and Fisher's, as far as the test goes into the tail

    def excess(q: Floats) -> Floats:
        pooled = share * q + rest
        needed = np.sqrt(pooled * (1 - pooled) * inverse) * reach + np.sqrt(q * (1 - q) / n + of_reference) * beyond
        if bend:
            needed += np.maximum((1 - 2 * pooled) * skewed, 0.0)
        few = np.minimum(pooled, 1 - pooled) * smaller < SMALL_CELL
        return np.abs(q - p) - needed - np.where(few, inverse, inverse / 2)

    with np.errstate(divide="ignore", invalid="ignore"):
        inverse, share, smaller = 1 / n + 1 / m, n / (n + m), np.minimum(n, m)
        rest, of_reference = (1 - share) * p, p * (1 - p) / m
        near, far = np.stack([p, p]), np.stack([np.zeros(p.shape), np.ones(p.shape)])
        skewed = np.sign(far - near) * (1 / n - 1 / m) * bend  # error times skewness, but for the pooled rate
        possible = (excess(far) >= 0) & (n > 0) & (m > 0) & (near != far)
        return np.where(possible, _first_step(excess, near, far, possible), np.nan)


def _first_step(excess: Callable[[Floats], Floats], near: Floats, far: Floats, wanted: Bools) -> Floats:
    """How far from `near`, in steps of the way to `far`, the excess begins not to be negative.

    Secants lead close to it. Where the step found is not the one (the excess jumps), the bracket is halved.
    """
    step = (far - near) / STEPS
    before, value = np.zeros(near.shape), excess(near)
    at = np.minimum(-value / np.abs(step), STEPS)
    for _ in range(SECANTS):
        own = excess(near + at * step)
        following = at - own * (at - before) / (own - value)
        before, value, at = at, own, np.where((following > 0) & (following < STEPS), following, at)
    last = np.ceil(at)
    for _ in range(2):
        enough, too_much = excess(near + np.stack([last, last - 1]) * step) >= 0
        astray = wanted & ~(enough & ~too_much)
        if not astray.any():
            return last * np.abs(step)
        last = last + np.where(enough, -1, 1) * astray
    return np.abs(halve(lambda q: excess(q) >= 0, near, far, HALVINGS)[1] - near)


@validated(alpha=Number(above=0, below=1), power=Number(above=0, below=1))
def detectable_means(error: ArrayLike, *, alpha: float = ALPHA, power: float = POWER) -> Floats:
    """The smallest difference, with this standard error, that a two-sided z-test finds with the given power.

    (z_{1 - alpha/2} + z_{power}) error; the same in both directions.

    >>> detectable_means([0.05, 0.1]).round(3).tolist()
    [0.14, 0.28]
    """
    from scipy.special import ndtri

    return np.asarray(float(ndtri(1 - alpha / 2) + ndtri(power)) * np.asarray(error, dtype=float))
