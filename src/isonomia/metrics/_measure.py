"""`measure`: any registered metric over any family of row sets, with intervals and bootstrap replicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, resample, resample_sums, sum_by
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence.intervals import (
    SAME,
    Figures,
    bootstrap_interval,
    boundary_interval,
    logit_interval,
    quotient,
    spread_of,
    wilson,
)
from isonomia.languages import Message
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.registry import Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.row_sums import Rows, RowSums
from isonomia.typing import Bools, Floats

#: Replicates are worked out in blocks of at most this many numbers (sets x replicates x cells of a table).
BLOCK_NUMBERS = 1 << 25


@dataclass(frozen=True, eq=False)
class Measured:
    """One metric over S sets of rows.

    Attributes
    ----------
    value, low, high : (S,) arrays, NaN where undefined
    n : (S,) rows behind the value: those of the denominator of a rate
    size : (S,) the same, effective where rows are weighted
    draws : (S, B) bootstrap replicates, or None
    error : (S,) standard errors, or None where there are replicates
    method : how the intervals were made
    at_boundary : (S,) where Wilson's interval stands in, since the replicates or the error show no spread
    reasons : why a value is missing, per set
    """

    metric: Metric
    value: Floats
    low: Floats
    high: Floats
    n: NDArray[Any]
    size: Floats
    draws: Floats | None = None
    error: Floats | None = None
    method: str = ""
    at_boundary: Bools | None = None
    reasons: tuple[Message | str | None, ...] = ()

    @property
    def rate(self) -> bool:
        """Whether the value is a simple proportion of `size`."""
        return self.metric.rate is not None

    @property
    def figures(self) -> Figures:
        """Values with their replicates or standard errors, for intervals of differences and ratios."""
        return Figures(self.value, self.draws, None if self.draws is not None else self.spread())

    def spread(self) -> Floats:
        """Standard errors of the values."""
        if self.error is not None:
            return self.error
        return np.full(self.value.shape, np.nan) if self.draws is None else spread_of(self.draws)


def measure(
    metrics: Sequence[Metric], sets: RowSets, *, n_boot: int = 1000, seed: int = 0, level: float = 0.95
) -> dict[str, Measured]:
    """Every metric over every set, with intervals.

    Simple proportions have Wilson's interval, with weights for the effective number of rows (sum w)^2 / sum w^2. Other
    functions of the confusion table have the percentile interval of a multinomial bootstrap of its cells, means that of
    a bootstrap of their moments. Metrics of ordered rows have the interval their entry names. Rows are taken to be
    independent.

    Parameters
    ----------
    metrics : sequence of Metric
    sets : RowSets
    n_boot : int
        Bootstrap replicates, the same for all metrics of counts; 0 leaves them out, and the intervals made of them.
    seed : int
        Of the bootstrap.
    level : float
        Confidence level.

    Examples
    --------
    >>> from isonomia.metrics import METRICS
    >>> from isonomia.models import Surface
    >>> rows = Rows(np.array([0, 1, 1, 0]), Surface.of_labels([0, 1, 0, 0], classes=(0, 1)))
    >>> sets = RowSets.of(rows, [Codes.encode(["a", "a", "b", "b"])])
    >>> measure([METRICS["accuracy"]], sets)["accuracy"].value.tolist()
    [1.0, 0.5]
    """
    counted = [metric for metric in metrics if metric.family == "counts"]
    if len(counted) < len(metrics) and not sets.has_rows:
        other = next(metric for metric in metrics if metric.family != "counts")
        raise SpecError(f"The metric '{other.id}' needs rows; there are counts only.")
    tables = _Tables.of(sets) if counted else None
    replicates = _replicates(counted, sets, n_boot, seed)
    out: dict[str, Measured] = {}
    for metric in metrics:
        if tables is not None and metric.family == "counts":
            out[metric.id] = _of_counts(metric, tables, replicates.get(metric.id), level)
        elif metric.family == "means":
            out[metric.id] = _of_means(metric, sets, n_boot, seed, level)
        else:
            out[metric.id] = _of_ranks(metric, sets, n_boot, seed, level)
    return out


def _replicates(metrics: Sequence[Metric], sets: RowSets, n_boot: int, seed: int) -> dict[str, Floats]:
    """Bootstrap replicates (sets, replicates) of each metric, in blocks: tables of many classes are large."""
    if not n_boot or not metrics:
        return {}
    table = sets.counts
    block = max(1, BLOCK_NUMBERS // sets.numbers)
    rng = np.random.default_rng(seed)
    parts: dict[str, list[Floats]] = {metric.id: [] for metric in metrics}
    for start in range(0, n_boot, block):
        tables = sets.replicated_tables(resample(table, min(block, n_boot - start), rng))
        for metric in metrics:
            parts[metric.id].append(_value_of_table(metric, tables))
    return {name: part[0] if len(part) == 1 else np.concatenate(part, axis=1) for name, part in parts.items()}


def _value_of_table(metric: Metric, tables: Floats) -> Floats:
    if metric.rate is not None:
        return quotient(*metric.rate(tables))
    assert metric.from_counts is not None  # the registry makes sure
    return metric.from_counts(tables)


@dataclass(frozen=True, eq=False)
class _Tables:
    """Confusion tables (S, R, K) of the sets: of weights, of squared weights and of rows."""

    counts: Floats
    squares: Floats
    rows: Floats
    weighted: bool

    @classmethod
    def of(cls, sets: RowSets) -> _Tables:
        if sets.rows.surface.task == "regression":
            raise SpecError("These metrics are about decisions, and a regression predicts numbers.")
        table = sets.counts
        counts = sets.tables(table.w)
        squares, rows = (sets.tables(table.w2), sets.tables(table.n)) if table.weighted else (counts, counts)
        return cls(counts=counts, squares=squares, rows=rows, weighted=table.weighted)


def _of_counts(metric: Metric, table: _Tables, drawn: Floats | None, level: float) -> Measured:
    counts, squares, rows = table.counts, table.squares, table.rows
    if metric.rate is not None:
        hits, base = metric.rate(counts)
        value = quotient(hits, base)
        if not table.weighted:
            return _rate(metric, value, base, base, level, drawn)
        size = np.nan_to_num(quotient(base * base, metric.rate(squares)[1]))
        return _rate(metric, value, metric.rate(rows)[1], size, level, drawn)
    assert metric.from_counts is not None  # the registry makes sure
    value = metric.from_counts(counts)
    total = counts.sum(axis=(-2, -1))
    size = quotient(total**2, squares.sum(axis=(-2, -1))) if table.weighted else total
    low, high = _percentiles(metric, value, drawn, level)
    same = None
    if drawn is not None:
        with np.errstate(invalid="ignore"):
            same = high - low < SAME
        classes = counts.sum(axis=-1)
        if table.weighted:
            classes = quotient(classes * classes, squares.sum(axis=-1))
        smallest = np.where(classes > 0, classes, np.inf).min(axis=-1)
        ends = boundary_interval(value, smallest, metric.range, level)
        low, high = (np.where(same, end, usual) for end, usual in zip(ends, (low, high), strict=True))
    return Measured(
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=rows.sum(axis=(-2, -1)),
        size=size,
        draws=drawn,
        method="bootstrap",
        at_boundary=same,
        reasons=_reasons(metric, value),
    )


def _rate(metric: Metric, value: Floats, n: NDArray[Any], size: Floats, level: float, drawn: Floats | None) -> Measured:
    """A simple proportion."""
    low, high = wilson(np.nan_to_num(value) * size, size, level)
    return Measured(
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=n,
        size=size,
        draws=drawn,
        method="wilson",
        reasons=_reasons(metric, value),
    )


def _of_means(metric: Metric, sets: RowSets, n_boot: int, seed: int, level: float) -> Measured:
    parts = RowSums(metric, sets.rows)
    cells = parts.over([sets.cells])
    value = parts.value(sets.sums(cells.sums))
    n = sets.sums(cells.n)
    drawn = None
    if n_boot:
        # without weights the first sum is the number of rows, which is drawn itself
        first = 0 if sets.counts.weighted else 1
        m, sums = resample_sums(cells.n, cells.sums[:, first:], cells.squares[:, first:, first:], n_boot, seed)
        if first:
            sums = np.concatenate([m[..., None], sums], axis=-1)
        drawn = parts.value(sets.sums(np.moveaxis(sums, 0, 1)))
    if metric.proportion:
        w, w2 = sets.sums(cells.sums[:, 0]), sets.sums(cells.squares[:, 0, 0])
        return _rate(metric, value, n, np.nan_to_num(quotient(w * w, w2)), level, drawn)
    low, high = _percentiles(metric, value, drawn, level)
    return Measured(
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=n,
        size=n,
        draws=drawn,
        method="bootstrap",
        reasons=_reasons(metric, value),
    )


def _of_ranks(metric: Metric, sets: RowSets, n_boot: int, seed: int, level: float) -> Measured:
    assert metric.from_rows is not None  # the registry makes sure
    value, error, size, smaller = (np.full(len(sets), np.nan) for _ in range(4))
    reasons: list[Message | str | None] = [None] * len(sets)
    drawn = None if metric.draws is None or not n_boot else np.full((len(sets), n_boot), np.nan)
    rng = np.random.default_rng(seed)  # one for all sets: equal noise would hide the spread of a difference
    for index, chosen in sets.each():
        part = sets.rows.take(chosen)
        size[index] = len(part)
        reasons[index] = check_applicable(metric, part.truth, part.surface, part.weights)
        if reasons[index] is not None or part.truth is None:
            continue
        try:
            value[index], spread = metric.from_rows(part.truth, part.surface, part.weights)
        except NotApplicable as reason:
            reasons[index] = reason.message
            continue
        error[index] = np.nan if spread is None else spread
        if np.isnan(value[index]):
            reasons[index] = metric.undefined
        if metric.interval and metric.draws is None:
            smaller[index] = smaller_class(part.truth, part.weights)
        if drawn is not None and metric.draws is not None:
            drawn[index] = metric.draws(part.truth, part.surface, part.weights, n_boot, rng)
    low = high = np.full(len(sets), np.nan)
    if drawn is not None:
        low, high = bootstrap_interval(value, drawn, level, hold=True)  # the value itself may be biased
    elif metric.interval and metric.draws is None:
        low, high = logit_interval(value, error, smaller, level)
    return Measured(
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=size,
        size=size,
        draws=drawn,
        error=None if drawn is not None else error,
        method=metric.interval,
        at_boundary=None if metric.draws is not None else np.isnan(error),
        reasons=tuple(reasons),
    )


def _percentiles(metric: Metric, value: Floats, drawn: Floats | None, level: float) -> tuple[Floats, Floats]:
    if drawn is None:
        nothing = np.full(value.shape, np.nan)
        return nothing, nothing
    low, high = bootstrap_interval(value, drawn, level)
    return np.maximum(low, metric.range[0]), np.minimum(high, metric.range[1])


def _reasons(metric: Metric, value: Floats) -> tuple[Message | str | None, ...]:
    missing = np.isnan(value)
    if not missing.any():
        return (None,) * value.size
    return tuple(metric.undefined if absent else None for absent in missing.tolist())


def smaller_class(truth: NDArray[Any], weights: Floats | None = None) -> float:
    """The (effective) number of rows of the smallest class that occurs.

    >>> smaller_class(np.array([0, 0, 0, 1, 1]))
    2.0
    """
    w = np.ones(len(truth)) if weights is None else weights
    first, second = sum_by(truth, np.stack([w, w * w], axis=1), int(truth.max()) + 1).T
    return float(min(a * a / b for a, b in zip(first, second, strict=True) if b > 0))


def influence(metric: Metric, rows: Rows, sets: Codes) -> tuple[Floats, Floats]:
    """The value of each set (S,), and what each row (n,) adds to the value of its own set, to first order.

    The root of the sum of squares over a set is the standard error of its value. Influences are NaN for metrics of
    ordered rows that have none.

    Raises
    ------
    NotApplicable
        Where the rows have no decisions, or a set has no rows of a class that the metric needs.
    """
    if metric.family != "ranks":
        return RowSums(metric, rows).influence(sets)
    assert metric.from_rows is not None  # the registry makes sure
    value, pull = np.full(sets.size, np.nan), np.full(len(rows), np.nan)
    for index, chosen in RowSets.of(rows, [sets], empty=True).each():
        part = rows.take(chosen)
        assert part.truth is not None
        if metric.influence is not None:
            value[index], pull[chosen] = metric.influence(part.truth, part.surface, part.weights)
        else:
            value[index] = metric.from_rows(part.truth, part.surface, part.weights)[0]
    return value, pull
