"""Coverage of the mean area under the ROC curve over three classes, with and without weights."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia import Surface
from isonomia.counting import Codes
from isonomia.metrics import METRICS, Rows, RowSets, measure

CLASSES = ("a", "b", "c")
#: Classes of different sizes: the smallest has a fifth of the rows.
SHARES = (0.5, 0.3, 0.2)


def people(rng: np.random.Generator, rows: int, *, weighted: bool) -> Rows:
    """Scores that tell three classes apart in part; the weights leave half of the rows effective."""
    truth = rng.choice(3, rows, p=SHARES).astype(np.uint8)
    odds = rng.normal(size=(rows, 3)) + 1.2 * np.eye(3)[truth]
    probability = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    weights = rng.lognormal(0, 0.83, rows) if weighted else None
    return Rows(truth, Surface.of_probabilities(probability, classes=CLASSES), weights)


@cache
def true_area() -> float:
    """Of so many rows that their error does not matter."""
    rows = people(np.random.default_rng(0), 400_000, weighted=False)
    return float(measure([METRICS["macro_auc"]], RowSets.of(rows, []), n_boot=0)["macro_auc"].value[0])


for size in (30, 100, 1000):
    for weighted in (False, True):

        @setting(
            "means, areas and calibration",
            f"Mean area of three classes, {size:,} rows{', weighted' if weighted else ''}",
            low=0.93 if size < 100 else 0.935,
            high=0.985 if size < 100 else 0.975,
            repetitions=2000 if size < 1000 else 1000,
            tested=300 if size == 100 else 0,
        )
        def of_classes(
            rng: np.random.Generator, repetitions: int, size: int = size, weighted: bool = weighted
        ) -> Trials:
            rows = people(rng, size * repetitions, weighted=weighted)
            runs = Codes("run", np.repeat(np.arange(repetitions), size), tuple(range(repetitions)))
            found = measure([METRICS["macro_auc"]], RowSets.of(rows, [runs]))["macro_auc"]
            return Trials.of_intervals(found.low, found.high, true_area())
