"""Power: a gap of the size that is stated as detectable is found in at least 80% of the cases."""

from __future__ import annotations

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia.evidence import detectable_rates, two_proportions

for tests in (1, 100):
    for rate in (0.05, 0.1, 0.3, 0.5):
        for reference, size in ((100, 100), (1000, 100), (1000, 1000), (3000, 240)):
            gaps = detectable_rates(rate, reference, size, alpha=0.05 / tests)
            for side, gap, sign in zip(("below", "above"), gaps, (-1, 1), strict=True):
                if np.isnan(gap):
                    continue

                @setting(
                    "detectable gaps",
                    f"rate {rate:g}, {reference:,} and {size:,} rows, {gap:.3f} {side}, one of {tests} tests",
                    "found after Holm's correction",
                    low=0.8,
                    high=1.0,
                    repetitions=4000,
                    tested=1000 if reference == 3000 else 0,
                )
                def found(
                    rng: np.random.Generator,
                    repetitions: int,
                    rates: tuple[float, float] = (rate, float(np.clip(rate + sign * gap, 0, 1))),
                    sizes: tuple[int, int] = (reference, size),
                    tests: int = tests,
                ) -> Trials:
                    (p, q), (m, n) = rates, sizes
                    k, j = rng.binomial(n, q, repetitions), rng.binomial(m, p, repetitions)
                    return Trials.of_p_values(two_proportions(k, n, j, m) * tests)
