"""A model that predicts for altered rows of a dataset, in calls short enough to be cancelled between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.data import Dataset
from isonomia.errors import ModelError
from isonomia.events import Progress
from isonomia.languages import msg
from isonomia.models import Model, Surface, SurfaceKind

_KINDS: tuple[SurfaceKind, ...] = ("continuous", "probability", "score", "label")


class PacedModel:
    """Answers about altered rows with the same kinds of predictions as about the data.

    Parameters
    ----------
    model : Model
    data : Dataset
        What the rows were altered from.
    predicted : Surface
        What the model predicted for the data.
    progress : Progress, optional
        Receives an event between calls, and can cancel the work there.
    """

    def __init__(self, model: Model, data: Dataset, predicted: Surface, progress: Progress | None = None) -> None:
        self.data, self.predicted = data, predicted
        self._model = model
        self._progress = Progress.of(progress)

    def surface(self, frame: Any) -> Surface:
        """The predictions for a frame of rows, made in calls of about half a second."""
        surface = self._predict(frame)
        if surface.kinds == self.predicted.kinds:
            return surface
        # a function does not declare what it returns: a few rows can look like decisions, all like probabilities
        kind = next(kind for kind in _KINDS if kind in self.predicted.kinds)
        threshold = self.predicted.single_threshold if kind == "score" and self.predicted.label is not None else None
        self._model = Model.of(self._model, output=kind, threshold=threshold)
        surface = self._predict(frame)
        if surface.kinds != self.predicted.kinds:
            raise ModelError(
                f"The model predicted {' and '.join(self.predicted.kinds)} for the data, "
                f"but {' and '.join(surface.kinds)} for changed rows. It must return the same kind for all rows."
            )
        return surface

    def _predict(self, frame: Any) -> Surface:
        stage = self._progress.stage("prediction", msg("Predicting"), total=len(frame))

        def between(done: int) -> None:
            if done:  # rows that take one call have nothing to report
                stage.at(done)
            self._progress.check()

        return self._model.surface(self.data, frame=frame, between=between)


def joined(parts: Sequence[Surface]) -> Surface:
    """Surfaces of portions as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    whole: dict[str, Any] = {kind: np.concatenate([getattr(part, kind) for part in parts]) for kind in first.kinds}
    return replace(first, **whole)
