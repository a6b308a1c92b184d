"""Metrics with their intervals: one tally, one set of bootstrap replicates for all metrics of counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.counting import Codes, Tally, resample, resample_sums, tally
from isonomia.data import to_numpy
from isonomia.errors import NotApplicable
from isonomia.evidence import Estimate, check_level, normal_quantile, percentile, wilson
from isonomia.languages import Message, Name, msg
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.registry import METRICS, Metric
from isonomia.models import Surface
from isonomia.parameters import N_BOOT, SEED, validated
from isonomia.typing import Floats

#: Replicates of a confusion table are drawn in blocks of at most this many cells.
BLOCK_CELLS = 1 << 22
#: Values closer than this are equal but for rounding.
SAME = 1e-12
NO_BOOTSTRAP = msg("it needs a bootstrap, and `n_boot` is 0")


def confusion(
    truth: NDArray[Any], label: NDArray[Any], n_classes: int, weights: Floats | None = None
) -> NDArray[np.float64] | NDArray[np.int64]:
    """The confusion table (K, K) = [true, predicted] of class codes, weighted where weights are given.

    >>> confusion(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2).tolist()
    [[1, 1], [0, 2]]
    """
    return _confusion_tally(truth, label, n_classes, weights).w


def _confusion_tally(truth: NDArray[Any] | None, label: NDArray[Any], n_classes: int, weights: Floats | None) -> Tally:
    classes = tuple(range(n_classes))
    true = Codes("true", np.zeros(label.size, np.uint8), (0,)) if truth is None else Codes("true", truth, classes)
    return tally([true, Codes("predicted", label, classes)], weights=weights)


def evaluate(
    metric_id: str,
    truth: NDArray[Any] | None,
    surface: Surface,
    *,
    weights: Floats | None = None,
    level: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
) -> Estimate:
    """One metric with its interval, or the reason why it does not apply.

    Parameters
    ----------
    metric_id : str
        An id of the registry.
    truth : array or None
        Class codes over `surface.classes`, or floats for a regression.
    surface : Surface
        What the model said.
    weights : array, optional
        One weight a row.
    level : float
        Confidence level.
    n_boot : int
        Bootstrap replicates, where a bootstrap is used; 0 leaves those intervals out.
    seed : int
        Of the bootstrap.

    Notes
    -----
    Simple proportions have Wilson's interval, with weights for the effective number of rows (sum w)^2 / sum w^2.
    Other functions of the confusion table have the percentile interval of a multinomial bootstrap of its cells, means
    that of a bootstrap of their moments. The area under the ROC curve has DeLong's standard error on the logit scale,
    average precision Boyd's logit interval, the expected calibration error a simulation of the noise in its bins. A
    largest error has no interval. All take rows to be independent.

    Examples
    --------
    >>> surface = Surface.of_labels([1, 0, 1, 1], classes=(0, 1))
    >>> evaluate("accuracy", np.array([1, 0, 0, 1]), surface)
    0.75 [0.3006, 0.9544] (n=4)
    """
    found = evaluate_all(truth, surface, [metric_id], weights=weights, level=level, n_boot=n_boot, seed=seed)
    return found[metric_id]


@validated(n_boot=N_BOOT, seed=SEED)
def evaluate_all(
    truth: NDArray[Any] | None,
    surface: Surface,
    metrics: Iterable[str | Metric] | None = None,
    *,
    weights: Floats | None = None,
    level: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Several metrics at once; None takes all that are for the surface's task.

    A metric that does not apply is there too, without a value and with the reason.
    """
    check_level(level)
    chosen = [METRICS[metric] if isinstance(metric, str) else metric for metric in metrics or _for_task(surface)]
    values = None if weights is None else np.asarray(to_numpy(weights), dtype=float)
    rows = _Rows(truth, surface, values, level, n_boot, seed)
    return {metric.id: rows.estimate(metric) for metric in chosen}


def _for_task(surface: Surface) -> Iterable[Metric]:
    return (metric for metric in METRICS if surface.task in metric.tasks)


