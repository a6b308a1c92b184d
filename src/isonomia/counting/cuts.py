"""How a column is cut into slices: learnt on some rows, applied to any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.counting.codes import Codes, smallest
from isonomia.data import Bands, Dataset, Kind, numbers, to_numpy
from isonomia.errors import DataError
from isonomia.typing import Floats

RARE = "(other values)"


@dataclass(frozen=True, eq=False)
class Cut:
    """The slices of one feature.

    `edges` for numbers and dates, `labels` for categories; `bands` for a protected attribute that has them.
    """

    name: str
    kind: Kind
    edges: tuple[float, ...] | None = None
    labels: tuple[Any, ...] = ()
    bands: Bands | None = None

    def codes(self, data: Dataset) -> Codes:
        """The slice of every row; values unseen when the cut was learnt have a slice of their own."""
        if self.bands is not None:
            return Codes.bands(to_numpy(data.column(self.name)), self.bands, name=self.name)
        if self.edges is not None:
            cut = Codes.cut(as_floats(data, self.name), self.edges, name=self.name)
            return _dated(cut) if self.kind == "datetime" else cut
        return _relabel(Codes.encode(data.column(self.name), name=self.name), self.labels)

    @property
    def ordered(self) -> bool:
        """Whether neighbouring slices touch."""
        return self.edges is not None or self.kind in ("integer", "numeric", "datetime")


def as_floats(data: Dataset, name: str) -> Floats:
    """A column of numbers, truth values or dates (as days) as floats, NaN where missing."""
    column = data.column(name)
    if data.kinds[name] == "datetime":
        days = to_numpy(column).astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
    if data.kinds[name] == "category":
        raise DataError(
            f"The column '{name}' contains categories, but numbers are needed. Leave it out, or convert it first."
        )
    return numbers(column)


def _relabel(column: Codes, labels: tuple[Any, ...]) -> Codes:
    """The column over these labels; others are rare or unseen, missing is last."""
    index = {label: code for code, label in enumerate(labels)}
    rest = [label for label in column.labels if label is not None and label not in index]
    out: tuple[Any, ...] = (*labels, *((RARE,) if rest else ()), *((None,) if column.missing is not None else ()))
    table = np.array(
        [len(out) - 1 if label is None else index.get(label, len(labels)) for label in (column.labels or (None,))],
        dtype=smallest(max(len(out), 1)),
    )
    return Codes(column.name, table[column.codes], out)


def _dated(cut: Codes) -> Codes:
    """Slices of days with names that are dates."""
    assert cut.edges is not None
    dates = np.ceil(np.asarray(cut.edges)).astype(np.int64).astype("datetime64[D]").astype(str)
    last = len(dates) - 2
    names = [f"[{dates[i]}, {dates[i + 1]}{']' if i == last else ')'}" for i in range(last + 1)]
    return Codes(cut.name, cut.codes, tuple(None if label is None else names[label] for label in cut.labels))
