r"""Scores of subset scanning as functions that add up over rows.

A subset S is scored by how much better its outcomes fit when what was expected is changed by one factor q:
F(S) = max over q of the log likelihood ratio. For every family here the ratio at a given q is a sum over rows,
and it is concave in x (x = ln q, or q itself for the Gaussian). So each set of rows is a row of coefficients of a few
fixed functions of x, and sets are added by adding coefficients:

* Bernoulli, q multiplies the odds: Y x - sum ln(1 - p + e^x p), by 36 Chebyshev polynomials in x (a row's error is
  below 1e-12);
* Poisson, q multiplies the mean: Y x + (1 - e^x) B;
* Gaussian, q multiplies the mean m, variance s^2: C (q - 1) - B (q^2 - 1) / 2, C = sum y m / s^2, B = sum m^2 / s^2;
* Berk-Jones at level a is the Bernoulli score of "above the quantile" with p = 1 - a for everyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.typing import Floats

Direction = Literal["under", "over"]
Scoring = Literal["Bernoulli", "Poisson", "Gaussian", "BerkJones"]

#: The factor q stays within [1 / LIMIT, LIMIT].
LIMIT = 1e3
_NODES = 36
_GRID = 33
_STEPS = 40
#: Newton doubles the digits that are right: after a step this small, eight of them are, and 16 of a highest value.
_CLOSE = 1e-4


class Peak(NamedTuple):
    """Where a function of x is highest, and how high."""

    x: Floats
    value: Floats


@dataclass(frozen=True, eq=False)
class Family:
    """One score in one direction: fixed functions of x, and what a row contributes to their coefficients.

    Attributes
    ----------
    name : str
        Its name.
    grid, at_grid, slope_at_grid : arrays
        Points of x from end to end, and the functions and their derivatives there (points x functions).
    slope, curve : arrays
        Coefficients -> coefficients of the first and second derivative.
    unit : array
        The coefficients of one unit of observed outcome.
    """

    name: Scoring
    grid: Floats
    at_grid: Floats
    slope_at_grid: Floats
    slope: Floats
    curve: Floats
    unit: Floats

    def functions(self, x: Floats) -> Floats:
        """The fixed functions at x: shape (functions, len(x))."""
        return _FUNCTIONS[self.name](x, self.grid)

    def fixed(self, expected: Floats, weights: Floats, cells: NDArray[np.int64], n_cells: int) -> Floats:
        """The coefficients, cell by cell, of everything that does not depend on the observed outcomes."""
        if self.name in ("Bernoulli", "BerkJones"):
            return _bernoulli_cells(self.grid[0], self.grid[-1], expected, weights, cells, n_cells)
        power = expected if self.name == "Poisson" else expected * expected
        total = sum_by(cells, weights * power, n_cells)
        zero = np.zeros_like(total)
        if self.name == "Poisson":
            return np.column_stack([total, zero, -total])
        return np.column_stack([total / 2, zero, -total / 2])

    def glance(self, coefficients: Floats) -> tuple[Peak, Floats]:
        """The highest value on the grid, and what the maximum cannot exceed (the tangents there, as it is concave)."""
        values = coefficients @ self.at_grid.T
        best = values.argmax(axis=1)
        peak = Peak(self.grid[best], values[np.arange(len(values)), best])
        slope = np.einsum("nf,nf->n", coefficients, self.slope_at_grid[best])
        last = len(self.grid) - 1
        left = self.grid[best] - self.grid[np.maximum(best - 1, 0)]
        right = self.grid[np.minimum(best + 1, last)] - self.grid[best]
        rise = np.where(slope > 0, slope * right, -slope * left)
        return peak, np.asarray(peak.value + rise * (1 + 1e-9) + 1e-12, dtype=float)

    def peak(self, coefficients: Floats) -> Peak:
        """The maximum over x, row by row of the coefficients."""
        values = coefficients @ self.at_grid.T
        best = values.argmax(axis=1)
        x, value = self.grid[best], values[np.arange(len(values)), best]
        low, high = self.grid[np.maximum(best - 1, 0)], self.grid[np.minimum(best + 1, len(self.grid) - 1)]
        own = np.ascontiguousarray(coefficients.T)
        slopes, curves = self.slope.T @ own, self.curve.T @ own
        active = np.arange(len(x))
        for _ in range(_STEPS):
            at = self.functions(x[active])
            first, second = _along(at, slopes[:, active]), _along(at, curves[:, active])
            low[active] = np.where(first > 0, x[active], low[active])
            high[active] = np.where(first < 0, x[active], high[active])
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(second < 0, x[active] - first / second, x[active])
            inside = (step >= low[active]) & (step <= high[active])
            new = np.where(inside, step, np.where(first == 0, x[active], (low[active] + high[active]) / 2))
            moved = np.abs(new - x[active])
            x[active] = new
            active = active[moved > _CLOSE * (1 + np.abs(new))]
            if not active.size:
                break
        reached = _along(self.functions(x), own)
        return Peak(np.where(value > reached, self.grid[best], x), np.maximum(value, reached))

    def interval(self, coefficients: Floats, peak: Peak, level: float) -> tuple[Floats, Floats]:
        """Between which x a row's function exceeds `level`; its peak must exceed it."""
        below = coefficients @ self.at_grid.T <= level
        left, right = below & (self.grid <= peak.x[:, None]), below & (self.grid >= peak.x[:, None])
        last = len(self.grid) - 1 - np.argmax(left[:, ::-1], axis=1)
        known = np.concatenate([left.any(axis=1), right.any(axis=1)])
        ends = np.concatenate([self.grid[last], self.grid[np.argmax(right, axis=1)]])
        ends[~known] = np.repeat(self.grid[[0, -1]], len(peak.x))[~known]
        rows = np.flatnonzero(known)
        own = np.ascontiguousarray(coefficients.T)[:, rows % len(peak.x)]
        ends[rows] = self._root(own, ends[rows], peak.x[rows % len(peak.x)], level)
        return ends[: len(peak.x)], ends[len(peak.x) :]

    def _root(self, own: Floats, start: Floats, peak: Floats, level: float) -> Floats:
        """Newton from outside: of a concave function it comes nearer step by step and never passes the root."""
        x, slopes = start.copy(), self.slope.T @ own
        active = np.arange(len(x))
        for _ in range(_STEPS):
            if not active.size:
                break
            at = self.functions(x[active])
            gap, rise = _along(at, own[:, active]) - level, _along(at, slopes[:, active])
            with np.errstate(divide="ignore", invalid="ignore"):
                step = x[active] - gap / rise
            between = (step - x[active]) * (peak[active] - step) >= 0  # rounding aside, always so
            new = np.where(np.isfinite(step) & between, step, x[active])
            moved = np.abs(new - x[active])
            x[active] = new
            active = active[moved > _CLOSE * (1 + np.abs(new))]
        return x


