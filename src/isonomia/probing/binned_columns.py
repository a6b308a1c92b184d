"""Columns of a domain as a few bins each, for tables of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.probing.domain import Domain

#: A column of whole values with no more than this has a bin per value; any other has this many bins of equal counts.
MAX_VALUES, BINS = 64, 20


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
        """The bins of every row's values in some columns, (rows, columns)."""
        values = rows[:, columns]
        found = values - self.low[columns]
        for index in np.flatnonzero(~self.exact[columns]):
            found[:, index] = np.searchsorted(self.edges[int(columns[index])], values[:, index], side="right")
        missing = np.isnan(values)
        if missing.any():
            found = np.where(missing, self.sizes[columns] - 1, found)
        return np.asarray(found, dtype=np.intp)

    def bin_of(self, values: Floats, column: int) -> NDArray[np.intp]:
        """The bin of every value of a column."""
        if self.exact[column]:
            found = values - self.low[column]
        else:
            found = np.searchsorted(self.edges[column], values, side="right").astype(float)
        return np.asarray(np.where(np.isnan(values), self.sizes[column] - 1, found), dtype=np.intp)

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
