"""Certified bounds of the discriminating share from the moments of scores, box by box, the most open first.

Where sums of least and greatest leaves cannot decide a box yet, means and variances already tell how much of it can
lie beyond the cut, see `moments`. In many features that closes most of the bracket long before boxes are decided.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

from isonomia.discovery.pairs.boxes import Search
from isonomia.discovery.pairs.leaves import Leaves
from isonomia.discovery.pairs.moments import Moments, Part

#: Boxes kept for cutting; of more, the half that leaves the least open stays as it is.
MOST_WAITING = 40_000
#: What rounding may add to a sum of shares.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Bracket:
    """Bounds of the share of the domain that is treated differently, and the boxes and the work they took."""

    low: float
    high: float
    boxes: int
    cost: int


def bracket(search: Search, work: int, stop: Callable[[], bool]) -> Bracket:
    """Bounds of the discriminating share of decisions between two classes; (0, 1) where leaves are too many.

    `work` is counted in leaves x cells and pairs of leaves looked at, so that the same work gives the same bounds on
    every machine; more of it never widens them.
    """
    if search.by_gap or search.trees.n_classes > 1 or not Leaves.fit(search.lanes):
        return Bracket(0.0, 1.0, 0, 0)
    moments = Moments(Leaves(search.lanes), search.lines)
    first = moments.everyone()
    low, high = first.volume * first.low, first.volume * first.high
    best = (low, high)
    waiting: list[tuple[float, int, Part]] = [(-first.open, 0, first)]
    boxes, cost = 1, first.cost
    while waiting and cost < work and not stop():
        _, _, part = heapq.heappop(waiting)
        low -= part.volume * part.low
        high -= part.volume * part.high
        for half in moments.cut(part, sums=False):
            parts = moments.cut(half, sums=True) if half.open > 0 else []
            for child in parts or [half]:
                boxes += 1
                low += child.volume * child.low
                high += child.volume * child.high
                if child.halves is not None and child.open > 0:
                    heapq.heappush(waiting, (-child.open, boxes, child))
                cost += child.cost
            cost += half.cost if parts else 0
        best = (max(best[0], low), min(best[1], high))
        if len(waiting) > MOST_WAITING:
            waiting = sorted(waiting)[: MOST_WAITING // 2]
    return Bracket(max(0.0, best[0] - ROUNDING), min(1.0, best[1] + ROUNDING), boxes, cost)
