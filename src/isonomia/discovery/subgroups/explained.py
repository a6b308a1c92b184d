"""What subgroups explain: the expected values of rows, moved so that they agree with what was observed in each.

Of all chances that agree with the subgroups these are the nearest to the former ones: I. Csiszar (1975), I-divergence
geometry of probability distributions, Ann. Probab. 3:146. T. De Bie (2011), Data Min. Knowl. Disc. 23:407, takes
patterns that are known into account in this way before the next is searched.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from isonomia.typing import Bools, Floats

#: Newton steps at most, the longest one of a shift, and the one that ends them.
_STEPS, _LONGEST, _SETTLED = 100, 4.0, 1e-9
#: Chances are kept this far from 0 and 1.
_CERTAIN = 1e-9


def explained(
    values: Floats, expected: Floats, subgroups: Sequence[Bools], weights: Floats | None, *, binary: bool
) -> Floats:
    """Expected values whose sum over each subgroup is that of the values.

    The odds of a subgroup's rows are multiplied by one factor (chances), or their values moved by one constant; rows of
    several subgroups by those of each. The factors are those of a logistic regression on the subgroups, the constants
    those of least squares.

    >>> heard = np.array([1.0, 1.0, 0.0, 0.0])
    >>> explained(heard, np.full(4, 0.5), [np.array([True, True, True, False])], None, binary=True).round(3)
    array([0.667, 0.667, 0.667, 0.5  ])
    """
    weight = np.ones(values.size) if weights is None else weights
    inside = np.column_stack(list(subgroups)).astype(float)
    if not binary:
        return expected + inside @ _solved((inside.T * weight) @ inside, (inside.T * weight) @ (values - expected))
    out = np.clip(expected, _CERTAIN, 1 - _CERTAIN)
    open_, inside = _settle_certain(out, values, inside, weight)
    rows, w, y = inside[open_], weight[open_], values[open_]
    log_odds = np.log(out[open_]) - np.log1p(-out[open_])
    for _ in range(_STEPS):
        chances = expit(log_odds)
        missing = rows.T @ (w * (y - chances))
        step = _solved((rows.T * (w * chances * (1 - chances))) @ rows, missing).clip(-_LONGEST, _LONGEST)
        log_odds += rows @ step
        if np.abs(step).max(initial=0.0) < _SETTLED:
            break
    out[open_] = expit(log_odds).clip(_CERTAIN, 1 - _CERTAIN)
    return out


def _settle_certain(out: Floats, values: Floats, inside: Floats, weight: Floats) -> tuple[Bools, Floats]:
    """Subgroups in which everybody, or nobody, was observed have no finite odds: their rows are certain.

    Returns the rows and subgroups that are left; what is certain in one may leave another that is.
    """
    left = np.ones(out.size, dtype=bool)
    while True:
        mass, observed = (weight * left) @ inside, (weight * values * left) @ inside
        sure = np.flatnonzero((mass <= 0) | (observed <= 1e-12 * mass) | (observed >= (1 - 1e-12) * mass))
        if not sure.size:
            return left, inside
        for index in sure:
            rows = left & (inside[:, index] > 0)
            out[rows] = np.where(values[rows] > 0.5, 1 - _CERTAIN, _CERTAIN)
            left &= ~rows
        inside = np.delete(inside, sure, axis=1)


def _solved(matrix: Floats, target: Floats) -> Floats:
    """The shortest solution: subgroups may be parts of each other, or the same rows."""
    return np.asarray(np.linalg.lstsq(matrix, target, rcond=1e-12)[0], dtype=float)


def tilted(odds: Floats, shift: float) -> Floats:
    """Chances whose log odds are moved by a shift."""
    moved = odds * np.exp(shift)
    return np.asarray(moved / (1 + moved), dtype=float)


def shift_of_odds(odds: Floats, target: float, weights: Floats | None = None) -> float:
    """The shift of all log odds at which the chances add up to the target: Newton within a bracket."""
    low, high = -60.0, 60.0
    weight = np.ones(odds.size) if weights is None else weights
    s = 0.0
    for _ in range(100):
        chances = tilted(odds, s)
        away = float(chances @ weight) - target
        low, high = (s, high) if away < 0 else (low, s)
        step = s - away / max(float((chances * (1 - chances)) @ weight), 1e-12)
        after = step if low < step < high else (low + high) / 2
        if abs(after - s) < 1e-10:
            return after
        s = after
    return s
