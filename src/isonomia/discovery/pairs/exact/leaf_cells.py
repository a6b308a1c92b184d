"""The leaves of an ensemble as products of cells of features, where there are few enough to look at all of them.

The cuts of all trees part every free feature into cells (a category is a cell of its own); a leaf holds some cells of
each feature, and so does a box. How much of a box falls into a leaf is then a product of one share a feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.box_descent import Lanes
from isonomia.discovery.pairs.exact.domain_trees import in_mask
from isonomia.typing import Floats

#: Leaves x cells that may be held.
MOST_HELD = 20_000_000


class Leaves:
    """Every leaf that some variant of some person falls into, in the order of the trees.

    Attributes
    ----------
    held : matrix (leaves, cells) of bool
        The cells of each leaf; those of one feature stand together, from ``start[feature]`` on.
    weight : array
        The share of its feature's values that each cell has.
    tree, value : arrays
        The tree and the number of each leaf (two classes: raw score; there is one number a leaf).
    variant : matrix (variants, leaves) of bool
        Which variants may reach each leaf.
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        trees, domain = lanes.trees, lanes.domain
        asked = np.unique(trees.feature[trees.feature >= 0])
        self.features = [int(f) for f in asked if not lanes.is_protected[f] and domain.high[f] > domain.low[f]]
        self.cuts = [self._cuts(feature) for feature in self.features]
        weights = [self._weights(feature, cuts) for feature, cuts in zip(self.features, self.cuts, strict=True)]
        self.start = np.concatenate([[0], np.cumsum([len(one) for one in weights])]).astype(np.intp)
        self.weight = np.concatenate(weights) if weights else np.empty(0)
        self.of = np.repeat(np.arange(len(weights)), np.diff(self.start))
        node, self.tree, self.held, variant = self._walk()
        self.value = trees.value[node, 0]
        self.variant = np.ascontiguousarray(variant.T)

    @staticmethod
    def fit(lanes: Lanes) -> bool:
        """Whether there are few enough."""
        trees = lanes.trees
        inner = trees.feature >= 0
        cuts = len(np.unique(np.stack([trees.feature[inner].astype(float), trees.cut[inner]]), axis=1).T)
        values = (lanes.domain.high - lanes.domain.low)[trees.unordered].sum()
        return bool(int((~inner).sum()) * (cuts + values + len(lanes.domain)) <= MOST_HELD)

    def _cuts(self, feature: int) -> Floats | None:
        """Where the cells of a feature end; None where each of its values is one."""
        trees, domain = self.lanes.trees, self.lanes.domain
        if feature in trees.unordered:
            return None
        cuts = trees.cut[trees.feature == feature]
        cuts = np.unique(np.floor(cuts) if domain.whole[feature] else cuts)
        return np.asarray(cuts[(cuts >= domain.low[feature]) & (cuts < domain.high[feature])])

    def _weights(self, feature: int, cuts: Floats | None) -> Floats:
        domain = self.lanes.domain
        if cuts is None:
            count = int(domain.high[feature] - domain.low[feature]) + 1
            return np.full(count, 1.0 / count)
        edges = np.concatenate([[domain.low[feature] - domain.whole[feature]], cuts, [domain.high[feature]]])
        return np.asarray(np.diff(edges) / (edges[-1] - edges[0]))

    def _answers(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The cells (n, cells) and the variants (n, V) that go left at nodes; all, where a node does not ask them."""
        trees, lanes = self.lanes.trees, self.lanes
        cells = np.ones((len(nodes), len(self.weight)), dtype=bool)
        variants = np.ones((len(nodes), len(lanes.variants)), dtype=bool)
        known = lanes.answer_of[nodes]
        variants[known >= 0] = lanes.answers[known[known >= 0]]
        for place, (feature, cuts) in enumerate(zip(self.features, self.cuts, strict=True)):
            here = np.flatnonzero((trees.feature[nodes] == feature) & (known < 0))
            part = slice(self.start[place], self.start[place + 1])
            count = self.start[place + 1] - self.start[place]
            if cuts is not None:
                last = np.searchsorted(cuts, self._whole(feature, trees.cut[nodes[here]]))
                cells[here, part] = np.arange(count) <= last[:, None]
            else:
                group = np.repeat(trees.group[nodes[here]][:, None], count, axis=1)
                cells[here, part] = in_mask(trees.masks, group, np.broadcast_to(np.arange(count), group.shape))
        return cells, variants

    def _whole(self, feature: int, cut: Floats) -> Floats:
        return np.floor(cut) if self.lanes.domain.whole[feature] else cut

    def _walk(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
        """All leaves with their trees, cells and variants, from the roots down, a level at a time."""
        trees, lanes = self.lanes.trees, self.lanes
        node, tree = trees.roots.astype(np.int64), np.arange(len(trees.roots))
        cells = np.ones((len(node), len(self.weight)), dtype=bool)
        variants = np.ones((len(node), len(lanes.variants)), dtype=bool)
        done: list[tuple[NDArray[Any], ...]] = []
        while len(node):
            leaf = trees.feature[node] < 0
            done.append((node[leaf], tree[leaf], cells[leaf], variants[leaf]))
            node, tree, cells, variants = node[~leaf], tree[~leaf], cells[~leaf], variants[~leaf]
            left, kinds = self._answers(node)
            mine = self.of == self._place(node)[:, None]
            right = ~left | ~mine
            others = np.where((lanes.answer_of[node] >= 0)[:, None], ~kinds, True)
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

    def _place(self, node: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place among `features` of the feature that nodes ask about, -1 for protected ones."""
        places = np.full(len(self.lanes.domain), -1, dtype=np.int64)
        places[self.features] = np.arange(len(self.features))
        return places[self.lanes.trees.feature[node]]
