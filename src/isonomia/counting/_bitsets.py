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


#: Words worked on at a time: the buffers stay in the processor's cache.
_BLOCK = 1 << 17
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
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        item_feature: NDArray[np.int32],
        item_code: NDArray[np.int64],
        classes: NDArray[np.uint8],
        values: NDArray[np.float64],
    ) -> None:
        self.values = values
        counts = np.bincount(classes, minlength=len(values))
        words = -(-counts // 64)
        self.bounds = np.concatenate([[0], np.cumsum(words)])
        self.width = int(self.bounds[-1])
        place = _places(classes, counts, self.bounds)
        self.items = _pack_items(columns, item_feature, item_code, place, self.width)

    @staticmethod
    def bytes_needed(n_items: int, n: int, n_classes: int) -> int:
        """What the bitsets of all items take."""
        return n_items * (n // 64 + n_classes) * 8

    def cost(self, items: NDArray[np.int32]) -> float:
        """Nanoseconds to count these candidates, roughly."""
        return float(len(items) * self.width) * (_COUNT_COST + (_AND_COST if items.shape[1] > 2 else 0.0))

    def count(self, level: Conjunctions, kept: Conjunctions, clock: Clock) -> tuple[NDArray[np.float64], int]:
        """Sums of the conjunctions of `level`, whose prefixes are among `kept`; and how many were reached in time.

        Candidates come sorted, so neighbours share most of their prefix: within a block the bitset of every
        different prefix is made once, from the bitset of the prefix before it.
        """
        last, total = level.items[:, -1], len(level.items)
        used, local = runs(level.parents[:, -1])
        prefixes = kept.items[used]
        changed = np.ones(prefixes.shape, dtype=bool)
        np.logical_or.accumulate(prefixes[1:] != prefixes[:-1], axis=1, out=changed[1:])
        counts = np.empty((total, len(self.values)), dtype=np.int64)
        block = max(1, _BLOCK // max(self.width, 1))
        buffers = np.empty((2, min(block, total), self.width), dtype=np.uint64)
        ones = np.empty(buffers.shape[1:], dtype=np.uint8)
        for begin in range(0, total, block):
            if clock.over and begin:
                return counts @ self.values, begin
            end = min(total, begin + block)
            both, other = buffers[:, : end - begin]
            few = slice(int(local[begin]), int(local[end - 1]) + 1)
            bits = self._prefix_bits(prefixes[few], changed[few])
            np.take(bits, local[begin:end] - few.start, axis=0, out=both, mode="clip")
            np.take(self.items, last[begin:end], axis=0, out=other, mode="clip")
            np.bitwise_and(both, other, out=both)
            np.bitwise_count(both, out=ones[: end - begin])
            for index in range(len(self.values)):
                part = ones[: end - begin, self.bounds[index] : self.bounds[index + 1]]
                np.add.reduce(part, axis=1, dtype=np.uint32, out=counts[begin:end, index])
        return counts @ self.values, total

    def _prefix_bits(self, prefixes: NDArray[np.int32], changed: NDArray[np.bool_]) -> Words:
        """The bitset of each of some sorted conjunctions; `changed` says up to which item one is like the last."""
        new = np.flatnonzero(changed[:, 0] | (np.arange(len(prefixes)) == 0))
        bits: Words = self.items.take(prefixes[new, 0], axis=0)
        for depth in range(1, prefixes.shape[1]):
            flags = changed[:, depth].copy()
            flags[0] = True
            rows = np.flatnonzero(flags)
            parent = np.searchsorted(new, rows, side="right") - 1
            bits, new = bits.take(parent, axis=0), rows
            np.bitwise_and(bits, self.items.take(prefixes[rows, depth], axis=0), out=bits)
        return bits


def runs(rising: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different values of a rising array, and for each place which of them it holds."""
    new = np.empty(rising.size, dtype=bool)
    new[:1] = True
    np.not_equal(rising[1:], rising[:-1], out=new[1:])
    return rising[new], np.cumsum(new) - 1


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
