"""KOSEI: from every person treated differently, all their neighbours, and so on: a flood."""

from __future__ import annotations

from collections import deque

import numpy as np

from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.space import NOMINAL_MOVES, NominalMoves, Space
from isonomia.parameters import Choice, Integer, validated
from isonomia.probing import Search
from isonomia.typing import Floats

#: People whose neighbours are tested together.
BATCH = 1024


@pair_method(
    "kosei",
    "uniform people, then a breadth-first flood through all neighbours of those found",
    reference="Sano, Kitamura & Takada, Fairness testing for machine learning, SEKE 2022, "
    "doi:10.18293/SEKE2022-064 (Keeper Of Systematic Equality Investigation)",
)
@validated(num_samples=Integer(1), local_search_limit=Integer(0), nominal_moves=Choice(NOMINAL_MOVES))
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

    Parameters
    ----------
    num_samples
        People drawn uniformly.
    local_search_limit
        Tests allowed for each person found at first.
    nominal_moves
        Move of a category: to the next value (unit) or any other (any).
    """
    answer = yield space.drawn(num_samples)
    space.facts.update(uniform_tests=int(answer.fresh.sum()), uniform_found=int((answer.found & answer.fresh).sum()))
    queue = Queue()
    queue.push(answer.discovered)
    left = local_search_limit * len(queue)
    branching = max(1, 2 * len(space.movable))
    while len(queue) and left > 0:
        size = int(np.clip(-(-left // branching), 1, BATCH))
        answer = yield space.neighbours(queue.pop(size), nominal_moves=nominal_moves)
        left -= int(answer.fresh.sum())
        queue.push(answer.discovered)


class Queue:
    """People waiting, first in first out, without moving those that wait.

    >>> queue = Queue()
    >>> queue.push(np.arange(3.0)[:, None])
    >>> queue.push(np.array([[9.0]]))
    >>> queue.pop(2).ravel().tolist(), queue.pop(5).ravel().tolist(), len(queue)
    ([0.0, 1.0], [2.0, 9.0], 0)
    """

    def __init__(self) -> None:
        self._blocks: deque[Floats] = deque()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, rows: Floats) -> None:
        """Add rows at the end."""
        self._blocks.append(rows)
        self._count += len(rows)

    def pop(self, n: int) -> Floats:
        """Take up to `n` rows from the front."""
        taken: list[Floats] = []
        while self._blocks and n > 0:
            block = self._blocks.popleft()
            taken.append(block[:n])
            if len(block) > n:
                self._blocks.appendleft(block[n:])
            n -= len(taken[-1])
            self._count -= len(taken[-1])
        return np.concatenate(taken)
