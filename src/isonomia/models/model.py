"""One wrapper around everything that predicts."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypedDict, get_args

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import Dataset, Task, default_backend, index_of, wrap
from isonomia.data.schema import TASKS
from isonomia.errors import FAULTS, IsonomiaError, MissingExtraError, ModelError
from isonomia.models._answers import Question, check_shape, joined, read_answer, tell_apart
from isonomia.models._predictors import (
    Answer,
    EstimatorPredictor,
    FunctionPredictor,
    Predictor,
    is_calibrated,
    is_estimator,
)
from isonomia.models.batch_size import Pace
from isonomia.models.call_threads import CallThreads
from isonomia.models.columns import FrameKind, check_width, from_matrix, hand_over, pick_columns
from isonomia.models.model_format import MODEL_FORMATS
from isonomia.models.surface import Surface, SurfaceKind
from isonomia.parameters import NAMES, Anything, Choice, Number, Several, Text, validated

_OUTPUTS: tuple[SurfaceKind, ...] = ("label", "probability", "score", "continuous")
#: Maximum number of rows per call where the work can be cancelled between calls.
LARGEST_CALL = 100_000
#: Called with the number of rows predicted so far before every call of the model; an error it raises ends the work.
Between = Callable[[int], object]


class ModelOptions(TypedDict, total=False):
    """The keyword arguments of `Model.of`, which `load_model` takes too."""

    features: Sequence[str] | None
    task: Task | None
    classes: Sequence[Any] | None
    positive: Any
    threshold: float | None
    output: SurfaceKind | None
    frame: FrameKind | None
    name: str | None


class Model:
    """Something that predicts, with one interface whatever its make.

    Make one with `Model.of` (an estimator, a function, a booster) or `load_model` (a file).

    Attributes
    ----------
    name : str
        What to call the model in a report.
    estimator : object
        What was wrapped: the estimator, booster, module or function itself.
    make : str
        What it is: the estimator's class, the function's name, the file's format.
    features : tuple of str or None
        The columns it was trained on, in its order; None when it does not know them (the features of the dataset are
        handed over then).
    trusted : bool
        Whether code was run because the caller allowed it: that of a file (pickle, joblib) or of a named module.
    format, source, fingerprint : str or None
        For a file: its format, its name and the sha256 of its content.
    n_calls, n_rows, seconds :
        How often the model was called, about how many rows in all, and how long that took.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"income": [1.0, 2, 3, 4], "hired": ["no", "no", "yes", "yes"]})
    >>> estimator = LogisticRegression().fit(frame[["income"]], frame["hired"])
    >>> model = Model.of(estimator)
    >>> surface = model.surface(Dataset(frame, target="hired", positive="yes"))
    >>> surface.classes, surface.label.tolist(), surface.kinds
    (('no', 'yes'), [0, 0, 1, 1], ('label', 'probability'))
    >>> model.n_calls, model.n_rows
    (1, 4)
    """

    def __init__(self, predictor: Predictor, estimator: Any, options: ModelOptions) -> None:
        self._predictor = predictor
        self._options = options
        self.estimator = estimator
        self.make = predictor.make
        self.name = options.get("name") or predictor.make
        given = options.get("features")
        self.features: tuple[str, ...] | None = tuple(given) if given is not None else predictor.names
        self.task: Task | None = options.get("task") or predictor.task
        self.positive: Any = options.get("positive")
        self.trusted = False
        self.format: str | None = None
        self.source: str | None = None
        self.fingerprint: str | None = None
        self.reset_clocks()
        self._pace, self._threads = Pace(1, LARGEST_CALL), CallThreads()
        self._question: tuple[weakref.ref[Dataset], Question] | None = None

    @classmethod
    @validated(
        features=NAMES.or_none("for those it was fitted with"),
        task=Choice(TASKS).or_none(),
        classes=Several(Anything("a class"), 1).or_none(),
        positive=Anything("a class"),
        threshold=Number().or_none("for the model's own decision"),
        output=Choice(_OUTPUTS).or_none(),
        frame=Choice(get_args(FrameKind)).or_none(),
        name=Text().or_none(),
    )
    def of(
        cls,
        estimator: Any,
        *,
        features: Sequence[str] | None = None,
        task: Task | None = None,
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        threshold: float | None = None,
        output: SurfaceKind | None = None,
        frame: FrameKind | None = None,
        name: str | None = None,
    ) -> Model:
        """Wrap anything that predicts.

        Parameters
        ----------
        estimator : estimator, function, XGBoost or LightGBM booster, CatBoost model, PyTorch module, or Model
            An estimator has `predict_proba` (preferred), `decision_function` (next) or `predict`. A function takes a
            frame of rows and returns one answer per row. A PyTorch module takes a matrix of numbers in the order of
            `features` and returns one tensor: probabilities, numbers, or (say so) scores.
        features : sequence of str, optional
            The columns it takes, in its order. By default the names it was fitted with, else the dataset's features.
        task : "binary", "multiclass" or "regression", optional
            The kind of task; by default read off the estimator and the dataset.
        classes : sequence, optional
            What the model's classes are called in the data, in the model's own order; for models trained on codes:
            ``classes=["<=50K", ">50K"]`` for a model of 0 and 1.
        positive : optional
            The favourable class where the dataset does not name one; of several classes one or a list of them.
        threshold : float, optional
            Cut of the probability (or score) of the positive class. By default the model decides as its own
            `predict` does: classes of scikit-learn, XGBoost and LightGBM that take the most probable class (or the sign
            of the score) are asked once, every other one for its decisions as well. A score of a function is not cut
            at all unless this is given.
        output : "label", "probability", "score" or "continuous", optional
            What it returns, or which of its answers to ask for. A function that does not say is told apart: two
            columns or more are probabilities; for a regression all is numbers; texts, booleans, whole numbers and
            values that are all among the classes are decisions; numbers all in [0, 1] are probabilities of the
            positive class; other numbers are scores. Scores of a PyTorch module in several columns are logits: their
            softmax is taken.
        frame : "native", "pandas", "polars", "pyarrow" or "numpy", optional
            What kind of rows it is handed. By default the frame of the dataset; a matrix for an estimator fitted
            without column names and for boosters.
        name : str, optional
            What to call it in a report.
        """
        options: ModelOptions = {
            "features": features,
            "task": task,
            "classes": classes,
            "positive": positive,
            "threshold": threshold,
            "output": output,
            "frame": frame,
            "name": name,
        }
        if isinstance(estimator, Model):
            merged = _merged(estimator._options, options)
            return cls(estimator._predictor, estimator.estimator, merged)._marked_like(estimator)
        return cls(_predictor_of(estimator, frame), estimator, options)

    def __repr__(self) -> str:
        parts = [self.make, self.task or "any task"]
        if self.features is not None:
            parts.append(f"{len(self.features)} features")
        return f"Model({', '.join(parts)})"

    @property
    def identity(self) -> str | None:
        """A hash that is the same for the same model in another process; None where nobody can tell (a function)."""
        from isonomia.models.identity import identity_of

        return identity_of(self)

    # asking ------------------------------------------------------------------------------------------------------

    def surface(self, data: Any, *, frame: Any = None, between: Between | None = None) -> Surface:
        """The model's predictions for every row, from calls of thousands of rows.

        Parameters
        ----------
        data : Dataset or frame
            Its features are handed over, its target says which classes there are, its `positive` which comes last. Of
            a plain frame all columns are features, and classes and `positive` are the model's own.
        frame : optional
            Other rows of the same columns (altered ones, for example) to ask about instead of the dataset's own.
        between : callable, optional
            Called with the number of rows predicted so far before every call, which lasts at most about half a second:
            a slow model can be cancelled there.

        Raises
        ------
        ModelError
            When columns are missing, the model fails, or what it returns is not an answer about these rows.
        """
        if not isinstance(data, Dataset):
            data = Dataset(self._as_table(data).to_native())
        question = self._question_of(data)
        table = data_table(data) if frame is None else self._as_table(frame)
        answer = joined(list(self._portions(table, data, question.threshold is None, between)), self.make)
        surface = read_answer(answer, replace(question, n=len(table)))
        return surface if surface.probability is None else replace(surface, calibrated=is_calibrated(self.estimator))

    def predict(self, frame: Any) -> np.ndarray[Any, Any]:
        """The decisions about rows in the names of the classes; of a regression the predicted numbers.

        Takes any frame with the model's columns, or a matrix whose columns stand in the order of `features`.
        """
        table = self._as_table(frame)
        rows = Dataset(table.to_native())
        question = replace(self._question_of(rows), n=len(table))
        answer = joined(list(self._portions(table, rows, question.threshold is None, None)), self.make)
        values = check_shape(answer.values, len(table), self.make)
        if question.classes is None and question.threshold is None:
            if answer.labels is not None:
                return check_shape(answer.labels, len(table), self.make)
            if (answer.kind or tell_apart(values, question.task, ())) in ("label", "continuous"):
                return values
        own = question.classes or answer.classes or (0, 1)
        if question.positive is None and len(own) == 2:  # which of two is favourable changes no decision
            question = replace(question, positive=own[1])
        surface = read_answer(answer, question)
        if surface.label is None:
            return check_shape(surface.continuous if surface.task == "regression" else values, len(table), self.make)
        return np.take(np.array(surface.classes), surface.label)

    def predict_proba(self, frame: Any) -> np.ndarray[Any, Any]:
        """Probabilities (rows, classes) in the model's own order of classes; takes what `predict` takes."""
        table = self._as_table(frame)
        answer = self._ask(table, None, decide=False)
        values = check_shape(answer.values, len(table), self.make)
        kind = answer.kind or tell_apart(values, self.task, ())
        if kind != "probability":
            raise ModelError(f"The model ({self.make}) gives no probabilities; ask it by predict.")
        return values if values.ndim == 2 else np.column_stack([1 - values, values])

    def predict_frame(self, frame: Any) -> np.ndarray[Any, Any]:
        """What the model returns about rows, raw: probabilities in its own class order, scores, decisions or numbers.

        Takes any frame with the model's columns, or a matrix whose columns stand in the order of `features`.
        """
        table = self._as_table(frame)
        answer = self._ask(table, None, decide=False)
        return check_shape(answer.values, len(table), self.make)

    def inputs(self, data: Dataset, frame: Any = None) -> Any:
        """The rows as the estimator itself is handed them: its columns in its order, as a frame or a matrix."""
        table = data_table(data) if frame is None else self._as_table(frame)
        return hand_over(self._select(table, data), getattr(self._predictor, "frame", None) or "native")

    @property
    def times_asked(self) -> tuple[int, int]:
        """How often every row is sent so that it has a decision: as a rule, and at most."""
        if self._options.get("threshold") is not None or self._options.get("output") == "label":
            return 1, 1
        times: tuple[int, int] = getattr(self._predictor, "times_asked", (1, 1))
        return times

    def reset_clocks(self) -> None:
        """Start counting calls, rows and seconds anew."""
        self.n_calls = 0
        self.n_rows = 0
        self.seconds = 0.0

    # how it is called --------------------------------------------------------------------------------------------

    def _ask(self, table: nw.DataFrame[Any], data: Dataset | None, *, decide: bool) -> Answer:
        chosen = self._select(table, data)
        start = time.perf_counter()
        try:
            with self._threads.of(len(table)):
                answer = self._predictor.ask(chosen, self._options.get("output"), decide=decide)
        except IsonomiaError:
            raise
        except FAULTS as error:  # a model may raise anything, also what would end the process of the caller
            reason = next(iter(str(error).splitlines()), "")  # the rest is advice to developers; the cause has it
            if chosen.implementation.is_pyarrow() and default_backend() == "pyarrow":
                raise MissingExtraError(
                    f"The model ({self.make}) failed on a PyArrow table ({type(error).__name__}: {reason:.80}). Many "
                    "models take pandas or Polars frames only, and neither is installed. Install one: "
                    "pip install 'isonomia[pandas]'"
                ) from error
            raise ModelError(
                f"The model ({self.make}) failed on {len(table):,} rows: {type(error).__name__}: {reason}"
            ) from error
        finally:
            self.seconds += time.perf_counter() - start
        self.n_calls += answer.calls
        self.n_rows += len(table) if answer.rows is None else answer.rows
        return answer

    def _portions(
        self, table: nw.DataFrame[Any], data: Dataset, decide: bool, between: Between | None
    ) -> Iterator[tuple[Answer, int]]:
        """Answers about portions of the rows, with the number of rows of each."""
        for portion in self._pace.portions(len(table)):
            if between is not None:
                between(portion.start)
            size = portion.stop - portion.start
            part = table if size == len(table) else nw.maybe_reset_index(table[portion])
            yield self._ask(part, data, decide=decide), size

    def _select(self, table: nw.DataFrame[Any], data: Dataset | None) -> nw.DataFrame[Any]:
        available = table.columns if data is None else data.features
        wanted = available if self.features is None else self.features
        if data is not None and data.target in wanted:
            raise ModelError(
                f"The model ({self.make}) takes the target '{data.target}' as a feature: it was trained on the answer. "
                "Train it without that column, or name another target."
            )
        chosen = pick_columns(table, wanted, available=available, make=self.make, alias=self._predictor.alias)
        if self._predictor.n_features is not None:
            check_width(chosen, self._predictor.n_features, make=self.make)
        return chosen

    def _as_table(self, frame: Any) -> nw.DataFrame[Any]:
        if not isinstance(frame, np.ndarray) or frame.dtype.names:
            return wrap(frame)
        names = self.features
        if names is None and self._predictor.n_features is not None:
            names = tuple(f"x{index}" for index in range(self._predictor.n_features))
        if frame.ndim != 2 or (names is not None and frame.shape[1] != len(names)):
            raise ModelError(
                f"The model ({self.make}) takes rows of {'' if names is None else len(names)} columns; got an array of "
                f"shape {frame.shape}."
            )
        return from_matrix(frame, names or tuple(f"x{index}" for index in range(frame.shape[1])))

    def _question_of(self, data: Dataset) -> Question:
        """What is known of the data before asking; kept, since a search asks about the same data many times."""
        if self._question is not None and self._question[0]() is data:
            return self._question[1]
        classes = self._options.get("classes")
        positive = self.positive
        if data.positive is not None and positive is not None and index_of(positive, (data.positive,)) is None:
            raise ModelError(
                f"The model's positive class is {positive!r}, but the dataset's is {data.positive!r}. "
                "Give both the same."
            )
        task = self._task_for(data)
        seen = data.classes if task != "regression" else ()
        question = Question(
            n=len(data),
            make=self.make,
            task=task,
            seen=seen,
            positive=data.positive if data.positive is not None else positive,
            classes=None if classes is None else tuple(classes),
            threshold=self._options.get("threshold"),
            other=data.other_answers,
        )
        self._question = (weakref.ref(data), question)
        return question

    def _task_for(self, data: Dataset) -> Task | None:
        given, wanted = self._options.get("task"), data.task
        own = given or self._predictor.task
        if wanted is None or own is None or own == wanted:
            return given or wanted or own
        output = self._options.get("output")
        if own == "regression" and given is None and output not in (None, "continuous"):
            return wanted
        if own == "regression" or wanted == "regression":
            raise ModelError(
                f"The model ({self.make}) is made for {_kind_of_task(own)}, but the target '{data.target}' is read as "
                f"{_kind_of_task(wanted)}. Give the dataset task={own!r}, or, where a regressor's numbers are scores "
                "of two classes, output='score' with a threshold."
            )
        return wanted

    @property
    def options(self) -> dict[str, Any]:
        """The options of `Model.of` that were given."""
        return {name: value for name, value in self._options.items() if value is not None}

    def _marked_like(self, other: Model) -> Model:
        self.trusted, self.format, self.source, self.fingerprint = (
            other.trusted,
            other.format,
            other.source,
            other.fingerprint,
        )
        return self


