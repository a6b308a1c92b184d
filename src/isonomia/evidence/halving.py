"""Brackets that are halved, for whole arrays, several halvings in one call."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Bools, Floats

#: So many points are tried in one call, at least: below this a call costs about the same however many points it has.
AT_ONCE = 4096
#: At most so many halvings in one call, which try 2^k - 1 points for each bracket.
MOST = 5


def halve(
    passes: Callable[[Floats], NDArray[np.bool_]], start: Floats, end: Floats, halvings: int
) -> tuple[Floats, Floats]:
    """Brackets after so many halvings: where the middle passes it becomes the end, elsewhere the start.

    Parameters
    ----------
    passes : callable
        Points (K, ...), K for each bracket, to whether each passes.
    start, end : arrays of one shape
    halvings : int

    Examples
    --------
    >>> start, end = halve(lambda x: x * x >= 2, np.array([0.0]), np.array([2.0]), 40)
    >>> round(float(end[0]), 9)
    1.414213562
    """
    while halvings > 0:
        depth = min(int(np.clip(np.log2(AT_ONCE / max(start.size, 1)), 1, MOST)), halvings)
        width = (end - start) / (1 << depth)
        points = np.arange(1, 1 << depth).reshape(-1, *(1,) * start.ndim) * width + start
        index = _first(passes(points), depth)
        start, end = start + index * width, start + (index + 1) * width
        halvings -= depth
    return start, end


def _first(passed: Bools, depth: int) -> NDArray[np.int64]:
    """Which of 2^depth parts halving ends in: the path counts, should points not pass from one of them on."""
    flat = passed.reshape(len(passed), -1)
    index, column = np.zeros(flat.shape[1], dtype=np.int64), np.arange(flat.shape[1])
    for half in range(depth - 1, -1, -1):
        index += ~flat[index + (1 << half) - 1, column] * (1 << half)
    return index.reshape(passed.shape[1:])
