"""SG: a small tree around each person, the conditions on their path turned round one by one."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.method import at_least, pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.probing import Search
from isonomia.probing.features import Floats

#: Ranks of the queue, lowest first: children of found people, then seeds, then the rest.
LOCAL, SEED, GLOBAL = 1.0, 5.0, 10.0
#: Seeds (or global children) tested together: one of them found sends the search into its neighbourhood.
FEW = 8


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
    condition on their path is turned round in turn while the others are kept (local); for everyone, the conditions
    from the root are turned round with those above kept, as long as the share of rows that take the same branch is
    at least `confidence` (global). Conditions are intervals, so "solving" them is moving the person into the box:
    exact, without a solver. Local children keep everything else; global ones take a random value in the interval.

    People are taken from the queue `batch` at a time and share one freshly drawn neighbourhood and tree.
    """
    at_least("cluster_num", cluster_num, 1)
    at_least("neighbourhood", neighbourhood, 10)
    at_least("batch", batch, 1)
    seeds = space.clusters(cluster_num, max_seeds)
    queue: list[tuple[float, int, Any]] = [(SEED, place, row) for place, row in enumerate(seeds)]
    heapq.heapify(queue)
    serial = len(queue)
    paths: set[bytes] = set()
    kinds = {LOCAL: 0, SEED: 0, GLOBAL: 0}
    space.facts["generated"] = {}
    while queue:
        taken = _next(queue, batch)
        rows = np.stack([item[2] for item in taken])
        answer = yield rows
        for rank, fresh in zip((item[0] for item in taken), answer.fresh, strict=True):
            kinds[LOCAL if rank < SEED else SEED if rank == SEED else GLOBAL] += int(fresh)
        space.facts["generated"] = {"local": kinds[LOCAL], "seed": kinds[SEED], "global": kinds[GLOBAL]}
        tested = np.flatnonzero(answer.tested)
        if len(tested) == 0:
            continue
        surrogate = Surrogate(space, rows[tested], neighbourhood)
        for place, found in zip(tested, answer.found[tested], strict=True):
            born = surrogate.children(rows[place], found=bool(found), confidence=confidence)
            for rank, child, path in zip(*born, strict=True):
                if path not in paths:
                    paths.add(path)
                    heapq.heappush(queue, (float(rank), serial, child))
                    serial += 1


def _next(queue: list[tuple[float, int, Any]], batch: int) -> list[tuple[float, int, Any]]:
    """The first of the queue: up to `batch` local children, or a few of the others, never both together."""
    taken = [heapq.heappop(queue)]
    local = taken[0][0] < SEED
    limit = batch if local else FEW
    while queue and len(taken) < limit and (queue[0][0] < SEED) == local:
        taken.append(heapq.heappop(queue))
    return taken


class Surrogate:
    """A tree fitted to what the model says around some people, and its paths as boxes."""

    def __init__(self, space: Space, rows: Floats, size: int) -> None:
        from sklearn.tree import DecisionTreeClassifier

        self.space = space
        base = space.people if len(space.people) else space.domain.sample(size, space.rng)
        drawn = [base[space.rng.integers(len(base), size=size), place] for place in range(base.shape[1])]
        sample = np.concatenate([np.stack(drawn, axis=1), rows])
        label = space.labels(sample)
        fitted = DecisionTreeClassifier(random_state=0, min_samples_leaf=1).fit(self._filled(sample), label)
        self.tree = fitted.tree_

    def _filled(self, rows: Floats) -> NDArray[np.float32]:
        middle = (self.space.domain.low + self.space.domain.high) / 2
        return np.where(np.isnan(rows), middle, rows).astype(np.float32)

    def path(self, row: Floats) -> tuple[NDArray[np.intp], Floats, NDArray[np.bool_], Floats]:
        """The conditions of a person's path: column, threshold, whether the value is at most it, and its share."""
        value = self._filled(row[None])[0]
        node, tree = 0, self.tree
        steps: list[tuple[int, float, bool, float]] = []
        while tree.children_left[node] >= 0:
            column, cut = int(tree.feature[node]), float(tree.threshold[node])
            below = bool(value[column] <= cut)
            child = int(tree.children_left[node] if below else tree.children_right[node])
            steps.append((column, cut, below, tree.n_node_samples[child] / tree.n_node_samples[node]))
            node = child
        column_, cut_, below_, share_ = zip(*steps, strict=True) if steps else ((), (), (), ())
        return np.array(column_, np.intp), np.array(cut_), np.array(below_, bool), np.array(share_)

    def children(self, row: Floats, *, found: bool, confidence: float) -> tuple[Floats, Floats, list[bytes]]:
        """New people with one condition of the path turned round: their ranks, the people, a name of each path."""
        column, cut, below, share = self.path(row)
        free = ~np.isin(column, self.space.protected)
        places = np.flatnonzero(free)
        weak = np.flatnonzero(share[places] < confidence)
        ahead = places[: weak[0]] if len(weak) else places  # global: from the root to the first weak branch
        local = places if found else places[:0]
        turned = np.concatenate([local, ahead])
        if len(turned) == 0:
            return np.empty(0), np.empty((0, len(row))), []
        sticky = np.arange(len(turned)) < len(local)
        every = np.arange(len(column))
        use = np.where(sticky[:, None], True, every <= turned[:, None])
        side = np.where(every == turned[:, None], ~below, below)
        people, full = self._solve(row, column, cut, use, side, turned, sticky)
        means = np.cumsum(share)[turned] / (turned + 1)
        ranks = np.where(sticky, LOCAL + share.mean(), GLOBAL - means)
        names = [
            column[u].tobytes() + cut[u].tobytes() + s[u].tobytes() for u, s in zip(use[full], side[full], strict=True)
        ]
        return ranks[full], people[full], names

    def _solve(
        self,
        row: Floats,
        column: NDArray[np.intp],
        cut: Floats,
        use: NDArray[np.bool_],
        side: NDArray[np.bool_],
        turned: NDArray[np.intp],
        sticky: NDArray[np.bool_],
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The person moved into each box of conditions, and which boxes are not empty."""
        domain = self.space.domain
        # float32 is what the tree compares; a whole number above the cut is at least the next one
        floor = np.where(domain.whole[column], np.floor(cut), cut)
        beyond = np.nextafter(cut.astype(np.float32), np.float32(np.inf)).astype(float)
        above = np.where(domain.whole[column], floor + 1, beyond)
        low, high = np.tile(domain.low, (len(use), 1)), np.tile(domain.high, (len(use), 1))
        for place in np.unique(column):
            on = column == place
            high[:, place] = np.minimum(high[:, place], np.where(use & side, floor, np.inf)[:, on].min(axis=1))
            low[:, place] = np.maximum(low[:, place], np.where(use & ~side, above, -np.inf)[:, on].max(axis=1))
        full = np.asarray((low <= high).all(axis=1))
        people = np.where(np.isnan(row), row, np.clip(row, low, np.maximum(low, high)))
        people[:, self.space.protected] = row[self.space.protected]
        loose = np.flatnonzero(~sticky)
        place = column[turned[loose]]
        span = high[loose, place] - low[loose, place]
        drawn = low[loose, place] + self.space.rng.random(len(loose)) * span
        people[loose, place] = np.where(domain.whole[place], np.rint(drawn), drawn)
        full[full] &= domain.valid(people[full])
        return people, full
