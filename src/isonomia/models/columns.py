"""The rows as a model wants them: its own columns, in its own order, in its own kind of frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data import default_backend, to_frame
from isonomia.data.frames import require_backend
from isonomia.errors import ModelError, nearest

#: What a model receives: the frame as the user gave it, a frame of one kind, a matrix, or one array per column.
FrameKind = Literal["native", "pandas", "polars", "pyarrow", "numpy"]


def pick_columns(
    table: nw.DataFrame[Any],
    wanted: Sequence[str],
    *,
    available: Sequence[str],
    make: str,
    alias: Callable[[str], str] | None = None,
) -> nw.DataFrame[Any]:
    """The columns a model was trained on, in the order it was trained with.

    Parameters
    ----------
    table : the rows
    wanted : names the model was trained on
    available : columns that count as features, named in the error as unexpected when the model does not know them
    make : what the model is, for the error
    alias : how the model's library rewrites column names (LightGBM turns spaces into underscores)

    Raises
    ------
    ModelError
        Listing what is missing, what is there instead, and close matches.
    """
    here = set(table.columns)
    renamed = {alias(column): column for column in table.columns} if alias else {}
    chosen = [name if name in here else renamed.get(name, name) for name in wanted]
    missing = [name for name in chosen if name not in here]
    if missing:
        unexpected = [name for name in available if name not in set(chosen)]
        raise ModelError(
            f"The data does not have the columns the model ({make}) was trained on. "
            f"Missing: {_listed(missing)}.{_unexpected(unexpected)} "
            "Rename or add the columns, or give the data the model was trained for."
            f"{_near(missing, unexpected or list(available))}"
        )
    return table.select(chosen)


def check_width(table: nw.DataFrame[Any], n_features: int, *, make: str) -> None:
    """A model that knows how many columns it was trained on, but not which."""
    if len(table.columns) != n_features:
        raise ModelError(
            f"The model ({make}) was trained on {n_features} unnamed columns, but the data has {len(table.columns)} "
            f"feature columns: {_listed(table.columns)}. Name the columns it takes, in its order: features=[...]."
        )


def hand_over(table: nw.DataFrame[Any], kind: FrameKind) -> Any:
    """The table as the kind of object a model takes."""
    if kind == "numpy":
        return object_matrix(table)
    if kind == "native":
        native = table.to_native()
        # estimators take no Arrow table; the columns are the same in the kind of frame most of them know
        return to_kind(table, default_backend()) if table.implementation.is_pyarrow() else native
    return to_kind(table, kind)


def to_kind(table: nw.DataFrame[Any], kind: Literal["pandas", "polars", "pyarrow"]) -> Any:
    """The same table as a pandas, Polars or PyArrow one."""
    if table.implementation.name.lower() == kind:
        return table.to_native()
    require_backend(kind)
    if kind == "polars":
        return table.to_polars()
    if kind == "pyarrow":
        return table.to_arrow()
    try:
        return table.to_pandas()
    except ImportError:  # Polars needs pyarrow for this; the columns one by one need nothing
        return to_frame({name: table[name].to_numpy() for name in table.columns}, "pandas")


def number_matrix(table: nw.DataFrame[Any], *, make: str, dtype: Any = np.float64) -> NDArray[Any]:
    """The columns as one matrix of numbers; missing values become NaN."""
    texts = [name for name, kind in table.schema.items() if not _is_number(kind)]
    if texts:
        raise ModelError(
            f"The model ({make}) takes numbers, but {_listed(texts)} {'contains' if len(texts) == 1 else 'contain'} "
            "texts. "
            "Encode them as in training, or wrap the model in a function that does: Model.of(function)."
        )
    if table.implementation.is_pandas():
        return np.ascontiguousarray(table.to_native().to_numpy(dtype=dtype, na_value=np.nan))
    out = np.empty((len(table), len(table.columns)), dtype=dtype, order="C")
    for index, column in enumerate(table.iter_columns()):
        # nullable columns would come as objects
        plain = column.cast(nw.Float64) if column.null_count() else column
        out[:, index] = plain.to_numpy()
    return out


def object_matrix(table: nw.DataFrame[Any]) -> NDArray[Any]:
    """The columns as one matrix: of numbers where all are, of objects otherwise."""
    if all(_is_number(kind) for kind in table.schema.values()):
        return number_matrix(table, make="")
    out = np.empty((len(table), len(table.columns)), dtype=object)
    for index, name in enumerate(table.columns):
        out[:, index] = table[name].to_list()
    return out


def from_matrix(matrix: NDArray[Any], names: Sequence[str]) -> nw.DataFrame[Any]:
    """A matrix whose columns are known by their index."""
    return nw.from_native(to_frame({name: matrix[:, index] for index, name in enumerate(names)}), eager_only=True)


def _is_number(kind: nw.dtypes.DType) -> bool:
    return bool(kind.is_numeric() or kind == nw.Boolean)


def _listed(names: Sequence[str], limit: int = 10) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return f"{shown}{f' and {len(names) - limit} more' if len(names) > limit else ''}"


def _unexpected(names: Sequence[str]) -> str:
    return f" In the data, but unknown to the model: {_listed(names)}." if names else ""


def _near(missing: Sequence[str], candidates: Sequence[str]) -> str:
    pairs = []
    for name in missing[:5]:
        if similar := nearest(name, candidates):
            pairs.append(f"'{name}' is close to {', '.join(repr(one) for one in similar)}")
    return f" Note that {'; '.join(pairs)}." if pairs else ""
