"""Rows as coordinates that can be mixed between people, and the model as a function of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import Dataset, default_backend, numbers, to_frame
from isonomia.errors import FAULTS, IsonomiaError, ModelError, NotApplicable
from isonomia.explain.outputs import Output, output_table
from isonomia.explain.players import By, Players
from isonomia.explain.steps import encoder
from isonomia.languages import msg
from isonomia.models import LARGEST_CALL, Model, Pace, Surface
from isonomia.models.call_threads import CallThreads
from isonomia.probing import Domain
from isonomia.typing import Floats, Indices

#: Bytes of altered rows that exist at a time.
MEMORY = 1 << 26
#: Rows on which a shortcut must agree with the model before it is taken.
EXAMPLES = 256
#: How far it may be off.
TOLERANCE = 1e-9
#: Rows (n, D) to raw answers (n, columns).
Answer = Callable[[Floats], Floats]


class Space:
    """Coordinates of rows, and the model as a function of coordinates.

    A pipeline whose steps work column by column is entered once: coordinates are its encoded columns, `estimator` is
    its last step. Otherwise coordinates are the columns of the dataset, categories as codes. Either way, taking some
    players' coordinates from one row and the rest from another gives a row that can be asked about.

    Attributes
    ----------
    players : Players
    names : tuple of str
        The coordinates.
    estimator : object
        What takes the coordinates: see `inputs`.
    encoded : bool
        Whether coordinates are a matrix of numbers that the estimator takes as it is.
    width : int
        Outputs per row (K).
    model_rows, seconds :
        How many rows the model was asked about, and how long that took.
    """

    def __init__(
        self,
        *,
        players: Players,
        names: tuple[str, ...],
        estimator: Any,
        encoded: bool,
        inputs: Callable[[Floats], Any],
        answer: Answer,
        width: int,
    ) -> None:
        self.players, self.names, self.estimator, self.encoded = players, names, estimator, encoded
        self.inputs, self.width = inputs, width
        self._answer = answer
        self._pace, self._threads = Pace(1, LARGEST_CALL), CallThreads()
        self.model_rows = 0
        self.seconds = 0.0

    def with_block(self, names: Sequence[str]) -> Space:
        """The same space with some players as one."""
        other = copy(self)
        other.players = self.players.merged(names)
        return other

    def counting_anew(self) -> Space:
        """The same space with nothing asked yet."""
        other = copy(self)
        other.model_rows, other.seconds = 0, 0.0
        return other

    def ask(self, rows: Floats) -> Floats:
        """The output (n, K) for rows of coordinates."""
        began = time.perf_counter()
        try:
            answer = np.concatenate([self._call(rows[portion]) for portion in self._pace.portions(len(rows))])
        except IsonomiaError:
            raise
        except FAULTS as error:  # a model may raise anything, also what would end the process of the caller
            raise ModelError(
                f"The model failed on {len(rows):,} altered rows: {type(error).__name__}: {error}"
            ) from error
        finally:
            self.seconds += time.perf_counter() - began
        self.model_rows += len(rows)
        if not np.isfinite(answer).all():
            raise ModelError(f"The model's answer is missing or infinite on some of {len(rows):,} altered rows.")
        return answer

    def _call(self, rows: Floats) -> Floats:
        with self._threads.of(len(rows)):
            return self._answer(rows)

    @property
    def batch(self) -> int:
        """How many altered rows fit into the memory set aside for them."""
        return max(1024, MEMORY // (8 * max(1, len(self.names))))


def make_space(
    model: Model,
    data: Dataset,
    table: nw.DataFrame[Any],
    *,
    surface: Surface,
    output: Output,
    classes: Sequence[int],
    by: By,
) -> tuple[Space, Floats]:
    """The space of the rows of a table, and these rows as coordinates.

    The table must contain every value that will be mixed; `surface` is what the model predicts for its first rows.
    """
    scale: Output = "probability" if output == "rescaled" else output
    found = encoder(model, data, table, by=by)
    if found is not None:
        sample = np.linspace(0, len(surface) - 1, min(EXAMPLES, len(surface))).astype(np.intp)
        expected = output_table(surface.take(sample), scale)[:, list(classes)]
        inputs = _inputs(found.estimator)
        answer = _shortcut(found.estimator, inputs, scale, found.rows[sample], expected)
        if answer is not None:
            space = Space(
                players=found.players,
                names=found.names,
                estimator=found.estimator,
                encoded=True,
                inputs=inputs,
                answer=answer,
                width=len(classes),
            )
            return space, found.rows
    names = tuple(model.features or data.features)
    kinds = {name: data.kinds[name] for name in names if name in data.kinds}
    for name in names:
        if kinds.get(name) == "numeric" and np.isinf(numbers(table[name])).any():
            raise NotApplicable(msg("{column} has infinite values, which cannot be mixed between people", column=name))
    domain = Domain.from_data(Dataset(table.select(names).to_native(), kinds=kinds), features=names)

    def ask(rows: Floats) -> Floats:
        return output_table(model.surface(data, frame=domain.decode(rows)), scale)[:, list(classes)]

    space = Space(
        players=Players(names, np.arange(len(names))),
        names=names,
        estimator=model.estimator,
        encoded=False,
        inputs=lambda rows: model.inputs(data, domain.decode(rows)),
        answer=ask,
        width=len(classes),
    )
    return space, np.ascontiguousarray(domain.encode(table.to_native()))


def _inputs(estimator: Any) -> Callable[[Floats], Any]:
    """How a matrix is handed to an estimator: as it is, or with the names that it was fitted with."""
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is None:
        return lambda rows: rows
    header = [str(name) for name in fitted]
    if default_backend() == "pandas":
        import pandas as pd

        return lambda rows: pd.DataFrame(rows, columns=header, copy=False)
    return lambda rows: to_frame({name: rows[:, index] for index, name in enumerate(header)})


def _shortcut(
    estimator: Any, inputs: Callable[[Floats], Any], output: Output, rows: Floats, expected: Floats
) -> Answer | None:
    """The estimator's own method that gives the output, tried on some rows; None where none agrees with the model."""
    for call in _calls(estimator, output):
        try:
            raw = call(inputs(rows))
        except (ValueError, TypeError, AttributeError):  # it takes other inputs, or refuses this question
            continue
        near = np.abs(raw[:, :, None] - expected[:, None, :]).max(axis=0) <= TOLERANCE
        columns = near.argmax(axis=0)
        if near.any(axis=0).all() and len(set(columns.tolist())) == len(columns):
            return _composed(call, inputs, columns)
    return None


