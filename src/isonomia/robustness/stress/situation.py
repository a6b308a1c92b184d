"""Outcomes, predictions and weights of rows: as it is, and as a scenario changes it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, count_by
from isonomia.data import Dataset, Task
from isonomia.errors import SpecError
from isonomia.events import Progress
from isonomia.models import Model, Surface
from isonomia.robustness.perturbation.paced_model import PacedModel
from isonomia.typing import Floats

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Query:
    """Rows with other features, for which the model has not predicted yet."""

    frame: Any
    rows: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Situation:
    """Rows with known outcomes, their predictions and their weights.

    A scenario gets the situation as it is and returns a changed one, made by `with_labels`, `with_surface`,
    `with_weights`, `with_rows` or `with_features`; it never changes arrays in place.

    Attributes
    ----------
    data : Dataset
        The rows, all with a known target.
    truth : array
        Class codes over ``surface.classes``, or numbers for a regression.
    surface : Surface
        The predictions.
    weights : array or None
        One weight per row.
    attributes : tuple of Codes
        The protected attributes.
    model : Model or None
        What answers about other features; None where only predictions are known.
    progress : Progress
        Where trials report, and are cancelled.
    """

    data: Dataset
    truth: NDArray[Any]
    surface: Surface
    weights: Floats | None = None
    attributes: tuple[Codes, ...] = ()
    model: Model | None = None
    query: Query | None = None
    progress: Progress = field(default_factory=Progress, repr=False)
    memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.surface)

    @property
    def task(self) -> Task:
        """The kind of task."""
        return self.surface.task

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that the model reads."""
        known = None if self.model is None else self.model.features
        return self.data.features if known is None else known

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returns, worked out the first time only; trials of one run share it."""
        if key not in self.memory:
            self.memory[key] = make()
        return self.memory[key]  # type: ignore[no-any-return]

    def predict(self, frame: Any) -> Surface:
        """What the model predicts for other features, in the kinds of predictions it gave about the data."""
        if self.model is None:
            raise SpecError(
                "A scenario changed features, which needs a model to predict them; only predictions were given."
            )
        model = self.model
        return self.once("model", lambda: PacedModel(model, self.data, self.surface, self.progress)).surface(frame)

    def with_labels(self, truth: NDArray[Any]) -> Situation:
        """Other true outcomes."""
        return replace(self, truth=truth)

    def with_surface(self, surface: Surface) -> Situation:
        """Other predictions."""
        return replace(self, surface=surface)

    def with_weights(self, factor: Floats) -> Situation:
        """Rows that count more or less: their weights times a factor."""
        given = np.asarray(factor, dtype=float)
        if self.weights is not None and given.shape == self.weights.shape:
            given = given * self.weights
        return replace(self, weights=given)

    def with_rows(self, rows: NDArray[Any]) -> Situation:
        """Some of the rows, or rows drawn more than once, given by their positions: as weights."""
        indices = np.asarray(rows)
        if indices.ndim != 1 or indices.dtype.kind not in "iu" or not _within(indices, len(self)):
            raise SpecError(f"Rows must be indices from 0 to {len(self) - 1}; got {indices.dtype} of {indices.shape}.")
        return self.with_weights(count_by(indices, len(self)).astype(float))

    def with_features(self, frame: Any, rows: NDArray[Any] | None = None) -> Situation:
        """Other features: a frame of the model's columns for all rows, or for those at the positions `rows`."""
        indices = np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.intp)
        return replace(self, query=Query(frame, indices))

    def answered(self, surface: Surface) -> Situation:
        """The situation once the model has predicted for its changed rows."""
        assert self.query is not None
        rows = self.query.rows
        if len(rows) == len(self):
            return replace(self, surface=surface, query=None)
        parts = {}
        for kind in self.surface.kinds:
            values = getattr(self.surface, kind).copy()
            values[rows] = getattr(surface, kind)
            parts[kind] = values
        return replace(self, surface=replace(self.surface, **parts), query=None)


def _within(indices: NDArray[Any], n: int) -> bool:
    return indices.size == 0 or bool(indices.min() >= 0 and indices.max() < n)


def check_changed(scenario: str, before: Situation, after: Any) -> Situation:
    """What a scenario returned, if it is about the same rows; scenarios of users return all kinds of objects."""
    if not isinstance(after, Situation):
        raise SpecError(
            f"The scenario '{scenario}' must return a Situation (now.with_labels(...), with_surface, with_weights, "
            f"with_rows or with_features); got {type(after).__name__}."
        )
    n = len(before)
    sizes = {"labels": np.shape(after.truth), "predictions": (len(after.surface),)}
    if after.weights is not None:
        sizes["weights"] = np.shape(after.weights)
    for what, size in sizes.items():
        if size != (n,):
            raise SpecError(
                f"The scenario '{scenario}' must return one value per row: expected {what} of shape ({n},), got {size}."
            )
    if after.surface.task != before.task or after.surface.kinds != before.surface.kinds:
        raise SpecError(
            f"The scenario '{scenario}' returned predictions of another kind: {after.surface.task} with "
            f"{' and '.join(after.surface.kinds)}, not {before.task} with {' and '.join(before.surface.kinds)}."
        )
    weights = after.weights
    if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise SpecError(f"The scenario '{scenario}' must return finite weights of at least 0.")
    _check_values(scenario, before, after)
    return after


def _check_values(scenario: str, before: Situation, after: Situation) -> None:
    if after.truth is not before.truth:
        k = len(before.surface.classes)
        if before.task == "regression" and not np.isfinite(after.truth).all():
            raise SpecError(f"The scenario '{scenario}' must return finite labels; some are missing or infinite.")
        if before.task != "regression" and (after.truth.dtype.kind not in "iu" or not _within(after.truth, k)):
            raise SpecError(f"The scenario '{scenario}' must return labels as codes from 0 to {k - 1}.")
    if after.surface is not before.surface:
        for kind in after.surface.kinds:
            was, now = getattr(before.surface, kind), getattr(after.surface, kind)
            if np.shape(now) != np.shape(was) or not np.isfinite(now).all():
                raise SpecError(
                    f"The scenario '{scenario}' must return finite {kind} values of shape {np.shape(was)}; got shape "
                    f"{np.shape(now)}, or some that are missing or infinite."
                )
