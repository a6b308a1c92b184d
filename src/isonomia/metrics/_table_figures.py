"""Metrics of confusion tables over sets of rows: proportions and odds, and smooth functions of several cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError
from isonomia.evidence.intervals import SAME, or_zero, quotient
from isonomia.evidence.mean_intervals import FEWEST_OF_CLASS
from isonomia.metrics._row_figures import few_of_class
from isonomia.metrics.derivatives import table_derivative
from isonomia.metrics.measured import Measured, rates_of, reasons_of
from isonomia.metrics.registry import Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.typing import Floats

#: Rows spread evenly over the cells of a table before its error is worked out, as in Agresti and Coull's interval.
ADDED_ROWS = 4.0


@dataclass(frozen=True, eq=False)
class Tables:
    """Confusion tables (S, R, K) of the sets: of weights, of squared weights and of rows."""

    counts: Floats
    squares: Floats
    rows: Floats
    weighted: bool

    @classmethod
    def of(cls, sets: RowSets) -> Tables:
        """The tables of all sets."""
        if sets.rows.surface.task == "regression":
            raise SpecError("These metrics are about decisions, and a regression predicts numbers.")
        table = sets.counts
        counts = sets.tables(table.w)
        squares, rows = (sets.tables(table.w2), sets.tables(table.n)) if table.weighted else (counts, counts)
        return cls(counts=counts, squares=squares, rows=rows, weighted=table.weighted)


@dataclass(frozen=True, eq=False)
class TableEnds:
    """Functions of a confusion table: their value in a table with a few rows added to every cell, and its error.

    The ends are centre +- q error, widened to contain the value and cut at the range of the metric; q is the normal
    quantile, with weights Student's with the degrees of freedom of the error, for three classes and more Student's with
    two degrees of freedom for each row of the smallest class.
    """

    value: Floats
    centre: Floats
    error: Floats
    df: Floats
    bounds: tuple[float, float]

    def at(self, tail: float | Floats) -> tuple[Floats, Floats]:
        """Both ends at this tail probability."""
        from scipy.special import stdtrit

        half = -stdtrit(np.maximum(self.df, 1.0), tail) * self.error
        low, high = np.minimum(self.centre - half, self.value), np.maximum(self.centre + half, self.value)
        return np.maximum(low, self.bounds[0]), np.minimum(high, self.bounds[1])

    def take(self, index: NDArray[Any]) -> TableEnds:
        """Some of the figures."""
        return TableEnds(self.value[index], self.centre[index], self.error[index], self.df[index], self.bounds)


def of_rates(metrics: Sequence[Metric], table: Tables, level: float) -> list[Measured]:
    """Metrics that are a proportion of the rows, or its odds, all at once: Wilson's intervals."""
    shares = [share for metric in metrics if (share := metric.rate or metric.odds) is not None]
    hits, base = np.stack([share(table.counts) for share in shares], axis=1)
    if not table.weighted:
        return rates_of(metrics, hits, base, base, base, level)
    squares, n = (np.stack([share(part)[1] for share in shares]) for part in (table.squares, table.rows))
    return rates_of(metrics, hits, base, n, or_zero(quotient(base * base, squares)), level)


