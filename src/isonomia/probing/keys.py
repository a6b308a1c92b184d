"""Rows as 64-bit keys, which identify people who were tested before."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from isonomia.probing.domain import Domain
from isonomia.typing import Floats

Keys = NDArray[np.uint64]


class Keyer:
    """Rows to 64-bit keys over some of the columns.

    Where the columns are whole numbers and few enough, the key is the exact mixed-radix number of the row, stirred so
    that keys spread evenly (one to one: no two rows share a key). Otherwise it is a 64-bit hash: among ten million rows
    the chance that any two share a key is below one in 300,000, and the harm would be one test left out.
    """

    def __init__(self, domain: Domain, columns: NDArray[np.intp]) -> None:
        self.columns = columns
        sizes = [domain.features[int(index)].size for index in columns]
        known = [size for size in sizes if size is not None]
        whole = not domain.may_miss.any() and len(known) == len(sizes) and math.prod(known) < 2**63
        self._parts = _exact_parts(domain, columns, known) if whole else None
        self.exact = self._parts is not None
        #: The change of the key per unit of each column, where keys are exact.
        self.radix = np.zeros(len(domain), dtype=np.uint64)
        for weight, _, scale in self._parts or []:
            self.radix += weight.astype(np.uint64) * scale

    def moved(self, rows: Floats, column: NDArray[np.intp], change: Floats, index: NDArray[np.intp]) -> Keys:
        """Keys of rows moved in one of the columns (m,) by the change, (m,) or (n, m), without making them where exact.

        `index` selects some of the n x m moves, counted row by row.
        """
        if self._parts is None:
            row, move = np.divmod(index, len(column))
            moved = rows[row]
            moved[np.arange(len(row)), column[move]] += change[move] if change.ndim == 1 else change[row, move]
            return self(moved)
        units = change.astype(np.int64).astype(np.uint64) * self.radix[column]  # downwards wraps round, and back
        return _mix((self._number(rows, self._parts)[:, None] + units).ravel().take(index))

    def __call__(self, rows: Floats) -> Keys:
        if self._parts is not None:
            return _mix(self._number(rows, self._parts))
        part = rows[:, self.columns]
        clean = np.where(np.isnan(part), np.nan, part + 0.0)
        bits = np.ascontiguousarray(clean).view(np.uint64)
        key = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
        for index in range(bits.shape[1]):
            key = _mix(key ^ _mix(bits[:, index] + np.uint64(index + 1)))
        return key

    def _number(self, rows: Floats, parts: list[tuple[Floats, float, np.uint64]]) -> Keys:
        """The mixed-radix number of each row."""
        number = np.zeros(len(rows), dtype=np.uint64)
        for weight, offset, scale in parts:
            part = np.einsum("ij,j->i", rows, weight)  # as quick as a product of matrices, without its threads
            number += (part - offset).astype(np.uint64) * scale
        return number


def _exact_parts(
    domain: Domain, columns: NDArray[np.intp], sizes: list[int]
) -> list[tuple[Floats, float, np.uint64]] | None:
    """Parts of a row's number: the weights of the columns, what to subtract, and the scale of the part.

    The number of a row is a sum of products. Split into parts that stay below 2**52, every one of them is exact in
    floats, in whatever order it is added up.
    """
    weights, scales, radix, span = [np.zeros(len(domain))], [1], 1, 0
    for column, size in zip(columns, sizes, strict=True):
        largest = int(max(abs(domain.low[column]), abs(domain.high[column]), 1))
        inner = radix // scales[-1]
        if span + largest * inner > 2**52:
            weights.append(np.zeros(len(domain)))
            scales.append(radix)
            inner = span = 1
            if largest > 2**51:
                return None
        weights[-1][column] = inner
        span += largest * inner
        radix *= size
    return [(part, float(domain.low @ part), np.uint64(scale)) for part, scale in zip(weights, scales, strict=True)]


def _mix(values: Keys) -> Keys:
    """The finaliser of splitmix64: every bit of the input moves every bit of the output, one to one."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
