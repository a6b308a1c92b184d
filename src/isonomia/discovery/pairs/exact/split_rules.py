"""The tests of tree nodes in terms of the features of a domain: at most a cut, or in a set of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.column_mapping import ColumnMapping
from isonomia.errors import NotApplicable
from isonomia.models import TreeEnsemble
from isonomia.typing import Floats

#: How far, in numbers that a float can be, a first guess of a cut may be off: rounded as doubles, or as single floats.
_REACHES = (1 << 8, 1 << 30)


class SplitRules:
    """Every distinct test of an ensemble, on the domain's features.

    Attributes
    ----------
    of_node : array
        The rule of each node (any for a leaf).
    feature, cut, group : arrays
        The test: the feature is at most `cut`, or its bit is set in ``masks[group]``.
    swap : array of bool
        Whether people who pass go right.
    always : array
        1 where everyone passes, -1 where nobody does, 0 otherwise.
    unordered : array
        The features tested for sets of values; rules about them use `masks` only.
    """

    def __init__(
        self, trees: TreeEnsemble, mapping: ColumnMapping, protected: NDArray[np.intp], variants: Floats
    ) -> None:
        self.trees, self.mapping, self.domain = trees, mapping, mapping.domain
        inner = np.flatnonzero(trees.feature >= 0)
        if len(inner) and trees.feature[inner].max() >= len(mapping.source):
            raise NotApplicable("the trees test more columns than the model gets")
        group = trees.category_set
        _, rank = np.unique(trees.threshold[inner].view(np.int64), return_inverse=True)
        key = (rank * (len(mapping.source) + 1) + trees.feature[inner]) * 2 + trees.missing_left[inner]
        key = key * len(trees.category_offsets) + group[inner] + 1
        _, first, back = np.unique(key, return_index=True, return_inverse=True)
        self.node = inner[first]  # one node with each rule
        self.of_node = np.zeros(len(trees.feature), dtype=np.int64)
        self.of_node[inner] = back.ravel()
        count = max(1, len(self.node))
        self.feature = np.zeros(count, dtype=np.int64)
        self.cut = np.full(count, np.nan)
        self.group = np.full(count, -1, dtype=np.int64)
        self.swap = np.zeros(count, dtype=bool)
        self.always = np.zeros(count, dtype=np.int64)
        sets = self._test_every_value()
        self._bisect()
        self._pack(sets)
        self._narrow(protected, variants)

    def _test_every_value(self) -> dict[int, list[tuple[NDArray[np.intp], NDArray[np.bool_]]]]:
        """Rules about features with few values: every value is tested."""
        column = self.trees.feature[self.node]
        source = self.mapping.source[column]
        sets: dict[int, list[tuple[NDArray[np.intp], NDArray[np.bool_]]]] = {}
        for feature in np.unique(source):
            rules = np.flatnonzero(source == feature)
            if feature < 0:  # a constant column: any value decides
                same = self.mapping.see(self.mapping.base[None])[0]
                yes = self.trees.goes_left(self.node[rules], same[column[rules]])
                self.always[rules] = np.where(yes, 1, -1)
                continue
            self.feature[rules] = feature
            values = self.mapping.values[int(feature)]
            if values is None:
                continue
            nodes = np.repeat(self.node[rules][:, None], len(values), axis=1)
            yes = self.trees.goes_left(nodes, np.ascontiguousarray(values[:, column[rules]].T))
            self._cuts_or_sets(rules, yes, int(feature), sets)
        return sets

    def _cuts_or_sets(
        self,
        rules: NDArray[np.intp],
        yes: NDArray[np.bool_],
        feature: int,
        sets: dict[int, list[tuple[NDArray[np.intp], NDArray[np.bool_]]]],
    ) -> None:
        """Cuts where all results change at most once along the values, sets of values otherwise."""
        turns = (yes[:, 1:] != yes[:, :-1]).sum(axis=1)
        flat = turns == 0
        self.always[rules[flat]] = np.where(yes[flat, 0], 1, -1)
        if (turns <= 1).all():
            self.swap[rules] = ~yes[:, 0] & ~flat
            before = np.where(yes[:, :1], yes, ~yes).sum(axis=1)
            self.cut[rules] = self.domain.low[feature] + before - 1
            return
        sets.setdefault(feature, []).append((rules, yes))

    def _bisect(self) -> None:
        """Rules about features with many values: where the result changes, by bisection, to the last bit."""
        column = self.trees.feature[self.node]
        source = self.mapping.source[column]
        many = np.array([values is None for values in self.mapping.values])
        rules = np.flatnonzero((source >= 0) & many[np.maximum(source, 0)])
        if len(rules) == 0:
            return
        for feature in np.unique(source[rules]):
            self.mapping.check_order(int(feature))
        node, feature = self.node[rules], source[rules]
        if self.trees.zero_missing[node].any() or (self.trees.category_set[node] >= 0).any():
            raise NotApplicable("the trees treat 0 as missing, or numbers as categories, in a real column")
        whole = self.domain.whole[feature]
        low, high = self.domain.low[feature], self.domain.high[feature]

        def seen(value: Floats) -> Floats:
            encoded = self.mapping.many(feature, column[rules], value)
            if np.isnan(encoded).any():
                name = self.domain.names[int(feature[int(np.flatnonzero(np.isnan(encoded))[0])])]
                raise NotApplicable(f"the steps before the trees turn values of '{name}' into missing ones")
            return encoded

        ends = seen(low), seen(high)
        first, last = (self.trees.goes_left(node, end) for end in ends)
        a, b = _rank(low, whole), _rank(high, whole)
        a = np.where(first == last, np.maximum(a, b - 1), a)  # it changes nowhere

        def look(rank: NDArray[np.int64]) -> None:
            """Where the result is still that of the lowest value, it changes later; else here or before."""
            nonlocal a, b
            same = self.trees.goes_left(node, seen(_unrank(rank, whole))) == first
            a, b = np.where(same, np.maximum(a, rank), a), np.where(same, b, np.minimum(b, rank))

        guess = _rank(_between(low, high, *ends, self.trees.threshold[node], whole), whole)
        for reach in _REACHES:
            if ((b >> 1) - (a >> 1) > reach >> 1).any():  # halves: ranks of both signs are too far apart
                look(np.clip(guess - reach, a, b))
                look(np.clip(guess + reach, a, b))
        while (todo := (b > a) & (b - 1 != a)).any():
            look(np.where(todo, (a >> 1) + (b >> 1) + (a & b & 1), a))
        self.cut[rules] = _unrank(a, whole)
        self.swap[rules] = ~first & (first != last)
        self.always[rules] = np.where(first == last, np.where(first, 1, -1), 0)

    def _pack(self, sets: dict[int, list[tuple[NDArray[np.intp], NDArray[np.bool_]]]]) -> None:
        """The sets of values as bits."""
        self.unordered = np.array(sorted(sets), dtype=np.int64)
        longest = max((part[0][1].shape[1] for part in sets.values()), default=1)
        words = (longest + 63) // 64
        packed: list[NDArray[np.uint64]] = []
        count = 0
        for parts in sets.values():
            for rules, yes in parts:
                bits = np.zeros((len(yes), 64 * words), dtype=bool)
                bits[:, : yes.shape[1]] = yes
                packed.append(np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64))
                self.group[rules] = count + np.arange(len(rules))
                count += len(rules)
        self.masks = np.concatenate(packed) if packed else np.zeros((0, words), dtype=np.uint64)

    def _narrow(self, protected: NDArray[np.intp], variants: Floats) -> None:
        """Mark rules about protected features that all variants pass, or none."""
        for index, feature in enumerate(protected):
            rules = np.flatnonzero((self.feature == feature) & (self.always == 0))
            if len(rules) == 0:
                continue
            yes = self.answers(rules, variants[:, index])
            self.always[rules] = np.where(yes.all(axis=1), 1, np.where(~yes.any(axis=1), -1, 0))

    def answers(self, rules: NDArray[np.intp], values: Floats) -> NDArray[np.bool_]:
        """Whether values pass rules about one feature, (rules, values)."""
        at = np.broadcast_to(values, (len(rules), len(values)))
        with np.errstate(invalid="ignore"):
            yes = at <= self.cut[rules][:, None]
        grouped = self.group[rules] >= 0
        if grouped.any():
            index = at[grouped].astype(np.int64) - int(self.domain.low[self.feature[rules[0]]])
            word = self.masks[self.group[rules[grouped]][:, None], index >> 6]
            yes[grouped] = ((word >> (index & 63).astype(np.uint64)) & np.uint64(1)).astype(bool)
        return np.asarray(yes)


def _between(
    low: Floats, high: Floats, at_low: Floats, at_high: Floats, wanted: Floats, whole: NDArray[np.bool_]
) -> Floats:
    """Where a column that rises with its feature as a straight line has a value: right for scalers, rounding aside."""
    rise = at_high - at_low
    share = np.divide(wanted - at_low, rise, out=np.zeros_like(rise), where=rise != 0)
    value = low + np.clip(np.nan_to_num(share), 0.0, 1.0) * (high - low)
    return np.asarray(np.where(whole, np.floor(value), value))


def _rank(value: Floats, whole: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Numbers as integers in the same order: themselves, or the bits of a real number."""
    bits = (value + 0.0).view(np.int64)
    ordered = bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))
    return np.where(whole, np.where(whole, value, 0.0).astype(np.int64), ordered)


def _unrank(rank: NDArray[np.int64], whole: NDArray[np.bool_]) -> Floats:
    bits = rank ^ ((rank >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))
    return np.where(whole, rank.astype(float), bits.view(np.float64))
