"""Nearest neighbours, exact, with ties shared: the answer does not depend on the order of the rows.

Equal rows are searched once. The search is a tree, or blocks of matrix products where a tree does not help; candidates
are then measured again, coordinate by coordinate, so that rounding decides nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by, sum_by
from isonomia.errors import NotApplicable
from isonomia.events import Progress, Stage
from isonomia.fairness.people.encoding import Points
from isonomia.fairness.people.exact_neighbours import NeighbourPool
from isonomia.languages import msg
from isonomia.parameters import Integer
from isonomia.typing import Floats, Indices

#: With more rows than this a tree and a look at everyone are tried on a few rows first.
TRIAL_FROM = 5_000
TRIAL_ROWS = 256
#: Candidates beyond the k wanted, to see that no tie at the edge is left out; with ties more are requested.
SPARE = 2
#: More candidates where everyone is looked at: distances from matrix products are rounded, and more cost nothing there.
RESERVE = 9
#: Two distances this close (relative) are the same.
ROUNDING = 1e-9
#: Numbers in a block of the exact second look.
BLOCK = 1 << 22
#: Different rows that are searched for together, between two events.
TOGETHER = 1024


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest neighbours of every queried row.

    Attributes
    ----------
    row : (n,) which of the different rows each row is
    query : (q,) for each queried row, its index in `who`
    who : (Q,) the distinct queried rows
    start : (Q + 1,) where each one's entries begin in `index` and `share`
    index : entries: a different row that is among the nearest
    share : entries: how many of the k neighbours it counts as, shared equally between ties at the edge
    pool : (n,) whether a row could be a neighbour
    k : how many neighbours
    """

    row: Indices
    query: Indices
    who: Indices
    start: Indices
    index: Indices
    share: Floats
    pool: NDArray[np.bool_]
    k: int

    def mean(self, values: Floats, weights: Floats | None = None) -> Floats:
        """The mean of a value (n,) or (n, m) over the neighbours of each queried row: (q,) or (q, m).

        With weights the neighbours are the same k, and their mean is weighted.
        """
        table = values if values.ndim == 2 else values[:, None]
        size = int(self.row.max()) + 1
        row = self.row[self.pool]

        def over(x: Floats) -> Floats:
            return sum_by(row, x, size)

        w = np.ones(row.size) if weights is None else weights[self.pool]
        # the weight of a distinct row is shared equally by the rows that are equal to it
        each = self.share / over(np.ones(row.size))[self.index]
        total = np.add.reduceat(over(w)[self.index] * each, self.start[:-1])
        sums = np.stack([over(w * column) for column in table[self.pool].T], axis=1)
        out = (np.add.reduceat(sums[self.index] * each[:, None], self.start[:-1], axis=0) / total[:, None])[self.query]
        return out if values.ndim == 2 else np.asarray(out[:, 0])


