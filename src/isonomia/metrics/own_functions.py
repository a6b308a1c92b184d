"""Metrics that a user gives as functions of (y_true, y_pred[, sample_weight]), with bootstrap intervals."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError
from isonomia.languages import Message, msg
from isonomia.metrics.measured import Measured, percentile_ends
from isonomia.metrics.registry import Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.rows import Rows
from isonomia.typing import Floats

#: Bootstrap samples of a function at most: each of them calls it once for every set.
MAX_SAMPLES = 200
_UNDEFINED = msg("the function gives no finite number for these rows")


def own_metric(function: Callable[..., Any], name: str | None = None) -> Metric:
    """A metric made of a function of (y_true, y_pred) that returns a number, as scikit-learn's metrics do.

    The function receives the labels as the user wrote them (the numbers of a regression), and ``sample_weight=`` where
    there are weights.

    >>> own_metric(lambda y_true, y_pred: float((y_true == y_pred).mean()), "same").id
    'same'
    """
    if not callable(function):
        raise SpecError(f"A metric must be a name or a function of (y_true, y_pred); got {function!r}.")
    label = str(name or getattr(function, "__name__", type(function).__name__))
    return Metric(
        id=label,
        purpose="A function of the user's.",
        title=Message.literal(label),
        tasks=("binary", "multiclass", "regression"),
        surface=("label", "continuous"),
        family="functions",
        higher_is_better=None,
        range=(-math.inf, math.inf),
        undefined=_UNDEFINED,
        format="num",
        function=function,
    )


def of_function(metric: Metric, sets: RowSets, n_boot: int, seed: int, level: float) -> Measured:
    """The function over every set, with percentile intervals of a bootstrap of rows within cells."""
    ask = _Question(metric, sets.rows)
    value = np.full(len(sets), np.nan)
    reasons: list[Message | str | None] = [None] * len(sets)
    members = [np.flatnonzero(rows) if rows.dtype == bool else rows for _, rows in sets.each()]
    for index, rows in enumerate(members):
        value[index], reasons[index] = ask(rows)
    drawn = _drawn(ask, members, sets, min(n_boot, MAX_SAMPLES), seed) if n_boot else None
    low, high = percentile_ends(metric, value, drawn, level)
    n = np.array([rows.size for rows in members])
    return Measured(
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=n,
        size=n.astype(float),
        draws=drawn,
        method="bootstrap",
        reasons=tuple(reasons),
    )


def _drawn(ask: _Question, members: list[NDArray[Any]], sets: RowSets, samples: int, seed: int) -> Floats:
    """(S, B) values over resampled rows: every cell is drawn once per sample, for all sets that contain it."""
    rng = np.random.default_rng(seed)
    codes = np.asarray(sets.cells.codes, dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    counts = sets.cells.counts()
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    width = np.repeat(counts, counts)
    drawn = np.empty((len(members), samples))
    for sample in range(samples):
        again = np.empty(codes.size, dtype=np.intp)
        again[order] = order[starts + (rng.random(codes.size) * width).astype(np.intp)]
        for index, rows in enumerate(members):
            drawn[index, sample] = ask(again[rows])[0]
    return drawn


class _Question:
    """Asks the function about some of the rows."""

    def __init__(self, metric: Metric, rows: Rows) -> None:
        assert metric.function is not None
        assert rows.truth is not None  # whoever chose the metric made sure
        self.function, self.name = metric.function, metric.id
        classes = rows.surface.classes
        predicted = rows.surface.continuous if rows.surface.task == "regression" else rows.surface.label
        assert predicted is not None
        self.truth, self.predicted = (_labels(codes, classes) for codes in (rows.truth, predicted))
        self.weights = rows.weights
        if self.weights is not None and not _takes_weights(self.function):
            raise SpecError(
                f"The rows have weights, but the metric '{self.name}' takes no `sample_weight`. Give it that argument, "
                "or leave out the weights."
            )

    def __call__(self, rows: NDArray[Any]) -> tuple[float, Message | str | None]:
        """The value, or NaN and why there is none."""
        if not rows.size:
            return math.nan, msg("there are no rows")
        weights = {} if self.weights is None else {"sample_weight": self.weights[rows]}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about samples that lack a class: the value then is what counts
                found = self.function(self.truth[rows], self.predicted[rows], **weights)
        except Exception as error:  # a function of the user's may raise anything
            return math.nan, f"{self.name}: {type(error).__name__}: {error}"[:300]
        try:
            value = float(found)
        except (TypeError, ValueError):
            raise SpecError(
                f"The metric '{self.name}' must return a number; it returned {type(found).__name__}."
            ) from None
        return (value, None) if math.isfinite(value) else (math.nan, _UNDEFINED)


def _labels(codes: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[Any]:
    """Codes as the labels they stand for; the numbers of a regression as they are."""
    if not classes:
        return codes
    kinds = {type(label) for label in classes}
    labels = np.array(classes) if len(kinds) == 1 and kinds <= {int, float, bool, str} else np.array(classes, object)
    found: NDArray[Any] = labels[codes.astype(np.intp)]
    return found


def _takes_weights(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some compiled functions do not say
        return True
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters)
