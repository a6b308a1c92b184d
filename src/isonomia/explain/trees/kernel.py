"""Leaf by leaf from masks to tables: what rows look up, block of trees by block of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isonomia.counting import sum_by
from isonomia.explain.trees.occurring import (
    Occurring,
    count_occurring,
    distinct_keys,
    merge,
    pair_tables,
    path_tables,
)
from isonomia.explain.trees.paths import Masks, Paths, Stack
from isonomia.explain.trees.routing import Routing
from isonomia.explain.trees.tables import MATRIX_SIZE, TABLE_SIZE, integrated_tables, table_matrix, widen
from isonomia.models import TreeEnsemble
from isonomia.typing import Floats, Indices

#: From a range of leaves, the leaves and their explained masks to the masks that have a value and tables (R, masks, d).
Tables = Callable[[slice, Stack, Occurring], tuple[Indices, Floats]]
#: Nodes of the trees that are walked together.
BLOCK_NODES = 1 << 13
#: Bytes of the tables that rows look their masks up in at once.
TABLE_BYTES = 1 << 20
#: Rows x leaves whose masks are counted at once: their keys stay in the processor's cache.
KEYS = 1 << 16
#: Rows x leaves with long paths that are looked up at once.
ENTRIES = 1 << 19


@dataclass(frozen=True, eq=False, kw_only=True)
class LookUp:
    """What some leaves add to some rows: ``rows @ table`` for each output and table, in the columns `players`.

    Attributes
    ----------
    part : slice
        The rows.
    rows : (rows, T) sparse array
        A 1 for each leaf (or for each pair of twins), in the column of the table's row that holds the row's mask.
    tables : (K, R, T, players) array
        One table per raw output and column of background weights.
    """

    part: slice
    rows: Any
    players: Indices
    tables: Floats

    @property
    def columns(self) -> slice | Indices:
        """The players, as a slice where they follow each other (which NumPy adds to without a copy)."""
        first, last = int(self.players[0]), int(self.players[-1])
        return slice(first, last + 1) if last - first + 1 == len(self.players) else self.players


class Kernel:
    """The look-ups that give Shapley values of trees (or the interactions of a `lead` player).

    A column that never changes (player -1) gets a player of its own, `players`, whose value is always 0.
    """

    def __init__(self, trees: TreeEnsemble, player_of_column: Indices, *, lead: int | None = None) -> None:
        given = np.asarray(player_of_column, dtype=np.intp)
        self.players = int(given.max(initial=-1)) + 1
        self.trees, self.lead, self.routing = trees, lead, Routing(trees)
        self.player_of_column = np.where(given < 0, self.players, given)
        self._matrices: dict[int, Floats] = {}

    def look_ups(self, rows: Floats, background: Floats, weights: Floats) -> Iterator[LookUp]:
        """Every look-up of `rows` against `background` rows with `weights` (m, R)."""
        people, others = self.routing.ranks(rows), self.routing.ranks(background)
        equal = weights.shape[1] == 1 and bool((weights == weights[:1]).all())
        for roots in self._blocks(weights.shape[1] * self.trees.value.shape[1]):
            paths = Paths(self.routing, roots, self.player_of_column, lead=self.lead, pair_up_to=MATRIX_SIZE)
            dense = [self._is_dense(stack, len(rows), len(background)) for stack in paths.stacks]
            counts: list[Any] = [None] * len(paths.stacks)
            for part, masks in paths.walks(others):
                share = weights[part]
                for index, stack in enumerate(paths.stacks):
                    if dense[index]:
                        own: Any = _count(masks[index], share, stack.size, equal=equal)
                        counts[index] = own if counts[index] is None else counts[index] + own
                    else:
                        own = count_occurring(masks[index], share, stack.size)
                        counts[index] = own if counts[index] is None else merge(counts[index], own, stack.size)
            tables = [
                self._tables(count, stack) if own else None
                for own, count, stack in zip(dense, counts, paths.stacks, strict=True)
            ]
            for part, masks in paths.walks(people):
                for own, count, table, stack in zip(masks, counts, tables, paths.stacks, strict=True):
                    if table is None:
                        yield from self._occurring(part, own, stack, partial(self._pairs, count))
                    else:
                        yield from self._dense(part, own, table, stack)

    def _blocks(self, width: int) -> Iterator[Indices]:
        roots = self.trees.roots
        sizes = np.diff([*roots, len(self.trees.feature)])
        block = (np.cumsum(sizes) - sizes) // max(1, BLOCK_NODES // width)
        yield from np.split(roots, np.flatnonzero(np.diff(block)) + 1)

    def _is_dense(self, stack: Stack, rows: int, background: int) -> bool:
        """Whether a table over all masks is cheaper than the pairs of masks that occur."""
        masks = 1 << stack.size
        if stack.size <= MATRIX_SIZE:
            return True
        return stack.size <= TABLE_SIZE and min(rows, masks) * min(background, masks) > 4 * masks * stack.size**2

    def _tables(self, counts: Floats, stack: Stack) -> Floats:
        """Tables (K, R, L, 2^d, d) from counts (R, L, 2^d) of the leaves' masks."""
        value = self.trees.value
        tables = self._of_counts(counts, stack.size) * value[stack.nodes].T[:, None, :, None, None]
        pairs = np.flatnonzero(stack.twins >= 0)
        if len(pairs):
            turned = np.arange(1 << stack.size) ^ (1 << (stack.size - 1))  # a twin's mask has the last bit changed
            twins = self._of_counts(counts[:, pairs][..., turned], stack.size)[:, :, turned]
            tables[:, :, pairs] += twins * value[stack.twins[pairs]].T[:, None, :, None, None]
        return tables

    def _of_counts(self, counts: Floats, size: int) -> Floats:
        """Tables (R, L, 2^d, d) for leaves of value 1."""
        if size > MATRIX_SIZE:
            return np.stack([integrated_tables(one, size, lead=self.lead is not None) for one in counts])
        if size not in self._matrices:
            self._matrices[size] = table_matrix(size, lead=self.lead is not None)
        return (counts @ self._matrices[size]).reshape(*counts.shape, size)

    def _dense(self, part: slice, masks: Masks, table: Floats, stack: Stack) -> Iterator[LookUp]:
        size, n = 1 << stack.size, masks.shape[1]
        outputs, width = table.shape[:2]
        step = max(1, TABLE_BYTES // (size * (self.players + 1) * 8 * outputs * width))
        for start in range(0, len(stack.nodes), step):
            leaves = slice(start, min(start + step, len(stack.nodes)))
            count = leaves.stop - leaves.start
            index = masks[leaves].T.astype(np.int32) + np.arange(0, count * size, size, dtype=np.int32)
            players, column_of = np.unique(stack.players[leaves], return_inverse=True)
            columns = np.repeat(column_of.reshape(count, -1), size, axis=0)
            yield LookUp(
                part=part,
                rows=_ones(index.ravel(), np.arange(0, n * count + 1, count, dtype=np.int32), count * size),
                players=players,
                tables=widen(table[:, :, leaves].reshape(outputs, width, count * size, -1), columns, len(players)),
            )

    def _pairs(self, counts: Occurring, part: slice, stack: Stack, people: Occurring) -> tuple[Indices, Floats]:
        return pair_tables(stack, people, counts.of_leaves(part), lead=self.lead is not None)

    def path_look_ups(self, rows: Floats) -> Iterator[LookUp]:
        """Every look-up of `rows` where absent players follow the training rows."""
        people = self.routing.ranks(rows)
        for roots in self._blocks(1):
            paths = Paths(self.routing, roots, self.player_of_column)
            for part, masks in paths.walks(people):
                for own, stack in zip(masks, paths.stacks, strict=True):
                    yield from self._occurring(
                        part, own, stack, lambda _, some, explained: path_tables(some, explained)
                    )

    def _occurring(self, part: slice, masks: Masks, stack: Stack, tables: Tables) -> Iterator[LookUp]:
        """Look-ups in tables over the masks that occur."""
        step, size, n = max(1, ENTRIES // masks.shape[1]), stack.size, masks.shape[1]
        for start in range(0, len(stack.nodes), step):
            leaves = slice(start, min(start + step, len(stack.nodes)))
            count, some = leaves.stop - leaves.start, stack.of_leaves(leaves)
            keys = masks[leaves].T.astype(np.int64) | (np.arange(count) << size)
            distinct, inverse = distinct_keys(keys.ravel(), count << size)
            leaf = distinct >> size
            explained = Occurring(
                starts=np.searchsorted(leaf, np.arange(count + 1)),
                masks=(distinct & stack.full).astype(masks.dtype),
                weights=np.empty((0, 0)),
            )
            kept, table = tables(leaves, some, explained)
            # masks without a value share the row of zeros at the end
            row_of = np.full(len(distinct), len(kept), dtype=np.int32)
            row_of[kept] = np.arange(len(kept), dtype=np.int32)
            players, column_of = np.unique(some.players, return_inverse=True)
            value = self.trees.value[some.nodes[leaf[kept]]].T[:, None, :, None]
            wide = widen(table * value, column_of.reshape(count, -1)[leaf[kept]], len(players))
            yield LookUp(
                part=part,
                rows=_ones(row_of[inverse], np.arange(0, n * count + 1, count, dtype=np.int32), len(kept) + 1),
                players=players,
                tables=np.concatenate([wide, np.zeros((*wide.shape[:2], 1, len(players)))], axis=2),
            )


def _ones(index: NDArray[Any], ends: NDArray[Any], width: int) -> Any:
    return csr_array((np.ones(len(index)), index, ends), shape=(len(ends) - 1, width))


def _count(masks: Masks, weights: Floats, size: int, *, equal: bool) -> Floats:
    """Counts (R, L, 2^d) of the masks (L, n) of rows with weights (n, R)."""
    leaves, n = masks.shape
    counts, step = np.empty((weights.shape[1], leaves, 1 << size)), max(1, KEYS // max(1, n))
    for start in range(0, leaves, step):
        some = masks[start : start + step]
        keys = (some.astype(np.intp) + (np.arange(len(some)) << size)[:, None]).ravel()
        for own, weight in zip(counts[:, start : start + step], weights.T, strict=True):
            values = None if equal else np.broadcast_to(weight, some.shape).ravel()
            own[:] = sum_by(keys, values, len(some) << size).reshape(own.shape)
    return counts * weights[0, 0] if equal and n else counts
