"""What can predict, seen from one side: its columns, its classes, and one call for all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.models._known import Known
from isonomia.models.columns import FrameKind, hand_over
from isonomia.models.own_decisions import Decisions, decisions_of, last_step, tied_rows, times_asked
from isonomia.models.surface import SurfaceKind

#: Libraries whose estimators are handed pandas, whatever frame the user gave (they read its categories).
_PANDAS_MAKERS = ("lightgbm", "xgboost")


@dataclass(frozen=True)
class Answer:
    """What came back from a model, before it is read as a surface.

    `kind` is None when the model does not say what it returns; `classes` are the model's own, in the order of the
    columns of `values`; `labels` are its own decisions where they do not simply follow from `values`. It took `calls`,
    with `rows` in all of them together (each row once where that is None).
    """

    values: Any
    kind: SurfaceKind | None
    classes: tuple[Any, ...] | None = None
    labels: Any = None
    calls: int = 1
    rows: int | None = None


class Predictor(Protocol):
    """One side of every kind of model."""

    make: str
    names: tuple[str, ...] | None
    n_features: int | None
    task: Task | None
    alias: Callable[[str], str] | None

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """Answer about all rows; `decide` asks for the model's own decisions beside its probabilities."""
        ...


@dataclass
class EstimatorPredictor(Known):
    """An estimator with predict, predict_proba or decision_function."""

    estimator: Any
    frame: FrameKind | None = None

    def __post_init__(self) -> None:
        self.make = type(self.estimator).__name__
        self.names = _names(self.estimator)
        n_features = getattr(self.estimator, "n_features_in_", None)
        self.n_features = None if n_features is None else int(n_features)
        self.task = _task(self.estimator)
        maker = type(self.estimator).__module__.split(".")[0]
        if maker == "lightgbm":
            self.alias = _underscored
        if self.frame is None:
            self.frame = self._wanted(maker)

    def _wanted(self, maker: str) -> FrameKind:
        if self.names is None and self.n_features is not None:
            return "numpy"  # fitted on a matrix: a frame with names would be refused or warned about
        if maker in _PANDAS_MAKERS:
            return "pandas"
        return "native"

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The classes an estimator learnt, in its own order."""
        classes = getattr(self.estimator, "classes_", None)
        return None if classes is None or len(classes) == 0 else tuple(np.asarray(classes).tolist())

    @property
    def times_asked(self) -> tuple[int, int]:
        """How often every row is sent so that it has a decision: as a rule, and at most."""
        return (1, 1) if self.task == "regression" else times_asked(self.estimator)

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """predict_proba where there is one, decision_function for two classes next, predict otherwise."""
        if self.frame is None:  # pragma: no cover - set in __post_init__
            raise AssertionError
        rows = hand_over(table, self.frame)
        classes = None if self.task == "regression" else self.classes
        if self.task != "regression":
            if kind in (None, "probability") and hasattr(self.estimator, "predict_proba"):
                return self._decided(Answer(self.estimator.predict_proba(rows), "probability", classes), rows, decide)
            two = classes is None or len(classes) == 2
            if kind in (None, "score") and two and hasattr(self.estimator, "decision_function"):
                return self._decided(Answer(self.estimator.decision_function(rows), "score", classes), rows, decide)
        if kind == "score" and hasattr(self.estimator, "decision_function"):
            return Answer(self.estimator.decision_function(rows), "score", classes)
        values = self.estimator.predict(rows)
        if self.task == "regression":
            return Answer(values, kind or "continuous")
        return Answer(values, kind or ("label" if classes is not None else None), classes)

    def _decided(self, answer: Answer, rows: Any, decide: bool) -> Answer:
        """The answer with the model's own decisions, where these do not follow from it."""
        come = decisions_of(self.estimator, "predict_proba" if answer.kind == "probability" else "decision_function")
        if not decide or come is Decisions.FOLLOW:
            return answer
        n = len(rows)
        if come is Decisions.ASKED:
            return replace(answer, labels=self.estimator.predict(rows), calls=2, rows=2 * n)
        table = np.asarray(as_values(answer.values), dtype=float)
        tied = tied_rows(table)
        if tied.size == 0 or answer.classes is None or table.ndim == 1:
            return answer
        labels = largest(answer)
        labels[tied] = np.asarray(self.estimator.predict(_taken(rows, tied))).ravel()
        return replace(answer, labels=labels, calls=2, rows=n + tied.size)


def largest(answer: Answer) -> NDArray[Any]:
    """The class of the largest probability of every row, the first one where several are."""
    index: NDArray[np.intp] = as_values(answer.values).argmax(axis=1)
    return np.asarray(np.asarray(answer.classes)[index])


def _taken(rows: Any, index: NDArray[np.intp]) -> Any:
    """Some rows of a frame or a matrix."""
    if isinstance(rows, np.ndarray):
        return rows[index]
    return nw.maybe_reset_index(nw.from_native(rows, eager_only=True)[index]).to_native()


@dataclass
class FunctionPredictor:
    """A plain function from rows to labels, probabilities or numbers."""

    function: Callable[[Any], Any]
    frame: FrameKind | None = None
    make: str = field(init=False)
    names: tuple[str, ...] | None = None
    n_features: int | None = None
    task: Task | None = None
    alias: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        self.make = getattr(self.function, "__name__", type(self.function).__name__)

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """One call for all rows; a function receives the user's own frame, Arrow included, unless `frame` is given."""
        rows = table.to_native() if self.frame in (None, "native") else hand_over(table, self.frame)
        return Answer(self.function(rows), kind)


def is_estimator(obj: object) -> bool:
    """Whether something predicts as scikit-learn's estimators do."""
    return not isinstance(obj, type) and any(
        callable(getattr(obj, name, None)) for name in ("predict", "predict_proba", "decision_function")
    )


def is_calibrated(obj: object) -> bool | None:
    """True when the estimator (or the last step of its pipeline) recalibrates its probabilities; None when unknown."""
    return True if type(last_step(obj)).__name__ == "CalibratedClassifierCV" else None


def as_values(values: Any) -> NDArray[Any]:
    """What a model returned, as an array: a frame, a series, a list or an array."""
    if isinstance(values, np.ndarray):
        return values
    for name in ("to_numpy", "toarray"):
        if hasattr(values, name):
            return np.asarray(getattr(values, name)())
    return np.asarray(values)


def _underscored(name: str) -> str:
    return name.replace(" ", "_")


def _names(estimator: Any) -> tuple[str, ...] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def _task(estimator: Any) -> Task | None:
    """What scikit-learn calls the estimator's type; None for look-alikes that do not say."""
    from sklearn.base import is_classifier, is_regressor

    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes):
        return "binary" if len(classes) == 2 else "multiclass"
    try:
        if is_regressor(estimator):
            return "regression"
        is_classifier(estimator)
    except (AttributeError, TypeError):  # a look-alike without scikit-learn's tags
        kind = getattr(estimator, "_estimator_type", None)
        return "regression" if kind == "regressor" else None
    return None
