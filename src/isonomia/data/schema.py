"""What kind of values a column contains, and what kind of task a target asks for."""

from __future__ import annotations

from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.frames import to_numpy
from isonomia.errors import DataError

Kind = Literal["numeric", "integer", "boolean", "category", "datetime"]
Task = Literal["binary", "multiclass", "regression"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TASKS: tuple[Task, ...] = get_args(Task)
#: Longer names of the tasks, which other tools write.
TASK_NAMES = {"binary_classification": "binary", "multiclass_classification": "multiclass"}

#: A whole-number target with at most this many values is read as classes; more make it a regression.
MAX_INTEGER_CLASSES = 20
#: A target of texts with more values than this is not a set of classes.
MAX_CLASSES = 1000


def kind_of(column: nw.Series[Any]) -> Kind:
    """The kind of a column, from its dtype."""
    return kind_of_type(column.dtype)


def kind_of_type(dtype: nw.dtypes.DType) -> Kind:
    """The kind of a column with this dtype."""
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric() or dtype == nw.Duration:
        return "numeric"
    if dtype in (nw.Date, nw.Datetime):
        return "datetime"
    return "category"


def kind_of_values(values: Any) -> Kind:
    """The kind of an array, a list or a column of any frame.

    >>> kind_of_values([1.5, 2]), kind_of_values(["a"])
    ('numeric', 'category')
    """
    dtype = getattr(values, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in _KINDS:
        series = nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            return kind_of(series)
        dtype = to_numpy(values).dtype
    return _KINDS.get(dtype.kind, "category")


_KINDS: dict[str, Kind] = {
    "b": "boolean",
    "i": "integer",
    "u": "integer",
    "f": "numeric",
    "m": "numeric",
    "M": "datetime",
}


def task_of(kind: Kind, n_values: int, *, name: str, whole: bool = False) -> Task:
    """The task that a target of this kind, with this many distinct values, asks for.

    `whole` says that the numbers of a float column are all whole (integers with gaps are read as floats).

    >>> task_of("category", 2, name="income"), task_of("integer", 5, name="stars"), task_of("numeric", 900, name="pay")
    ('binary', 'multiclass', 'regression')
    """
    if kind == "datetime":
        raise DataError(f"The target '{name}' contains dates; a target must contain classes or numbers.")
    if n_values == 2:
        return "binary"
    if kind == "numeric" and n_values > 2 and not whole:
        return "regression"
    if kind in ("integer", "numeric") and n_values > MAX_INTEGER_CLASSES:
        return "regression"
    if n_values > MAX_CLASSES:
        raise DataError(
            f"The target '{name}' has {n_values} different values, too many for classes (at most {MAX_CLASSES}). "
            "Is it an identifier? Name the column that the model predicts."
        )
    return "multiclass" if n_values > 2 else "binary"
