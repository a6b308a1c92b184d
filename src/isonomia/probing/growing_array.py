"""An array that grows at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

#: Smallest buffer.
MINIMUM = 1024
#: Growth of a full buffer; memory that is not used yet costs nothing.
GROWTH = 4


class Stack:
    """Rows of one array, added at the end; the buffer grows fourfold, so that adding a few rows does not copy all.

    Added rows are copied when the rows are next read; they must not be changed in between.

    >>> stack = Stack((), int)
    >>> stack.add(np.array([4, 5]))
    >>> stack.add(np.array([6]))
    >>> stack.rows.tolist(), len(stack)
    ([4, 5, 6], 3)
    """

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike = float) -> None:
        self._array: NDArray[Any] = np.empty((0, *shape), dtype=dtype)
        self._filled = self._count = 0
        self._waiting: list[NDArray[Any]] = []

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> NDArray[Any]:
        """All rows: a view, valid until rows are added."""
        if self._count > len(self._array):
            larger = np.empty((max(MINIMUM, GROWTH * self._count), *self._array.shape[1:]), dtype=self._array.dtype)
            larger[: self._filled] = self._array[: self._filled]
            self._array = larger
        for rows in self._waiting:
            self._array[self._filled : self._filled + len(rows)] = rows
            self._filled += len(rows)
        self._waiting.clear()
        return self._array[: self._count]

    def add(self, rows: NDArray[Any]) -> None:
        """Put rows at the end."""
        self._waiting.append(rows)
        self._count += len(rows)
