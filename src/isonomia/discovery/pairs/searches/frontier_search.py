"""A flood that spreads: neighbours of everyone found, cell by cell, the most promising steps first."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.searches.coverage import Cells
from isonomia.discovery.pairs.space import Space
from isonomia.probing import Answer, Request, Untested
from isonomia.probing.growing_array import Stack
from isonomia.probing.key_map import first_keys
from isonomia.typing import Floats

#: People expanded per round, minimum number of steps tested, and share of all steps tested.
PARENTS, MIN_BATCH, PART = 320, 500, 0.35
#: Steps into new cells of unlikely people, as a share of the others.
BREADTH = 0.15
#: Crossings with others found tried for each of them.
CROSSINGS = 8
#: Rounds without anything new before it ends.
PATIENCE = 5


class Steps:
    """What a step in each column and direction does to the margin, on average, as the search goes on."""

    def __init__(self, n_columns: int) -> None:
        self.total = np.zeros((n_columns, 2))
        self.count = np.full((n_columns, 2), 1e-3)

    def learn(self, column: NDArray[np.intp], up: NDArray[np.intp], change: Floats) -> None:
        """Add observed changes."""
        np.add.at(self.total, (column, up), change)
        np.add.at(self.count, (column, up), 1.0)

    def expected(self, column: NDArray[np.intp], up: NDArray[np.intp]) -> Floats:
        """The mean change so far."""
        return np.asarray((self.total / self.count)[column, up])


def search_frontier(
    space: Space, cells: Cells, seeds: Floats, margins: Floats, *, likely: Callable[[Floats], NDArray[np.bool_]]
) -> Generator[Request, Answer, Found]:
    """Spread from seeds to neighbours, neighbours' neighbours, and so on.

    Every round takes people not yet expanded from the cells expanded least, those with the widest margin first, and
    lists all their neighbours and some crossings with others found. Of those not tested before, the ones whose margin
    is expected to be widest are, steps into cells nobody was found in before the others. `likely` may keep it to some
    people, but for one of each cell that none of them is reached in.
    """
    found = Found(cells, seeds, margins)
    steps = Steps(len(space.domain) + 2)
    idle = 0
    while found.waiting.any() and idle < PATIENCE:
        parents = found.parents()
        near, origin, column, up = _candidates(space, cells, found.rows.take(parents, axis=0), found.rows)
        cell = cells(near.rows)
        hope = found.margin[parents][origin] + steps.expected(column, up)
        chosen = _choose(hope, cell, found.visited, likely(near.rows))
        if len(chosen) == 0:
            continue
        answer = yield near.take(chosen)
        good = answer.tested
        idle = 0 if answer.fresh.any() else idle + 1
        change = answer.margin[good] - found.margin[parents][origin[chosen[good]]]
        steps.learn(column[chosen[good]], up[chosen[good]], change)
        new = answer.found & answer.fresh
        found.add(answer.discovered, answer.margin[new])
    return found


class Found:
    """Everyone found so far: who they are, their margin and cell, and who waits to be expanded."""

    def __init__(self, cells: Cells, rows: Floats, margin: Floats) -> None:
        self.cells = cells
        self.expanded = np.zeros(cells.count, dtype=np.int64)
        self.visited = np.zeros(cells.count, dtype=bool)
        self._rows, self._margin = Stack(rows.shape[1:]), Stack(())
        self._cell, self._waiting = Stack((), np.int64), Stack((), bool)
        self._best = np.full(cells.count, -1, dtype=np.intp)  # who of a cell is expanded next, -1 for nobody
        self.add(rows, margin)

    @property
    def rows(self) -> Floats:
        """The people."""
        return self._rows.rows

    @property
    def margin(self) -> Floats:
        """How far inside the discriminating set each is."""
        return self._margin.rows

    @property
    def cell(self) -> NDArray[np.int64]:
        """The cell of each."""
        return self._cell.rows

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """The people not yet expanded."""
        return self._waiting.rows

    def add(self, rows: Floats, margin: Floats) -> None:
        """Add people, all waiting."""
        start, cell = len(self._rows), self.cells(rows)
        for stack, part in (
            (self._rows, rows),
            (self._margin, margin),
            (self._cell, cell),
            (self._waiting, np.ones(len(rows), dtype=bool)),
        ):
            stack.add(part)
        self.visited[cell] = True
        self._consider(np.arange(start, len(self._rows)))

    def _consider(self, indices: NDArray[np.intp]) -> None:
        """Let people be the best of their cell where they are: the widest margin, of equal ones the first found."""
        cell, margin = self.cell[indices], self.margin[indices]
        holder = self._best[cell]
        margin = np.where((holder < 0) | (margin > self.margin[holder]), margin, -np.inf)
        widest = np.full(self.cells.count, -np.inf)
        np.maximum.at(widest, cell, margin)
        better = np.flatnonzero((margin == widest[cell]) & (margin > -np.inf))[::-1]
        self._best[cell[better]] = indices[better]

    def parents(self) -> NDArray[np.intp]:
        """Those to expand next, who wait no longer: least expanded cells first, then the widest margin.

        At most one per cell and round as long as there are other cells.
        """
        chosen = self._foremost(self._best[self._best >= 0], PARENTS)
        if len(chosen) < PARENTS:
            self.waiting[chosen] = False
            rest = self._foremost(np.flatnonzero(self.waiting), PARENTS - len(chosen))
            chosen = np.concatenate([chosen, rest])
        self.waiting[chosen] = False
        cells = self.cell[chosen]
        np.add.at(self.expanded, cells, 1)
        self._best[cells] = -1
        open_again = np.zeros(self.cells.count, dtype=bool)
        open_again[cells] = True
        self._consider(np.flatnonzero(self.waiting & open_again[self.cell]))
        return chosen

    def _foremost(self, indices: NDArray[np.intp], n: int) -> NDArray[np.intp]:
        """The first `n` in order: least expanded cells first, then the widest margin."""
        times = self.expanded[self.cell[indices]]
        if len(indices) > n:
            edge = np.partition(times, n - 1)[n - 1]
            sure, rest = indices[times < edge], indices[times == edge]
            left = n - len(sure)
            indices = np.concatenate([sure, rest[np.argpartition(-self.margin[rest], left - 1)[:left]]])
        return indices[np.lexsort((-self.margin[indices], self.expanded[self.cell[indices]]))]


def _choose(
    hope: Floats, cell: NDArray[np.int64], visited: NDArray[np.bool_], likely: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The most hopeful steps to likely people, those into new cells first where they have a chance at all.

    Beside them the most hopeful step into each new cell that only unlikely people can be reached in, up to a share of
    all steps tested: a kind of people counts as covered by one of them.
    """
    some = np.flatnonzero(likely)
    n = max(MIN_BATCH, int(PART * len(some)))
    if n < len(some):
        index = (len(some) - 1) // 4
        new = ~visited[cell[some]] & (hope[some] > np.partition(hope[some], index)[index])
        some = some[np.lexsort((-hope[some], ~new))[:n]]
    reached = visited.copy()
    reached[cell[some]] = True
    rare = np.flatnonzero(~likely & ~reached[cell])
    rare = rare[np.argsort(-hope[rare], kind="stable")]
    rare = rare[np.sort(np.unique(cell[rare], return_index=True)[1])]
    return np.concatenate([some, rare[: int(BREADTH * max(len(some), MIN_BATCH))]])


