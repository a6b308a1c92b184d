"""Metrics of ordered rows (AUC), slice by slice: they do not add up, so each slice's rows are taken once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.errors import NotApplicable
from isonomia.metrics import Metric, check_applicable
from isonomia.metrics.counts import NO_ROWS
from isonomia.robustness.missing_reasons import Reason
from isonomia.subject import Outcome
from isonomia.typing import Floats


def measure_ranked(
    metric: Metric, outcome: Outcome, weights: Floats | None, column: Codes
) -> tuple[NDArray[np.int64], Floats, Floats, list[Reason | None]]:
    """Rows, value and standard error of each slice, and the reasons.

    A value is NaN where the metric has no answer, which the reason tells; an error is NaN where none is known.
    """
    assert metric.from_rows is not None
    assert outcome.truth is not None
    order = np.argsort(column.codes, kind="stable")
    counts = column.counts()
    stops = np.cumsum(counts)
    value, error = np.full(column.size, np.nan), np.full(column.size, np.nan)
    reasons: list[Reason | None] = [NO_ROWS] * column.size
    for code in np.flatnonzero(counts):
        rows = order[stops[code] - counts[code] : stops[code]]
        part = outcome.take(rows)
        w = None if weights is None else weights[rows]
        assert part.truth is not None
        reasons[code] = check_applicable(metric, part.truth, part.surface, w)
        if reasons[code] is not None:
            continue
        try:
            found, spread = metric.from_rows(part.truth, part.surface, w)
        except NotApplicable as refused:
            reasons[code] = refused.message
            continue
        value[code], error[code] = found, np.nan if spread is None else spread
        reasons[code] = metric.undefined if np.isnan(found) else None
    return counts, value, error, reasons
