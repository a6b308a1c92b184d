"""A small tree fitted to the predictions of a model, and people moved across its conditions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.space import Space
from isonomia.typing import Floats

#: Maximum number of people besides the neighbourhood that a tree is fitted to.
MAX_OWN = 64


@dataclass(frozen=True, eq=False)
class Paths:
    """The conditions on the paths of people through a tree, root first; ``column`` is -1 beyond the end.

    Attributes
    ----------
    leaf : array (n,) of int
        Where they end.
    column : array (n, depth) of int
    cut : array (n, depth)
        Thresholds.
    below : array (n, depth) of bool
        Whether the value is at most the threshold.
    share : array (n, depth)
        The share of the node's rows that go the same direction; NaN beyond the end.
    """

    leaf: NDArray[np.intp]
    column: NDArray[np.intp]
    cut: Floats
    below: NDArray[np.bool_]
    share: Floats

    def __len__(self) -> int:
        return len(self.column)

    def take(self, rows: NDArray[np.intp]) -> Paths:
        """Some of them."""
        return Paths(
            leaf=self.leaf[rows],
            column=self.column[rows],
            cut=self.cut[rows],
            below=self.below[rows],
            share=self.share[rows],
        )

    @cached_property
    def length(self) -> NDArray[np.intp]:
        """How many conditions each path has."""
        return np.asarray((self.column >= 0).sum(axis=1))

    @cached_property
    def confidence(self) -> Floats:
        """The mean share of each path; 1 where it has no condition."""
        return np.where(self.length > 0, np.nansum(self.share, axis=1) / np.maximum(self.length, 1), 1.0)


@dataclass(frozen=True, eq=False)
class Negations:
    """The change of people on each path when one of its conditions is negated: a column, and its new value.

    Those of path p stand from ``begins[p]`` to ``begins[p + 1]``.
    """

    begins: NDArray[np.intp]
    column: NDArray[np.intp]
    value: Floats

    def children(self, rows: Floats, path: NDArray[np.intp]) -> Floats:
        """All children of people, by their path, one person after another; missing values stay missing."""
        count = self.begins[path + 1] - self.begins[path]
        before = np.cumsum(count) - count
        each = np.arange(int(count.sum()))
        move = each + np.repeat(self.begins[path] - before, count)
        moved: Floats = np.repeat(rows, count, axis=0)
        column = self.column[move]
        start = moved[each, column]
        moved[each, column] = np.where(np.isnan(start), start, self.value[move])
        return moved


class Surrogate:
    """A decision tree fitted to rows drawn attribute by attribute from the data (LIME's neighbourhood) as the model
    labels them, and to some of the people themselves."""

    def __init__(self, space: Space, rows: Floats, size: int) -> None:
        from sklearn.tree import DecisionTreeClassifier

        self.space = space
        base = space.people if len(space.people) else space.domain.sample(size, space.rng)
        drawn = [base[space.rng.integers(len(base), size=size), index] for index in range(base.shape[1])]
        sample = np.concatenate([np.stack(drawn, axis=1), rows[:MAX_OWN]])
        fitted = DecisionTreeClassifier(random_state=0).fit(self._filled(sample), space.labels(sample))
        self.tree = fitted.tree_
        self.parent = np.full(self.tree.node_count, -1, dtype=np.intp)
        for side in (self.tree.children_left, self.tree.children_right):
            inner = np.flatnonzero(side >= 0)
            self.parent[side[inner]] = inner
        self._index = np.cumsum(self.tree.children_left < 0) - 1  # number of each leaf among the leaves

    def _filled(self, rows: Floats) -> NDArray[np.float32]:
        middle = (self.space.domain.low + self.space.domain.high) / 2
        return np.where(np.isnan(rows), middle, rows).astype(np.float32)

    def index(self, rows: Floats) -> NDArray[np.intp]:
        """Which path of `every` each person takes."""
        return np.asarray(self._index[self.tree.apply(self._filled(rows))])

    def paths(self, rows: Floats) -> Paths:
        """The path of each person."""
        return self.every.take(self.index(rows))

    @cached_property
    def every(self) -> Paths:
        """The paths to all leaves."""
        leaves = np.flatnonzero(self.tree.children_left < 0)
        nodes = [leaves]  # all leaves climb to the root together
        while (self.parent[nodes[-1]] >= 0).any():
            above = self.parent[nodes[-1]]
            nodes.append(np.where(above >= 0, above, nodes[-1]))
        climb = np.stack(nodes[::-1], axis=1)
        # those that arrived early wait at the root: drop their waiting, and move every path to the left
        waits = (climb[:, 1:] == climb[:, :-1]).sum(axis=1) if climb.shape[1] > 1 else np.zeros(len(leaves), np.intp)
        depth = climb.shape[1] - 1
        index = np.arange(depth) + waits[:, None]
        there = index < depth
        node = np.take_along_axis(climb, np.minimum(index, depth), axis=1)
        child = np.take_along_axis(climb, np.minimum(index + 1, depth), axis=1)
        with np.errstate(invalid="ignore"):
            share = np.where(there, self.tree.n_node_samples[child] / self.tree.n_node_samples[node], np.nan)
        column = np.where(there, self.tree.feature[node], -1).astype(np.intp)
        cut = np.where(there, self.tree.threshold[node], 0.0)
        return Paths(leaf=leaves, column=column, cut=cut, below=self.tree.children_left[node] == child, share=share)

    @cached_property
    def negated(self) -> Negations:
        """Every condition of every path negated and the others kept, with the smallest change of the person.

        Someone on a path obeys all its conditions, so only the column of the negated one moves, to the other side
        of its cut; where other conditions on this column exclude that, there is no such person.
        """
        domain, paths = self.space.domain, self.every
        column, below = paths.column, paths.below
        floor, above = self._sides(paths)
        upper, upper_left = _tightest(floor, below & (column >= 0), column, domain.high, np.minimum, np.maximum)
        lower, lower_left = _tightest(above, ~below & (column >= 0), column, domain.low, np.maximum, np.minimum)
        largest = np.where(below, np.where(floor == upper, upper_left, upper), floor)
        smallest = np.where(below, above, np.where(above == lower, lower_left, lower))
        path, negated = np.nonzero(self._free(paths) & (smallest <= largest))
        value = np.where(below[path, negated], smallest[path, negated], largest[path, negated])
        return Negations(
            begins=np.searchsorted(path, np.arange(len(paths) + 1)), column=column[path, negated], value=value
        )

    def local(self, rows: Floats, index: NDArray[np.intp]) -> Floats:
        """Everyone on the path `index` of `every` with one of its conditions negated, for all conditions."""
        return self.space.testable(self.negated.children(rows, index))

    def ahead(self, rows: Floats, paths: Paths, confidence: float) -> Floats:
        """Everyone with one condition negated, those above it kept and those below it dropped, from the root as
        long as branches hold at least a share of `confidence`; the value is drawn from the interval."""
        free = self._free(paths)
        weak = free & (paths.share < confidence)
        person, negated = np.nonzero(free & (np.cumsum(weak, axis=1) == 0))
        above = np.arange(paths.column.shape[1]) <= negated[:, None]
        return self._moved(rows, paths, person, negated, above)

    def _free(self, paths: Paths) -> NDArray[np.bool_]:
        return (paths.column >= 0) & ~np.isin(paths.column, self.space.protected)

    def _sides(self, paths: Paths) -> tuple[Floats, Floats]:
        """The largest value at most each cut, and the smallest one above it."""
        whole = self.space.domain.whole[paths.column]
        floor = np.where(whole, np.floor(paths.cut), paths.cut)
        # float32 is what the tree compares; a whole number above the cut is at least the next one
        beyond = np.nextafter(paths.cut.astype(np.float32), np.float32(np.inf)).astype(float)
        return floor, np.where(whole, floor + 1, beyond)

    def _moved(
        self,
        rows: Floats,
        paths: Paths,
        person: NDArray[np.intp],
        negated: NDArray[np.intp],
        use: NDArray[np.bool_],
    ) -> Floats:
        """People moved into each box of conditions, where it is not empty; the negated value is drawn from it."""
        domain = self.space.domain
        each = np.arange(len(person))
        low, high = np.tile(domain.low, (len(person), 1)), np.tile(domain.high, (len(person), 1))
        floor, above = self._sides(paths)
        for step in range(paths.column.shape[1]):
            column = paths.column[person, step]
            below = paths.below[person, step] ^ (negated == step)
            on = use[:, step] & (column >= 0)
            high[each, column] = np.minimum(high[each, column], np.where(on & below, floor[person, step], np.inf))
            low[each, column] = np.maximum(low[each, column], np.where(on & ~below, above[person, step], -np.inf))
        start = rows[person]
        people = np.where(np.isnan(start), start, np.clip(start, low, np.maximum(low, high)))
        people[:, self.space.protected] = start[:, self.space.protected]
        column = paths.column[person, negated]
        inside = low[each, column] + self.space.rng.random(len(each)) * (high - low)[each, column]
        people[each, column] = np.where(domain.whole[column], np.rint(inside), inside)
        people = people[(low <= high).all(axis=1)]
        return self.space.testable(people)


def _tightest(
    value: Floats, on: NDArray[np.bool_], column: NDArray[np.intp], end: Floats, best: np.ufunc, worst: np.ufunc
) -> tuple[Floats, Floats]:
    """For each condition the tightest bound of its column on its path, and the one left without the tightest.

    `on` says which conditions bound on this side, `end` where the domain ends.
    """
    first, second = np.tile(end, (len(value), 1)), np.tile(end, (len(value), 1))
    for step in range(value.shape[1]):
        mine = np.flatnonzero(on[:, step])
        at, new = (mine, column[mine, step]), value[mine, step]
        second[at] = best(second[at], worst(first[at], new))
        first[at] = best(first[at], new)
    person = np.arange(len(value))[:, None]
    return first[person, column], second[person, column]