def _along(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("fn,fn->n", a, b), dtype=float)


def family_of(scoring: Scoring, direction: Direction) -> Family:
    """The score in one direction: "under" looks for outcomes above what was expected (q >= 1), "over" below."""
    if scoring == "BerkJones":
        direction = "under"  # the outcomes are turned round instead
    return _family(scoring, direction)


@cache
def _family(scoring: Scoring, direction: Direction) -> Family:
    reach = np.log(LIMIT)
    low, high = (0.0, reach) if direction == "under" else (-reach, 0.0)
    grid = np.linspace(low, high, _GRID)
    if scoring in ("Bernoulli", "BerkJones"):
        slope = _chebyshev_slope() * (2 / (high - low))
        unit = np.zeros(_NODES)
        unit[0], unit[1] = (low + high) / 2, (high - low) / 2
    elif scoring == "Poisson":
        slope = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]])
        unit = np.array([0.0, 1, 0])
    else:
        spread = np.expm1(np.linspace(0, reach, _GRID))
        grid = 1 + (spread if direction == "under" else -spread[::-1])
        slope = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
        unit = np.array([-1.0, 1, 0])
    at_grid = np.ascontiguousarray(_FUNCTIONS[scoring](grid, grid).T)
    return Family(
        name=scoring,
        grid=grid,
        at_grid=at_grid,
        slope_at_grid=at_grid @ slope.T,
        slope=slope,
        curve=slope @ slope,
        unit=unit,
    )


def _chebyshev_slope() -> Floats:
    """Row j: the derivative of T_j in T_0, T_1, ...: 2j (T_{j-1} + T_{j-3} + ...), the T_0 term halved."""
    out = np.zeros((_NODES, _NODES))
    for j in range(1, _NODES):
        out[j, j - 1 :: -2] = 2 * j
        if j % 2:
            out[j, 0] = j
    return out


def _chebyshev(x: Floats, grid: Floats) -> Floats:
    """T_0, T_1, ... at x, twice as many at a time: T_(m+i) = 2 T_m T_i - T_(m-i)."""
    t = (2 * x - grid[0] - grid[-1]) / (grid[-1] - grid[0])
    out = np.empty((_NODES, len(t)))
    out[0], out[1] = 1.0, t
    m = 1
    while m < _NODES - 1:
        more = min(m, _NODES - 1 - m)
        np.multiply(out[1 : more + 1], 2 * out[m], out=out[m + 1 : m + more + 1])
        out[m + 1 : m + more + 1] -= out[m - more : m][::-1]
        m += more
    return out


def _powers(x: Floats, grid: Floats) -> Floats:
    return np.stack([np.ones_like(x), x, x * x])


def _exponentials(x: Floats, grid: Floats) -> Floats:
    return np.stack([np.ones_like(x), x, np.exp(x)])


_FUNCTIONS = {"Bernoulli": _chebyshev, "BerkJones": _chebyshev, "Poisson": _exponentials, "Gaussian": _powers}


def _bernoulli_cells(
    low: float, high: float, p: Floats, weights: Floats, cells: NDArray[np.int64], n_cells: int
) -> Floats:
    """Chebyshev coefficients of -sum ln(1 - p + e^x p), cell by cell."""
    angles = np.pi * (np.arange(_NODES) + 0.5) / _NODES
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
    values = np.empty((n_cells, _NODES))
    for k, x in enumerate(nodes.tolist()):
        values[:, k] = sum_by(cells, -weights * np.log1p(p * np.expm1(x)), n_cells)
    turn = np.cos(np.outer(angles, np.arange(_NODES))) * (2 / _NODES)
    turn[:, 0] /= 2
    return np.asarray(values @ turn, dtype=float)
