"""From what the caller gave to rows with known outcomes, predictions and weights; shared checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from isonomia.data import Dataset, check_weights
from isonomia.errors import DataError, SpecError, close_to
from isonomia.models import Model, Outcome, Surface, surface_of, truth_codes
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Examined:
    """Rows with a known target, what was true and said about them, and their weights."""

    data: Dataset
    outcome: Outcome
    weights: Floats | None

    @property
    def truth(self) -> NDArray[Any]:
        """What was true."""
        assert self.outcome.truth is not None
        return self.outcome.truth

    def __len__(self) -> int:
        return len(self.outcome)


def check_dataset(data: Any, name: str = "data") -> Dataset:
    """The dataset, or an error that says how to make one."""
    if not isinstance(data, Dataset):
        raise DataError(
            f"`{name}` must be a Dataset; got {type(data).__name__}. Make one with isonomia.Dataset(frame, "
            "target=...) or isonomia.read(path, target=...)."
        )
    return data


def predict(data: Dataset, model: Any) -> Surface:
    """What the model says about all rows in one call; the predictions of the dataset without a model."""
    if isinstance(model, Surface):
        return model
    if model is None:
        return surface_of(data)
    return (model if isinstance(model, Model) else Model.of(model)).surface(data)


def examine(data: Any, model: Any, *, name: str = "data") -> Examined:
    """The rows whose target is known, with what was said about them."""
    given = check_dataset(data, name)
    if given.target is None:
        raise DataError(f"`{name}` has no target: name the column of true outcomes (target='...').")
    surface = predict(given, model)
    values, known = truth_codes(given, surface)
    if not known.any():
        raise DataError(f"Every row's target '{given.target}' is missing; nothing can be measured.")
    if known.all():
        return Examined(given, Outcome(values, surface), check_weights(given.weights, len(given)))
    weights = None if given.weights is None else given.weights[known]
    return Examined(
        given.take(known), Outcome(values[known], surface.take(known)), check_weights(weights, int(known.sum()))
    )


def check_features(data: Dataset, features: Sequence[str] | None) -> tuple[str, ...]:
    """The features to look at: those named, or all of the dataset."""
    if isinstance(features, str):
        features = (features,)
    names = tuple(features) if features is not None else data.features
    for name in names:
        if name not in data.columns:
            raise SpecError(f"`features` must name columns of the data; got {name!r}.{close_to(name, data.columns)}")
    if not names:
        raise DataError("There is no feature to look at; give a table with at least one feature column.")
    return names
