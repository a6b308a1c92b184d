"""Every cut of the groups' scores with the counts above it: sorted once, then prefix sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by
from isonomia.typing import Bools, Floats, Indices

#: Thresholds that nobody and everybody reaches; finite, so that they can be written down.
NOBODY = float(np.finfo(np.float64).max)
EVERYBODY = -NOBODY


@dataclass(frozen=True, eq=False)
class Cuts:
    """The cuts of G groups, one group after the other, each from "nobody is accepted" to "everybody is".

    Attributes
    ----------
    start : (G + 1,) array
        Where each group's cuts begin.
    tp, fp : (N,) arrays
        The (weighted) positives and negatives that a cut accepts.
    threshold : (N,) array
        The threshold of each cut: halfway between the scores on its two sides.
    positives, negatives : (G,) arrays
        All of each group.

    Examples
    --------
    >>> cuts = Cuts.of(np.array([0.1, 0.6, 0.8, 0.4]), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]), 2)
    >>> cuts.start.tolist(), cuts.tp.tolist(), cuts.fp.tolist()
    ([0, 3, 6], [0.0, 1.0, 1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    """

    start: Indices
    tp: Floats
    fp: Floats
    threshold: Floats
    positives: Floats
    negatives: Floats

    @classmethod
    def of(
        cls,
        score: Floats,
        truth: NDArray[Any],
        group: NDArray[Any],
        n_groups: int,
        weights: Floats | None = None,
    ) -> Cuts:
        """Sort the rows by group and falling score, and add them up."""
        order = np.argsort(-score)
        order = order[np.argsort(group[order], kind="stable")]
        s, g = score[order], group[order].astype(np.intp)
        w = np.ones(s.size) if weights is None else weights[order]
        positive = np.cumsum(w * (truth[order] == 1))
        total = np.cumsum(w)
        changes = (s[1:] != s[:-1]) | (g[1:] != g[:-1])
        ends = np.flatnonzero(np.append(changes, True)) if s.size else np.zeros(0, dtype=np.intp)
        owner = g[ends]
        size = count_by(owner, n_groups)
        start = np.concatenate(([0], np.cumsum(size + 1)))
        last = np.searchsorted(g, np.arange(n_groups), side="right") - 1  # the last row of each group
        before = np.searchsorted(g, np.arange(n_groups), side="left") - 1
        at = np.arange(ends.size) + owner + 1

        def above(running: Floats) -> tuple[Floats, Floats]:
            padded = np.append(running, 0.0)  # index -1 is "no rows"
            counts = np.zeros(int(start[-1]))
            counts[at] = running[ends] - padded[before[owner]]
            return counts, padded[last] - padded[before]

        tp, positives = above(positive)
        n, every = above(total)
        threshold = np.full(int(start[-1]), NOBODY)
        threshold[at] = _between(s, ends, last[owner])
        return cls(start, tp, n - tp, threshold, positives, every - positives)

    @property
    def n_groups(self) -> int:
        """How many groups."""
        return self.start.size - 1

    @property
    def owner(self) -> Indices:
        """The group of each cut."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.start))

    @property
    def tables(self) -> Floats:
        """The confusion table of each cut's group: (N, 2, 2), [true, predicted]."""
        tables = np.empty((self.tp.size, 2, 2))
        tables[:, 0, 1], tables[:, 1, 1] = self.fp, self.tp
        tables[:, 0, 0] = np.repeat(self.negatives, np.diff(self.start)) - self.fp
        tables[:, 1, 0] = np.repeat(self.positives, np.diff(self.start)) - self.tp
        return tables

    def cost(self, false_positive: float = 1.0, false_negative: float = 1.0) -> Floats:
        """What each cut's errors cost."""
        return false_positive * self.fp + false_negative * (np.repeat(self.positives, np.diff(self.start)) - self.tp)

    def hull(self) -> Bools:
        """Which cuts are vertices of their group's ROC convex hull.

        The hull's slopes are the isotonic regression of the positive share on the falling score: where the fitted
        share changes, two blocks meet in a vertex.
        """
        from scipy.optimize import isotonic_regression

        chosen = np.zeros(self.tp.size, dtype=bool)
        for first, last in zip(self.start[:-1], self.start[1:], strict=True):
            chosen[[first, last - 1]] = True
            positive = np.diff(self.tp[first:last])
            n = positive + np.diff(self.fp[first:last])
            if n.size > 1:
                fitted = isotonic_regression(positive / n, weights=n, increasing=False).x
                chosen[first + 1 : last - 1] = np.abs(np.diff(fitted)) > 1e-12
        return chosen


def _between(score: Floats, ends: Indices, last: Indices) -> Floats:
    """Halfway between the last score above a cut and the first below it."""
    below = score[np.minimum(ends + 1, score.size - 1)]
    own = score[ends]
    middle = own / 2 + below / 2
    return np.where(ends == last, EVERYBODY, np.where(middle > below, middle, own))
