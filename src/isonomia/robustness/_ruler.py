"""Many metrics of one set of rows at once, each with every row's own part in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable, SpecError
from isonomia.languages import msg
from isonomia.metrics import METRICS, Metric, check_applicable
from isonomia.metrics.ranks import auc_parts
from isonomia.models import Surface
from isonomia.robustness.meter import STEP
from isonomia.robustness.missing_reasons import Reason
from isonomia.robustness.row_metrics import measure_named
from isonomia.typing import Floats

#: Metrics that repeat another one or what it lacks to 1: left out where all metrics are asked for.
COMPLEMENTS = ("fnr", "fpr", "false_discovery_rate", "macro_recall")


@dataclass(frozen=True, eq=False)
class Reading:
    """What T surfaces of the same rows measure.

    `value` (T, M) are the metrics, NaN where one has none; `pull` (M, n) the rows' influences on them, the mean over
    the surfaces, NaN where they are not known; `reasons` (M,) why a metric has no value in some of them, else None.
    """

    value: Floats
    pull: Floats
    reasons: tuple[Reason | None, ...]


class Ruler:
    """Measures surfaces of the same rows, all metrics and many surfaces together.

    The influence of a row is what it adds to the metric, to first order: with f a function of sums over rows, g its
    derivative and z the row's part of the sums, g . z. The square root of the sum of their squares is the metric's
    standard error, and that of the differences of two surfaces' influences the standard error of the change.
    """

    def __init__(self, metrics: Sequence[Metric], truth: NDArray[Any], weights: Floats | None, n_classes: int) -> None:
        self.metrics = tuple(metrics)
        self.truth, self.weights, self.k = truth, weights, n_classes
        self.w = np.ones(len(truth)) if weights is None else weights
        self.total = float(self.w.sum())
        self._scaled = self.w / self.total

    def __len__(self) -> int:
        return len(self.truth)

    def read(self, surface: Surface) -> Reading:
        """All metrics of a surface that says something about all rows once, or T times over (trial by trial)."""
        count = len(surface) // len(self)
        value = np.full((count, len(self.metrics)), np.nan)
        pull = np.full((len(self.metrics), len(self)), np.nan)
        truth = np.tile(self.truth, count)
        cells = self._cells(surface, count) if surface.label is not None and self.k else None
        reasons: list[Reason | None] = [None] * len(self.metrics)
        for place, metric in enumerate(self.metrics):
            try:
                if metric.family == "counts":
                    if cells is None:
                        raise NotApplicable(msg("there are no decisions"))
                    value[:, place], pull[place] = self._of_counts(metric, *cells)
                elif metric.family == "means":
                    value[:, place], pull[place] = self._of_means(metric, truth, surface, count)
                elif metric.family == "ranks":
                    value[:, place], pull[place] = self._of_ranks(metric, surface, count)
            except NotApplicable as error:
                reasons[place] = error.message
            else:
                reasons[place] = metric.undefined if np.isnan(value[:, place]).any() else None
        return Reading(value, pull, tuple(reasons))

    def _cells(self, surface: Surface, count: int) -> tuple[NDArray[Any], Floats]:
        """The cell of the confusion table that each row falls into (T, n), and the tables of shares (T, K, K)."""
        assert surface.label is not None
        cell = self.truth.astype(np.intp) * self.k + surface.label.reshape(count, -1)
        flat = (cell + np.arange(count)[:, None] * self.k**2).ravel()
        weights = None if self.weights is None else np.tile(self.weights, count)
        table = np.bincount(flat, weights=weights, minlength=count * self.k**2)
        return cell, table.reshape(count, self.k, self.k) / self.total

    def _of_counts(self, metric: Metric, cell: NDArray[Any], shares: Floats) -> tuple[Floats, Floats]:
        assert metric.from_counts is not None
        size = self.k**2
        steps = STEP * np.concatenate([np.zeros((1, size)), np.eye(size)]).reshape(-1, self.k, self.k)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = metric.from_counts(shares[:, None] + steps)
            slope = (values[:, 1:] - values[:, :1]) / STEP
        slope = np.where(np.isnan(slope), 0.0, slope)
        # a metric ignores scale: rounding alone makes this differ from 0
        slope -= (slope * shares.reshape(-1, size)).sum(axis=1, keepdims=True)
        pull = np.zeros(len(self))
        for row, own in zip(slope, cell, strict=True):
            pull += row[own]
        return values[:, 0], self._scaled * pull / len(cell)

    def _of_means(self, metric: Metric, truth: NDArray[Any], surface: Surface, count: int) -> tuple[Floats, Floats]:
        assert metric.quantities is not None
        assert metric.from_sums is not None
        q = metric.quantities(truth, surface).reshape(count, len(self), -1)
        value, pull = np.empty(count), np.zeros(len(self))
        for trial, own in enumerate(q):
            mean = self._scaled @ own
            # on the scale of the rows, not of their mean, which may lie near 0
            size = np.sqrt(self._scaled @ np.square(own))
            step = STEP * np.concatenate([[1.0], np.where(size > 0, size, 1.0)])
            moved = np.concatenate([[1.0], mean]) + np.diag(step)
            with np.errstate(divide="ignore", invalid="ignore"):
                value[trial] = metric.from_sums(np.asarray(1.0), mean)
                slope = (metric.from_sums(moved[:, 0], moved[:, 1:]) - value[trial]) / step
            slope = np.where(np.isnan(slope), 0.0, slope)
            part = own @ slope[1:]
            pull += part - self._scaled @ part
        return value, self._scaled * pull / count

    def _of_ranks(self, metric: Metric, surface: Surface, count: int) -> tuple[Floats, Floats]:
        parts = [self._ranked(metric, part) for part in split(surface, len(self))]
        return np.array([value for value, _ in parts]), np.sum([pull for _, pull in parts], axis=0) / count

    def _ranked(self, metric: Metric, surface: Surface) -> tuple[float, Any]:
        assert metric.from_rows is not None
        table = surface.probability
        if metric.id == "auc":
            score = table if table is not None else surface.score
            assert score is not None
            return auc_parts(self.truth == 1, score, self.weights)
        if metric.id == "macro_auc" and table is not None:
            areas, pulls = zip(
                *(auc_parts(self.truth == c, table[:, c], self.weights) for c in range(self.k)), strict=True
            )
            return float(np.mean(areas)), np.mean(pulls, axis=0)
        return metric.from_rows(self.truth, surface, self.weights)[0], np.nan


def split(surface: Surface, n: int) -> Iterator[Surface]:
    """One surface for each n rows."""
    for start in range(0, len(surface), n):
        yield surface.take(slice(start, start + n))  # type: ignore[arg-type]


def choose_metrics(
    wanted: str | Sequence[str] | None, main: str | None, truth: NDArray[Any], surface: Surface, weights: Floats | None
) -> tuple[Metric, ...]:
    """The main metric first, then those asked for: by default all of the registry that apply and have a direction."""
    first = measure_named(main or _usual(surface), surface, ranks=True)
    if isinstance(wanted, str):
        wanted = [wanted]
    if wanted is None:
        rest = [
            metric
            for metric in METRICS
            if metric.higher_is_better is not None
            and metric.id not in COMPLEMENTS
            and check_applicable(metric, truth, surface, weights) is None
        ]
    else:
        rest = [measure_named(name, surface, ranks=True) for name in wanted]
        if main is None and rest:
            first = rest[0]
    chosen = (first, *(metric for metric in rest if metric.id != first.id))
    reason = check_applicable(first, truth, surface, weights)
    if reason is not None:
        raise SpecError(f"The metric '{first.id}' does not apply because {reason}. Name another one: metric=...")
    return chosen


def _usual(surface: Surface) -> str:
    """The metric a change is told in unless another is named."""
    if surface.task == "regression":
        return "mae"
    return "accuracy" if surface.label is not None else "auc" if surface.score is not None else "logloss"
