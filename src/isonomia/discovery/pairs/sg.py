"""SG: a small tree around people, the conditions on their path turned round one by one."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.method import at_least, pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.discovery.pairs.surrogate import Paths, Surrogate, Turned
from isonomia.probing import Search
from isonomia.probing.features import Floats

#: Seeds (or global children) tested together: one of them found sends the search into its neighbourhood.
FEW = 8
#: Children tested together grow with those waiting, to this part of them and to so many at most.
PART, MOST = 0.2, 8192


@pair_method(
    "sg",
    "paths of a local surrogate tree with one condition turned round, best first",
    reference="Aggarwal et al., Black box fairness testing of machine learning models, FSE 2019 (Symbolic Generation)",
)
def sg(
    space: Space,
    *,
    cluster_num: int = 4,
    max_seeds: int = 1000,
    confidence: float = 0.3,
    neighbourhood: int = 5000,
    batch: int = 64,
) -> Search:
    """Search by turning round conditions of a surrogate's path.

    Seeds come from `cluster_num` clusters in rotation. A decision tree is fitted to `neighbourhood` rows drawn
    attribute by attribute from the data (LIME's neighbourhood) and labelled by the model. For someone found, every
    condition on their path is turned round in turn while the others are kept (local). Where nobody found is left and
    no seed, the conditions of those tested are turned round from the root with those above kept, as long as the share
    of rows that take the same branch is at least `confidence` (global). Conditions are intervals, so "solving" them is
    moving the person into the box: exact, without a solver. Local children keep everything else; global ones take a
    random value in the interval.

    People are tested `batch` at a time, a tenth of those waiting when these are more, and share one freshly drawn
    neighbourhood and tree. Of people found, the first in every leaf comes before the second,
    and those on paths that are least sure come first.
    """
    at_least("cluster_num", cluster_num, 1)
    at_least("neighbourhood", neighbourhood, 10)
    at_least("batch", batch, 1)
    seeds = space.clusters(cluster_num, max_seeds)
    queue = _Queue()
    tested: list[Floats] = []
    made = {"local": 0, "seed": 0, "global": 0}
    space.facts["generated"] = made
    while True:
        if queue.waiting:
            kind, rows = "local", queue.next(max(batch, min(MOST, int(PART * queue.waiting))))
        elif len(seeds):
            kind, rows, seeds = "seed", seeds[:FEW], seeds[FEW:]
        elif tested:
            some = np.concatenate(tested)
            parents, tested = some[:FEW], [some[FEW:]] if len(some) > FEW else []
            surrogate = Surrogate(space, parents, neighbourhood)
            kind, rows = "global", surrogate.ahead(parents, surrogate.paths(parents), confidence)
        else:
            return
        if len(rows) == 0:
            continue
        answer = yield rows
        made[kind] += int(answer.fresh.sum())
        tested.append(answer.rows[answer.fresh])
        found = answer.rows[answer.found & answer.fresh]
        if len(found):
            surrogate = Surrogate(space, found, neighbourhood)
            queue.add(surrogate, found, surrogate.paths(found))


@dataclass(eq=False)
class _Bundle:
    """People found together, the conditions that each has, and what their children are."""

    rows: Floats
    length: list[int]
    turned: Turned
    #: Where the children of each begin in `turned`, and where those of the last end.
    begins: NDArray[np.intp]

    def children(self, places: NDArray[np.intp]) -> Floats:
        """The children of some of them, one after another."""
        start, count = self.begins[places], self.begins[places + 1] - self.begins[places]
        each = np.arange(int(count.sum())) + np.repeat(start - np.cumsum(count) + count, count)
        return self.turned.children(self.rows, each)


@dataclass(eq=False)
class _Queue:
    """People found whose children were not made yet: they are made when their turn comes."""

    waiting: int = 0
    _heap: list[tuple[int, float, int, int]] = field(default_factory=list)
    _bundles: list[_Bundle] = field(default_factory=list)

    def add(self, surrogate: Surrogate, rows: Floats, paths: Paths) -> None:
        """Put people into the queue: the first of every leaf before the second, those on the least sure paths first."""
        length = (paths.column >= 0).sum(axis=1).tolist()
        number = itertools.repeat(len(self._bundles))
        for entry in zip(_turns(paths.leaf), paths.confidence.tolist(), number, range(len(rows))):  # noqa: B905
            heapq.heappush(self._heap, entry)
        turned = surrogate.turned(rows, paths)
        self._bundles.append(_Bundle(rows, length, turned, np.searchsorted(turned.who, np.arange(len(rows) + 1))))
        self.waiting += sum(length)

    def next(self, n: int) -> Floats:
        """Children of the first in the queue, about `n`; fewer where the queue ends."""
        chosen: dict[int, list[int]] = {}
        while self._heap and n > 0:
            _, _, number, place = heapq.heappop(self._heap)
            chosen.setdefault(number, []).append(place)
            here = self._bundles[number].length[place]
            n, self.waiting = n - here, self.waiting - here
        return np.concatenate(
            [self._bundles[number].children(np.array(places, dtype=np.intp)) for number, places in chosen.items()]
        )


def _turns(leaf: NDArray[np.intp]) -> list[int]:
    """The how-manieth of their leaf everyone is.

    >>> _turns(np.array([5, 3, 5, 5, 3]))
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(leaf, kind="stable")
    ranked = leaf[order]
    turn = np.empty(len(leaf), dtype=np.intp)
    turn[order] = np.arange(len(leaf)) - np.searchsorted(ranked, ranked)
    return turn.tolist()
