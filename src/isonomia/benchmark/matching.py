"""Which found people are which true people: overlaps of row sets, and a one-to-one assignment of the best ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from isonomia.typing import Bools, Floats

#: A found subgroup is a true one where they overlap this much (shared over all).
SAME_PEOPLE = 0.5
#: A set covers another where it contains this share of it.
COVERED = 0.95
#: An overlap below this is a miss.
NEARLY_NONE = 0.1
Relation = Literal["exact", "too general", "too special", "overlap", "miss"]
RELATIONS: tuple[Relation, ...] = ("exact", "too general", "too special", "overlap", "miss")


def jaccard(found: Sequence[Bools], true: Sequence[Bools]) -> Floats:
    """Intersection over union of every found with every true set of rows, shape (found, true); 0 for two empty sets.

    >>> a, b = np.array([True, True, False]), np.array([False, True, True])
    >>> jaccard([a, b], [a]).round(3).tolist()
    [[1.0], [0.333]]
    """
    if not len(found) or not len(true):
        return np.zeros((len(found), len(true)))
    # matrix products in float32 are exact up to 2^24 rows, and far quicker than those of integers
    left, right = np.stack(found).astype(np.float32), np.stack(true).astype(np.float32)
    both = (left @ right.T).astype(float)
    union = left.sum(axis=1, dtype=float)[:, None] + right.sum(axis=1, dtype=float) - both
    return np.asarray(np.divide(both, union, out=np.zeros_like(both), where=union > 0), dtype=float)


def assign(overlap: Floats, *, least: float = SAME_PEOPLE) -> list[tuple[int, int]]:
    """Pairs (found, true), each at most once, that overlap at least `least`: as many as possible, then the best.

    >>> assign(np.array([[0.9, 0.8], [0.7, 0.1]]))
    [(0, 1), (1, 0)]
    """
    from scipy.optimize import linear_sum_assignment

    if not overlap.size:
        return []
    fits = overlap >= least
    # one more match outweighs any overlaps of all others
    worth = np.where(fits, min(overlap.shape) + 1.0 + overlap, 0.0)
    rows, columns = linear_sum_assignment(worth, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if fits[row, column]]


def covers(found: Bools, true: Bools) -> bool:
    """Whether a found set of rows contains (nearly) all of a true one."""
    return int((found & true).sum()) >= COVERED * int(true.sum())


def relation(found: Bools, true: Bools) -> Relation:
    """How a found set of rows describes a true one.

    >>> rows = np.arange(100)
    >>> [relation(rows < n, rows < 40) for n in (40, 90, 10)] + [relation(rows >= 35, rows < 40)]
    ['exact', 'too general', 'too special', 'miss']
    """
    both, union = int((found & true).sum()), int((found | true).sum())
    if both < NEARLY_NONE * union or not both:
        return "miss"
    general, special = covers(found, true), covers(true, found)
    if general and special:
        return "exact"
    return "too general" if general else "too special" if special else "overlap"
