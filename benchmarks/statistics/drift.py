"""Coverage of the stability index, the Wasserstein distance and the AUC by which a classifier separates two samples."""

from __future__ import annotations

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia import Dataset
from isonomia.robustness import drift, numeric_distances

TOPIC = "drift"
#: Distances cannot be negative: of one within so many errors of 0 hardly more than one end can miss.
NEAR = 3.5
ONE_END = "so close to 0 only one end can miss"


def true_index(shift: float) -> float:
    """The index of normal values that moved by `shift` standard deviations, over deciles before."""
    from scipy.special import ndtr, ndtri

    edges = ndtri(np.linspace(0, 1, 11))
    p, q = np.diff(ndtr(edges)), np.diff(ndtr(edges - shift))
    return float(((q - p) * np.log(q / p)).sum())


for size in (100, 1000):
    for moved in (0.0, 0.2, 0.5):
        near = moved * size**0.5 < NEAR

        @setting(
            TOPIC,
            f"stability index, {moved:g} sd, {size:,} rows",
            high=0.99 if near else 0.975,
            repetitions=2000,
            note=ONE_END if near else "",
            tested=400 if size == 100 else 0,
        )
        def of_index(rng: np.random.Generator, repetitions: int, size: int = size, moved: float = moved) -> Trials:
            draws = rng.normal(size=(repetitions, 2, size))
            found = [numeric_distances(a, b + moved).stability for a, b in draws]
            return Trials.of_estimates(found, true_index(moved))


for size in (100, 1000):
    for moved in (0.0, 0.1, 0.2, 0.5):
        near = moved * size**0.5 < NEAR

        @setting(
            TOPIC,
            f"Wasserstein distance, {moved:g} sd, {size:,} rows",
            high=0.99 if near else 0.975,
            repetitions=2000,
            note=ONE_END if near else "",
            tested=150 if size == 100 else 0,
        )
        def of_distance(rng: np.random.Generator, repetitions: int, size: int = size, moved: float = moved) -> Trials:
            draws = rng.normal(size=(repetitions, 2, size))
            found = [numeric_distances(a, b + moved).wasserstein for a, b in draws]
            return Trials.of_estimates([x for x in found if x], moved)


for moved in (0.0, 0.5):

    @setting(
        TOPIC,
        f"AUC of two samples, {moved:g} sd in one of 4 features, 200 rows",
        high=1.0,
        repetitions=200,
        note="wide: it holds for classifiers trained on other samples of this size too",
    )
    def of_auc(rng: np.random.Generator, repetitions: int, moved: float = moved) -> Trials:
        """The truth is the average over repetitions."""
        found = []
        for seed in range(repetitions):
            one, two = ({f"x{i}": rng.normal(size=200) for i in range(4)} for _ in range(2))
            two["x0"] = two["x0"] + moved
            result = drift(Dataset(one), Dataset(two), joint=True, seed=seed)
            found.append(result.values["auc"])
        value = np.array([x.value for x in found], dtype=float)
        return Trials.of_estimates(found, value.mean())
