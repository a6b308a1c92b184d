"""How much subgroups have in common: their common rows over the rows of either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.discovery.subgroups.problem import Problem


class Overlaps:
    """Common rows of subgroups of a problem, counted once for each pair that is asked about."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._bits: dict[int, tuple[Subgroup, NDArray[np.uint8], int]] = {}
        self._shares: dict[tuple[int, int], float] = {}

    def largest(self, item: Subgroup, others: Sequence[Subgroup], *, above: float = 0.0) -> float:
        """The largest share in common with one of the others; `above` where none is larger."""
        size = self._size(item)
        sizes = [self._size(other) for other in others]
        limits = [min(size, own) / max(size, own, 1) for own in sizes]
        best = above
        for index in np.argsort(-np.asarray(limits), kind="stable").tolist():
            if limits[index] <= best:  # none of those left can have more in common
                break
            best = max(best, self._share(item, others[index]))
        return best

    def _share(self, one: Subgroup, other: Subgroup) -> float:
        key = min(id(one), id(other)), max(id(one), id(other))
        if key not in self._shares:
            both = self._common(one, other)
            either = self._size(one) + self._size(other) - both
            self._shares[key] = both / either if either else 0.0
        return self._shares[key]

    def _common(self, one: Subgroup, other: Subgroup) -> int:
        if self.problem.counted is None:
            first, second = (self._packed(item) for item in (one, other))
            return int(np.bitwise_count(first & second).sum())
        problem, items = in_few_bins(self.problem, [one, other])
        cells = problem.on(dict.fromkeys([*one.names, *other.names]))
        inside = np.logical_and(*(item.mask(cells.by_name) for item in items))
        return cells.mass.take(inside).n

    def _size(self, item: Subgroup) -> int:
        self._packed(item)
        return self._bits[id(item)][2]

    def _packed(self, item: Subgroup) -> NDArray[np.uint8]:
        if id(item) not in self._bits:  # the subgroup is kept with it, so that its id stays its own
            cells = self.problem.on(item.names)
            mask = item.mask(cells.by_name)
            self._bits[id(item)] = item, np.packbits(mask), cells.mass.take(mask).n
        return self._bits[id(item)][1]


def in_few_bins(problem: Problem, found: Sequence[Subgroup]) -> tuple[Problem, list[Subgroup]]:
    """The problem and subgroups with no more bins than tell the subgroups apart: fewer cells have to be counted."""
    columns = dict(problem.by_name)
    tables: dict[str, NDArray[Any]] = {}
    for name, column in problem.by_name.items():
        own = [item.conditions[name] for item in found if name in item.conditions]
        if column.edges is None or not own:
            continue
        bins = np.arange(len(column.edges) - 1)
        inside = np.array([np.isin(bins, codes) for codes in own])
        inner = np.flatnonzero((inside[:, 1:] != inside[:, :-1]).any(axis=0)) + 1
        labels = (*range(inner.size + 1), *([] if column.missing is None else [None]))
        wide = np.searchsorted(inner, bins, side="right")
        table = np.append(wide, inner.size + 1).astype(smallest(inner.size + 2))
        edges = tuple(column.edges[index] for index in (0, *inner.tolist(), -1))
        columns[name], tables[name] = Codes(name, table[column.codes], labels, edges), table
    return (
        replace(problem, features=tuple(columns.values())),
        [
            replace(
                item,
                conditions={
                    name: tuple(np.unique(tables[name][list(codes)]).tolist()) if name in tables else codes
                    for name, codes in item.conditions.items()
                },
            )
            for item in found
        ],
    )
