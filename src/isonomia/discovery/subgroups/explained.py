"""What subgroups explain: the expected values of rows, moved so that they agree with what was observed in each.

Of all chances that agree with the subgroups these are the nearest to the former ones: I. Csiszar (1975), I-divergence
geometry of probability distributions, Ann. Probab. 3:146. T. De Bie (2011), Data Min. Knowl. Disc. 23:407, takes
patterns that are known into account in this way before the next is searched.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isonomia.typing import Bools, Floats

#: How often all subgroups are gone through, at most, and the change of a shift that ends it.
_ROUNDS, _SETTLED = 50, 1e-6
#: Chances are kept this far from 0 and 1.
_CERTAIN = 1e-9


def explained(
    values: Floats, expected: Floats, subgroups: Sequence[Bools], weights: Floats | None, *, binary: bool
) -> Floats:
    """Expected values whose sum over each subgroup is that of the values.

    The odds of a subgroup's rows are multiplied by one factor (chances), or their values moved by one constant. Where
    subgroups overlap, they are gone through until nothing changes (iterative scaling).

    >>> heard = np.array([1.0, 1.0, 0.0, 0.0])
    >>> explained(heard, np.full(4, 0.5), [np.array([True, True, True, False])], None, binary=True).round(3)
    array([0.667, 0.667, 0.667, 0.5  ])
    """
    out = np.clip(expected, _CERTAIN, 1 - _CERTAIN) if binary else expected.copy()
    rows = [np.flatnonzero(inside) for inside in subgroups]
    for _ in range(_ROUNDS if len(rows) > 1 else 1):
        largest = 0.0
        for mine in rows:
            if not mine.size:
                continue
            weight = np.ones(mine.size) if weights is None else weights[mine]
            observed = float(values[mine] @ weight)
            if binary:
                odds = out[mine] / (1 - out[mine])
                shift = shift_of_odds(odds, observed, weight)
                out[mine] = np.clip(tilted(odds, shift), _CERTAIN, 1 - _CERTAIN)
            else:
                shift = (observed - float(out[mine] @ weight)) / max(float(weight.sum()), 1e-300)
                out[mine] += shift
            largest = max(largest, abs(shift))
        if largest < _SETTLED:
            break
    return out


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
