"""Metrics of many trials of the same rows: what a trial shares with the base is worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from isonomia.counting import Codes, sum_by
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.registry import Metric, Prepared, Shared
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.rows import Rows
from isonomia.models import Surface
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class TrialSums:
    """What one trial leaves behind: sums over cells, from which metrics of counts and means follow.

    `counts` (cells, K, K) are confusion tables, `sums` (cells, 1 + Q) of each metric of means the weights and the row
    quantities, `ranks` the values of metrics of ordered rows over all rows.
    """

    counts: Floats | None
    sums: dict[str, Floats] = field(default_factory=dict)
    ranks: dict[str, float] = field(default_factory=dict)


class TrialMeasure:
    """Metrics over trials, for all rows and for the values of some columns.

    Parameters
    ----------
    base : Rows
        Labels, predictions and weights as they are; trials have others, of the same rows.
    metrics : sequence of Metric
        All must apply to the base.
    columns : sequence of Codes
        Each value of each column is a set of rows.
    """

    def __init__(self, base: Rows, metrics: Sequence[Metric], columns: Sequence[Codes] = ()) -> None:
        self.base, self.metrics = base, {metric.id: metric for metric in metrics}
        self.cells = RowSets.of(base, columns).cells
        first = np.unique(self.cells.codes, return_index=True)[1]
        self._members = tuple(np.eye(column.size)[column.codes[first]].T for column in columns)
        self._prepared: dict[str, Prepared] = {}
        self._shared: Shared = {}
        self._quantities: dict[str, Floats] = {}

    def read(self, rows: Rows) -> TrialSums:
        """The sums of one trial."""
        counts = None
        if rows.surface.label is not None and any(metric.of_decisions for metric in self.metrics.values()):
            size = rows.shape[0] * rows.shape[1]
            cell = self.cells.codes.astype(np.intp) * size + rows.outcome.codes
            flat = sum_by(cell, rows.weights, self.cells.size * size)
            counts = flat.reshape(self.cells.size, *rows.shape)
        means = (metric for metric in self.metrics.values() if metric.family == "means")
        sums = {metric.id: self._sums(metric, rows) for metric in means}
        shared: Shared = {}
        ranks = {metric.id: self._rank(metric, rows, shared) for metric in self.metrics.values() if not metric.adds_up}
        return TrialSums(counts, sums, ranks)

    def values(self, metric: Metric, trials: Sequence[TrialSums], column: int | None = None) -> Floats:
        """The metric of all rows (trials,), or of each value of a column (trials, values); NaN where undefined."""
        if not metric.adds_up and column is None:
            return np.array([trial.ranks[metric.id] for trial in trials])
        parts = [trial.sums[metric.id] if metric.family == "means" else trial.counts for trial in trials]
        known = [part for part in parts if part is not None]
        if not known or not metric.adds_up:
            size = () if column is None else (len(self._members[column]),)
            return np.full((len(trials), *size), np.nan)
        cells = np.stack(known)
        sums = cells.sum(axis=1) if column is None else np.einsum("sc,tc...->ts...", self._members[column], cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            if metric.from_counts is not None:
                return metric.from_counts(sums)
            assert metric.from_sums is not None  # the registry makes sure
            return metric.from_sums(sums[..., 0], sums[..., 1:])

    def _sums(self, metric: Metric, rows: Rows) -> Floats:
        quantities, w = self._quantity(metric, rows), rows.weights
        parts = [w, *((part if w is None else part * w) for part in quantities.T)]
        return np.stack([sum_by(self.cells.codes, part, self.cells.size) for part in parts], axis=-1)

    def _quantity(self, metric: Metric, rows: Rows) -> Floats:
        assert metric.quantities is not None  # the registry makes sure
        if rows.truth is not self.base.truth or rows.surface is not self.base.surface:
            return metric.quantities(rows.truth, rows.surface)
        if metric.id not in self._quantities:
            self._quantities[metric.id] = metric.quantities(rows.truth, rows.surface)
        return self._quantities[metric.id]

    def _rank(self, metric: Metric, rows: Rows, shared: Shared) -> float:
        assert rows.truth is not None
        if metric.prepared is not None:
            return self._order(metric, rows.surface, shared)(rows.truth, rows.weights)
        if check_applicable(metric, rows.truth, rows.surface, rows.weights) is not None:
            return float("nan")
        assert metric.from_rows is not None  # the registry makes sure
        return metric.from_rows(rows.truth, rows.surface, rows.weights)[0]

    def _order(self, metric: Metric, surface: Surface, shared: Shared) -> Prepared:
        assert metric.prepared is not None
        if surface is not self.base.surface and not _same_ranking(surface, self.base.surface):
            return metric.prepared(surface, shared)
        if metric.id not in self._prepared:
            self._prepared[metric.id] = metric.prepared(self.base.surface, self._shared)
        return self._prepared[metric.id]


def _same_ranking(one: Surface, other: Surface) -> bool:
    """Whether two surfaces differ in decisions alone."""
    return one.probability is other.probability and one.score is other.score and one.continuous is other.continuous
