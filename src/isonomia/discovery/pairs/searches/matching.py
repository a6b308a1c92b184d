"""Optimal matching at minimum total cost: exact, with a fast start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import IsonomiaError, require
from isonomia.typing import Floats

#: Groups up to this size are solved from nothing.
SMALL = 500
#: Rounds in which prices settle; unsettled ones are as good a start, only a little slower.
ROUNDS = 200
#: Steps of POT's network simplex before it gives up.
MAX_STEPS = 50_000_000


def squared_l1(a: Floats, b: Floats) -> Floats:
    """The square of the L1 distance between every two people."""
    from scipy.spatial.distance import cdist

    cost = cdist(a, b, "cityblock")
    return np.asarray(np.square(cost, out=cost))


def assignment(cost: Floats) -> NDArray[np.intp]:
    """The bijection of least total cost of a square matrix: the column of each row.

    Taking a number off a whole row or column changes every bijection's total by the same, so the best one stays the
    best. Half of the people (drawn with a fixed seed) are matched first; the prices of that match (the dual solution)
    taken off everyone's costs leave little for the shortest paths of scipy's solver to look for. Exact, and three to
    four times as quick from 2,000 people on.

    >>> assignment(np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])).tolist()
    [1, 0, 2]
    """
    from scipy.optimize import linear_sum_assignment

    n = len(cost)
    if n <= SMALL:
        return np.asarray(linear_sum_assignment(cost)[1], dtype=np.intp)
    rng = np.random.default_rng(0)
    rows, columns = (np.sort(rng.permutation(n)[: n // 2]) for _ in range(2))
    part = cost[np.ix_(rows, columns)]
    price = prices(part, assignment(part))
    of_row = (cost[:, columns] - price).min(axis=1)
    reduced = cost - of_row[:, None]
    reduced -= reduced.min(axis=0)
    reduced -= reduced.min(axis=1)[:, None]
    return np.asarray(linear_sum_assignment(reduced)[1], dtype=np.intp)


def prices(cost: Floats, column: NDArray[np.intp]) -> Floats:
    """Prices v of the columns under which a best assignment is best for every row by itself.

    With ``u[i] = cost[i, column[i]] - v[column[i]]`` no ``u[i] + v[j]`` exceeds ``cost[i, j]``: then the total of u and
    v is at most that of any assignment, and equal to this one's, which proves it best. Such prices are shortest paths
    (Bellman-Ford, all columns at once); there are none where the assignment is not a best one.
    """
    extra = cost - cost[np.arange(len(cost)), column][:, None]
    price = np.zeros(len(cost))
    for _ in range(ROUNDS):
        lower = np.minimum((extra + price[column][:, None]).min(axis=0), price)
        if np.abs(lower - price).max(initial=0.0) <= 1e-12 * max(1.0, float(cost.max(initial=0.0))):
            break
        price = lower
    return price


def transport(cost: Floats) -> NDArray[np.intp]:
    """The heaviest counterpart of each row in the optimal plan between groups of any size (POT's network simplex)."""
    ot = require("ot", extra="transport", purpose="matching groups of unequal size whole")
    n, m = cost.shape
    plan, log = ot.emd(np.full(n, 1 / n), np.full(m, 1 / m), cost, numItermax=MAX_STEPS, log=True)
    if log["warning"] is not None:
        raise IsonomiaError(f"POT did not find the optimal plan: {log['warning']}. Choose solver='batches'.")
    return np.asarray(plan.argmax(axis=1), dtype=np.intp)
