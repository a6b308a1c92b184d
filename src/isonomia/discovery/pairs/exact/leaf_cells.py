"""The leaves of an ensemble as products of cells of features, where there are few enough to list.

The cuts of all trees divide every free feature into cells (a category is its own cell); a leaf covers some cells of
each feature, and so does a box. The share of a box in a leaf is then a product of one share per feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.box_descent import BoxDescent
from isonomia.discovery.pairs.exact.domain_trees import in_mask
from isonomia.typing import Floats

#: Maximum of leaves x cells.
MAX_ENTRIES = 20_000_000


class Leaves:
    """Every leaf that some variant of some person falls into, in the order of the trees.

    Attributes
    ----------
    contains : matrix (leaves, cells) of bool
        The cells of each leaf; those of one feature are contiguous, from ``start[feature]`` on.
    weight : array
        The share of its feature's values that each cell has.
    tree, value : arrays
        The tree and the number of each leaf (two classes: raw score, one number per leaf).
    variant : matrix (variants, leaves) of bool
        Which variants may reach each leaf.
    """

    def __init__(self, descent: BoxDescent) -> None:
        self.descent = descent
        trees, domain = descent.trees, descent.domain
        tested = np.unique(trees.feature[trees.feature >= 0])
        self.features = [int(f) for f in tested if not descent.is_protected[f] and domain.high[f] > domain.low[f]]
        self.cuts = [self._cuts(feature) for feature in self.features]
        weights = [self._weights(feature, cuts) for feature, cuts in zip(self.features, self.cuts, strict=True)]
        self.start = np.concatenate([[0], np.cumsum([len(one) for one in weights])]).astype(np.intp)
        self.weight = np.concatenate(weights) if weights else np.empty(0)
        self.of = np.repeat(np.arange(len(weights)), np.diff(self.start))
        node, self.tree, self.contains, variant = self._walk()
        self.value = trees.value[node, 0]
        self.variant = np.ascontiguousarray(variant.T)

    @staticmethod
    def fit(descent: BoxDescent) -> bool:
        """Whether there are few enough."""
        trees = descent.trees
        inner = trees.feature >= 0
        cuts = len(np.unique(np.stack([trees.feature[inner].astype(float), trees.cut[inner]]), axis=1).T)
        values = (descent.domain.high - descent.domain.low)[trees.unordered].sum()
        return bool(int((~inner).sum()) * (cuts + values + len(descent.domain)) <= MAX_ENTRIES)

    def _cuts(self, feature: int) -> Floats | None:
        """The upper ends of the cells of a feature; None where each value is a cell."""
        trees, domain = self.descent.trees, self.descent.domain
        if feature in trees.unordered:
            return None
        cuts = trees.cut[trees.feature == feature]
        cuts = np.unique(np.floor(cuts) if domain.whole[feature] else cuts)
        return np.asarray(cuts[(cuts >= domain.low[feature]) & (cuts < domain.high[feature])])

    def _weights(self, feature: int, cuts: Floats | None) -> Floats:
        domain = self.descent.domain
        if cuts is None:
            count = int(domain.high[feature] - domain.low[feature]) + 1
            return np.full(count, 1.0 / count)
        edges = np.concatenate([[domain.low[feature] - domain.whole[feature]], cuts, [domain.high[feature]]])
        return np.asarray(np.diff(edges) / (edges[-1] - edges[0]))

    def _answers(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The cells (n, cells) and the variants (n, V) that go left at nodes; all where they are not tested."""
        trees, descent = self.descent.trees, self.descent
        cells = np.ones((len(nodes), len(self.weight)), dtype=bool)
        variants = np.ones((len(nodes), len(descent.variants)), dtype=bool)
        known = descent.answer_of[nodes]
        variants[known >= 0] = descent.answers[known[known >= 0]]
        for index, (feature, cuts) in enumerate(zip(self.features, self.cuts, strict=True)):
            here = np.flatnonzero((trees.feature[nodes] == feature) & (known < 0))
            part = slice(self.start[index], self.start[index + 1])
            count = self.start[index + 1] - self.start[index]
            if cuts is not None:
                last = np.searchsorted(cuts, self._whole(feature, trees.cut[nodes[here]]))
                cells[here, part] = np.arange(count) <= last[:, None]
            else:
                group = np.repeat(trees.group[nodes[here]][:, None], count, axis=1)
                cells[here, part] = in_mask(trees.masks, group, np.broadcast_to(np.arange(count), group.shape))
        return cells, variants

    def _whole(self, feature: int, cut: Floats) -> Floats:
        return np.floor(cut) if self.descent.domain.whole[feature] else cut

    def _walk(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
        """All leaves with their trees, cells and variants, from the roots down, a level at a time."""
        trees, descent = self.descent.trees, self.descent
        node, tree = trees.roots.astype(np.int64), np.arange(len(trees.roots))
        cells = np.ones((len(node), len(self.weight)), dtype=bool)
        variants = np.ones((len(node), len(descent.variants)), dtype=bool)
        done: list[tuple[NDArray[Any], ...]] = []
        while len(node):
            leaf = trees.feature[node] < 0
            done.append((node[leaf], tree[leaf], cells[leaf], variants[leaf]))
            node, tree, cells, variants = node[~leaf], tree[~leaf], cells[~leaf], variants[~leaf]
            left, kinds = self._answers(node)
            mine = self.of == self._index(node)[:, None]
            right = ~left | ~mine
            others = np.where((descent.answer_of[node] >= 0)[:, None], ~kinds, True)
            node, tree = np.concatenate([trees.left[node], trees.right[node]]), np.tile(tree, 2)
            cells = np.concatenate([cells & left, cells & right])
            variants = np.concatenate([variants & kinds, variants & others])
            kept = variants.any(axis=1)
            if len(self.features) and len(node):
                kept &= np.logical_or.reduceat(cells, self.start[:-1], axis=1).all(axis=1)
            node, tree, cells, variants = node[kept], tree[kept], cells[kept], variants[kept]
        node, tree, cells, variants = (np.concatenate(parts) for parts in zip(*done, strict=True))
        order = np.argsort(tree, kind="stable")
        return node[order], tree[order], cells[order], variants[order]

    def _index(self, node: NDArray[np.int64]) -> NDArray[np.int64]:
        """The index in `features` of the feature that nodes test; -1 for protected ones."""
        indices = np.full(len(self.descent.domain), -1, dtype=np.int64)
        indices[self.features] = np.arange(len(self.features))
        return indices[self.descent.trees.feature[node]]
