"""Predictions for altered rows: decisions as codes, scores where the model gives them, in one call per batch."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, Task, index_of, two_classes
from isonomia.errors import FAULTS, MissingExtraError, ModelError
from isonomia.models import Decisions, Gradients, Inputs, Model, decisions_of, tied_rows, times_asked
from isonomia.probing.domain import Domain
from isonomia.subject import as_model
from isonomia.typing import Floats

Output = Literal["label", "probability", "number"]

#: Rows on which the formula of a gradient is compared with the model.
EXAMPLES = 16


@dataclass(frozen=True, eq=False)
class Predictions:
    """Decisions (codes into the oracle's classes) and scores of rows.

    `label` is None for a regression. `score` is (n,) for two classes (of the positive one) and for a regression,
    (n, K) for more classes, None where the model gives decisions only.
    """

    label: NDArray[np.int64] | None
    score: Floats | None

    def __len__(self) -> int:
        return len(self.label if self.label is not None else cast(Floats, self.score))


class Oracle:
    """Any kind of model as a function of rows of a domain.

    Parameters
    ----------
    model : estimator, callable or `isonomia.models.Model`
        Something with ``predict`` (and ``predict_proba``), or a function from a frame to labels, probabilities of
        the positive class, a table of probabilities, or numbers.
    domain : Domain
        How rows become the frame the model expects.
    data : Dataset, optional
        Determines the positive class, and whether numbers are a regression.

    Examples
    --------
    >>> domain = Domain({"age": (18, 30), "sex": ["F", "M"]}, backend="polars")
    >>> oracle = Oracle(lambda frame: (frame["sex"] == "M").to_numpy().astype(int), domain)
    >>> oracle.ask(np.array([[20.0, 0.0], [20.0, 1.0]])).label.tolist(), oracle.classes
    ([0, 1], (0, 1))
    """

    def __init__(self, model: Any, domain: Domain, data: Dataset | None = None) -> None:
        self.domain = domain
        self.model: Any = model if _is_plain(model) else as_model(model)
        self._data = data
        self.positive = data.positive if data is not None else None
        self.task: Task | None = data.task if data is not None else None
        self.threshold = 0.5
        #: Rows sent to the model so far, in how many calls, and how long they took: whatever the model was asked.
        self.rows = self.calls = 0
        self.seconds = 0.0
        self.output: Output | None = None
        self._classes: list[Any] = []
        self._columns = _wants_names(model)
        if isinstance(self.model, Model):
            return
        if hasattr(model, "classes_") and not _is_regressor(model):
            self._set_classes(np.asarray(model.classes_).ravel().tolist())
        elif _is_regressor(model):
            self.task, self.output = "regression", "number"
        elif data is not None and data.target is not None and data.task != "regression":
            self._set_classes(data.classes)
        if not callable(model) and not hasattr(model, "predict"):
            raise ModelError(
                f"A model needs `predict`, or must be a function from a frame to predictions; "
                f"got {type(model).__name__}."
            )

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that codes stand for; two classes are (negative, positive)."""
        return tuple(self._classes)

    def compact(self, rows: Floats) -> NDArray[Any]:
        """Valid rows in the numbers that the model is handed, see `Domain.compact`."""
        return self.domain.compact(rows) if self._columns else rows

    def ask(self, rows: NDArray[Any]) -> Predictions:
        """The predictions for rows of the domain."""
        frame = self._frame(rows)
        try:
            if isinstance(self.model, Model):
                predicted = self._wrapped(self.model, frame)
            else:
                predicted = self._estimator(frame, rows) if hasattr(self.model, "predict") else self._function(frame)
        except (ModelError, MissingExtraError):
            raise
        except FAULTS as error:  # whatever a model raises becomes one kind of error that shows a row
            raise ModelError(
                f"The model raised {type(error).__name__} on {len(rows):,} altered rows: {error}. The first of them: "
                f"{dict(zip(self.domain.names, self.domain.texts(rows[0]), strict=True))}."
            ) from error
        if len(predicted) != len(rows):
            raise ModelError(f"The model got {len(rows):,} rows and returned {len(predicted):,} predictions.")
        return predicted

    @cached_property
    def times_asked(self) -> tuple[int, int]:
        """How often every row is sent so that it has a decision and a score: as a rule, and at most."""
        model = self.model
        if isinstance(model, Model):
            return model.times_asked
        if self.task == "regression" or not hasattr(model, "predict") or not self._classes:
            return 1, 1
        return times_asked(model)

    def margin(self, rows: Floats) -> Floats:
        """The score itself that an estimator decides by, or the number that it predicts; counted as any question."""
        name = "predict" if self.task == "regression" else "decision_function"
        return _numbers(self._timed(getattr(self.estimator, name), self.model_input(rows)))

    def model_input(self, rows: Floats) -> Any:
        """Rows of the domain as `estimator` takes them: a frame, or an array for one fitted on arrays."""
        return self.domain.decode(rows) if _wants_names(self.estimator) else self._array(rows)

    def gradients(self, ask: Callable[[Floats], Predictions] | None = None) -> Gradients:
        """Gradients of the model's score over the domain; `ask` predicts where questions are counted."""
        domain = self.domain
        levels = [feature.levels for feature in domain.features if feature.kind == "category"]
        in_order = all(list(values) == list(range(len(values))) for values in levels)
        inputs = Inputs(
            names=domain.names,
            low=domain.low,
            high=domain.high,
            step=domain.step,
            kind="other" if domain.may_miss.any() or not in_order else "codes" if domain.nominal.any() else "numbers",
            examples=lambda: domain.sample(EXAMPLES, np.random.default_rng(0)),
        )
        return Gradients(
            self.estimator, ask or self.ask, inputs, positive=lambda: self._classes[1] if self._classes else None
        )

    @property
    def estimator(self) -> Any:
        """The estimator (or function) behind the model: what exact answers and gradients look into."""
        return self.model.estimator if isinstance(self.model, Model) else self.model

    def _frame(self, rows: NDArray[Any]) -> Any:
        return self.domain.decode(rows) if self._columns else self._array(rows)

    def _timed(self, call: Callable[[Any], Any], frame: Any) -> Any:
        """Call the model, and nothing else, with the clock running; every call of a model comes through here."""
        began = time.perf_counter()
        self.rows += len(frame)
        self.calls += 1
        try:
            return call(frame)
        finally:
            self.seconds += time.perf_counter() - began

    # kinds of models --------------------------------------------------------------------------------

    def _wrapped(self, model: Model, frame: Any) -> Predictions:
        """A `Model` answers with a surface; decisions are codes already, the positive class is code 1."""
        if self._data is None:  # a domain alone: two of its people stand for the data
            self._data = Dataset(self.domain.decode(self.domain.sample(2, np.random.default_rng(0))))
        data = self._data
        before = model.n_rows, model.n_calls, model.seconds
        try:
            surface = model.surface(data, frame=frame)
        finally:  # it counts its calls itself
            self.rows += model.n_rows - before[0]
            self.calls += model.n_calls - before[1]
            self.seconds += model.seconds - before[2]
        self.task, self._classes, self.threshold = surface.task, list(surface.classes), surface.single_threshold
        label = None if surface.label is None else surface.label.astype(np.int64)
        for score in (surface.probability, surface.score, surface.continuous):
            if score is not None:
                return Predictions(label, score)
        return Predictions(label, None)

    def _estimator(self, frame: Any, rows: NDArray[Any]) -> Predictions:
        model = self.model
        if self.task == "regression":
            return Predictions(None, _numbers(self._timed(model.predict, frame)))
        if not self._classes:
            return self._function(frame, model.predict)
        if hasattr(model, "predict_proba"):
            table = np.asarray(self._timed(model.predict_proba, frame), dtype=float)
            return Predictions(self._decided(table, frame, rows), self._score(table))
        if not hasattr(model, "decision_function") or len(self._classes) != 2:
            return Predictions(self._codes(self._timed(model.predict, frame)), None)
        self.threshold = 0.0
        margin = _numbers(self._timed(model.decision_function, frame))
        if decisions_of(model, "decision_function") is Decisions.FOLLOW:
            label = self._order[(margin > 0).astype(np.intp)]
        else:
            label = self._codes(self._timed(model.predict, frame))
        return Predictions(label, margin if self._order[1] == 1 else -margin)

    def _decided(self, table: Floats, frame: Any, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The model's own decisions; it is asked for those that do not follow from its probabilities."""
        come = decisions_of(self.model, "predict_proba")
        if come is Decisions.ASKED:
            return self._codes(self._timed(self.model.predict, frame))
        label: NDArray[np.int64] = self._order[_first_of_largest(table)]
        tied = tied_rows(table) if come is Decisions.BUT_TIES else ()
        if len(tied):
            label[tied] = self._codes(self._timed(self.model.predict, self._frame(rows[tied])))
        return label

    def _function(self, frame: Any, call: Callable[[Any], Any] | None = None) -> Predictions:
        answer = np.asarray(self._timed(call or self.model, frame))
        kind = self._kind_of(answer)
        if self.output is None:
            self.output = kind
        elif kind != self.output and not (self.output == "probability" and answer.dtype.kind in "iub"):
            raise ModelError(
                f"The model answered with {self.output}s first and with {kind}s (dtype {answer.dtype}) later. "
                "A model must return the same kind for every row."
            )
        if self.output == "number":
            self.task = "regression"
            return Predictions(None, _numbers(answer))
        if self.output == "probability":
            return self._probabilities(answer.astype(float))
        return Predictions(self._codes(answer), None)

    def _kind_of(self, answer: NDArray[Any]) -> Output:
        if answer.dtype.kind == "f" and answer.ndim == 1:
            if np.isnan(answer).any():
                raise ModelError(f"{int(np.isnan(answer).sum())} of {len(answer):,} answers of the model are missing.")
            if self.task == "regression":
                return "number"
            whole = bool((answer == np.floor(answer)).all())
            if self.output is not None and not (whole and self.output == "label"):
                return "number" if ((answer < 0) | (answer > 1)).any() else self.output
            if whole and self._classes:
                return "label"
            return "probability" if ((answer >= 0) & (answer <= 1)).all() else "number"
        if answer.ndim == 2 and answer.dtype.kind == "f":
            return "probability"
        if self.task == "regression" and answer.dtype.kind in "iuf":
            return "number"
        if answer.ndim != 1:
            raise ModelError(f"The model must return one value per row; got an array of shape {answer.shape}.")
        return "label"

    def _probabilities(self, answer: Floats) -> Predictions:
        if answer.ndim == 1:
            score = _numbers(answer)
            if not self._classes:
                self._set_classes([0, 1])
            return Predictions((score >= self.threshold).astype(np.int64), score)
        if not self._classes:
            self._set_classes(list(range(answer.shape[1])))
        if answer.shape[1] != len(self._classes):
            raise ModelError(f"There are {len(self._classes)} classes, but {answer.shape[1]} columns of probabilities.")
        return Predictions(self._order[_first_of_largest(answer)], self._score(answer))

    # classes ----------------------------------------------------------------------------------------------------

    def _set_classes(self, classes: Sequence[Any]) -> None:
        """Take the model's classes; the positive one becomes code 1 of two."""
        names, order = list(classes), np.arange(len(classes))
        if len(names) == 2 and self.positive is not None:
            names = list(two_classes(classes, self.positive, what="the model's classes"))
            order = np.array([index_of(name, names) for name in classes])
        self._classes, self._order = names, order
        self.task = "binary" if len(names) == 2 else "multiclass"

    def _score(self, table: Floats) -> Floats:
        if not np.isfinite(table).all():
            raise ModelError(f"{int((~np.isfinite(table)).sum())} probabilities of the model are missing or infinite.")
        if table.shape[1] == 2:
            return np.ascontiguousarray(table[:, self._order[1]])  # an order of two is its own inverse
        ordered = np.empty_like(table)
        ordered[:, self._order] = table
        return ordered

    def _codes(self, answer: Any) -> NDArray[np.int64]:
        column = Codes.encode(np.asarray(answer).ravel())
        if column.missing is not None:
            lost = int(column.counts()[column.missing])
            raise ModelError(f"{lost} of {len(column):,} decisions of the model are missing.")
        table = np.array([self._code(label) for label in column.labels], dtype=np.int64)
        return np.asarray(table[column.codes], dtype=np.int64)

    def _code(self, value: Any) -> int:
        code = index_of(value, self._classes)
        if code is not None:
            return code
        self._classes.append(value)  # a function that gives labels shows its classes as it goes
        return len(self._classes) - 1

    def _array(self, rows: Floats) -> Any:
        """Rows for an estimator fitted on a plain array: categories are their values, not their indices."""
        nominal = np.flatnonzero(self.domain.nominal)
        if nominal.size == 0:
            return rows
        levels = [self.domain.features[int(index)].levels for index in nominal]
        numeric = all(isinstance(level, int | float) for values in levels for level in values)
        table: NDArray[Any] = rows.copy() if numeric else rows.astype(object)
        for index, values in zip(nominal, levels, strict=True):
            lookup = np.array(values, dtype=float if numeric else object)
            table[:, index] = lookup[rows[:, index].astype(np.intp)]
        return table


def _is_plain(model: Any) -> bool:
    """A scikit-learn estimator, something shaped like one, or a function: called directly."""
    torch = sys.modules.get("torch")  # a module is a function of tensors, not of frames
    if isinstance(model, Model) or (torch is not None and isinstance(model, torch.nn.Module)):
        return False
    return hasattr(model, "classes_") or _is_regressor(model) or (callable(model) and not hasattr(model, "predict"))


def _wants_names(model: Any) -> bool:
    """A scikit-learn estimator fitted on a plain array wants a plain array."""
    fitted_on_array = hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    return not fitted_on_array


def _is_regressor(model: Any) -> bool:
    if not hasattr(model, "predict"):
        return False
    from sklearn.base import BaseEstimator, is_regressor

    return isinstance(model, BaseEstimator) and bool(is_regressor(model))


def _numbers(answer: Any) -> Floats:
    try:
        numbers = np.asarray(answer, dtype=float).ravel()
    except (TypeError, ValueError):
        raise ModelError(f"The model must return numbers; got values of type {np.asarray(answer).dtype}.") from None
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise ModelError(f"{bad} of {len(numbers):,} answers of the model are missing or infinite.")
    return numbers


def _first_of_largest(table: Floats) -> NDArray[np.intp]:
    """``table.argmax(axis=1)``, which numpy is slow at along rows of two."""
    return (table[:, 1] > table[:, 0]).astype(np.intp) if table.shape[1] == 2 else table.argmax(axis=1)
