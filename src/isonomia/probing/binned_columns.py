"""Columns of a domain as a few bins each, for tables of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.probing.domain import Domain

#: No column has more bins, one of them for missing values: a set of bins is a word of 64 bits.
MAX_BINS = 64
#: A column of whole values with no more than this has a bin per value; any other has this many bins of equal counts.
MAX_VALUES, BINS = MAX_BINS - 1, 20
#: Bins of whole values in a range up to this are read from a table.
MAX_RANGE = 65_536


class BinnedColumns:
    """The bins of every column: its values where they are few, else ranges with equal shares of the rows.

    Parameters
    ----------
    domain : Domain
    rows : matrix
        Rows of data: they set the ranges.

    Attributes
    ----------
    sizes : (d,) array
        How many bins a column has; the last one is for missing values.
    exact : (d,) array of bool
        Whether every value has a bin of its own.
    """

    def __init__(self, domain: Domain, rows: Floats) -> None:
        self.low, self.whole = domain.low, domain.whole
        self.exact = domain.whole & (domain.high - domain.low < MAX_VALUES)
        self.edges: dict[int, Floats] = {}
        self.sizes = np.where(self.exact, domain.high - domain.low + 2, 0).astype(np.intp)
        for column in np.flatnonzero(~self.exact):
            self.edges[int(column)] = _edges(rows[:, column], bool(domain.whole[column]), float(domain.high[column]))
            self.sizes[column] = len(self.edges[int(column)]) + 2
        self._bounds = {
            column: np.concatenate([[domain.low[column]], edges, [domain.high[column]]])
            for column, edges in self.edges.items()
        }
        self._listed = domain.whole & (domain.high - domain.low < MAX_RANGE)
        self._list, self._shift = self._tables(domain)

    def _tables(self, domain: Domain) -> tuple[NDArray[np.intp], Floats]:
        """The bin of every whole value, column after column, and what to add to a value to find it there."""
        shift, parts, used = np.zeros(len(domain)), [np.zeros(1, dtype=np.intp)], 1
        for column in np.flatnonzero(self._listed):
            values = np.arange(domain.low[column], domain.high[column] + 1)
            exact = self.exact[column]
            found = np.arange(len(values)) if exact else np.searchsorted(self.edges[int(column)], values, side="right")
            parts.append(found)
            shift[column] = used - domain.low[column]
            used += len(values)
        return np.concatenate(parts), shift

    def widths(self, column: int) -> Floats:
        """How many values a bin has (at least a thousandth of the range of real numbers); the last is for missing."""
        low, high = self.span(column, np.arange(self.sizes[column] - 1))
        if self.whole[column]:
            return np.append(np.maximum(high - low, 1.0), 1.0)
        return np.append(np.maximum(high - low, (high[-1] - low[0]) / 1000), 1.0)

    def codes(self, rows: Floats, column: int) -> NDArray[np.intp]:
        """The bin of every row's value."""
        return self.bin_of(rows[:, column], column)

    def matrix(self, rows: Floats, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """The bins of every row's values in some columns, (columns, rows)."""
        return self._bins(rows.T.take(columns, axis=0), columns)

    def bin_of(self, values: Floats, column: int) -> NDArray[np.intp]:
        """The bin of every value of a column."""
        return np.asarray(self._bins(values[None].copy(), np.array([column]))[0])

    def _bins(self, values: Floats, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """The bins of values (columns, n), which are changed where they are missing."""
        missing = np.isnan(values)
        some = bool(missing.any())
        if some:
            values[missing] = np.broadcast_to(self.low[columns][:, None], values.shape)[missing]
        index = values + self._shift[columns][:, None]
        others = np.flatnonzero(~self._listed[columns])
        index[others] = 0.0
        found = self._list.take(index.astype(np.intp))
        for at in others.tolist():
            found[at] = np.searchsorted(self.edges[int(columns[at])], values[at], side="right")
        if some:
            found[missing] = np.broadcast_to(self.sizes[columns][:, None] - 1, values.shape)[missing]
        return found

    def bins_of(self, values: Floats, column: NDArray[np.intp]) -> NDArray[np.intp]:
        """The bin of every value, each of a column of its own; none of them is missing."""
        listed = self._listed[column]
        if listed.all():
            return self._list.take((values + self._shift[column]).astype(np.intp))
        found = self._list.take(np.where(listed, values + self._shift[column], 0.0).astype(np.intp))
        for one in np.unique(column[~listed]):
            mine = column == one
            found[mine] = np.searchsorted(self.edges[int(one)], values[mine], side="right")
        return found

    def span(self, column: int, code: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """The smallest and the largest value of bins (none of them the one for missing values)."""
        if self.exact[column]:
            value = self.low[column] + code.astype(float)
            return value, value
        bounds = self._bounds[column]
        return bounds[code], bounds[code + 1]


def _edges(values: Floats, whole: bool, highest: float) -> Floats:
    """The edges between bins: quantiles, and the next value above one that many rows have."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.empty(0)
    cuts = np.quantile(known, np.linspace(0, 1, BINS + 1), method="lower")
    frequent = cuts[1:][cuts[1:] == cuts[:-1]]
    above = frequent + 1 if whole else np.nextafter(frequent, np.inf)
    edges = np.unique(np.concatenate([cuts, above]))
    return np.asarray(edges[(edges > known.min()) & (edges <= highest)])
