"""A coarse map of the domain: how many different kinds of people do the findings cover?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.space import Space
from isonomia.typing import Floats

#: Features of the map, and values of one of them beyond which it is cut into tenths of its range.
AXES, MAX_VALUES, PARTS = 4, 20, 10
#: Rows processed together, so that intermediate arrays stay in the processor's caches.
PORTION = 8192


class Cells:
    """The free features with the most values (at most 20; others count as ten parts of their range), four of them.

    A cell is one combination of their values: a crude but method-independent measure of diversity.
    """

    def __init__(self, space: Space) -> None:
        domain = space.domain
        sizes = {}
        for column in space.movable:
            size = domain.features[int(column)].size
            sizes[int(column)] = size if size is not None and size <= MAX_VALUES else PARTS
        self.columns = np.array(sorted(sizes, key=lambda column: -sizes[column])[:AXES], dtype=np.intp)
        self.sizes = np.array([sizes[int(column)] for column in self.columns], dtype=np.int64)
        self.low = domain.low[self.columns]
        span = domain.high[self.columns] - self.low
        exact = span + 1 == self.sizes  # one part per value
        self.unit, self.parts = np.where(exact, 1.0, np.maximum(span, 1e-300)), np.where(exact, 1, self.sizes)
        self.may_miss = bool(domain.may_miss[self.columns].any())
        self.names = tuple(domain.names[int(column)] for column in self.columns)

    def __call__(self, rows: Floats) -> NDArray[np.int64]:
        """The cell of each row, as a number."""
        number = np.zeros(len(rows))
        for column, low, unit, parts, size in zip(
            self.columns, self.low, self.unit, self.parts, self.sizes, strict=True
        ):
            part = rows[:, column] - low
            if self.may_miss:
                np.nan_to_num(part, copy=False, nan=0.0)
            part /= unit
            part *= parts
            np.floor(part, out=part)
            np.clip(part, 0, size - 1, out=part)
            number *= size
            number += part
        return number.astype(np.int64)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return int(self.sizes.prod()) if len(self.sizes) else 1

    def covered(self, rows: Floats) -> int:
        """The number of distinct cells of the rows."""
        there = np.zeros(self.count, dtype=bool)
        for start in range(0, len(rows), PORTION):
            there[self(rows[start : start + PORTION])] = True
        return int(np.count_nonzero(there))
