"""A level of the lattice: conjunctions of one length with their sums, and what follows from the previous level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Level:
    """Conjunctions of one length, in the order of their items.

    Attributes
    ----------
    items : array (count, length)
        Item numbers, ascending within a conjunction.
    sums : array (count, 1 + quantities)
        The rows of each conjunction (or their weight), then the sum of every quantity. For candidates that were not
        counted yet: the smallest of their parents' sums, which is at least as large for non-negative quantities.
    parents : array (count, length)
        Column j: the index, in the previous level as kept, of the conjunction without its j-th item.
    implied : array of uint64
        Bit j: the j-th item follows from the others, since without it the conjunction has no more rows. The item
        makes no difference whatever is added to the conjunction: its sums need no counting.
    """

    items: NDArray[np.int32]
    sums: Floats
    parents: Indices
    implied: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def length(self) -> int:
        """How many conditions a conjunction of this level has."""
        return int(self.items.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.items.nbytes + self.sums.nbytes + self.parents.nbytes + self.implied.nbytes

    def select(self, which: NDArray[Any]) -> Level:
        """Some of the conjunctions."""
        if which.dtype == bool and which.all():
            return self
        return Level(self.items[which], self.sums[which], self.parents[which], self.implied[which])


def stacked(parts: list[Level], before: Level) -> Level:
    """The parts of a level joined; an empty level of the right shape where there are none."""
    if len(parts) == 1:
        return parts[0]
    nothing = np.empty((0, before.length + 1), dtype=np.int64)
    empty = Level(nothing.astype(np.int32), before.sums[:0], nothing, before.implied[:0])
    parts = [empty, *parts]
    return Level(
        np.concatenate([part.items for part in parts]),
        np.concatenate([part.sums for part in parts]),
        np.concatenate([part.parents for part in parts]),
        np.concatenate([part.implied for part in parts]),
    )


def same_size(size: Floats, of_parents: Floats, parents: Indices) -> NDArray[np.uint64]:
    """Bit j where the parent without the j-th item has as many rows."""
    out = np.zeros(len(size), dtype=np.uint64)
    for j, index in enumerate(parents.T):
        out |= (of_parents[index] == size).astype(np.uint64) << np.uint64(j)
    return out


def implied_of(known: NDArray[np.uint64], parents: Indices) -> NDArray[np.uint64]:
    """Which items of candidates follow from others, since they do in one of the parents.

    In the parent without item j, the items after j are one position earlier: its bits from j on move up by one.
    """
    out = np.zeros(len(parents), dtype=np.uint64)
    one = np.uint64(1)
    for j, index in enumerate(parents.T):
        bits = known[index]
        below = np.uint64((1 << j) - 1)
        out |= (bits & below) | ((bits & ~below) << one)
    return out


def inherited(candidates: Level, kept: Level) -> Floats:
    """The sums of candidates with an implied item: those of the parent without it. Others are left to be counted."""
    sums = np.empty((len(candidates), kept.sums.shape[1]))
    rows = np.flatnonzero(candidates.implied)
    if rows.size:
        bits = candidates.implied[rows]
        lowest = np.bitwise_count((bits & (~bits + np.uint64(1))) - np.uint64(1))
        sums[rows] = kept.sums[candidates.parents[rows, lowest]]
    return sums
