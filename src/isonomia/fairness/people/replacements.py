"""Shares of pairs of neighbours, and their errors: who is a neighbour depends on who else is there.

Without a person i, the pairs of i are gone, and everyone who had i as a neighbour has the next one instead. With e = v
(x - share), v the weight of a pair and x whether it counts, leaving out i changes the sum of e over pairs by

    d_i = sum of e over the pairs of i - sum of e over the pairs that replace them

and the variance of the share is sum d_i^2 over (sum of v)^2, but for what is not common to people: the part of e that
is a pair's own stands in it twice (a pair is lost with either of its people), that of a replacement once, though it is
in no sum. Both are taken off. A pair's own part is what it departs from the other pairs of its two people.

References
----------
B. Efron, C. Stein (1981), Annals of Statistics 9:586.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isonomia.counting import count_by, sum_by
from isonomia.fairness.people.neighbours import ROUNDING, Neighbours
from isonomia.typing import Bools, Floats, Indices


@dataclass(frozen=True, eq=False)
class Replacements:
    """Pairs of neighbours that there would be without somebody.

    Attributes
    ----------
    first, second : the two people of each pair
    without : people without whom a pair would be one of neighbours
    pair : for each of these, which pair
    """

    first: Indices
    second: Indices
    without: Indices
    pair: Indices

    @classmethod
    def of(
        cls,
        entries: tuple[Indices, Indices],
        nearest: Bools,
        following: Bools,
        n: int,
        keys: Indices,
        examined: Indices,
    ) -> Replacements:
        """From entries (one has the other nearby), which of them are nearest, and which follow if one of these is gone.

        `keys` are those of the pairs of neighbours, `examined` those of them that were looked at; see `keys_of`.
        """
        one, other = entries
        follows = np.flatnonzero(following)
        key = keys_of(one[follows], other[follows], n)
        new = ~np.isin(key, keys)
        pairs, which = np.unique(key[new], return_inverse=True)
        pair_of = np.full(n, -1)
        pair_of[one[follows[new]]] = which
        lost = np.flatnonzero(nearest & (one != other) & (pair_of[one] >= 0))
        lost = lost[np.isin(keys_of(one[lost], other[lost], n), examined)]
        # two people who both lose somebody may follow for each other: one pair
        without, pair = np.unique(np.stack([other[lost], pair_of[one[lost]]]), axis=1)
        return cls(pairs // n, pairs % n, without, pair)


def keys_of(one: Indices, other: Indices, n: int) -> Indices:
    """A number for each pair of n people, the same in either order."""
    return np.asarray(np.minimum(one, other) * n + np.maximum(one, other))


def within(found: Neighbours, distance: Floats, k: int) -> tuple[Bools, Bools]:
    """Which of the neighbours found are among the k nearest, ties included, and which one follows them.

    None follows where more than k are nearest already, since one of them can go.
    """
    query = np.repeat(np.arange(found.who.size), np.diff(found.start))
    order = np.lexsort((distance, query))
    of_query, far = query[order], distance[order]
    rows = count_by(found.row[found.pool], int(found.row.max()) + 1)[found.index][order]
    begins = np.ones(order.size, dtype=bool)
    begins[1:] = (of_query[1:] != of_query[:-1]) | (far[1:] > far[:-1] * (1 + ROUNDING))
    nearer = np.cumsum(rows) - rows  # rows before an entry, those of other queries included
    start = found.start[:-1]
    nearer = (nearer - nearer[start][of_query])[np.maximum.accumulate(np.where(begins, np.arange(order.size), 0))]
    inside, following = np.zeros((2, order.size), dtype=bool)
    inside[order] = nearer < k
    total = sum_by(of_query, np.where(nearer < k, rows, 0), found.who.size)
    outside = np.flatnonzero((nearer >= k) & (total[of_query] == k))
    following[order[outside[np.unique(of_query[outside], return_index=True)[1]]]] = True
    return inside, following


def variance_of_neighbours(
    off: Floats,
    v: Floats,
    first: Indices,
    second: Indices,
    replacements: Replacements,
    new: Floats,
    new_v: Floats,
) -> float:
    """The variance of a sum of e over pairs of neighbours.

    Parameters
    ----------
    off, v : arrays
        e of each pair, and its weight.
    first, second : arrays
        The two people of each pair.
    new, new_v : arrays
        e of each replacement, and its weight.
    """
    size = int(max(part.max(initial=0) for part in (first, second, replacements.first, replacements.second))) + 1

    def of_people(values: Floats | None) -> Floats:
        return sum_by(first, values, size) + sum_by(second, values, size)

    sums, weights, pairs = of_people(off), of_people(v), of_people(None)
    change = sums - sum_by(replacements.without, new[replacements.pair], size)

    def own(e: Floats, weight: Floats, a: Indices, b: Indices, less: int) -> Floats:
        """The squares of what e departs from the other pairs of its two people; of all e where there are none."""
        others = pairs[a] + pairs[b] - 2 * less
        there = weights[a] + weights[b] - 2 * less * weight
        mean = np.divide(sums[a] + sums[b] - 2 * less * e, there, out=np.zeros(e.size), where=there > 0)
        return np.asarray((e - weight * mean) ** 2 * others / np.maximum(others + 1, 1) + e**2 * (others <= 0))

    alone = float(own(off, v, first, second, 1).sum())
    times = count_by(replacements.pair, new.size)
    alone += float(times @ own(new, new_v, replacements.first, replacements.second, 0))
    return max(float(change @ change) - alone, float(off @ off))
