"""From what the caller gave to predictions about all rows, true outcomes, and the rows where these are known."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend, Dataset, backend_of
from isonomia.data.frames import is_series
from isonomia.errors import DataError
from isonomia.events import Progress
from isonomia.languages import msg
from isonomia.models import Model, Surface
from isonomia.models.surface import as_numbers
from isonomia.subject.columns import OutcomeColumns
from isonomia.subject.truth import read_truth
from isonomia.typing import Bools

_ROLES = (
    *("target", "positive", "task", "protected", "privileged", "prediction", "score"),
    *("weight", "time", "features", "ignore", "labels", "other_answers"),
)


def is_column(values: Any) -> bool:
    """Whether something is one column: a list, a series, an array of one dimension."""
    if isinstance(values, Dataset | Mapping | Surface | Model | str):
        return False
    if isinstance(values, np.ndarray):
        return values.ndim == 1 and values.dtype.names is None
    return isinstance(values, list | tuple) or is_series(values)


def is_table(values: Any) -> bool:
    """Whether something is a table of numbers, as `predict_proba` returns it: an array of two dimensions, or rows."""
    if isinstance(values, list | tuple):
        return len(values) > 0 and isinstance(values[0], list | tuple | np.ndarray)
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.names is None


def read_dataset(data: Any, reading: Mapping[str, Any]) -> Dataset:
    """The dataset given, with the roles given; a plain frame or a matrix becomes one."""
    roles: Any = {name: reading[name] for name in _ROLES if reading.get(name) is not None}
    if isinstance(data, Dataset):
        if data.target is None and "target" not in roles and data.roles.prediction is None:
            roles = {name: value for name, value in roles.items() if name not in ("positive", "task")}
        return data.with_roles(**roles) if roles else data
    if isinstance(data, np.ndarray) and data.dtype.names is None:
        if data.ndim != 2:
            raise DataError(f"An array of features must have two dimensions; got shape {data.shape}.")
        data = {f"x{i + 1}": data[:, i] for i in range(data.shape[1])}
    if "target" not in roles and "prediction" not in roles:  # they are about columns given as arrays, or a model
        roles = {name: value for name, value in roles.items() if name not in ("positive", "task")}
    return Dataset(data, **roles)


def predictions_given(values: Any) -> dict[str, Any]:
    """Predictions without a model: a column of decisions or numbers, or a table with a probability for each class."""
    if not is_table(values):
        return {"y_pred": values}
    table = as_numbers(np.asarray(values), what="probabilities")
    if table.ndim != 2:
        raise DataError(f"A table of probabilities must have two dimensions; got shape {table.shape}.")
    return {"y_pred": table[:, 0]} if table.shape[1] == 1 else {"y_score": table}


def as_model(model: Any, reading: Mapping[str, Any] = MappingProxyType({})) -> Model | Surface | None:
    """Whatever predicts, wrapped; a `Model` and a `Surface` stay as they are unless options are given."""
    if model is None or isinstance(model, Surface):
        return model
    options = {name: reading[name] for name in ("positive", "task", "classes") if name in reading}
    if isinstance(model, Model) and not options:
        return model
    return Model.of(model, **options)


def predictions_and_truth(
    data: Dataset | None, model: Model | Surface | None, reading: Mapping[str, Any], progress: Progress
) -> tuple[Surface, NDArray[Any] | None, Bools]:
    """Predictions about all rows, their true outcomes (None without a target), and where those are known."""
    columns = OutcomeColumns.of(data, reading)
    predicted = columns.predicted is not None or columns.scores is not None
    if isinstance(model, Model | Surface):
        if reading.get("y_pred") is not None or reading.get("y_score") is not None:
            raise DataError("Give a model or predictions (y_pred, y_score), not both.")
        surface = model if isinstance(model, Surface) else _predicted(data, model, progress)
        truth = None if columns.true is None else read_truth(columns.true, surface, what=columns.true_name)
    elif predicted or columns.true is not None:
        surface, truth = columns.read()
    elif data is not None:
        surface, truth = Surface(data.task or "binary"), None
    else:
        raise DataError("Give predictions (y_pred) or scores (y_score).")
    n = data.height if data is not None else len(surface) if surface.kinds else 0 if truth is None else len(truth.known)
    for name, length in (
        ("predictions", len(surface) if surface.kinds else n),
        ("true outcomes", n if truth is None else len(truth.known)),
    ):
        if length != n:
            raise DataError(f"There are {length} {name} for {n} rows. Give one per row, in the same order.")
    if n == 0:
        raise DataError("There are no rows; nothing can be measured.")
    if surface.task == "multiclass" and len(surface.classes) == 1:
        raise DataError(
            f"Everyone has the class {surface.classes[0]!r}, in the target and the predictions; nothing can be "
            "compared."
        )
    if truth is None:
        return surface, None, np.ones(n, dtype=bool)
    if not truth.known.any():
        raise DataError(f"Every value of the target '{columns.true_name}' is missing; nothing can be measured.")
    return surface, truth.values, truth.known


def _predicted(data: Dataset | None, model: Model, progress: Progress) -> Surface:
    """The predictions of a model for all rows, in calls that the work can be cancelled between."""
    if data is None:
        raise DataError("A model needs rows to predict: give a Dataset or a frame, or give predictions (y_pred).")
    with progress.stage("prediction", msg("Predicting"), total=len(data)) as stage:
        surface = model.surface(data, between=stage.at)
        stage.at(len(data))
    return surface


def privileged_of(dataset: Dataset | None, given: Any) -> Any:
    """The privileged values of each attribute: those of the dataset, or those given with columns."""
    if dataset is not None:
        return {name: list(values) for name, values in dataset.privileged.items()}
    if given is not None and not isinstance(given, Mapping):
        return given  # a value of the only attribute
    several = (list, tuple, set)
    return {name: list(value) if isinstance(value, several) else [value] for name, value in (given or {}).items()}


def backend_given(dataset: Dataset | None, reading: Mapping[str, Any]) -> Backend | None:
    """The kind of frame that came in."""
    if dataset is not None:
        return dataset.backend
    given: Backend | None = reading.get("backend")
    return given or backend_of(*(reading.get(name) for name in ("sensitive_features", "y_pred", "y_true")))
