"""One column of any kind of frame: its distinct values and its numbers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


def numbers(column: nw.Series[Any]) -> NDArray[np.float64]:
    """A numeric or boolean column as floats; missing values are NaN.

    >>> numbers(nw.new_series("x", [1, None, 3], nw.Int64, backend="polars"))
    array([ 1., nan,  3.])
    """
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)


def distinct(column: nw.Series[Any]) -> list[Any]:
    """The different values of a column in order, without missing ones; numbers come before texts.

    >>> distinct(nw.new_series("x", ["b", None, "a"], backend="polars"))
    ['a', 'b']
    """
    found = [value for value in column.drop_nulls().unique().to_list() if value is not None and value == value]
    return sorted(found, key=lambda value: (isinstance(value, str), value if _plain(value) else str(value)))


def is_nested(column: nw.Series[Any]) -> bool:
    """Whether the cells contain lists, arrays, structs or other things that cannot be compared."""
    if column.dtype.is_nested():
        return True
    if column.dtype != nw.Object:
        return False
    first = column.drop_nulls().head(100).to_list()
    return any(isinstance(value, list | dict | set | tuple | np.ndarray) for value in first)


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | np.generic)
