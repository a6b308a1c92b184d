"""What can be examined in a subgroup: outcome rates and average errors, row by row.

Each is a metric of the registry as one value per row, and the rows it is defined on: a false positive rate is about
rows whose true outcome is negative, and only about them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.discovery.subgroups.explained import explained
from isonomia.discovery.subgroups.problem import Problem
from isonomia.errors import DataError, SpecError, close_to
from isonomia.languages import Message, msg
from isonomia.metrics import ERROR_RATE, METRICS, Metric, Rows, RowSums, expected_error, expected_favourable
from isonomia.metrics import of_class as metric_of_class
from isonomia.models import Surface
from isonomia.typing import Bools, Floats


@dataclass(frozen=True, eq=False)
class Quantity:
    """One value per row, and where it is defined (None: everywhere).

    `binary` says that the values are 0 and 1, so that an average is a rate. `expected` is what a row's value is
    compared with; None where all rows are compared with the average of everyone.
    """

    id: str
    measure: Message
    values: Floats
    defined: Bools | None
    binary: bool
    expected: Floats | None = None

    @property
    def style(self) -> Literal["pct", "num"]:
        """How an average of it is written."""
        return "pct" if self.binary else "num"

    def take(self, rows: NDArray[Any]) -> Quantity:
        """On some of the rows."""
        defined, expected = (None if part is None else part[rows] for part in (self.defined, self.expected))
        return replace(self, values=self.values[rows], defined=defined, expected=expected)

    def flipped(self) -> Quantity:
        """The opposite, where a low value is the worse one."""
        top = 1.0 if self.binary else 0.0
        expected = None if self.expected is None else top - self.expected
        return replace(self, values=top - self.values, expected=expected)

    def excess(self) -> Floats:
        """What each row's value has beyond the expected one; the value itself where nothing else is expected."""
        return self.values if self.expected is None else self.values - self.expected

    def beyond(self) -> Quantity:
        """The excess as a quantity of its own, for searches that compare averages with the average of everyone."""
        if self.expected is None:
            return self
        measure = msg("{measure} beyond what the scores predict", measure=self.measure)
        return replace(self, measure=measure, values=self.excess(), binary=False, expected=None)


