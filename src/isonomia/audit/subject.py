"""What is examined, encoded once for all checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, Missing, Task
from isonomia.errors import DataError, NotApplicable
from isonomia.events import Progress
from isonomia.fairness import dataset_attributes
from isonomia.languages import msg
from isonomia.models import Model, Outcome, surface_of, truth_codes


@dataclass(frozen=True, eq=False)
class Subject:
    """A dataset, what a model said about it, and the options that all checks share.

    Attributes
    ----------
    data : Dataset
        All rows.
    model : Model or None
        None where the dataset carries the predictions.
    known : Dataset
        The rows with a known target: those that `outcome`, `attributes` and `weights` are about.
    outcome : Outcome
        What was true and what was said.
    attributes : tuple of Codes
        The protected attributes.
    rows : array of bool
        Which rows of `data` those are.
    """

    data: Dataset
    model: Model | None
    outcome: Outcome
    attributes: tuple[Codes, ...]
    weights: NDArray[np.float64] | None
    rows: NDArray[np.bool_]
    n_boot: int = 1000
    level: float = 0.95
    seed: int = 0
    min_per_group: int = 30
    missing: Missing = "group"
    reference: Any = "largest"
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)

    @classmethod
    def of(cls, data: Dataset, model: Model | None, **options: Any) -> Subject:
        """Ask the model once (or read the predictions), encode the attributes, leave out rows without a target."""
        if model is None and data.roles.prediction is None and not data.roles.score:
            raise DataError(
                "There is nothing to examine: give a model, or name the columns that hold predictions "
                "(`prediction`) or scores (`score`)."
            )
        surface = surface_of(data) if model is None else model.surface(data)
        if data.target is None:
            rows, truth = np.ones(len(data), dtype=bool), None
        else:
            values, rows = truth_codes(data, surface)
            truth = values[rows]
        if not rows.any():
            raise DataError(f"Every row's target '{data.target}' is missing; nothing can be measured.")
        everyone = bool(rows.all())
        outcome = Outcome(truth, surface if everyone else surface.take(rows))
        attributes = dataset_attributes(data)
        weights = data.weights
        if not everyone:
            attributes = tuple(column.take(rows).observed() for column in attributes)
            weights = None if weights is None else weights[rows]
        return cls(data, model, outcome, attributes, weights, rows, **options)

    @property
    def task(self) -> Task:
        """The kind of task."""
        return self.outcome.task

    @property
    def known(self) -> Dataset:
        """The rows with a known target."""
        return self.data if self.rows.all() else self.data.take(self.rows)

    @property
    def truth(self) -> NDArray[Any]:
        """The true outcomes; a check that needs them does not apply without."""
        if self.outcome.truth is None:
            raise NotApplicable(msg("the data name no target, so there are no true outcomes to compare with"))
        return self.outcome.truth

    def needs_attributes(self) -> tuple[Codes, ...]:
        """The protected attributes; a check that needs them does not apply without."""
        if not self.attributes:
            raise NotApplicable(msg("the data name no protected attribute"))
        return self.attributes

    def needs_decisions(self) -> None:
        """A check of decisions does not apply to a classifier's scores alone."""
        if self.task != "regression" and self.outcome.surface.label is None:
            raise NotApplicable(msg("there are scores but no decisions; name a prediction column, or give a threshold"))

    def grouping(self) -> dict[str, Any]:
        """The options that every comparison of groups takes."""
        return {
            "weights": self.weights,
            "reference": self.reference,
            "missing": self.missing,
            "min_per_group": self.min_per_group,
            "n_boot": self.n_boot,
            "level": self.level,
            "seed": self.seed,
            "backend": self.data.backend,
        }
