"""Coverage of F1, kappa, Matthews correlation and balanced accuracy: functions of a whole confusion table."""

from __future__ import annotations

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia import Surface
from isonomia.counting import Codes
from isonomia.metrics import METRICS, Rows, RowSets, measure

TITLES = {
    "f1": "F1",
    "matthews_corrcoef": "Matthews correlation",
    "cohens_kappa": "kappa",
    "balanced_accuracy": "balanced accuracy",
}
#: 70% of the positives and 10% of the negatives are predicted positive.
FOUND, ALARMS = 0.7, 0.1


def covered(rng: np.random.Generator, repetitions: int, metric: str, base: float, n: int, *, weighted: bool) -> Trials:
    """Every repetition is a set of rows of one call."""
    truth = (rng.uniform(size=repetitions * n) < base).astype(np.uint8)
    said = (rng.uniform(size=truth.size) < np.where(truth, FOUND, ALARMS)).astype(np.uint8)
    weights = rng.lognormal(0, 0.83, truth.size) if weighted else None  # as many rows as half of them without weights
    rows = Rows(truth, Surface.of_labels(said, classes=(0, 1)), weights)
    sets = RowSets.of(rows, [Codes("r", np.repeat(np.arange(repetitions), n), tuple(range(repetitions)))])
    part = measure([METRICS[metric]], sets)[metric]
    shares = np.array([[(1 - base) * (1 - ALARMS), (1 - base) * ALARMS], [base * (1 - FOUND), base * FOUND]])
    compute = METRICS[metric].from_counts
    assert compute is not None
    return Trials.of_intervals(part.low, part.high, compute(shares))


for metric, title in TITLES.items():
    for base in (0.5, 0.05):
        for n in (30, 100, 1000):
            for weighted in (False, True):
                few = base * n * (0.5 if weighted else 1.0) <= 5

                @setting(
                    "functions of the confusion table",
                    f"{title}, {base:.0%} are positive, {n:,} rows{', weighted' if weighted else ''}",
                    low=0.935 if n >= 100 else 0.93,
                    high=1.0 if few or n < 100 else 0.975,
                    repetitions=2000,
                    tested=500 if n == 100 else 0,
                    note="about five rows of a class or fewer" if few else "",
                )
                def of_table(
                    rng: np.random.Generator,
                    repetitions: int,
                    metric: str = metric,
                    base: float = base,
                    n: int = n,
                    weighted: bool = weighted,
                ) -> Trials:
                    return covered(rng, repetitions, metric, base, n, weighted=weighted)
