"""A flood that spreads: neighbours of everyone found, cell by cell, the most promising steps first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.cells import Cells
from isonomia.discovery.pairs.space import Space
from isonomia.probing import Search
from isonomia.probing.features import Floats

#: People whose neighbours are looked at in a round, steps tested at least, and the part of all steps tested.
PARENTS, LEAST, PART = 256, 500, 0.35
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


def flood(space: Space, cells: Cells, seeds: Floats, margins: Floats) -> Search:
    """Spread from seeds to neighbours, neighbours' neighbours, and so on.

    Every round takes people not yet expanded from the cells expanded least, those with the widest margin first, and
    lists all their neighbours and some crossings with others found. Of those not tested before, the ones whose margin
    is expected to be widest are, steps into cells nobody was found in before the others.
    """
    rows, margin = seeds, margins
    waiting = np.ones(len(rows), dtype=bool)
    expanded = np.zeros(cells.count, dtype=np.int64)
    visited = np.zeros(cells.count, dtype=bool)
    cell = cells(rows)
    visited[cell] = True
    steps = Steps(len(space.domain) + 1)
    idle = 0
    while waiting.any() and idle < PATIENCE:
        parents = _parents(waiting, cell, expanded, margin)
        waiting[parents] = False
        np.add.at(expanded, cell[parents], 1)
        near, origin, column, up = _candidates(space, rows[parents], rows)
        known = space.known(near)
        near, origin, column, up = near[~known], origin[~known], column[~known], up[~known]
        if len(near) == 0:
            continue
        hope = margin[parents][origin] + steps.expected(column, up)
        chosen = _choose(hope, visited[cells(near)])
        answer = yield near[chosen]
        good = answer.tested
        idle = 0 if answer.fresh.any() else idle + 1
        change = answer.margin[good] - margin[parents][origin[chosen[good]]]
        steps.learn(column[chosen[good]], up[chosen[good]], change)
        new = answer.found & answer.fresh
        rows = np.concatenate([rows, answer.rows[new]])
        margin = np.concatenate([margin, answer.margin[new]])
        waiting = np.concatenate([waiting, np.ones(int(new.sum()), dtype=bool)])
        fresh_cells = cells(answer.rows[new])
        cell = np.concatenate([cell, fresh_cells])
        visited[fresh_cells] = True


def _parents(
    waiting: NDArray[np.bool_], cell: NDArray[np.int64], expanded: NDArray[np.int64], margin: Floats
) -> NDArray[np.intp]:
    """Those to expand next: least expanded cells first, then the widest margin, at most one a cell and round."""
    some = np.flatnonzero(waiting)
    best = some[np.lexsort((-margin[some], cell[some]))]
    first = best[np.concatenate([[True], cell[best][1:] != cell[best][:-1]])]  # the best of each cell
    order = np.lexsort((-margin[first], expanded[cell[first]]))
    chosen: NDArray[np.intp] = first[order][:PARENTS]
    if len(chosen) == PARENTS:
        return chosen
    rest = np.setdiff1d(some, chosen)
    more = rest[np.lexsort((-margin[rest], expanded[cell[rest]]))][: PARENTS - len(chosen)]
    return np.concatenate([chosen, more])


def _choose(hope: Floats, visited: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The most hopeful steps, those into new cells first where they have a chance at all."""
    n = max(LEAST, int(PART * len(hope)))
    if n >= len(hope):
        return np.arange(len(hope))
    new = ~visited & (hope > np.quantile(hope, 0.25))
    order = np.lexsort((-hope, ~new))
    return order[:n]


def _candidates(
    space: Space, rows: Floats, everyone: Floats
) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Single steps from rows, with where they come from, the column moved and whether upwards; one of each person.

    Categories jump to one random other value instead of the next one. A crossing takes each free column from the row
    or from someone else found, at equal odds; it counts as a step in a column of its own.
    """
    n = len(rows)
    parts, columns, ups = [], [], []
    for column in space.movable:
        for up in (0, 1):
            moved = rows.copy()
            if space.domain.nominal[column]:
                size = int(space.domain.high[column]) + 1
                moved[:, column] = (rows[:, column] + space.rng.integers(1, max(size, 2), n)) % size
            else:
                moved[:, column] += space.domain.step[column] * (1 if up else -1)
            parts.append(moved)
            columns.append(np.full(n, column))
            ups.append(np.full(n, up))
    for _ in range(CROSSINGS):
        mate = everyone[space.rng.integers(len(everyone), size=n)]
        swap = np.zeros(rows.shape, dtype=bool)
        swap[:, space.movable] = space.rng.random((n, len(space.movable))) < 0.5
        parts.append(np.where(swap, mate, rows))
        columns.append(np.full(n, len(space.domain)))
        ups.append(np.zeros(n))
    near = np.concatenate(parts)
    origin = np.tile(np.arange(n), len(parts))
    all_columns, all_ups = np.concatenate(columns).astype(np.intp), np.concatenate(ups).astype(np.intp)
    good = np.flatnonzero(space.domain.valid(near))
    keys = space.probe.key(near[good])
    first = np.sort(np.unique(keys, return_index=True)[1])
    kept = good[first]
    return near[kept], origin[kept], all_columns[kept], all_ups[kept]
