"""Several classes: offsets of the class probabilities by group, such that any rates of counts are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isonomia.counting import cross_sum
from isonomia.metrics import Metric
from isonomia.typing import Floats, Indices

#: What a point of gap counts against a share of errors, step by step; at last any gap counts more than all errors.
PRICES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, np.inf)
#: Passes over all offsets at each price, and at the last one.
PASSES, LAST = 2, 40
#: How often the search begins, at most.
STARTS = 6
#: Values that are tried for an offset: so many spread over all of them, and as many next to the present one.
TRIED = 128


@dataclass(eq=False)
class OffsetSearch:
    """The class argmax_k (p_k + b_gk) of every person, and a search for the offsets b that moves one at a time.

    Class k is decided where b_k >= max over j != k of (p_j + b_j) - p_k. With the people of a group in the order of
    these margins, the confusion table at every value of b_k is a running count, so that any function of counts is known
    at once for all values that are tried.

    Attributes
    ----------
    probability : (n, K)
    truth, group : (n,) codes
    n_groups : int
    metrics : sequence of Metric
        Functions of the (K, K) table of a group that are compared between groups.
    width : float
        The largest difference between groups (of logarithms, for ratios).
    ratio : bool
    weights : (n,)
    """

    probability: Floats
    truth: Indices
    group: Indices
    n_groups: int
    metrics: Sequence[Metric]
    width: float
    ratio: bool
    weights: Floats

    def __post_init__(self) -> None:
        self.rows = [np.flatnonzero(self.group == g) for g in range(self.n_groups)]
        self._start(np.zeros((self.n_groups, self.probability.shape[1])))

    def _start(self, offsets: Floats) -> None:
        self.offsets = offsets
        self.tables = np.stack([self._table(g) for g in range(self.n_groups)])
        self.values = self.rates(self.tables)

    def run(self, seed: int = 0) -> Floats:
        """The offsets: the fewest errors among those within the width, as far as single moves lead there.

        Where they do not, the search begins again from other offsets; the closest is kept.
        """
        rng, best = np.random.default_rng(seed), self.offsets
        least = np.inf
        for start in range(STARTS):
            if start:
                self._start(rng.normal(scale=0.15, size=self.offsets.shape))
            self._search()
            if self.gap < least:
                least, best = self.gap, self.offsets
            if least <= self.width + 1e-9:
                break
        self._start(best)
        return best

    def _search(self) -> None:
        for price in PRICES:
            for _ in range(PASSES if np.isfinite(price) else LAST):
                moved = [self._move(g, k, price) for g in range(self.n_groups) for k in range(self.offsets.shape[1])]
                if not any(moved):
                    break

    @property
    def gap(self) -> float:
        """The largest difference between groups, over all metrics."""
        return float(np.nanmax(np.ptp(self.values, axis=-1)))

    def rates(self, tables: Floats) -> Floats:
        """The metrics of tables (..., K, K): (metrics, ...); logarithms where ratios are compared."""
        found = []
        for metric in self.metrics:
            assert metric.from_counts is not None
            found.append(metric.from_counts(tables))
        values = np.stack(found)
        if self.ratio:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(values > 0, np.log(values), np.nan)
        return values

    def _table(self, g: int) -> Floats:
        rows, k = self.rows[g], self.probability.shape[1]
        decided = (self.probability[rows] + self.offsets[g]).argmax(axis=1)
        return cross_sum(self.truth[rows], decided, (k, k), self.weights[rows])

    def _move(self, g: int, k: int, price: float) -> bool:
        """Change one offset to the best value that was tried; whether it changed."""
        values, tables = self._tried(g, k)
        rates = np.repeat(self.values[:, None, :], len(values), axis=1)
        rates[:, :, g] = self.rates(tables)
        merit = self._merit(rates, tables, g, price)
        now = self._merit(self.values[:, None, :], self.tables[None, g], g, price)[0]
        best = min(range(len(merit)), key=lambda one: merit[one])
        if merit[best] >= now:
            return False
        self.offsets[g, k] = values[best]
        self.tables[g] = self._table(g)
        self.values[:, g] = self.rates(self.tables[g])
        return True

    def _tried(self, g: int, k: int) -> tuple[Floats, Floats]:
        """Values of one offset, and the confusion table of its group at each."""
        rows, K = self.rows[g], self.probability.shape[1]
        others = self.probability[rows] + self.offsets[g]
        others[:, k] = -np.inf
        other = others.argmax(axis=1)
        margin = others[np.arange(rows.size), other] - self.probability[rows, k]
        order = np.argsort(margin)
        ordered = margin[order]
        between = np.concatenate([[0], np.flatnonzero(np.diff(ordered) > 1e-12) + 1, [rows.size]])
        here = int(np.searchsorted(between, np.searchsorted(ordered, self.offsets[g, k], side="right")))
        spread = np.linspace(0, between.size - 1, TRIED).astype(np.intp)
        near = np.arange(max(here - TRIED // 2, 0), min(here + TRIED // 2, between.size))
        at = between[np.union1d(spread, near)]
        below, above = np.append(ordered[0] - 2e-6, ordered), np.append(ordered, ordered[-1] + 2e-6)
        cell = self.truth[rows] * K + other
        segment = np.searchsorted(at, np.arange(rows.size), side="right")
        taken = cross_sum(segment, cell[order], (at.size + 1, K * K), self.weights[rows][order])
        taken = np.cumsum(taken, axis=0)[:-1].reshape(-1, K, K)  # by truth and by what else would be decided
        tables = cross_sum(self.truth[rows], other, (K, K), self.weights[rows]) - taken
        tables[:, :, k] += taken.sum(axis=-1)
        return (below[at] + above[at]) / 2, tables

    def _merit(self, rates: Floats, tables: Floats, g: int, price: float) -> list[tuple[float, float]]:
        """Smaller is better: what rates differ by beyond the width, then errors; below the last price their sum.

        What G values lie outside the best window of a width is sum_i max(v_(G+1-i) - v_(i) - width, 0) over the pairs
        of the largest and the smallest, the next largest and the next smallest, and so on.
        """
        unknown = np.isnan(rates)
        ordered = np.sort(np.where(unknown, np.inf, rates), axis=-1)
        half = self.n_groups // 2
        with np.errstate(invalid="ignore"):
            apart = ordered[..., ::-1][..., :half] - ordered[..., :half] - self.width
        apart = np.where(unknown.any(axis=-1, keepdims=True), 1.0, np.maximum(apart, 0.0))  # a rate that is not defined
        excess = apart.sum(axis=(0, 2))
        others = self.tables.sum() - np.trace(self.tables, axis1=1, axis2=2).sum()
        own = tables.sum(axis=(1, 2)) - np.trace(tables, axis1=1, axis2=2)
        before = self.tables[g].sum() - np.trace(self.tables[g])
        errors = (others - before + own) / self.tables.sum()
        if np.isfinite(price):
            return [(round(float(one), 12), 0.0) for one in price * excess + errors]
        return [(round(float(a), 9), round(float(b), 12)) for a, b in zip(excess, errors, strict=True)]
