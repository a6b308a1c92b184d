"""Level-wise search over conjunctions: "sex = F", then "sex = F and age in [25, 40)", and so on.

A method gives the quantities to sum over the rows of each conjunction, and decides which conjunctions are worth
exploring; the lattice owns levels, support, counting and memory. A conjunction is a sorted tuple of *items* (a
feature and one of its codes). It is counted only when every conjunction with one item less was kept.

The key of a conjunction is the index of its prefix in the previous level, times the number of items, plus its last
item: an exact integer however wide the data is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting._bit_route import BitRoute
from isonomia.counting._cell_route import CellRoute
from isonomia.counting._classes import MAX_CLASSES, row_classes
from isonomia.counting._levels import Indices, Level, implied_of, inherited, same_size, stacked
from isonomia.counting._summing import multiplied, row_terms
from isonomia.counting.by_code import sum_by
from isonomia.counting.cells import Cells
from isonomia.counting.codes import Codes
from isonomia.counting.counter import Counter
from isonomia.errors import DataError, SpecError
from isonomia.events import Clock
from isonomia.languages import msg
from isonomia.parameters import Choice
from isonomia.typing import Floats

Route = Literal["auto", "bits", "cells"]

#: Default limit of a search's working memory: bitsets of parents, cells of a level; and as much again for the
#: conjunctions of a level.
DEFAULT_BUDGET = 512 * 1024**2
#: Pairs of parents joined at a time, at most, and the bytes that one takes until it is counted or dropped.
_JOIN, _PAIR_BYTES = 1 << 19, 256
#: A level may always take this many bytes.
_MIN_LEVEL_BYTES = 1 << 21


#: Which candidates (with upper limits of their sums) to count, and which counted conjunctions may have children.
Choose = Callable[[Level], NDArray[np.bool_]]


class Lattice:
    """All conjunctions over some columns that have enough rows.

    Parameters
    ----------
    columns : sequence of Codes, or Cells
        The features; or cells that were counted already, whose sums are the quantities.
    quantities : mapping of arrays, optional
        What to sum over the rows of a conjunction, by name. For `Level.sums` as upper limits of candidates they must
        not be negative.
    min_size : float
        Rows (or weight) a conjunction must have.
    weights : array, optional
        One weight per row; sizes and sums are then weighted.
    counts : array of int, optional
        How many identical rows each row stands for; its weight and quantities are those of each of them.
    budget : int
        Bytes of working memory, beyond the columns and quantities themselves: for bitsets and cells, and as much again
        for the conjunctions of a level. A level that would take more is cut short.
    route : "auto", "bits" or "cells"
        How to count. "bits": one packed bitset per item, counted word by word; for quantities with few distinct values.
        "cells": one composite code per combination of features, summed by `bincount`. "auto" takes the cheaper one,
        level by level. The sums are the same.
    clock
        The time limit, and where the search reports.
    counter : Counter, optional
        Counts rows that are elsewhere; the columns are those it knows, and quantities, weights and counts are its own.

    Attributes
    ----------
    looked_at, counted : int
        Candidates formed, and conjunctions whose rows were counted.
    complete : bool
        False once the time limit or the budget has cut a level short.

    Examples
    --------
    >>> columns = [Codes.encode(["F", "F", "M", "M"], name="sex"), Codes.encode([0, 1, 0, 1], name="old")]
    >>> lattice = Lattice(columns, {"wrong": np.array([0.0, 1.0, 0.0, 0.0])}, min_size=1)
    >>> for level in lattice.walk(2):
    ...     print([lattice.conditions(row) for row in level.items][:2], level.sums.tolist()[:2])
    [{0: 0}, {0: 1}] [[2.0, 1.0], [2.0, 0.0]]
    [{0: 0, 1: 0}, {0: 0, 1: 1}] [[1.0, 0.0], [1.0, 1.0]]
    """

    def __init__(
        self,
        columns: Sequence[Codes] | Cells,
        quantities: Mapping[str, NDArray[Any]] | None = None,
        *,
        min_size: float = 1.0,
        weights: Floats | None = None,
        counts: Any = None,
        budget: int = DEFAULT_BUDGET,
        route: Route = "auto",
        clock: Clock | None = None,
        counter: Counter | None = None,
    ) -> None:
        Choice(("auto", "bits", "cells")).check("route", route)
        self._counter, self._route = counter, route
        self.min_size = float(min_size)
        self.budget = int(budget)
        self.clock = clock or Clock()
        self.looked_at = self.counted = 0
        self.complete = True
        if counter is not None:
            assert not isinstance(columns, Cells)
            self.columns, self.n, self.totals = tuple(columns), counter.rows, counter.totals
        else:
            self._read_rows(columns, quantities, weights, counts)
        self._find_items()

    def _read_rows(
        self,
        columns: Sequence[Codes] | Cells,
        quantities: Mapping[str, NDArray[Any]] | None,
        weights: Floats | None,
        counts: Any,
    ) -> None:
        if isinstance(columns, Cells):
            if quantities or weights is not None or counts is not None:
                raise DataError("Cells already have counts, weights and sums; pass those when the cells are made.")
            self.columns, rows, terms = columns.columns, len(columns), columns.terms
        else:
            self.columns = tuple(columns)
            rows, terms = row_terms(self.columns, weights=weights, values=quantities, counts=counts)
        if not self.columns:
            raise DataError("A lattice needs at least one column.")
        self.n = rows
        size = terms.get(("w",)) or terms["n",]
        #: Whether every row counts 1, so that sizes are numbers of rows.
        self._ones = not size
        #: What to sum: the rows' sizes (left out where they are 1), and the quantities.
        self._values = [multiplied(size)] if size else []
        self._values += [multiplied(factors) for key, factors in terms.items() if key[0] == "sum"]
        self.totals = np.array([*([rows] if self._ones else []), *(value.sum() for value in self._values)])

    def _find_items(self) -> None:
        """The first level: every feature and code that has enough rows.

        Features whose values split the rows into many small parts come first: conjunctions then begin with items of
        few rows, and little is left to count.
        """
        tables = [
            self._sum_codes(column) if self._counter is None else self._counter.of_codes(feature)
            for feature, column in enumerate(self.columns)
        ]
        total = max(float(self.totals[0]), 1e-300)
        together = [float(np.square(table[table[:, 0] >= self.min_size, 0] / total).sum()) for table in tables]
        features, ranks, codes, sums = [], [], [], []
        for rank, index in enumerate(np.argsort(together, kind="stable").tolist()):
            table = tables[index]
            enough = np.flatnonzero(table[:, 0] >= self.min_size)
            features.append(np.full(enough.size, index, dtype=np.int32))
            ranks.append(np.full(enough.size, rank, dtype=np.int64))
            codes.append(enough.astype(np.int64))
            sums.append(table[enough])
            self.looked_at += len(table)
        self.item_feature = np.concatenate(features)
        self._item_rank = np.concatenate(ranks)
        self.item_code = np.concatenate(codes)
        self.item_sums = np.concatenate(sums)
        self.counted += self.item_feature.size

    def _sum_codes(self, column: Codes) -> Floats:
        if self._classes is not None and column.size * len(self._classes[1]) <= 1 << 16:
            classes, values = self._classes
            both = column.codes.astype(np.uint16) * np.uint16(len(values)) + classes
            return np.bincount(both, minlength=column.size * len(values)).reshape(column.size, -1) @ values
        parts = [column.counts().astype(float)] if self._ones else []
        parts += [sum_by(column.codes, value, column.size) for value in self._values]
        return np.column_stack(parts)

    @property
    def n_items(self) -> int:
        """How many items have enough rows."""
        return int(self.item_feature.size)

    def conditions(self, items: NDArray[Any]) -> dict[int, int]:
        """A conjunction as feature number -> code."""
        return {int(self.item_feature[item]): int(self.item_code[item]) for item in items}

    def rows(self, items: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows are in a conjunction."""
        inside = np.ones(self.n, dtype=bool)
        for feature, code in self.conditions(items).items():
            inside &= self.columns[feature].codes == code
        return inside

    def possible(self, max_l: int) -> int:
        """How many conjunctions of at most `max_l` items there are: the size of the search space.

        The sum over l of the elementary symmetric polynomials of the numbers of items per feature.
        """
        per_feature = np.bincount(self.item_feature, minlength=len(self.columns)).tolist()
        ways = [1] + [0] * max_l
        for count in per_feature:
            for length in range(max_l, 0, -1):
                ways[length] += ways[length - 1] * count
        return sum(ways[1:])

    # the walk ---------------------------------------------------------------------------------------------------

    def walk(self, max_l: int, *, admit: Choose | None = None, keep: Choose | None = None) -> Iterator[Level]:
        """Level by level, the conjunctions that have enough rows.

        Parameters
        ----------
        max_l : int
            The longest conjunctions.
        admit : callable, optional
            Which candidates to count, given upper limits of their sums. Its answer must be valid for all their
            descendants too.
        keep : callable, optional
            Which of a level's conjunctions may have children. Called after the level was yielded.
        """
        first = np.arange(self.n_items, dtype=np.int32).reshape(-1, 1)
        everyone = (self.item_sums[:, 0] == self.totals[0]).astype(np.uint64)
        level = Level(first, self.item_sums, np.zeros((self.n_items, 1), dtype=np.int64), everyone)
        stage = self.clock.progress.stage("conjunctions", msg("Counting conjunctions"), total=max_l)
        for length in range(1, max_l + 1):
            stage.at(length - 1)
            if len(level):
                yield level
            if length == max_l or not len(level):
                return
            if self._stopped():
                return
            kept = level if keep is None else level.select(keep(level))
            counted = (self._count(part, kept) for part in self._join(kept, admit))
            level = stacked(list(self._within_budget(counted)), kept)

    def _within_budget(self, parts: Iterator[Level]) -> Iterator[Level]:
        """The parts of a level, while memory lasts (also for joining them)."""
        remaining = max(self.budget, _MIN_LEVEL_BYTES) // 2
        for part in parts:
            remaining -= part.nbytes
            if remaining < 0:
                self.complete = False
                return
            yield part

    def _stopped(self) -> bool:
        if self.clock.over:
            self.complete = False
        return not self.complete

    def _join(self, level: Level, admit: Choose | None) -> Iterator[Level]:
        """Candidates with one item more: pairs that share all but their last item, all of whose parents were kept.

        They come in parts, so that those with too few rows are dropped before the next are made.
        """
        first, count = self._partners(level)
        ends = np.cumsum(count)
        keys = level.parents[:, -1] * self.n_items + level.items[:, -1]
        begin, most = 0, min(_JOIN, max(self.budget, _MIN_LEVEL_BYTES) // _PAIR_BYTES)
        while begin < len(level) and not self._stopped():
            done = int(ends[begin - 1]) if begin else 0
            stop = max(begin + 1, int(np.searchsorted(ends, done + most, side="right")))
            left = np.repeat(np.arange(begin, stop), count[begin:stop])
            offset = np.arange(left.size) - np.repeat(ends[begin:stop] - count[begin:stop] - done, count[begin:stop])
            self.looked_at += left.size
            yield self._with_all_parents(level, keys, left, first[left] + offset, admit)
            begin = stop

    def _partners(self, level: Level) -> tuple[Indices, Indices]:
        """For each conjunction the first one, and how many, that share its prefix and end in a later feature."""
        prefix, feature = level.parents[:, -1], self._item_rank[level.items[:, -1]]
        n_features = len(self.columns)
        group = prefix * n_features + feature  # rising, since a level is sorted
        after = np.searchsorted(group, group, side="right")
        end = np.searchsorted(group, prefix * n_features + (n_features - 1), side="right")
        return after, end - after

    def _with_all_parents(
        self, level: Level, keys: Indices, left: Indices, right: Indices, admit: Choose | None
    ) -> Level:
        """The joined pairs that have all their parents and are admitted, with the smallest of the parents' sums."""
        if admit is not None:  # two parents may be enough to reject a pair, before the others are looked up
            few = admit(self._candidates(level, left, right, [right, left]))
            left, right = left[few], right[few]
        known = np.ones(left.size, dtype=bool)
        parents = []
        last = level.items[right, -1].astype(np.int64)
        for j in range(level.length - 1):
            parent_keys = level.parents[left, j] * self.n_items + last
            index = np.searchsorted(keys, parent_keys)
            index[index == keys.size] = 0
            known &= keys[index] == parent_keys
            parents.append(index)
        parents += [right, left]
        if not known.all():
            parents = [part[known] for part in parents]
        candidates = self._candidates(level, parents[-1], parents[-2], parents if admit is not None else [], parents)
        admitted = candidates if admit is None else candidates.select(admit(candidates))
        return replace(admitted, implied=implied_of(level.implied, admitted.parents))

    def _candidates(
        self, level: Level, left: Indices, right: Indices, bounds: list[Indices], parents: list[Indices] | None = None
    ) -> Level:
        """Pairs as a level of their own; the sums are the smallest of the parents in `bounds`."""
        items = np.concatenate([level.items[left], level.items[right, -1:]], axis=1)
        low = np.empty((len(items), 0))
        if bounds:
            low = level.sums[bounds[0]]
            for part in bounds[1:]:
                np.minimum(low, level.sums[part], out=low)
        indices = np.column_stack(parents) if parents else np.empty((len(items), 0), dtype=np.int64)
        return Level(items, low, indices, np.zeros(len(items), dtype=np.uint64))

    # counting ---------------------------------------------------------------------------------------------------

    def _count(self, candidates: Level, kept: Level) -> Level:
        """The sums of the candidates; those with too few rows are dropped."""
        open_rows = np.flatnonzero(candidates.implied == 0)
        sums = inherited(candidates, kept)
        done = len(candidates)
        if open_rows.size:
            rest = candidates if open_rows.size == len(candidates) else candidates.select(open_rows)
            if self._counter is None:
                counted, reached = self._choose(rest).count(rest, kept, self.clock)
            else:
                features, codes = self.item_feature[rest.items], self.item_code[rest.items]
                counted, reached = self._counter.count(features, codes, self.min_size, self.clock)
            self.counted += reached
            sums[open_rows[:reached]] = counted[:reached]
            if reached < open_rows.size:
                self.complete = False
                done = int(open_rows[reached])
        items, parents = candidates.items[:done], candidates.parents[:done]
        sums = sums[:done]
        level = Level(items, sums, parents, same_size(sums[:, 0], kept.sums[:, 0].copy(), parents))
        return level.select(sums[:, 0] >= self.min_size)

    def _choose(self, candidates: Level) -> BitRoute | CellRoute:
        if self._route == "bits":
            if self._classes is None:
                raise SpecError(
                    f"The quantities have more than {MAX_CLASSES} different row values; bits cannot count them."
                )
            return self._bits
        if self._route == "cells" or self._classes is None:
            return self._cells
        if BitRoute.bytes_needed(self.n_items, self.n, self._classes[1].shape[0]) > self.budget // 2:
            return self._cells
        bits = BitRoute.cost(candidates.items, self.n)
        sums = len(self._values) + self._ones
        cells = CellRoute.cost(self.item_feature[candidates.items], self.n, sums, below=bits)
        return self._bits if bits <= cells else self._cells

    @cached_property
    def _classes(self) -> tuple[NDArray[Any], Floats] | None:
        """The class of each row (rows with the same values of all quantities), and the values of each class."""
        return row_classes(self._values, self.n, counted=self._ones)

    @cached_property
    def _bits(self) -> BitRoute:
        if self._classes is None:  # guarded by `_choose`
            raise SpecError("The quantities have too many different row values to be counted by bits.")
        return BitRoute(self.columns, self.item_feature, self.item_code, *self._classes, self.budget // 4)

    @cached_property
    def _cells(self) -> CellRoute:
        values = [None, *self._values] if self._ones else self._values
        return CellRoute(self.columns, self.item_feature, self.item_code, values, self.budget)
