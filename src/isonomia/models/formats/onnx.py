"""ONNX models, run by onnxruntime on the processor."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.errors import ModelError, UntrustedError, require
from isonomia.models._predictors import Answer
from isonomia.models._protobuf import look_into_onnx
from isonomia.models.columns import number_matrix
from isonomia.models.model_format import MODEL_FORMATS, ModelFormat
from isonomia.models.surface import SurfaceKind

_DTYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}
#: The share of rows in which the named class must be the most probable one for the naming to be believed.
_AGREEMENT = 0.9
#: How a ModelProto begins: the tag of its first field.
_FIRST_FIELDS = (b"\x08", b"\x12", b"\x1a", b"\x3a", b"\x42")


def load_onnx(content: bytes, *, name: str) -> OnnxPredictor:
    """A session from the bytes of an ONNX file that keeps all its data inside."""
    look = look_into_onnx(content, name=name)
    if not look.has_graph:
        raise ModelError(f"'{name}' is not a readable ONNX model: it contains no graph.")
    if look.external:
        raise UntrustedError(
            f"'{name}' refers to data in other files, which could be any file on this machine. Save it with "
            "all its data inside "
            "(onnx.save_model(model, path, save_as_external_data=False))."
        )
    runtime = require("onnxruntime", extra="onnx", purpose="reading ONNX models")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(  # which would print, and try the same again, where it fails
            content, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # onnxruntime has exception classes of its own for every cause
        raise ModelError(f"'{name}' is not a readable ONNX model: {type(error).__name__}: {error}") from error
    return OnnxPredictor(session, tuple(look.classes))


@dataclass
class OnnxPredictor:
    """An ONNX session: one input for all columns, or one per column."""

    session: Any
    labels: tuple[tuple[Any, ...], ...] = ()
    make: str = field(init=False, default="ONNX")
    names: tuple[str, ...] | None = field(init=False, default=None)
    n_features: int | None = field(init=False, default=None)
    task: Task | None = field(init=False, default=None)
    alias: Callable[[str], str] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        inputs = self.session.get_inputs()
        odd = [item.type for item in inputs if item.type not in _DTYPES]
        if odd:
            raise ModelError(f"The ONNX model takes inputs of type {odd[0]}; rows of a table are {', '.join(_DTYPES)}.")
        if len(inputs) == 1:
            width = inputs[0].shape[1] if len(inputs[0].shape) == 2 else None
            self.n_features = width if isinstance(width, int) else None
        else:
            self.names = tuple(item.name for item in inputs)
            self.n_features = len(inputs)
            self.alias = _plain_name

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """Run the session once over all rows."""
        inputs = self.session.get_inputs()
        if len(inputs) == 1:
            feed = {inputs[0].name: _block(table, _DTYPES[inputs[0].type])}
        else:
            columns = zip(inputs, table.columns, strict=True)
            feed = {item.name: _block(table.select(column), _DTYPES[item.type]) for item, column in columns}
        outputs = self.session.run(None, feed)
        if len(outputs) == 1:
            return self._one(outputs[0], kind)
        label = next((item for item in outputs if isinstance(item, np.ndarray) and item.dtype.kind in "iuOUS"), None)
        table_ = next((item for item in outputs if item is not label), None)
        if label is None or table_ is None or kind == "label":
            return self._one(label if label is not None else outputs[0], kind)
        return self._with_probabilities(np.ravel(label), table_)

    @staticmethod
    def _one(values: Any, kind: SurfaceKind | None) -> Answer:
        stated: SurfaceKind | None = "label" if np.asarray(values).dtype.kind in "OUS" else None
        return Answer(values, kind or stated)

    def _with_probabilities(self, label: NDArray[Any], values: Any) -> Answer:
        if isinstance(values, list):  # a map from class to probability for each row
            classes = tuple(values[0]) if values else ()
            matrix = np.array([list(row.values()) for row in values], dtype=float)
            return Answer(_tidy(matrix), "probability", classes, label)
        matrix = np.asarray(values, dtype=float)
        if matrix.ndim == 1 or matrix.shape[1] == 1:
            return Answer(matrix, None, None, None)
        return Answer(_tidy(matrix), "probability", self._classes(label, matrix), label)

    def _classes(self, label: NDArray[Any], matrix: NDArray[np.float64]) -> tuple[Any, ...]:
        """The class of each column: the labels written in the file that go with the decisions made."""
        width = matrix.shape[1]
        candidates: list[tuple[Any, ...]] = [labels for labels in reversed(self.labels) if len(labels) == width]
        if label.dtype.kind in "iu":
            candidates.append(tuple(range(width)))
        best = matrix.argmax(axis=1)
        predicted = label.astype(str)
        for labels in candidates:
            agreement = float(np.mean(np.array([str(item) for item in labels])[best] == predicted))
            if agreement >= _AGREEMENT:
                return labels
        raise ModelError(
            f"The ONNX model does not say which class each of its {width} columns of probabilities stands for. "
            "Save it with its class labels, or ask for decisions alone (output='label')."
        )


def _tidy(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities in single precision may leave [0, 1] by a rounding error."""
    slack = 1e-6
    near = (matrix >= -slack) & (matrix <= 1 + slack)
    return np.where(near, np.clip(matrix, 0, 1), matrix)


def _block(table: nw.DataFrame[Any], dtype: Any) -> NDArray[Any]:
    if dtype is not object:
        matrix = number_matrix(table, make="ONNX")
        if np.issubdtype(dtype, np.floating):
            return matrix.astype(dtype)
        if not np.isfinite(matrix).all():
            raise ModelError(
                f"The ONNX model takes whole numbers in {', '.join(map(repr, table.columns[:5]))}; some are missing."
            )
        if (matrix != np.rint(matrix)).any():
            raise ModelError(f"The ONNX model takes whole numbers in {', '.join(map(repr, table.columns[:5]))}.")
        return matrix.astype(dtype)
    out = np.empty((len(table), len(table.columns)), dtype=object)
    for index, name in enumerate(table.columns):
        values = table[name].to_list()
        if any(value is None or value != value for value in values):
            raise ModelError(f"The ONNX model takes texts in '{name}', but some are missing. Fill them first.")
        out[:, index] = [str(value) for value in values]
    return out


def _plain_name(name: str) -> str:
    return re.sub(r"\W", "_", name)


MODEL_FORMATS.add(
    ModelFormat(
        id="onnx",
        title="ONNX",
        purpose="models of any library, exported as ONNX with all data inside",
        suffixes=(".onnx",),
        load=load_onnx,
        starts=lambda content: content[:1] in _FIRST_FIELDS,
        extra="onnx",
    )
)
