"""Counting bytes several rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Up to this many codes, four (or two) rows make one number whose counts stay in the first-level cache.
_FOUR_ROWS = 6
_TWO_ROWS = 64
#: Fewer rows than this are counted one by one.
_MIN_ROWS = 4096


def count_codes(codes: NDArray[Any], cells: int, buffer: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
    """How often each of the codes 0..cells-1 occurs: ``np.bincount(codes, minlength=cells)``, only faster.

    Codes of one byte are read two or four rows at a time: the rows a, b make the number a * cells + b, the numbers are
    counted, and each row's counts are a margin of that table. Counting takes most of the time, and there are half or a
    quarter as many numbers to count. `buffer` is an array at least as long as the codes that is reused from call to
    call: numbers are copied there to be counted, where NumPy would allocate memory every time.

    >>> count_codes(np.array([0, 2, 2, 1], dtype=np.uint8), 3).tolist()
    [1, 1, 2]
    """
    rows = 4 if cells <= _FOUR_ROWS else 2
    if codes.dtype != np.uint8 or cells > _TWO_ROWS or codes.size < _MIN_ROWS or not codes.flags.c_contiguous:
        return np.bincount(_buffered(codes, buffer), minlength=cells)
    whole = codes.size // rows * rows
    numbers = (_four if rows == 4 else _two)(codes[:whole], cells)
    table = np.bincount(_buffered(numbers, buffer), minlength=cells**rows).reshape((cells,) * rows)
    counts = np.bincount(codes[whole:], minlength=cells)
    for axis in range(rows):
        counts += table.sum(axis=tuple(other for other in range(rows) if other != axis))
    return counts


def _buffered(numbers: NDArray[Any], buffer: NDArray[np.intp] | None) -> NDArray[Any]:
    """The numbers, copied to the buffer if there is one and NumPy would copy them."""
    if buffer is None or (numbers.dtype == buffer.dtype and numbers.flags.c_contiguous):
        return numbers
    part = buffer[: numbers.size]
    part[:] = numbers
    return part


def _two(codes: NDArray[np.uint8], cells: int) -> NDArray[np.uint16]:
    pairs = codes.view(np.uint16)
    numbers = pairs & np.uint16(0x00FF)
    numbers *= np.uint16(cells)
    numbers += pairs >> np.uint16(8)
    return numbers


def _four(codes: NDArray[np.uint8], cells: int) -> NDArray[np.uint32]:
    fours = codes.view(np.uint32)
    # two pairs at once, each in its own half of the number
    pairs = fours & np.uint32(0x00FF00FF)
    pairs *= np.uint32(cells)
    pairs += (fours >> np.uint32(8)) & np.uint32(0x00FF00FF)
    numbers = pairs & np.uint32(0xFFFF)
    numbers *= np.uint32(cells * cells)
    numbers += pairs >> np.uint32(16)
    return numbers
