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

from isonomia.errors import SpecError
from isonomia.fairness.encoding import Points

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: With more rows than this a tree and a look at everyone are tried on a few rows first.
TRIAL_FROM = 5_000
TRIAL_ROWS = 256
#: Candidates beyond the k wanted, for ties at the edge.
SPARE = 11
#: Two distances this close (relative) are the same.
ROUNDING = 1e-9
#: Numbers in a block of the exact second look.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest of every different row.

    Attributes
    ----------
    distinct : (U, d) the different rows
    row : (n,) which of them each row is
    start : (U + 1,) where each one's entries begin in `index` and `share`
    index : entries: a different row that is among the nearest
    share : entries: how many of the k places it takes, shared equally between ties at the edge
    k : how many neighbours
    """

    distinct: Floats
    row: Ints
    start: Ints
    index: Ints
    share: Floats
    k: int

    def mean(self, values: Floats) -> Floats:
        """The mean of a value over each row's neighbours, (n,) or (n, m)."""
        counts = np.bincount(self.row, minlength=len(self.distinct)).astype(float)
        table = values if values.ndim == 2 else values[:, None]
        means = np.stack(
            [np.bincount(self.row, weights=column, minlength=counts.size) / counts for column in table.T], axis=1
        )
        out = np.add.reduceat(means[self.index] * self.share[:, None], self.start[:-1], axis=0)[self.row] / self.k
        return out if values.ndim == 2 else np.asarray(out[:, 0])


def nearest(points: Points, k: int) -> Neighbours:
    """The k nearest neighbours of every row, itself among them.

    Rows at the distance of the k-th neighbour share the places that are left, which is the mean over every way to
    break the tie.

    >>> from isonomia.fairness.encoding import encode_people
    >>> found = nearest(encode_people({"x": [0.0, 1.0, 2.0, 9.0]}, standardise="none"), k=2)
    >>> found.mean(np.array([0.0, 0.0, 1.0, 1.0])).tolist()  # the second row has two at a distance of 1
    [0.0, 0.25, 0.5, 1.0]
    """
    n = len(points.matrix)
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 1 <= k <= n:
        raise SpecError(f"`k` must be an int from 1 to the number of rows ({n}); got {k!r}.")
    distinct, row = _distinct(points.matrix)
    counts = np.bincount(row, minlength=len(distinct))
    pending = np.arange(len(distinct))
    size = len(distinct)
    wanted = min(k + SPARE, size)
    parts: list[tuple[Ints, Ints, Floats]] = []
    search = _Search(distinct, points.p)
    while pending.size:
        candidates = search(pending, wanted)
        distance = _exact(distinct, pending, candidates, points.p)
        order = np.argsort(distance, axis=1, kind="stable")
        candidates = np.take_along_axis(candidates, order, axis=1)
        distance = np.take_along_axis(distance, order, axis=1)
        share, sure = _shares(distance, counts[candidates], k, complete=wanted == size)
        used = (share > 0) & sure[:, None]
        who = np.broadcast_to(pending[:, None], used.shape)[used]
        parts.append((who, candidates[used], share[used]))
        pending = pending[~sure]
        wanted = min(4 * wanted, size)
    who, index = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
    share = np.concatenate([part[2] for part in parts])
    order = np.argsort(who, kind="stable")
    start = np.searchsorted(who[order], np.arange(size + 1))
    return Neighbours(distinct, row, start.astype(np.intp), index[order], share[order], int(k))


def _distinct(matrix: Floats) -> tuple[Floats, Ints]:
    """The different rows, and which of them each row is; rows are compared by their bytes."""
    whole = np.ascontiguousarray(matrix + 0.0)
    # a random projection tells rows apart faster than sorting whole rows; equal hashes are then compared in full
    key = whole @ np.random.default_rng(0).standard_normal(whole.shape[1])
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(whole[first][inverse], whole):
        distinct, inverse = np.unique(whole, axis=0, return_inverse=True)
        return distinct, inverse.ravel()
    return whole[first], inverse


def _shares(
    distance: Floats, counts: NDArray[np.integer], k: int, *, complete: bool
) -> tuple[Floats, NDArray[np.bool_]]:
    """How many of the k places each candidate takes, and whether no tie at the edge was left out."""
    reached = np.cumsum(counts, axis=1)
    edge_place = (reached >= k).argmax(axis=1)
    edge = np.take_along_axis(distance, edge_place[:, None], axis=1)
    slack = ROUNDING * np.maximum(edge, 1e-300)
    nearer, tied = distance < edge - slack, np.abs(distance - edge) <= slack
    inside = (counts * nearer).sum(axis=1, keepdims=True)
    there = (counts * tied).sum(axis=1, keepdims=True)
    share = np.where(nearer, counts, np.where(tied, counts * (k - inside) / np.maximum(there, 1), 0.0))
    sure = np.full(len(distance), True) if complete else (distance[:, -1:] > edge + slack)[:, 0]
    return share, sure


def _exact(distinct: Floats, pending: Ints, candidates: Ints, p: int) -> Floats:
    """Distances coordinate by coordinate, in blocks."""
    out = np.empty(candidates.shape)
    step = max(1, BLOCK // max(1, candidates.shape[1] * distinct.shape[1]))
    for begin in range(0, len(pending), step):
        part = slice(begin, begin + step)
        gap = distinct[candidates[part]] - distinct[pending[part]][:, None, :]
        out[part] = np.sqrt(np.einsum("ijk,ijk->ij", gap, gap)) if p == 2 else np.abs(gap).sum(axis=2)
    return out


class _Search:
    """Finds candidates with a tree, or by looking at everyone: whichever is quicker on a few rows. Both are exact."""

    def __init__(self, distinct: Floats, p: int) -> None:
        self.distinct, self.p = distinct, p
        self.by_tree: bool | None = None if len(distinct) > TRIAL_FROM else True

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.distinct, balanced_tree=False)

    @cached_property
    def _brute(self) -> Any:
        from sklearn.neighbors import NearestNeighbors

        metric = "euclidean" if self.p == 2 else "manhattan"
        return NearestNeighbors(algorithm="brute", metric=metric).fit(self.distinct)

    def __call__(self, rows: Ints, wanted: int) -> Ints:
        if self.by_tree is None:
            self.by_tree = self._tree_is_quicker(wanted)
        return self._in_tree(rows, wanted) if self.by_tree else self._among_all(rows, wanted)

    def _tree_is_quicker(self, wanted: int) -> bool:
        some = np.linspace(0, len(self.distinct) - 1, TRIAL_ROWS).astype(np.intp)
        seconds: list[float] = []
        for search in (self._among_all, self._in_tree):
            search(some[:1], wanted)  # builds what it needs
            begin = time.perf_counter()
            # a tree may be hopeless: stop as soon as it has taken longer
            for part in np.array_split(some, TRIAL_ROWS // 64):
                search(part, wanted)
                if seconds and time.perf_counter() - begin > seconds[0]:
                    return False
            seconds.append(time.perf_counter() - begin)
        return True

    def _in_tree(self, rows: Ints, wanted: int) -> Ints:
        _, found = self._tree.query(self.distinct[rows], k=np.arange(1, wanted + 1), p=self.p, workers=-1)
        return np.asarray(found, dtype=np.intp)

    def _among_all(self, rows: Ints, wanted: int) -> Ints:
        found = self._brute.kneighbors(self.distinct[rows], n_neighbors=wanted, return_distance=False)
        return np.asarray(found, dtype=np.intp)
