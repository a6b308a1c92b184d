"""Rows of a dataset as a matrix that may be changed, and what the model says about changed rows: a call a portion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset, from_columns, wrap
from isonomia.errors import DataError
from isonomia.events import Progress
from isonomia.languages import error_message
from isonomia.languages.naming import as_text
from isonomia.models import LARGEST_CALL, Model, Surface
from isonomia.probing import Feature
from isonomia.robustness.perturbation.columns import Columns
from isonomia.robustness.perturbation.paced_model import PacedModel, joined
from isonomia.typing import Floats, Indices

#: Cells of changed rows in memory at once; a portion has at least one version of every row.
CELLS = 1 << 23


class Altering:
    """Some columns of a dataset, encoded as numbers, and a model that predicts for other values of them.

    Parameters
    ----------
    data : Dataset
    model : Model
    names : sequence of str
        The columns that may change; all others that the model reads stay as they are.
    predicted : Surface, optional
        What the model says about the rows as they are, where that is known.
    strict : bool
        Whether a column that cannot be encoded (all missing, infinite values) is an error, or left as it is.
    progress : Progress, optional
        Checked before every call of the model.

    Attributes
    ----------
    columns : Columns
        What is known of the columns that may change.
    left : mapping of str
        Columns left as they are, and why.
    """

    def __init__(
        self,
        data: Dataset,
        model: Model,
        names: Sequence[str],
        predicted: Surface | None = None,
        *,
        strict: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self.data, self.model = data, model
        features, self.left = _features(data, names, strict)
        self.names = tuple(feature.name for feature in features)
        rows = np.stack([f.encode(data.column(f.name)) for f in features], axis=1)
        self.columns = Columns(features, rows)
        self.predicted = model.surface(data) if predicted is None else predicted
        self._paced = PacedModel(model, data, self.predicted, progress)
        wanted = dict.fromkeys((*data.features, *(model.features or ())))
        self._others = [name for name in wanted if name in data.columns and name not in self.names]
        self._order = [name for name in wanted if name in data.columns]
        self._order += [name for name in self.names if name not in self._order]

    def __len__(self) -> int:
        return len(self.columns.rows)

    @property
    def rows(self) -> Floats:
        """The rows as they are, (n, k)."""
        return self.columns.rows

    @property
    def portion(self) -> int:
        """The maximum number of changed rows in one frame."""
        return min(LARGEST_CALL, max(1, CELLS // max(1, len(self._order))))

    @cached_property
    def read(self) -> NDArray[np.bool_]:
        """Which columns the model reads."""
        known = self.model.features
        if known is None:
            return np.ones(len(self.names), dtype=bool)
        return np.array([name in known or name.replace(" ", "_") in known for name in self.names], dtype=bool)

    @property
    def covers_model(self) -> bool:
        """Whether the columns that may change are all that the model reads, in its order."""
        known = self.model.features
        return not self._others and (known is None or tuple(known) == self.names)

    # predicting ------------------------------------------------------------------------------------------------------

    def ask(self, rows: Floats, source: Indices) -> Surface:
        """What the model says about changed rows, each made of the row `source` of the data."""
        parts = [
            self._paced.surface(self.frame(rows[start : start + self.portion], source[start : start + self.portion]))
            for start in range(0, len(rows), self.portion)
        ]
        return joined(parts)

    def changed(self, rows: Floats, count: int = 1) -> NDArray[np.bool_]:
        """Which of `count` copies of all rows differ from the rows, in a column the model reads: (count * n,)."""
        after, before = rows.reshape(count, *self.rows.shape), self.rows
        out = np.zeros(after.shape[:2], dtype=bool)
        for index in np.flatnonzero(self.read):
            if out.all():
                break
            out |= (after[:, :, index] != before[:, index]) & ~(
                np.isnan(after[:, :, index]) & np.isnan(before[:, index])
            )
        return out.ravel()

    def ask_changed(self, rows: Floats, count: int = 1) -> tuple[Surface, int]:
        """Predictions for `count` copies of all rows, and how many differ: only changed rows are predicted again."""
        new = np.flatnonzero(self.changed(rows, count))
        if new.size == len(rows):
            return self.ask(rows, np.tile(np.arange(len(self)), count)), new.size
        kept = joined([self.predicted] * count)
        return (spliced(kept, new, self.ask(rows[new], new % len(self))) if new.size else kept), new.size

    def ask_frames(self, frames: Sequence[Any], indices: Indices) -> Surface:
        """What the model says about perturbed frames of all rows, of which only these columns count."""
        out = []
        step = max(1, self.portion // len(self))
        for start in range(0, len(frames), step):
            part = [self._completed(wrap(frame), indices) for frame in frames[start : start + step]]
            whole = part[0] if len(part) == 1 else nw.maybe_reset_index(nw.concat(part, how="vertical"))
            out.append(self._paced.surface(whole.to_native()))
        return joined(out)

    # frames ----------------------------------------------------------------------------------------------------------

    def frame(self, rows: Floats, source: Indices) -> Any:
        """Changed rows as a frame of the user's kind, with all columns that the model reads."""
        if self._plain:
            import pandas as pd

            return pd.DataFrame(rows, columns=list(self.names))
        made: dict[str, nw.Series[Any] | Floats] = {}
        if self._others:
            others = nw.maybe_reset_index(self._whole.select(self._others)[source])
            made = {name: others[name] for name in self._others}
        for index, name in enumerate(self.names):
            made[name] = self._decoded(index, rows[:, index])
        return from_columns({name: made[name] for name in self._order}, self.data.backend)

    @cached_property
    def _plain(self) -> bool:
        """Whether all columns are plain floats of pandas: one block of them is by far the quickest frame."""
        floats = all(f.kind != "category" and f.dtype == nw.Float64 and not f.nulls for f in self.columns.features)
        return floats and self.data.backend == "pandas" and self._order == list(self.names) and not self._nullable

    @property
    def _nullable(self) -> bool:
        types = self.data.frame.dtypes
        return any(not isinstance(types[name], np.dtype) for name in self._order)

    @property
    def whole(self) -> Any:
        """The columns that may change as a frame: what a perturber of frames is given."""
        return self._whole.select(list(self.names)).to_native()

    @cached_property
    def _whole(self) -> nw.DataFrame[Any]:
        return nw.maybe_reset_index(wrap(self.data.frame).select(self._order))

    def _completed(self, frame: nw.DataFrame[Any], indices: Indices) -> nw.DataFrame[Any]:
        """All columns the model reads: some as perturbed, and the others as they are."""
        given, taken = nw.maybe_reset_index(frame), {self.names[index] for index in indices}
        made = {name: given[name] if name in taken else self._whole[name] for name in self._order}
        return nw.from_native(from_columns(made, self.data.backend), eager_only=True)

    def _decoded(self, index: int, values: Floats) -> nw.Series[Any] | Floats:
        """Held numbers as a column; values may be missing, or no longer whole, where the column never had such."""
        feature, backend = self.columns.features[index], self.data.backend
        lost = np.isnan(values)
        if feature.kind == "category":
            if not lost.any():
                return feature.decode(values, backend)
            levels = self._levels[index]
            codes = np.where(lost, len(feature.levels), np.nan_to_num(values)).astype(np.intp)
            return nw.maybe_reset_index(levels[codes])
        contiguous = np.ascontiguousarray(values)
        if feature.dtype == nw.Float64 and feature.extension is None and not lost.any():
            return contiguous
        floats = feature.dtype is None or feature.dtype.is_float()
        if not lost.any() and (floats or bool((values == np.rint(values)).all())):
            return feature.decode(contiguous, backend)
        series = nw.new_series(feature.name, contiguous, backend=backend)
        return series if backend == "pandas" or not lost.any() else series.fill_nan(None)

    @cached_property
    def _levels(self) -> dict[int, nw.Series[Any]]:
        """The values of each category with a missing one after them."""
        out = {}
        for index, feature in enumerate(self.columns.features):
            if feature.kind == "category":
                seen = feature.decode(np.arange(len(feature.levels), dtype=float), self.data.backend).to_frame()
                none = seen.head(1).select(nw.col(feature.name).shift(1))
                out[index] = nw.maybe_reset_index(nw.concat([seen, none], how="vertical"))[feature.name]
        return out


