"""The calibration slope: a logistic regression of what happened on the predicted log odds, group by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, mean_by, sum_by
from isonomia.models import Surface
from isonomia.typing import Bools, Floats

#: Log odds are kept within this; a probability of exactly 0 or 1 has none.
LARGEST_LOG_ODDS = 16.0
#: Evaluations of the likelihood, at most; and the step of slope and intercept below which a group has settled.
STEPS = 100
TOLERANCE = 1e-9


def recalibrate(
    truth: NDArray[Any],
    surface: Surface,
    *,
    groups: Codes | None = None,
    weights: Floats | None = None,
    counts: NDArray[np.int64] | None = None,
) -> tuple[Floats, Floats]:
    """Slope b and its standard error in P(y = 1) = 1 / (1 + exp(-(a + b logit p))), for each group.

    Newton's method runs for all groups at once on sums over groups; a step that lowers the likelihood is halved, so
    that it cannot fail to settle where there is an answer. NaN where there is none that is finite: one outcome only,
    one probability only, or probabilities that separate the outcomes. With weights the error is the sandwich one; so
    it is without, where the two agree for a right model.

    References
    ----------
    D. R. Cox (1958), Biometrika 45:562.

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 400)
    >>> y = (np.random.default_rng(0).random(400) < p).astype(int)
    >>> slope, error = recalibrate(y, Surface.of_probabilities(p, classes=(0, 1)))
    >>> bool(abs(slope[0] - 1) < 2 * error[0])
    True
    """
    p = surface.probability
    if p is None or p.ndim != 1:
        raise ValueError("a slope is for two classes with probabilities")
    with np.errstate(divide="ignore"):
        x = np.clip(np.log(p) - np.log1p(-p), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
    y = (truth == 1).astype(float)
    code = np.zeros(p.size, dtype=np.uint8) if groups is None else groups.codes
    size = 1 if groups is None else groups.size
    n = np.ones(p.size) if counts is None else counts
    w = np.ones(p.size) if weights is None else weights
    slope, error = np.full((2, size), np.nan)
    mixed = _outcomes_overlap(x, y == 1, code, size, (w > 0) & (n > 0))
    found = np.flatnonzero(mixed)
    rows = mixed[code]
    index = (np.cumsum(mixed) - 1)[code[rows]]  # of the groups that have a slope
    slope[found], error[found] = _fitted(x[rows], y[rows], w[rows], n[rows], index, found.size)
    return slope, error


def _outcomes_overlap(x: Floats, happened: Bools, code: NDArray[Any], size: int, counts: Bools) -> Bools:
    """Which groups have a finite slope: neither outcome has all its log odds at or above those of the other."""
    low, high = np.full((2, size), np.inf), np.full((2, size), -np.inf)
    for outcome, rows in enumerate((~happened & counts, happened & counts)):
        np.minimum.at(low[outcome], code[rows], x[rows])
        np.maximum.at(high[outcome], code[rows], x[rows])
    overlap: Bools = (low[0] < high[1]) & (low[1] < high[0])
    return overlap


def _fitted(x: Floats, y: Floats, w: Floats, n: NDArray[Any], code: NDArray[Any], size: int) -> tuple[Floats, Floats]:
    """The slope of every group and its standard error; NaN where rounding hides it."""

    def over(values: Floats) -> Floats:
        return sum_by(code, values * n, size)

    positive = mean_by(code, y, size, w * n)
    a, b = np.log(positive) - np.log1p(-positive), np.zeros(size)
    step_a, step_b, reach, best = np.zeros(size), np.zeros(size), np.ones(size), np.full(size, -np.inf)
    for _ in range(STEPS):
        eta = np.clip((a + reach * step_a)[code] + (b + reach * step_b)[code] * x, -500, 500)
        e = np.exp(-eta)
        q = 1 / (1 + e)
        likelihood = over(w * ((y - 1) * eta - np.log1p(e)))
        score, curve = w * (y - q), w * q * (1 - q)
        s0, s1 = over(score), over(score * x)
        h00, h01, h11 = over(curve), over(curve * x), over(curve * x * x)
        determinant = h00 * h11 - h01 * h01
        sound = determinant > 1e-10 * np.maximum(h00 * h11, 1e-300)
        safe = np.where(sound, determinant, 1.0)
        better = likelihood >= best - 1e-12 * np.abs(best)
        a, b = np.where(better, a + reach * step_a, a), np.where(better, b + reach * step_b, b)
        best = np.where(better, likelihood, best)
        step_a = np.where(better, np.where(sound, (h11 * s0 - h01 * s1) / safe, 0.0), step_a)
        step_b = np.where(better, np.where(sound, (h00 * s1 - h01 * s0) / safe, 0.0), step_b)
        reach = np.where(better, 1.0, reach / 2)
        moved = reach * np.maximum(np.abs(step_a), np.abs(step_b))
        if not (moved > TOLERANCE).any():
            break
    # sandwich variance of b: row 1 of H^-1 times the scores' second moments
    pull = (h00[code] * x - h01[code]) / safe[code] * score
    error = np.sqrt(over(pull * pull))
    settled = sound & (moved <= 1e-6) & (np.abs(b) < 1e3)
    return np.where(settled, b, np.nan), np.where(settled, error, np.nan)
