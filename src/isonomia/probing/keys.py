"""Which rows were asked before, and what came out: a growing map from 64-bit keys to small answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.probing.domain import Domain
from isonomia.probing.features import Floats

Keys = NDArray[np.uint64]


class Keyer:
    """Rows to 64-bit keys over some of the columns.

    Where the columns are whole numbers and few enough, the key is the exact mixed-radix number of the row. Otherwise
    it is a 64-bit hash: among ten million rows the chance that any two share a key is below one in 300,000, and the
    harm would be one test left out.
    """

    def __init__(self, domain: Domain, columns: NDArray[np.intp]) -> None:
        self.columns = columns
        self.low = domain.low[columns]
        sizes = [domain.features[int(place)].size for place in columns]
        missing = domain.may_miss[columns].any()
        self.exact = not missing and None not in sizes and math.prod(s for s in sizes if s) < 2**63
        if self.exact:
            radix = [1]
            for size in [s for s in sizes if s][:-1]:
                radix.append(radix[-1] * size)
            self.radix = np.array(radix[: len(columns)], dtype=np.uint64)

    def __call__(self, rows: Floats) -> Keys:
        part = rows[:, self.columns]
        if self.exact:
            codes = np.rint(part - self.low).astype(np.int64).astype(np.uint64)
            with np.errstate(over="ignore"):
                return np.asarray((codes * self.radix).sum(axis=1, dtype=np.uint64))
        clean = np.where(np.isnan(part), np.nan, part + 0.0)
        bits = np.ascontiguousarray(clean).view(np.uint64)
        key = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
        for place in range(bits.shape[1]):
            key = _mix(key ^ _mix(bits[:, place] + np.uint64(place + 1)))
        return key


def _mix(values: Keys) -> Keys:
    """The finaliser of splitmix64: every bit of the input moves every bit of the output."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))


class KeyMap:
    """Keys with a few numbers each, held as a few sorted runs that are merged as they grow.

    Looking up and adding n keys costs O(n log N); no Python object is made per key.

    >>> seen = KeyMap(1)
    >>> seen.add(np.array([7, 3], dtype=np.uint64), np.array([[0.5], [-1.0]]))
    >>> known, values = seen.look(np.array([3, 4], dtype=np.uint64))
    >>> known.tolist(), float(values[0, 0]), len(seen)
    ([True, False], -1.0, 2)
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._runs: list[tuple[Keys, NDArray[Any]]] = []

    def __len__(self) -> int:
        return sum(len(keys) for keys, _ in self._runs)

    def add(self, keys: Keys, values: Floats) -> None:
        """Add keys that are not in the map yet, each once."""
        if len(keys) == 0:
            return
        order = np.argsort(keys, kind="stable")
        run = (keys[order], np.asarray(values, dtype=float)[order])
        while self._runs and len(self._runs[-1][0]) <= 2 * len(run[0]):
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)

    def look(self, keys: Keys) -> tuple[NDArray[np.bool_], Floats]:
        """Which keys are there, and their numbers (NaN where not)."""
        known = np.zeros(len(keys), dtype=bool)
        values = np.full((len(keys), self.width), np.nan)
        for run, numbers in self._runs:
            places = np.minimum(np.searchsorted(run, keys), len(run) - 1)
            hit = run[places] == keys
            known |= hit
            values[hit] = numbers[places[hit]]
        return known, values


def _merge(a: tuple[Keys, NDArray[Any]], b: tuple[Keys, NDArray[Any]]) -> tuple[Keys, NDArray[Any]]:
    keys, values = np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]
