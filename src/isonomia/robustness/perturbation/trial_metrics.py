"""Many metrics of perturbed predictions at once, each with every row's influence on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest
from isonomia.errors import NotApplicable, SpecError
from isonomia.metrics import METRICS, Metric, Rows, RowSets, check_applicable, influence, measure
from isonomia.models import Surface
from isonomia.robustness.missing_reasons import Reason
from isonomia.robustness.row_metrics import measure_named
from isonomia.typing import Floats

#: Metrics that repeat another one or what it lacks to 1: left out where all metrics are requested.
COMPLEMENTS = ("fnr", "fpr", "false_discovery_rate", "macro_recall")


@dataclass(frozen=True, eq=False)
class Reading:
    """Metrics of T surfaces of the same rows.

    `value` (T, M) are the metrics, NaN where one has none; `influence` (M, n) the rows' influences on them, the mean
    over the surfaces, NaN where they are not known; `ends` (3, M) the means over the surfaces of a metric without
    its bias, and of both ends, where a metric has an interval of its own (the expected calibration error, which
    influences do not describe), NaN for others; `reasons` (M,) why a metric has no value in some of them.
    """

    value: Floats
    influence: Floats
    ends: Floats
    reasons: tuple[Reason | None, ...]


class TrialMetrics:
    """Measures many surfaces of the same rows together; trials are the sets of rows."""

    def __init__(
        self, metrics: Sequence[Metric], truth: NDArray[Any], weights: Floats | None, level: float = 0.95
    ) -> None:
        self.metrics, self.truth, self.weights, self.level = tuple(metrics), truth, weights, level
        self.w = np.ones(len(truth)) if weights is None else weights
        self.total = float(self.w.sum())

    def __len__(self) -> int:
        return len(self.truth)

    def read(self, surface: Surface) -> Reading:
        """All metrics of a surface that covers all rows once, or T times over (trial by trial)."""
        count, n = len(surface) // len(self), len(self)
        rows = Rows(np.tile(self.truth, count), surface, None if self.weights is None else np.tile(self.weights, count))
        trials = Codes("trial", np.repeat(np.arange(count, dtype=smallest(count)), n), tuple(range(count)))
        value = np.full((count, len(self.metrics)), np.nan)
        pull = np.full((len(self.metrics), n), np.nan)
        ends = np.full((3, len(self.metrics)), np.nan)
        reasons: list[Reason | None] = [None] * len(self.metrics)
        own = [index for index, metric in enumerate(self.metrics) if metric.ends is not None]
        for index, metric in enumerate(self.metrics):
            if index in own:
                continue
            try:
                value[:, index], of_rows = influence(metric, rows, trials)
            except NotApplicable as error:
                reasons[index] = error.message
                continue
            pull[index] = of_rows.reshape(count, n).mean(axis=0)
            reasons[index] = metric.undefined if np.isnan(value[:, index]).any() else None
        if own:
            sets = RowSets.of(rows, [trials])
            found = measure([self.metrics[index] for index in own], sets, n_boot=0, level=self.level)
            for index, part in zip(own, found.values(), strict=True):
                value[:, index] = part.value
                reasons[index] = next((reason for reason in part.reasons if reason is not None), None)
                if reasons[index] is None:
                    ends[:, index] = [values.mean() for values in part.figures.known((1 - self.level) / 2)]
        return Reading(value=value, influence=pull, ends=ends, reasons=tuple(reasons))


def choose_metrics(
    wanted: str | Sequence[str] | None, main: str | None, truth: NDArray[Any], surface: Surface, weights: Floats | None
) -> tuple[Metric, ...]:
    """The main metric first, then those requested: by default all of the registry that apply and have a direction."""
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
    """The metric of a change unless another is named."""
    if surface.task == "regression":
        return "mae"
    return "accuracy" if surface.label is not None else "auc" if surface.score is not None else "logloss"
