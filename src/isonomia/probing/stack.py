"""An array that grows at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

#: Room of an array that holds something.
LEAST = 1024


class Stack:
    """Rows of one array, added at the end; room doubles, so that adding a few does not move all.

    >>> stack = Stack((), int)
    >>> stack.add(np.array([4, 5]))
    >>> stack.add(np.array([6]))
    >>> stack.rows.tolist(), len(stack)
    ([4, 5, 6], 3)
    """

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike = float) -> None:
        self._array: NDArray[Any] = np.empty((0, *shape), dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> NDArray[Any]:
        """All rows: a view, valid until rows are added."""
        return self._array[: self._count]

    def add(self, rows: NDArray[Any]) -> None:
        """Put rows at the end."""
        start, self._count = self._count, self._count + len(rows)
        if self._count > len(self._array):
            larger = np.empty((max(LEAST, 2 * self._count), *self._array.shape[1:]), dtype=self._array.dtype)
            larger[:start] = self._array[:start]
            self._array = larger
        self._array[start : self._count] = rows
