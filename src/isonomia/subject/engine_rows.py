"""What a subject is made of where an engine counts the rows: the counts, or rows that it hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.data import Dataset
from isonomia.errors import SpecError
from isonomia.events import Progress
from isonomia.languages import Message, msg
from isonomia.models import Model, Surface
from isonomia.subject.engine_predictions import predicted
from isonomia.subject.options import Settings
from isonomia.subject.parts import Parts
from isonomia.subject.reading import as_model, is_column, is_table, predictions_and_truth

_COLUMNS = ("y_true", "y_pred", "y_score", "sensitive_features", "weights")


def read_engine(
    dataset: Dataset, model: Any, reading: Mapping[str, Any], settings: Settings, progress: Progress
) -> Parts:
    """What `Subject` is assembled from: each combination of values once, with the rows that it stands for.

    A model predicts all rows first. The numbers of a regression cannot be counted: their rows are read.
    """
    for name in _COLUMNS:
        if name in reading:
            raise SpecError(
                f"`{name}` is a column in memory, but the rows stay in the engine. Name a column of the data instead."
            )
    in_memory = model is not None and (is_column(model) or is_table(model))
    wrapped = None if in_memory else as_model(model, reading)
    if model is not None and not isinstance(wrapped, Model):
        raise SpecError(
            "The predictions are in memory, but the rows stay in the engine. Name the column of predictions instead."
        )
    if isinstance(wrapped, Model):
        dataset = predicted(dataset, wrapped, progress)
    if dataset.counts is None:
        return read_rows(dataset, wrapped, settings, progress)
    return replace(_parts(dataset, wrapped, settings, progress), counts=dataset.counts)


def read_counted(dataset: Dataset, settings: Settings) -> Parts:
    """What `Subject` is assembled from: combinations of values that were counted."""
    return replace(_parts(dataset, None, settings, Progress()), counts=dataset.counts)


def read_rows(dataset: Dataset, model: Model | Surface | None, settings: Settings, progress: Progress) -> Parts:
    """What `Subject` is assembled from: rows in memory, all of them or a sample that fits."""
    rows = dataset.rows(seed=settings.seed)
    notes: tuple[Message, ...] = ()
    if len(rows) < len(dataset):
        notes = (
            msg(
                "{n:int} of {all:int} rows were examined: a sample by their numbers, since all of them do not fit into "
                "the memory given.",
                n=len(rows),
                all=len(dataset),
            ),
        )
    return replace(_parts(rows, model, settings, progress), notes=notes)


def _parts(data: Dataset, model: Model | Surface | None, settings: Settings, progress: Progress) -> Parts:
    """Predictions are columns of the data, also those that a model made."""
    predictions, truth, known = predictions_and_truth(data, None, {}, progress)
    return Parts(
        dataset=data,
        model=model,
        predictions=predictions,
        truth=truth,
        known=known,
        settings=settings,
        progress=progress,
    )
