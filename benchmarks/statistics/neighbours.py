"""Coverage of averages over people and those like them, whose pairs share people; the size of the test of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia import Dataset
from isonomia.evidence import Estimate
from isonomia.fairness import awareness, consistency, label_bias

TOPIC = "neighbours"


def people(rng: np.random.Generator, n: int) -> dict[str, Any]:
    return {f"x{i}": rng.normal(size=n) for i in range(3)}


def chance(x: dict[str, Any]) -> Any:
    return 1 / (1 + np.exp(-1.5 * x["x0"]))


def covered(found: list[Estimate]) -> Trials:
    """The truth is the average over repetitions."""
    low, high, value = (
        np.array([getattr(item, end) for item in found], dtype=float) for end in ("low", "high", "value")
    )
    return Trials.of_intervals(low, high, value.mean())


for size in (100, 400):

    @setting(TOPIC, f"consistency, {size} rows", repetitions=1000, tested=60 if size == 100 else 0)
    def of_consistency(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        draws = (people(rng, size) for _ in range(repetitions))
        return covered([consistency(x, (rng.random(size) < chance(x)).astype(int)).value for x in draws])

    @setting(TOPIC, f"consistency of a group of 30%, {size} rows", repetitions=1000)
    def of_group(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        found = []
        for _ in range(repetitions):
            x, sex = people(rng, size), np.where(rng.random(size) < 0.3, "F", "M")
            decided = (rng.random(size) < chance(x)).astype(int)
            table = consistency(x, decided, sensitive_features=sex).tables["by_group"]
            found.append(table["consistency"].estimate(0))
        return covered(found)

    @setting(TOPIC, f"awareness, all pairs, {size} rows", repetitions=10 * size)
    def of_pairs(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        draws = (people(rng, size) for _ in range(repetitions))
        return covered([awareness(x, y_score=chance(x)).share for x in draws])

    @setting(TOPIC, f"awareness, neighbours, {size} rows", repetitions=10 * size)
    def of_neighbours(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        draws = (people(rng, size) for _ in range(repetitions))
        return covered([awareness(x, y_score=chance(x)).near for x in draws])


for size in (100, 400):

    @setting(
        TOPIC,
        f"labels of similar people alike, {size} rows",
        "size of the test",
        low=0.0,
        high=0.065,
        repetitions=1000,
    )
    def of_labels(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        found = []
        for _ in range(repetitions):
            x, sex = people(rng, size), np.where(rng.random(size) < 0.3, "F", "M")
            frame = {**x, "sex": sex, "y": (rng.random(size) < chance(x)).astype(int)}
            data = Dataset(frame, target="y", positive=1, protected=["sex"])
            found.append(label_bias(data, n_boot=2).tables["neighbours"]["p_value"].values[0])
        return Trials.of_p_values(found)
