"""From what the caller gave to a `Problem`: names checked, predictions read, features encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Binning, Bins, encode_features
from isonomia.data import Dataset, Task, check_weights, to_numpy
from isonomia.discovery.subgroups.method import Method
from isonomia.discovery.subgroups.problem import Problem
from isonomia.errors import DataError
from isonomia.events import Clock
from isonomia.models import Model, Outcome, Surface, encode_labels, finite_numbers, read_outcome
from isonomia.parameters import Integer, Number, defaults_of, read_options


def as_dataset(data: Any, protected: Sequence[str] | str | None, features: Sequence[str] | None) -> Dataset:
    """The dataset as given, or one over a bare frame of features."""
    if isinstance(data, Dataset):
        dataset: Dataset = data if protected is None else data.with_roles(protected=protected)
        return dataset if features is None else dataset.with_roles(features=tuple(features))
    if isinstance(data, np.ndarray) and data.dtype.names is None:
        if data.ndim != 2:
            raise DataError(f"An array of features must have two dimensions; got shape {data.shape}.")
        data = {f"x{i + 1}": data[:, i] for i in range(data.shape[1])}
    return Dataset(data, protected=protected or (), features=features)


def check_memory(max_memory: Any) -> int:
    """The budget of a search, in bytes."""
    return Integer(1 << 20, hint=" (bytes)").check("max_memory", max_memory)


def check_limits(method: Method, k: Any, max_l: Any, min_support: Any, n: int, n_features: int) -> dict[str, Any]:
    """`k`, `max_l` and `min_support`, checked, with the method's defaults filled in."""
    longest = Integer(1).or_none("for no limit").check("max_l", max_l)
    limits = {"k": Integer(1).check("k", k), "max_l": min(longest or n_features, n_features)}
    if min_support is None:
        return {**limits, "min_support": method.defaults.get("min_support", 0.01)}
    if isinstance(min_support, float | np.floating):
        share = Number(above=0, at_most=1, hint=" (a share), or an int (rows)").check("min_support", min_support)
        return {**limits, "min_support": share}
    rows = Integer(1, n, hint=" (the rows there are), or a share of them (float)").check("min_support", min_support)
    return {**limits, "min_support": rows}


