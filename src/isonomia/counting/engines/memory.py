"""Rows in memory: a `Dataset` counted by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting.cells import Cells
from isonomia.counting.codes import Codes
from isonomia.counting.engines.engine import Condition, Dimension, Schema, sample_order
from isonomia.data import Dataset, numbers
from isonomia.errors import DataError
from isonomia.parameters import Integer


class MemoryEngine:
    """A dataset that counts its own rows, with the weights of its weight column.

    Examples
    --------
    >>> data = Dataset({"sex": ["F", "M", "F"], "pay": [10.0, 12.0, 20.0]})
    >>> cells = MemoryEngine(data).cells([Dimension(column="sex")], sums=["pay"])
    >>> cells.n.tolist(), cells.sums["pay"].tolist()
    ([2, 1], [30.0, 12.0])
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def schema(self) -> Schema:
        """Columns, rows and fingerprint of the dataset."""
        return Schema(kinds=dict(self.data.kinds), rows=len(self.data), fingerprint=self.data.fingerprint)

    def cells(self, axes: Sequence[Dimension], sums: Sequence[str] = (), where: Sequence[Condition] = ()) -> Cells:
        """Distinct combinations of the axes with their counts and sums; see `Engine.cells`."""
        data = self.data
        for condition in where:
            data = data.take(np.flatnonzero(_meets(data, condition)))
        values = {name: numbers(data.column(name)) for name in sums}
        for name, value in values.items():
            if np.isnan(value).any():
                raise DataError(
                    f"The column '{name}' cannot be summed: it has missing values. "
                    f"Leave those rows out with where=[Condition(column='{name}')]."
                )
        return Cells.of(_encode(data, axes), weights=data.weights, values=values, products=bool(sums))

    def codes(self, axes: Sequence[Dimension], budget: int) -> Iterator[tuple[Codes, ...]]:
        """The coded columns in chunks; see `Engine.codes`."""
        columns = _encode(self.data, axes)
        chunk = max(1, budget // max(1, sum(column.codes.itemsize for column in columns)))
        for start in range(0, len(self.data), chunk):
            rows = np.arange(start, min(len(self.data), start + chunk))
            yield tuple(column.take(rows) for column in columns)

    def sample(self, n: int, seed: int) -> Any:
        """At most `n` rows, chosen by their number; see `Engine.sample`."""
        Integer(1).check("n", n)
        order = sample_order(np.arange(len(self.data)), seed)
        chosen = np.argsort(order, kind="stable")[:n]
        return self.data.take(np.sort(chosen)).frame


def _encode(data: Dataset, axes: Sequence[Dimension]) -> tuple[Codes, ...]:
    return tuple(axis.encode(data.column(axis.column)) for axis in axes)


def _meets(data: Dataset, condition: Condition) -> NDArray[np.bool_]:
    column = Codes.encode(data.column(condition.column), name=condition.column)
    wanted = np.array([condition.values is None or label in condition.values for label in column.labels], dtype=bool)
    if column.missing is not None:
        wanted[column.missing] = condition.missing
    return wanted[column.codes]
