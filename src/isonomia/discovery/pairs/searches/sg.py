"""SG: a small tree around people, the conditions on their path negated one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.searches.surrogate import Surrogate
from isonomia.discovery.pairs.space import Space
from isonomia.parameters import Integer, Number, validated
from isonomia.probing import Search
from isonomia.probing.growing_array import Stack
from isonomia.typing import Floats

#: Seeds (or global children) tested together: one of them found sends the search into its neighbourhood.
FEW = 8
#: A new tree is fitted whenever the number of people found has grown by this factor.
RENEW = 3.0
#: Children tested together grow with those waiting, to this part of them and to so many at most.
PART, MAX_WAITING = 0.2, 8192


@pair_method(
    "sg",
    "paths of a local surrogate tree with one condition turned round, best first",
    reference="Aggarwal et al., Black box fairness testing of machine learning models, FSE 2019 (Symbolic Generation)",
)
@validated(
    cluster_num=Integer(1),
    max_seeds=Integer(1),
    confidence=Number(at_least=0, at_most=1),
    neighbourhood=Integer(10),
    batch=Integer(1),
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
    condition on their path is negated in turn while the others are kept (local). Where nobody found is left and
    no seed, the conditions of those tested are negated from the root with those above kept, as long as the share
    of rows that take the same branch is at least `confidence` (global). Conditions are intervals, so "solving" them is
    moving the person into the box: exact, without a solver. Local children keep everything else; global ones take a
    random value in the interval.

    People are tested `batch` at a time, a fifth of those waiting when these are more. On tables LIME's neighbourhood
    does not depend on the person it explains, so people share a tree; a fresh one is made each time that three
    times as many were found as for the last. Of people found, the first in every leaf comes before the second, and
    those on paths that are least sure come first.

    Parameters
    ----------
    cluster_num
        Clusters of the data that seeds are drawn from in rotation.
    max_seeds
        Maximum number of seeds.
    confidence
        Share of rows that must take the same branch for a condition to be negated.
    neighbourhood
        Rows that the surrogate tree is fitted to.
    batch
        People tested at a time.
    """
    seeds = space.clusters(cluster_num, max_seeds)
    queue = _Queue(len(space.domain))
    tested: list[Floats] = []
    generated = {"local": 0, "seed": 0, "global": 0}
    space.facts["generated"] = generated
    total = fitted_at = 0
    while True:
        if queue.waiting:
            kind, rows = "local", queue.next(max(batch, min(MAX_WAITING, int(PART * queue.waiting))))
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
        answer = yield space.fresh(rows)[0]
        generated[kind] += int(answer.fresh.sum())
        tested.append(answer.rows)
        found = answer.discovered
        if len(found):
            total += len(found)
            if total >= RENEW * fitted_at:
                surrogate, fitted_at = Surrogate(space, found, neighbourhood), total
            queue.add(surrogate, found)


class _Queue:
    """People found whose children were not generated yet: they are generated when needed.

    The first of every leaf come before the second, those on the least sure paths first, then those found first.
    """

    def __init__(self, width: int) -> None:
        self.waiting = 0
        self._trees: list[Surrogate] = []
        self._rows, self._rank = Stack((width,)), Stack(())
        self._facts = Stack((4,), np.intp)  # turn, tree, path, conditions
        self._left: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def add(self, surrogate: Surrogate, rows: Floats) -> None:
        """Put people into the queue."""
        if not self._trees or self._trees[-1] is not surrogate:
            self._trees.append(surrogate)
        index = surrogate.index(rows)
        length = surrogate.every.length[index]
        tree = np.full(len(rows), len(self._trees) - 1)
        self._left = np.concatenate([self._left, np.arange(len(self._rows), len(self._rows) + len(rows))])
        self._rows.add(rows)
        self._rank.add(surrogate.every.confidence[index])
        self._facts.add(np.stack([_turns(index), tree, index, length], axis=1))
        self.waiting += int(length.sum())

    def next(self, n: int) -> Floats:
        """Children of the first in the queue, about `n`; fewer where the queue ends."""
        facts = self._facts.rows[self._left]
        turn, length = facts[:, 0], facts[:, 3]
        # the last turn that is needed: only people up to it have to be put in order
        last = int(np.searchsorted(np.cumsum(sum_by(turn, length, int(turn.max(initial=0)) + 1)), n))
        some = np.flatnonzero(turn <= last)
        some = some[np.lexsort((self._rank.rows[self._left[some]], turn[some]))]
        some = some[: int(np.searchsorted(np.cumsum(length[some]), n)) + 1]
        rows, tree, index = self._rows.rows[self._left[some]], facts[some, 1], facts[some, 2]
        self._left = np.delete(self._left, some)
        self.waiting -= int(length[some].sum())
        return np.concatenate(
            [self._trees[one].local(rows[tree == one], index[tree == one]) for one in np.unique(tree)]
        )


def _turns(leaf: NDArray[np.intp]) -> NDArray[np.intp]:
    """The how-manieth of their leaf everyone is.

    >>> _turns(np.array([5, 3, 5, 5, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(leaf, kind="stable")
    ranked = leaf[order]
    turn = np.empty(len(leaf), dtype=np.intp)
    turn[order] = np.arange(len(leaf)) - np.searchsorted(ranked, ranked)
    return turn
