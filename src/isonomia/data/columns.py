"""One column of any kind of frame: its distinct values, its numbers, and which value a text stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

_WORDS = {"true": True, "false": False, "1": True, "0": False}


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
    """Whether the cells hold lists, arrays, structs or other things that cannot be compared."""
    if column.dtype.is_nested():
        return True
    if column.dtype != nw.Object:
        return False
    first = column.drop_nulls().head(100).to_list()
    return any(isinstance(value, list | dict | set | tuple | np.ndarray) for value in first)


def value_of(wanted: Any, values: Iterable[Any]) -> tuple[bool, Any]:
    """Whether one of the values is the wanted one, and that value: equal, or what the text stands for.

    >>> value_of("1", [1, 2]), value_of("1", [1.0, 2.0]), value_of("yes", [True, False])
    ((True, 1), (True, 1.0), (False, None))
    """
    choices = list(values)
    for same in (_equal, _written_alike, _meant):
        for value in choices:
            if same(value, wanted):
                return True, value
    return False, None


def _equal(value: Any, wanted: Any) -> bool:
    return isinstance(wanted, str) == isinstance(value, str) and bool(np.all(value == wanted))


def _written_alike(value: Any, wanted: Any) -> bool:
    return str(value) == str(wanted)


def _meant(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return _WORDS.get(str(wanted).strip().lower()) is bool(value)
    try:
        return float(value) == float(wanted)
    except (TypeError, ValueError):
        return False


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | np.generic)
