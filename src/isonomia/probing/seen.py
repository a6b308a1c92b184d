"""Which keys were seen before, and what is known of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.probing.features import Floats
from isonomia.probing.keys import Keys
from isonomia.probing.stack import Stack

Places = NDArray[np.intp]

#: Runs up to this length are merged at once: looking through many short ones takes longer.
SHORT = 4096
#: First bits of a key by which most unknown ones are known to be so at a glance.
GLANCE_BITS = 21
#: More places than this leave too few bits of a key beside them.
MOST_PLACES = 1 << 20


class KeyMap:
    """Keys with a few numbers each, held as a few sorted runs that are merged as they grow.

    Looking up and adding n keys costs O(n log N); no Python object is made per key. Keys should be spread evenly over
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
        self._runs: list[tuple[Keys, Places]] = []  # sorted keys, and where the numbers of each are
        self._values = Stack((width,))
        self._marks = np.zeros(1 << GLANCE_BITS, dtype=bool)  # whether there is a key with these first bits

    def __len__(self) -> int:
        return len(self._values)

    def add(self, keys: Keys, values: Floats) -> None:
        """Add keys that are not in the map yet, each once."""
        if len(keys) == 0:
            return
        order, ranked = _ordered(keys)
        run = (ranked, order + len(self))
        while self._runs and len(self._runs[-1][0]) <= max(2 * len(run[0]), SHORT):
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)
        self._marks[(keys >> np.uint64(64 - GLANCE_BITS)).astype(np.intp)] = True
        self._values.add(values)

    def holds(self, keys: Keys) -> NDArray[np.bool_]:
        """Which keys are there."""
        known = self._marks[(keys >> np.uint64(64 - GLANCE_BITS)).astype(np.intp)]
        maybe = np.flatnonzero(known)
        some, there = keys[maybe], np.zeros(len(maybe), dtype=bool)
        for run, _ in self._runs:
            places = np.searchsorted(run, some)
            np.minimum(places, len(run) - 1, out=places)
            there |= run[places] == some
        known[maybe] = there
        return known

    def look(self, keys: Keys) -> tuple[NDArray[np.bool_], Floats]:
        """Which keys are there, and their numbers (NaN where not)."""
        known = np.zeros(len(keys), dtype=bool)
        values = np.full((len(keys), self.width), np.nan)
        if len(keys) == 0:
            return known, values
        for run, where in self._runs:
            places = np.searchsorted(run, keys)
            np.minimum(places, len(run) - 1, out=places)
            hit = run[places] == keys
            if hit.any():
                known |= hit
                values[hit] = self._values.rows[where[places[hit]]]
        return known, values


def distinct_keys(keys: Keys) -> tuple[Keys, Places, Places]:
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


def first_keys(keys: Keys) -> tuple[Keys, Places]:
    """The distinct keys in order, and where each occurs first.

    >>> [part.tolist() for part in first_keys(np.array([9, 4, 9, 7], dtype=np.uint64))]
    [[4, 7, 9], [1, 3, 0]]
    """
    return _firsts(*_ranked(keys))


def _ordered(keys: Keys) -> tuple[Places, Keys]:
    """Places in the order of their keys, of equal keys the first first; and the keys in this order.

    Keys are spread evenly, so that different ones hardly share their first 40 bits or more: these are sorted with the
    place in the others, which is several times as quick as sorting places by keys. Where two do share them and stand in
    the wrong order, places are sorted after all.
    """
    if len(keys) <= MOST_PLACES:
        low = np.uint64((1 << len(keys).bit_length()) - 1)
        packed = (keys & ~low) | np.arange(len(keys), dtype=np.uint64)
        packed.sort()
        order = (packed & low).astype(np.intp)
        ranked = keys[order]
        if (ranked[1:] >= ranked[:-1]).all():
            return order, ranked
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def _ranked(keys: Keys) -> tuple[Places, Keys, NDArray[np.bool_]]:
    order, ranked = _ordered(keys)
    begins = np.ones(len(keys), dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=begins[1:])
    return order, ranked, begins


def _firsts(order: Places, ranked: Keys, begins: NDArray[np.bool_]) -> tuple[Keys, Places]:
    if begins.all():
        return ranked, order
    starts = np.flatnonzero(begins)
    return ranked[starts], order[starts]


def _merge(a: tuple[Keys, Places], b: tuple[Keys, Places]) -> tuple[Keys, Places]:
    keys, values = np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
    order = np.argsort(keys, kind="stable")  # which merges two sorted runs
    return keys[order], values[order]
