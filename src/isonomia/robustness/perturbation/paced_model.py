"""A model that predicts for altered rows of a dataset, in calls short enough to be cancelled between them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import Dataset, wrap
from isonomia.errors import ModelError
from isonomia.events import Progress
from isonomia.models import Model, Surface, SurfaceKind
from isonomia.probing.batch_size import Pace

#: Maximum number of rows per call.
LARGEST_CALL = 100_000

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
        Checked before every call.
    """

    def __init__(self, model: Model, data: Dataset, predicted: Surface, progress: Progress | None = None) -> None:
        self.data, self.predicted = data, predicted
        self._model = model
        self._progress = Progress.of(progress)
        self._pace = Pace(1, LARGEST_CALL)

    def surface(self, frame: Any) -> Surface:
        """The predictions for a frame of rows, made in calls of about half a second."""
        table = wrap(frame)
        parts: list[Surface] = []
        start = 0
        while start < len(table) or not parts:
            self._progress.check()
            size = min(self._pace.rows, len(table) - start)
            part = frame if size == len(table) else nw.maybe_reset_index(table[start : start + size]).to_native()
            began = time.perf_counter()
            parts.append(self._ask(part))
            self._pace.learn(size, time.perf_counter() - began)
            start += size
        return joined(parts)

    def _ask(self, frame: Any) -> Surface:
        surface = self._model.surface(self.data, frame=frame)
        if surface.kinds == self.predicted.kinds:
            return surface
        # a function does not declare what it returns: a few rows can look like decisions, all like probabilities
        kind = next(kind for kind in _KINDS if kind in self.predicted.kinds)
        threshold = self.predicted.single_threshold if kind == "score" and self.predicted.label is not None else None
        self._model = Model.of(self._model, output=kind, threshold=threshold)
        surface = self._model.surface(self.data, frame=frame)
        if surface.kinds != self.predicted.kinds:
            raise ModelError(
                f"The model said {' and '.join(self.predicted.kinds)} about the data, "
                f"and {' and '.join(surface.kinds)} about changed rows. A model must answer all rows in the same way."
            )
        return surface


def joined(parts: Sequence[Surface]) -> Surface:
    """Surfaces of portions as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    whole: dict[str, Any] = {kind: np.concatenate([getattr(part, kind) for part in parts]) for kind in first.kinds}
    return replace(first, **whole)