def nearest(
    points: Points,
    k: int,
    *,
    rows: Indices | None = None,
    pool: NDArray[np.bool_] | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """The k nearest neighbours of every row, itself among them.

    Rows at the distance of the k-th neighbour share the remaining weight, which is the mean over every way to
    break the tie.

    Parameters
    ----------
    rows : array of int, optional
        The queried rows; all unless given.
    pool : array of bool, optional
        The rows that can be neighbours; all unless given. A queried row that is not among them is not its own
        neighbour.

    >>> from isonomia.fairness.people.encoding import encode_people
    >>> found = nearest(encode_people({"x": [0.0, 1.0, 2.0, 9.0]}, standardise="none"), k=2)
    >>> found.mean(np.array([0.0, 0.0, 1.0, 1.0])).tolist()  # the second row has two at a distance of 1
    [0.0, 0.25, 0.5, 1.0]
    """
    n = len(points.matrix)
    inside = np.ones(n, dtype=bool) if pool is None else pool
    most = int(inside.sum())
    if Integer(1).check("k", k) > most:
        raise NotApplicable(msg("there are {n:int} rows, too few for {k:int} neighbours each", n=most, k=k))
    distinct, row = _distinct(points.matrix)
    counts = count_by(row[inside], len(distinct))
    there = np.flatnonzero(counts)
    who, inverse = np.unique(row if rows is None else row[rows], return_inverse=True)
    stage = Progress.of(progress).stage("neighbours", msg("Searching for similar people"), total=who.size)
    parts, left = _among_alike(points, row, there, counts[there], who, int(k), stage)
    search = _Search(distinct[there], points.p, left.size)
    for begin in range(0, left.size, TOGETHER):
        some = left[begin : begin + TOGETHER]
        stage.at(who.size - left.size + begin)
        parts += _entries(search, distinct[who[some]], some, counts[there], int(k))
    stage.at(who.size)
    position, index = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
    share = np.concatenate([part[2] for part in parts])
    order = np.argsort(position, kind="stable")
    start = np.searchsorted(position[order], np.arange(who.size + 1)).astype(np.intp)
    return Neighbours(row, inverse.ravel(), who, start, there[index[order]], share[order], inside, int(k))


def _among_alike(
    points: Points,
    row: Indices,
    there: Indices,
    counts: NDArray[np.integer[Any]],
    who: Indices,
    k: int,
    stage: Stage,
) -> tuple[list[tuple[Indices, Indices, Floats]], Indices]:
    """What rows of the same categories settle, and who is left."""
    if points.codes is None or points.numbers is None:
        return [], np.arange(who.size)
    first = np.zeros(int(row.max()) + 1, dtype=np.intp)
    first[row] = np.arange(row.size)
    neighbours = NeighbourPool(points.codes[first], points.numbers[first], there, counts, points.apart, points.p)
    parts: list[tuple[Indices, Indices, Floats]] = []
    left: list[Indices] = []
    for begin in range(0, who.size, TOGETHER):
        stage.at(begin - sum(part.size for part in left))
        position, index, share, complete = neighbours.entries(who[begin : begin + TOGETHER], k)
        parts.append((position + begin, index, share))
        left.append(begin + np.flatnonzero(~complete))
    return parts, np.concatenate(left)


def _entries(
    search: _Search, centres: Floats, who: Indices, counts: NDArray[np.integer[Any]], k: int
) -> list[tuple[Indices, Indices, Floats]]:
    """Who is near each row, and how many of the k neighbours they count as; more candidates where ties need them."""
    size = len(search.distinct)
    n_nearest = min(k + SPARE, size)
    pending = np.arange(who.size)
    parts: list[tuple[Indices, Indices, Floats]] = []
    while pending.size:
        candidates = search(centres[pending], n_nearest)
        distance = _exact(search.distinct, centres[pending], candidates, search.p)
        order = np.argsort(distance, axis=1, kind="stable")
        candidates = np.take_along_axis(candidates, order, axis=1)
        distance = np.take_along_axis(distance, order, axis=1)
        share, sure = _shares(distance, counts[candidates], k, complete=candidates.shape[1] == size)
        used = (share > 0) & sure[:, None]
        found = np.broadcast_to(who[pending][:, None], used.shape)[used]
        parts.append((found, candidates[used], share[used]))
        pending = pending[~sure]
        n_nearest = min(4 * n_nearest, size)
    return parts


def _distinct(matrix: Floats) -> tuple[Floats, Indices]:
    """The different rows, and which of them each row is; rows are compared by their bytes."""
    whole = np.ascontiguousarray(matrix + 0.0)
    # a random projection distinguishes rows faster than sorting whole rows; equal hashes are then compared in full
    key = whole @ np.random.default_rng(0).standard_normal(whole.shape[1])
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(whole[first][inverse], whole):
        distinct, inverse = np.unique(whole, axis=0, return_inverse=True)
        return distinct, inverse.ravel()
    return whole[first], inverse


def _shares(
    distance: Floats, counts: NDArray[np.integer], k: int, *, complete: bool
) -> tuple[Floats, NDArray[np.bool_]]:
    """How many of the k neighbours each candidate counts as, and whether no tie at the edge was left out."""
    reached = np.cumsum(counts, axis=1)
    edge_index = (reached >= k).argmax(axis=1)
    edge = np.take_along_axis(distance, edge_index[:, None], axis=1)
    slack = ROUNDING * np.maximum(edge, 1e-300)
    nearer, tied = distance < edge - slack, np.abs(distance - edge) <= slack
    inside = (counts * nearer).sum(axis=1, keepdims=True)
    there = (counts * tied).sum(axis=1, keepdims=True)
    share = np.where(nearer, counts, np.where(tied, counts * (k - inside) / np.maximum(there, 1), 0.0))
    sure = np.full(len(distance), True) if complete else (distance[:, -1:] > edge + slack)[:, 0]
    return share, sure


def _exact(distinct: Floats, centres: Floats, candidates: Indices, p: int) -> Floats:
    """Distances coordinate by coordinate, in blocks."""
    out = np.empty(candidates.shape)
    step = max(1, BLOCK // max(1, candidates.shape[1] * distinct.shape[1]))
    for begin in range(0, len(centres), step):
        part = slice(begin, begin + step)
        gap = distinct[candidates[part]] - centres[part][:, None, :]
        out[part] = np.sqrt(np.einsum("ijk,ijk->ij", gap, gap)) if p == 2 else np.abs(gap).sum(axis=2)
    return out


class _Search:
    """Finds candidates with a tree, or by looking at everyone: whichever is quicker on a few rows. Both are exact."""

    def __init__(self, distinct: Floats, p: int, queries: int) -> None:
        self.distinct, self.p = distinct, p
        # a trial is worth its time where many rows are to be searched
        self.by_tree: bool | None = None if len(distinct) > TRIAL_FROM and queries > 4 * TRIAL_ROWS else True

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.distinct, balanced_tree=False)

    @cached_property
    def _brute(self) -> Any:
        from sklearn.neighbors import NearestNeighbors

        metric = "euclidean" if self.p == 2 else "manhattan"
        return NearestNeighbors(algorithm="brute", metric=metric).fit(self.distinct)

    def __call__(self, centres: Floats, n_nearest: int) -> Indices:
        if self.by_tree is None:
            self.by_tree = self._tree_is_quicker(n_nearest)
        return self._in_tree(centres, n_nearest) if self.by_tree else self._among_all(centres, n_nearest)

    def _tree_is_quicker(self, n_nearest: int) -> bool:
        some = self.distinct[np.linspace(0, len(self.distinct) - 1, TRIAL_ROWS).astype(np.intp)]
        seconds: list[float] = []
        for search in (self._among_all, self._in_tree):
            search(some[:1], n_nearest)  # builds what it needs
            begin = time.perf_counter()
            # a tree may be hopeless: stop as soon as it has taken longer
            for part in np.array_split(some, TRIAL_ROWS // 64):
                search(part, n_nearest)
                if seconds and time.perf_counter() - begin > seconds[0]:
                    return False
            seconds.append(time.perf_counter() - begin)
        return True

    def _in_tree(self, centres: Floats, n_nearest: int) -> Indices:
        _, found = self._tree.query(centres, k=np.arange(1, n_nearest + 1), p=self.p, workers=-1)
        return np.asarray(found, dtype=np.intp)

    def _among_all(self, centres: Floats, n_nearest: int) -> Indices:
        most = min(n_nearest + RESERVE, len(self.distinct))
        found = self._brute.kneighbors(centres, n_neighbors=most, return_distance=False)
        return np.asarray(found, dtype=np.intp)