def of_counts(metric: Metric, table: Tables, level: float) -> Measured:
    """A metric of the confusion table that is not a proportion.

    A function f of the cells has the delta method's interval: with p the shares of the cells after four rows were
    spread evenly over them, n the (effective) rows with those four, and g the gradient of f at p,
    f(p) +- t sqrt(sum p (g - sum p g)^2 / n). The added rows keep the error from vanishing where
    cells are empty: without them intervals of rare outcomes have little or no width, and so have those of a bootstrap.
    Cells of classes that occur neither in labels nor in predictions stay empty. With three classes or more there is no
    interval where a class that occurs in any set has fewer than five (effective) rows.

    References
    ----------
    A. Agresti, B. A. Coull (1998), Am. Stat. 52:119; Y. M. M. Bishop, S. E. Fienberg, P. W. Holland (1975), Discrete
    Multivariate Analysis, 14.6 (delta method) and 12.1 (smoothed tables).
    """
    counts, squares, rows = table.counts, table.squares, table.rows
    assert metric.from_counts is not None  # the registry makes sure
    value = metric.from_counts(counts)
    total = counts.sum(axis=(-2, -1))
    size = np.nan_to_num(quotient(total**2, squares.sum(axis=(-2, -1)))) if table.weighted else total
    centre, error, df = _smoothed(metric, table, total, size)
    few = np.zeros(value.shape, dtype=bool)
    if counts.shape[-1] > 2:
        classes = np.nan_to_num(quotient(counts.sum(axis=-1) ** 2, squares.sum(axis=-1)))
        smallest = classes[..., (classes > 0).any(axis=0)].min(axis=-1, initial=np.inf)
        df, few = 2 * smallest, smallest < FEWEST_OF_CLASS - SAME
    ends = TableEnds(value, centre, np.where(few | np.isnan(value), np.nan, error), df, metric.range)
    low, high = ends.at((1 - level) / 2)
    return Measured(
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=rows.sum(axis=(-2, -1)),
        size=size,
        error=ends.error,
        method="delta",
        reasons=reasons_of(metric, value),
        ends=ends,
        unsure=tuple(few_of_class(FEWEST_OF_CLASS) if one else None for one in (few & ~np.isnan(value)).tolist()),
    )


def _smoothed(metric: Metric, table: Tables, total: Floats, size: Floats) -> tuple[Floats, Floats, Floats]:
    """The metric of the tables with added rows, its standard error, and the degrees of freedom of that.

    Without weights the error is sure enough with the rows added. With them the squared error V is a sum over cells,
    each as unsure as the sum of squared weights of its rows, of which a few may make up most: its degrees of freedom
    are 2 V^2 over the variance of V (F. E. Satterthwaite 1946). Fourth powers of weights are taken to be spread as
    those of lognormal weights: squares of the weights of n rows that count as m are as sure as m (m / n)^3 rows, those
    of equal weights as n, and what counts is by how much they are less sure.
    """
    assert metric.from_counts is not None  # the registry makes sure
    counts, squares, rows = table.counts, table.squares, table.rows
    true, predicted = counts.sum(axis=-1) > 0, counts.sum(axis=-2) > 0
    if metric.caution is None:
        true = predicted = true | predicted
    used = true[..., :, None] & predicted[..., None, :]  # a class that a mean leaves out stays left out
    even = used / np.maximum(used.sum(axis=(-2, -1)), 1)[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        whole, kept = total[..., None, None], (size / (size + ADDED_ROWS))[..., None, None]
        share = kept * counts / whole + (1 - kept) * even
        centre = metric.from_counts(share)
        derived = table_derivative(metric.from_counts, share, of_margins=metric.of_margins)
        gradient = np.where(used, np.nan_to_num(derived), 0.0)
        around = gradient - (gradient * share).sum(axis=(-2, -1), keepdims=True)
        spread = kept**2 * squares / whole**2 + (1 - kept) ** 2 * even / ADDED_ROWS
        parts = around**2 * spread
        variance = parts.sum(axis=(-2, -1))
        if not table.weighted:
            return centre, np.sqrt(variance), np.full(variance.shape, np.inf)
        alike = or_zero(quotient(counts**2, squares))
        sure = or_zero(alike * (alike / rows) ** 3) + ADDED_ROWS * even
        unsure = np.maximum(1 / sure - 1 / (rows + ADDED_ROWS * even), 0.0)
        df = 2 * variance**2 / or_zero(parts**2 * unsure).sum(axis=(-2, -1))
        return centre, np.sqrt(variance), np.where(np.isfinite(df), df, np.inf)
