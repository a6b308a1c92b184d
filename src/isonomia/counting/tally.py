"""Cross tables of rows or of cells, and the one column that several columns make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting._summing import cell_count, common_length, distinct_combinations, row_terms, sum_rows
from isonomia.counting.cells import MAX_CELLS, Cells
from isonomia.counting.codes import Codes
from isonomia.errors import DataError


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
        For each value v: the sum of weight * v; where v has several columns, those of each along a last axis. For means
        and their variance ask `tally` for v and v**2.
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
            left = array.sum(axis=dropped) if dropped else array
            return np.transpose(left, [*order, *range(len(order), left.ndim)])

        n = fold(self.n)
        w, w2 = (fold(self.w), fold(self.w2)) if self.weighted else (n, n)
        sums = {name: fold(total) for name, total in self.sums.items()}
        axes = tuple(self.axes[i] for i in kept)
        return Tally(axes=axes, n=n, w=w, w2=w2, sums=sums, weighted=self.weighted)


def tally(
    columns: Sequence[Codes] | Cells,
    *,
    weights: Any = None,
    values: Mapping[str, Any] | None = None,
    counts: Any = None,
) -> Tally:
    """Cross-tabulate columns of codes, and sum values over the cells, in one pass.

    Parameters
    ----------
    columns : sequence of Codes, or Cells
        The axes of the table, all of one length; or cells that were counted already, which bring their own weights
        and sums.
    weights : array, optional
        One weight per row.
    values : mapping of arrays, optional
        Row values to sum over each cell (times the weight): one number per row, or several as the columns of a
        two-dimensional array, which are summed faster together.
    counts : array of int, optional
        How many identical rows each row stands for; its weight and values are those of each of them.

    Examples
    --------
    >>> tally([Codes.encode(["F", "M"], name="sex")], counts=[300, 500]).n.tolist()
    [300, 500]
    """
    if isinstance(columns, Cells):
        if weights is not None or values is not None or counts is not None:
            raise DataError(
                "Cells already have counts, weights and sums; pass `weights`, `values` and `counts` when the cells "
                "are made."
            )
        axes, rows, terms = columns.columns, len(columns), columns.terms
    else:
        axes = tuple(columns)
        rows, terms = row_terms(axes, weights=weights, values=values, counts=counts)
    shape = tuple(column.size for column in axes)
    if cell_count(axes) > MAX_CELLS:
        raise DataError(
            f"A table of {' x '.join(map(str, shape))} cells is too large to count densely (at most {MAX_CELLS:,}). "
            "Use fewer columns, or merge rare values."
        )
    totals = {key: total.reshape((*shape, *total.shape[1:])) for key, total in sum_rows(axes, rows, terms).items()}
    n = totals["n",]
    return Tally(
        axes=tuple(Axis(column.name, column.labels) for column in axes),
        n=n,
        w=totals.get(("w",), n),
        w2=totals.get(("w2",), n),
        sums={key[1]: total for key, total in totals.items() if key[0] == "sum"},
        weighted=("w",) in totals,
    )


def composite(columns: Sequence[Codes], *, name: str | None = None) -> Codes:
    """Several columns as one whose labels are the tuples that occur, in order.

    >>> pair = composite([Codes.encode(["F", "M", "F"], name="sex"), Codes.encode([1, 1, 0], name="old")])
    >>> pair.name, pair.labels
    ('sex x old', (('F', 0), ('F', 1), ('M', 1)))
    """
    rows = common_length(columns, {})
    codes, used = distinct_combinations(columns, MAX_CELLS)
    if len(columns) == 1:
        labels = tuple((label,) for label in columns[0].labels)
    else:
        parts = [[column.labels[i] for i in part] for column, part in zip(columns, used, strict=True)]
        labels = tuple(zip(*parts, strict=True)) if rows else ()
    return Codes(name or " x ".join(column.name for column in columns), codes, labels)
