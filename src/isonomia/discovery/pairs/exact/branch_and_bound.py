"""Branch and bound over boxes of people: where a sum of trees discriminates, where it provably does not.

The smallest and the largest leaf below the nodes that a box has reached bound the score of each variant: a box is
*safe* when no two comparable variants can be decided differently, *discriminating* when two certainly are, and is
split at a pending test otherwise, the largest boxes first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.box_descent import BoxDescent, Boxes
from isonomia.discovery.pairs.exact.gap_seeds import WALKS, climb
from isonomia.discovery.pairs.exact.link_bounds import apart, prediction_bounds, rise, steepest
from isonomia.models import Link, apply_link
from isonomia.typing import Floats

#: Boxes processed together, and the maximum number of nodes that they have reached in total.
BATCH, BATCH_NODES = 2048, 1_500_000
#: Bytes of boxes waiting, after which the smallest are finished first instead of opening more.
WAITING_BYTES = 256_000_000


@dataclass(eq=False)
class Certified:
    """What is proved: discriminating boxes, and the share of the domain that is safe, discriminating or open.

    `open` and `open_volume` are the undecided boxes, with a total volume of `waiting`.
    """

    boxes: Boxes
    volume: Floats
    open: Boxes
    open_volume: Floats
    share: float = 0.0
    waiting: float = 0.0
    opened: int = 0
    finished: bool = False


@dataclass(frozen=True, eq=False)
class Widest:
    """The largest difference between two comparable variants: found, an upper bound, and a person with it."""

    reached: float
    bound: float
    at: Floats | None


#: In the search for the widest gap, the weight of tests in trees that distinguish the variants.
PARTED = 10.0
#: The share of each batch for boxes that look discriminating and are nearly decided.
HOPEFUL = 0.25


class Search:
    """One search over the boxes of a domain for an ensemble.

    Parameters
    ----------
    lines : list of arrays
        Sets of variants that may be compared with each other.
    gamma : float
        Above 0, and for a regression: predictions must differ by more than this.
    ask : function
        The decision of the model itself about rows and their variants, for scores too close to a tie.
    """

    def __init__(
        self,
        descent: BoxDescent,
        lines: list[NDArray[np.intp]],
        gamma: float,
        ask: Callable[[Floats], NDArray[np.bool_]],
    ) -> None:
        self.descent, self.trees, self.lines, self.gamma, self.ask = descent, descent.trees, lines, gamma, ask
        self.by_gap = gamma > 0 or not self.trees.classifier
        count = len(descent.roots)
        self.batch = int(np.clip(BATCH_NODES // count, 16, BATCH))
        box_bytes = 4 * count + 16 * len(descent.domain) + 8 * descent.words * len(self.trees.unordered)
        self.max_waiting = max(4 * self.batch, WAITING_BYTES // box_bytes)
        # with the identity link, trees without protected tests cancel out of every gap
        self.cancels = self.trees.link == "identity"

    # classification of boxes --------------------------------------------------------------------------------

    def _sums(self, boxes: Boxes, shared_trees: NDArray[np.bool_] | None) -> tuple[Floats, Floats]:
        """Bounds (n, V, K) of the raw score of each variant; with `shared_trees`, without shared trees."""
        shape = (len(boxes), self.descent.of_variant.shape[1], self.trees.n_classes)
        minimum, maximum = np.empty(shape), np.empty(shape)
        for k in range(shape[2]):
            low, high = self.trees.low[boxes.node, k], self.trees.high[boxes.node, k]
            if shared_trees is not None:
                low, high = np.where(shared_trees, 0.0, low), np.where(shared_trees, 0.0, high)
            minimum[:, :, k], maximum[:, :, k] = low @ self.descent.of_variant, high @ self.descent.of_variant
        return (
            (minimum, maximum) if shared_trees is not None else (self.trees.base + minimum, self.trees.base + maximum)
        )

    def _shared_trees(self, boxes: Boxes) -> NDArray[np.bool_]:
        """Paths (n, L) of trees in which all variants are at one node and are not separated below it."""
        node, first = boxes.node, self.descent.first
        same = np.minimum.reduceat(node, first, axis=1) == np.maximum.reduceat(node, first, axis=1)
        shared_trees = same & ~self.trees.uses[node[:, first]]
        return np.asarray(shared_trees[:, self.descent.tree])

    def gaps(self, boxes: Boxes, link: Link | None = None) -> tuple[Floats, Floats]:
        """The difference between the predictions of two comparable variants: a lower and an upper bound."""
        link = link or self.trees.link
        shared_trees = self._shared_trees(boxes)
        minimum, maximum = self._sums(boxes, shared_trees)
        sure, possible = np.zeros(len(boxes)), np.zeros(len(boxes))
        full = self._sums(boxes, None) if link != "identity" else None
        for line in self.lines:
            for k in range(self.trees.n_classes):
                near, far = apart(minimum[:, line, k], maximum[:, line, k])
                if full is not None:
                    near, far = self._predictions_apart(link, near, far, maximum[:, line, k], full, line, k)
                sure, possible = np.maximum(sure, near), np.maximum(possible, far)
        return sure, np.where(shared_trees.all(axis=1), 0.0, np.maximum(possible, sure))

    def _predictions_apart(
        self,
        link: Link,
        near: Floats,
        far: Floats,
        maximum: Floats,
        full: tuple[Floats, Floats],
        line: NDArray[np.intp],
        k: int,
    ) -> tuple[Floats, Floats]:
        """Bounds of differences of predictions, from those of raw scores and of their differences."""
        low, high = prediction_bounds(link, full[0][:, line], full[1][:, line])
        sure, possible = apart(low[:, :, k], high[:, :, k])
        if link == "softmax":
            return sure, possible
        index = np.arange(len(near))
        lower = maximum.argmin(axis=1)  # the variant that certainly has the lowest score
        ends = full[0][:, line, k][index, lower], full[1][:, line, k][index, lower]
        certain = np.minimum(rise(link, ends[0], near), rise(link, ends[1], near))
        reach = steepest(link, far, full[0][:, line, k].min(axis=1), full[1][:, line, k].max(axis=1))
        return np.maximum(sure, np.where(near > 0, certain, 0.0)), np.minimum(possible, reach)

    def _judge(self, boxes: Boxes) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats]:
        """Which boxes are certainly discriminating, which certainly safe, and how discriminating each one looks."""
        if self.by_gap:
            sure, possible = self.gaps(boxes)
            tolerance = self.trees.tolerance
            hope = np.where(sure + possible > 2 * self.gamma, sure - possible, -np.inf)
            return sure > self.gamma + tolerance, (possible <= 0.0) | (possible < self.gamma - tolerance), hope
        none = self._shared_trees(boxes).all(axis=1)
        minimum, maximum = self._sums(boxes, None)
        code = self._decided(minimum, maximum)
        middle = (minimum + maximum) / 2
        likely = middle[:, :, 0] > self.trees.decide if self.trees.n_classes == 1 else middle.argmax(axis=2)
        hope = np.where((likely != likely[:, :1]).any(axis=1), (minimum - maximum).sum(axis=(1, 2)), -np.inf)
        found = np.zeros(len(boxes), dtype=bool)
        fine = np.ones(len(boxes), dtype=bool)
        for line in self.lines:
            here = code[:, line]
            top = here.max(axis=1)
            known = np.where(here >= 0, here, np.iinfo(np.int64).max).min(axis=1)
            found |= (top >= 0) & (top > known)
            fine &= (here.min(axis=1) == top) & (top >= 0)
        return found & ~none, none | (fine & ~found), hope

    def _decided(self, minimum: Floats, maximum: Floats) -> NDArray[np.int64]:
        """The class that each variant of each box certainly gets; -1 where that is open."""
        tolerance = self.trees.tolerance
        if self.trees.n_classes == 1:
            cut = self.trees.decide
            return np.where(minimum[:, :, 0] > cut + tolerance, 1, np.where(maximum[:, :, 0] < cut - tolerance, 0, -1))
        code = np.full(minimum.shape[:2], -1, dtype=np.int64)
        for k in range(self.trees.n_classes):
            others = np.delete(maximum, k, axis=2).max(axis=2)
            code[minimum[:, :, k] > others + tolerance] = k
        return code

    def people(self, rows: Floats) -> NDArray[np.int64]:
        """1 for people treated differently according to the trees, 0 for others, -1 for those too close to a tie."""
        raw, tolerance = self.descent.raw(rows), self.trees.tolerance
        if self.by_gap:
            predicted = apply_link(self.trees.link, raw)
            gap = np.max([np.ptp(predicted[:, line], axis=1).max(axis=1) for line in self.lines], axis=0)
            return np.where(gap > self.gamma + tolerance, 1, np.where(gap <= max(0.0, self.gamma - tolerance), 0, -1))
        code = self._decided(raw, raw)
        verdict = np.zeros(len(rows), dtype=np.int64)
        for line in self.lines:
            here = code[:, line]
            known = np.where(here >= 0, here, here.max(axis=1, keepdims=True))
            here = np.where(np.ptp(known, axis=1) > 0, 1, np.where((here < 0).any(axis=1), -1, 0))
            verdict = np.where((verdict == 1) | (here == 1), 1, np.minimum(verdict, here))
        return verdict

    def _pending(self, boxes: Boxes, *, cancels: bool, parted: float = 1.0) -> tuple[Floats, NDArray[np.bool_]]:
        """The weight of each pending test, and which boxes have none left.

        Tests in trees that distinguish the variants weigh `parted` times as much.
        """
        node = boxes.node
        spread = (self.trees.high[node] - self.trees.low[node]).max(axis=2)
        weight = np.where(self.trees.feature[node] >= 0, spread + 1e-12, -1.0)
        if cancels or parted != 1.0:
            # where they cancel, shared trees matter only when nothing else is left
            shared = self._shared_trees(boxes)
            weight[shared & (weight > 0)] *= 1e-9 if cancels else 1.0 / parted
        return weight, np.asarray(weight.max(axis=1) < 0)

    # search --------------------------------------------------------------------------------------------------

    def shares(self, max_boxes: int, stop: Callable[[], bool]) -> Certified:
        """Certify as much of the domain as the budget allows, the largest boxes first."""
        start = self.descent.start()
        waiting = Pool(start, self.descent.volume(start))
        kept: list[Boxes] = []
        volumes: list[Floats] = []
        safe = 0.0
        opened = 0
        while len(waiting) and opened < max_boxes and not stop():
            some = min(self.batch, max_boxes - opened)
            boxes, volume = waiting.pop(some, largest=len(waiting) < self.max_waiting)
            opened += len(boxes)
            found, fine, hope = self._judge(boxes)
            weight, resolved = self._pending(boxes, cancels=self.by_gap and self.cancels)
            close = np.flatnonzero(resolved & ~found & ~fine)
            if close.size:
                verdict = self.ask(self.descent.corner(boxes.take(close)))
                found[close], fine[close] = verdict, ~verdict
            if found.any():
                certain = boxes.take(np.flatnonzero(found))
                kept.append(replace(certain, node=certain.node[:, :0]))
                volumes.append(volume[found])
            safe += float(volume[fine].sum())
            todo = np.flatnonzero(~found & ~fine)
            if len(todo):
                children = self.descent.split(boxes.take(todo), weight[todo])
                waiting.put(children, self.descent.volume(children), np.tile(hope[todo], 2))
        certain = Boxes.join(kept) if kept else start.take(np.empty(0, np.intp))
        volume = np.concatenate(volumes) if volumes else np.empty(0)
        result = Certified(certain, volume, *waiting.all(), opened=opened, finished=len(waiting) == 0)
        result.share = float(volume.sum())
        result.waiting = 0.0 if result.finished else max(0.0, 1.0 - result.share - safe)
        return result

    def widest(
        self, max_boxes: int, stop: Callable[[], bool], link: Link | None = None, *, walks: int = WALKS
    ) -> Widest:
        """The largest difference between two comparable variants, with an upper bound and a person who has it."""
        link = link or self.trees.link
        start = self.descent.start()
        waiting = Pool(start, self.gaps(start, link)[1])
        best, person = climb(self.descent, self.lines, link, stop, walks=walks)
        at: Floats | None = person if best > 0 else None
        opened = 0
        batch = max(16, self.batch // 4)
        while len(waiting) and opened < max_boxes and not stop():
            boxes, bound = waiting.pop(min(batch, max_boxes - opened), largest=True)
            keep = np.flatnonzero(bound > best + 1e-12)
            if len(keep) == 0:  # the largest bounds come first: no wider gap is left
                waiting = Pool(start.take(np.empty(0, np.intp)), np.empty(0))
                break
            boxes = boxes.take(keep)
            opened += len(boxes)
            sure, _ = self.gaps(boxes, link)
            top = int(sure.argmax())
            if sure[top] > best:
                best, at = float(sure[top]), self.descent.corner(boxes.take(np.array([top])))[0]
            weight, resolved = self._pending(boxes, cancels=link == "identity", parted=PARTED)
            todo = self._parted(boxes) if link == "identity" else np.flatnonzero(~resolved)
            if len(todo):
                children = self.descent.split(boxes.take(todo), weight[todo])
                waiting.put(children, self.gaps(children, link)[1])
                if len(waiting) > self.max_waiting:
                    waiting.drop_below(best + 1e-12)
        return Widest(reached=best, bound=max(best, waiting.largest()), at=at)

    def _parted(self, boxes: Boxes) -> NDArray[np.intp]:
        """Boxes with a pending test in a tree that does not cancel."""
        pending = (self.trees.feature[boxes.node] >= 0) & ~self._shared_trees(boxes)
        return np.flatnonzero(pending.any(axis=1))


class Pool:
    """Waiting boxes with a rank and a hope each, in buffers that are reused."""

    def __init__(self, boxes: Boxes, rank: Floats) -> None:
        self.boxes, self.rank = boxes, rank.astype(float)
        self.hope = np.full(len(boxes), -np.inf)
        self.used = np.ones(len(boxes), dtype=bool)
        self.count = len(boxes)

    def __len__(self) -> int:
        return self.count

    def pop(self, n: int, *, largest: bool) -> tuple[Boxes, Floats]:
        """Remove and return the `n` boxes with the largest (or smallest) rank, in order of rank.

        A part of the `n` are the boxes with the largest finite hope.
        """
        index = np.flatnonzero(self.used)
        hopeful = index[np.isfinite(self.hope[index])]
        first = _lowest(-self.hope[hopeful], max(1, int(HOPEFUL * n)))
        chosen = hopeful[first]
        self.used[chosen] = False
        index = np.flatnonzero(self.used)
        rank = -self.rank[index] if largest else self.rank[index]
        index = np.concatenate([index[_lowest(rank, n - len(chosen))], chosen])
        self.used[index] = False
        self.count -= len(index)
        return self.boxes.take(index), self.rank[index]

    def put(self, boxes: Boxes, rank: Floats, hope: Floats | None = None) -> None:
        """Add boxes, in slots that were emptied before."""
        empty = np.flatnonzero(~self.used)
        if len(empty) < len(boxes):
            self._grow(max(len(boxes) - len(empty), len(self.used)))
            empty = np.flatnonzero(~self.used)
        index = empty[: len(boxes)]
        for name in ("low", "high", "members", "node"):
            getattr(self.boxes, name)[index] = getattr(boxes, name)
        self.rank[index], self.used[index] = rank, True
        self.hope[index] = -np.inf if hope is None else hope
        self.count += len(boxes)

    def _grow(self, by: int) -> None:
        old = (self.boxes.low, self.boxes.high, self.boxes.members, self.boxes.node)
        more = Boxes(*(np.zeros((by, *part.shape[1:]), part.dtype) for part in old))
        self.boxes = Boxes.join([self.boxes, more])
        self.rank = np.concatenate([self.rank, np.zeros(by)])
        self.hope = np.concatenate([self.hope, np.full(by, -np.inf)])
        self.used = np.concatenate([self.used, np.zeros(by, dtype=bool)])

    def all(self) -> tuple[Boxes, Floats]:
        """All boxes, without the nodes that they have reached, and their ranks."""
        index, boxes = np.flatnonzero(self.used), self.boxes
        return Boxes(
            low=boxes.low[index], high=boxes.high[index], members=boxes.members[index], node=boxes.node[:0, :0]
        ), self.rank[index]

    def drop_below(self, rank: float) -> None:
        """Remove boxes with this rank or a smaller one."""
        gone = self.used & (self.rank <= rank)
        self.used[gone] = False
        self.count -= int(gone.sum())

    def largest(self) -> float:
        """The largest rank; 0 without boxes."""
        return float(self.rank[self.used].max(initial=0.0))


def _lowest(rank: Floats, n: int) -> NDArray[np.intp]:
    """The indices of the `n` smallest ranks, in order; of equal ones the first."""
    index = np.arange(len(rank))
    if len(rank) > n:
        index = np.sort(np.argpartition(rank, n - 1)[:n]) if n > 0 else index[:0]
    return index[np.argsort(rank[index], kind="stable")]
