"""How much worse a metric got, whichever direction is better, on a scale that metrics share."""

from __future__ import annotations

from typing import Any

import numpy as np

from isonomia.metrics import Metric
from isonomia.typing import Floats


def worse_by(metric: Metric, values: Any, baseline: float) -> Floats:
    """How much worse values are than the baseline, in the metric's units; NaN for a descriptive metric.

    >>> from isonomia.metrics import METRICS
    >>> worse_by(METRICS["auc"], [0.75, 1.0], 0.875).tolist(), worse_by(METRICS["mae"], [3.0], 2.0).tolist()
    ([0.125, -0.125], [1.0])
    """
    given = np.asarray(values, dtype=float)
    if metric.higher_is_better is None:
        return np.full(given.shape, np.nan)
    return baseline - given if metric.higher_is_better else given - baseline


def scale_of(metric: Metric, baseline: float) -> float:
    """What a degradation is measured in: 1 for a metric with an upper end, the baseline otherwise.

    So an AUC that falls by 0.05 and an MAE that rises by 5% weigh the same. NaN where the baseline is 0: a share of
    nothing is not defined.

    >>> from isonomia.metrics import METRICS
    >>> scale_of(METRICS["auc"], 0.9), scale_of(METRICS["r2"], 0.4), scale_of(METRICS["mae"], 12.5)
    (1.0, 1.0, 12.5)
    """
    if np.isfinite(metric.range[1]):
        return 1.0
    return abs(float(baseline)) if baseline else float("nan")


def spread_over(trials: Floats, level: float) -> tuple[float, float, float, float, int]:
    """Mean, standard deviation, the ends of the middle part of the trials, and how many have a value."""
    known = trials[~np.isnan(trials)]
    if known.size == 0:
        return (float("nan"),) * 4 + (0,)
    low, high = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
    deviation = float(known.std(ddof=1)) if known.size > 1 else float("nan")
    return float(known.mean()), deviation, float(low), float(high), int(known.size)
