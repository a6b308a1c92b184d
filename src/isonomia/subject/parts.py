"""What a `Subject` is made of, whatever it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import OTHER, Dataset, check_weights, relative_weights
from isonomia.events import Progress
from isonomia.languages import Message, msg
from isonomia.models import Model, Surface
from isonomia.subject.attributes import attributes_given
from isonomia.subject.best_off import BestOff, favour_of
from isonomia.subject.favourable import favourable_of
from isonomia.subject.options import Settings
from isonomia.subject.outcome import Outcome
from isonomia.subject.reading import backend_given, privileged_of
from isonomia.typing import Bools, Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """Predictions and true outcomes of all rows given, and where the rest comes from.

    Attributes
    ----------
    dataset, model, predictions, settings, progress
        As in `Subject`.
    truth : array or None
        True outcomes of all rows.
    known : array of bool
        Which rows have one.
    reading : mapping
        Attributes, weights and privileged values that were given beside the dataset.
    counts : array of int or None
        How many rows each row stands for.
    notes : tuple of Message
        What the reader should know about these rows.
    """

    dataset: Dataset | None
    model: Model | Surface | None
    predictions: Surface
    truth: NDArray[Any] | None
    known: Bools
    reading: dict[str, Any] = field(default_factory=dict)
    settings: Settings
    counts: NDArray[np.int64] | None = None
    progress: Progress = field(default_factory=Progress)
    notes: tuple[Message, ...] = ()

    def fields(self) -> dict[str, Any]:
        """The fields of a `Subject`: attributes and weights read; rows without target or weight are left out."""
        settings = self.settings
        attributes, banded = attributes_given(self.dataset, self.reading, self.known.size)
        weights = self._weights()
        known = self.known if weights is None else self.known & (weights > 0)
        if settings.reference is None:
            settings |= {"reference": privileged_of(self.dataset, self.reading.get("privileged")) or "best"}
        truth, surface = self.truth, self.predictions
        if not known.all():
            truth = None if truth is None else truth[known]
            surface = surface.take(known) if len(surface) else surface
            attributes = tuple(column.take(known).observed() for column in attributes)
            weights = None if weights is None else weights[known]
        favourable = favourable_of(self.predictions, self.dataset, self.model, self.reading)
        counts = None if self.counts is None else self.counts[known]
        return {
            "dataset": self.dataset,
            "model": self.model if isinstance(self.model, Model) else None,
            "predictions": self.predictions,
            "outcome": Outcome(truth, surface),
            "favourable": favourable,
            "best_off": BestOff(attributes, favour_of(surface, favourable), weights, counts),
            "attributes": attributes,
            "weights": weights,
            "rows": known,
            "settings": settings,
            "backend": backend_given(self.dataset, self.reading),
            "notes": (*self._left_out(known), *banded, *_of_another_kind(surface), *self.notes),
            "given_counts": self.counts,
            "progress": self.progress,
        }

    def _weights(self) -> Floats | None:
        """One weight per row given, on one scale; the rows with a known target weigh something."""
        given = self.reading.get("weights")
        if self.dataset is not None and isinstance(given, str):
            given = self.dataset.column(given)
        if given is None:
            weights = None if self.dataset is None else self.dataset.weights
        else:
            checked = check_weights(given, self.known.size)
            weights = None if checked is None else relative_weights(checked, self.counts)
        return None if weights is None or check_weights(weights[self.known], int(self.known.sum())) is None else weights

    def _left_out(self, used: Bools) -> tuple[Message, ...]:
        """How many rows are left out, and why."""
        no_target, no_weight = (
            int(rows.sum() if self.counts is None else self.counts[rows].sum())
            for rows in (~self.known, self.known & ~used)
        )
        notes = (
            (no_target, msg("{n:# row without a target is|# rows without a target are} left out.", n=no_target)),
            (no_weight, msg("{n:# row of weight 0 is|# rows of weight 0 are} left out.", n=no_weight)),
        )
        return tuple(note for n, note in notes if n)


def _of_another_kind(surface: Surface) -> tuple[Message, ...]:
    """How answers that are none of the known labels are counted, where there are any."""
    if surface.other is None or not surface.other.any():
        return ()
    n = int(surface.other.sum())
    if OTHER in surface.classes:
        return (msg("{n:One answer is|# answers are} none of the known labels: an outcome of their own.", n=n),)
    return (msg("{n:One answer is|# answers are} none of the known labels: counted as unfavourable.", n=n),)
