"""What `measure` returns: a metric over sets of rows, with intervals, replicates and reasons for what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.evidence.intervals import Figures, bootstrap_interval, or_zero, quotient, spread_of, wilson
from isonomia.evidence.mean_intervals import Ends
from isonomia.languages import Message
from isonomia.metrics.registry import Metric
from isonomia.typing import Bools, Floats


@dataclass(frozen=True, eq=False)
class Measured:
    """One metric over S sets of rows.

    Attributes
    ----------
    value, low, high : (S,) arrays, NaN where undefined
    n : (S,) rows behind the value: those of the denominator of a rate
    size : (S,) the same, effective where rows are weighted
    weight : (S,) the sum of their weights; for proportions and odds only
    draws : (S, B) bootstrap replicates, or None: proportions and odds need none
    error : (S,) standard errors, or None where there are replicates
    method : how the intervals were made
    at_boundary : (S,) where Wilson's interval stands in, since the replicates or the error show no spread
    reasons : why a value is missing, per set
    ends : intervals at any level, where they have a closed form that is not a rate's
    unsure : why a value has no interval, per set; empty where nothing is known
    """

    metric: Metric
    value: Floats
    low: Floats
    high: Floats
    n: NDArray[Any]
    size: Floats
    weight: Floats | None = None
    draws: Floats | None = None
    error: Floats | None = None
    method: str = ""
    at_boundary: Bools | None = None
    reasons: tuple[Message | str | None, ...] = ()
    ends: Ends | None = None
    unsure: tuple[Message | None, ...] = ()

    @property
    def rate(self) -> bool:
        """Whether the value is a simple proportion of `size`."""
        return self.metric.rate is not None or self.metric.proportion

    def enough(self, rows: NDArray[Any], least: float) -> Bools:
        """Which of the first sets have as many rows; for a rate as many cases too, those of its denominator.

        Of a group of 40 with 5 positives the true positive rate rests on 5 people.
        """
        known: Bools = rows >= least
        return known & (self.n[: len(rows)] >= least) if self.rate else known

    @property
    def odds(self) -> bool:
        """Whether the value is the odds of a simple proportion of `size`."""
        return self.metric.odds is not None

    @property
    def share(self) -> Floats:
        """The proportion behind a rate or odds; NaN where the value is."""
        return self.value / (1 + self.value) if self.odds else self.value

    @property
    def figures(self) -> Figures:
        """Values with their ends, replicates or standard errors, for intervals of differences and ratios."""
        if self.ends is not None:
            return Figures(self.value, error=self.spread(), ends=self.ends)
        return Figures(self.value, self.draws, None if self.draws is not None else self.spread())

    def spread(self) -> Floats:
        """Standard errors of the values."""
        if self.error is not None:
            return self.error
        return np.full(self.value.shape, np.nan) if self.draws is None else spread_of(self.draws)


def rates_of(
    metrics: Sequence[Metric], hits: Floats, base: Floats, n: NDArray[Any], size: Floats, level: float
) -> list[Measured]:
    """Simple proportions of weights, hits / base, or their odds hits / (base - hits): (metrics, sets) arrays."""
    share = quotient(hits, base)
    lows, highs = wilson(or_zero(share) * size, size, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(share * (1 - share) / size)
    found = []
    for row, metric in enumerate(metrics):
        value, low, high, error = share[row], lows[row], highs[row], errors[row]
        if metric.odds is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                error, low, high = error / (1 - value) ** 2, low / (1 - low), high / (1 - high)
            value = quotient(hits[row], base[row] - hits[row])
            low, high, error = (np.where(np.isnan(value), np.nan, part) for part in (low, high, error))
        found.append(
            Measured(
                metric=metric,
                value=value,
                low=low,
                high=high,
                n=n[row],
                size=size[row],
                weight=base[row],
                error=error,
                method="wilson",
                reasons=reasons_of(metric, value),
            )
        )
    return found


def percentile_ends(metric: Metric, value: Floats, drawn: Floats | None, level: float) -> tuple[Floats, Floats]:
    if drawn is None:
        nothing = np.full(value.shape, np.nan)
        return nothing, nothing
    low, high = bootstrap_interval(value, drawn, level)
    return np.maximum(low, metric.range[0]), np.minimum(high, metric.range[1])


def reasons_of(metric: Metric, value: Floats) -> tuple[Message | str | None, ...]:
    missing = np.isnan(value)
    if not missing.any():
        return (None,) * value.size
    return tuple(metric.undefined if absent else None for absent in missing.tolist())
