"""Branch and bound over boxes of people: where a sum of trees discriminates, where it provably does not.

A box is an interval in every free column. All protected variants of the people in a box walk down every tree
together until a question about a free column parts the box. Sums of the least and the greatest leaf below bound the
score of each variant: a box is *safe* when no two comparable variants can be decided differently, *discriminating*
when two certainly are, and is cut in two at a pending question otherwise, the largest boxes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.trees import Ensemble
from isonomia.probing import Domain
from isonomia.probing.features import Floats

#: Boxes worked on together.
BATCH = 2048
#: Boxes waiting, after which the smallest are finished first instead of opening more.
MAX_WAITING = 100_000
#: Two scores this close to the cut are left to the model itself.
CLOSE = 1e-9


@dataclass(eq=False)
class Boxes:
    """Boxes of people: bounds of every column, and the node each variant has reached in each tree."""

    low: Floats
    high: Floats
    node: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.low)

    def take(self, rows: NDArray[np.intp]) -> Boxes:
        """Some of them."""
        return Boxes(self.low[rows], self.high[rows], self.node[rows])

    @staticmethod
    def join(parts: list[Boxes]) -> Boxes:
        """All of several."""
        return Boxes(
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
            np.concatenate([part.node for part in parts]),
        )


@dataclass(eq=False)
class Certified:
    """What was proved: discriminating boxes, and the share of the domain that is safe, discriminating or open."""

    low: Floats
    high: Floats
    volume: Floats
    share: float = 0.0
    waiting: float = 0.0
    opened: int = 0
    finished: bool = False
    gap_low: float = 0.0
    gap_high: float = math.inf
    gap_at: Floats | None = None
    notes: list[str] = field(default_factory=list)


class Search:
    """One search over the boxes of a domain for an ensemble.

    Parameters
    ----------
    lines : list of arrays
        Sets of variants that may be compared with each other.
    gamma : float
        For a regression (or a probability, above 0): scores must differ by more than it.
    ask : function
        What the model itself decides about rows and their variants, for scores too close to the cut to tell.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        domain: Domain,
        protected: NDArray[np.intp],
        variants: Floats,
        lines: list[NDArray[np.intp]],
        gamma: float,
        ask: Callable[[Floats], NDArray[np.bool_]],
    ) -> None:
        self.trees, self.domain, self.protected, self.variants = ensemble, domain, protected, variants
        self.lines, self.gamma, self.ask = lines, gamma, ask
        self.free = np.setdiff1d(np.arange(len(domain)), protected)
        self.by_gap = gamma > 0 or not ensemble.classifier
        asked = np.full((len(variants), len(domain)), np.nan)
        asked[:, protected] = variants
        self.asked = asked.astype(np.float32).astype(float)
        self.is_protected = np.isin(np.arange(len(domain)), protected)
        uses = ensemble.uses[ensemble.roots]
        self.roots = np.concatenate([ensemble.roots[uses], ensemble.roots[~uses]])
        self.n_touched = int(uses.sum())

    # walking ----------------------------------------------------------------------------------------------------

    def start(self) -> Boxes:
        """The whole domain as one box, every variant at every root."""
        v, t = len(self.variants), len(self.roots)
        node = np.broadcast_to(self.roots[None, :, None], (1, t, v)).copy()
        return self._walk(Boxes(self.domain.low[None].copy(), self.domain.high[None].copy(), node))

    def _walk(self, boxes: Boxes) -> Boxes:
        """Move every variant down every tree as far as the box answers the questions."""
        trees, flat = self.trees, boxes.node.reshape(-1)
        t, v = boxes.node.shape[1:]
        todo = np.flatnonzero(trees.feature[flat] >= 0)
        while todo.size:
            node = flat[todo]
            column, cut = trees.feature[node], trees.threshold[node]
            box = todo // (t * v)
            given = self.is_protected[column]
            value = self.asked[todo % v, column]
            low = np.where(given, value, boxes.low[box, column])
            high = np.where(given, value, boxes.high[box, column])
            below, above = high <= cut, low > cut
            moved = below | above
            todo, node, below = todo[moved], node[moved], below[moved]
            flat[todo] = np.where(below, trees.left[node], trees.right[node])
            todo = todo[trees.feature[flat[todo]] >= 0]
        return boxes

    def _split(self, boxes: Boxes, weight: Floats) -> Boxes:
        """Cut each box in two at its pending question of the greatest weight (n, t, v)."""
        n = len(boxes)
        pick = weight.reshape(n, -1).argmax(axis=1)
        node = boxes.node.reshape(n, -1)[np.arange(n), pick]
        column, cut = self.trees.feature[node], self.trees.threshold[node]
        whole = self.domain.whole[column]
        left, right = boxes.take(np.arange(n)), boxes.take(np.arange(n))
        place = np.arange(n)
        left.high[place, column] = np.where(whole, np.floor(cut), cut)
        beyond = np.nextafter(cut, np.inf)
        right.low[place, column] = np.where(whole, np.floor(cut) + 1, beyond)
        return self._walk(Boxes.join([left, right]))

    def volume(self, low: Floats, high: Floats) -> Floats:
        """The share of the domain's people (free columns only) inside each box."""
        whole = self.domain.whole[self.free]
        size = high[:, self.free] - low[:, self.free] + whole
        total = self.domain.high[self.free] - self.domain.low[self.free] + whole
        part = np.where(total > 0, size / np.where(total > 0, total, 1.0), 1.0)
        return np.asarray(part.prod(axis=1))

    # judging ----------------------------------------------------------------------------------------------------

    def _bounds(self, boxes: Boxes) -> tuple[Floats, Floats]:
        """Least and greatest possible score of each variant of each box."""
        least = self.trees.base + self.trees.low[boxes.node].sum(axis=1)
        most = self.trees.base + self.trees.high[boxes.node].sum(axis=1)
        return np.asarray(least), np.asarray(most)

    def _gaps(self, boxes: Boxes) -> tuple[Floats, Floats]:
        """Bounds of the widest difference between two comparable variants; what both share cancels."""
        node = boxes.node[:, : self.n_touched]
        alike = (node == node[:, :, :1]).all(axis=2) & ~self.trees.uses[node[:, :, 0]]
        least = np.where(alike[:, :, None], 0.0, self.trees.low[node]).sum(axis=1)
        most = np.where(alike[:, :, None], 0.0, self.trees.high[node]).sum(axis=1)
        sure, possible = np.zeros(len(boxes)), np.zeros(len(boxes))
        for line in self.lines:
            sure = np.maximum(sure, least[:, line].max(axis=1) - most[:, line].min(axis=1))
            for v in line:
                others = line[line != v]
                possible = np.maximum(possible, (most[:, [v]] - least[:, others]).max(axis=1))
        return sure, np.where(alike.all(axis=1), 0.0, possible)

    def _judge(self, boxes: Boxes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which boxes are certainly discriminating, and which certainly safe."""
        sure, possible = self._gaps(boxes)
        none = possible <= (self.gamma if self.by_gap else 0.0)
        if self.by_gap:
            return sure > self.gamma, none
        least, most = self._bounds(boxes)
        cut, room = self.trees.cut, CLOSE * max(1.0, abs(self.trees.cut))
        yes, no = least > cut + room, most < cut - room
        found = np.zeros(len(boxes), dtype=bool)
        open_ = np.zeros(len(boxes), dtype=bool)
        for line in self.lines:
            found |= yes[:, line].any(axis=1) & no[:, line].any(axis=1)
            open_ |= ~(yes[:, line].all(axis=1) | no[:, line].all(axis=1))
        return found & ~none, (none | ~open_) & ~found

    def _pending(self, boxes: Boxes, *, touched: bool) -> tuple[Floats, NDArray[np.bool_]]:
        """How much each pending question matters, and which boxes have none left."""
        node = boxes.node
        weight = np.where(self.trees.feature[node] >= 0, self.trees.high[node] - self.trees.low[node] + 1e-12, -1.0)
        if touched:
            weight[:, self.n_touched :] = -1.0
            part = node[:, : self.n_touched]
            alike = (part == part[:, :, :1]).all(axis=2) & ~self.trees.uses[part[:, :, 0]]
            weight[:, : self.n_touched][alike] = -1.0
        return weight, np.asarray(weight.reshape(len(boxes), -1).max(axis=1) < 0)

    # searching --------------------------------------------------------------------------------------------------

    def shares(self, max_boxes: int, stop: Callable[[], bool]) -> Certified:
        """Certify as much of the domain as the budget allows, the largest boxes first."""
        waiting = self.start()
        sizes = self.volume(waiting.low, waiting.high)
        kept: list[tuple[Floats, Floats, Floats]] = []
        safe = 0.0
        opened = 0
        while len(waiting) and opened < max_boxes and not stop():
            order = np.argsort(-sizes, kind="stable")
            now = order[:BATCH] if len(waiting) < MAX_WAITING else order[-BATCH:]
            rest = np.setdiff1d(np.arange(len(waiting)), now)
            boxes, volume = waiting.take(now), sizes[now]
            opened += len(boxes)
            found, fine = self._judge(boxes)
            weight, resolved = self._pending(boxes, touched=self.by_gap)
            close = resolved & ~found & ~fine
            if close.any():
                told = self.ask(self._corner(boxes.take(np.flatnonzero(close))))
                found[close], fine[close] = told, ~told
            kept.append((boxes.low[found], boxes.high[found], volume[found]))
            safe += float(volume[fine].sum())
            todo = np.flatnonzero(~found & ~fine)
            parts = [waiting.take(rest)]
            volumes = [sizes[rest]]
            if len(todo):
                children = self._split(boxes.take(todo), weight[todo])
                parts.append(children)
                volumes.append(self.volume(children.low, children.high))
            waiting, sizes = Boxes.join(parts), np.concatenate(volumes)
        low, high, volume = (np.concatenate([part[k] for part in kept]) for k in range(3)) if kept else self._nothing()
        result = Certified(low, high, volume, opened=opened, finished=len(waiting) == 0)
        result.share = float(volume.sum())
        result.waiting = 0.0 if result.finished else max(0.0, 1.0 - result.share - safe)
        return result

    def widest(self, max_boxes: int, stop: Callable[[], bool], result: Certified) -> None:
        """The largest difference between two comparable variants, bracketed, and where it is reached."""
        waiting = self.start()
        bound = self._gaps(waiting)[1]
        best, at, opened = 0.0, None, 0
        while len(waiting) and opened < max_boxes and not stop():
            keep = bound > best + 1e-12
            waiting, bound = waiting.take(np.flatnonzero(keep)), bound[keep]
            if len(waiting) == 0:
                break
            order = np.argsort(-bound, kind="stable")
            now, rest = order[: BATCH // 4], order[BATCH // 4 :]
            boxes = waiting.take(now)
            opened += len(boxes)
            weight, resolved = self._pending(boxes, touched=True)
            sure, _ = self._gaps(boxes)
            top = int(sure.argmax())
            if sure[top] > best:
                best, at = float(sure[top]), self._corner(boxes.take(np.array([top])))[0]
            todo = np.flatnonzero(~resolved)
            parts, bounds = [waiting.take(rest)], [bound[rest]]
            if len(todo):
                children = self._split(boxes.take(todo), weight[todo])
                parts.append(children)
                bounds.append(self._gaps(children)[1])
            waiting, bound = Boxes.join(parts), np.concatenate(bounds)
        left = bound[bound > best + 1e-12] if len(waiting) else np.empty(0)
        result.gap_low, result.gap_high, result.gap_at = best, float(left.max(initial=best)), at

    def _corner(self, boxes: Boxes) -> Floats:
        """One person of each box."""
        rows = boxes.high.copy()
        rows[:, self.protected] = self.variants[0]
        return rows

    def _nothing(self) -> tuple[Floats, Floats, Floats]:
        none = np.empty((0, len(self.domain)))
        return none, none, np.empty(0)


def draw_from(low: Floats, high: Floats, volume: Floats, domain: Domain, n: int, rng: np.random.Generator) -> Floats:
    """People drawn uniformly from boxes."""
    box = rng.choice(len(low), size=n, p=volume / volume.sum())
    span = high[box] - low[box] + domain.whole
    rows = low[box] + rng.random((n, len(domain))) * span
    return np.asarray(np.where(domain.whole, np.minimum(np.floor(rows), high[box]), rows))
