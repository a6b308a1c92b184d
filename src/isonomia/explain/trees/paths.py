"""The paths of some trees, and the walk that gives every row a bit mask per leaf.

A leaf's path tests d distinct players (a player is a column of the dataset, or an encoded column). Bit j of a row's
mask is 1 where the row passes every test of the path's j-th player; a row that reaches the leaf has all bits 1.

Where a node's children are both leaves and its player is new to the path, a row's two masks differ in the last bit
alone. Such twins share one mask, that of the left leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.explain.trees.routing import Routing
from isonomia.typing import Floats, Indices

Masks = NDArray[np.unsignedinteger[Any]]
#: Bytes of the masks of the rows that walk at once.
WALK_BYTES = 1 << 25
#: Bytes of the masks of one level of few rows.
CACHE_BYTES = 1 << 19


@dataclass(frozen=True, eq=False, kw_only=True)
class Stack:
    """Leaves whose paths test the same number d of distinct players.

    Attributes
    ----------
    nodes : (L,) array
    twins : (L,) array
        The leaf whose masks are these with the last bit changed; -1 where there is none.
    players : (L, d) array
        The player of each bit.
    shares : (L, d) array
        The share of training rows that pass a player's tests, as the product over its tests on the path.
    """

    nodes: Indices
    twins: Indices
    players: Indices
    shares: Floats

    def of_leaves(self, part: slice) -> Stack:
        """Some of the leaves."""
        return Stack(
            nodes=self.nodes[part], twins=self.twins[part], players=self.players[part], shares=self.shares[part]
        )

    @property
    def size(self) -> int:
        """Distinct players per path."""
        return int(self.players.shape[1])

    @property
    def full(self) -> int:
        """The mask of a row that reaches the leaf."""
        return (1 << self.size) - 1


@dataclass(frozen=True, eq=False, kw_only=True)
class _Level:
    """The inner nodes of a level: their tests, and where the masks of their children go."""

    column: Indices
    cut: NDArray[Any]
    bit: Masks
    fresh: Masks
    inner: Indices
    leaves: list[tuple[int, Indices, Indices]]


class Paths:
    """The levels and leaves of a block of trees.

    `lead`, a player, has bit 0 of every path (set from the root on); leaves whose path does not test it are left out.
    Twins share a mask where their paths have at most `pair_up_to` players.
    """

    def __init__(
        self,
        routing: Routing,
        roots: Indices,
        player_of_column: Indices,
        *,
        lead: int | None = None,
        pair_up_to: int = 0,
    ) -> None:
        trees = routing.trees
        parts: list[tuple[Indices, Indices, Indices, Indices, Floats]] = []
        levels: list[tuple[Any, ...]] = []
        node = roots[trees.feature[roots] >= 0]
        path = np.full((len(node), 1), -1 if lead is None else lead, dtype=np.intp)
        depth = np.full(len(node), 0 if lead is None else 1, dtype=np.intp)
        tested = np.zeros(len(node), dtype=bool)
        share = np.ones(path.shape)
        while len(node):
            player = player_of_column[trees.feature[node]]
            found = path == player[:, None]
            known = found.any(axis=1)
            position = np.where(known, found.argmax(axis=1), depth)
            if (~known).any():
                path, share = (
                    np.pad(path, ((0, 0), (0, 1)), constant_values=-1),
                    np.pad(share, ((0, 0), (0, 1)), constant_values=1.0),
                )
            path[np.arange(len(node)), position] = player
            depth = depth + ~known
            tested = tested | (player == lead)
            children = np.concatenate([trees.left[node], trees.right[node]])
            leaf = trees.feature[children] < 0
            both = np.tile(np.arange(len(node)), 2)
            paired = leaf[: len(node)] & leaf[len(node) :] & ~known & (depth <= pair_up_to)
            twin = np.concatenate([np.where(paired, trees.right[node], -1), np.full(len(node), -1)])
            inner, ends = np.flatnonzero(~leaf), np.flatnonzero(leaf & ~np.append(np.zeros_like(paired), paired))
            share = share[both]
            share[np.arange(len(both)), position[both]] *= passing(trees.cover[children], trees.cover[node][both])
            if lead is not None:
                ends = ends[tested[both[ends]]]
            levels.append((node, position, known, inner, ends, depth[both[ends]]))
            parts.append((children[ends], twin[ends], depth[both[ends]], path[both[ends]], share[ends]))
            node, path, depth, tested = children[inner], path[both[inner]], depth[both[inner]], tested[both[inner]]
            share = share[inner]
        self.start = 0 if lead is None else 1
        self.stacks, at = _stacks(parts)
        largest = max((stack.size for stack in self.stacks), default=0)
        self.dtype: Any = np.uint16 if largest <= 16 else np.uint32 if largest <= 32 else np.uint64
        if largest > 48:
            raise NotApplicable(f"a path of the trees tests {largest} different columns; at most 48 are supported")
        self.levels = [self._level(routing, level, at) for level in levels]
        self.width = max((2 * len(level.cut) for level in self.levels), default=1)

    def _level(self, routing: Routing, level: tuple[Any, ...], at: dict[int, tuple[int, int]]) -> _Level:
        node, position, known, inner, ends, depth = level
        bit = np.left_shift(np.ones(len(node), dtype=self.dtype), position.astype(self.dtype))
        leaves = []
        for size in np.unique(depth):
            child = ends[depth == size]
            index, start = at[int(size)]
            leaves.append((index, np.arange(start, start + len(child)), child))
            at[int(size)] = (index, start + len(child))
        cut = routing.cut[node].astype(routing.dtype)
        return _Level(
            column=routing.column[node], cut=cut, bit=bit, fresh=np.where(known, 0, bit), inner=inner, leaves=leaves
        )

    def walk(self, ranks: NDArray[Any]) -> list[Masks]:
        """The masks (leaves, n) of rows with these ranks, one array per stack."""
        n = ranks.shape[1]
        out = [np.empty((len(stack.nodes), n), dtype=self.dtype) for stack in self.stacks]
        step = max(128, CACHE_BYTES // (self.width * np.dtype(self.dtype).itemsize))
        for start in range(0, n, step):
            part = slice(start, start + step)
            self._walk(ranks[:, part], [masks[:, part] for masks in out])
        return out

    def _walk(self, ranks: NDArray[Any], out: list[Masks]) -> None:
        """Write the masks of few rows, so that those of a level stay in the processor's cache."""
        n = ranks.shape[1]
        count = len(self.levels[0].cut) if self.levels else 0
        masks = np.full((count, n), self.start, dtype=self.dtype)
        for level in self.levels:
            bit = level.bit[:, None]
            passed = (ranks[level.column] <= level.cut[:, None]) * bit
            masks |= level.fresh[:, None].astype(self.dtype)
            half = len(masks)
            children = np.empty((2 * half, n), dtype=self.dtype)
            np.bitwise_and(masks, passed | ~bit, out=children[:half])
            np.bitwise_and(masks, ~passed, out=children[half:])
            for index, position, child in level.leaves:
                out[index][position] = children[child]
            masks = children[level.inner]

    def walks(self, ranks: NDArray[Any]) -> Iterator[tuple[slice, list[Masks]]]:
        """The masks of all rows, in portions within `WALK_BYTES`."""
        leaves = sum(len(stack.nodes) for stack in self.stacks)
        step = max(16, WALK_BYTES // (max(1, leaves + self.width) * np.dtype(self.dtype).itemsize))
        for start in range(0, ranks.shape[1], step):
            part = slice(start, min(start + step, ranks.shape[1]))
            yield part, self.walk(ranks[:, part])


def passing(cover: Floats, parent: Floats) -> Floats:
    """The share of a node's training rows that go to a child; 0 where there are none."""
    return np.asarray(np.where(parent > 0, cover / np.where(parent > 0, parent, 1.0), parent * 0.0))


def _stacks(
    parts: list[tuple[Indices, Indices, Indices, Indices, Floats]],
) -> tuple[list[Stack], dict[int, tuple[int, int]]]:
    """Leaves by the number of distinct players, in the order of their levels; the index and first row of each stack."""
    if not parts:
        return [], {}
    width = max(path.shape[1] for _, _, _, path, _ in parts)
    wide, shares = (
        np.concatenate([np.pad(part[index], ((0, 0), (0, width - part[index].shape[1]))) for part in parts])
        for index in (3, 4)
    )
    node, twin, depth = (np.concatenate([part[index] for part in parts]) for index in (0, 1, 2))
    stacks: list[Stack] = []
    at: dict[int, tuple[int, int]] = {}
    for size in np.unique(depth):
        own = depth == size
        at[int(size)] = (len(stacks), 0)
        players, passed = (part[own, : int(size)] for part in (wide, shares))
        stacks.append(Stack(nodes=node[own], twins=twin[own], players=players, shares=passed))
    return stacks, at
