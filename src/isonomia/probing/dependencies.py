"""Dependencies between the columns of the data: what people who could exist obey."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from isonomia.counting import count_by
from isonomia.probing.binned_columns import BinnedColumns
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
BLOCK = 4096
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
class _Pairs:
    """All exclusions in one array: cell `first * width + second + start` of `excluded`, by bins of the columns."""

    columns: NDArray[np.intp]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    width: NDArray[np.intp]
    start: NDArray[np.intp]
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
    def _by_column(self) -> dict[int, dict[int, NDArray[np.bool_]]]:
        """For each column, the columns it has exclusions with, and the table [its bin, the other's bin]."""
        tables: dict[int, dict[int, NDArray[np.bool_]]] = {}
        for one in self.exclusions:
            tables.setdefault(one.column, {})[one.other] = one.excluded
            tables.setdefault(one.other, {})[one.column] = one.excluded.T
        return tables

    @cached_property
    def digest(self) -> str:
        """A text that changes with the dependencies."""
        found = hashlib.sha256()
        for one in self.follows:
            found.update(f"{one.column} {one.source} {one.values.tolist()};".encode())
        for rule in self.exclusions:
            found.update(f"{rule.column} {rule.other} ".encode() + np.packbits(rule.excluded).tobytes())
        return found.hexdigest()

    def complete(self, rows: Floats) -> Floats:
        """Rows whose columns that follow from others have the values that follow."""
        if not self.follows:
            return rows
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
        good = np.ones(len(rows), dtype=bool)
        if self.exclusions:
            codes, pairs = self.bins.matrix(rows, self._pairs.columns), self._pairs
            cell = codes[:, pairs.first] * pairs.width + codes[:, pairs.second] + pairs.start
            good &= ~pairs.excluded.take(cell).any(axis=1)
        for rule in self.follows:
            value, wanted = rows[:, rule.column], rule.values[self.bins.codes(rows, rule.source)]
            good &= (value == wanted) | (np.isnan(value) & np.isnan(wanted))
        return good

    @cached_property
    def _pairs(self) -> _Pairs:
        tables = [one.excluded for one in self.exclusions]
        first, second = (np.array([getattr(one, end) for one in self.exclusions]) for end in ("column", "other"))
        columns, index = np.unique(np.concatenate([first, second]), return_inverse=True)
        start = np.cumsum([0, *(table.size for table in tables[:-1])])
        return _Pairs(
            columns=columns,
            first=index[: len(tables)],
            second=index[len(tables) :],
            width=np.array([table.shape[1] for table in tables]),
            start=start,
            excluded=np.concatenate([table.ravel() for table in tables]),
        )

    def open_variants(
        self, columns: NDArray[np.intp], variants: Floats
    ) -> tuple[NDArray[np.bool_], dict[int, NDArray[np.bool_]]]:
        """Which variants contradict no dependency: whatever the row is, and by the bin of each other column.

        A variant has other values of these columns, and of what follows from them. A variant of a complete row could
        exist where the first table, (V,), and those of its bins, (bins, V) per column, all say so.
        """
        coded = {int(column): variants[:, index] for index, column in enumerate(columns)}
        for one in self.follows:
            if one.source in coded:
                coded[one.column] = one.values[self.bins.bin_of(coded[one.source], one.source)]
            else:
                coded.pop(one.column, None)
        bins = {column: self.bins.bin_of(values, column) for column, values in coded.items()}
        always = np.ones(len(variants), dtype=bool)
        opened: dict[int, NDArray[np.bool_]] = {}
        for column, own in bins.items():
            for other, excluded in self._by_column.get(column, {}).items():
                if other in bins:
                    always &= ~excluded[own, bins[other]]
                else:
                    opened[other] = opened.get(other, True) & ~excluded[own].T
        return always, opened

    def repaired(self, rows: Floats, whole: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
        """Rows without the contradictions, as far as there are values without any.

        Column after column, in a random order: a value that a column before it excludes is drawn again among those
        that none of them does.
        """
        rows, seen = rows.copy(), []
        for column in rng.permutation(list(self._by_column)).tolist():
            tables = {other: table for other, table in self._by_column[column].items() if other in seen}
            seen.append(column)
            if not tables:
                continue
            closed = np.zeros((len(rows), int(self.bins.sizes[column])), dtype=bool)
            for other, table in tables.items():
                closed |= table.T[self.bins.codes(rows, other)]
            own = self.bins.codes(rows, column)
            bad = np.flatnonzero(closed[np.arange(len(rows)), own] & ~closed[:, :-1].all(axis=1))
            if len(bad):
                rows[bad, column] = self._redrawn(column, ~closed[bad, :-1], bool(whole[column]), rng)
        return self.complete(rows)

    def _redrawn(self, column: int, opened: NDArray[np.bool_], whole: bool, rng: np.random.Generator) -> Floats:
        """A value per row, uniformly among those of the bins that are open."""
        low, high = self.bins.span(column, np.arange(opened.shape[1]))
        width = np.ones(len(low)) if self.bins.exact[column] else high - low
        weight = opened * width
        points = ~weight.any(axis=1)  # all that is open are single values
        weight[points] = opened[points]
        chance = np.cumsum(weight, axis=1)
        code = (rng.random(len(opened))[:, None] * chance[:, -1:] >= chance).sum(axis=1)
        low, high = low[code], high[code]
        drawn = low + rng.random(len(opened)) * (high - low)
        return np.asarray(np.floor(drawn) if whole else drawn)

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
        codes = {int(column): bins.codes(rows, int(column)) for column in columns}
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
    first: NDArray[np.intp], second: NDArray[np.intp], n_first: int, n_second: int, level: float
) -> tuple[NDArray[np.bool_], NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """From the codes of two columns: which values exclude each other; the second as a function of the first, and back.

    A function is None where there is none, or where not every value was seen.
    """
    counts = count_by(first * n_second + second, n_first * n_second).reshape(n_first, n_second)
    n, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    rare = (counts <= EXCEPTIONS * rows[:, None]) | (counts <= EXCEPTIONS * columns)
    excluded = rare & (pdtr(counts, np.outer(rows, columns) / n) <= level)
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