def _candidates(
    space: Space, cells: Cells, rows: Floats, everyone: Floats
) -> tuple[Untested, NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """People one step from rows, with where they come from, the column moved and whether upwards; untested ones only.

    Categories jump to one random other value instead of the next one. A leap takes a column of the map of cells to any
    of its values; a crossing takes each free column from the row or from someone else found, at equal odds. They count
    as steps in columns of their own.
    """
    n, domain, steps = len(rows), space.domain, 2 * len(space.movable)
    column = np.concatenate([np.repeat(space.movable, 2), cells.columns])
    up = np.arange(len(column)) % 2
    counted_as = np.where(np.arange(len(column)) < steps, column, len(domain) + 1)
    change = np.tile(domain.step[column] * (2.0 * up - 1), (n, 1))
    jump = np.flatnonzero(domain.nominal[column[:steps]])
    sizes = (domain.high[column[jump]] + 1).astype(np.int64)
    before = rows[:, column[jump]]
    change[:, jump] = (before + space.rng.integers(1, np.maximum(sizes, 2), (n, len(jump)))) % sizes - before
    change[:, steps:] = domain.values(np.tile(cells.columns, n), space.rng).reshape(n, -1) - rows[:, cells.columns]
    stepped, origin, moved = space.around(rows, column, change)
    crossed, parent = _crossed(space, rows, everyone)
    near = Untested(np.concatenate([stepped.rows, crossed.rows]), np.concatenate([stepped.keys, crossed.keys]))
    origins = np.concatenate([origin, parent])
    columns = np.concatenate([counted_as[moved], np.full(len(parent), len(domain))])
    ups = np.concatenate([up[moved], np.zeros(len(parent), dtype=np.intp)])
    first = first_keys(near.keys)[1]
    if len(first) == len(near):
        return near, origins, columns, ups
    first.sort()
    return near.take(first), origins[first], columns[first], ups[first]


def _crossed(space: Space, rows: Floats, everyone: Floats) -> tuple[Untested, NDArray[np.intp]]:
    """Crossings of rows with others found, and which row each comes from."""
    origin = np.tile(np.arange(len(rows)), CROSSINGS)
    near: Floats = everyone.take(space.rng.integers(len(everyone), size=len(origin)), axis=0)
    own = space.rng.integers(0, 2, near.shape, dtype=bool)
    own[:, space.protected] = True
    sets = (CROSSINGS, *rows.shape)
    np.copyto(near.reshape(sets), rows, where=own.reshape(sets))
    if space.domain.restricted:  # otherwise every value of a valid person is as good in another one
        near = space.domain.repaired(near, space.rng)
        good = space.probe.valid(near)
        near, origin = near[good], origin[good]
    fresh, kept = space.fresh(near)
    return fresh, origin[kept]