def data_table(data: Dataset) -> nw.DataFrame[Any]:
    """The dataset's whole table, wrapped."""
    return wrap(data.frame)


def _predictor_of(obj: Any, frame: FrameKind | None) -> Predictor:
    for one in MODEL_FORMATS:
        if one.owns is not None and one.predictor is not None and one.owns(obj):
            return one.predictor(obj)
    if hasattr(obj, "ask") and hasattr(obj, "make") and hasattr(obj, "alias"):
        predictor: Predictor = obj
        return predictor
    if is_estimator(obj):
        return EstimatorPredictor(obj, frame)
    if callable(obj) and not isinstance(obj, type):
        return FunctionPredictor(obj, frame)
    what = f"the class {obj.__name__}, not an instance of it" if isinstance(obj, type) else f"{type(obj).__name__}"
    raise ModelError(
        f"A model must have predict, predict_proba or decision_function, or be a function of rows; got {what}. "
        "Give a fitted estimator, a function, or load a file with isonomia.load_model(path)."
    )


def _merged(old: ModelOptions, new: ModelOptions) -> ModelOptions:
    changes = {key: value for key, value in new.items() if value is not None}
    return {**old, **changes}  # type: ignore[typeddict-item]


def _kind_of_task(task: Task) -> str:
    return "regression" if task == "regression" else f"{task} classification"
