"""Dependencies between the columns of the data: what people who could exist obey."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from isonomia.counting import count_by
from isonomia.probing.binned_columns import BinnedColumns
from isonomia.probing.closed_bins import ClosedBins
from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.probing.domain import Domain

#: A dependency holds for at least 1 - this share of the rows it is about.
EXCEPTIONS = 0.001
#: The probability that independent columns show any dependency at all.
ALPHA = 0.001
#: Fewer rows than this teach nothing; more rows x pairs of columns than that are sampled.
MIN_ROWS, MAX_COUNTED = 100, 200_000_000
#: Rows whose contradictions are looked for together.
BLOCK = 8192
#: A bin narrower than this share of the range has a single value; its width may be too small to multiply.
SINGLE = 1e-12
#: Parts of rows that are repaired each in its own order of columns, and the smallest number of rows of a part.
PARTS, MIN_PART = 4, 128
#: A column with a value per this many rows or more values identifies people rather than describing them.
ROWS_PER_VALUE = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class Follows:
    """A column whose value follows from another one.

    Attributes
    ----------
    column, source : int
        The column, and the one it follows from.
    values : array
        The value of the column for each value of the source.
    """

    column: int
    source: int
    values: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Exclusion:
    """Values of two columns that do not go together: a truth value per pair of bins."""

    column: int
    other: int
    excluded: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Dependencies:
    """What the rows of data rule out.

    Two kinds are learned, each from tables of counts of two columns:

    - A column *follows* from another one where each value of the source comes with one value of the column in at least
      99.9% of the rows (the years of schooling follow from the degree). It moves along with its source.
    - Two values *exclude* each other where at most 0.1% of the rows with one of them have the other one (a husband is
      not female).

    Both need evidence: independent columns would show a table with any of them with a probability below 0.001 (Poisson
    tails of the expected counts, Bonferroni over all cells).

    Examples
    --------
    >>> from isonomia.probing import Domain
    >>> from isonomia.data import Dataset
    >>> kin = ["husband", "wife", "child", "child"] * 100
    >>> sex = ["M", "F", "M", "F"] * 100
    >>> domain = Domain.from_data(Dataset({"kin": kin, "sex": sex}), dependencies=True)
    >>> domain.size, len(np.unique(domain.sample(500, np.random.default_rng(0)), axis=0))
    (6, 4)
    """

    bins: BinnedColumns
    follows: tuple[Follows, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()

    def __len__(self) -> int:
        return len(self.follows) + len(self.exclusions)

    @cached_property
    def followers(self) -> NDArray[np.intp]:
        """The columns that follow from others."""
        return np.array([one.column for one in self.follows], dtype=np.intp)

    @cached_property
    def _closed(self) -> ClosedBins:
        return ClosedBins(self.bins, self.follows, self.exclusions)

    @cached_property
    def digest(self) -> str:
        """A text that changes with the dependencies."""
        found = hashlib.sha256()
        for one in self.follows:
            found.update(f"{one.column} {one.source} {one.values.tolist()};".encode())
        for rule in self.exclusions:
            found.update(f"{rule.column} {rule.other} ".encode() + np.packbits(rule.excluded).tobytes())
        return found.hexdigest()

    def complete(self, rows: Floats, *, copy: bool = True) -> Floats:
        """Rows whose columns that follow from others have the values that follow; without `copy` these rows."""
        if copy and self.follows:
            rows = rows.copy()
        for one in self.follows:
            rows[:, one.column] = one.values[self.bins.codes(rows, one.source)]
        return rows

    def consistent(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows contradict no dependency."""
        good = np.ones(len(rows), dtype=bool)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            good[part] = self._consistent(rows[part])
        return good

    def _consistent(self, rows: Floats) -> NDArray[np.bool_]:
        good = self._closed.consistent(self._closed.codes(rows))
        for rule in self.follows:
            value, wanted = rows[:, rule.column], rule.values[self.bins.codes(rows, rule.source)]
            good &= (value == wanted) | (np.isnan(value) & np.isnan(wanted))
        return good

    def allows(
        self, rows: Floats, row: NDArray[np.intp], column: NDArray[np.intp], code: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Which moves of consistent rows contradict no dependency: a column of the row `row` goes to the bin `code`.

        Columns that follow from it move along, and are not moved themselves.
        """
        return self._closed.allows(self._closed.codes(rows), row, column, code)

    def open_variants(
        self, columns: NDArray[np.intp], variants: Floats
    ) -> tuple[NDArray[np.bool_], dict[int, NDArray[np.bool_]]]:
        """Which variants contradict no dependency: whatever the row is, and by the bin of each other column.

        A variant has other values of these columns, and of what follows from them. A variant of a complete row could
        exist where the first table, (V,), and those of its bins, (bins, V) per column, all say so.
        """
        own = {int(column): self.bins.bin_of(variants[:, index], int(column)) for index, column in enumerate(columns)}
        always = np.ones(len(variants), dtype=bool)
        opened: dict[int, NDArray[np.bool_]] = {}
        for column, code in own.items():
            for other, words in self._closed.by_column.get(column, {}).items():
                excluded = (words[:, None] >> code.view(np.uint64) & np.uint64(1)).astype(bool)
                if other in own:
                    always &= ~excluded[own[other], np.arange(len(variants))]
                else:
                    opened[other] = opened.get(other, True) & ~excluded
        return always, opened

    def repaired(self, rows: Floats, whole: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
        """Rows without the contradictions, as far as there are values without any.

        Column after column: a value that a column before it excludes is drawn again among those that none of them
        does. The order is random; every other quarter of the rows has the one of the quarter before it in reverse, so
        that of any two columns each comes first.
        """
        rows, size = rows.copy(), max(MIN_PART, -(-len(rows) // PARTS))
        order: list[int] = []
        for turn, start in enumerate(range(0, len(rows), size)):
            order = order[::-1] if turn % 2 else rng.permutation(self._closed.columns).tolist()
            self._repair(rows[start : start + size], order, whole, rng)
        return self.complete(rows, copy=False)

    def _repair(self, rows: Floats, order: list[int], whole: NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Repair rows where they are, columns in this order."""
        closed_bins = self._closed
        codes, seen = closed_bins.codes(rows), set[int]()
        for column in order:
            seen.add(column)
            others = {other: words for other, words in closed_bins.by_column[column].items() if other in seen}
            if not others:
                continue
            own, closed = codes[closed_bins.index[column]], closed_bins.closed(codes, others)
            bad = np.flatnonzero(closed >> own.view(np.uint64) & np.uint64(1))
            if not len(bad):
                continue
            opened = ~closed_bins.unpacked(closed[bad], column)
            possible = opened.any(axis=1)
            bad, opened = bad[possible], opened[possible]
            own[bad], rows[bad, column] = self._redrawn(column, opened, bool(whole[column]), rng)

    def _redrawn(
        self, column: int, opened: NDArray[np.bool_], whole: bool, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], Floats]:
        """A bin and a value in it per row, uniformly among the values of the bins that are open."""
        low, high = self.bins.span(column, np.arange(opened.shape[1]))
        width = high - low
        width[width < SINGLE * width.sum()] = 0.0
        weight: NDArray[Any] = opened if self.bins.exact[column] else opened * width
        points = ~weight.any(axis=1)
        if points.any():  # all that is open are single values
            weight[points] = opened[points]
        chance = np.cumsum(weight, axis=1)
        code = np.count_nonzero(rng.random(len(opened))[:, None] * chance[:, -1:] >= chance, axis=1)
        if self.bins.exact[column]:
            return code, low[code]
        drawn = low[code] + rng.random(len(opened)) * (high - low)[code]
        return code, np.asarray(np.floor(drawn) if whole else drawn)

    @classmethod
    def learn(cls, domain: Domain, rows: Floats, *, leading: Sequence[int] = ()) -> Dependencies:
        """The dependencies that hold in rows of data; the columns `leading` follow from none."""
        columns = np.flatnonzero(domain.high > domain.low)
        pairs = [(int(i), int(j)) for at, i in enumerate(columns) for j in columns[at + 1 :]]
        limit = MAX_COUNTED // max(1, len(pairs))
        rows = rows[:: max(1, -(-len(rows) // max(MIN_ROWS, limit)))]
        bins = BinnedColumns(domain, rows)
        if len(rows) < MIN_ROWS or not pairs:
            return cls(bins=bins)
        codes = {int(column): bins.codes(rows, int(column)).astype(np.uint16) for column in columns}
        level = ALPHA / sum(int(bins.sizes[i] * bins.sizes[j]) for i, j in pairs)
        learned = [_learned(codes[i], codes[j], int(bins.sizes[i]), int(bins.sizes[j]), level) for i, j in pairs]
        sources: dict[int, Follows] = {}
        for (i, j), (_, forward, backward) in zip(pairs, learned, strict=True):
            for column, source, image in ((j, i, forward), (i, j, backward)):
                taken = column in sources or source in sources or any(one.source == column for one in sources.values())
                possible = bins.exact[column] and bins.exact[source] and column not in leading
                if image is not None and possible and not taken:
                    values = np.where(image == bins.sizes[column] - 1, np.nan, domain.low[column] + image)
                    sources[column] = Follows(column=column, source=source, values=values)
        exclusions = [
            Exclusion(column=i, other=j, excluded=excluded)
            for (i, j), (excluded, _, _) in zip(pairs, learned, strict=True)
            if excluded.any() and not _same(sources, i, j)
        ]
        return cls(bins=bins, follows=tuple(sources.values()), exclusions=tuple(exclusions))


def _same(sources: dict[int, Follows], i: int, j: int) -> bool:
    """Whether one of two columns follows from the other."""
    return (i in sources and sources[i].source == j) or (j in sources and sources[j].source == i)


def _learned(
    first: NDArray[np.uint16], second: NDArray[np.uint16], n_first: int, n_second: int, level: float
) -> tuple[NDArray[np.bool_], NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """From the codes of two columns: which values exclude each other; the second as a function of the first, and back.

    A function is None where there is none, or where not every value was seen.
    """
    counts = count_by(first * np.uint16(n_second) + second, n_first * n_second).reshape(n_first, n_second)
    n, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    rare = (counts <= EXCEPTIONS * rows[:, None]) | (counts <= EXCEPTIONS * columns)
    excluded = np.zeros_like(rare)
    excluded[rare] = pdtr(counts[rare], np.outer(rows, columns)[rare] / n) <= level
    forward, single = _function(counts, level)
    backward, single_back = _function(counts.T, level)
    excluded = excluded | single | single_back.T
    if forward is not None:
        excluded |= np.arange(n_second) != forward[:, None]
    if backward is not None:
        excluded |= (np.arange(n_first) != backward[:, None]).T
    return excluded, forward, backward


def _function(counts: NDArray[np.int64], level: float) -> tuple[NDArray[np.intp] | None, NDArray[np.bool_]]:
    """The value of the second column for each of the first, where it is one; and what values with only one exclude."""
    n, rows, shares = counts.sum(), counts.sum(axis=1), counts.sum(axis=0) / counts.sum()
    image = counts.argmax(axis=1)
    exceptions, expected = rows - counts.max(axis=1), rows * (1 - shares[image])
    only = (exceptions <= EXCEPTIONS * rows) & (pdtr(exceptions, expected) <= level)
    excluded = only[:, None] & (np.arange(counts.shape[1]) != image[:, None])
    seen = rows[:-1] > 0  # the last bin is for missing values
    holds = (
        bool(seen.all())
        and exceptions.sum() <= EXCEPTIONS * n
        and len(seen) * ROWS_PER_VALUE <= n
        and pdtr(exceptions.sum(), expected.sum()) <= level
    )
    return (image if holds else None), excluded
