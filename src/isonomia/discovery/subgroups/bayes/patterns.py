"""Discrimination patterns: where knowing somebody's sensitive attributes changes a naive Bayes decision.

A pattern is an assignment x of some sensitive features and an assignment y of some other features (sensitive ones
may be among them). Its discrimination is Delta = P(d | x, y) - P(d | y).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

Ints = NDArray[np.int32]


class Figures(NamedTuple):
    """What is known of each pattern."""

    delta: Floats
    probability: Floats
    divergence: Floats
    with_x: Floats
    without_x: Floats


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns, the best first.

    Attributes
    ----------
    assigned : array (patterns, features)
        The code of a feature in y; its number of values plus the code where it is in x; -1 where it is in neither.
    discrimination : array
        P(d | x, y) - P(d | y), signed.
    probability : array
        P(x, y).
    divergence : array
        How far the nearest distribution without this pattern is (bits).
    with_x, without_x : arrays
        P(d | x, y) and P(d | y).
    nodes : int
        Patterns whose figures were computed.
    complete : bool
        False where the time limit, or the limit on patterns, ended the search.
    """

    assigned: Ints
    discrimination: Floats
    probability: Floats
    divergence: Floats
    with_x: Floats
    without_x: Floats
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    nodes: int
    complete: bool

    def __len__(self) -> int:
        return len(self.discrimination)

    def sensitive(self, index: int) -> dict[str, int]:
        """x: feature -> code."""
        return {
            self.names[j]: int(code) - self.sizes[j]
            for j, code in enumerate(self.assigned[index])
            if code >= self.sizes[j]
        }

    def context(self, index: int) -> dict[str, int]:
        """y: feature -> code."""
        return {self.names[j]: int(code) for j, code in enumerate(self.assigned[index]) if 0 <= code < self.sizes[j]}


def possible_patterns(sizes: Sequence[int], sensitive: Sequence[bool], max_l: int | None = None) -> int:
    """How many patterns there are: assignments with at least one sensitive feature in x.

    >>> possible_patterns([2] * 7, [True] * 4 + [False] * 3)
    14688
    """
    longest = len(sizes) if max_l is None else max_l
    with_x, without = [1] + [0] * longest, [1] + [0] * longest
    for size, special in zip(sizes, sensitive, strict=True):
        with_x = [with_x[i] + (with_x[i - 1] * size * (2 if special else 1) if i else 0) for i in range(longest + 1)]
        without = [without[i] + (without[i - 1] * size if i else 0) for i in range(longest + 1)]
    return sum(with_x) - sum(without)
