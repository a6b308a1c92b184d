"""The search for prices: one per group and comparison, such that the groups' figures differ by at most a limit.

Figures r (rates of decisions, means of predictions) fall with the prices p. Under a limit e between any two groups the
prices maximise a concave function whose slope is r and whose penalty is e / 2 |p|_1, with prices that sum to 0 in each
comparison: only the groups at the two ends of the window have a price. Each step maximises the quadratic model of it,
r'(q - p) - (q - p)'K(q - p) / 2 - e / 2 |q|_1, with K = -dr/dp, damped where the figures do not follow the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.typing import Floats

#: The share of the limit that is aimed at, and the share from which a result is near enough: of decisions, which move
#: in steps.
AIM, NEAR = 0.8, 0.55
#: Results within the limit, and steps without gain, after which the search ends.
ENOUGH, PATIENCE = 3, 6
#: How many times the error of the first fit one may have that misses the limit.
WORSE = 2.0


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One fit: prices, the figures (comparisons, groups) and error of its model, and what it left for `response`."""

    prices: Floats
    figures: Floats
    error: float
    model: Any
    state: Any = None

    @property
    def gap(self) -> float:
        """The largest difference between groups."""
        return float(np.ptp(self.figures, axis=1).max())


@dataclass(frozen=True, kw_only=True)
class Found:
    """The best fit, and all that were tried."""

    best: Tried
    tried: tuple[Tried, ...]


def search_prices(
    fit: Callable[[Floats], Tried],
    response: Callable[[Tried], Floats],
    mass: Floats,
    limit: float,
    rounds: int,
    start: Floats | None = None,
    *,
    aim: float = AIM,
    near: float = NEAR,
) -> Found:
    """The fit with the smallest error whose gap is within the limit; where none is, the smallest gap found.

    Parameters
    ----------
    fit : callable
        Trains at prices (comparisons, groups).
    response : callable
        K = -dr/dp at a fit, (cells, cells).
    mass : (comparisons, groups)
        The weight of each group: a price counts by its share of it.
    start : (comparisons, groups), optional
        Prices to begin with; none by default.
    aim, near : float
        The share of the limit that is aimed at, and the share from which a result is near enough.
    """
    prices = np.zeros(mass.shape) if start is None else start
    damping, weight = np.diag(1 / mass.ravel()), 0.02
    tried: list[Tried] = []
    best, failed, K = None, 0, damping
    while len(tried) < rounds:
        one = fit(prices)
        tried.append(one)
        unneeded = one.gap <= limit and not one.prices.any()
        if unneeded or near * limit <= one.gap <= limit or sum(each.gap <= limit for each in tried) >= ENOUGH:
            break
        if best is None or one.gap <= limit or one.gap < best.gap:
            weight = weight if best is None else weight / 3
            best, failed, K = one, 0, _positive(response(one))
        else:
            weight, failed = 4 * weight, failed + 1
            if failed > PATIENCE:
                break
        prices = _next(best.prices, best.figures, K + weight * damping, aim * limit)
    return Found(best=_best(tried, limit), tried=tuple(tried))


def mix(tried: Sequence[Tried], limit: float) -> Floats:
    """Shares of fits with the smallest expected error whose expected figures differ by at most the limit.

    The smallest gap that any mixture reaches stands for a limit that none keeps.
    """
    from scipy.optimize import linprog

    solve: Any = linprog  # its stubs know no matrices beside bounds that are open
    n, figures = len(tried), np.stack([one.figures for one in tried])  # (fits, comparisons, groups)
    one, other = np.triu_indices(figures.shape[-1], 1)
    apart = (figures[..., one] - figures[..., other]).reshape(n, -1).T
    rows = np.vstack([apart, -apart])
    gap = np.column_stack([rows, -np.ones(len(rows))])  # the last variable is the gap
    whole, bounds = np.ones((1, n + 1)), [(0.0, 1.0)] * n + [(0.0, None)]
    whole[0, -1] = 0.0
    least = solve(1.0 - whole[0], gap, np.zeros(len(rows)), whole, [1.0], bounds)
    within = np.full(len(rows), max(limit, float(least.fun) + 1e-9))
    found = solve(np.array([one.error for one in tried]), rows, within, whole[:, :-1], [1.0], bounds[:-1])
    shares = np.where(found.x > 1e-9, found.x, 0.0)
    return np.asarray(shares / shares.sum())


def _best(tried: list[Tried], limit: float) -> Tried:
    """The smallest error within the limit, else the smallest gap among fits that are not far worse than the first."""
    inside = [one for one in tried if one.gap <= limit]
    if inside:
        return min(inside, key=lambda one: one.error)
    return min((one for one in tried if one.error <= WORSE * tried[0].error), key=lambda one: one.gap)


def _positive(K: Floats) -> Floats:
    """The symmetric part with eigenvalues above 0."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    return np.asarray((vectors * np.maximum(values, 1e-3 * max(values.max(), 1e-12))) @ vectors.T)


def _next(prices: Floats, figures: Floats, K: Floats, width: float) -> Floats:
    """The maximum of the quadratic model, by accelerated proximal steps."""
    rate = 1 / float(np.linalg.eigvalsh(K).max() * 1.0001)
    now, ahead, momentum = prices, prices, 1.0
    for _ in range(300):
        slope = figures - (K @ (ahead - prices).ravel()).reshape(prices.shape)
        new = _shrunk(ahead + rate * slope, rate * width / 2)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - now)
        done = np.abs(new - now).max() <= 1e-10 * max(1.0, float(np.abs(new).max()))
        now, momentum = new, following
        if done:
            break
    return now


def _shrunk(z: Floats, by: float) -> Floats:
    """argmin |q - z|^2 / 2 + by |q|_1 with rows that sum to 0: z - v shrunk towards 0, with v found between its kinks.

    >>> _shrunk(np.array([[3.0, 0.0, -2.0]]), 0.5).tolist()
    [[2.0, 0.0, -2.0]]
    """
    at = np.sort(np.concatenate([z - by, z + by], axis=1), axis=1)
    totals = _soft(z[:, None, :] - at[:, :, None], by).sum(axis=-1)  # falls along each row
    right = np.clip((totals > 0).sum(axis=1), 1, at.shape[1] - 1)
    row = np.arange(len(z))
    (x, x_right), (f, f_right) = ((one[row, right - 1], one[row, right]) for one in (at, totals))
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(f > f_right, x + (x_right - x) * f / (f - f_right), x)
    return _soft(z - v[:, None], by)


def _soft(z: Floats, by: float) -> Floats:
    return np.asarray(np.sign(z) * np.maximum(np.abs(z) - by, 0.0) + 0.0)