def _composed(call: Callable[[Any], Floats], inputs: Callable[[Floats], Any], columns: Indices) -> Answer:
    return lambda rows: call(inputs(rows))[:, columns]


def _calls(estimator: Any, output: Output) -> list[Callable[[Any], Floats]]:
    """What may give the output, one column per class."""

    def both(values: Any) -> Floats:
        numbers = np.asarray(values, dtype=float)
        return np.stack([-numbers, numbers], axis=1) if numbers.ndim == 1 else numbers

    def centred(values: Any) -> Floats:
        numbers = both(values)
        return numbers if numbers.shape[1] == 2 else np.asarray(numbers - numbers.mean(axis=1, keepdims=True))

    def logs(values: Any) -> Floats:
        table = np.asarray(values, dtype=float)
        with np.errstate(divide="ignore"):
            if table.shape[1] == 2:
                odds = np.log(table[:, 1]) - np.log(table[:, 0])
                return np.stack([-odds, odds], axis=1)
            found = np.log(table)
        return np.asarray(found - found.mean(axis=1, keepdims=True))

    has = {name: getattr(estimator, name, None) for name in ("predict_proba", "decision_function", "predict")}
    proba, score, predict = has["predict_proba"], has["decision_function"], has["predict"]
    calls: list[Callable[[Any], Floats] | None] = {
        "probability": [proba and (lambda rows: np.asarray(proba(rows), dtype=float))],
        "log_odds": [score and (lambda rows: centred(score(rows))), proba and (lambda rows: logs(proba(rows)))],
        "score": [score and (lambda rows: both(score(rows)))],
        "number": [predict and (lambda rows: np.asarray(predict(rows), dtype=float).reshape(-1, 1))],
        "decision": [
            predict and (lambda rows: np.asarray(np.asarray(predict(rows))[:, None] == estimator.classes_, dtype=float))
        ],
    }[output]
    return [call for call in calls if call]
