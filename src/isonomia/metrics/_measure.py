"""`measure`: any registered metric over any family of row sets, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isonomia.counting import Codes
from isonomia.errors import SpecError
from isonomia.metrics._row_figures import of_means, of_ranks
from isonomia.metrics._table_figures import Tables, of_counts, of_rates
from isonomia.metrics.measured import Measured
from isonomia.metrics.own_intervals import of_function
from isonomia.metrics.registry import Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.row_sums import RowSums
from isonomia.metrics.rows import Rows
from isonomia.typing import Floats


def measure(
    metrics: Sequence[Metric], sets: RowSets, *, n_boot: int = 1000, seed: int = 0, level: float = 0.95
) -> dict[str, Measured]:
    """Every metric over every set, with intervals.

    Simple proportions and their odds have Wilson's interval, with weights for the effective number of rows (sum w)^2 /
    sum w^2, and no replicates: `evidence` gives their differences, ratios and gaps score intervals. Other functions of
    the confusion table have the delta method's, with four rows added to the table, means Hall's
    skewness-corrected t interval from their first three moments (R2: the delta method). Metrics of ordered
    rows have the interval their entry names; areas under curves have none with fewer than five rows of a class.
    Functions of the user's have those of the delta method or the jackknife, which ask them at most 41 times for each
    set, or percentiles of at most 200 bootstrap samples where their entry asks for them. Rows are taken to be
    independent.

    Parameters
    ----------
    metrics : sequence of Metric
    sets : RowSets
    n_boot : int
        Bootstrap replicates of figures that need them; 0 leaves out the intervals of functions of the user's.
    seed : int
        Of the bootstrap, and of the parts that a jackknife leaves out.
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
    tables = Tables.of(sets) if counted else None
    rates = [metric for metric in counted if metric.rate is not None or metric.odds is not None]
    found = of_rates(rates, tables, level) if tables is not None and rates else []
    of_rate = {one.metric.id: one for one in found}
    out: dict[str, Measured] = {}
    for metric in metrics:
        if metric.id in of_rate:
            out[metric.id] = of_rate[metric.id]
        elif tables is not None and metric.family == "counts":
            out[metric.id] = of_counts(metric, tables, level)
        elif metric.family == "means":
            out[metric.id] = of_means(metric, sets, level)
        elif metric.family == "functions":
            out[metric.id] = of_function(metric, sets, n_boot, seed, level)
        else:
            out[metric.id] = of_ranks(metric, sets, level)
    return out


def influence(metric: Metric, rows: Rows, sets: Codes) -> tuple[Floats, Floats]:
    """The value of each set (S,), and what each row (n,) adds to the value of its own set, to first order.

    The root of the sum of squares over a set is the standard error of its value. Influences are NaN for metrics of
    ordered rows, and functions of the user's, that have none.

    Raises
    ------
    NotApplicable
        Where the rows have no decisions, or a set has no rows of a class that the metric needs.
    """
    if metric.adds_up:
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
