"""Frames of any kind: what goes in is wrapped, what comes out is of the kind the user gave."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.errors import DataError, MissingExtraError, require

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
_EXTRAS = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}


def default_backend() -> Backend:
    """The kind of frame to build where the user gave none: pandas where installed, else Polars, else PyArrow.

    Most scikit-learn pipelines want pandas.

    Raises
    ------
    MissingExtraError
        When none of the three is installed.
    """
    for backend in BACKENDS:
        if installed(backend):
            return backend
    raise MissingExtraError(
        "Tables need pandas, Polars or PyArrow, and none of them is installed. Install one: pip install "
        "'isonomia[pandas]'"
    )


def estimator_backend() -> Backend:
    """The kind of frame whose columns scikit-learn selects by name: pandas where installed, else Polars.

    Raises
    ------
    MissingExtraError
        When neither is installed.
    """
    for backend in BACKENDS[:2]:
        if installed(backend):
            return backend
    raise MissingExtraError(
        "scikit-learn selects columns by name in pandas and Polars frames only, and neither is installed. Install one: "
        "pip install 'isonomia[pandas]'"
    )


def require_backend(backend: Backend) -> None:
    """Raise an error with the install command where the library of this kind of frame is missing."""
    require(backend, extra=_EXTRAS[backend], purpose=f"backend={backend!r}")


def backend_of(*objects: object) -> Backend | None:
    """The kind of the first object that is a frame or a series; None where none is."""
    for item in objects:
        root = type(item).__module__.split(".")[0]
        if root in BACKENDS:
            return root
        if isinstance(item, nw.DataFrame | nw.Series):
            name = item.implementation.name.lower()
            if name in BACKENDS:
                return name
    return None


def usual_kind(value: object) -> str | None:
    """The name of the class ("DataFrame", "Series") of what pandas and Polars make; None for all else.

    About all else narwhals is asked, whose answer takes a while.

    >>> import polars
    >>> usual_kind(polars.Series([1])), usual_kind([1])
    ('Series', None)
    """
    kind = type(value)
    return kind.__name__ if kind.__module__.split(".")[0] in ("pandas", "polars") else None


def is_series(values: object) -> bool:
    """Whether something is a column of any kind of frame, or an array of PyArrow."""
    kind = usual_kind(values)
    return nw.dependencies.is_into_series(values) or is_arrow_array(values) if kind is None else kind == "Series"


def is_arrow_array(values: object) -> bool:
    """Whether something is an array of PyArrow in one piece, of which no frame consists."""
    return loaded("pyarrow") and isinstance(values, sys.modules["pyarrow"].Array)


def wrap(frame: object) -> nw.DataFrame[Any]:
    """A narwhals frame over a pandas, Polars or PyArrow table, a mapping of columns, or a structured array.

    Raises
    ------
    DataError
        When the object is not a table, has no rows or columns, or repeats a column name.
    """
    if isinstance(frame, nw.DataFrame):
        wrapped = frame
    elif isinstance(frame, Mapping):
        wrapped = _from_mapping(frame)
    elif isinstance(frame, np.ndarray) and frame.dtype.names:
        wrapped = _from_mapping({name: frame[name] for name in frame.dtype.names})
    else:
        if loaded("polars") and type(frame).__name__ == "LazyFrame":
            raise DataError("The data are a lazy frame; call .collect() on it and give the result.")
        _refuse_repeated(frame)
        try:
            wrapped = nw.from_native(_with_inferred_dtypes(frame), eager_only=True)
        except TypeError:
            raise DataError(
                f"The data must be a table (pandas, Polars, PyArrow, or a mapping of columns); got "
                f"{type(frame).__name__}. Give a frame, or read a file with isonomia.read(path)."
            ) from None
    if any(not isinstance(name, str) for name in wrapped.columns):
        odd = next(name for name in wrapped.columns if not isinstance(name, str))
        raise DataError(
            f"Column names must be texts; got {odd!r} ({type(odd).__name__}). "
            "Rename the columns, for example frame.columns = frame.columns.astype(str)."
        )
    if not wrapped.columns:
        raise DataError("The table has no columns.")
    return wrapped


def to_frame(columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]], backend: Backend | None = None) -> Any:
    """Build a native frame of one kind from columns; of the default kind where none is named.

    Object arrays keep `None` as the frame's own missing value.

    >>> to_frame({"sex": ["F", "M"], "n": [3, 4]}, "polars").shape
    (2, 2)
    """
    backend = backend or default_backend()
    require_backend(backend)
    plain = {name: _plain(values) for name, values in columns.items()}
    try:
        return _pandas_frame(plain) if backend == "pandas" else nw.from_dict(plain, backend=backend).to_native()
    except UnicodeEncodeError as error:
        raise DataError(
            f"A name or a value has half of a surrogate pair ({error.object[error.start]!a}), not a character. "
            "Replace it: text.encode('utf-8', 'replace').decode()."
        ) from None


def from_columns(columns: Mapping[str, nw.Series[Any] | np.ndarray[Any, Any]], backend: Backend) -> Any:
    """Build a native frame of columns that are of its kind already, and keep their types; or arrays of numbers.

    Narwhals would turn categories of pandas into texts, and take Arrow columns apart into Python values, which takes
    300 times as long and loses the type of decimals.

    >>> from_columns({"n": nw.new_series("n", [3, 4], nw.Int8, backend="polars")}, "polars").schema["n"]
    Int8
    """
    native = {name: values.to_native() if isinstance(values, nw.Series) else values for name, values in columns.items()}
    if backend == "pandas":
        import pandas as pd

        return pd.DataFrame(native)
    if backend == "pyarrow":
        import pyarrow as pa

        return pa.table(native)
    import polars as pl

    return pl.DataFrame(native)


def to_numpy(values: object) -> np.ndarray[Any, Any]:
    """A one-dimensional array from an array, a list or a series of any kind, without copying where possible."""
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, nw.Series):
        return values.to_numpy()
    if hasattr(values, "__array__") or type(values).__module__.split(".")[0] in BACKENDS:
        return np.asarray(values)
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return _array_of(list(values))
    raise DataError(f"Expected an array, a list or a column of a frame; got {type(values).__name__}.")


def loaded(package: str) -> bool:
    """Whether a package is already imported, so that asking what kind an object is costs nothing."""
    return package in sys.modules


def installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported to find out."""
    return importlib.util.find_spec(package) is not None


