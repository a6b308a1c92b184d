"""Control charts of a figure over runs, with limits from each run's own standard error.

Run t has the value x_t with the standard error s_t. It is compared with the precision-weighted mean m of the runs
before it: z_t = (x_t - m) / sqrt(s_t^2 + v), where v = 1 / sum(1 / s_i^2) is the variance of m. As long as nothing
changes, the z_t are independent standard normal numbers, however much the runs differ in size (they are recursive
residuals; Brown, Durbin and Evans 1975). Two charts look at them: an exponentially weighted mean
e_t = 0.2 z_t + 0.8 e_(t-1), which finds small lasting shifts (Roberts 1959), with its exact variance; and z_t itself,
which finds sudden ones (Shewhart). While nothing changes both together alert at most once in 370 points, as a single
chart with limits of 3 standard errors would. After an alert the weighted mean starts from 0 again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

#: The weight of the newest point.
LAMBDA = 0.2
#: Limits of the weighted mean, in its own standard errors, and of a single point.
EWMA_LIMIT, POINT_LIMIT = 3.1, 3.2


@dataclass(frozen=True, eq=False, kw_only=True)
class Chart:
    """A chart of T runs; the first has nothing to be compared with.

    Attributes
    ----------
    expected, residual : arrays
        The mean of the runs before, and how many standard errors the run is away from it.
    weighted, limit : arrays
        The exponentially weighted mean of the residuals, and the limit it is compared with.
    alerts : array of bool
    """

    expected: Floats
    residual: Floats
    weighted: Floats
    limit: Floats
    alerts: NDArray[np.bool_]


def chart_of(values: Floats, errors: Floats) -> Chart:
    """The chart of a figure's values and standard errors, the oldest run first.

    >>> chart = chart_of(np.array([0.50, 0.51, 0.49, 0.50, 0.70]), np.full(5, 0.02))
    >>> chart.alerts.tolist(), round(float(chart.residual[-1]), 1)
    ([False, False, False, False, True], 8.9)
    """
    n = len(values)
    precision = np.cumsum(errors**-2.0)
    total = np.cumsum(values * errors**-2.0)
    expected = np.full(n, np.nan)
    expected[1:] = total[:-1] / precision[:-1]
    residual = np.full(n, np.nan)
    residual[1:] = (values[1:] - expected[1:]) / np.sqrt(errors[1:] ** 2 + 1 / precision[:-1])
    weighted, limit, alerts = np.zeros(n), np.full(n, np.nan), np.zeros(n, dtype=bool)
    shrinking = (1 - LAMBDA) ** (2 * np.arange(n + 1))
    limits: list[float] = (EWMA_LIMIT * np.sqrt(LAMBDA / (2 - LAMBDA) * (1 - shrinking))).tolist()
    mean, steps = 0.0, 0
    for t, one in enumerate(residual[1:].tolist(), 1):  # runs of one analysis, not rows of data
        steps += 1
        mean = LAMBDA * one + (1 - LAMBDA) * mean
        weighted[t], limit[t] = mean, limits[steps]
        if abs(mean) > limits[steps] or abs(one) > POINT_LIMIT:
            alerts[t] = True
            mean, steps = 0.0, 0
    return Chart(expected=expected, residual=residual, weighted=weighted, limit=limit, alerts=alerts)


#: False alerts per look, and of all looks at one baseline together.
PER_LOOK, ALTOGETHER = 1 / 370, 0.05


def alpha_of(look: int) -> float:
    """The error that the n-th look at a baseline may spend: at most 1 in 370, and 5% over all looks, however many.

    min(1/370, c / (n (n + 1))), with c such that the sum over all n is 0.05.

    >>> round(1 / alpha_of(1)), round(1 / alpha_of(20))
    (370, 1636)
    """
    constant = 10 * (ALTOGETHER - 9 * PER_LOOK)
    return min(PER_LOOK, constant / (look * (look + 1)))
