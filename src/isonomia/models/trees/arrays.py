"""A tree ensemble as plain arrays, whatever library trained it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data import wrap
from isonomia.models.trees.links import Link, apply_link
from isonomia.typing import Bools, Floats

Integers = NDArray[np.int64]
#: Rows x trees that are routed at once.
BATCH = 1 << 21


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeEnsemble:
    """Trees whose leaf values are added: raw(x) = (base + sum of the leaves that x reaches) / divisor.

    The nodes of all trees share one set of arrays; tree t starts at node ``roots[t]``. A leaf has `feature` -1 and is
    its own child. An inner node sends a row left where its value is at most (`strict`: below) the threshold or, where
    `category_set` is s >= 0, where its category code is in set s. Missing values go left where `missing_left` is set.

    Attributes
    ----------
    roots : (T,) array
        First node of each tree.
    feature, threshold, left, right : (N,) arrays
        Column tested at each node, and its children.
    value : (N, K) array
        What a leaf adds to the raw score: one number, or one per class where there are more than two classes.
    cover : (N,) array
        Weight of the training rows that reach a node, as the library keeps it: weighted rows (scikit-learn), rows
        (HistGradientBoosting, LightGBM, CatBoost) or sums of Hessians (XGBoost). NaN where it is not kept.
    missing_left : (N,) array
    base : (K,) array
        Raw score before the first tree.
    link : str
        How ``link_scale * raw`` becomes the prediction, see `apply_link`.
    classifier : bool
        Whether predictions are probabilities; of two classes, of the second.
    strict : bool
    divisor : float
        The number of trees for forests, which average; 1 for boosting.
    feature_dtype : type
        Precision that columns are rounded to before they are compared with a threshold.
    sum_dtype : type
        Precision in which leaves are added, tree by tree.
    category_set : (N,) array
        Set of categories tested at a node; -1 where the test is a threshold.
    category_offsets, category_codes : arrays
        Set s is ``category_codes[category_offsets[s]:category_offsets[s + 1]]``.
    zero_missing : (N,) array
        Where 0 counts as missing.
    categories : tuple
        Categories of each column in the order of their codes; None for a column of numbers.
    zero_threshold : float
        Numbers at most this far from 0 are 0.
    missing_value : float
        A number that means missing, besides NaN.
    absent_is_missing : bool
        Whether cells that a sparse matrix does not store are missing rather than 0.
    source : (columns,) array or None
        Input column of every column that the trees see, where the library reorders them.
    prepare : function or None
        What the library itself does to a table before its trees see it.
    """

    roots: Integers
    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    value: Floats
    cover: Floats
    missing_left: Bools
    base: Floats
    link: Link
    classifier: bool
    category_set: Integers
    zero_missing: Bools
    link_scale: float = 1.0
    strict: bool = False
    divisor: float = 1.0
    feature_dtype: type[np.floating[Any]] = np.float64
    sum_dtype: type[np.floating[Any]] = np.float64
    category_offsets: Integers
    category_codes: Integers
    categories: tuple[tuple[Any, ...] | None, ...] = ()
    zero_threshold: float = 0.0
    missing_value: float = np.nan
    absent_is_missing: bool = False
    source: Integers | None = None
    prepare: Callable[[Any], Any] | None = None

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int((self.feature < 0).sum())

    def encode(self, table: Any) -> Floats:
        """A frame or matrix of inputs as the columns that the trees see: numbers, and codes of categories."""
        if self.prepare is not None:
            table = self.prepare(table)
        if hasattr(table, "tocoo"):
            rows = self._dense(table)
        elif isinstance(table, np.ndarray):
            rows = np.asarray(table, dtype=float)
        else:
            frame = wrap(table)
            columns = [self._column(frame[name], index) for index, name in enumerate(frame.columns)]
            rows = np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))
        return rows if np.isnan(self.missing_value) else np.where(rows == self.missing_value, np.nan, rows)

    def _column(self, column: nw.Series[Any], index: int) -> Floats:
        levels = self.categories[index] if index < len(self.categories) else None
        if levels is None or column.dtype.is_numeric():
            numbers = column.cast(nw.Float64) if column.null_count() else column
            return np.asarray(numbers.to_numpy(), dtype=float)
        codes = {str(level): float(code) for code, level in enumerate(levels)}
        distinct, inverse = np.unique(column.cast(nw.String).fill_null("\0").to_numpy(), return_inverse=True)
        return np.array([codes.get(str(text), np.nan) for text in distinct], dtype=float)[inverse]

    def _dense(self, table: Any) -> Floats:
        if not self.absent_is_missing:
            return np.asarray(table.toarray(), dtype=float)
        sparse = table.tocoo()
        dense = np.full(sparse.shape, np.nan)
        dense[sparse.coords if hasattr(sparse, "coords") else (sparse.row, sparse.col)] = sparse.data
        return dense

    def rounded(self, x: Floats) -> Floats:
        """Values as they are compared with thresholds: in the library's precision, numbers next to 0 as 0."""
        x = x.astype(self.feature_dtype).astype(float)
        return np.where(np.abs(x) <= self.zero_threshold, 0.0, x) if self.zero_threshold else x

    def goes_left(self, node: Integers, x: Floats) -> Bools:
        """Whether the value `x` of the column tested at a node goes left; both arrays have one shape."""
        x = self.rounded(x)
        missing = np.isnan(x) | (self.zero_missing[node] & (x == 0.0))
        with np.errstate(invalid="ignore"):
            below = x < self.threshold[node] if self.strict else x <= self.threshold[node]
        tested = self.category_set[node]
        categorical = (tested >= 0) & ~missing
        if categorical.any():
            below[categorical] = self._in_set(tested[categorical], x[categorical])
        return np.asarray(np.where(missing, self.missing_left[node], below))

    def _in_set(self, tested: Integers, x: Floats) -> Bools:
        stride, keys = self._category_keys
        code = np.clip(x, -1, stride - 1).astype(np.int64)
        key = tested * stride + code
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        return np.asarray((keys[at] == key) & (code >= 0))

    @cached_property
    def _category_keys(self) -> tuple[int, Integers]:
        """Every (set, code) as one number, sorted; the stride leaves a code that is in no set."""
        stride = int(self.category_codes.max(initial=0)) + 2
        sets = np.repeat(np.arange(len(self.category_offsets) - 1), np.diff(self.category_offsets))
        return stride, np.sort(sets * stride + self.category_codes)

    def leaves(self, rows: Floats) -> Integers:
        """The leaf (n, T) that each row of `encode`d columns reaches in each tree."""
        trees = len(self.roots)
        node = np.tile(self.roots, len(rows))
        open_ = np.flatnonzero(self.feature[node] >= 0)
        while open_.size:
            at = node[open_]
            left = self.goes_left(at, rows[open_ // trees, self.feature[at]])
            node[open_] = np.where(left, self.left[at], self.right[at])
            open_ = open_[self.feature[node[open_]] >= 0]
        return node.reshape(len(rows), trees)

    def raw(self, rows: Floats) -> Floats:
        """Raw scores (n, K) of `encode`d rows, added tree by tree in the library's own precision."""
        total = np.tile(self.base.astype(self.sum_dtype), (len(rows), 1))
        value = self.value.astype(self.sum_dtype)
        step = max(1, BATCH // max(1, len(self.roots)))
        for start in range(0, len(rows), step):
            leaves = self.leaves(rows[start : start + step])
            for tree in range(len(self.roots)):
                total[start : start + step] += value[leaves[:, tree]]
        return np.asarray(total / self.divisor if self.divisor != 1 else total, dtype=float)

    def predict(self, rows: Floats) -> Floats:
        """Predictions (n, K) of `encode`d rows: numbers, or probabilities (one column for two classes)."""
        return apply_link(self.link, self.link_scale * self.raw(rows))


class Builder:
    """Collects the nodes of trees one tree at a time.

    Every tree brings `feature`, `threshold`, `left`, `right`, `value`, `cover` and `missing_left`, with nodes numbered
    from 0 and children of leaves -1; trees with tests of categories bring `category_set` (see `add_set`), LightGBM's
    `zero_missing`.
    """

    def __init__(self) -> None:
        self.trees: list[dict[str, NDArray[Any]]] = []
        self.sets: list[Integers] = []

    def add_set(self, codes: Sequence[int] | Integers) -> int:
        """Keep a set of category codes; returns its number."""
        self.sets.append(np.asarray(codes, dtype=np.int64))
        return len(self.sets) - 1

    def add(self, **nodes: NDArray[Any]) -> None:
        """Add one tree."""
        count = len(nodes["feature"])
        nodes.setdefault("category_set", np.full(count, -1, dtype=np.int64))
        nodes.setdefault("zero_missing", np.zeros(count, dtype=bool))
        self.trees.append(nodes)

    def build(self, *, base: Floats | None = None, **options: Any) -> TreeEnsemble:
        """The ensemble; `base` is 0 by default."""
        sizes = np.array([len(tree["feature"]) for tree in self.trees], dtype=np.int64)
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        for tree, start in zip(self.trees, roots, strict=True):
            own = np.arange(len(tree["feature"]))
            for side in ("left", "right"):
                tree[side] = np.where(tree["feature"] < 0, own, tree[side]).astype(np.int64) + start
        nodes: dict[str, Any] = {name: np.concatenate([tree[name] for tree in self.trees]) for name in self.trees[0]}
        return TreeEnsemble(
            roots=roots,
            base=np.zeros(nodes["value"].shape[1]) if base is None else base,
            category_offsets=np.concatenate([[0], np.cumsum([len(part) for part in self.sets])]).astype(np.int64),
            category_codes=np.concatenate([np.empty(0, dtype=np.int64), *self.sets]),
            **nodes,
            **options,
        )
