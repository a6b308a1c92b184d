"""Tables of leaves over the masks that occur, for long paths: pairs of explained and background masks.

Leaves with similar numbers of masks are stacked and padded, so that one pass of array operations serves many leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isonomia.counting import sum_by
from isonomia.explain.trees.paths import Masks, Stack
from isonomia.explain.trees.tables import PairWeights, bits
from isonomia.typing import Floats, Indices

#: Pairs of masks compared at once.
PAIRS = 1 << 18
#: Sizes of look-up tables of keys; more keys are sorted.
LOOKUP = 1 << 24


@dataclass(frozen=True, eq=False, kw_only=True)
class Occurring:
    """Masks that occur per leaf, sorted by leaf: ``masks[starts[l]:starts[l + 1]]``, with their weights (masks, R)."""

    starts: Indices
    masks: Masks
    weights: Floats

    def union(self) -> Masks:
        """Per leaf, the bits that any mask has."""
        if not len(self.masks):
            return np.zeros(len(self.starts) - 1, dtype=self.masks.dtype)
        union = np.bitwise_or.reduceat(self.masks, np.minimum(self.starts[:-1], len(self.masks) - 1))
        return np.asarray(np.where(np.diff(self.starts) > 0, union, 0), dtype=self.masks.dtype)

    def of_leaves(self, part: slice) -> Occurring:
        """The masks of some leaves."""
        starts = self.starts[part.start : part.stop + 1]
        own = slice(starts[0], starts[-1])
        return Occurring(starts=starts - starts[0], masks=self.masks[own], weights=self.weights[own])


def count_occurring(masks: Masks, weights: Floats, size: int) -> Occurring:
    """Distinct masks per leaf of masks (leaves, n), with the summed weights (n, R) of their rows."""
    leaves, n = masks.shape
    keys = (np.arange(leaves, dtype=np.int64)[:, None] << size) | masks.astype(np.int64)
    distinct, inverse = distinct_keys(keys.ravel(), leaves << size)
    rows = np.broadcast_to(np.arange(n), (leaves, n)).ravel()
    sums = np.stack([sum_by(inverse, weight[rows], len(distinct)) for weight in weights.T], axis=1)
    return _by_leaf(distinct, sums, leaves, size, masks.dtype)


def merge(first: Occurring, second: Occurring, size: int) -> Occurring:
    """The masks of both, with added weights."""
    leaves = len(first.starts) - 1
    keys = [
        (np.repeat(np.arange(leaves), np.diff(one.starts)) << size) | one.masks.astype(np.int64)
        for one in (first, second)
    ]
    distinct, inverse = distinct_keys(np.concatenate(keys), leaves << size)
    sums = sum_by(inverse, np.concatenate([first.weights, second.weights]), len(distinct))
    return _by_leaf(distinct, sums, leaves, size, first.masks.dtype)


def _by_leaf(keys: Indices, sums: Floats, leaves: int, size: int, dtype: Any) -> Occurring:
    starts = np.searchsorted(keys >> size, np.arange(leaves + 1))
    return Occurring(starts=starts, masks=(keys & ((1 << size) - 1)).astype(dtype), weights=sums)


def distinct_keys(keys: NDArray[np.int64], bound: int) -> tuple[Indices, NDArray[Any]]:
    """Distinct keys in order, and the index of each key among them."""
    if bound > LOOKUP:
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse
    seen = np.zeros(bound, dtype=bool)
    seen[keys] = True
    distinct = np.flatnonzero(seen)
    index = np.empty(bound, dtype=np.int32)
    index[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, index[keys]


def pair_tables(stack: Stack, people: Occurring, background: Occurring, *, lead: bool) -> tuple[Indices, Floats]:
    """The explained masks that some background mask completes, and their tables (R, masks, d).

    Few pairs of masks are valid (``a | c`` is full), so they are found by comparing bits and kept as a sparse matrix.
    No valid background mask lacks a bit that the explained mask lacks: what is gained is 0 at those bits by itself.
    """
    weights = PairWeights(stack.size, lead=lead)
    row, column = _valid_pairs(stack, people, background)
    used = np.zeros(len(people.masks), dtype=bool)
    used[row] = True
    alive = np.flatnonzero(used)
    code_a, code_c = weights.codes(people.masks), weights.codes(background.masks)
    row_of = np.cumsum(used) - 1
    shape = (len(alive), len(background.masks))
    pairs = csr_array((weights.base[code_a[row], code_c[column]], (row_of[row], column)), shape=shape)
    lacking = weights.loss[code_a[alive]][:, None] * (1.0 - bits(people.masks[alive], stack.size))
    given = np.empty((len(background.masks), stack.size + 1))
    given[:, :-1] = weights.gain[code_c][:, None] * (1.0 - bits(background.masks, stack.size))
    given[:, -1] = 1.0
    tables = np.empty((background.weights.shape[1], len(alive), stack.size))
    for table, weight in zip(tables, background.weights.T, strict=True):
        sums = pairs @ (given * weight[:, None])
        np.multiply(lacking, sums[:, -1:], out=table)
        table += sums[:, :-1]
    if lead:
        tables[:, :, 0] = 0.0
    return alive, tables


def path_tables(stack: Stack, people: Occurring) -> tuple[Indices, Floats]:
    """The tables (1, masks, d) of explained masks where absent players follow the training rows.

    With r_j the share of training rows that pass the tests of player j, ``v(S) = product over S of a_j * product over
    the others of r_j``, so ``phi_j = integral over t of (a_j - r_j) * product over k != j of (t a_k + (1 - t) r_k)``.
    """
    on = bits(people.masks, stack.size)
    share = np.repeat(stack.shares, np.diff(people.starts), axis=0)
    nodes, weights = np.polynomial.legendre.leggauss((stack.size + 1) // 2)
    table = np.zeros_like(on)
    for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factor = t * on + (1.0 - t) * share
        before = np.cumprod(np.pad(factor[:, :-1], ((0, 0), (1, 0)), constant_values=1.0), axis=1)
        after = np.cumprod(np.pad(factor[:, :0:-1], ((0, 0), (1, 0)), constant_values=1.0), axis=1)[:, ::-1]
        table += weight * before * after
    return np.arange(len(on)), ((on - share) * table)[None]


def _valid_pairs(stack: Stack, people: Occurring, background: Occurring) -> tuple[Indices, Indices]:
    """Every explained and background mask of the same leaf that together have all bits.

    Masks are in order within a leaf, so that those without the last bit come first: they fit only masks with that bit.
    """
    (start, middle, stop), (first, half, last) = _halves(people, stack.size), _halves(background, stack.size)
    ours = (np.concatenate([start, middle]), np.concatenate([middle - start, stop - middle]))
    theirs = (np.concatenate([half, first]), np.concatenate([last - half, last - first]))
    explained, given = ours[1], theirs[1]
    order = np.lexsort((explained, given))
    order = order[(explained[order] > 0) & (given[order] > 0)]
    rows, columns, at = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)], 0
    while at < len(order):
        ahead = order[at : at + 4096]
        area = np.maximum.accumulate(explained[ahead]) * given[ahead] * np.arange(1, len(ahead) + 1)
        own = ahead[: max(1, int(np.searchsorted(area, PAIRS)))]
        at += len(own)
        here, a = _padded(people.masks, ours[0][own], explained[own])
        there, c = _padded(background.masks, theirs[0][own], given[own])
        found = np.flatnonzero((c[:, :, None] | a[:, None, :]) == a.dtype.type(stack.full))
        pair, inner = np.divmod(found, a.shape[1])
        row, column = here[pair // c.shape[1], inner], there.ravel()[pair]
        real = (row >= 0) & (column >= 0)
        rows.append(row[real])
        columns.append(column[real])
    return np.concatenate(rows), np.concatenate(columns)


def _halves(masks: Occurring, size: int) -> tuple[Indices, Indices, Indices]:
    """Per leaf: the first mask, the first mask with the last bit, and the end."""
    without = np.concatenate([[0], np.cumsum(masks.masks < masks.masks.dtype.type(1 << (size - 1)))])
    start, stop = masks.starts[:-1], masks.starts[1:]
    return start, start + without[stop] - without[start], stop


def _padded(masks: Masks, start: Indices, count: Indices) -> tuple[Indices, Masks]:
    """Indices (leaves, longest) of the masks of leaves and the masks; padding is -1 and mask 0."""
    steps = np.arange(count.max())
    index = np.where(steps < count[:, None], start[:, None] + steps, -1)
    return index, np.where(index >= 0, masks[index], masks.dtype.type(0))
