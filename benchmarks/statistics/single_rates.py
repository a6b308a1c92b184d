"""Coverage of the intervals of single rates."""

from __future__ import annotations

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia.evidence.intervals import wilson

for size in (30, 100, 1000):
    for rate in (0.01, 0.05, 0.3, 0.5):
        few = size * rate < 5

        @setting(
            "single rates",
            f"rate {rate:g}, {size:,} rows",
            low=0.93,
            high=1.0 if few else 0.975,
            repetitions=5000,
            tested=2000,
            note="fewer than 5 expected cases" if few else "",
        )
        def of_rate(rng: np.random.Generator, repetitions: int, rate: float = rate, size: int = size) -> Trials:
            return Trials.of_intervals(*wilson(rng.binomial(size, rate, repetitions), size), rate)
