"""Sums over groups of rows: the hottest loop of the package.

A tally walks the rows once, in chunks that stay in the processor's cache: the codes of a chunk are folded into one
composite code, and the composite is counted. Nothing the size of the rows is built beyond the codes themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting._packing import count_codes
from isonomia.counting.codes import Codes, smallest
from isonomia.errors import DataError

#: Rows folded at a time: the composite codes of a chunk fit in the second-level cache, and what is made of them stays
#: below 128 KB, beyond which the C library gets fresh memory for every array.
CHUNK_ROWS = 31 << 12
#: A dense table of more cells than this is refused; compress the axes first.
MAX_CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a tally: a column's name and the labels along it."""

    name: str
    labels: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts, weighted counts and sums in every cell of a cross table.

    Attributes
    ----------
    axes : tuple of Axis
        The directions of every array below.
    n : array of int
        Rows in each cell.
    w : array of float
        Their weights' sum (equal to `n` where rows carry no weights).
    w2 : array of float
        The sum of their squared weights.
    sums : mapping
        For each value column v: the sum of weight * v. For means and their variance ask `tally` for v and v**2.
    weighted : bool
        Whether rows carried weights.

    Examples
    --------
    >>> t = tally([Codes.encode(["F", "M", "F"], name="sex"), Codes.encode([0, 1, 1], name="hired")])
    >>> t.n.tolist()
    [[1, 1], [0, 1]]
    >>> t.over("sex").n.tolist()
    [2, 1]
    """

    axes: tuple[Axis, ...]
    n: NDArray[np.int64]
    w: NDArray[Any]
    w2: NDArray[Any]
    sums: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    weighted: bool = False

    def position(self, name: str) -> int:
        """The position of an axis."""
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise DataError(f"The tally has no axis '{name}'; it has {', '.join(names)}.")
        return names.index(name)

    def over(self, *names: str) -> Tally:
        """Sum over every other axis; the kept axes come in the order of `names`."""
        kept = [self.position(name) for name in names]
        dropped = tuple(index for index in range(len(self.axes)) if index not in kept)
        order = [sorted(kept).index(index) for index in kept]

        def fold(array: NDArray[Any]) -> NDArray[Any]:
            return np.transpose(array.sum(axis=dropped) if dropped else array, order)

        n = fold(self.n)
        w, w2 = (fold(self.w), fold(self.w2)) if self.weighted else (n, n)
        sums = {name: fold(total) for name, total in self.sums.items()}
        return Tally(tuple(self.axes[i] for i in kept), n, w, w2, sums, self.weighted)


def tally(
    columns: Sequence[Codes],
    *,
    weights: NDArray[np.float64] | None = None,
    values: Mapping[str, NDArray[np.float64]] | None = None,
) -> Tally:
    """Cross-tabulate columns of codes, and sum values over the cells, in one pass.

    Parameters
    ----------
    columns : sequence of Codes
        The axes of the table, all of one length.
    weights : array, optional
        One weight a row.
    values : mapping of arrays, optional
        Row values to sum over each cell (times the weight).
    """
    rows = _common_length(columns, weights, values or {})
    shape = tuple(column.size for column in columns)
    cells = int(np.prod(shape, dtype=object)) if shape else 1
    if cells > MAX_CELLS:
        raise DataError(
            f"A table of {' x '.join(map(str, shape))} cells is too large to count densely (at most {MAX_CELLS:,}). "
            "Use fewer columns, or merge rare values."
        )
    arrays = [column.codes for column in columns]
    axes = tuple(Axis(column.name, column.labels) for column in columns)
    n = np.zeros(cells, dtype=np.int64)
    w, w2 = np.zeros(cells), np.zeros(cells)
    sums = {name: np.zeros(cells) for name in values or {}}
    buffer = np.empty(min(rows, CHUNK_ROWS), dtype=smallest(max(cells, 1)))
    room = np.empty(len(buffer), dtype=np.intp)
    for start in range(0, rows, CHUNK_ROWS):
        part = slice(start, min(rows, start + CHUNK_ROWS))
        composite = _fold(arrays, shape, part, buffer)
        n += count_codes(composite, cells, room)
        weight = None
        if weights is not None:
            weight = weights[part]
            w += np.bincount(composite, weights=weight, minlength=cells)
            w2 += np.bincount(composite, weights=weight * weight, minlength=cells)
        for name, total in sums.items():
            value = (values or {})[name][part]
            total += np.bincount(composite, weights=value if weight is None else value * weight, minlength=cells)
    n = n.reshape(shape)
    shaped = {name: total.reshape(shape) for name, total in sums.items()}
    if weights is None:
        return Tally(axes, n, n, n, shaped)
    return Tally(axes, n, w.reshape(shape), w2.reshape(shape), shaped, weighted=True)


def composite(columns: Sequence[Codes], *, name: str | None = None) -> Codes:
    """Several columns as one whose labels are the tuples that occur, in order.

    >>> pair = composite([Codes.encode(["F", "M", "F"], name="sex"), Codes.encode([1, 1, 0], name="old")])
    >>> pair.name, pair.labels
    ('sex x old', (('F', 0), ('F', 1), ('M', 1)))
    """
    rows = _common_length(columns, None, {})
    codes: NDArray[Any] = columns[0].codes
    used: list[NDArray[np.int64]] = [np.arange(columns[0].size)]
    size = columns[0].size
    for column in columns[1:]:
        cells = size * column.size
        wide = codes.astype(smallest(cells)) * column.size + column.codes
        if cells <= MAX_CELLS:
            occurs = np.flatnonzero(np.bincount(wide, minlength=cells))
            table = np.zeros(cells, dtype=smallest(max(occurs.size, 1)))
            table[occurs] = np.arange(occurs.size)
            codes = table[wide]
        else:
            occurs, inverse = np.unique(wide, return_inverse=True)
            codes = inverse.astype(smallest(occurs.size))
        used = [part[occurs // column.size] for part in used] + [occurs % column.size]
        size = occurs.size
    if len(columns) == 1:
        labels = tuple((label,) for label in columns[0].labels)
    else:
        parts = [[column.labels[i] for i in part] for column, part in zip(columns, used, strict=True)]
        labels = tuple(zip(*parts, strict=True)) if rows else ()
    return Codes(name or " x ".join(column.name for column in columns), codes, labels)


def _fold(arrays: Sequence[NDArray[Any]], shape: tuple[int, ...], part: slice, buffer: NDArray[Any]) -> NDArray[Any]:
    out = buffer[: part.stop - part.start]
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


def _common_length(columns: Sequence[Codes], weights: NDArray[Any] | None, values: Mapping[str, NDArray[Any]]) -> int:
    lengths = {column.name or f"column {i + 1}": len(column) for i, column in enumerate(columns)}
    lengths |= {name: len(value) for name, value in values.items()}
    if weights is not None:
        lengths["weights"] = len(weights)
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise DataError(f"All columns need one value a row, but their lengths differ ({told}).")
    return next(iter(lengths.values()), 0)
