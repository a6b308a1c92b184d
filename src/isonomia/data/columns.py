"""One column of any kind of frame: its distinct values and its numbers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


def numbers(column: nw.Series[Any]) -> NDArray[np.float64]:
    """A numeric or boolean column, or durations in seconds, as floats; missing values are NaN.

    >>> numbers(nw.new_series("x", [1, None, 3], nw.Int64, backend="polars"))
    array([ 1., nan,  3.])
    """
    dtype = column.dtype
    if dtype == nw.Duration:
        return numbers(column.dt.total_microseconds()) / 1e6
    if dtype in (nw.Int64, nw.UInt64):
        # Arrow refuses to round whole numbers beyond 2^53, NumPy does round them
        plain = column.fill_null(0).to_numpy().astype(float)
        return np.where(column.is_null().to_numpy(), np.nan, plain) if column.null_count() else plain
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)


def distinct(column: nw.Series[Any]) -> list[Any]:
    """The different values of a column in order, without missing ones; numbers come before texts.

    >>> distinct(nw.new_series("x", ["b", None, "a"], backend="polars"))
    ['a', 'b']
    """
    known = column.drop_nulls()
    if column.implementation.is_pandas() and column.to_native().dtype == object:  # whose texts may hold half characters
        values = list(dict.fromkeys(known.to_list()))
    else:
        values = known.unique().to_list()
    found = [value for value in values if value is not None and value == value]
    return sorted(found, key=lambda value: (isinstance(value, str), value if _plain(value) else str(value)))


def is_searchable(column: nw.Series[Any]) -> bool:
    """Whether a column has a value, and no infinite number.

    >>> columns = [1.0, None], [None], [1.0, np.inf]
    >>> [is_searchable(nw.new_series("x", values, nw.Float64, backend="polars")) for values in columns]
    [True, False, False]
    """
    if column.dtype in (nw.Float32, nw.Float64):
        values = numbers(column)
        return not bool(np.isinf(values).any() or np.isnan(values).all())
    return int(column.null_count()) < len(column)


def has_fractions(column: nw.Series[Any]) -> bool:
    """Whether a column contains numbers that are not whole.

    >>> [has_fractions(nw.new_series("x", values, backend="polars")) for values in ([1.0, None], [0.5, 1], ["0.5"])]
    [False, True, False]
    """
    if not column.dtype.is_numeric() or column.dtype.is_integer():
        return False
    values = numbers(column)
    known = values[np.isfinite(values)]
    return bool((known != np.rint(known)).any())


def is_nested(column: nw.Series[Any]) -> bool:
    """Whether the cells contain lists, arrays, structs or other things that cannot be compared."""
    if column.dtype.is_nested():
        return True
    if column.dtype == nw.Unknown:  # maps, runs, and what no kind is known of; a column without any value has no kind
        return column.null_count() < len(column)
    if column.dtype == nw.Categorical:
        return _is_dictionary_of_nested(column.to_native())
    if column.dtype != nw.Object:
        return False
    if column.implementation.is_polars():
        return True  # which compares none of its objects
    first = column.drop_nulls().head(100).to_list()
    return any(isinstance(value, list | dict | set | tuple | np.ndarray) for value in first)


def _is_dictionary_of_nested(native: Any) -> bool:
    """Whether the categories of a dictionary of Arrow are lists or the like."""
    kind = getattr(getattr(native, "dtype", None), "pyarrow_dtype", getattr(native, "type", None))
    values = getattr(kind, "value_type", None)
    return values is not None and bool(getattr(values, "num_fields", 0))


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | np.generic)
