"""Certified bounds of the discriminating share from the moments of scores, box by box, the most open first.

Where sums of smallest and largest leaves cannot decide a box yet, means and variances already bound how much of it can
be beyond the cut, see `moments`. With many features most of the bracket closes long before boxes are decided.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

from isonomia.discovery.pairs.exact.branch_and_bound import Search
from isonomia.discovery.pairs.exact.leaf_cells import Leaves
from isonomia.discovery.pairs.exact.moments import Moments, Part

#: Boxes kept for cutting; of more, the half that leaves the least open stays as it is.
MAX_WAITING = 40_000
#: Every how manieth box is the one that looks most discriminating, so that the lower bound moves too.
HOPEFUL = 4
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
    if search.by_gap or search.trees.n_classes > 1 or not Leaves.fit(search.descent):
        return Bracket(low=0.0, high=1.0, boxes=0, cost=0)
    moments = Moments(Leaves(search.descent), search.lines)
    first = moments.everyone()
    low, high = first.low, first.high
    best, cost = (low, high), first.cost
    waiting = Waiting()
    waiting.put(first)
    while len(waiting) and cost < work and not stop():
        part = waiting.pop()
        low -= part.volume * part.low
        high -= part.volume * part.high
        for half in moments.cut(part, sums=False):
            parts = moments.cut(half, sums=True) if half.open > 0 else []
            cost += half.cost if parts else 0
            for child in parts or [half]:
                cost += child.cost
                low += child.volume * child.low
                high += child.volume * child.high
                waiting.put(child)
        best = (max(best[0], low), min(best[1], high))
    return Bracket(low=max(0.0, best[0] - ROUNDING), high=min(1.0, best[1] + ROUNDING), boxes=waiting.count, cost=cost)


class Waiting:
    """Boxes to be cut: those that leave the most open first, now and then the one that looks most discriminating."""

    def __init__(self) -> None:
        self.parts: dict[int, Part] = {}
        self.by_open: list[tuple[float, int]] = []
        self.by_hope: list[tuple[float, int]] = []
        self.count = self.turn = 0

    def __len__(self) -> int:
        return len(self.parts)

    def put(self, part: Part) -> None:
        """One more, where there is something to cut and something open."""
        self.count += 1
        if part.halves is None or part.open <= 0:
            return
        self.parts[self.count] = part
        heapq.heappush(self.by_open, (-part.open, self.count))
        if part.hope > 0:
            heapq.heappush(self.by_hope, (-part.open * part.hope, self.count))
        if len(self.parts) > MAX_WAITING:
            self._thin()

    def pop(self) -> Part:
        """The next one."""
        self.turn += 1
        while True:
            order = self.by_hope if self.turn % HOPEFUL == 0 and self.by_hope else self.by_open
            part = self.parts.pop(heapq.heappop(order)[1], None)
            if part is not None:  # the other order has not taken it
                return part

    def _thin(self) -> None:
        open_first = [number for _, number in sorted(self.by_open) if number in self.parts]
        self.parts = {number: self.parts[number] for number in open_first[: MAX_WAITING // 2]}
        self.by_open = [one for one in sorted(self.by_open) if one[1] in self.parts]
        self.by_hope = [one for one in sorted(self.by_hope) if one[1] in self.parts]
