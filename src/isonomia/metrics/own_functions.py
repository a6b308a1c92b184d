"""Metrics that a user gives as functions of (y_true, y_pred), and what such a function is given."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.errors import SpecError
from isonomia.evidence import Format
from isonomia.languages import Message, msg
from isonomia.metrics.registry import METRICS, Metric
from isonomia.metrics.rows import Rows
from isonomia.models import Surface
from isonomia.typing import Floats

#: How the interval of a function is made: from what single rows change, or by resampling rows.
OwnInterval = Literal["rows", "bootstrap"]
UNDEFINED = msg("the function gives no finite number for these rows")
#: Where it stands in lists: behind the package's own.
_LAST = 1000
#: Names of an argument that takes scores; scikit-learn's functions have all of them.
_SCORES = ("y_score", "y_prob", "y_proba", "y_pred_proba")


def own_metric(
    function: Callable[..., Any],
    name: str | None = None,
    *,
    title: str | None = None,
    purpose: str = "A function of the user's.",
    higher_is_better: bool | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    tasks: Sequence[Task] = ("binary", "multiclass", "regression"),
    shown_as: Format = "num",
    interval: OwnInterval = "rows",
) -> Metric:
    """A metric made of a function of (y_true, y_pred) that returns a number, as scikit-learn's metrics do.

    ``METRICS.add(own_metric(...))`` makes it known by its name: to audits, specs, policies and the command line.

    Parameters
    ----------
    function : callable
        Receives the labels as the user wrote them (the numbers of a regression), and ``sample_weight=`` where there are
        weights. One with an argument ``y_score`` (or ``y_prob``, ``y_proba``) receives scores there; of two classes
        labels are then 1 for the favourable one and 0, and the score is that of the favourable one.
    name : str, optional
        Its id; by default the name of the function.
    title, purpose : str, optional
        Its heading in a report, and one line for listings.
    higher_is_better : bool, optional
        The direction; None for a descriptive figure, which is not listed among those of performance.
    bounds : (float, float)
        The values it can take. Ratios between groups are made where none is negative.
    tasks : sequence of "binary", "multiclass", "regression"
    shown_as : Format
        How a report writes it: "pct" for a share.
    interval : "rows" or "bootstrap"
        "rows" asks the function a few times for each group (see `measure`) and takes it to be smooth. "bootstrap" asks
        it up to 200 times, for a maximum or a quantile.

    Examples
    --------
    >>> own_metric(lambda y_true, y_pred: float((y_true == y_pred).mean()), "same").id
    'same'
    """
    if not callable(function):
        raise SpecError(f"A metric must be a name or a function of (y_true, y_pred); got {function!r}.")
    label = str(name or getattr(function, "__name__", type(function).__name__))
    scored = _score_argument(function) is not None

    def from_rows(truth: NDArray[Any], surface: Surface, weights: Floats | None, **_: Any) -> tuple[float, None]:
        return OwnFunction(function, label, Rows(truth, surface, weights)).of_rows(np.arange(len(truth)))[0], None

    return Metric(
        id=label,
        purpose=purpose,
        title=Message.literal(title or label),
        tasks=tuple(tasks),
        surface=("probability", "score") if scored else ("label", "continuous"),
        family="functions",
        higher_is_better=higher_is_better,
        range=bounds,
        undefined=UNDEFINED,
        format=shown_as,
        order=_LAST,
        function=function,
        from_rows=from_rows,
        interval=interval,
        weighted=_takes_weights(function),
    )


def as_metric(given: Any) -> Metric:
    """The metric that a name, an entry of the registry or a function stands for."""
    if isinstance(given, Metric):
        return given
    return METRICS[given] if isinstance(given, str) else own_metric(given)


class OwnFunction:
    """Asks the function about some of the rows.

    `truth` and `predicted` are what it receives, for every row; `predicted` is None where there are scores alone.
    `codes` are the classes of `truth`.
    """

    def __init__(self, function: Callable[..., Any], name: str, rows: Rows) -> None:
        assert rows.truth is not None  # whoever chose the metric made sure
        self.function, self.name, self.weights = function, name, rows.weights
        if self.weights is not None and not _takes_weights(function):
            raise SpecError(
                f"The rows have weights, but the metric '{self.name}' takes no `sample_weight`. Give it that argument, "
                "or leave out the weights."
            )
        surface = rows.surface
        self.classes = surface.classes
        self.score: NDArray[Any] | None = None
        self.score_argument = _score_argument(self.function)
        if self.score_argument is not None:
            self.score = surface.probability if surface.probability is not None else surface.score
            if len(self.classes) == 2:
                self.classes = (0, 1)  # the second is the favourable one, and the score is that of it
        self.codes = rows.truth
        self.truth = self.labels(rows.truth)
        decided = surface.continuous if surface.task == "regression" else surface.label
        self.predicted = None if decided is None else self.labels(decided)

    def labels(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Codes as the labels they stand for; the numbers of a regression as they are."""
        if not self.classes:
            return codes
        kinds = {type(label) for label in self.classes}
        plain = len(kinds) == 1 and kinds <= {int, float, bool, str}
        found: NDArray[Any] = np.array(self.classes, None if plain else object)[codes.astype(np.intp)]
        return found

    def of_rows(self, rows: NDArray[Any]) -> tuple[float, Message | str | None]:
        """The value over these rows, or NaN and why there is none."""
        given: dict[str, Any] = {} if self.weights is None else {"sample_weight": self.weights[rows]}
        decided = None if self.predicted is None else self.predicted[rows]
        if self.score is not None and self.score_argument is not None:
            if self.score_argument in _names(self.function)[:2]:  # in the place of y_pred
                decided = self.score[rows]
            else:
                given[self.score_argument] = self.score[rows]
        return self.ask(self.truth[rows], decided, **given)

    def ask(self, truth: NDArray[Any], predicted: Any, **given: Any) -> tuple[float, Message | str | None]:
        """The value for these labels and predictions, or NaN and why there is none."""
        if not len(truth):
            return math.nan, msg("there are no rows")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about samples that lack a class: the value then is what counts
                found = self.function(truth, predicted, **given)
        except Exception as error:  # a function of the user's may raise anything
            return math.nan, f"{self.name}: {type(error).__name__}: {error}"[:300]
        try:
            value = float(found)
        except (TypeError, ValueError):
            raise SpecError(
                f"The metric '{self.name}' must return a number; it returned {type(found).__name__}."
            ) from None
        return (value, None) if math.isfinite(value) else (math.nan, UNDEFINED)


def _takes_weights(function: Callable[..., Any]) -> bool:
    parameters = _parameters(function)
    return parameters is None or any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters)


def _score_argument(function: Callable[..., Any]) -> str | None:
    """The argument that takes scores, where it has one."""
    return next((name for name in _names(function) if name in _SCORES), None)


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(one.name for one in _parameters(function) or ())


def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...] | None:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some compiled functions do not say
        return None
