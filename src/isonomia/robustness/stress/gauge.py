"""Every metric of many trials at once: what a trial shares with the base situation is worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.metrics import Metric, check_applicable
from isonomia.metrics.registry import Prepared
from isonomia.models import Surface
from isonomia.robustness.stress.situation import Situation
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Reading:
    """What one trial leaves behind: counts and sums, from which metrics of counts and means follow."""

    counts: Floats | None
    group_counts: tuple[Floats, ...]
    sums: dict[str, tuple[float, Floats]] = field(default_factory=dict)
    group_sums: dict[str, tuple[tuple[Floats, Floats], ...]] = field(default_factory=dict)
    ranks: dict[str, float] = field(default_factory=dict)


class Gauge:
    """Measures metrics, and the gaps of some of them between groups, over trials.

    Parameters
    ----------
    base : Situation
        The situation as it is.
    metrics : sequence of Metric
        All must apply to the base.
    gaps : sequence of Metric
        Metrics of counts or means whose largest difference between groups is wanted.
    min_per_group : int
        Smaller groups do not count in gaps.
    """

    def __init__(
        self, base: Situation, metrics: Sequence[Metric], gaps: Sequence[Metric] = (), *, min_per_group: int = 30
    ) -> None:
        self.base, self.metrics, self.gaps = base, tuple(metrics), tuple(gaps)
        self.groups = tuple(_enough(column, min_per_group) for column in base.attributes)
        self._means = {m.id: m for m in self.metrics if m.family == "means"}
        self._group_means = {m.id: m for m in self.gaps if m.family == "means"} if base.attributes else {}
        self._counted = any(m.family == "counts" for m in (*self.metrics, *self.gaps))
        self._prepared: dict[str, Prepared] = {}
        self._quantities: dict[str, Floats] = {}

    def read(self, now: Situation) -> Reading:
        """The counts and sums of one trial."""
        k = len(now.surface.classes)
        counts, grouped = None, []
        if self._counted and now.surface.label is not None:
            cell = now.truth.astype(np.int64) * k + now.surface.label
            counts = np.bincount(cell, weights=now.weights, minlength=k * k).reshape(k, k).astype(float)
            for column, _ in self.groups:
                flat = column.codes.astype(np.int64) * (k * k) + cell
                table = np.bincount(flat, weights=now.weights, minlength=column.size * k * k)
                grouped.append(table.reshape(column.size, k, k).astype(float))
        sums, group_sums = {}, {}
        for name, metric in (self._means | self._group_means).items():
            q = self._quantity(metric, now)
            if name in self._means:
                w = float(len(now)) if now.weights is None else float(now.weights.sum())
                sums[name] = (w, q.sum(axis=0) if now.weights is None else np.einsum("n,nq->q", now.weights, q))
            if name in self._group_means:
                group_sums[name] = tuple(_sums_by(column, q, now.weights) for column, _ in self.groups)
        ranks = {m.id: self._rank(m, now) for m in self.metrics if m.family == "ranks"}
        return Reading(counts, tuple(grouped), sums, group_sums, ranks)

    def values(self, readings: Sequence[Reading]) -> Floats:
        """(trials, metrics); NaN where a metric is undefined in a trial."""
        out = np.full((len(readings), len(self.metrics)), np.nan)
        if not readings:
            return out
        tables = None if readings[0].counts is None else np.stack([r.counts for r in readings])  # type: ignore[misc]
        with np.errstate(divide="ignore", invalid="ignore"):
            for place, metric in enumerate(self.metrics):
                if metric.family == "counts" and tables is not None:
                    assert metric.from_counts is not None
                    out[:, place] = metric.from_counts(tables)
                elif metric.family == "means":
                    assert metric.from_sums is not None
                    w, s = zip(*(r.sums[metric.id] for r in readings), strict=True)
                    out[:, place] = metric.from_sums(np.array(w), np.stack(s))
                elif metric.family == "ranks":
                    out[:, place] = [r.ranks[metric.id] for r in readings]
        return out

    def gap_values(self, readings: Sequence[Reading]) -> Floats:
        """(trials, attributes, gap metrics): largest less smallest over the groups that are large enough."""
        out = np.full((len(readings), len(self.groups), len(self.gaps)), np.nan)
        for a, (_, enough) in enumerate(self.groups):
            if enough.sum() < 2:
                continue
            for g, metric in enumerate(self.gaps):
                value = self._group_values(metric, a, readings)
                if value is None:
                    continue
                value = value[:, enough]
                known = (~np.isnan(value)).sum(axis=1) >= 2
                if known.any():
                    out[known, a, g] = np.nanmax(value[known], axis=1) - np.nanmin(value[known], axis=1)
        return out

    def _group_values(self, metric: Metric, a: int, readings: Sequence[Reading]) -> Floats | None:
        with np.errstate(divide="ignore", invalid="ignore"):
            if metric.family == "counts":
                if not readings[0].group_counts:
                    return None
                assert metric.from_counts is not None
                return metric.from_counts(np.stack([r.group_counts[a] for r in readings]))
            assert metric.from_sums is not None
            w, s = zip(*(r.group_sums[metric.id][a] for r in readings), strict=True)
            return metric.from_sums(np.stack(w), np.stack(s))

    def _quantity(self, metric: Metric, now: Situation) -> Floats:
        assert metric.quantities is not None
        if now.truth is not self.base.truth or now.surface is not self.base.surface:
            return metric.quantities(now.truth, now.surface)
        if metric.id not in self._quantities:
            self._quantities[metric.id] = metric.quantities(now.truth, now.surface)
        return self._quantities[metric.id]

    def _rank(self, metric: Metric, now: Situation) -> float:
        if metric.prepared is not None:
            return self._order(metric, now.surface)(now.truth, now.weights)
        if check_applicable(metric, now.truth, now.surface, now.weights) is not None:
            return float("nan")
        assert metric.from_rows is not None
        return metric.from_rows(now.truth, now.surface, now.weights)[0]

    def _order(self, metric: Metric, surface: Surface) -> Prepared:
        assert metric.prepared is not None
        if surface is not self.base.surface and not _same_ranking(surface, self.base.surface):
            return metric.prepared(surface)
        if metric.id not in self._prepared:
            self._prepared[metric.id] = metric.prepared(self.base.surface)
        return self._prepared[metric.id]


def _same_ranking(one: Surface, other: Surface) -> bool:
    """Whether two surfaces differ in decisions alone."""
    return one.probability is other.probability and one.score is other.score and one.continuous is other.continuous


def _enough(column: Codes, least: int) -> tuple[Codes, NDArray[np.bool_]]:
    return column, column.counts() >= least


def _sums_by(column: Codes, q: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    w = np.bincount(column.codes, weights=weights, minlength=column.size).astype(float)
    parts = [
        np.bincount(column.codes, weights=q[:, i] if weights is None else q[:, i] * weights, minlength=column.size)
        for i in range(q.shape[1])
    ]
    return w, np.stack(parts, axis=-1)


def applicable(base: Situation, metrics: Sequence[Metric]) -> tuple[tuple[Metric, ...], dict[str, str]]:
    """The metrics that have an answer in the base situation, and the reasons why the others have none."""
    reasons: dict[str, Any] = {m.id: check_applicable(m, base.truth, base.surface, base.weights) for m in metrics}
    fitting = tuple(m for m in metrics if reasons[m.id] is None)
    return fitting, {name: reason for name, reason in reasons.items() if reason is not None}
