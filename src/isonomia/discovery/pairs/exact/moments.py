"""Bounds of the share of a box that is treated differently, from means and variances of scores.

Inside a box every feature takes its values independently of the others, so the mean of each variant's score is a sum
over leaves, and its variance a sum over pairs of leaves: both exact. Tails of a known mean and variance are bounded:

- With the scores of all variants s_v, the cut at 0, U their mean and D_v = s_v - U: someone treated differently has a
  variant on the other side of the cut than U, so that |D_v| >= |U|, and since the D_v sum to 0 the sum of their squares
  is at least U^2 V / (V - 1). For any r and w > 0 then (1 + w) / w ((1 - r U)^2 + w r^2 e(D)) >= 1 there, where e(D) is
  (V - 1) / V times that sum, and is at least 0 elsewhere: its mean bounds the share. The best r gives
  (1 + w) / w q / (mean(U)^2 + q) with q = var(U) + w mean(e(D)).
- One-sided for each variant: var / (var + mean^2) (Cantelli), and (top - mean) / (top - cut) (Markov) with the greatest
  score that the leaves allow.
- The same bounds for -s_a and s_b bound the share that is *not* treated differently where variants a and b are on
  the two sides of the cut.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.discovery.pairs.exact.leaf_cells import Leaves
from isonomia.typing import Floats

#: Unsettled leaves whose pairs are summed in one box; boxes with more are cut first.
MAX_LIVE = 3000
#: Weights tried in the bound on all variants together.
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0, 100.0, 1000.0])
#: Leaves whose pairs are summed together: a block of them stays in the cache.
ROWS = 128
#: What a rounding to single precision may be off by, relatively.
SINGLE = 6e-8


@dataclass(eq=False)
class Part:
    """A box as a set of cells: its share of the domain, the leaves it reaches, what is known of it.

    `low` and `high` bound the share of its people who are treated differently; `halves` are the cells of one feature
    in two parts, where it is to be cut, and the share that the first has; `hope` how discriminating it looks, and
    `cost` what judging took.
    """

    cells: NDArray[np.bool_]
    volume: float
    leaves: NDArray[np.int32]
    low: float = 0.0
    high: float = 1.0
    halves: tuple[NDArray[np.intp], NDArray[np.intp], float] | None = None
    hope: float = 0.0
    cost: int = 0

    @property
    def open(self) -> float:
        """The share of the domain that it leaves open."""
        return self.volume * (self.high - self.low)


class Moments:
    """Judges boxes of people by the moments of their scores.

    Parameters
    ----------
    lines : list of arrays
        Sets of variants that may be compared with each other.
    """

    def __init__(self, leaves: Leaves, lines: list[NDArray[np.intp]]) -> None:
        self.leaves, self.lines, self.trees = leaves, lines, leaves.descent.trees
        self.offset = float(np.ravel(self.trees.base)[0]) - self.trees.decide
        top = np.maximum.reduceat(np.abs(leaves.value), np.flatnonzero(np.diff(leaves.tree, prepend=-1)))
        self.scale = float(top.sum())  # no sum of leaves is larger

    def everyone(self) -> Part:
        """The whole domain."""
        part = Part(
            cells=np.ones(len(self.leaves.weight), dtype=bool),
            volume=1.0,
            leaves=np.arange(len(self.leaves.value), dtype=np.int32),
        )
        self.judge(part)
        return part

    def cut(self, part: Part, *, sums: bool) -> list[Part]:
        """The two halves of a box, judged; without `sums` by the bounds of their leaves alone."""
        if part.halves is None:
            return [part]
        first, second, share = part.halves
        halves = []
        for gone, volume in ((second, part.volume * share), (first, part.volume * (1.0 - share))):
            cells = part.cells.copy()
            cells[gone] = False
            half = Part(cells=cells, volume=volume, leaves=part.leaves)
            self.judge(half, sums=sums)
            halves.append(half)
        return halves

    def judge(self, part: Part, *, sums: bool = True) -> None:
        """Bound the share of a box that is treated differently, and choose where to split it."""
        view = View(self.leaves, part)
        part.leaves, part.cost = view.leaves, view.size
        lower, upper = view.ends()
        lower, upper, tolerance = lower + self.offset, upper + self.offset, self.trees.tolerance
        above, below = lower > tolerance, upper < -tolerance
        if view.all_equal or above.all() or below.all():
            part.high = 0.0
            return
        if any(above[line].any() and below[line].any() for line in self.lines):
            part.low = 1.0
            return
        mean = view.mean + self.offset
        part.halves = view.halves()
        if sums and len(view.live) <= MAX_LIVE:
            part.cost += len(view.live) ** 2
            spread = view.covariance(self.scale)
            part.high = min(1.0, _together(mean, spread, tolerance), _apart(mean, spread, lower, upper, tolerance))
            part.low = max(_certain_gap(mean[line], spread[np.ix_(line, line)], tolerance) for line in self.lines)
            part.hope = max(_hope(mean[line], np.diag(spread)[line]) for line in self.lines)


def _together(mean: Floats, spread: Floats, tolerance: float) -> float:
    """The bound on all variants together: their mean against how far they are from it."""
    count = len(mean)
    centre, whole = float(mean.mean()), float(spread.mean())
    if abs(centre) <= tolerance:
        return 1.0
    aside = np.diag(spread) - 2 * spread.mean(axis=0) + whole + (mean - centre) ** 2
    q = whole + WEIGHTS * float(np.maximum(aside, 0.0).sum()) * (count - 1) / count
    return float(((1 + WEIGHTS) / WEIGHTS * q / ((abs(centre) - tolerance) ** 2 + q)).min())


def _apart(mean: Floats, spread: Floats, lower: Floats, upper: Floats, tolerance: float) -> float:
    """The bounds on each variant alone: all on one side, unless one of them crosses the cut."""
    if not ((mean > tolerance).all() or (mean < -tolerance).all()):
        return 1.0
    far = np.abs(mean) - tolerance
    top = np.where(mean > 0, upper, -lower)
    crossing = np.minimum(np.diag(spread) / (np.diag(spread) + far**2), 1.0 - far / np.maximum(top - tolerance, far))
    return float(crossing.sum())


def _certain_gap(mean: Floats, spread: Floats, tolerance: float) -> float:
    """A lower bound of the share treated differently, from the two variants whose means differ most."""
    a, b = int(mean.argmin()), int(mean.argmax())
    if not mean[a] < -tolerance < tolerance < mean[b]:
        return 0.0
    turn = np.array([-1.0, 1.0])
    both = spread[np.ix_([a, b], [a, b])] * np.outer(turn, turn)
    ends = np.full(2, np.inf)
    fail = min(
        _together(turn * mean[[a, b]], both, tolerance), _apart(turn * mean[[a, b]], both, -ends, ends, tolerance)
    )
    return max(0.0, 1.0 - fail)


def _hope(mean: Floats, variance: Floats) -> float:
    """How near two variants are to standing on both sides of the cut with all of their people; 0 to 8."""
    ends = np.array([mean.argmin(), mean.argmax()])
    if not mean[ends[0]] < 0 < mean[ends[1]]:
        return 0.0
    return float((mean[ends] ** 2 / (mean[ends] ** 2 + variance[ends])).sum()) ** 3


class View:
    """One box in terms of the leaves: the share of it in each leaf, and the moments of its scores.

    Attributes
    ----------
    inside : matrix (leaves, features)
        The share of the box's values of each feature in a leaf.
    part : array
        The share of the box in a leaf, over all features.
    live : array
        Leaves of trees in which the box is still divided.
    """

    def __init__(self, all_leaves: Leaves, part: Part) -> None:
        count = len(all_leaves.features)
        self.cells = np.flatnonzero(part.cells)
        self.of = all_leaves.of[self.cells]
        weight = all_leaves.weight[self.cells]
        self.weight = weight / sum_by(self.of, weight, count)[self.of]
        self.start = np.searchsorted(self.of, np.arange(count + 1))
        contains = all_leaves.contains.take(part.leaves, axis=0).take(self.cells, axis=1).astype(float)
        blocks = np.zeros((len(self.cells), count))
        blocks[np.arange(len(self.cells)), self.of] = self.weight
        inside = contains @ blocks
        share = inside.prod(axis=1)
        reached = np.flatnonzero(share > 0)
        self.size = contains.size
        self.leaves, self.part = part.leaves[reached], share[reached]
        self.contains, self.inside = contains[reached], inside[reached]
        tree = all_leaves.tree[self.leaves]
        new = np.diff(tree, prepend=-1) > 0
        self.first, index = np.flatnonzero(new), np.cumsum(new) - 1
        self.variant, value = all_leaves.variant[:, self.leaves], all_leaves.value[self.leaves]
        self.value = np.where(self.variant, value, 0.0)
        by_tree = np.add.reduceat(self.value * self.part, self.first, axis=1)
        self.mean = by_tree.sum(axis=1)
        self.off = np.where(self.variant, value - by_tree[:, index], 0.0)
        scale = 1e-12 * float(np.abs(value).max())
        self.live = np.flatnonzero((np.abs(self.off) > scale).any(axis=0))

    @property
    def all_equal(self) -> bool:
        """Whether no leaf that the box reaches distinguishes variants."""
        return bool(self.variant.all())

    def ends(self) -> tuple[Floats, Floats]:
        """The least and the greatest score of each variant."""
        lower = np.minimum.reduceat(np.where(self.variant, self.value, np.inf), self.first, axis=1)
        upper = np.maximum.reduceat(np.where(self.variant, self.value, -np.inf), self.first, axis=1)
        return lower.sum(axis=1), upper.sum(axis=1)

    def halves(self) -> tuple[NDArray[np.intp], NDArray[np.intp], float] | None:
        """The cells of the feature whose value moves the mean score most, in the two parts that differ most."""
        pull = (self.off.mean(axis=0) * self.part)[:, None] / self.inside
        effect = np.einsum("lc,lc->c", self.contains, pull[:, self.of])  # the mean score of each cell, less that of all
        several = np.diff(self.start) > 1
        if not several.any():
            return None
        moved = sum_by(self.of, self.weight * effect**2, len(several))
        if moved[several].max() <= 1e-24:  # no single feature does: the one that is tested most
            moved = ((self.inside < 1.0) * np.abs(self.off).max(axis=0)[:, None]).sum(axis=0)
        feature = int(np.where(several, moved, -1.0).argmax())
        here = np.arange(self.start[feature], self.start[feature + 1])
        order = here[np.argsort(effect[here], kind="stable")]
        share = np.cumsum(self.weight[order])[:-1]
        between = np.cumsum(self.weight[order] * effect[order])[:-1] ** 2 / (share * (1.0 - share) + 1e-300)
        index = int(between.argmax())
        return self.cells[order[: index + 1]], self.cells[order[index + 1 :]], float(share[index])

    def covariance(self, scale: float) -> Floats:
        """Covariances of the variants' scores, each variance no smaller than it is: summed over pairs of leaves."""
        live = self.live
        pull = self.off[:, live] * self.part[live]
        taken, weighted = self._kernels()
        spread = np.zeros((len(pull), len(pull)))
        for begin in range(0, len(live), ROWS):
            rows = slice(begin, begin + ROWS)
            both = np.ones((len(live[rows]), len(live) - begin), dtype=np.float32)  # P(i and j) / (P(i) P(j)), j >= i
            shared = np.empty_like(both)
            for one, other in zip(taken, weighted, strict=True):
                both *= np.matmul(one[rows], other[begin:].T, out=shared)
            both[:, len(both) :] *= 2.0  # pairs below the diagonal too
            spread += np.asarray(pull[:, rows].astype(np.float32) @ both, dtype=float) @ pull[:, begin:].T
        # single precision: every entry of `both` is off by a share of itself, and so is the sum of all of them
        alone = np.sqrt(np.add.reduceat(self.off**2 * self.part, self.first, axis=1)).sum(axis=1).max()
        rounds = len(self.cells) + 4 * len(self.start) + 2 * len(live) + 16
        slack = SINGLE * rounds * float(alone) ** 2 + 1e-10 * scale**2
        return (spread + spread.T) / 2 + slack * np.eye(len(spread))

    def _kernels(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """For each feature that divides live leaves, two matrices whose product is the share common to pairs of them.

        Adjacent cells that no live leaf distinguishes are merged.
        """
        contains = self.contains[self.live]
        new = np.ones(len(self.cells), dtype=bool)
        new[1:] = (contains[:, 1:] != contains[:, :-1]).any(axis=0) | (np.diff(self.of) > 0)
        cells = np.flatnonzero(new)
        weight, of = np.add.reduceat(self.weight, cells), self.of[cells]
        contains = (contains[:, cells] / self.inside[self.live][:, of]).astype(np.float32)
        weighted = contains * weight.astype(np.float32)
        ends = np.searchsorted(of, np.arange(len(self.start)))
        parts = [slice(a, b) for a, b in itertools.pairwise(ends) if b > a + 1]
        return [contains[:, part] for part in parts], [weighted[:, part] for part in parts]
