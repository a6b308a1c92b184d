"""The calibration slope: a logistic regression of what happened on the predicted log odds, group by group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.evidence import normal_p
from isonomia.models import Surface
from isonomia.typing import Bools, Floats

#: Log odds are kept within this; a probability of exactly 0 or 1 has none.
LARGEST_LOG_ODDS = 16.0
STEPS = 30
TOLERANCE = 1e-9
#: A signed root of the likelihood ratio that is smaller has nothing to correct.
NO_ROOT = 1e-3


def recalibrate(
    truth: NDArray[Any],
    surface: Surface,
    *,
    groups: Codes | None = None,
    weights: Floats | None = None,
    counts: NDArray[np.int64] | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Slope b in P(y = 1) = 1 / (1 + exp(-(a + b logit p))), its standard error, and the p-value that it is 1.

    Newton's method runs for all groups at once on sums over groups. NaN where it has no finite answer: one outcome
    only, one probability only, or probabilities that separate the outcomes. With weights the error is the sandwich
    one; so it is without, where the two agree for a right model.

    Notes
    -----
    The p-value is that of sum w x y given sum w y, where a slope of 1 makes outcomes independent with known log odds
    a + logit p: the double saddlepoint approximation r* = r + log(v / r) / r. Without weights r is the signed root of
    the likelihood ratio. Its tails are right from 40 rows on, where those of (b - 1) / error are too thin.

    References
    ----------
    D. R. Cox (1958), Biometrika 45:562. I. M. Skovgaard (1987), J. Appl. Probab. 24:875 (tails).

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 400)
    >>> y = (np.random.default_rng(0).random(400) < p).astype(int)
    >>> slope, error, p_value = recalibrate(y, Surface.of_probabilities(p, classes=(0, 1)))
    >>> bool(abs(slope[0] - 1) < 2 * error[0]), round(float(p_value[0]), 3)
    (True, 0.938)
    """
    p = surface.probability
    if p is None or p.ndim != 1:
        raise ValueError("a slope is for two classes with probabilities")
    with np.errstate(divide="ignore"):
        x = np.clip(np.log(p) - np.log1p(-p), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
    everyone = _Rows(
        x=x,
        y=(truth == 1).astype(float),
        w=np.ones(p.size) if weights is None else weights,
        n=np.ones(p.size) if counts is None else counts,
        code=np.zeros(p.size, dtype=np.uint8) if groups is None else groups.codes,
        size=1 if groups is None else groups.size,
    )
    mixed = everyone.outcomes_overlap()
    rows = everyone.of_groups(mixed)
    fit = rows.fit(rows.x, np.ones(rows.x.size))
    # sandwich variance of b: row 1 of H^-1 times the scores' second moments
    pull = (fit.h00[rows.code] * rows.x - fit.h01[rows.code]) / fit.determinant[rows.code] * fit.score
    error = np.sqrt(rows.over(pull * pull))
    converged = fit.converged & (np.abs(fit.b) < 1e3)
    slope, spread, p_value = np.full((3, everyone.size), np.nan)
    for whole, part in ((slope, 1 + fit.b), (spread, error), (p_value, _p_value(rows, fit, weights is not None))):
        whole[mixed] = np.where(converged, part, np.nan)
    return slope, spread, p_value


def _p_value(rows: _Rows, fit: _Fit, weighted: bool) -> Floats:
    """The p-value that slopes are 1, by the double saddlepoint; `fit` is where log odds x + a + b x fit best."""
    right = rows.fit(rows.x, np.ones(rows.x.size), slope=False)
    base = rows.x + right.a[rows.code]
    tilted = rows.fit(base, rows.w) if weighted else replace(fit, a=fit.a - right.a)
    added = rows.w * (tilted.a[rows.code] + tilted.b[rows.code] * rows.x)
    ratio = 2 * rows.over(rows.y * added - np.logaddexp(0, base + added) + np.logaddexp(0, base))
    q = 1 / (1 + np.exp(-base))
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.sqrt(np.maximum(ratio, 0.0))
        v = np.abs(tilted.b) * np.sqrt(tilted.determinant / rows.over(rows.w**2 * q * (1 - q)))
        root = np.where(r > NO_ROOT, r + np.log(v / r) / r, r)
    return np.where(right.converged & tilted.converged, normal_p(root), np.nan)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Where Newton's method came to rest, per group: what was added to log odds, and the curvature there."""

    a: Floats
    b: Floats
    score: Floats
    h00: Floats
    h01: Floats
    determinant: Floats
    converged: Bools


@dataclass(frozen=True, eq=False)
class _Rows:
    """Log odds, outcomes, weights and numbers of equal rows, and their groups."""

    x: Floats
    y: Floats
    w: Floats
    n: NDArray[Any]
    code: NDArray[Any]
    size: int

    def over(self, values: Floats) -> Floats:
        """Sums over groups."""
        return self._sums(values * self.n)

    def _sums(self, values: Floats) -> Floats:
        """Sums over groups of values that have been multiplied by the numbers of equal rows."""
        return values.sum(keepdims=True) if self.size == 1 else sum_by(self.code, values, self.size)

    def outcomes_overlap(self) -> Bools:
        """Which groups have a finite slope: neither outcome has all its log odds at or above those of the other."""
        low, high = np.full((2, self.size), np.inf), np.full((2, self.size), -np.inf)
        counted = (self.w > 0) & (self.n > 0)
        for outcome in (0, 1):
            rows = counted & (self.y == outcome)
            np.minimum.at(low[outcome], self.code[rows], self.x[rows])
            np.maximum.at(high[outcome], self.code[rows], self.x[rows])
        return np.asarray((low[0] < high[1]) & (low[1] < high[0]))

    def of_groups(self, chosen: Bools) -> _Rows:
        """The rows of some groups, which are numbered anew."""
        rows = chosen[self.code]
        return _Rows(
            x=self.x[rows],
            y=self.y[rows],
            w=self.w[rows],
            n=self.n[rows],
            code=(np.cumsum(chosen) - 1)[self.code[rows]],
            size=int(chosen.sum()),
        )

    def fit(self, base: Floats, unit: Floats, *, slope: bool = True) -> _Fit:
        """The a and b for which log odds base + unit (a + b x) give sum w y and sum w x y; b = 0 without a slope.

        Newton's steps up a concave likelihood; a group whose likelihood a step would lower goes half as far.
        """
        x, code = self.x, self.code
        at, step, best = np.zeros((2, self.size)), np.zeros((2, self.size)), np.full(self.size, -np.inf)
        of_row = np.divide(self.w, unit, out=np.ones_like(self.w), where=unit > 0) * self.n
        weight = self.w * self.n
        for _ in range(STEPS):
            a, b = trial = at + step
            line = a + b * x if self.size == 1 else a[code] + b[code] * x
            odds = np.clip(base + unit * line, -30, 30)
            ratio = np.exp(odds)  # finite, since log odds are
            q = ratio / (1 + ratio)
            value = self._sums(of_row * (self.y * odds - np.log1p(ratio)))
            score, curve = weight * (self.y - q), weight * unit * q * (1 - q)
            s0, h00 = self._sums(score), self._sums(curve)
            s1, h01, h11 = np.zeros(self.size), np.zeros(self.size), np.ones(self.size)
            if slope:
                bent = curve * x
                s1, h01, h11 = self._sums(score * x), self._sums(bent), self._sums(bent * x)
            determinant = h00 * h11 - h01 * h01
            sound = determinant > 1e-10 * np.maximum(h00 * h11, 1e-300)
            safe = np.where(sound, determinant, 1.0)
            newton = np.where(sound, np.stack([h11 * s0 - h01 * s1, h00 * s1 - h01 * s0]) / safe, 0.0)
            worse = value < best - TOLERANCE * np.abs(best)
            at, best = np.where(worse, at, trial), np.where(worse, best, value)
            step = np.where(worse, step / 2, newton)
            moved = np.abs(step).max(axis=0)
            if not (moved > TOLERANCE).any():
                break
        return _Fit(at[0], at[1], self.w * (self.y - q), h00, h01, safe, sound & (moved <= 1e-6))