def _array_of(values: list[Any]) -> np.ndarray[Any, Any]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool} or (kinds <= {int, float, bool} and bool not in kinds) or kinds <= {np.float64}:
        if None in values:
            return np.array([np.nan if value is None else value for value in values], dtype=float)
        return np.array(values)
    if kinds and kinds <= {list, tuple, np.ndarray}:  # rows of a table
        try:
            return np.array(values)
        except ValueError:
            raise DataError("The rows of a table given as a list must all be of one length.") from None
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _plain(values: Sequence[Any] | np.ndarray[Any, Any]) -> Any:
    """Object arrays as lists, so that each library infers its own dtype from the values."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values
    items = list(values)
    if all(item is None for item in items):
        return np.full(len(items), np.nan)
    kinds = {type(item) for item in items if item is not None}
    if str in kinds and not kinds.isdisjoint({float, np.float64}):  # NaN among texts is a missing text
        items = [None if isinstance(item, float) and item != item else item for item in items]
        kinds = {type(item) for item in items if item is not None}
    if len(kinds) > 1 and not kinds <= {int, float, np.float64, np.int64}:
        return [None if item is None else str(item) for item in items]
    if kinds <= {int, float, np.float64, np.int64} and (None in items or len(kinds) > 1):
        return np.array([np.nan if item is None else float(item) for item in items])
    return items


def _pandas_frame(columns: Mapping[str, Any]) -> Any:
    """A pandas frame. Texts become one array that each column is a part of: pandas is slow with many small ones."""
    import pandas as pd

    texts = [name for name, values in columns.items() if isinstance(values, list) and _are_texts(values)]
    together = pd.array([item for name in texts for item in columns[name]], dtype=_pandas_text())
    ends = np.cumsum([0, *(len(columns[name]) for name in texts)]).tolist()
    parts = {name: together[start:end] for name, start, end in zip(texts, ends, ends[1:], strict=False)}
    filled = {name: parts.get(name, values) for name, values in columns.items()}
    numbers = all(
        isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "fiub"
        for name, values in columns.items()
        if name not in parts
    )
    lengths = {len(values) for values in filled.values()}
    build = _from_blocks() if numbers and len(lengths) == 1 else None
    return pd.DataFrame(filled) if build is None else _in_blocks(build, filled, lengths.pop())


@cache
def _from_blocks() -> Any:
    """What pandas, from its version 3 on, builds frames with that are laid out already; None before."""
    try:
        from pandas.api.internals import create_dataframe_from_blocks  # type: ignore[import-not-found]
    except ImportError:
        return None
    return create_dataframe_from_blocks


def _in_blocks(build: Any, columns: Mapping[str, Any], height: int) -> Any:
    """The frame of arrays of texts and of numbers: numbers of a kind in one block, as pandas would lay them out.

    It takes a third of the time: pandas examines every column it is given, however small.
    """
    import pandas as pd

    blocks: list[tuple[Any, Any]] = []
    by_dtype: dict[Any, list[int]] = {}
    arrays = list(columns.values())
    for index, values in enumerate(arrays):
        if isinstance(values, np.ndarray):
            by_dtype.setdefault(values.dtype, []).append(index)
        else:
            blocks.append((values, np.array([index])))
    blocks += [(np.array([arrays[index] for index in own]), np.array(own)) for own in by_dtype.values()]
    return build(blocks, index=pd.RangeIndex(height), columns=_pandas_names(tuple(columns)))


@lru_cache(maxsize=256)
def _pandas_names(names: tuple[str, ...]) -> Any:
    """The names of columns as pandas keeps them: an index cannot be changed, and tables of a kind share one."""
    import pandas as pd

    return pd.Index(names, dtype=_pandas_text())


@cache
def _pandas_text() -> Any:
    """The dtype that pandas gives to texts."""
    import pandas as pd

    return pd.Series([""]).dtype


def _are_texts(values: list[Any]) -> bool:
    return {isinstance(item, str) for item in values if item is not None} == {True}


def _from_mapping(columns: Mapping[Any, Any]) -> nw.DataFrame[Any]:
    for name, values in columns.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise DataError(f"Every column must be a list or an array; '{name}' is {type(values).__name__}.")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"The columns differ in length: {lengths}. Every column needs one value per row.")
    return nw.from_native(to_frame({str(name): to_numpy(values) for name, values in columns.items()}), eager_only=True)


def _with_inferred_dtypes(frame: Any) -> Any:
    """A pandas frame without sparse columns, whose columns of objects contain numbers only where they are meant to.

    Numbers end up as objects when a table is built row by row or with `None` in it.
    """
    if type(frame).__module__.split(".")[0] != "pandas" or not hasattr(frame, "dtypes"):
        return frame
    import pandas as pd

    changes = {}
    for name, dtype in frame.dtypes.items():
        if isinstance(dtype, np.dtype) and dtype.kind == "O":
            found = pd.api.types.infer_dtype(frame[name], skipna=True)
            if found in ("integer", "floating", "mixed-integer-float", "decimal"):
                changes[name] = pd.to_numeric(frame[name].astype(float) if found != "integer" else frame[name])
            elif found == "boolean":
                changes[name] = frame[name].astype("boolean" if frame[name].hasnans else bool)
        elif isinstance(dtype, pd.SparseDtype):
            changes[name] = frame[name].sparse.to_dense()
    if changes and all(isinstance(name, str) for name in changes):  # other names are refused later
        return frame.assign(**changes)
    return frame


def _refuse_repeated(frame: object) -> None:
    names = getattr(frame, "column_names", None)
    names = list(names) if names is not None else list(getattr(frame, "columns", ()))
    repeated = [str(name) for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"Column names must be unique; repeated: {', '.join(map(repr, repeated[:5]))}. Rename or drop one of each."
        )
