"""What can be examined in a subgroup: outcome rates and average errors, row by row.

Each is a value a row, and the rows it is defined on: a false positive rate is about rows whose true outcome is
negative, and only about them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.discovery.subgroups.problem import Problem
from isonomia.errors import DataError, SpecError, close_to
from isonomia.languages import Message, msg
from isonomia.typing import Bools, Floats

#: Probabilities are kept this far from 0 and 1 before a logarithm.
TINY = 1e-15


@dataclass(frozen=True, eq=False)
class Quantity:
    """One value a row, and where it is defined (None: everywhere).

    `binary` says that the values are 0 and 1, so that an average is a rate.
    """

    id: str
    measure: Message
    values: Floats
    defined: Bools | None
    binary: bool

    @property
    def style(self) -> Literal["pct", "num"]:
        """How an average of it is written."""
        return "pct" if self.binary else "num"

    def take(self, rows: NDArray[Any]) -> Quantity:
        """On some of the rows."""
        defined = None if self.defined is None else self.defined[rows]
        return Quantity(id=self.id, measure=self.measure, values=self.values[rows], defined=defined, binary=self.binary)


@dataclass(frozen=True)
class Rate:
    """A quantity by name: what it needs, and how it is computed.

    `compute` is given (truth, decision) as truth values of the class in question, or numbers for a regression, and
    gives values and where they are defined.
    """

    id: str
    purpose: str
    measure: Message
    tasks: tuple[Task, ...]
    needs: tuple[Literal["truth", "label", "probability"], ...]
    compute: Callable[..., tuple[Any, Any]]
    binary: bool = True

    @property
    def worse(self) -> Literal["high", "low", "both"]:
        """Which direction is worse for those concerned; both where neither is in itself."""
        if self.id in ("tpr", "tnr", "ppv", "npv", "accuracy"):
            return "low"
        return "both" if self.id in ("selection_rate", "base_rate", "residual", "prediction", "target") else "high"


def _class_rate(name: str, purpose: str, measure: Message, compute: Callable[..., Any], *needs: Any) -> Rate:
    return Rate(
        id=name,
        purpose=purpose,
        measure=measure,
        tasks=("binary", "multiclass"),
        needs=needs or ("truth", "label"),
        compute=compute,
    )


def _class_loss(name: str, purpose: str, measure: Message) -> Rate:
    return Rate(
        id=name,
        purpose=purpose,
        measure=measure,
        tasks=("binary", "multiclass"),
        needs=("truth", "probability"),
        compute=_nothing,
        binary=False,
    )


def _number(name: str, purpose: str, measure: Message, compute: Callable[..., Any], *needs: Any) -> Rate:
    return Rate(
        id=name,
        purpose=purpose,
        measure=measure,
        tasks=("regression",),
        needs=needs or ("truth", "label"),
        compute=compute,
        binary=False,
    )


def _nothing(*_: Any) -> tuple[Any, Any]:
    return None, None


_LIST = (
    _class_rate("fpr", "favoured among the negatives", msg("false positive rate"), lambda t, d: (d, ~t)),
    _class_rate("fnr", "refused among the positives", msg("false negative rate"), lambda t, d: (~d, t)),
    _class_rate("tpr", "favoured among the positives", msg("true positive rate"), lambda t, d: (d, t)),
    _class_rate("tnr", "refused among the negatives", msg("true negative rate"), lambda t, d: (~d, ~t)),
    _class_rate("ppv", "positive among the favoured", msg("precision"), lambda t, d: (t, d)),
    _class_rate("npv", "negative among the refused", msg("negative predictive value"), lambda t, d: (~t, ~d)),
    _class_rate("fdr", "negative among the favoured", msg("false discovery rate"), lambda t, d: (~t, d)),
    _class_rate("for", "positive among the refused", msg("false omission rate"), lambda t, d: (t, ~d)),
    _class_rate("error_rate", "wrong decisions", msg("error rate"), lambda t, d: (t != d, None)),
    _class_rate("accuracy", "right decisions", msg("accuracy"), lambda t, d: (t == d, None)),
    _class_rate("selection_rate", "favourable decisions", msg("selection rate"), lambda t, d: (d, None), "label"),
    _class_rate("base_rate", "positive true outcomes", msg("base rate"), lambda t, d: (t, None), "truth"),
    _class_loss("log_loss", "surprise at the true class", msg("mean log loss")),
    _class_loss("brier", "squared distance of probability and truth", msg("mean Brier score")),
    _number("absolute_error", "distance from the truth", msg("mean absolute error"), lambda t, d: (abs(d - t), None)),
    _number("squared_error", "squared distance", msg("mean squared error"), lambda t, d: ((d - t) ** 2, None)),
    _number("residual", "predicted minus true", msg("mean of predicted minus true"), lambda t, d: (d - t, None)),
    _number("prediction", "predicted number", msg("mean prediction"), lambda t, d: (d, None), "label"),
    _number("target", "true number", msg("mean true outcome"), lambda t, d: (t, None), "truth"),
)
#: All metrics by name, besides "error".
RATES: dict[str, Rate] = {rate.id: rate for rate in _LIST}


def quantity(problem: Problem, metric: str) -> Quantity:
    """A quantity by its name, on the rows of a problem.

    For several classes a rate of one class against the rest is asked for as "fpr:class"; "error_rate" and "accuracy"
    are about all classes. "error" is whatever error was given, or 0/1 for classes and the absolute error for numbers.
    """
    name, _, of_class = metric.partition(":")
    if name == "error":
        return _error(problem)
    rate = RATES.get(name)
    if rate is None:
        raise SpecError(f"Unknown metric {metric!r}.{close_to(name, ['error', *RATES])}")
    if problem.task not in rate.tasks:
        fitting = [known.id for known in RATES.values() if problem.task in known.tasks]
        raise SpecError(
            f"The metric '{name}' is for {' and '.join(rate.tasks)} tasks; here there "
            f"{'are errors alone' if problem.task is None else f'is a {problem.task} one'}. "
            f"Available: {', '.join(['error', *fitting])}."
        )
    for need in rate.needs:
        if getattr(problem, need) is None:
            words = {"truth": "true outcomes (y_true)", "label": "predictions (a model or y_pred)"}
            raise DataError(f"The metric '{name}' needs {words.get(need, 'probabilities (y_score)')}; there are none.")
    if "probability" in rate.needs:
        return Quantity(
            id=metric, measure=rate.measure, values=_probability_loss(problem, name), defined=None, binary=False
        )
    if problem.task == "regression":
        values, _ = rate.compute(problem.truth, problem.label)
        return Quantity(
            id=metric, measure=rate.measure, values=np.asarray(values, dtype=float), defined=None, binary=False
        )
    measure, truth, decision = _of_class(problem, rate, of_class)
    values, defined = rate.compute(truth, decision)
    return Quantity(id=metric, measure=measure, values=np.asarray(values, dtype=float), defined=defined, binary=True)


def metrics_of(problem: Problem, default: tuple[str, ...]) -> tuple[str, ...]:
    """The metrics asked for: one name, several, or the default."""
    if problem.metric is None:
        return default
    return (problem.metric,) if isinstance(problem.metric, str) else tuple(problem.metric)


def _error(problem: Problem) -> Quantity:
    loss = problem.loss()
    binary = bool(((loss == 0) | (loss == 1)).all())
    measure = msg("error rate") if binary else msg("mean error")
    return Quantity(id="error", measure=measure, values=loss, defined=None, binary=binary)


def _of_class(problem: Problem, rate: Rate, of_class: str) -> tuple[Message, Any, Any]:
    """Truth and decision as truth values of one class; as codes where the rate is about all classes."""
    truth, label = problem.truth, problem.label
    if problem.task == "binary":
        if of_class:
            raise SpecError(
                f"'{rate.id}:{of_class}' asks for one class of several; there are two. Ask for '{rate.id}'."
            )
        code = 1
    elif rate.id in ("error_rate", "accuracy") and not of_class:
        return rate.measure, truth, label
    else:
        names = [str(name) for name in problem.classes]
        if of_class not in names:
            raise SpecError(
                f"With {len(names)} classes '{rate.id}' must name the class it is about, such as "
                f"'{rate.id}:{names[0]}'; got {of_class or 'none'!r}.{close_to(of_class, names)}"
            )
        code = names.index(of_class)
    measure = msg("{measure} of {label}", measure=rate.measure, label=of_class) if of_class else rate.measure
    return measure, None if truth is None else truth == code, None if label is None else label == code


def _probability_loss(problem: Problem, name: str) -> Floats:
    probability, truth = problem.probability, problem.truth
    if probability is None or truth is None:  # checked by the caller
        raise DataError(f"The metric '{name}' needs true outcomes and probabilities.")
    if probability.ndim == 1:
        probability = np.column_stack([1 - probability, probability])
    own = probability[np.arange(len(truth)), truth.astype(np.int64)]
    if name == "log_loss":
        return np.asarray(-np.log(np.clip(own, TINY, 1.0)), dtype=float)
    if problem.task == "binary":
        return np.asarray((1 - own) ** 2, dtype=float)
    return np.asarray((probability**2).sum(axis=1) - 2 * own + 1, dtype=float)
