"""Coverage of the intervals of single rates: at given rates, and at the rate at which exact coverage is lowest."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import binom

from benchmarks.statistics.setting import Trials, setting
from isonomia.evidence.intervals import wilson

TOPIC = "single rates"


@cache
def least_favourable(size: int) -> float:
    """The rate at which the interval of a rate of `size` rows covers least, by summing over all counts."""
    k = np.arange(size + 1)
    low, high = wilson(k, size)
    rates = np.concatenate([low[low > 0] - 1e-7, high[high < 1] + 1e-7])  # coverage falls just outside an end
    rates = rates[(rates > 0) & (rates <= 0.5)]
    covered = [binom.pmf(k, size, p)[(low <= p) & (p <= high)].sum() for p in rates]
    return float(rates[int(np.argmin(covered))])


def drawn(rng: np.random.Generator, size: int, rate: float, repetitions: int, *, weighted: bool = False) -> Trials:
    if not weighted:
        return Trials.of_intervals(*wilson(rng.binomial(size, rate, repetitions), size), rate)
    weight, hit = rng.exponential(1.0, (repetitions, size)), rng.random((repetitions, size)) < rate
    total = weight.sum(axis=1)
    effective = total**2 / (weight**2).sum(axis=1)
    return Trials.of_intervals(*wilson((weight * hit).sum(axis=1) / total * effective, effective), rate)


for size in (30, 100, 1000):
    least = 0.93 if size < 100 else 0.935

    for rate in (0.01, 0.05, 0.3, 0.5):
        for weighted in (False, True):
            few = size * rate / (1 + weighted) < 5

            @setting(
                TOPIC,
                f"rate {rate:g}, {size:,} rows" + ", weighted" * weighted,
                low=least,
                high=1.0 if few else 0.975,
                repetitions=5000,
                tested=0 if weighted else 2000,
                note="fewer than 5 expected cases" if few else "",
            )
            def of_rate(
                rng: np.random.Generator,
                repetitions: int,
                rate: float = rate,
                size: int = size,
                weighted: bool = weighted,
            ) -> Trials:
                return drawn(rng, size, rate, repetitions, weighted=weighted)

    @setting(TOPIC, f"the rate at which exact coverage is lowest, {size:,} rows", low=least, repetitions=20_000)
    def of_worst(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        return drawn(rng, size, least_favourable(size), repetitions)
