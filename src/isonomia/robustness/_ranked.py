"""Metrics of ordered rows (AUC), slice by slice: they do not add up, so each slice's rows are taken once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.errors import NotApplicable
from isonomia.metrics import Metric, check_applicable
from isonomia.models import Outcome

Floats = NDArray[np.float64]


def measure_ranked(
    metric: Metric, outcome: Outcome, weights: Floats | None, column: Codes
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Rows, value and standard error of each slice; NaN where the metric has no answer or no known error."""
    assert metric.from_rows is not None
    assert outcome.truth is not None
    order = np.argsort(column.codes, kind="stable")
    counts = column.counts()
    stops = np.cumsum(counts)
    value, error = np.full(column.size, np.nan), np.full(column.size, np.nan)
    for code in np.flatnonzero(counts):
        rows = order[stops[code] - counts[code] : stops[code]]
        part = outcome.take(rows)
        w = None if weights is None else weights[rows]
        if part.truth is None or check_applicable(metric, part.truth, part.surface, w) is not None:
            continue
        try:
            found, spread = metric.from_rows(part.truth, part.surface, w)
        except NotApplicable:
            continue
        value[code], error[code] = found, np.nan if spread is None else spread
    return counts, value, error