def _features(data: Dataset, names: Sequence[str], strict: bool) -> tuple[tuple[Feature, ...], dict[str, str]]:
    category = ("category", "boolean", "datetime")
    features, left = [], {}
    for name in dict.fromkeys(names):
        try:
            features.append(Feature.from_column(data.column(name), as_category=data.kinds[name] in category))
        except DataError as error:
            if strict:
                raise
            left[name] = as_text(error_message(error))
    if not features:
        raise DataError(f"No column can be changed. {next(iter(left.values()), '')}")
    return tuple(features), left


def spliced(kept: Surface, indices: Indices, new: Surface) -> Surface:
    """A surface with new predictions at some indices."""
    out: dict[str, Any] = {}
    for kind in kept.kinds:
        values = getattr(kept, kind).astype(np.result_type(getattr(kept, kind), getattr(new, kind)))
        values[indices] = getattr(new, kind)
        out[kind] = values
    return replace(kept, **out)


def check_frame(frame: Any, given: Any, name: str) -> Any:
    """What a perturber of frames returned: the same columns, rows and kinds of values, or an error that says what."""
    try:
        table = wrap(frame)
    except DataError:
        raise DataError(f"The perturber '{name}' must return a frame; got {type(frame).__name__}.") from None
    before = wrap(given)
    if table.columns != before.columns or len(table) != len(before):
        raise DataError(
            f"The perturber '{name}' must return the rows and columns it was given: {len(before)} rows of "
            f"{', '.join(before.columns)}; got {len(table)} rows of {', '.join(table.columns)}."
        )
    for column in before.columns:
        one, two = before[column].dtype, table[column].dtype
        if one != two and not (one.is_numeric() and two.is_numeric()):
            raise DataError(
                f"The perturber '{name}' must keep the kind of values of '{column}': it had {one} and now has {two}."
            )
    return frame