@dataclass(frozen=True)
class Rate:
    """A metric of the registry that is a mean over rows, under its name here; `needs` says what must be known."""

    id: str
    metric: Metric
    purpose: str
    measure: Message
    needs: tuple[Literal["truth", "label", "probability"], ...] = ("truth", "label")

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Rates of decisions are also about one class of several, against the rest."""
        return ("binary", "multiclass") if self.metric.of_decisions else self.metric.tasks

    @property
    def worse(self) -> Literal["high", "low", "both"]:
        """Which direction is worse for those concerned; both where neither is in itself."""
        better = self.metric.higher_is_better
        return "both" if better is None else "low" if better else "high"


_LOSS: tuple[Literal["truth", "label", "probability"], ...] = ("truth", "probability")
_LIST = (
    Rate("fpr", METRICS["fpr"], "favoured among the negatives", msg("false positive rate")),
    Rate("fnr", METRICS["fnr"], "refused among the positives", msg("false negative rate")),
    Rate("tpr", METRICS["tpr"], "favoured among the positives", msg("true positive rate")),
    Rate("tnr", METRICS["tnr"], "refused among the negatives", msg("true negative rate")),
    Rate("ppv", METRICS["ppv"], "positive among the favoured", msg("precision")),
    Rate("npv", METRICS["npv"], "negative among the refused", msg("negative predictive value")),
    Rate("fdr", METRICS["false_discovery_rate"], "negative among the favoured", msg("false discovery rate")),
    Rate("for", METRICS["false_omission_rate"], "positive among the refused", msg("false omission rate")),
    Rate("error_rate", ERROR_RATE, "wrong decisions", msg("error rate")),
    Rate("accuracy", METRICS["accuracy"], "right decisions", msg("accuracy")),
    Rate("selection_rate", METRICS["selection_rate"], "favourable decisions", msg("selection rate"), ("label",)),
    Rate("base_rate", METRICS["base_rate"], "positive true outcomes", msg("base rate"), ("truth",)),
    Rate("log_loss", METRICS["log_loss"], "surprise at the true class", msg("mean log loss"), _LOSS),
    Rate("brier", METRICS["brier_score"], "squared distance of probability and truth", msg("mean Brier score"), _LOSS),
    Rate("absolute_error", METRICS["mae"], "distance from the truth", msg("mean absolute error")),
    Rate("squared_error", METRICS["mse"], "squared distance", msg("mean squared error")),
    Rate("residual", METRICS["mean_error"], "predicted minus true", msg("mean of predicted minus true")),
    Rate("prediction", METRICS["mean_prediction"], "predicted number", msg("mean prediction"), ("label",)),
    Rate("target", METRICS["mean_label"], "true number", msg("mean true outcome"), ("truth",)),
)
#: Errors, favourable and unfavourable true outcomes, each compared with what the scores let expect.
ERROR_GIVEN_SCORE, UNDERRATED, OVERRATED = "error_given_score", "underrated", "overrated"
GIVEN_SCORE = (ERROR_GIVEN_SCORE, UNDERRATED, OVERRATED)
#: All metrics by name, besides "error" and those given the score.
RATES: dict[str, Rate] = {rate.id: rate for rate in _LIST}


def is_counted(metric: str) -> bool:
    """Whether a metric follows from decisions and outcomes alone, or from what scores let expect of them."""
    name = metric.partition(":")[0]
    return name in ("error", ERROR_GIVEN_SCORE) or (name in RATES and RATES[name].metric.of_decisions)


def quantity(problem: Problem, metric: str) -> Quantity:
    """A quantity by its name, on the rows of a problem.

    For several classes a rate of one class against the rest is requested as "fpr:class"; "error_rate" and "accuracy"
    are about all classes. "error" is whatever error was given, or 0/1 for classes and the absolute error for numbers.
    "error_given_score" is the error rate compared with that of all rows with such scores (`metrics.expected_error`);
    "underrated" and "overrated" are favourable and unfavourable true outcomes compared with those of all rows with such
    scores (`metrics.expected_favourable`).
    """
    if metric not in problem.shared:
        problem.shared[metric] = _given_taken(problem, _quantity(problem, metric))
    found: Quantity = problem.shared[metric]
    return found


def _given_taken(problem: Problem, examined: Quantity) -> Quantity:
    """The quantity compared with what the subgroups taken by it explain, and everyone's average."""
    taken = [inside for metric, inside in problem.taken if metric == examined.id]
    if not taken:
        return examined
    everyone = np.ones(problem.length, dtype=bool) if examined.defined is None else examined.defined
    expected = examined.expected
    if expected is None:
        weights = None if problem.weights is None else problem.weights[everyone]
        expected = np.full(problem.length, np.average(examined.values[everyone], weights=weights))
    rows = [*(inside & everyone for inside in taken), everyone]
    moved = explained(examined.values, expected, rows, problem.weights, binary=examined.binary)
    return replace(examined, expected=moved)


def _quantity(problem: Problem, metric: str) -> Quantity:
    name, _, of_class = metric.partition(":")
    if name == "error":
        return _error(problem)
    if metric in GIVEN_SCORE:
        return _given_score(problem, metric)
    rate = RATES.get(name)
    if rate is None:
        raise SpecError(f"Unknown metric {metric!r}.{close_to(name, ['error', *GIVEN_SCORE, *RATES])}")
    if problem.task not in rate.tasks:
        fitting = [known.id for known in RATES.values() if problem.task in known.tasks]
        raise SpecError(
            f"The metric '{name}' is for {' and '.join(rate.tasks)} tasks; "
            f"{'here only errors were given' if problem.task is None else f'this is a {problem.task} task'}. "
            f"Available: {', '.join(['error', *fitting])}."
        )
    for need in rate.needs:
        if getattr(problem, need) is None:
            words = {"truth": "true outcomes (y_true)", "label": "predictions (a model or y_pred)"}
            raise DataError(f"The metric '{name}' needs {words.get(need, 'probabilities (y_score)')}; there are none.")
    found, measure = _of_class(problem, rate, of_class)
    values, defined = RowSums(found, _rows(problem)).values()
    binary = rate.metric.of_decisions
    return Quantity(metric, measure, values, None if defined is None or defined.all() else defined, binary=binary)


