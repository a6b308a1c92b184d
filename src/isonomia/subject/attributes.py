"""Protected attributes as codes, from a dataset or from columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.counting import Codes
from isonomia.data import Dataset, bands_note, numbers, propose_bands, to_numpy
from isonomia.data.frames import is_series, usual_kind
from isonomia.data.roles import given_protected
from isonomia.errors import DataError
from isonomia.languages import Message
from isonomia.typing import Floats

#: More groups than this are not groups any more: an identifier was given, or numbers without bands.
MAX_GROUPS = 5000


def read_attributes(given: Any, *, what: str = "sensitive_features", length: int | None = None) -> tuple[Codes, ...]:
    """Protected attributes from a column, a frame, a mapping, a 2-D array or a list of columns."""
    columns = _named_columns(given, what)
    if not columns:
        raise DataError(f"`{what}` must have at least one attribute.")
    encoded = tuple(
        values if isinstance(values, Codes) else Codes.encode(values, name=name) for name, values in columns.items()
    )
    for column in encoded:
        if length is not None and len(column) != length:
            raise DataError(f"`{what}` has {len(column)} rows in '{column.name}', but there are {length} predictions.")
        if column.size > MAX_GROUPS:
            raise DataError(
                f"'{column.name}' has {column.size:,} different values, too many for groups (at most {MAX_GROUPS:,}). "
                "Is it an identifier? Numbers can be cut into bands."
            )
    return encoded


def protected_names(data: Any, reading: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the protected attributes that are going to be read, before any row is.

    >>> protected_names({"age": [30]}, {"protected": {"age": [25, 60]}}), protected_names([0, 1], {})
    (('age',), ())
    """
    if reading.get("sensitive_features") is not None:
        return tuple(map(str, _named_columns(reading["sensitive_features"], "sensitive_features")))
    if reading.get("protected") is not None:
        return tuple(given_protected(reading["protected"]))
    return data.protected if isinstance(data, Dataset) else ()


def attributes_given(
    dataset: Dataset | None, reading: Mapping[str, Any], length: int
) -> tuple[tuple[Codes, ...], tuple[Message, ...]]:
    """The protected attributes, and what to state about the bands that numbers were put in.

    Bands of columns given as arrays are proposed where a `Dataset` proposes them: for numbers with many different
    values of which none is named as privileged.
    """
    given, privileged = reading.get("sensitive_features"), reading.get("privileged")
    if given is None:
        return ((), ()) if dataset is None else (dataset_attributes(dataset), dataset.band_notes)
    columns = _named_columns(given, "sensitive_features")
    named = set(privileged) if isinstance(privileged, Mapping) else set(columns) if privileged is not None else set()
    notes = []
    for name, values in columns.items():
        numbers = None if name in named or isinstance(values, Codes) else _as_numbers(values)
        bands = None if numbers is None else propose_bands(numbers)
        if numbers is not None and bands is not None:
            columns[name] = Codes.bands(numbers, bands, name=name)
            notes.append(bands_note(name, bands))
    return read_attributes(columns, length=length), tuple(notes)


def _as_numbers(values: Any) -> Floats | None:
    """A column of numbers as floats; None for anything else, also for durations."""
    if hasattr(getattr(values, "dtype", None), "categories"):
        return None  # values of a category are names
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return numbers(series) if series.dtype.is_numeric() else None
    array = to_numpy(values)
    return array.astype(float) if array.ndim == 1 and array.dtype.kind in "iuf" else None


def dataset_attributes(data: Dataset) -> tuple[Codes, ...]:
    """The protected attributes of a dataset, numeric ones in their bands."""
    out = []
    for name in data.protected:
        bands = data.roles.bands.get(name)
        values = data.column(name)
        out.append(Codes.encode(values, name=name) if bands is None else Codes.bands(numbers(values), bands, name=name))
    return tuple(out)


def _named_columns(given: Any, what: str) -> dict[str, Any]:
    if isinstance(given, Codes):
        return {given.name: given}
    if isinstance(given, Mapping):
        return {str(name): values for name, values in given.items()}
    if isinstance(given, tuple | list) and given and all(isinstance(item, Codes) for item in given):
        return {item.name: item for item in given}
    if isinstance(given, np.ndarray):
        if given.ndim == 1:
            return {"group": given}
        if given.ndim == 2:
            return {f"group_{i + 1}": given[:, i] for i in range(given.shape[1])}
        raise DataError(f"`{what}` must have one or two dimensions; got an array of shape {given.shape}.")
    if isinstance(given, tuple | list):
        return {"group": given}
    if usual_kind(given) == "DataFrame" and len(set(given.columns)) == len(given.columns):
        return {name: given[name] for name in given.columns}  # what follows would give the same, only slower
    wrapped = nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(wrapped, nw.Series):
        return {wrapped.name or "group": given}
    if is_series(given):
        return {"group": given}
    if isinstance(wrapped, nw.DataFrame):
        native = wrapped.to_native()
        return {name: native[name] for name in wrapped.columns}
    raise DataError(
        f"`{what}` must be a column, a frame, a mapping of columns or an array; got {type(given).__name__}."
    )
