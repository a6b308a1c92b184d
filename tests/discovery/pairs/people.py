"""Small worlds with known discrimination, and checks that hold for every result."""

from __future__ import annotations

from typing import Any

import numpy as np

from isonomia import Dataset
from isonomia.discovery import PairResult
from isonomia.probing import Domain

#: Eight features; the protected one is "sex" (and "race" in the wide world).
FEATURES: dict[str, Any] = {
    "age": (18, 67),
    "sex": ["F", "M"],
    "hours": (1, 60),
    "job": ["clerk", "nurse", "cook", "smith", "judge"],
    "school": (0, 16),
    "race": ["a", "b", "c"],
    "debt": (0, 20),
    "pay": (0, 40),
}
WORLD = Domain(FEATURES, backend="polars")


def people(n: int, seed: int = 0) -> Dataset:
    """A dataset of people drawn from the world."""
    return Dataset(WORLD.decode(WORLD.sample(n, np.random.default_rng(seed))), protected=["sex"])


class Boxed:
    """Decides by school and pay, but asks women in one box of the world for more: known discrimination.

    The box: 30 <= age <= 50 and 20 <= hours <= 50. Inside it a woman needs 12 points more.
    """

    classes_ = np.array([0, 1])

    def points(self, rows: np.ndarray) -> np.ndarray:
        age, sex, hours, _, school, _, debt, pay = rows.T
        inside = (age >= 30) & (age <= 50) & (hours >= 20) & (hours <= 50)
        return school + pay - debt - 18 - 12 * (inside & (sex == 0))

    def predict_proba(self, frame: Any) -> np.ndarray:
        p = 1 / (1 + np.exp(-self.points(WORLD.encode(frame)) / 6 + 1e-9))
        return np.stack([1 - p, p], axis=1)

    def predict(self, frame: Any) -> np.ndarray:
        return self.predict_proba(frame).argmax(axis=1)


class Fair(Boxed):
    """The same, without looking at sex."""

    def points(self, rows: np.ndarray) -> np.ndarray:
        level = rows.copy()
        level[:, 1] = 1
        return super().points(level)


def recheck(result: PairResult, model: Any, protected: tuple[str, ...] = ("sex",)) -> None:
    """Every pair of a result: valid people, alike but for protected values, treated differently, unique."""
    pairs, domain = result.pairs, result.domain
    places = [domain.index(name) for name in protected]
    free = [place for place in range(len(domain)) if place not in places]
    assert len(pairs) == result.metrics["DSN"]
    if len(pairs) == 0:
        return
    assert domain.valid(pairs.first).all()
    assert domain.valid(pairs.second).all()
    assert np.array_equal(pairs.first[:, free], pairs.second[:, free], equal_nan=True)
    assert (pairs.first[:, places] != pairs.second[:, places]).any(axis=1).all()
    said = [np.asarray(model.predict(domain.decode(side))) for side in (pairs.first, pairs.second)]
    assert (said[0] != said[1]).all()
    assert len(np.unique(pairs.first[:, free], axis=0)) == len(pairs)
    assert result.metrics["SUR"] == result.metrics["DSN"] / result.metrics["TSN"]
