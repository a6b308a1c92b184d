"""The calibration slope: a logistic regression of what happened on the predicted log odds, group by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.models import Surface
from isonomia.typing import Floats

#: Log odds are kept within this; a probability of exactly 0 or 1 has none.
LARGEST_LOG_ODDS = 16.0
STEPS = 30
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

    Newton's method runs for all groups at once on sums over groups. NaN where it has no finite answer: one outcome
    only, one probability only, or probabilities that separate the outcomes. With weights the error is the sandwich
    one; so it is without, where the two agree for a right model.

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
    w = np.ones(p.size) if weights is None else weights

    def over(values: Floats) -> Floats:
        return sum_by(code, values if counts is None else values * counts, size)

    a, b = np.zeros(size), np.ones(size)
    moved = np.full(size, np.inf)
    for _ in range(STEPS):
        q = 1 / (1 + np.exp(-np.clip(a[code] + b[code] * x, -30, 30)))
        score, curve = w * (y - q), w * q * (1 - q)
        s0, s1 = over(score), over(score * x)
        h00, h01, h11 = over(curve), over(curve * x), over(curve * x * x)
        determinant = h00 * h11 - h01 * h01
        sound = determinant > 1e-10 * np.maximum(h00 * h11, 1e-300)
        safe = np.where(sound, determinant, 1.0)
        step_a = np.where(sound, (h11 * s0 - h01 * s1) / safe, np.nan)
        step_b = np.where(sound, (h00 * s1 - h01 * s0) / safe, np.nan)
        moved = np.maximum(np.abs(step_a), np.abs(step_b))
        if not (moved > TOLERANCE).any():
            break
        reach = np.minimum(1.0, 4.0 / np.maximum(moved, 1e-12))  # a long step of Newton's can overshoot
        a, b = a + reach * np.nan_to_num(step_a), b + reach * np.nan_to_num(step_b)
    # sandwich variance of b: row 1 of H^-1 times the scores' second moments
    pull = (h00[code] * x - h01[code]) / safe[code] * score
    error = np.sqrt(over(pull * pull))
    settled = sound & (moved <= 1e-6) & (np.abs(b) < 1e3)
    return np.where(settled, b, np.nan), np.where(settled, error, np.nan)
