"""Requests to an inference server and its responses: the open inference protocol, and plain rows in JSON."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.errors import ModelError
from isonomia.models._http import Caller
from isonomia.models.columns import number_matrix

#: Datatypes of the protocol that hold whole numbers, and those that hold others.
_WHOLE = frozenset(f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
_FLOATS = frozenset(("FP16", "FP32", "FP64"))
#: What a server that does not describe its input is sent.
_DEFAULT_INPUT = {"name": "input-0", "datatype": "FP64", "shape": [-1, -1]}


@dataclass(frozen=True)
class Reply:
    """The answers about some rows, and the classes of their columns where the server names them."""

    values: NDArray[Any]
    classes: tuple[str, ...] | None = None


class Talk(Protocol):
    """A protocol: what columns the server takes, and one question."""

    names: tuple[str, ...] | None
    n_features: int | None

    def ask(self, table: nw.DataFrame[Any]) -> Reply:
        """Ask about some rows."""
        ...


class PlainTalk:
    """``{"instances": [{column: value, ...}, ...]}`` in; ``{"predictions": [...]}`` or the bare list out.

    A prediction is a label, a number, a list of probabilities, or a mapping from class to probability.
    """

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.names: tuple[str, ...] | None = None
        self.n_features: int | None = None
        query = f"?{caller.address.query}" if caller.address.query else ""
        self._path = (caller.address.path or "/") + query

    def ask(self, table: nw.DataFrame[Any]) -> Reply:
        """One request about all these rows."""
        columns = [_plain(table[name]) for name in table.columns]
        rows = [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]
        found = self.caller.post(self._path, {"instances": rows}, n=len(rows))
        if isinstance(found, Mapping):
            if "predictions" not in found:
                keys = ", ".join(map(repr, list(found)[:8])) or "nothing"
                raise ModelError(
                    f"The endpoint {self.caller.shown} answered with {keys}; expected 'predictions': one for each row."
                )
            found = found["predictions"]
        return self._read(found, len(rows))

    def _read(self, found: Any, n: int) -> Reply:
        if not isinstance(found, list) or len(found) != n:
            what = f"{len(found)} predictions" if isinstance(found, list) else f"a {type(found).__name__}"
            raise ModelError(f"The endpoint {self.caller.shown} was asked about {n} rows and answered with {what}.")
        if found and isinstance(found[0], Mapping):
            classes = tuple(found[0])
            if any(not isinstance(item, Mapping) or tuple(sorted(item)) != tuple(sorted(classes)) for item in found):
                raise ModelError(f"The endpoint {self.caller.shown} named different classes in different rows.")
            found = [[item[label] for label in classes] for item in found]
            return Reply(_array(found, self.caller), classes)
        return Reply(_array(found, self.caller))


class TensorTalk:
    """The open inference protocol, version 2: tensors by name, described by the server's metadata."""

    def __init__(self, caller: Caller, output_name: str | None) -> None:
        self.caller, self.output_name = caller, output_name
        self._path = caller.address.path.removesuffix("/").removesuffix("/infer")
        metadata = caller.get(self._path)
        if not isinstance(metadata, Mapping) or not isinstance(metadata.get("inputs", []), list):
            raise ModelError(
                f"The endpoint {caller.shown} describes its inputs in a form that the "
                "open inference protocol does not have; expected {'inputs': [...]}."
            )
        self.inputs: list[Mapping[str, Any]] = [
            _described(item, caller) for item in metadata.get("inputs") or [_DEFAULT_INPUT]
        ]
        self.names: tuple[str, ...] | None = None
        self.n_features: int | None = None
        if len(self.inputs) > 1:
            self.names = tuple(str(item["name"]) for item in self.inputs)
            self.n_features = len(self.names)
        elif len(shape := self.inputs[0]["shape"]) == 2 and shape[1] > 0:
            self.n_features = int(shape[1])

    def ask(self, table: nw.DataFrame[Any]) -> Reply:
        """One request about all these rows: one tensor, or one per column where the server has several inputs."""
        if len(self.inputs) == 1:
            tensors = [_tensor(self.inputs[0], table, self.caller)]
        else:
            pairs = zip(self.inputs, table.columns, strict=True)
            tensors = [_tensor(item, table.select(name), self.caller) for item, name in pairs]
        content: dict[str, Any] = {"inputs": tensors}
        if self.output_name is not None:
            content["outputs"] = [{"name": self.output_name}]
        found = self.caller.post(f"{self._path}/infer", content, n=len(table))
        outputs = found.get("outputs") if isinstance(found, Mapping) else None
        if not isinstance(outputs, list) or not all(isinstance(item, Mapping) for item in outputs):
            raise ModelError(f"The endpoint {self.caller.shown} answered without 'outputs'.")
        return Reply(_shaped(self._chosen(outputs), len(table), self.caller))

    def _chosen(self, outputs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        names = [str(item.get("name")) for item in outputs]
        if self.output_name is None and len(outputs) == 1:
            return outputs[0]
        if self.output_name in names:
            return outputs[names.index(str(self.output_name))]
        raise ModelError(
            f"The endpoint {self.caller.shown} answered with the outputs {', '.join(map(repr, names[:8])) or 'none'}. "
            "Name the one with the predictions: output_name='...'."
        )


def _described(item: Any, caller: Caller) -> Mapping[str, Any]:
    ok = (
        isinstance(item, Mapping)
        and isinstance(item.get("name"), str)
        and item.get("datatype") in {"BOOL", "BYTES", *_WHOLE, *_FLOATS}
        and isinstance(item.get("shape"), list)
        and all(isinstance(size, int) for size in item["shape"])
        and len(item["shape"]) in (1, 2)
    )
    if not ok:
        raise ModelError(
            f"The endpoint {caller.shown} expects an input that rows of a table cannot fill: {str(item)[:120]}. One or "
            "two dimensions of numbers, booleans or texts (BYTES) are sent."
        )
    described: Mapping[str, Any] = item
    return described


def _tensor(item: Mapping[str, Any], table: nw.DataFrame[Any], caller: Caller) -> dict[str, Any]:
    kind, name = item["datatype"], item["name"]
    n, width = len(table), len(table.columns)
    shape = [n] if len(item["shape"]) == 1 else [n, width]
    if len(shape) == 1 and width != 1:
        raise ModelError(f"The input '{name}' of the endpoint {caller.shown} takes one column; the data has {width}.")
    if kind == "BYTES":
        data = _texts(table, name, caller)
    else:
        matrix = number_matrix(table, make=f"endpoint {caller.shown}")
        if not np.isfinite(matrix).all():
            raise ModelError(
                f"The input '{name}' of the endpoint {caller.shown} takes numbers; some are missing or infinite, "
                "which the protocol cannot represent. Fill them as in training."
            )
        if kind not in _FLOATS and (matrix != np.rint(matrix)).any():
            raise ModelError(f"The input '{name}' of the endpoint {caller.shown} takes whole numbers.")
        dtype: Any = np.bool_ if kind == "BOOL" else np.int64 if kind in _WHOLE else np.float64
        data = matrix.astype(dtype).ravel().tolist()
    return {"name": name, "shape": shape, "datatype": kind, "data": data}


def _texts(table: nw.DataFrame[Any], name: str, caller: Caller) -> list[str]:
    columns = [_plain(table[column]) for column in table.columns]
    if any(value is None for column in columns for value in column):
        raise ModelError(f"The input '{name}' of the endpoint {caller.shown} takes texts; some are missing. Fill them.")
    return [str(value) for row in zip(*columns, strict=True) for value in row]


def _shaped(item: Mapping[str, Any], n: int, caller: Caller) -> NDArray[Any]:
    shape, data = item.get("shape"), item.get("data")
    if not isinstance(shape, list) or not isinstance(data, list) or not shape or shape[0] != n:
        raise ModelError(
            f"The endpoint {caller.shown} was asked about {n} rows and answered with a tensor of shape {shape!r:.60}."
        )
    values = _array(data, caller)
    try:
        return values.reshape([int(size) for size in shape])
    except (TypeError, ValueError):
        raise ModelError(
            f"The endpoint {caller.shown} answered with {values.size} values under the shape {shape!r:.60}."
        ) from None


def _array(found: list[Any], caller: Caller) -> NDArray[Any]:
    """The answers as an array of numbers, booleans or texts; nothing missing, nothing nested unevenly."""
    try:
        values = np.array(found)
    except (ValueError, OverflowError):
        raise ModelError(f"The endpoint {caller.shown} answered with lists of different lengths.") from None
    flat = [value for item in found for value in item] if values.ndim == 2 else found
    if any(value is None for value in flat):
        raise ModelError(f"The endpoint {caller.shown} answered with null for some rows; every row needs an answer.")
    kinds = {type(value) for value in flat} - {int, float}
    if values.ndim > 2 or not kinds <= {str, bool} or (kinds and len({type(value) for value in flat}) > 1):
        raise ModelError(
            f"The endpoint {caller.shown} answered with a mixture: {str(found[0])[:60]!r} ...; expected labels, "
            "numbers or probabilities."
        )
    if values.dtype.kind == "O" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise ModelError(
            f"The endpoint {caller.shown} answered with numbers that are infinite or too large for a float."
        )
    return values


def _plain(column: nw.Series[Any]) -> list[Any]:
    """A column as JSON has it: numbers, booleans and texts; missing is null."""
    values = column.to_list()
    if column.null_count() or (column.dtype.is_float() and bool(column.is_nan().any())):
        values = [None if value is None or value != value else value for value in values]  # pandas writes NaN for both
    if column.dtype.is_numeric() or column.dtype in (nw.Boolean, nw.String):
        return values
    return [value.isoformat() if isinstance(value, datetime.date) else _text(value) for value in values]


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str) else str(value)
