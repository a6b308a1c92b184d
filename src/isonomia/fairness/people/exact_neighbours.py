"""Neighbours among rows of the same categories: most people have enough of them, and no one else need be looked at.

A different category adds a fixed amount to a distance. Where k rows that agree in all categories are nearer than that
amount, the nearest are among them; where k rows that differ in at most one are nearer than twice the amount, among
those. Rows of which neither holds are left to a search among everyone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.typing import Floats, Indices

#: A row with more rows of its own categories than this is left to the search among everyone.
MOST_ALIKE = 3000
#: Two distances this close (relative) are the same.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class NeighbourPool:
    """The rows that may be neighbours, by their categories.

    Attributes
    ----------
    codes : (U, c) categories of all different rows
    numbers : (U, m) their other coordinates
    pool : (V,) those of them that may be neighbours
    counts : (V,) how many rows each stands for
    apart : what a different category adds to the sum of |gap|^p
    """

    codes: NDArray[np.int64]
    numbers: Floats
    pool: Indices
    counts: NDArray[np.integer]
    apart: float
    p: int
    _known: dict[int | None, tuple[Indices, Indices, Indices]] = field(default_factory=dict)

    def entries(self, who: Indices, k: int) -> tuple[Indices, Indices, Floats, NDArray[np.bool_]]:
        """Entries (index in `who`, index in `pool`, share of the k) of rows whose k are found, and which rows."""
        complete = np.zeros(who.size, dtype=bool)
        parts: list[tuple[Indices, Indices, Floats]] = []
        many = self._many(who, None)
        row, near, gap = self._pairs(who, np.flatnonzero(~many), None)
        for reach in (1, 2):
            if reach == 2:
                columns = range(self.codes.shape[1])
                for column in columns:
                    many |= self._many(who, column)
                more = [self._pairs(who, np.flatnonzero(~complete & ~many), column) for column in columns]
                kept = ~complete[row] & ~many[row]
                row, near, gap = (
                    np.concatenate([first[kept], *(part[at] for part in more)])
                    for at, first in enumerate((row, near, gap))
                )
            inside = gap < reach * self.apart * (1 - 4 * ROUNDING)  # so that no tie lies beyond it
            distance = gap[inside] if self.p == 1 else np.sqrt(gap[inside])
            entries, done = shares(row[inside], distance, self.counts[near[inside]], k, who.size)
            complete |= done
            parts.append((row[inside][entries[0]], near[inside][entries[0]], entries[1]))
            if complete.all():
                break
        position, index = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
        return position, index, np.concatenate([part[2] for part in parts]), complete

    def _sorted(self, column: int | None) -> tuple[Indices, Indices, Indices]:
        """Keys of the categories but those of a column, the pool in their order, and where each key begins in it."""
        if column not in self._known:
            keep = [at for at in range(self.codes.shape[1]) if at != column]
            key = _keys(self.codes[:, keep])
            of_pool = key[self.pool]
            order = np.argsort(of_pool, kind="stable")
            self._known[column] = key, order, np.searchsorted(of_pool[order], np.arange(int(key.max()) + 2))
        return self._known[column]

    def _many(self, who: Indices, column: int | None) -> NDArray[np.bool_]:
        """Whose categories, but those of a column, too many have."""
        key, _, starts = self._sorted(column)
        return np.asarray(starts[key[who] + 1] - starts[key[who]] > MOST_ALIKE)

    def _pairs(self, who: Indices, query: Indices, column: int | None) -> tuple[Indices, Indices, Floats]:
        """Pairs (index in `who`, index in `pool`) that agree in all categories, or differ in just one column."""
        key, order, starts = self._sorted(column)
        start = starts[key[who[query]]]
        size = starts[key[who[query]] + 1] - start
        row = np.repeat(query, size)
        near = order[np.repeat(start - np.concatenate([[0], np.cumsum(size)[:-1]]), size) + np.arange(size.sum())]
        first, second = who[row], self.pool[near]
        gap = np.zeros(row.size)
        if column is not None:
            other = self.codes[first, column] != self.codes[second, column]
            row, near, first, second = row[other], near[other], first[other], second[other]
            gap = np.full(row.size, self.apart)
        for at in range(self.numbers.shape[1]):
            step = self.numbers[first, at] - self.numbers[second, at]
            gap += np.abs(step) if self.p == 1 else step * step
        return row, near, gap


def shares(
    row: Indices, distance: Floats, counts: NDArray[np.integer], k: int, rows: int
) -> tuple[tuple[Indices, Floats], NDArray[np.bool_]]:
    """How many of the k neighbours entries count as, ties at the edge shared; and which rows have k entries at all.

    The first part lists the entries that take any, of rows that have enough.
    """
    order = np.lexsort((distance, row))
    r, d, c = row[order], distance[order], counts[order].astype(float)
    upto = np.cumsum(c)
    start = np.searchsorted(r, np.arange(rows))
    end = np.searchsorted(r, np.arange(rows), side="right")
    before = np.concatenate([[0.0], upto])
    enough = before[end] - before[start] >= k
    # the first entry of each row by which k are reached
    edge_index = np.minimum(np.searchsorted(upto, before[start] + k - 0.5), max(d.size - 1, 0))
    edge = np.where(enough, d[edge_index] if d.size else np.nan, np.nan)[r]
    slack = ROUNDING * np.maximum(edge, 1e-300)
    nearer, tied = d < edge - slack, np.abs(d - edge) <= slack
    inside, there = (sum_by(r, c * part, rows)[r] for part in (nearer, tied))
    share = np.where(nearer, c, np.where(tied, c * (k - inside) / np.maximum(there, 1.0), 0.0))
    used = np.flatnonzero(share > 0)
    return (order[used], share[used]), enough


def _keys(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each combination of categories."""
    key = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        key = np.unique(key * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return key
