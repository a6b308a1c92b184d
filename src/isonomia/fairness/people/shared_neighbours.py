"""Averages over pairs of people, and their errors where pairs share people.

A figure is T = sum over pairs of v x, with v the weight of a pair. Two pairs with a person in common are not
independent, so the variance adds their covariances: sum over people of (sum of e over the pairs of a person)^2 less
sum of e^2, with e = v (x - mean of x).

References
----------
P. Aronow, C. Samii, V. Assenova (2015), Political Analysis 23:564.
"""

from __future__ import annotations

import numpy as np

from isonomia.counting import sum_by
from isonomia.evidence import Estimate, wilson
from isonomia.evidence.intervals import student_interval
from isonomia.fairness.people.neighbours import Neighbours
from isonomia.languages import msg
from isonomia.languages.naming import as_text
from isonomia.typing import Floats, Indices


def variance_of_pairs(of_people: Floats, alone: float) -> float:
    """The variance of a sum over pairs, from each person's sum of e and the sum of e^2 over pairs."""
    return max(float(of_people @ of_people) - alone, alone)


def share_estimate(share: float, variance: float, people: float, pairs: int, level: float) -> Estimate:
    """A share of pairs with Wilson's interval at the number of independent pairs that has this variance.

    Where all pairs are alike there is no spread to see: as many pairs as can be formed without using anyone twice.
    """
    n = share * (1 - share) / variance if variance > 0 else people / 2
    low, high = wilson(share * n, n, level)
    return Estimate(share, float(low), float(high), n=pairs, method="wilson", level=level)


def number_estimate(value: float, variance: float, rows: int, level: float, people: int | None = None) -> Estimate:
    """An average of numbers over pairs, with Student's interval; one row has none.

    There are as many degrees of freedom as people who vary, less one: the rows, or the fewer `people` that they are
    compared with.
    """
    if rows < 2:
        return Estimate(value, n=rows, note=as_text(msg("one row: no interval")))
    low, high = student_interval(value, np.sqrt(variance), rows if people is None else min(rows, people), level)
    return Estimate(value, float(low), float(high), n=rows, method="student", level=level)


def variance_with_neighbours(
    near: Neighbours,
    rows: Indices,
    values: Floats,
    *,
    weights: Floats | None = None,
    sign: Floats | None = None,
    share: Floats | None = None,
) -> float:
    """The variance of the average over people of sign (own value - mean value of their neighbours).

    Parameters
    ----------
    near : Neighbours
        Of `rows`.
    values : (n,) or (n, C) array
        One value per row; with several columns (indicators of classes) differences are summed over them.
    weights : (n,) array, optional
        People that each row stands for.
    sign : (q,) or (q, C) array, optional
        +1 or -1 per row of `rows`: that of its difference where the figure is an absolute one. +1 unless given.
    share : (q,) array, optional
        The weight of each of `rows` in the average; 0 leaves it out. The rows' weights unless given.

    Notes
    -----
    A pair is one of `rows`, i, and one of its neighbours j, with v = share_i t_ij w_j, where the t_ij w_j of a row add
    up to 1, and x = sign_i (y_i - y_j). The row itself, where it counts among its neighbours, differs by nothing for
    sure and is not a pair. All sums are formed over rows that are equal, never pair by pair.
    """
    n = near.row.size
    w = np.ones(n) if weights is None else weights
    y = values[:, None] if values.ndim == 1 else values
    u = w[rows] if share is None else share
    u = u / u.sum()
    s = np.ones((rows.size, y.shape[1])) if sign is None else sign.reshape(rows.size, -1)
    size, queries, pool = int(near.row.max()) + 1, near.who.size, near.pool
    counted = np.where(pool, w, 0.0)
    same = sum_by(near.row[pool], None, size)  # rows that are equal to it, among possible neighbours
    of_query = np.repeat(np.arange(queries), np.diff(near.start))
    part = near.share / same[near.index]
    part /= np.add.reduceat(sum_by(near.row, counted, size)[near.index] * part, near.start[:-1])[of_query]
    to_self = np.zeros(queries)
    itself = near.index == near.who[of_query]
    to_self[of_query[itself]] = part[itself]
    own_share = to_self[near.query] * counted[rows]  # what a row counts among its own neighbours

    def by_neighbour(amount: Floats) -> Floats:
        """What `rows` give to each row of their neighbours, per unit of its weight."""
        return sum_by(near.index, part * sum_by(near.query, amount, queries)[of_query], size)[near.row]

    mean = near.mean(y, weights)
    apart = (s * (y[rows] - mean)).sum(axis=1)
    others = float(u @ (1 - own_share))
    if others <= 0:
        return 0.0
    centre = float(u @ apart) / others
    of_people = counted * (
        sum(by_neighbour(u * s[:, c] * y[rows, c]) - y[:, c] * by_neighbour(u * s[:, c]) for c in range(y.shape[1]))
        - centre * by_neighbour(u)
    )
    np.add.at(of_people, rows, u * own_share * centre)  # the row itself is not a pair
    np.add.at(of_people, rows, u * (apart - centre * (1 - own_share)))
    return variance_of_pairs(of_people, _squares(near, y, s, u, rows, counted, part, of_query, own_share, centre))


def _squares(
    near: Neighbours,
    y: Floats,
    s: Floats,
    u: Floats,
    rows: Indices,
    counted: Floats,
    part: Floats,
    of_query: Indices,
    own_share: Floats,
    centre: float,
) -> float:
    """The sum of e^2 over pairs. With several columns x is 0 or twice the sign, so its square follows from it."""
    size, queries = int(near.row.max()) + 1, near.who.size

    def over(values: Floats) -> Floats:
        """Sums over the neighbours of each of `rows` of w^2 t^2 times a value of theirs."""
        moment = sum_by(near.row, counted**2 * values, size)
        return sum_by(of_query, part**2 * moment[near.index], queries)[near.query]

    ones = over(np.ones(y.shape[0]))
    first = sum(s[:, c] * (y[rows, c] * ones - over(y[:, c])) for c in range(y.shape[1]))
    if y.shape[1] == 1:
        mine = y[rows, 0]
        second = mine**2 * ones - 2 * mine * over(y[:, 0]) + over(y[:, 0] ** 2)
    else:
        second = 2 * np.abs(s[:, 0]) * first  # two classes differ in two indicators
    total = second - 2 * centre * first + centre**2 * (ones - own_share**2)
    return float(u**2 @ total)
