"""Conjunctions counted by bits: one packed bitset an item, and-ed and counted word by word.

Rows are put in the order of their class (rows with the same values of every quantity), each class on whole words. One
pass over the and-ed words then gives the count of every class, and the classes' values turn counts into sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isonomia.counting.codes import Codes, smallest
from isonomia.progress import Clock

Words = NDArray[np.uint64]


class Conjunctions(Protocol):
    """What is needed of a level: items a row, and in the last column of `parents` the place of each one's prefix."""

    @property
    def items(self) -> NDArray[np.int32]: ...

    @property
    def parents(self) -> NDArray[np.int64]: ...


#: Words worked on at a time: two buffers of this size stay in the second-level cache.
_BLOCK = 1 << 16
#: Nanoseconds a word, measured: and-ing, counting and adding up; and-ing alone.
_COUNT_COST, _AND_COST = 2.4, 1.2


class BitRoute:
    """Counts conjunctions by and-ing bitsets.

    Parameters
    ----------
    columns, item_feature, item_code
        The items.
    classes : array of uint8
        The class of each row.
    values : array (classes, sums)
        What one row of a class adds to each sum.
    budget : int
        Bytes for the bitsets of prefixes.
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        item_feature: NDArray[np.int32],
        item_code: NDArray[np.int64],
        classes: NDArray[np.uint8],
        values: NDArray[np.float64],
        budget: int,
    ) -> None:
        self.values = values
        self.budget = budget
        counts = np.bincount(classes, minlength=len(values))
        words = -(-counts // 64)
        self.bounds = np.concatenate([[0], np.cumsum(words)])
        self.width = int(self.bounds[-1])
        place = _places(classes, counts, self.bounds)
        self.items = _pack_items(columns, item_feature, item_code, place, self.width)
        self._known: tuple[int, NDArray[np.int64], Words] | None = None

    @staticmethod
    def bytes_needed(n_items: int, n: int, n_classes: int) -> int:
        """What the bitsets of all items take."""
        return n_items * (n // 64 + n_classes) * 8

    def cost(self, items: NDArray[np.int32]) -> float:
        """Nanoseconds to count these candidates, roughly."""
        return float(len(items) * self.width) * (_COUNT_COST + (_AND_COST if items.shape[1] > 2 else 0.0))

    def forget(self) -> None:
        """Drop what the last walk left here."""
        self._known = None

    def count(self, level: Conjunctions, kept: Conjunctions, clock: Clock) -> tuple[NDArray[np.float64], int]:
        """Sums of the conjunctions of `level`, whose prefixes are among `kept`; and how many were reached in time."""
        used, local = np.unique(level.parents[:, -1], return_inverse=True)
        fits = used.size * self.width * 8 <= self.budget // 2
        batch = used.size if fits else max(1, self.budget // 2 // (self.width * 8))
        counts = np.empty((len(level.items), len(self.values)), dtype=np.int64)
        done, reached = 0, True
        while done < len(counts) and reached:
            start = int(local[done])
            wanted = used[start : start + batch]
            stop = int(np.searchsorted(local, start + wanted.size))
            bits = self._bits_of(kept.items[wanted], kept.parents[wanted, -1])
            if fits and level.items.shape[1] > 2:
                self._known = (level.items.shape[1] - 1, used, bits)
            done = self._count_block(level.items[:, -1], local - start, bits, counts, done, stop, clock)
            reached = done == stop
        return counts @ self.values, done

    def _count_block(
        self,
        last: NDArray[np.int32],
        place: NDArray[np.int64],
        bits: Words,
        counts: NDArray[np.int64],
        start: int,
        stop: int,
        clock: Clock,
    ) -> int:
        block = max(1, _BLOCK // max(self.width, 1))
        both, other = np.empty((2, block, self.width), dtype=np.uint64)
        ones = np.empty((block, self.width), dtype=np.uint8)
        for begin in range(start, stop, block):
            if clock.over and begin:
                return begin
            end = min(stop, begin + block)
            size = end - begin
            np.take(bits, place[begin:end], axis=0, out=both[:size], mode="clip")
            np.take(self.items, last[begin:end], axis=0, out=other[:size], mode="clip")
            np.bitwise_and(both[:size], other[:size], out=both[:size])
            np.bitwise_count(both[:size], out=ones[:size])
            for index in range(len(self.values)):
                part = ones[:size, self.bounds[index] : self.bounds[index + 1]]
                np.add.reduce(part, axis=1, dtype=np.uint32, out=counts[begin:end, index])
        return stop

    def _bits_of(self, items: NDArray[np.int32], prefix: NDArray[np.int64]) -> Words:
        """Bitsets of conjunctions: from their own prefixes where these are at hand, else from all their items."""
        length = items.shape[1]
        if length == 1:
            return self.items[items[:, 0]]
        if self._known is not None and self._known[0] == length - 1:
            _, places, known = self._known
            bits, rest = known[np.searchsorted(places, prefix)], items[:, -1:]
        else:
            bits, rest = self.items[items[:, 0]], items[:, 1:]
        block = max(1, _BLOCK // max(self.width, 1))
        for begin in range(0, len(items), block):
            part = slice(begin, begin + block)
            for column in rest[part].T:
                np.bitwise_and(bits[part], self.items[column], out=bits[part])
        return bits


def _places(classes: NDArray[np.uint8], counts: NDArray[np.int64], bounds: NDArray[np.int64]) -> NDArray[Any] | None:
    """For each bit the row it stands for (the number of rows where it is padding); None where rows keep their order."""
    if len(counts) == 1:
        return None
    order = np.argsort(classes, kind="stable")
    place = np.full(int(bounds[-1]) * 64, classes.size, dtype=np.int64)
    start = 0
    for count, bound in zip(counts.tolist(), bounds.tolist(), strict=False):
        place[bound * 64 : bound * 64 + count] = order[start : start + count]
        start += count
    return place


def _pack_items(
    columns: Sequence[Codes],
    item_feature: NDArray[np.int32],
    item_code: NDArray[np.int64],
    place: NDArray[Any] | None,
    width: int,
) -> Words:
    out = np.zeros((item_feature.size, width), dtype=np.uint64)
    as_bytes = out.view(np.uint8)
    for feature, column in enumerate(columns):
        items = np.flatnonzero(item_feature == feature)
        if not items.size:
            continue
        table = np.zeros(column.size + 1, dtype=smallest(items.size + 1))
        table[item_code[items]] = np.arange(1, items.size + 1)
        codes = table[column.codes]
        if place is not None:
            codes = np.append(codes, codes.dtype.type(0)).take(place)
        for number, item in enumerate(items.tolist(), start=1):
            packed = np.packbits(codes == number)
            as_bytes[item, : packed.size] = packed
    return out
