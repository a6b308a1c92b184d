"""Families of row sets: groups, intersections, slices, bins, periods and thresholds over one table of cells.

Rows are counted once into cells that do not overlap. A set of rows is a union of cells, so its counts are sums of cell
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Axis, Cells, Codes, Tally, composite, tally
from isonomia.metrics.rows import Rows
from isonomia.models import Surface
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
        outcomes: list[Codes] = []
        if rows.surface.label is not None:
            predicted = Codes("predicted", rows.surface.label, classes)
            outcomes = [predicted] if rows.truth is None else [Codes("true", rows.truth, classes), predicted]
        elif not columns:  # all rows are one cell
            outcomes = [Codes("all", np.zeros(len(rows.surface), dtype=np.uint8), (0,))]
        counts = _count(
            columns, outcomes, lambda axes: tally(axes, weights=rows.weights, counts=rows.counts), empty=empty
        )
        return cls(rows=rows, columns=tuple(columns), counts=counts, membership=membership)

    @classmethod
    def of_counts(
        cls, cells: Cells, classes: Sequence[Any], *, true: str | None = "true", predicted: str = "predicted"
    ) -> RowSets:
        """Sets without rows: cells that were counted elsewhere, with axes of true and predicted class codes.

        The other axes are the columns. Only metrics of decisions follow from counts.

        >>> axes = [Codes.encode(["F", "F", "M"], name="sex"), Codes("predicted", np.array([0, 1, 1]), (0, 1))]
        >>> sets = RowSets.of_counts(Cells.of(axes, counts=[30, 10, 20]), ("no", "yes"), true=None)
        >>> sets.tables(sets.counts.n).tolist()
        [[[30.0, 10.0]], [[0.0, 20.0]]]
        """
        outcomes = [cells.column(name) for name in (true, predicted) if name is not None]
        columns = [column for column in cells.columns if column.name not in (true, predicted)]
        counts = _count(columns, outcomes, lambda axes: tally(replace(cells, columns=tuple(axes))), empty=False)
        nobody = np.zeros(0, dtype=np.uint8)
        surface = Surface("binary" if len(classes) == 2 else "multiclass", tuple(classes), label=nobody)
        return cls(rows=Rows(None if true is None else nobody, surface), columns=tuple(columns), counts=counts)

    @property
    def has_rows(self) -> bool:
        """Whether there are rows (each may stand for several), or counts only."""
        return len(self.rows.surface) > 0 or not self.counts.n.any()

    def of_cells(self, membership: Floats) -> RowSets:
        """Other sets of the same cells."""
        return replace(self, membership=membership)

    def __len__(self) -> int:
        return len(self.counts.n) if self.membership is None else self.membership.shape[1]

    @cached_property
    def cells(self) -> Codes:
        """The cell of each row."""
        if not self.columns:
            return Codes("", np.zeros(len(self.rows.surface), dtype=np.uint8), ((),))
        if len(self.columns) > 1:
            return composite(self.columns)
        only = self.columns[0]
        return only if only.size == len(self.counts.n) else only.observed()

    @cached_property
    def members(self) -> Floats:
        """(S, cells): 1 where a cell belongs to a set."""
        return np.eye(len(self.counts.n)) if self.membership is None else np.ascontiguousarray(self.membership.T)

    def sums(self, of_cells: NDArray[Any]) -> Floats:
        """Sums over the cells (cells, ...) of each set (S, ...)."""
        if self.membership is None:
            return np.asarray(of_cells, dtype=float)
        flat: Floats = self.members @ of_cells.reshape(len(of_cells), -1)
        return flat.reshape(len(self), *of_cells.shape[1:])

    def tables(self, of_cells: NDArray[Any]) -> Floats:
        """The confusion tables (S, R, K) of the sets, from an array like `counts.n`."""
        return self.sums(of_cells)

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


def _count(
    columns: Sequence[Codes], outcomes: Sequence[Codes], count: Callable[[Sequence[Codes]], Tally], *, empty: bool
) -> Tally:
    """Cells x true x predicted, where `count` tabulates some axes."""
    shape, ends = tuple(column.size for column in columns), tuple(column.size for column in outcomes)
    dense = int(np.prod((*shape, *ends), dtype=object)) <= _DENSE_CELLS
    table = count([*columns, *outcomes] if dense else [composite(columns), *outcomes])
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
