"""Families of row sets: groups, intersections, slices, bins, periods and thresholds over one table of cells.

Rows are counted once into cells that do not overlap. A set of rows is a union of cells, so its counts are sums of cell
counts, and so are its bootstrap replicates: one draw of the cells serves every set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Axis, Codes, Tally, composite, tally
from isonomia.metrics.row_sums import Rows
from isonomia.typing import Floats

#: Above this many cells the columns are folded into the combinations that occur before they are counted.
_DENSE_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class RowSets:
    """S sets of rows.

    Attributes
    ----------
    rows : Rows
        Labels, predictions and weights. Metrics of counts never read them.
    columns : tuple of Codes
        Their combinations that occur are the cells; without columns all rows are one cell.
    counts : Tally
        Cells x true x predicted. One true row without labels, one predicted column without decisions.
    membership : (cells, S) array, optional
        1 where a cell belongs to a set. Without it every cell is a set.

    Examples
    --------
    >>> from isonomia.models import Surface
    >>> rows = Rows(np.array([0, 1, 1]), Surface.of_labels([0, 1, 0], classes=(0, 1)))
    >>> sets = RowSets.of(rows, [Codes.encode(["a", "b", "b"])])
    >>> sets.tables(sets.counts.n).tolist()
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]]
    """

    rows: Rows
    columns: tuple[Codes, ...]
    counts: Tally
    membership: Floats | None = None

    @classmethod
    def of(
        cls, rows: Rows, columns: Sequence[Codes] = (), membership: Floats | None = None, *, empty: bool = False
    ) -> RowSets:
        """Count the rows, in one pass; with `empty` also combinations that do not occur are cells."""
        classes = tuple(range(len(rows.surface.classes)))
        asked: list[Codes] = []
        if rows.surface.label is not None:
            predicted = Codes("predicted", rows.surface.label, classes)
            asked = [predicted] if rows.truth is None else [Codes("true", rows.truth, classes), predicted]
        return cls(rows, tuple(columns), _count(columns, asked, rows, empty), membership)

    def of_cells(self, membership: Floats) -> RowSets:
        """Other sets of the same cells."""
        return replace(self, membership=membership)

    def __len__(self) -> int:
        return len(self.counts.n) if self.membership is None else self.membership.shape[1]

    @cached_property
    def cells(self) -> Codes:
        """The cell of each row."""
        if not self.columns:
            return Codes("", np.zeros(len(self.rows), dtype=np.uint8), ((),))
        if len(self.columns) > 1:
            return composite(self.columns)
        only = self.columns[0]
        return only if only.size == len(self.counts.n) else only.observed()

    @cached_property
    def members(self) -> Floats:
        """(S, cells): 1 where a cell belongs to a set."""
        return np.eye(len(self.counts.n)) if self.membership is None else np.ascontiguousarray(self.membership.T)

    @property
    def numbers(self) -> int:
        """How many numbers one replicate of all tables takes."""
        return max(len(self), len(self.counts.n)) * int(self.counts.n[0].size)

    def sums(self, of_cells: NDArray[Any]) -> Floats:
        """Sums over the cells (cells, ...) of each set (S, ...)."""
        if self.membership is None:
            return np.asarray(of_cells, dtype=float)
        flat: Floats = self.members @ of_cells.reshape(len(of_cells), -1)
        return flat.reshape(len(self), *of_cells.shape[1:])

    def tables(self, of_cells: NDArray[Any]) -> Floats:
        """The confusion tables (S, R, K) of the sets, from an array like `counts.n`."""
        return self.sums(of_cells)

    def replicated_tables(self, drawn: NDArray[Any]) -> Floats:
        """The confusion tables (S, B, R, K) from B replicates of the cells (B, cells, R, K)."""
        n_boot, size, r, k = drawn.shape
        # laid out cell of the table first: metrics add whole (sets, replicates) planes instead of short rows
        planes = self.members @ np.ascontiguousarray(drawn.reshape(n_boot, size, -1).transpose(2, 1, 0), dtype=float)
        return np.moveaxis(planes.reshape(r, k, len(self), n_boot), (0, 1), (2, 3))

    def each(self) -> Iterator[tuple[int, Any]]:
        """Each set and its rows, for metrics that do not add up."""
        codes = self.cells.codes
        if self.membership is not None:
            for index in range(len(self)):
                yield index, (self.membership[:, index] > 0)[codes]
            return
        order = np.argsort(codes, kind="stable")
        counts = self.cells.counts()
        for index, (stop, count) in enumerate(zip(np.cumsum(counts), counts, strict=True)):
            yield index, order[stop - count : stop]


def _count(columns: Sequence[Codes], asked: Sequence[Codes], rows: Rows, empty: bool) -> Tally:
    shape, ends = tuple(column.size for column in columns), tuple(column.size for column in asked)
    dense = int(np.prod((*shape, *ends), dtype=object)) <= _DENSE_CELLS
    if not columns and not asked:  # all rows are one cell
        asked, ends = [Codes("all", np.zeros(len(rows), dtype=np.uint8), (0,))], (1,)
    table = tally([*columns, *asked] if dense else [composite(columns), *asked], weights=rows.weights)
    tail = (1,) * (2 - len(ends)) + ends
    n = table.n.reshape(-1, *tail)
    used = np.arange(len(n)) if empty or not columns else np.flatnonzero(n.any(axis=(1, 2)))
    if dense:
        index = [part.tolist() for part in np.unravel_index(used, shape)] if shape else []
        parts = [[column.labels[i] for i in part] for column, part in zip(columns, index, strict=True)]
        labels = tuple(zip(*parts, strict=True)) if parts else ((),)
    else:
        labels = table.axes[0].labels
    axes = (Axis("cell", labels), *(Axis(name, tuple(range(size))) for name, size in zip(_ENDS, tail, strict=True)))
    w, w2 = (array.reshape(-1, *tail)[used] for array in (table.w, table.w2))
    return Tally(axes, n[used], w, w2, weighted=table.weighted)


_ENDS = ("true", "predicted")
