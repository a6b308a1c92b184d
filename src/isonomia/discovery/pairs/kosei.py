"""KOSEI: from every person treated differently, all their neighbours, and so on: a flood."""

from __future__ import annotations

import numpy as np

from isonomia.discovery.pairs.method import at_least, pair_method
from isonomia.discovery.pairs.space import NominalMoves, Space
from isonomia.probing import Search

#: People whose neighbours are tested together.
BATCH = 1024


@pair_method(
    "kosei",
    "uniform people, then a breadth-first flood through all neighbours of those found",
    reference="Sano, Kitamura & Takada, Fairness testing for machine learning, SEKE 2022, "
    "doi:10.18293/SEKE2022-064 (Keeper Of Systematic Equality Investigation)",
)
def kosei(
    space: Space,
    *,
    num_samples: int = 1000,
    local_search_limit: int = 500,
    nominal_moves: NominalMoves = "unit",
) -> Search:
    """Flood the discriminating region by single steps.

    `num_samples` people are drawn uniformly. Those treated differently go into a queue; every neighbour (one unit up
    or down in one attribute) of the first in the queue is tested once, and joins the end of the queue when it is
    treated differently. It ends when the queue is empty or ``local_search_limit`` x (people found at first) tests were
    made, the rule of the authors' code. Neighbours of up to 1,024 people are tested together, so the order differs
    a little from one by one.
    """
    at_least("num_samples", num_samples, 1)
    at_least("local_search_limit", local_search_limit, 0)
    answer = yield space.domain.sample(num_samples, space.rng)
    space.facts.update(uniform_tests=int(answer.fresh.sum()), uniform_found=int((answer.found & answer.fresh).sum()))
    queue = answer.rows[answer.found & answer.fresh]
    left = local_search_limit * len(queue)
    branching = max(1, 2 * len(space.movable))
    while len(queue) and left > 0:
        size = int(np.clip(-(-left // branching), 1, BATCH))
        answer = yield space.neighbours(queue[:size], nominal_moves=nominal_moves)
        left -= int(answer.fresh.sum())
        queue = np.concatenate([queue[size:], answer.rows[answer.found & answer.fresh]])
