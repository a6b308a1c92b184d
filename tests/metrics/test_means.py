"""Metrics of sums against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from isonomia.metrics import METRICS, evaluate, score
from isonomia.models import Surface

SEEDS = st.integers(0, 2**32 - 1)


def value_of(name: str, truth: Any, surface: Surface, w: Any) -> float:
    return float(evaluate(name, truth, surface, weights=w, n_boot=0))


@given(SEEDS, st.integers(2, 60), st.booleans(), st.sampled_from([0.0, 1e6]))
@settings(max_examples=40)
def test_regression(seed: int, n: int, weighted: bool, shift: float) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(shift, 2.0, n)
    p = y + rng.normal(0.5, 1.0, n)
    w = rng.uniform(0.1, 3.0, n) if weighted else None
    surface = Surface.of_numbers(p)
    expected = {
        "mae": sk.mean_absolute_error(y, p, sample_weight=w),
        "mse": sk.mean_squared_error(y, p, sample_weight=w),
        "rmse": sk.root_mean_squared_error(y, p, sample_weight=w),
        "r2": sk.r2_score(y, p, sample_weight=w),
        "mean_error": np.average(p - y, weights=w),
        "mean_prediction": np.average(p, weights=w),
        "mean_label": np.average(y, weights=w),
        "max_error": sk.max_error(y, p),
    }
    for name, peer in expected.items():
        assert value_of(name, y, surface, w) == pytest.approx(peer, rel=1e-8, abs=1e-9), name


@given(SEEDS, st.integers(2, 60), st.booleans())
def test_binary_probabilities(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, n), rng.choice([0.0, 0.1, 0.35, 0.5, 0.8, 1.0], n)
    w = rng.uniform(0.1, 3.0, n) if weighted else None
    surface = Surface.of_probabilities(p, classes=(0, 1))
    assert value_of("logloss", y, surface, w) == pytest.approx(sk.log_loss(y, p, sample_weight=w, labels=[0, 1]))
    brier = np.average((p - y) ** 2, weights=w)
    assert value_of("brier_score", y, surface, w) == pytest.approx(brier)
    assert value_of("mean_score", None, surface, w) == pytest.approx(np.average(p, weights=w))


@given(SEEDS, st.integers(3, 50), st.booleans())
def test_probabilities_of_several_classes(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 4, n), rng.dirichlet(np.ones(4), n)
    w = rng.uniform(0.1, 3.0, n) if weighted else None
    surface = Surface.of_probabilities(p, classes=("a", "b", "c", "d"))
    loss = sk.log_loss(y, p, sample_weight=w, labels=range(4))
    assert value_of("logloss", y, surface, w) == pytest.approx(loss)
    brier = np.average(((p - np.eye(4)[y]) ** 2).sum(axis=1), weights=w)
    assert value_of("brier_score", y, surface, w) == pytest.approx(brier)
    top = sk.top_k_accuracy_score(y, p, k=2, sample_weight=w, labels=range(4))
    assert value_of("top_k_accuracy", y, surface, w) == pytest.approx(top)


def test_equal_probabilities_rank_the_first_class_first() -> None:
    surface = Surface.of_probabilities([[0.25] * 4] * 4, classes="abcd")
    hits = METRICS["top_k_accuracy"].quantities(np.arange(4), surface)[:, 0]
    assert hits.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_group_by_group_sums_give_the_same_as_the_rows_of_the_group() -> None:
    rng = np.random.default_rng(5)
    y, group = rng.normal(1e5, 3, 300), rng.integers(0, 3, 300)
    surface = Surface.of_numbers(y + rng.normal(0, 1, 300))
    rows = METRICS["r2"].quantities(y, surface)
    sums = np.stack([rows[group == g].sum(axis=0) for g in range(3)])
    found = METRICS["r2"].from_sums(np.bincount(group), sums)
    expected = [sk.r2_score(y[group == g], surface.continuous[group == g]) for g in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_constant_labels_have_no_explained_variance() -> None:
    for constant in (0.0, 0.1, 1e9, -7.3):
        estimate = score([constant] * 5, [1.1, 2.2, 3.3, 4.4, 5.5], metric="r2", task="regression")
        assert estimate.value is None
        assert estimate.note == "not applicable because the labels are all equal"
