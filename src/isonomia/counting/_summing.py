"""The inner loop of every tally, in chunks of rows that stay in the processor's cache.

The codes of a chunk are folded into one composite code, and the composite is counted. Nothing of the size of the rows
is built beyond the codes themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    totals: Totals = {key: np.zeros(cells, dtype=float if factors else np.int64) for key, factors in terms.items()}
    composite = np.empty(min(rows, CHUNK_ROWS), dtype=smallest(cells + 1))  # the size of an axis must fit too
    buffer = np.empty(len(composite), dtype=np.intp)
    for start in range(0, rows, CHUNK_ROWS):
        part = slice(start, min(rows, start + CHUNK_ROWS))
        codes = _fold(arrays, shape, part, composite)
        for key, factors in terms.items():
            if factors:
                totals[key] += np.bincount(codes, weights=multiplied(factors, part), minlength=cells)
            else:
                totals[key] += count_codes(codes, cells, buffer)
    totals["n",] = totals["n",].astype(np.int64, copy=False)
    return totals


def multiplied(factors: Sequence[NDArray[Any]], part: slice = slice(None)) -> NDArray[Any]:
    """The product of some arrays, on some of the rows."""
    out = factors[0][part]
    for factor in factors[1:]:
        out = out * factor[part]
    return out


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