def defined_rows(problem: Problem, examined: Quantity) -> tuple[Problem, Quantity]:
    """The rows where a quantity is defined."""
    if examined.defined is None:
        return problem, examined
    key = f"defined rows of {examined.id}"
    if key not in problem.shared:
        rows = np.flatnonzero(examined.defined)
        problem.shared[key] = problem.take(rows), replace(examined.take(rows), defined=None)
    found: tuple[Problem, Quantity] = problem.shared[key]
    return found


def _rows(problem: Problem) -> Rows:
    """What is known of the rows; a label that no requested rate reads is 0."""
    if problem.task == "regression":
        numbers = problem.truth if problem.label is None else problem.label
        return Rows(problem.truth, Surface.of_numbers(numbers))
    label = np.zeros(problem.length, dtype=np.uint8) if problem.label is None else problem.label
    assert problem.task is not None
    return Rows(problem.truth, Surface(problem.task, problem.classes, label=label, probability=problem.probability))


def metrics_of(problem: Problem, default: tuple[str, ...]) -> tuple[str, ...]:
    """The requested metrics: one name, several, or the default."""
    if problem.metric is None:
        return default
    return (problem.metric,) if isinstance(problem.metric, str) else tuple(problem.metric)


def _error(problem: Problem) -> Quantity:
    loss = problem.loss()
    binary = bool(((loss == 0) | (loss == 1)).all())
    measure = msg("error rate") if binary else msg("mean error")
    return Quantity("error", measure, loss, None, binary)


def _given_score(problem: Problem, metric: str) -> Quantity:
    plain = quantity(problem, "error_rate" if metric == ERROR_GIVEN_SCORE else "base_rate")
    assert problem.truth is not None  # both need it
    expected = problem.expected
    if expected is None:
        expect = expected_error if metric == ERROR_GIVEN_SCORE else expected_favourable
        expected = expect(problem.truth, _rows(problem).surface, problem.weights)
    if expected is None:
        raise DataError(f"The metric '{metric}' needs probabilities (y_score); there are none.")
    given = replace(plain, id=metric, expected=expected)
    if metric == UNDERRATED:
        return replace(given, measure=msg("favourable outcomes"))
    return given if metric == ERROR_GIVEN_SCORE else replace(given.flipped(), measure=msg("unfavourable outcomes"))


def _of_class(problem: Problem, rate: Rate, of_class: str) -> tuple[Metric, Message]:
    """The metric, of one class against the rest where there are several, and what it is called."""
    if problem.task == "binary" and of_class:
        raise SpecError(f"'{rate.id}:{of_class}' asks for one class of several; there are two. Ask for '{rate.id}'.")
    if problem.task in rate.metric.tasks and not of_class:
        return rate.metric, rate.measure
    if not rate.metric.of_decisions:
        raise SpecError(f"'{rate.id}' is about all classes together; ask for '{rate.id}', not '{rate.id}:{of_class}'.")
    names = [str(name) for name in problem.classes]
    if of_class not in names:
        raise SpecError(
            f"With {len(names)} classes '{rate.id}' must name the class it is about, such as "
            f"'{rate.id}:{names[0]}'; got {of_class or 'none'!r}.{close_to(of_class, names)}"
        )
    measure = msg("{measure} of {label}", measure=rate.measure, label=of_class)
    return metric_of_class(rate.metric, names.index(of_class), of_class), measure
