"""Errors given the score, against scikit-learn's isotonic regression; on several classes; without scores."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import IsotonicRegression

from isonomia.metrics import expected_error
from isonomia.models import Surface


def test_it_is_isotonic_regression_within_each_decision(rng: np.random.Generator) -> None:
    chance = rng.random(500).round(2)
    truth, weights = (rng.random(500) < chance**2).astype(int), rng.random(500) + 0.5
    surface = Surface.of_probabilities(chance, classes=(0, 1))
    found = expected_error(truth, surface, weights)
    assert found is not None
    for decision, rising in ((0, True), (1, False)):
        rows = surface.label == decision
        other = IsotonicRegression(increasing=rising)
        wrong = (truth[rows] != decision).astype(float)
        np.testing.assert_allclose(
            found[rows], other.fit(chance[rows], wrong, weights[rows]).predict(chance[rows]), atol=1e-9
        )
    assert np.isclose(np.average(found, weights=weights), np.average(surface.label != truth, weights=weights))


def test_of_several_classes_it_falls_with_the_probability_of_the_decision(rng: np.random.Generator) -> None:
    chance = rng.dirichlet([1, 1, 1], 3000)
    truth = (rng.random(3000)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
    surface = Surface.of_probabilities(chance, classes=("a", "b", "c"))
    found = expected_error(truth, surface)
    assert found is not None
    assert np.abs(found - (1 - chance.max(axis=1))).mean() < 0.05
    own = chance[np.arange(3000), surface.label]
    for decision in range(3):
        mine = surface.label == decision
        assert (np.diff(found[mine][np.argsort(own[mine])]) <= 1e-12).all()


def test_without_scores_there_is_none() -> None:
    assert expected_error(np.array([0, 1]), Surface.of_labels([0, 0], classes=(0, 1))) is None
    assert expected_error(np.array([0.0, 1.0]), Surface.of_numbers(np.array([0.1, 0.9]))) is None