class _Rows:
    """Labels, predictions and weights, with what several metrics share: the tally and its replicates."""

    def __init__(
        self,
        truth: NDArray[Any] | None,
        surface: Surface,
        weights: Floats | None,
        level: float,
        n_boot: int,
        seed: int,
    ) -> None:
        self.truth, self.surface, self.weights = truth, surface, weights
        self.level, self.n_boot, self.seed = level, n_boot, seed

    @cached_property
    def table(self) -> Tally:
        label = self.surface.label
        if label is None:
            raise NotApplicable(msg("the predictions hold no labels"))
        return _confusion_tally(self.truth, label, len(self.surface.classes), self.weights)

    def estimate(self, metric: Metric) -> Estimate:
        n = len(self.surface)
        reason = check_applicable(metric, self.truth, self.surface, self.weights)
        if reason is not None:
            return Estimate.missing(msg("not applicable because {reason}", reason=reason), n=n)
        families: dict[str, Callable[[Metric], Estimate]] = {
            "counts": self._from_rate if metric.rate is not None else self._from_counts,
            "means": self._from_proportion if metric.proportion else self._from_sums,
            "ranks": self._from_rows,
        }
        try:
            return families[metric.family](metric)
        except NotApplicable as absence:
            return Estimate.missing(msg("not applicable because {reason}", reason=absence.message), n=n)

    def _make(
        self,
        metric: Metric,
        value: float,
        ends: tuple[Any, Any] | Message,
        n: int,
        method: str = "",
        note: Message | None = None,
    ) -> Estimate:
        """The estimate with the ends of its interval, or with the reason why there is none."""
        if np.isnan(value):
            raise NotApplicable(metric.undefined)
        if not isinstance(ends, Message) and (np.isnan(ends[0]) or np.isnan(ends[1])):
            ends = msg("it is undefined in most resamples")
        if isinstance(ends, Message):
            told = msg("no interval: {reason}", reason=ends)
            both = Message("{note}; {told}", {"note": note, "told": told})
            return Estimate(value, n=n, level=self.level, note=Name(told if note is None else both))
        low, high = max(float(ends[0]), metric.range[0]), min(float(ends[1]), metric.range[1])
        return Estimate(value, low, high, n, method, None if note is None else Name(note), self.level)

    def _from_rate(self, metric: Metric) -> Estimate:
        assert metric.rate is not None
        hits, size = (float(part) for part in metric.rate(self.table.w))
        rows = int(metric.rate(self.table.n)[1])
        if size <= 0:
            raise NotApplicable(metric.undefined)
        return self._wilson(metric, hits / size, size, float(metric.rate(self.table.w2)[1]), rows)

    def _from_proportion(self, metric: Metric) -> Estimate:
        assert metric.quantities is not None
        hit = metric.quantities(self.truth, self.surface)[:, 0]
        w = np.ones(hit.size) if self.weights is None else self.weights
        return self._wilson(metric, float(w @ hit / w.sum()), float(w.sum()), float(w @ w), hit.size)

    def _wilson(self, metric: Metric, value: float, w: float, w2: float, rows: int) -> Estimate:
        effective = w * w / w2
        return self._make(metric, value, wilson(value * effective, effective, self.level), rows, "wilson")

    def _from_counts(self, metric: Metric) -> Estimate:
        assert metric.from_counts is not None
        value, n = float(metric.from_counts(self.table.w)), int(self.table.n.sum())
        note = None if metric.caution is None else metric.caution(self.table.w)
        if np.isnan(value) or self.n_boot == 0:
            return self._make(metric, value, NO_BOOTSTRAP, n, note=note)
        low, high = (float(end) for end in percentile(self._draws(metric.from_counts), self.level))
        if high - low < SAME:
            return self._without_spread(metric, value, n, note)
        return self._make(metric, value, (low, high), n, "bootstrap", note)

    def _without_spread(self, metric: Metric, value: float, n: int, note: Message | None) -> Estimate:
        """Where all resamples agree: at an end of the range the interval of a proportion that never (always) failed."""
        low, high = (float(end) for end in without_spread(value, self._smaller_class(), metric, self.level))
        if np.isnan(low):
            return self._make(metric, value, msg("all resamples give the same value"), n, note=note)
        return self._make(metric, value, (low, high), n, "wilson", note)

    def _draws(self, compute: Callable[[NDArray[Any]], Floats]) -> Floats:
        """Values on replicated tables; the generator starts anew, so that all metrics see the same replicates."""
        rng = np.random.default_rng(self.seed)
        block = max(1, BLOCK_CELLS // self.table.n.size)
        sizes = [min(block, self.n_boot - start) for start in range(0, self.n_boot, block)]
        return np.concatenate([compute(resample(self.table, size, rng)) for size in sizes])

    def _from_sums(self, metric: Metric) -> Estimate:
        assert metric.quantities is not None
        assert metric.from_sums is not None
        found = metric.quantities(self.truth, self.surface)
        n = found.shape[0]
        w = np.ones(n) if self.weights is None else self.weights
        value = float(metric.from_sums(w.sum(), w @ found))
        if np.isnan(value) or self.n_boot == 0 or n < 2:
            return self._make(metric, value, msg("there is one row") if n < 2 else NO_BOOTSTRAP, n)
        centre = found.mean(axis=0)  # moments about the mean: those about 0 lose all digits where it is far away
        rows = np.concatenate([w[:, None], (found - centre) * w[:, None]], axis=1)
        _, drawn = resample_sums(np.array([n]), rows.sum(axis=0)[None], (rows.T @ rows)[None], self.n_boot, self.seed)
        W, S = drawn[:, 0, 0], drawn[:, 0, 1:]
        return self._make(
            metric, value, percentile(metric.from_sums(W, S + W[:, None] * centre), self.level), n, "bootstrap"
        )

    def _from_rows(self, metric: Metric) -> Estimate:
        assert metric.from_rows is not None
        assert self.truth is not None
        value, error = metric.from_rows(self.truth, self.surface, self.weights)
        n = len(self.surface)
        if metric.draws is not None:
            if not self.n_boot:
                return self._make(metric, value, NO_BOOTSTRAP, n)
            rng = np.random.default_rng(self.seed)
            low, high = percentile(metric.draws(self.truth, self.surface, self.weights, self.n_boot, rng), self.level)
            return self._make(metric, value, (min(low, value), max(high, value)), n, metric.interval)
        if not metric.interval:
            return self._make(metric, value, msg("none is known for it"), n)
        ends = logit_interval(value, error, self._smaller_class(), self.level)
        return self._make(metric, value, ends, n, metric.interval if error is not None else "wilson")

    def _smaller_class(self) -> float:
        """The effective size of the smallest class."""
        assert self.truth is not None
        return smaller_class(self.truth, self.weights)


def smaller_class(truth: NDArray[Any], weights: Floats | None = None) -> float:
    """The (effective) number of rows of the smallest class that occurs.

    >>> smaller_class(np.array([0, 0, 0, 1, 1]))
    2.0
    """
    w = np.ones(len(truth)) if weights is None else weights
    first, second = (np.bincount(truth, weights=part) for part in (w, w * w))
    return float(min(a * a / b for a, b in zip(first, second, strict=True) if b > 0))


def without_spread(value: ArrayLike, size: ArrayLike, metric: Metric, level: float) -> tuple[Floats, Floats]:
    """Intervals where all resamples agree, which would otherwise have no width.

    At an end of a metric's range: that of a proportion of `size` rows that never (or always) failed, put on the range.
    NaN elsewhere, and where the range has no end.

    >>> [round(float(end), 3) for end in without_spread(1.0, 50, METRICS["f1"], 0.95)]
    [0.929, 1.0]
    """
    least, most = metric.range
    span = most - least
    at = np.asarray(value, dtype=float)
    if not np.isfinite(span):
        return np.full(at.shape, np.nan), np.full(at.shape, np.nan)
    ended = (at - least <= SAME) | (most - at <= SAME)
    n = np.asarray(size, dtype=float)
    low, high = wilson(np.rint(np.nan_to_num((at - least) / span)) * n, n, level)
    return np.where(ended, least + low * span, np.nan), np.where(ended, least + high * span, np.nan)


def logit_interval(value: float, error: float | None, n: float, level: float) -> tuple[float, float]:
    """An interval of a value in (0, 1) from its standard error on the logit scale.

    logit(A) ± z se / (A (1 - A)). Where the error is not known (perfect separation, one row in a class) an interval of
    no width would claim too much: Wilson's interval of a proportion of the `n` rows of the smaller class stands in.

    >>> tuple(round(end, 4) for end in logit_interval(0.8, 0.05, 50, 0.95))
    (0.6843, 0.8807)
    """
    if error is None or not 0 < value < 1:
        low, high = wilson(value * n, n, level)
        return float(low), float(high)
    centre = np.log(value / (1 - value))
    half = normal_quantile(level) * error / (value * (1 - value))
    return float(1 / (1 + np.exp(half - centre))), float(1 / (1 + np.exp(-half - centre)))
