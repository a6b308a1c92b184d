"""Conjunctions counted by bits: one packed bitset per item, combined by AND and counted word by word.

Rows are sorted by class (rows with the same values of every quantity), and each class starts on a new word. One pass
over the combined words then gives the count of every class, and the classes' values turn counts into sums.

Within a class, rows are sorted by the first features. So the rows of an item of a leading feature are contiguous, and
conjunctions that begin with it are counted on the few words where it has rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isonomia.counting.codes import Codes, smallest
from isonomia.events import Clock

Words = NDArray[np.uint64]


class Conjunctions(Protocol):
    """What is needed of a level: items per conjunction, and in the last column of `parents` the index of its prefix."""

    @property
    def items(self) -> NDArray[np.int32]: ...

    @property
    def parents(self) -> NDArray[np.int64]: ...


@dataclass(frozen=True, eq=False)
class _Part:
    """The bitsets of items on some words of the rows: row i is item `start + i`; classes end at `bounds`."""

    bits: Words
    bounds: NDArray[np.int64]
    start: int


#: Words worked on at a time: the buffers stay in the processor's cache.
_BLOCK = 1 << 16
#: With at least this many conjunctions of the same first item it pays to select the words of that item.
_GROUP = 48
#: It pays only if the item has rows in at most this share of all words.
_SPARSE = 0.7
#: Measured nanoseconds per word: AND, count and sum; AND alone.
_COUNT_COST, _AND_COST = 2.4, 1.2


class BitRoute:
    """Counts conjunctions by combining bitsets.

    Parameters
    ----------
    columns, item_feature, item_code
        The items, feature by feature.
    classes : array of uint8
        The class of each row.
    values : array (classes, sums)
        What one row of a class adds to each sum.
    budget : int
        Bytes for bitsets kept from level to level.
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
        counts = np.bincount(classes, minlength=len(values))
        bounds = np.concatenate([[0], np.cumsum(-(-counts // 64))])
        order = _row_order([columns[feature] for feature in dict.fromkeys(item_feature.tolist())], classes)
        bits = _pack_items(columns, item_feature, item_code, _rows_of_bits(order, counts, bounds), int(bounds[-1]))
        self._all = _Part(bits, bounds, 0)
        self._kept: dict[int, _Part] = {}
        self._budget = budget

    @staticmethod
    def bytes_needed(n_items: int, n: int, n_classes: int) -> int:
        """Bytes of the bitsets of all items."""
        return n_items * (n // 64 + n_classes) * 8

    @staticmethod
    def cost(items: NDArray[np.int32], n: int) -> float:
        """Nanoseconds to count these candidates, roughly."""
        return float(len(items) * (n // 64 + 1)) * (_COUNT_COST + (_AND_COST if items.shape[1] > 2 else 0.0))

    def count(self, level: Conjunctions, kept: Conjunctions, clock: Clock) -> tuple[NDArray[np.float64], int]:
        """Sums of the conjunctions of a sorted level, and how many of them were reached in time."""
        items = level.items
        counts = np.empty((len(items), len(self.values)), dtype=np.int64)
        for begin, end, first in _segments(items[:, 0]):
            part = self._all if first is None else self._within(first)
            chosen = items[begin:end] if part is self._all else items[begin:end, 1:]
            reached = begin + _count_part(part, chosen, counts[begin:end], clock, started=begin > 0)
            if reached < end:
                return counts @ self.values, reached
        return counts @ self.values, len(items)

    def _within(self, first: int) -> _Part:
        """All later items on the words where an item has rows, combined with it; or all words if that saves little."""
        if first in self._kept:
            return self._kept[first]
        part = self._all
        words = np.flatnonzero(part.bits[first])
        if words.size <= _SPARSE * part.bits.shape[1]:
            bits = part.bits[first + 1 :].take(words, axis=1)
            bits &= part.bits[first, words]
            part = _Part(bits, np.searchsorted(words, part.bounds), first + 1)
            if bits.nbytes <= self._budget:
                self._budget -= bits.nbytes
                self._kept[first] = part
        return part


def _segments(first: NDArray[np.int32]) -> Iterator[tuple[int, int, int | None]]:
    """Ranges of conjunctions: those with the same first item where they are many, everything between them otherwise."""
    items, group = runs(first)
    ends = np.searchsorted(group, np.arange(items.size), side="right").tolist()
    open_from = begin = 0
    for item, end in zip(items.tolist(), ends, strict=True):
        if end - begin >= _GROUP:
            if open_from < begin:
                yield open_from, begin, None
            yield begin, end, item
            open_from = end
        begin = end
    if open_from < len(first):
        yield open_from, len(first), None


def _count_part(
    part: _Part, items: NDArray[np.int32], counts: NDArray[np.int64], clock: Clock, *, started: bool
) -> int:
    """Count sorted conjunctions class by class; how many were reached in time.

    Neighbours share most of their prefix: within a block the bitset of every different prefix is made once, from the
    bitset of the prefix before it.
    """
    items = items - part.start
    changed = np.ones(items.shape, dtype=bool)
    np.logical_or.accumulate(items[1:] != items[:-1], axis=1, out=changed[1:])
    width, total = part.bits.shape[1], len(items)
    block = max(1, _BLOCK // max(width, 1))
    space = np.empty((3, min(block, total), width), dtype=np.uint64)
    ones = np.empty(space.shape[1:], dtype=np.uint8)
    for begin in range(0, total, block):
        if clock.over and (begin or started):
            return begin
        rows = slice(begin, min(total, begin + block))
        bits = _bits_of(part.bits, items[rows], changed[rows], space)
        mine = np.bitwise_count(bits, out=ones[: len(bits)])
        for index in range(len(part.bounds) - 1):
            some = mine[:, part.bounds[index] : part.bounds[index + 1]]
            np.add.reduce(some, axis=1, dtype=np.uint32, out=counts[rows, index])
    return total


def _bits_of(known: Words, items: NDArray[np.int32], changed: NDArray[np.bool_], space: Words) -> Words:
    """The bitset of each of some sorted conjunctions; `changed` says from which item on one differs from the last."""
    bits, fresh, before = space
    new = np.zeros(1, dtype=np.int64)
    for depth in range(items.shape[1]):
        flags = changed[:, depth].copy()
        flags[0] = True
        rows = np.flatnonzero(flags)
        item = fresh[: rows.size]
        known.take(items[rows, depth], axis=0, out=item, mode="clip")
        if depth:
            parent = before[: rows.size]
            bits.take(np.searchsorted(new, rows, side="right") - 1, axis=0, out=parent, mode="clip")
            np.bitwise_and(item, parent, out=item)
        bits, fresh, new = fresh, bits, rows
    made: Words = bits[: len(items)]
    return made


def runs(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct values of a sorted array, and for each entry the index of its value."""
    new = np.empty(values.size, dtype=bool)
    new[:1] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return values[new], np.cumsum(new) - 1


def _row_order(columns: Sequence[Codes], classes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Rows by class, then by the leading columns: as many as fit in a 16-bit key, which sorts in linear time."""
    key, size = classes.astype(np.uint16), int(classes.max(initial=0)) + 1
    for column in columns:
        if size * column.size > 1 << 16:
            break
        key *= np.uint16(column.size)
        key += column.codes.astype(np.uint16)
        size *= column.size
    return np.argsort(key, kind="stable")


def _rows_of_bits(order: NDArray[np.int64], counts: NDArray[np.int64], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each bit the row it represents (the number of rows where it is padding)."""
    row_of_bit = np.full(int(bounds[-1]) * 64, order.size, dtype=np.int64)
    start = 0
    for count, bound in zip(counts.tolist(), bounds.tolist(), strict=False):
        row_of_bit[bound * 64 : bound * 64 + count] = order[start : start + count]
        start += count
    return row_of_bit


def _pack_items(
    columns: Sequence[Codes],
    item_feature: NDArray[np.int32],
    item_code: NDArray[np.int64],
    row_of_bit: NDArray[np.int64],
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
        codes = np.append(codes, codes.dtype.type(0)).take(row_of_bit)
        for number, item in enumerate(items.tolist(), start=1):
            packed = np.packbits(codes == number)
            as_bytes[item, : packed.size] = packed
    return out
