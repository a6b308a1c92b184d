"""Descent of boxes of people through trees; a box is an interval or a set of values per feature.

All protected variants of the people in a box descend every tree together until a test of a free feature divides the
box. Variants that a tree cannot distinguish share one path through it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.discovery.pairs.exact.domain_trees import Ensemble, in_mask
from isonomia.probing import Domain
from isonomia.typing import Floats


@dataclass(eq=False)
class Boxes:
    """Boxes of people: bounds of every feature, sets of values, and the node that each path has reached."""

    low: Floats
    high: Floats
    members: NDArray[np.uint64]
    node: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.low)

    def take(self, rows: NDArray[np.intp]) -> Boxes:
        """A selection of boxes."""
        return Boxes(low=self.low[rows], high=self.high[rows], members=self.members[rows], node=self.node[rows])

    @staticmethod
    def join(parts: list[Boxes]) -> Boxes:
        """Several sets of boxes as one."""
        names = ("low", "high", "members", "node")
        return Boxes(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class BoxDescent:
    """Moves boxes of a domain down the trees of an ensemble.

    Attributes
    ----------
    of_variant : matrix (paths, variants)
        1 where a variant takes a path through its tree.
    first : array
        The first path of each tree; trees that test protected features come first, with `touched` paths in all.
    """

    def __init__(self, ensemble: Ensemble, domain: Domain, protected: NDArray[np.intp], variants: Floats) -> None:
        self.trees, self.domain, self.protected, self.variants = ensemble, domain, protected, variants
        self.free = np.setdiff1d(np.arange(len(domain)), protected)
        self.is_protected = np.isin(np.arange(len(domain)), protected)
        self.slot = np.full(len(domain), -1, dtype=np.int64)  # index of a feature among the unordered ones
        self.slot[ensemble.unordered] = np.arange(len(ensemble.unordered))
        self.words = ensemble.masks.shape[1]
        self._answer_protected()
        self._lay_paths()

    def _answer_protected(self) -> None:
        """Whether each variant goes left at each node that tests a protected feature."""
        trees = self.trees
        asking = np.flatnonzero((trees.feature >= 0) & self.is_protected[np.maximum(trees.feature, 0)])
        self.answer_of = np.full(len(trees.feature), -1, dtype=np.int64)
        self.answer_of[asking] = np.arange(len(asking))
        values = np.full((len(self.variants), len(self.domain)), np.nan)
        values[:, self.protected] = self.variants
        at = values[:, trees.feature[asking]].T
        self.answers = at <= trees.cut[asking][:, None]
        grouped = trees.group[asking] >= 0
        if grouped.any():
            group = np.repeat(trees.group[asking[grouped]][:, None], len(self.variants), axis=1)
            origin = trees.origin[trees.feature[asking[grouped]]][:, None]
            self.answers[grouped] = in_mask(trees.masks, group, at[grouped] - origin)

    def _lay_paths(self) -> None:
        """The paths of each tree: one for every kind of variant that it can distinguish."""
        trees = self.trees
        tree_of = self._tree_of_node()
        uses = trees.uses[trees.roots]
        order = np.concatenate([np.flatnonzero(uses), np.flatnonzero(~uses)])
        asking = np.flatnonzero(self.answer_of >= 0)
        by_tree = np.argsort(tree_of[asking], kind="stable")
        asking = asking[by_tree]
        ends = np.searchsorted(tree_of[asking], np.arange(len(trees.roots) + 1))
        roots: list[int] = []
        variant: list[int] = []
        first: list[int] = []
        rows: list[NDArray[np.intp]] = []
        columns: list[NDArray[np.intp]] = []
        for tree in order:
            first.append(len(roots))
            own = self.answers[self.answer_of[asking[ends[tree] : ends[tree + 1]]]]
            if not uses[tree]:
                own = own[:0]
            _, kind, lane = (
                np.unique(own, axis=1, return_index=True, return_inverse=True)
                if len(own)
                else (None, np.zeros(1, np.intp), np.zeros(len(self.variants), np.intp))
            )
            rows.append(len(roots) + lane.ravel())
            columns.append(np.arange(len(self.variants)))
            roots += [int(trees.roots[tree])] * len(kind)
            variant += kind.tolist()
        self.roots = np.array(roots, dtype=np.int32)
        self.variant = np.array(variant, dtype=np.int64)
        self.first = np.array(first, dtype=np.int64)
        self.touched = int(self.first[uses.sum()]) if uses.sum() < len(first) else len(roots)
        self.of_variant = np.zeros((len(roots), len(self.variants)))
        self.of_variant[np.concatenate(rows), np.concatenate(columns)] = 1.0
        self.tree = np.repeat(np.arange(len(first)), np.diff(np.append(self.first, len(roots))))

    def _tree_of_node(self) -> NDArray[np.int64]:
        """The tree of each node that can be reached."""
        trees = self.trees
        tree = np.full(len(trees.feature), -1, dtype=np.int64)
        front, number = trees.roots, np.arange(len(trees.roots))
        while len(front):
            tree[front] = number
            inner = trees.feature[front] >= 0
            front, number = front[inner], number[inner]
            front, number = np.concatenate([trees.left[front], trees.right[front]]), np.tile(number, 2)
        tree[tree < 0] = len(trees.roots)  # unreachable
        return tree

    # descending ----------------------------------------------------------------------------------------------------

    def start(self) -> Boxes:
        """The whole domain as one box, every path at its root."""
        members = np.zeros((1, len(self.trees.unordered), self.words), dtype=np.uint64)
        for slot, feature in enumerate(self.trees.unordered):
            bits = np.zeros(64 * self.words, dtype=bool)
            bits[: int(self.domain.high[feature] - self.domain.low[feature]) + 1] = True
            members[0, slot] = np.packbits(bits, bitorder="little").view("<u8")
        return self.walk(
            Boxes(
                low=self.domain.low[None].copy(),
                high=self.domain.high[None].copy(),
                members=members,
                node=self.roots[None].copy(),
            )
        )

    def walk(self, boxes: Boxes) -> Boxes:
        """Move every path down its tree as far as the whole box goes the same direction."""
        trees, flat, paths = self.trees, boxes.node.reshape(-1), boxes.node.shape[1]
        todo = np.flatnonzero(trees.feature[flat] >= 0)
        while todo.size:
            node = flat[todo]
            feature, box = trees.feature[node], todo // paths
            below = boxes.high[box, feature] <= trees.cut[node]
            above = boxes.low[box, feature] > trees.cut[node]
            known = self.answer_of[node]
            given = np.flatnonzero(known >= 0)
            if given.size:
                below[given] = self.answers[known[given], self.variant[todo[given] % paths]]
                above[given] = ~below[given]
            grouped = np.flatnonzero((trees.group[node] >= 0) & (known < 0))
            if grouped.size:
                members = boxes.members[box[grouped], self.slot[feature[grouped]]]
                mask = trees.masks[trees.group[node[grouped]]]
                below[grouped] = ~(members & ~mask).any(axis=1)
                above[grouped] = ~(members & mask).any(axis=1)
            moved = np.flatnonzero(below | above)
            todo, node = todo[moved], node[moved]
            flat[todo] = np.where(below[moved], trees.left[node], trees.right[node])
            todo = todo[trees.feature[flat[todo]] >= 0]
        return boxes

    def split(self, boxes: Boxes, weight: Floats) -> Boxes:
        """Split each box in two, in the feature whose pending tests weigh most, at the median of their cuts.

        `weight` (n, paths) is the weight of the pending test of each path; negative where there is none.
        """
        row = np.arange(len(boxes))
        node = self._next_splits(boxes, weight)
        feature, cut = self.trees.feature[node], self.trees.cut[node]
        left, right = boxes.take(row), boxes.take(row)
        ordered = np.flatnonzero(self.trees.group[node] < 0)
        f, at = feature[ordered], cut[ordered]
        whole = self.domain.whole[f]
        left.high[ordered, f] = np.where(whole, np.floor(at), at)
        right.low[ordered, f] = np.where(whole, np.floor(at) + 1, np.nextafter(at, np.inf))
        grouped = np.flatnonzero(self.trees.group[node] >= 0)
        if grouped.size:
            f = self.slot[feature[grouped]]
            mask = self.trees.masks[self.trees.group[node[grouped]]]
            left.members[grouped, f] &= mask
            right.members[grouped, f] &= ~mask
        return self.walk(Boxes.join([left, right]))

    def _next_splits(self, boxes: Boxes, weight: Floats) -> NDArray[np.int64]:
        """The node of each box whose test divides it best."""
        n, paths = weight.shape
        row = np.arange(n)
        weight = np.maximum(weight, 0.0)
        feature = np.maximum(self.trees.feature[boxes.node], 0)
        total = sum_by((row[:, None] * len(self.domain) + feature).ravel(), weight.ravel(), n * len(self.domain))
        chosen = total.reshape(n, -1).argmax(axis=1)
        weight = np.where(feature == chosen[:, None], weight, 0.0)
        single = self.trees.group[boxes.node[row, weight.argmax(axis=1)]] >= 0  # sets have no median
        pick = weight.argmax(axis=1)
        many = np.flatnonzero(~single)
        if many.size:
            cut = np.where(weight[many] > 0, self.trees.cut[boxes.node[many]], np.inf)
            order = np.argsort(cut, axis=1)
            sums = np.cumsum(np.take_along_axis(weight[many], order, axis=1), axis=1)
            middle = (sums < sums[:, -1:] / 2).sum(axis=1)
            pick[many] = order[np.arange(len(many)), np.minimum(middle, paths - 1)]
        return np.asarray(boxes.node[row, pick])

    def raw(self, rows: Floats) -> Floats:
        """The raw scores (n, V, K) of people in every variant.

        The variants of a person go down a tree together until a test of a protected feature parts them.
        """
        trees, count = self.trees, len(self.variants)
        person, node = np.repeat(np.arange(len(rows)), len(trees.roots)), np.tile(trees.roots, len(rows))
        who = np.ones((len(node), count), dtype=bool)
        total = np.tile(trees.base, (len(rows), count, 1)).astype(float)
        while node.size:
            ended = trees.feature[node] < 0
            if ended.any():
                path, variant = np.nonzero(who[ended])
                key, value = person[ended][path] * count + variant, trees.value[node[ended]][path]
                for k in range(trees.n_classes):
                    total[:, :, k] += sum_by(key, value[:, k], len(rows) * count).reshape(len(rows), count)
                person, node, who = person[~ended], node[~ended], who[~ended]
            feature, known = trees.feature[node], self.answer_of[node]
            at = rows[person, feature]
            left = at <= trees.cut[node]
            grouped = np.flatnonzero((trees.group[node] >= 0) & (known < 0))
            if grouped.size:
                value = at[grouped] - trees.origin[feature[grouped]]
                left[grouped] = in_mask(trees.masks, trees.group[node[grouped]], value)
            tests = np.flatnonzero(known >= 0)
            goes = who[tests] & self.answers[known[tests]]
            stays = who[tests] & ~goes
            left[tests] = goes.any(axis=1)
            split = np.flatnonzero(left[tests] & stays.any(axis=1))
            who[tests[split]] = goes[split]
            person = np.concatenate([person, person[tests[split]]])
            who = np.concatenate([who, stays[split]])
            node = np.concatenate(
                [np.where(left, trees.left[node], trees.right[node]), trees.right[node[tests[split]]]]
            )
        return total

    # contents of a box ----------------------------------------------------------------------------------------

    def volume(self, boxes: Boxes) -> Floats:
        """The share of the domain's people (free features only) inside each box."""
        whole = self.domain.whole[self.free]
        size = boxes.high[:, self.free] - boxes.low[:, self.free] + whole
        total = self.domain.high[self.free] - self.domain.low[self.free] + whole
        part = np.where(total > 0, size / np.where(total > 0, total, 1.0), 1.0)
        for feature in self.trees.unordered:
            if not self.is_protected[feature]:
                count = np.bitwise_count(boxes.members[:, self.slot[feature]]).sum(axis=1)
                part[:, np.searchsorted(self.free, feature)] = count / (
                    self.domain.high[feature] - self.domain.low[feature] + 1
                )
        return np.asarray(part.prod(axis=1))

    def corner(self, boxes: Boxes) -> Floats:
        """One person of each box, as the first variant."""
        rows = boxes.high.copy()
        for slot, feature in enumerate(self.trees.unordered):
            rows[:, feature] = self.domain.low[feature] + self._bits(boxes.members[:, slot]).argmax(axis=1)
        rows[:, self.protected] = self.variants[0]
        return rows

    def draw(self, boxes: Boxes, volume: Floats, n: int, rng: np.random.Generator) -> Floats:
        """People drawn uniformly from boxes."""
        box = rng.choice(len(boxes), size=n, p=volume / volume.sum())
        whole = self.domain.whole
        rows = boxes.low[box] + rng.random((n, len(self.domain))) * (boxes.high[box] - boxes.low[box] + whole)
        rows = np.where(whole, np.minimum(np.floor(rows), boxes.high[box]), rows)
        for slot, feature in enumerate(self.trees.unordered):
            bits = self._bits(boxes.members[box, slot])
            rows[:, feature] = self.domain.low[feature] + (bits * rng.random(bits.shape)).argmax(axis=1)
        return np.asarray(rows)

    def _bits(self, members: NDArray[np.uint64]) -> NDArray[np.uint8]:
        words = np.ascontiguousarray(members).astype("<u8")
        return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
