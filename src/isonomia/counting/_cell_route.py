"""Conjunctions summed by cells: one composite code per combination of features, one `bincount` per quantity.

For every combination of features that candidates are on, each row gets the number of its prefix (0 for none), and
prefix x value of the last feature is a cell. Rows without a prefix are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting._bit_route import Conjunctions
from isonomia.counting.codes import Codes, smallest
from isonomia.events import Clock

#: Rows worked on at a time.
_CHUNK = 1 << 16
#: Measured nanoseconds per row: adding a feature to the key; summing a quantity.
_FOLD_COST, _SUM_COST = 1.5, 2.5


class CellRoute:
    """Sums quantities over conjunctions, for quantities of any values.

    Parameters
    ----------
    columns, item_feature, item_code
        The items.
    values : sequence of arrays or None
        What to sum; None counts rows.
    budget : int
        Bytes for cells, and for the items of all rows.
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        item_feature: NDArray[np.int32],
        item_code: NDArray[np.int64],
        values: Sequence[NDArray[np.float64] | None],
        budget: int,
    ) -> None:
        self.values = values
        self.item_feature = item_feature
        self.max_cells = max(1 << 12, budget // 16)
        self.n = len(columns[0])
        self.columns, self.tables = columns, [np.zeros(0, dtype=np.uint8)] * len(columns)
        self.sizes: list[int] = []
        self.local = np.zeros(item_feature.size, dtype=np.int64)  # an item's number within its feature, from 1
        for feature, column in enumerate(columns):
            items = np.flatnonzero(item_feature == feature)
            self.local[items] = np.arange(1, items.size + 1)
            table = np.zeros(column.size, dtype=smallest(items.size + 1))
            table[item_code[items]] = self.local[items]
            self.tables[feature] = table
            self.sizes.append(items.size + 1)
        # every row's item numbers, if they fit: otherwise they are looked up again for each chunk of rows
        size = sum(table.itemsize for table in self.tables) * self.n
        self.codes = [self._local(feature) for feature in range(len(columns))] if size <= budget else None

    def _local(self, feature: int, rows: slice = slice(None)) -> NDArray[Any]:
        """The number, within its feature, of the item that each of some rows has; 0 for none."""
        codes, table = self.columns[feature].codes[rows], self.tables[feature]
        return codes + table.dtype.type(1) if self.sizes[feature] > len(table) else table[codes]

    def _items(self, feature: int, rows: slice) -> NDArray[Any]:
        return self._local(feature, rows) if self.codes is None else self.codes[feature][rows]

    @staticmethod
    def cost(features: NDArray[np.int32], n: int, sums: int, below: float = 0.0) -> float:
        """Nanoseconds to count candidates on these features, roughly; the estimate stops once it exceeds `below`."""
        each = _FOLD_COST * (features.shape[1]) + sums * _SUM_COST
        if n * each >= below:  # a single combination costs as much
            return float(n * each)
        return float(n * _how_many(features) * each)

    def count(self, level: Conjunctions, kept: Conjunctions, clock: Clock) -> tuple[NDArray[np.float64], int]:
        """Sums of the conjunctions of `level`, whose prefixes are among `kept`; and how many were reached in time.

        Those reached are the first ones of the list: everything after the first that was not reached is left out.
        """
        items, prefix = level.items, level.parents[:, -1]
        sums = np.full((len(items), len(self.values)), np.nan)
        group = _combinations(self.item_feature[items[:, :-1]])
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        for begin, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
            if clock.over and begin:
                break
            members = order[begin:end]
            self._count_group(members, items, prefix, kept.items, sums)
        missing = np.flatnonzero(np.isnan(sums[:, 0]))
        return sums, int(missing[0]) if missing.size else len(items)

    def _count_group(
        self,
        members: NDArray[np.int64],
        items: NDArray[np.int32],
        prefix: NDArray[np.int64],
        kept: NDArray[np.int32],
        sums: NDArray[np.float64],
    ) -> None:
        """Candidates whose prefixes are on the same features."""
        used, slot = np.unique(prefix[members], return_inverse=True)
        last = items[members, -1]
        widest = max(self.sizes[feature] for feature in np.unique(self.item_feature[last]).tolist())
        batch = max(1, self.max_cells // widest - 1)
        for begin in range(0, used.size, batch):
            chosen = (slot >= begin) & (slot < begin + batch)
            tables = self._slot_tables(kept[used[begin : begin + batch]])
            self._count_slots(members[chosen], slot[chosen] - begin + 1, last[chosen], tables, sums)

    def _slot_tables(self, prefixes: NDArray[np.int32]) -> list[tuple[int, NDArray[Any]]]:
        """For each feature of the prefixes, the table that leads from (slot so far, code) to the next slot."""
        tables = []
        slots = np.zeros(len(prefixes), dtype=np.int64)
        n_slots = 1
        for column in prefixes.T:
            feature = int(self.item_feature[column[0]])
            key = slots * self.sizes[feature] + self.local[column]
            distinct, inverse = np.unique(key, return_inverse=True)
            table = np.zeros(n_slots * self.sizes[feature], dtype=smallest(distinct.size + 1))
            table[distinct] = np.arange(1, distinct.size + 1)
            tables.append((feature, table))
            slots, n_slots = inverse + 1, distinct.size + 1
        return tables

    def _count_slots(
        self,
        members: NDArray[np.int64],
        slot: NDArray[np.int64],
        last: NDArray[np.int32],
        tables: list[tuple[int, NDArray[Any]]],
        sums: NDArray[np.float64],
    ) -> None:
        features = self.item_feature[last]
        different = np.unique(features).tolist()
        n_slots = int(slot.max()) + 1
        cells = {feature: np.zeros((len(self.values), n_slots * self.sizes[feature])) for feature in different}
        chunk = max(_CHUNK, 4 * n_slots * max(self.sizes[feature] for feature in different))
        for start in range(0, self.n, chunk):
            rows = slice(start, min(self.n, start + chunk))
            slot_of_row = self._slots_of_rows(tables, rows)
            inside: Any = np.flatnonzero(slot_of_row)
            if not inside.size:
                continue
            if inside.size > 0.7 * slot_of_row.size:
                inside = slice(None)
            slots = slot_of_row[inside]
            values = [None if value is None else value[rows][inside] for value in self.values]
            for feature in different:
                key = slots.astype(smallest(n_slots * self.sizes[feature]))
                key *= key.dtype.type(self.sizes[feature])
                key += self._items(feature, rows)[inside]
                table = cells[feature]
                for index, value in enumerate(values):
                    table[index] += np.bincount(key, weights=value, minlength=table.shape[1])
        for feature in different:
            chosen = features == feature
            key = slot[chosen] * self.sizes[feature] + self.local[last[chosen]]
            sums[members[chosen]] = cells[feature][:, key].T

    def _slots_of_rows(self, tables: list[tuple[int, NDArray[Any]]], rows: slice) -> NDArray[Any]:
        feature, table = tables[0]
        slot_of_row: NDArray[Any] = table[self._items(feature, rows)]
        for feature, table in tables[1:]:
            key = slot_of_row.astype(smallest(table.size))
            key *= key.dtype.type(self.sizes[feature])
            key += self._items(feature, rows)
            slot_of_row = table[key]
        return slot_of_row


def _combinations(features: NDArray[np.int32]) -> NDArray[np.int64]:
    """The number of each row's combination of features; exact however many features there are."""
    number = np.zeros(len(features), dtype=np.int64)
    base = int(features.max()) + 1
    for column in features.T:
        _, number = np.unique(number * base + column, return_inverse=True)
    return number


def _how_many(features: NDArray[np.int32]) -> int:
    """How many combinations of features there are."""
    if features.max(initial=0) > 62:
        return int(_combinations(features).max()) + 1
    return int(np.unique(np.bitwise_or.reduce(np.int64(1) << features.astype(np.int64), axis=1)).size)
