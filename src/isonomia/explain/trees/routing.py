"""Every test of a tree ensemble as one comparison of small integers, with the model's own answer for every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.models import TreeEnsemble
from isonomia.typing import Floats, Indices


class Routing:
    """Ranks of rows and cuts of nodes: a row goes left at a node where ``rank <= cut``.

    Nodes that test the same column in the same direction for missing values share a *ranked column*. The rank of a row
    is the number of its thresholds at which the row goes right. A test of categories has a ranked column of its own.

    Attributes
    ----------
    column, cut : (N,) arrays
        Ranked column and cut of each node (0 for leaves).
    """

    def __init__(self, trees: TreeEnsemble) -> None:
        self.trees = trees
        inner = np.flatnonzero(trees.feature >= 0)
        sets = trees.category_set[inner]
        key = (trees.feature[inner] * 2 + trees.missing_left[inner]) * 2 + trees.zero_missing[inner]
        key = key * (len(trees.category_offsets) + 1) + sets + 1
        _, first, own = np.unique(key, return_index=True, return_inverse=True)
        threshold = np.where(sets >= 0, 0.0, trees.threshold[inner])
        self.tested: Indices = inner[first]
        self.cuts: list[Floats] = []
        self.column, self.cut = np.zeros(len(trees.feature), dtype=np.intp), np.zeros(len(trees.feature), dtype=np.intp)
        self.column[inner] = own
        order = np.argsort(own, kind="stable")
        for part in np.split(order, np.cumsum(np.unique(own, return_counts=True)[1])[:-1]) if len(inner) else []:
            cuts, cut_of = np.unique(threshold[part], return_inverse=True)
            self.cuts.append(cuts)
            self.cut[inner[part]] = cut_of
        self.dtype = np.uint16 if max(map(len, self.cuts), default=0) < (1 << 16) else np.uint32

    def ranks(self, rows: Floats) -> NDArray[Any]:
        """The ranks (ranked columns, n) of rows of encoded columns."""
        trees = self.trees
        ranks = np.empty((len(self.cuts), len(rows)), dtype=self.dtype)
        for index, (node, cuts) in enumerate(zip(self.tested, self.cuts, strict=True)):
            x = rows[:, trees.feature[node]]
            if trees.category_set[node] >= 0:
                ranks[index] = ~trees.goes_left(np.full(len(x), node), x)
                continue
            x = trees.rounded(x)
            missing = np.isnan(x) | (trees.zero_missing[node] & (x == 0.0))
            ranks[index] = np.searchsorted(cuts, x, side="right" if trees.strict else "left")
            ranks[index, missing] = 0 if trees.missing_left[node] else len(cuts)
        return ranks
