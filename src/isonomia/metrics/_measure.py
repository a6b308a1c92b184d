"""`measure`: any registered metric over any family of row sets, with intervals and bootstrap replicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isonomia.counting import Codes, resample
from isonomia.errors import SpecError
from isonomia.evidence.intervals import (
    SAME,
    boundary_interval,
    quotient,
)
from isonomia.metrics._row_figures import of_means, of_ranks
from isonomia.metrics.measured import Measured, percentile_ends, rate_of, reasons_of
from isonomia.metrics.registry import Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.row_sums import Rows, RowSums
from isonomia.typing import Floats

#: Replicates are worked out in blocks of at most this many numbers (sets x replicates x cells of a table).
BLOCK_NUMBERS = 1 << 25


def measure(
    metrics: Sequence[Metric], sets: RowSets, *, n_boot: int = 1000, seed: int = 0, level: float = 0.95
) -> dict[str, Measured]:
    """Every metric over every set, with intervals.

    Simple proportions and their odds have Wilson's interval, with weights for the effective number of rows (sum w)^2 /
    sum w^2, and no replicates: `evidence` gives their differences, ratios and gaps score intervals. Other functions of
    the confusion table have the percentile interval of a multinomial bootstrap of its cells, means Hall's
    skewness-corrected t interval from their first three moments (R2: a bootstrap of its moments). Metrics of ordered
    rows have the interval their entry names. Losses of probabilities and areas under curves have none with fewer than
    five rows of a class. Rows are taken to be independent.

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
    drawn = [metric for metric in counted if metric.rate is None and metric.odds is None]
    if len(counted) < len(metrics) and not sets.has_rows:
        other = next(metric for metric in metrics if metric.family != "counts")
        raise SpecError(f"The metric '{other.id}' needs rows; there are counts only.")
    tables = _Tables.of(sets) if counted else None
    replicates = _replicates(drawn, sets, n_boot, seed)
    out: dict[str, Measured] = {}
    for metric in metrics:
        if tables is not None and metric.family == "counts":
            out[metric.id] = _of_counts(metric, tables, replicates.get(metric.id), level)
        elif metric.family == "means":
            out[metric.id] = of_means(metric, sets, n_boot, seed, level)
        else:
            out[metric.id] = of_ranks(metric, sets, level)
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
            assert metric.from_counts is not None  # the registry makes sure
            parts[metric.id].append(metric.from_counts(tables))
    return {name: part[0] if len(part) == 1 else np.concatenate(part, axis=1) for name, part in parts.items()}


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
    proportion = metric.rate or metric.odds
    if proportion is not None:
        hits, base = proportion(counts)
        if not table.weighted:
            return rate_of(metric, hits, base, base, base, level)
        size = np.nan_to_num(quotient(base * base, proportion(squares)[1]))
        return rate_of(metric, hits, base, proportion(rows)[1], size, level)
    assert metric.from_counts is not None  # the registry makes sure
    value = metric.from_counts(counts)
    total = counts.sum(axis=(-2, -1))
    size = quotient(total**2, squares.sum(axis=(-2, -1))) if table.weighted else total
    low, high = percentile_ends(metric, value, drawn, level)
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
        reasons=reasons_of(metric, value),
    )


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
