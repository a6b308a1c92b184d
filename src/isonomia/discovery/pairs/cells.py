"""A coarse map of the domain: how many different kinds of people do the findings cover?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.space import Space
from isonomia.probing.features import Floats

#: Features of the map, and values of one of them beyond which it is cut into tenths of its range.
AXES, MOST_VALUES, PARTS = 4, 20, 10


class Cells:
    """The free features with the most values (at most 20; others count as ten parts of their range), four of them.

    A cell is one combination of their values: a crude but method-independent measure of diversity.
    """

    def __init__(self, space: Space) -> None:
        domain = space.domain
        sizes = {}
        for column in space.movable:
            size = domain.features[int(column)].size
            sizes[int(column)] = size if size is not None and size <= MOST_VALUES else PARTS
        self.columns = np.array(sorted(sizes, key=lambda column: -sizes[column])[:AXES], dtype=np.intp)
        self.sizes = np.array([sizes[int(column)] for column in self.columns], dtype=np.int64)
        self.low, self.high = domain.low[self.columns], domain.high[self.columns]
        self.may_miss = bool(domain.may_miss[self.columns].any())
        self.names = tuple(domain.names[int(column)] for column in self.columns)

    def __call__(self, rows: Floats) -> NDArray[np.int64]:
        """The cell of each row, as a number."""
        cell = np.zeros(len(rows), dtype=np.int64)
        for column, size, low, high in zip(self.columns, self.sizes, self.low, self.high, strict=True):
            value = rows[:, column]
            value = np.nan_to_num(value, nan=low) if self.may_miss else value
            exact = high - low + 1 == size
            place = value - low if exact else (value - low) / max(high - low, 1e-300) * size
            cell = cell * size + np.clip(place, 0, size - 1).astype(np.int64)
        return cell

    @property
    def count(self) -> int:
        """How many cells there are."""
        return int(self.sizes.prod()) if len(self.sizes) else 1

    def covered(self, rows: Floats) -> int:
        """How many different cells the rows lie in."""
        return int(np.count_nonzero(np.bincount(self(rows), minlength=self.count)))
