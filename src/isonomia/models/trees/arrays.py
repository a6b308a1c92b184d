"""Trees as their library keeps them: questions about the columns that the trees see, values at the leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

#: How the sum of leaves becomes what the model says: itself, a probability of one class, of several, or exp of it.
Link = Literal["identity", "logistic", "softmax", "exp"]


@dataclass(frozen=True, eq=False)
class Grown:
    """A sum of trees: raw(x) = base + sum of the values of the leaves that x falls into, one number a class.

    Nodes of all trees stand in one row of arrays; `roots` says where each tree begins, a leaf has `column` -1. A node
    sends left what is at most (`strict`: below) its threshold, or, where `group` is not -1, the categories in
    `sets[group]`. Missing numbers go left where `missing_left` says so; `zero_missing` counts 0 as missing.

    Attributes
    ----------
    narrow : bool
        Whether columns are rounded to 32 bits before they are compared.
    rounding : float
        Half the distance of 1 to the next number that the library adds with.
    codes : tuple of (tuple or None)
        For each column the categories in the order of their codes; None for a column of numbers.
    base : array
        NaN where the library does not keep it; it is then what the raw score (times `factor`) leaves.
    sparse_missing : bool
        Whether cells that a sparse matrix does not hold are missing rather than 0.
    """

    roots: NDArray[np.int64]
    column: NDArray[np.int64]
    threshold: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats
    missing_left: NDArray[np.bool_]
    link: Link
    classifier: bool
    base: Floats
    narrow: bool = False
    strict: bool = False
    rounding: float = 2.0**-53
    group: NDArray[np.int64] | None = None
    sets: tuple[NDArray[np.int64], ...] = ()
    zero_missing: NDArray[np.bool_] | None = None
    codes: tuple[tuple[Any, ...] | None, ...] = ()
    sparse_missing: bool = False
    factor: float = 1.0
    #: What the library itself does to a table before its trees see it.
    prepare: Callable[[Any], Any] | None = field(default=None)

    @property
    def n_leaves(self) -> int:
        """Leaves of all trees."""
        return int((self.column < 0).sum())

    def goes_left(self, node: NDArray[np.int64], x: Floats) -> NDArray[np.bool_]:
        """Which way a value of its column goes at each node (both arrays of one shape)."""
        x = x.astype(np.float32).astype(float) if self.narrow else x
        missing = np.isnan(x)
        if self.zero_missing is not None:
            missing |= self.zero_missing[node] & (np.abs(x) <= 1e-35)
        with np.errstate(invalid="ignore"):
            below = x < self.threshold[node] if self.strict else x <= self.threshold[node]
        if self.group is not None:
            group = self.group[node]
            for one in np.unique(group[group >= 0]):
                here = group == one
                below[here] = np.isin(x[here], self.sets[int(one)])
        return np.asarray(np.where(missing, self.missing_left[node], below))


def joined(parts: list[dict[str, NDArray[Any]]]) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Trees with nodes counted from 0 each, as one row of nodes; and where each begins.

    A leaf's children are given as -1 and become the leaf itself.
    """
    sizes = np.array([len(part["column"]) for part in parts], dtype=np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    for part, start in zip(parts, roots, strict=True):
        own = np.arange(len(part["column"]))
        leaf = part["column"] < 0
        for side in ("left", "right"):
            part[side] = np.where(leaf, own, part[side]).astype(np.int64) + start
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, roots
