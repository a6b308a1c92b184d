"""The one reader of what callers give: a dataset, a frame or columns in memory, or rows that an engine counts."""

from __future__ import annotations

from typing import Any

from isonomia.events import Progress
from isonomia.subject.engine_rows import read_engine
from isonomia.subject.options import Settings
from isonomia.subject.parts import Parts
from isonomia.subject.reading import (
    as_model,
    is_column,
    is_table,
    predictions_and_truth,
    predictions_given,
    read_dataset,
)


def read_parts(data: Any, model: Any, reading: dict[str, Any], settings: Settings, progress: Progress) -> Parts:
    """What a `Subject` is made of; the model is asked once about all rows."""
    dataset = None if data is None or is_column(data) else read_dataset(data, reading)
    if dataset is not None and dataset.engine is not None:
        return read_engine(dataset, model, reading, settings, progress)
    if dataset is None and data is not None:
        reading = {**reading, "y_true": data}
    if model is not None and (is_column(model) or is_table(model)):
        reading, model = {**reading, **predictions_given(model)}, None
    if is_table(reading.get("y_pred")):
        reading = {**reading, "y_pred": None, **predictions_given(reading["y_pred"])}
    wrapped = as_model(model, reading)
    predictions, truth, known = predictions_and_truth(dataset, wrapped, reading, progress)
    return Parts(
        dataset=dataset,
        model=wrapped,
        predictions=predictions,
        truth=truth,
        known=known,
        reading=reading,
        settings=settings,
        progress=progress,
    )
