"""Which values of a column the values of other columns rule out, as sets of bins that are quick to look up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isonomia.probing.binned_columns import MAX_BINS, BinnedColumns
from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.probing.dependencies import Exclusion, Follows

Words = NDArray[np.uint64]

#: Words looked up together, so that intermediate arrays stay in the processor's caches.
PORTION = 65_536


class ClosedBins:
    """The exclusions of a domain's columns: bit b of a 64-bit word is set where bin b of a column is closed.

    A column that follows from another one has no words: what its value excludes is excluded by its source.

    Attributes
    ----------
    columns : (k,) array
        The columns that have exclusions. Codes are the bins of rows in these columns, (k, n).
    by_column : dict
        For each column those that close bins of it (itself where some of its bins are never open), and the words of
        their bins.
    """

    def __init__(self, bins: BinnedColumns, follows: Sequence[Follows], exclusions: Sequence[Exclusion]) -> None:
        self.bins = bins
        tables = _by_source(bins, {one.column: one for one in follows}, exclusions)
        self.columns = np.array(sorted({column for column, _ in tables}), dtype=np.intp)
        self.index = {int(column): index for index, column in enumerate(self.columns)}
        self.by_column: dict[int, dict[int, Words]] = {int(column): {} for column in self.columns}
        for (column, other), excluded in tables.items():
            bits = np.arange(len(excluded), dtype=np.uint64)
            self.by_column[column][other] = (excluded.T.astype(np.uint64) << bits).sum(axis=1, dtype=np.uint64)

    def codes(self, rows: Floats) -> NDArray[np.intp]:
        """The bins of rows in `columns`, (k, n)."""
        return self.bins.matrix(rows, self.columns)

    def closed(self, codes: NDArray[np.intp], others: Mapping[int, Words]) -> Words:
        """The bins of a column that the bins of others close: all in `by_column`, or some of them."""
        found = np.zeros(codes.shape[1], dtype=np.uint64)
        for other, words in others.items():
            found |= words.take(codes[self.index[other]])
        return found

    def consistent(self, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which rows have no value that another one excludes."""
        column, other, start = self._pairs
        good = np.ones(codes.shape[1], dtype=bool)
        portion = max(1, PORTION // max(1, len(column)))
        for begin in range(0, codes.shape[1], portion):
            part = codes[:, begin : begin + portion]
            closed = self._padded[2].take(part.take(other, axis=0) + start) >> part.take(column, axis=0).view(np.uint64)
            good[begin : begin + portion] = np.bitwise_or.reduce(closed, axis=0) & np.uint64(1) == 0
        return good

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Each pair of columns once: their indices, and where the words start that the second closes bins by."""
        partner, start, _ = self._padded
        column, position = np.nonzero((start > 0) & (partner <= np.arange(len(partner))[:, None]))
        return column, partner[column, position], start[column, position][:, None]

    def allows(
        self, codes: NDArray[np.intp], row: NDArray[np.intp], column: NDArray[np.intp], code: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Which moves of consistent rows lead to consistent rows: a column of the row `row` goes to the bin `code`."""
        good = np.ones(len(row), dtype=bool)
        if not len(self.columns):  # columns follow from others, and none excludes anything
            return good
        partner, start, words = self._padded
        at, n = self._at[column], codes.shape[1]
        portion = max(1, PORTION // partner.shape[1])
        for begin in range(0, len(row), portion):
            part = slice(begin, begin + portion)
            cell = codes.ravel().take(partner[at[part]] * n + row[part, None]) + start[at[part]]
            closed = np.bitwise_or.reduce(words.take(cell), axis=1)
            good[part] = closed >> code[part].view(np.uint64) & np.uint64(1) == 0
        return good

    @cached_property
    def _at(self) -> NDArray[np.intp]:
        """The index of each column of the domain in `columns`, k where it has no exclusions."""
        found = np.full(len(self.bins.sizes), len(self.columns), dtype=np.intp)
        found[self.columns] = np.arange(len(self.columns))
        return found

    @cached_property
    def _padded(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Words]:
        """For each column, and one without exclusions: indices of the others, and where their words start among all.

        All have as many others: those added have words without bits.
        """
        width = max((len(others) for others in self.by_column.values()), default=0)
        partner = np.zeros((len(self.columns) + 1, max(1, width)), dtype=np.intp)
        start = np.zeros_like(partner)
        parts, used = [np.zeros(MAX_BINS, dtype=np.uint64)], MAX_BINS
        for index, others in enumerate(self.by_column.values()):
            for position, (other, words) in enumerate(others.items()):
                partner[index, position], start[index, position] = self.index[other], used
                parts.append(words)
                used += len(words)
        return partner, start, np.concatenate(parts)

    def unpacked(self, closed: Words, column: int) -> NDArray[np.bool_]:
        """Which bins of a column (without the one for missing values) are closed, (n, bins)."""
        bits = np.arange(self.bins.sizes[column] - 1, dtype=np.uint64)
        return np.asarray((closed[:, None] >> bits & np.uint64(1)).astype(bool))


def _by_source(
    bins: BinnedColumns, follows: Mapping[int, Follows], exclusions: Sequence[Exclusion]
) -> dict[tuple[int, int], NDArray[np.bool_]]:
    """Tables of exclusions (bins of the first column, bins of the second) in both directions, without followers."""
    tables: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for rule in exclusions:
        excluded, ends = rule.excluded, [rule.column, rule.other]
        for axis, column in enumerate(ends):
            if column in follows:
                excluded = excluded.take(bins.bin_of(follows[column].values, column), axis=axis)
                ends[axis] = follows[column].source
        first, second = ends
        if first == second:  # two columns that follow from this one, with values that exclude each other
            never = np.diagonal(excluded)
            found = {(first, first): np.repeat(never[:, None], len(never), axis=1)}
        else:
            found = {(first, second): excluded, (second, first): excluded.T}
        for pair, table in found.items():
            tables[pair] = tables[pair] | table if pair in tables else table
    return tables