def check_options(method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """The method's own parameters with defaults filled in, or everything that is wrong with those given."""
    read = read_options(method.parameters, given, owner=f"The method '{method.id}'")
    return {**defaults_of(method.parameters), **read}


def read_outcomes(
    data: Dataset, model: Any, y_true: Any, y_pred: Any, y_score: Any, task: Task | None, positive: Any
) -> Outcome | None:
    """What was true and what was said, from arguments, the roles of the dataset, or the model."""
    if y_true is None and data.target is not None:
        y_true = data.column(data.target)
    positive = positive if positive is not None else data.positive
    task = task or data.task
    if isinstance(model, Surface | Model) and y_pred is None and y_score is None:
        surface = model if isinstance(model, Surface) else model.surface(data)
        return Outcome(None if y_true is None else _truth_over(surface, y_true), surface)
    if y_pred is None and y_score is None and model is None:
        if data.roles.prediction is not None:
            y_pred = data.column(data.roles.prediction)
        if data.roles.score:
            columns = [data.column(name).to_numpy() for name in data.roles.score]
            y_score = columns[0] if len(columns) == 1 else np.column_stack(columns)
    if y_pred is not None and y_score is None and _are_probabilities(y_pred, y_true, task):
        y_pred, y_score = None, y_pred
    if y_pred is None and y_score is None:
        return None if y_true is None else _truth_alone(y_true, task, positive)
    if y_true is None and y_pred is None and task is None and to_numpy(y_score).ndim == 1:
        task = "binary"  # one column of probabilities, and nothing else to tell
    return read_outcome(y_true, y_pred, y_score=y_score, task=task, positive=positive)


def as_model(model: Any, positive: Any, task: Task | None) -> Model | Surface | None:
    """Whatever predicts, in its wrapper with counters of its own."""
    if model is None or isinstance(model, Surface):
        return model
    return Model.of(model, positive=positive, task=task)


def _truth_over(surface: Surface, y_true: Any) -> NDArray[Any]:
    if surface.task == "regression":
        return finite_numbers(y_true, what="true outcomes")
    return encode_labels(y_true, surface.classes, what="true outcomes")


def _truth_alone(y_true: Any, task: Task | None, positive: Any) -> Outcome:
    read = read_outcome(y_true, y_true, task=task, positive=positive)
    return Outcome(read.truth, Surface(read.task, read.surface.classes))


def _are_probabilities(y_pred: Any, y_true: Any, task: Task | None) -> bool:
    """Shares between 0 and 1 (or a table) given where decisions are due: they are probabilities."""
    values = to_numpy(y_pred)
    if values.ndim == 2:
        return True
    if task == "regression" or values.dtype.kind != "f":
        return False
    if task is None and y_true is not None:
        truth = to_numpy(y_true)
        if truth.dtype.kind == "f" and not (truth == np.rint(truth)).all():
            return False
    inside = bool(((values >= 0) & (values <= 1)).all())
    return inside and not bool((values == np.rint(values)).all())


def read_weights(data: Dataset, weights: Any) -> NDArray[np.float64] | None:
    """One weight per row with a mean of 1, or None."""
    if isinstance(weights, str):
        weights = data.column(weights)
    values = check_weights(data.weights if weights is None else weights, len(data))
    if values is None:
        return None
    return np.asarray(values * (len(values) / values.sum()), dtype=float)


def read_errors(errors: Any, n: int) -> NDArray[np.float64] | None:
    """Errors as given: one finite, non-negative number a row."""
    if errors is None:
        return None
    values = finite_numbers(errors, what="errors")
    _same_length("errors", values, n)
    if (values < 0).any():
        raise DataError(
            f"`errors` must not be negative; the smallest is {float(values.min()):g}. Give absolute or squared errors."
        )
    return values


def _same_length(what: str, values: Any, n: int) -> None:
    if len(values) != n:
        raise DataError(f"`{what}` has {len(values)} values, but the data has {n} rows.")


def read_problem(
    data: Dataset,
    model: Any,
    method: Method,
    *,
    outcome: Outcome | None,
    errors: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None,
    k: int,
    max_l: int | None,
    min_support: float | int | None,
    bins: Bins,
    binning: Binning,
    metric: str | Sequence[str] | None,
    seed: int,
    clock: Clock,
    max_memory: int,
    options: Mapping[str, Any],
) -> Problem:
    """Everything a method is given."""
    if not data.features:
        raise DataError("There is no feature to put a condition on; give a table with at least one feature column.")
    if outcome is not None:
        _same_length(
            "y_pred" if len(outcome.surface) else "y_true", outcome if len(outcome) else outcome.truth, len(data)
        )
    _check_needs(method, data, model, outcome, errors)
    surface = None if outcome is None else outcome.surface
    label = None if surface is None else surface.continuous if surface.task == "regression" else surface.label
    target = _bin_target(errors, None if outcome is None else outcome.truth, label)
    features = encode_features(data, bins=bins, binning=binning, target=target)
    return Problem(
        features=features,
        task=None if surface is None else surface.task,
        classes=() if surface is None else surface.classes,
        truth=None if outcome is None else outcome.truth,
        label=label,
        probability=None if surface is None else surface.probability,
        errors=errors,
        weights=weights,
        protected=data.protected,
        metric=metric,
        **check_limits(method, k, max_l, min_support, len(data), len(data.features)),
        seed=seed,
        clock=clock,
        max_memory=max_memory,
        options=options,
        data=data,
        model=model,
    )


def _bin_target(errors: Any, truth: Any, label: Any) -> NDArray[np.float64] | None:
    """What trees that bin a feature are grown on: errors, else disagreement, else whatever outcome there is."""
    if errors is not None:
        return np.asarray(errors, dtype=float)
    if truth is not None and label is not None:
        return np.asarray(np.abs(np.subtract(label, truth, dtype=float)), dtype=float)
    known = label if label is not None else truth
    return None if known is None else np.asarray(known, dtype=float)


def _check_needs(method: Method, data: Dataset, model: Any, outcome: Outcome | None, errors: Any) -> None:
    has_labels = outcome is not None and outcome.truth is not None
    has_predictions = outcome is not None and len(outcome.surface) > 0
    told = {
        "labels": (has_labels, "true outcomes: give y_true, or a Dataset with a target"),
        "predictions": (has_predictions, "predictions: give a model, or y_pred"),
        "probabilities": (
            has_predictions and outcome is not None and outcome.surface.probability is not None,
            "probabilities: give a model with predict_proba, or y_pred as probabilities",
        ),
        "model": (model is not None, "a model to ask about new rows: give model="),
        "protected": (bool(data.protected), "protected attributes: give protected="),
        "errors": (
            errors is not None or (has_labels and has_predictions),
            "errors: give y_true with y_pred (or a model), or errors=",
        ),
    }
    missing = [told[need][1] for need in method.needs if not told[need][0]]
    if missing:
        raise DataError(f"The method '{method.id}' needs {'; and '.join(missing)}.")
