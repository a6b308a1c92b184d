"""The inner loop of every tally, in chunks of rows that stay in the processor's cache.

The codes of a chunk are folded into one composite code, and the composite is counted. Nothing of the size of the rows
is built beyond the codes themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting._packing import count_codes
from isonomia.counting.codes import Codes, smallest
from isonomia.errors import DataError
from isonomia.typing import Floats

#: Rows per chunk: its composite codes fit in the second-level cache, and arrays made from them stay below 128 KB,
#: beyond which the C library allocates fresh memory for every array.
CHUNK_ROWS = 31 << 12
#: Columns of so few rows are summed one by one.
_FEW_ROWS = 4096

#: The name of a total: ("n",), ("w",), ("w2",), ("sum", v), ("product", v) or ("product", u, v).
Key = tuple[str, ...]
#: What to add up over the rows of each cell: the product of some arrays, or 1 where there are none.
Terms = Mapping[Key, Sequence[NDArray[Any]]]
Totals = dict[Key, NDArray[Any]]


def row_terms(
    columns: Sequence[Codes],
    *,
    weights: Any = None,
    values: Mapping[str, Any] | None = None,
    counts: Any = None,
    products: bool = False,
) -> tuple[int, dict[Key, list[NDArray[Any]]]]:
    """The number of rows, and what to add up over them; see `Cells.of`."""
    times = [] if counts is None else [check_counts(counts)]
    weight = [] if weights is None else [np.asarray(weights, dtype=float)]
    numbers = {name: np.asarray(value, dtype=float) for name, value in (values or {}).items()}
    named = {**numbers, **dict(zip(["weights"], weight, strict=False)), **dict(zip(["counts"], times, strict=False))}
    rows = common_length(columns, named)
    terms: dict[Key, list[NDArray[Any]]] = {("n",): times}
    if weight:
        terms |= {("w",): [*weight, *times], ("w2",): [*weight, *weight, *times]}
    for name, value in numbers.items():
        terms["sum", name] = [value, *weight, *times]
    if products:
        for name, value in numbers.items():
            terms["product", name] = [value, *weight, *weight, *times]
        for (u, first), (v, second) in combinations_with_replacement(numbers.items(), 2):
            terms["product", u, v] = [first, second, *weight, *weight, *times]
    return rows, terms


def sum_rows(columns: Sequence[Codes], rows: int, terms: Terms) -> Totals:
    """The sum of every term over the rows of each cell of the dense table over `columns`, flat."""
    shape = tuple(column.size for column in columns)
    cells = cell_count(columns)
    arrays = [column.codes for column in columns]
    totals: Totals = {
        key: np.zeros((cells, *factors[0].shape[1:])) if factors else np.zeros(cells, dtype=np.int64)
        for key, factors in terms.items()
    }
    composite = np.empty(min(rows, CHUNK_ROWS), dtype=smallest(cells + 1))  # the size of an axis must fit too
    buffer = np.empty(len(composite), dtype=np.intp)
    together = _Columns(len(composite), cells)
    for start in range(0, rows, CHUNK_ROWS):
        part = slice(start, min(rows, start + CHUNK_ROWS))
        codes = _fold(arrays, shape, part, composite)
        for key, factors in terms.items():
            if factors:
                values = multiplied(factors, part)
                if values.ndim == 1:
                    totals[key] += np.bincount(codes, weights=values, minlength=cells)
                else:
                    totals[key] += together.sums(codes, values)
            else:
                totals[key] += count_codes(codes, cells, buffer)
    totals["n",] = totals["n",].astype(np.int64, copy=False)
    return totals


def multiplied(factors: Sequence[NDArray[Any]], part: slice = slice(None)) -> NDArray[Any]:
    """The product of some arrays, on some of the rows; the first may have several columns."""
    out = factors[0][part]
    for factor in factors[1:]:
        out = out * (factor[part] if out.ndim == 1 else factor[part][:, None])
    return out


class _Columns:
    """Several columns of values summed by code in one pass: a product with the table of which row is in which cell.

    The product adds rows in their order, as `np.bincount` does: the sums are the same to the last bit.
    """

    def __init__(self, rows: int, cells: int) -> None:
        self._rows, self._cells = rows, cells

    @cached_property
    def _ones(self) -> Floats:
        return np.ones(self._rows)

    @cached_property
    def _starts(self) -> NDArray[np.int32]:
        return np.arange(self._rows + 1, dtype=np.int32)

    def sums(self, codes: NDArray[Any], values: Floats) -> Floats:
        """The sums (cells, k) of values (rows, k)."""
        rows = len(values)
        if rows < _FEW_ROWS:
            return np.stack([np.bincount(codes, weights=one, minlength=self._cells) for one in values.T], axis=1)
        from scipy.sparse import csc_array

        parts = self._ones[:rows], codes.astype(np.int32), self._starts[: rows + 1]
        return np.asarray(csc_array(parts, shape=(self._cells, rows)) @ values)


def cell_count(columns: Sequence[Codes]) -> int:
    """How many cells the dense table over some columns has."""
    return int(np.prod([column.size for column in columns], dtype=object)) if columns else 1


def distinct_combinations(columns: Sequence[Codes], max_cells: int) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    """For each row the number of its combination of codes, and for each column the code of every combination.

    Only combinations that occur are numbered, in the order of their codes.
    """
    codes: NDArray[Any] = columns[0].codes
    size = columns[0].size
    parts: list[NDArray[np.int64]] = [np.arange(size)]
    for column in columns[1:]:
        cells = size * column.size
        wide = codes.astype(smallest(cells + 1)) * column.size + column.codes
        if cells <= max_cells:
            occurs = np.flatnonzero(np.bincount(wide, minlength=cells))
            table = np.zeros(cells, dtype=smallest(max(occurs.size, 1)))
            table[occurs] = np.arange(occurs.size)
            codes = table[wide]
        else:
            occurs, inverse = np.unique(wide, return_inverse=True)
            codes = inverse.astype(smallest(occurs.size))
        parts = [part[occurs // column.size] for part in parts] + [occurs % column.size]
        size = occurs.size
    return codes, parts


def common_length(columns: Sequence[Codes], arrays: Mapping[str, NDArray[Any]]) -> int:
    """The number of rows that all columns and arrays have; an error where they differ."""
    lengths = {column.name or f"column {i + 1}": len(column) for i, column in enumerate(columns)}
    lengths |= {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise DataError(f"All columns need one value per row, but their lengths differ ({found}).")
    return next(iter(lengths.values()), 0)


def check_counts(counts: Any) -> Floats:
    """Numbers of rows as floats, which hold them exactly up to 2^53."""
    array = np.asarray(counts)
    if array.dtype.kind == "f":
        whole = bool(np.isfinite(array).all()) and bool((array == np.rint(array)).all())
    else:
        whole = array.dtype.kind in "iu"
    if not whole or (array.size and array.min() < 0):
        raise DataError("`counts` must be whole numbers of at least 0: how many rows each entry stands for.")
    return array.astype(float)


def _fold(arrays: Sequence[NDArray[Any]], shape: tuple[int, ...], part: slice, out: NDArray[Any]) -> NDArray[Any]:
    out = out[: part.stop - part.start]
    if not arrays:
        out[:] = 0
        return out
    if len(arrays) == 1:
        return arrays[0][part]
    np.multiply(arrays[0][part], shape[1], out=out, dtype=out.dtype, casting="unsafe")
    np.add(out, arrays[1][part], out=out, dtype=out.dtype, casting="unsafe")
    for array, size in zip(arrays[2:], shape[2:], strict=True):
        np.multiply(out, size, out=out, dtype=out.dtype, casting="unsafe")
        np.add(out, array[part], out=out, dtype=out.dtype, casting="unsafe")
    return out
