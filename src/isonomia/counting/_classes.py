"""Rows with the same values of all quantities, where these are few: classes that bits can count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

#: More different row values than this (over all quantities together) are summed by cells, not counted by bits.
MAX_CLASSES = 16


def row_classes(values: Sequence[Floats], n: int, *, counted: bool) -> tuple[NDArray[Any], Floats] | None:
    """Classes of rows by the values of all quantities, or None where there are too many."""
    classes = np.zeros(n, dtype=np.uint8)
    table = np.ones((1, 1)) if counted else np.empty((1, 0))
    for value in values:
        few = _few_values(value)
        if few is None:
            return None
        different, codes = few
        both = classes * np.uint8(different.size) + codes
        if len(table) * different.size > 255:
            return None
        used = np.flatnonzero(np.bincount(both, minlength=len(table) * different.size))
        number = np.zeros(len(table) * different.size, dtype=np.uint8)
        number[used] = np.arange(used.size)
        classes = number[both]
        table = np.column_stack([table[used // different.size], different[used % different.size]])
        if used.size > MAX_CLASSES:
            return None
    return classes, table


def _few_values(value: Floats) -> tuple[Floats, NDArray[np.uint8]] | None:
    """The distinct values and their codes, where there are few; the first rows decide most cases."""
    sample = np.unique(value[:4096])
    if sample.size > MAX_CLASSES:
        return None
    if sample.size <= 2 and np.isin(sample, (0.0, 1.0)).all():
        ones = value == 1.0
        if bool((ones | (value == 0.0)).all()):
            return np.array([0.0, 1.0]), ones.view(np.uint8)
    different, codes = np.unique(value, return_inverse=True)
    return None if different.size > MAX_CLASSES else (different, codes.astype(np.uint8))
