"""Coverage of what was picked among many: the worst slice, the largest gap of training rows, a change point."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia import Dataset
from isonomia.evidence import simultaneous_level
from isonomia.evidence.intervals import normal_interval
from isonomia.fairness.time.control_limits import change_point
from isonomia.robustness import weak_spots

TOPIC = "picked among many"


def sliced(rng: np.random.Generator, n: int, weak: float) -> Dataset:
    """Eight features; where the first is in its lowest tenth the error rate is `weak`, elsewhere 0.2."""
    x = rng.random((n, 8))
    y = rng.integers(0, 2, n)
    wrong = rng.random(n) < np.where(x[:, 0] < 0.1, weak, 0.2)
    frame: dict[str, Any] = {f"x{i}": x[:, i] for i in range(8)} | {"y": y, "said": np.where(wrong, 1 - y, y)}
    return Dataset(frame, target="y", positive=1, prediction="said")


@setting(TOPIC, "weak spots listed, one slice of 10% at 0.35, 1,000 rows", high=1.0, repetitions=300)
def of_spots(rng: np.random.Generator, repetitions: int) -> Trials:
    low, high, truth = [], [], []
    for _ in range(repetitions):
        for row in weak_spots(sliced(rng, 1000, 0.35)).tables["weak_spots"].rows():
            low.append(row["low"])
            high.append(row["high"])
            truth.append(0.35 if row["feature"] == "x0" and row["share"] < 0.15 else 0.215)
    return Trials.of_intervals(low, high, truth)


@setting(TOPIC, "change point, 12 periods without change", high=1.0, repetitions=5000, tested=1000)
def of_change(rng: np.random.Generator, repetitions: int) -> Trials:
    found = [change_point(rng.normal(size=12), np.ones(12)) for _ in range(repetitions)]
    change, spread = np.array([(after - before, error) for _, before, after, error in found]).T
    return Trials.of_intervals(*normal_interval(change, spread, simultaneous_level(0.95, 11)), 0.0)
