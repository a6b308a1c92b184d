"""Which keys were seen before, and what is known of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.probing.growing_array import Stack
from isonomia.probing.keys import Keys
from isonomia.typing import Floats, Indices

#: Runs up to this length are merged at once: looking through many short ones takes longer.
SHORT = 4096
#: First bits of a key by which most unknown ones are known to be so at a glance.
GLANCE_BITS = 21
#: More indices than this leave too few bits for the key.
MAX_INDEXED = 1 << 20


class KeyMap:
    """Keys with a few numbers each, stored as a few sorted runs that are merged as they grow.

    Looking up and adding n keys costs O(n log N); no Python object is built per key. Keys should be spread evenly over
    their 64 bits, as those of `Keyer` are. (A hash table with open addressing
    was tried: in numpy it takes longer, since sorting and searching in order go easy on the processor's caches.)

    >>> seen = KeyMap(1)
    >>> seen.add(np.array([7, 3], dtype=np.uint64), np.array([[0.5], [-1.0]]))
    >>> known, values = seen.look(np.array([3, 4], dtype=np.uint64))
    >>> known.tolist(), float(values[0, 0]), len(seen)
    ([True, False], -1.0, 2)
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._runs: list[Keys] = []  # sorted keys, those added one after another in one run or in the next
        self._indices: list[Indices] | None = None  # where the numbers of each are, once someone wants to know
        self._keys, self._values = Stack((), np.uint64), Stack((width,))
        self._marks = np.zeros(1 << GLANCE_BITS, dtype=bool)  # whether there is a key with these first bits

    def __len__(self) -> int:
        return len(self._values)

    def add(self, keys: Keys, values: Floats) -> None:
        """Add keys that are not in the map yet, each once."""
        if len(keys) == 0:
            return
        self._keys.add(keys)
        if self._indices is None:
            run = np.sort(keys)
        else:
            index, run = _ordered(keys)
            index += len(self)
        while self._runs and len(self._runs[-1]) <= max(2 * len(run), SHORT):
            both = np.concatenate([self._runs.pop(), run])
            if self._indices is None:
                both.sort(kind="stable")  # which merges two sorted runs
                run = both
            else:
                order = np.argsort(both, kind="stable")
                run, index = both.take(order), np.concatenate([self._indices.pop(), index]).take(order)
        self._runs.append(run)
        if self._indices is not None:
            self._indices.append(index)
        self._marks[_first_bits(keys)] = True
        self._values.add(values)

    def holds(self, keys: Keys) -> NDArray[np.bool_]:
        """Which keys are there."""
        known = self._marks.take(_first_bits(keys))
        maybe = np.flatnonzero(known)
        some, there = keys.take(maybe), np.zeros(len(maybe), dtype=bool)
        for run in self._runs:
            there |= _find(run, some)[0]
        known[maybe] = there
        return known

    def look(self, keys: Keys) -> tuple[NDArray[np.bool_], Floats]:
        """Which keys are there, and their numbers (NaN where not)."""
        known = np.zeros(len(keys), dtype=bool)
        values = np.full((len(keys), self.width), np.nan)
        maybe = np.flatnonzero(self._marks.take(_first_bits(keys)))
        if len(maybe) == 0:
            return known, values
        some = keys.take(maybe)
        for run, where in zip(self._runs, self._positions(), strict=True):
            there, indices = _find(run, some)
            hit = maybe[there]
            known[hit] = True
            values[hit] = self._values.rows[where[indices[there]]]
        return known, values

    def _positions(self) -> list[Indices]:
        """Where the numbers of the keys of each run are: computed on first use."""
        if self._indices is None:
            ends = np.cumsum([len(run) for run in self._runs])
            parts = np.split(self._keys.rows, ends[:-1])
            self._indices = [_ordered(part)[0] + end - len(part) for part, end in zip(parts, ends, strict=True)]
        return self._indices


def distinct_keys(keys: Keys) -> tuple[Keys, Indices, Indices]:
    """The distinct keys in order, where each occurs first, and which of them every key is.

    The same as ``np.unique`` with both its extras, in half the time: sorting need not be stable.

    >>> [part.tolist() for part in distinct_keys(np.array([9, 4, 9, 7], dtype=np.uint64))]
    [[4, 7, 9], [1, 3, 0], [2, 0, 2, 1]]
    """
    order, ranked, begins = _ranked(keys)
    distinct, first = _firsts(order, ranked, begins)
    back = np.empty(len(keys), dtype=np.intp)
    back[order] = np.cumsum(begins) - 1
    return distinct, first, back


def first_keys(keys: Keys) -> tuple[Keys, Indices]:
    """The distinct keys in order, and where each occurs first.

    >>> [part.tolist() for part in first_keys(np.array([9, 4, 9, 7], dtype=np.uint64))]
    [[4, 7, 9], [1, 3, 0]]
    """
    return _firsts(*_ranked(keys))


def _first_bits(keys: Keys) -> Indices:
    return (keys >> np.uint64(64 - GLANCE_BITS)).view(np.intp)


def _find(run: Keys, keys: Keys) -> tuple[NDArray[np.bool_], Indices]:
    """Which keys are in a sorted run, and where they would be."""
    indices = np.searchsorted(run, keys)
    np.minimum(indices, len(run) - 1, out=indices)
    return run.take(indices) == keys, indices


def _ordered(keys: Keys) -> tuple[Indices, Keys]:
    """Indices in the order of their keys, of equal keys the first first; and the keys in this order.

    Keys are spread evenly, so that different ones hardly share their first 40 bits or more: these are sorted with the
    index in the other bits, which is several times as fast as sorting indices by keys. Where two keys share them and
    are in the wrong order, indices are sorted after all.
    """
    if len(keys) <= MAX_INDEXED:
        low = np.uint64((1 << len(keys).bit_length()) - 1)
        packed = (keys & ~low) | np.arange(len(keys), dtype=np.uint64)
        packed.sort()
        order = (packed & low).astype(np.intp)
        ranked = keys[order]
        if (ranked[1:] >= ranked[:-1]).all():
            return order, ranked
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def _ranked(keys: Keys) -> tuple[Indices, Keys, NDArray[np.bool_]]:
    order, ranked = _ordered(keys)
    begins = np.ones(len(keys), dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=begins[1:])
    return order, ranked, begins


def _firsts(order: Indices, ranked: Keys, begins: NDArray[np.bool_]) -> tuple[Keys, Indices]:
    if begins.all():
        return ranked, order
    starts = np.flatnonzero(begins)
    return ranked[starts], order[starts]
