"""Metrics of all rows as estimates, with the reason where one does not apply or has no interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, tally
from isonomia.evidence import Estimate, check_level
from isonomia.languages import Message, Name, msg
from isonomia.metrics._measure import measure
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.measured import Measured
from isonomia.metrics.own_functions import as_metric
from isonomia.metrics.registry import METRICS, Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.rows_given import rows_given
from isonomia.models import Surface
from isonomia.parameters import N_BOOT, SEED, validated
from isonomia.typing import Floats


def confusion(
    truth: NDArray[Any],
    label: NDArray[Any],
    n_classes: int,
    weights: Floats | None = None,
    counts: NDArray[np.int64] | None = None,
) -> NDArray[np.float64] | NDArray[np.int64]:
    """The confusion table (K, K) = [true, predicted] of class codes, weighted where weights are given.

    `counts` says how many identical rows each row stands for.

    >>> confusion(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2).tolist()
    [[1, 1], [0, 2]]
    """
    classes = tuple(range(n_classes))
    return tally([Codes("true", truth, classes), Codes("predicted", label, classes)], weights=weights, counts=counts).w


def evaluate(
    metric_id: str | Metric | Callable[..., Any],
    truth: Any,
    surface: Any = None,
    *,
    weights: Any = None,
    counts: NDArray[np.int64] | None = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
) -> Estimate:
    """One metric with its interval, or the reason why it does not apply.

    Parameters
    ----------
    metric_id : str, Metric or callable
        An id of the registry, or a function of (y_true, y_pred) (see `own_metric`).
    truth, surface
        True labels (values of ``surface.classes``; numbers of a regression) and a `Surface`; or what `Subject.of`
        takes: a column of true outcomes and predictions (a column, or a table of probabilities), or data and a model;
        or `Rows` alone. Codes 0, 1, ... stand for the classes of a surface where none of them is itself a label.
    weights : array, optional
        One weight per row.
    counts : array of int, optional
        How many identical rows each row stands for.
    positive : optional
        The favourable one of two labels, where columns are given.
    classes : sequence, optional
        The class of each column of a table of probabilities, where these are not the sorted labels.
    level : float
        Confidence level.
    n_boot : int
        Bootstrap replicates, where a bootstrap is used; 0 leaves those intervals out.
    seed : int
        Of the bootstrap.

    Notes
    -----
    Simple proportions have Wilson's interval, with weights for the effective number of rows (sum w)^2 / sum w^2.
    Other functions of the confusion table, and R2, have the interval of the delta method. Means of losses have Hall's
    skewness-corrected t interval. The area under the ROC
    curve has Newcombe's score interval, widened where DeLong's standard error on the logit scale asks for it, average
    precision Boyd's logit interval; both, and losses of probabilities, need five rows of each class. The expected
    calibration error has that of the noise in its bins. A largest error has no interval. All take rows to be
    independent.

    Examples
    --------
    >>> surface = Surface.of_labels([1, 0, 1, 1], classes=(0, 1))
    >>> evaluate("accuracy", np.array([1, 0, 0, 1]), surface)
    0.75 [0.2486, 0.9873] (n=4)
    >>> evaluate("accuracy", ["b", "a", "a", "b"], ["b", "a", "b", "b"], positive="b").value
    0.75
    """
    options: dict[str, Any] = {"weights": weights, "counts": counts, "positive": positive, "classes": classes}
    found = evaluate_all(truth, surface, [metric_id], level=level, n_boot=n_boot, seed=seed, **options)
    return next(iter(found.values()))


@validated(n_boot=N_BOOT, seed=SEED)
def evaluate_all(
    truth: Any,
    surface: Any = None,
    metrics: Iterable[str | Metric | Callable[..., Any]] | None = None,
    *,
    weights: Any = None,
    counts: NDArray[np.int64] | None = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Several metrics at once, as `evaluate` computes them; None takes all that are for the task.

    A metric that does not apply is there too, without a value and with the reason.
    """
    check_level(level)
    rows = rows_given(truth, surface, weights=weights, counts=counts, positive=positive, classes=classes).rows
    chosen = [as_metric(metric) for metric in (_for_task(rows.surface) if metrics is None else metrics)]
    reasons = {
        metric.id: check_applicable(metric, rows.truth, rows.surface, rows.weights, rows.counts) for metric in chosen
    }
    fitting = [metric for metric in chosen if reasons[metric.id] is None]
    sets = RowSets.of(rows) if fitting else None
    found = measure(fitting, sets, n_boot=n_boot, seed=seed, level=level) if sets is not None else {}
    out = {}
    for metric in chosen:
        if metric.id in found and sets is not None:
            caution = None if metric.caution is None else metric.caution(sets.counts.w[0])
            out[metric.id] = _estimate(found[metric.id], len(rows), level, caution)
        else:
            out[metric.id] = _missing(reasons[metric.id], len(rows))
    return out


def _for_task(surface: Surface) -> Iterable[Metric]:
    return (metric for metric in METRICS if surface.task in metric.tasks)


def _missing(reason: Message | str | None, n: int) -> Estimate:
    return Estimate.missing(msg("not applicable because {reason}", reason=reason), n=n)


def _estimate(measured: Measured, rows: int, level: float, caution: Message | None) -> Estimate:
    """The one set's value with its interval, or with the reason why there is none."""
    value, low, high = (float(part[0]) for part in (measured.value, measured.low, measured.high))
    if np.isnan(value):
        return _missing(measured.reasons[0], rows)
    n = int(measured.n[0])
    reason = _no_interval(measured, n, low)
    if reason is not None:
        absence = msg("no interval: {reason}", reason=reason)
        both = Message("{note}; {absence}", {"note": caution, "absence": absence})
        return Estimate(value, n=n, level=level, note=Name(absence if caution is None else both))
    stands_in = measured.at_boundary is not None and bool(measured.at_boundary[0])
    method = "wilson" if stands_in else measured.method
    note = None if caution is None else Name(caution)
    return Estimate(value, low, high, n=n, method=method, note=note, level=level)


def _no_interval(measured: Measured, n: int, low: float) -> Message | None:
    """Why a value has no interval; None where it has one."""
    if measured.unsure and measured.unsure[0] is not None:
        return measured.unsure[0]
    if n < 2 and measured.method == "bootstrap" and not measured.metric.of_decisions:
        return msg("there is one row")
    if not np.isnan(low):
        return None
    if not measured.method:
        return msg("no method is known for it")
    if measured.at_boundary is not None and measured.at_boundary[0]:
        return msg("all resamples give the same value")
    return msg("it is undefined in most resamples")
