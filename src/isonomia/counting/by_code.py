"""Counts, sums and means per code, for whatever has a code per row: groups, bins, sets of equal rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.counting._packing import count_codes
from isonomia.typing import Floats

#: Rows counted at a time, at least: a chunk stays in the processor's cache.
_CHUNK = 1 << 16


def count_by(codes: NDArray[Any], size: int, first: int = 0) -> NDArray[np.int64]:
    """How many rows have each of the codes 0..size-1, or first..first+size-1.

    >>> count_by(np.array([0, 2, 2]), 4).tolist()
    [1, 0, 2, 0]
    >>> count_by(np.array([-7, -5, -5]), 4, -7).tolist()
    [1, 0, 2, 0]
    """
    total = np.zeros(size, dtype=np.int64)
    chunk = max(_CHUNK, size)
    buffer = np.empty(min(codes.size, chunk), dtype=np.intp)
    for start in range(0, codes.size, chunk):
        part = codes[start : start + chunk]
        if first:
            part = np.subtract(part, first, out=buffer[: part.size], dtype=np.intp)
        total += count_codes(part, size, buffer)
    return total


def sum_by(codes: NDArray[Any], values: ArrayLike | None, size: int) -> Floats:
    """The sum of the rows' values per code: (size,), or (size, Q) for an array (n, Q). None counts rows.

    >>> sum_by(np.array([0, 2, 2]), np.array([0.5, 1.0, 2.0]), 3).tolist()
    [0.5, 0.0, 3.0]
    >>> sum_by(np.array([0, 1, 1]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 2).tolist()
    [[1.0, 2.0], [8.0, 10.0]]
    """
    if values is None:
        return count_by(codes, size).astype(float)
    numbers = np.asarray(values)
    if numbers.ndim == 2:
        return np.stack([sum_by(codes, column, size) for column in numbers.T], axis=1)
    return np.asarray(np.bincount(codes, weights=numbers, minlength=size), dtype=float)


def mean_by(codes: NDArray[Any], values: ArrayLike, size: int, weights: Floats | None = None) -> Floats:
    """The (weighted) mean of the rows' values per code; NaN for codes without rows.

    >>> mean_by(np.array([0, 2, 2]), np.array([0.5, 1.0, 2.0]), 3).tolist()
    [0.5, nan, 1.5]
    """
    numbers = np.asarray(values)
    total = sum_by(codes, weights, size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sum_by(codes, numbers if weights is None else numbers * weights, size) / total)


def cross_sum(
    first: NDArray[Any], second: NDArray[Any], shape: tuple[int, int], values: ArrayLike | None = None
) -> Floats:
    """The sum of the rows' values per pair of codes: (first, second). None counts rows.

    >>> cross_sum(np.array([0, 1, 1]), np.array([1, 0, 0]), (2, 2)).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    return sum_by(cross_codes(first, second, shape), values, shape[0] * shape[1]).reshape(shape)


def cross_codes(first: NDArray[Any], second: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """One code per pair of codes, in the smallest type: the index into a flattened table of this shape.

    >>> cross_codes(np.array([0, 1, 1]), np.array([1, 0, 2]), (2, 3)).tolist()
    [1, 3, 5]
    >>> cross_codes(np.array([0]), np.array([255]), (1, 256)).tolist()
    [255]
    """
    both = first.astype(np.min_scalar_type(max(shape[0] * shape[1] - 1, shape[1])))  # the size of an axis must fit too
    both *= both.dtype.type(shape[1])
    both += second.astype(both.dtype, copy=False)
    return both
