"""Predictions about rows that are not in memory: every row goes through the model once, batch by batch."""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from isonomia.data import Dataset, to_frame, wrap
from isonomia.data.engines.files import open_parquet
from isonomia.data.engines.rows import row_bytes
from isonomia.errors import DataError
from isonomia.events import Progress
from isonomia.languages import msg
from isonomia.models import Model, Surface

#: A batch takes at most this share of the memory, and the model as much again.
SHARE = 8


def predicted(data: Dataset, model: Model, progress: Progress) -> Dataset:
    """The dataset with the model's predictions as columns, in temporary Parquet files that are counted in its place."""
    assert data.engine is not None
    if data.roles.prediction is not None or data.roles.score:
        raise DataError("Give a model or the columns of its predictions, not both.")
    folder = Path(tempfile.mkdtemp(prefix="isonomia-"))
    size = max(1000, data.engine.memory // SHARE // row_bytes(data.engine.schema))
    names = [name for name in data.columns if name not in data.left_out]
    prediction, score = (_unused(name, names) for name in ("prediction", "score"))
    done, surface = 0, None
    with progress.stage("prediction", msg("Predicting"), total=len(data)) as stage:
        for index, frame in enumerate(data.engine.batches(names, size)):
            part = data.replace(frame)
            surface = model.surface(part)
            _write(folder / f"rows-{index:06d}.parquet", part, surface, prediction, score)
            done += len(part)
            stage.at(done)
    assert surface is not None  # there are rows
    engine = open_parquet(sorted(folder.iterdir()), memory=data.engine.memory, notes=data.engine.notes)
    weakref.finalize(engine, rmtree, folder, ignore_errors=True)
    roles: dict[str, Any] = {"prediction": prediction if _decides(surface) else None}
    if surface.task == "regression":
        roles["score"] = None
    elif (ranks := _ranks(surface)) is not None:
        roles["score"] = (
            score if ranks.ndim == 1 else {label: f"{score} {code}" for code, label in enumerate(surface.classes)}
        )
    return Dataset(engine, **{**data.options(), **roles})


def _write(target: Path, part: Dataset, surface: Surface, prediction: str, score: str) -> None:
    import polars as pl

    table = wrap(part.frame)
    columns: dict[str, Any] = {name: table[name].to_native() for name in table.columns}
    if surface.task == "regression":
        columns[prediction] = surface.continuous
    elif surface.label is not None:
        columns[prediction] = np.array([*surface.classes, None], dtype=object)[:-1][surface.label]
    ranks = _ranks(surface)
    if ranks is not None and ranks.ndim == 1:
        columns[score] = ranks
    elif ranks is not None:
        columns |= {f"{score} {code}": ranks[:, code] for code in range(ranks.shape[1])}
    frame = to_frame(columns, "polars")
    frame.write_parquet(target) if isinstance(frame, pl.DataFrame) else None


def _ranks(surface: Surface) -> Any:
    return surface.probability if surface.probability is not None else surface.score


def _decides(surface: Surface) -> bool:
    return surface.label is not None or surface.task == "regression"


def _unused(name: str, names: list[str]) -> str:
    """A name that no column has."""
    while any(other.startswith(name) for other in names):
        name += "_"
    return name
