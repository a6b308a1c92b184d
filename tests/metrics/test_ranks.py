"""Areas under curves against scikit-learn and brute force; their errors against the bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from isonomia.errors import NotApplicable
from isonomia.evidence.mean_intervals import hall_ends
from isonomia.metrics import METRICS, evaluate
from isonomia.metrics.ranks import auc_parts
from isonomia.models import Surface

SEEDS = st.integers(0, 2**32 - 1)


def labels(rng: np.random.Generator, n: int, k: int) -> Any:
    """Random labels in which every class occurs."""
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))


@given(SEEDS, st.integers(2, 60), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_areas_are_those_of_scikit_learn(seed: int, n: int, weighted: bool, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng, n, 2)
    p = rng.integers(0, 5, n) / 4 if tied else rng.random(n)
    w = rng.uniform(0.1, 3.0, n) if weighted else None
    surface = Surface.of_probabilities(p, classes=(0, 1))
    area, _ = METRICS["auc"].from_rows(y, surface, w)
    assert area == pytest.approx(sk.roc_auc_score(y, p, sample_weight=w), abs=1e-12)
    average, _ = METRICS["pr_auc"].from_rows(y, surface, w)
    assert average == pytest.approx(sk.average_precision_score(y, p, sample_weight=w), abs=1e-12)


@given(SEEDS, st.integers(4, 60), st.booleans())
def test_area_of_several_classes(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, p = labels(rng, n, 3), rng.dirichlet(np.ones(3), n)
    w = rng.uniform(0.1, 3.0, n) if weighted else None
    found, _ = METRICS["macro_auc"].from_rows(y, Surface.of_probabilities(p, classes="abc"), w)
    one_by_one = [sk.roc_auc_score(y == k, p[:, k], sample_weight=w) for k in range(3)]
    assert found == pytest.approx(np.mean(one_by_one), abs=1e-12)


@given(SEEDS, st.integers(4, 30))
def test_delong_by_brute_force(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    y, s = labels(rng, n, 2), rng.integers(0, 6, n).astype(float)
    y[:2], y[2:4] = 1, 0
    positive, negative = s[y == 1], s[y == 0]
    kernel = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    variance = kernel.mean(axis=1).var(ddof=1) / len(positive) + kernel.mean(axis=0).var(ddof=1) / len(negative)
    area, pull = auc_parts(y == 1, s)
    assert area == pytest.approx(kernel.mean())
    assert pull @ pull == pytest.approx(variance, abs=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_agree_with_the_bootstrap(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    n, reps = 400, 400
    y = labels(rng, n, 3)
    p = rng.dirichlet(np.ones(3), n) * 0.5 + 0.5 * np.eye(3)[np.where(rng.random(n) < 0.5, y, rng.integers(0, 3, n))]
    w = rng.exponential(1.0, n) if weighted else None
    surface = Surface.of_probabilities(p, classes="abc")
    _, error = METRICS["macro_auc"].from_rows(y, surface, w)
    two = Surface.of_probabilities(p[:, 2], classes=(0, 1))
    binary = (y == 2).astype(int)
    _, error2 = METRICS["auc"].from_rows(binary, two, w)
    draws = []
    for _ in range(reps):
        rows = rng.integers(0, n, n)
        part = None if w is None else w[rows]
        draws.append(
            (
                METRICS["macro_auc"].from_rows(y[rows], surface.take(rows), part)[0],
                METRICS["auc"].from_rows(binary[rows], two.take(rows), part)[0],
            )
        )
    np.testing.assert_allclose([error, error2], np.std(draws, axis=0), rtol=0.15)


def test_perfect_separation_is_not_certainty() -> None:
    surface = Surface.of_probabilities(np.arange(1, 13) / 20, classes=(0, 1))
    estimate = evaluate("auc", np.repeat([0, 1], 6), surface)
    assert (estimate.value, estimate.high, estimate.method) == (1.0, 1.0, "newcombe")
    assert 0.6 < estimate.low < 0.8
    precision = evaluate("pr_auc", np.repeat([0, 1], 6), surface)
    assert (precision.value, precision.high, precision.method) == (1.0, 1.0, "wilson")
    assert precision.low == pytest.approx(6 / (6 + 1.959964**2))


@pytest.mark.parametrize("name", ["auc", "pr_auc"])
def test_four_rows_of_a_class_give_an_area_without_an_interval(name: str) -> None:
    rng = np.random.default_rng(1)
    y, surface = np.repeat([0, 1], [40, 5]), Surface.of_probabilities(rng.random(45), classes=(0, 1))
    enough = evaluate(name, y, surface)
    assert enough.low < enough.value < enough.high
    y[-1] = 0
    few = evaluate(name, y, surface)
    assert few.value is not None
    assert few.low is None
    assert "fewer than 5 rows" in str(few.note)


@pytest.mark.parametrize("weighted", [False, True])
def test_error_of_average_precision_adds_up_what_each_row_adds(weighted: bool) -> None:
    """Each row's share by a numeric derivative of scikit-learn's figure, ties among the scores included."""
    rng = np.random.default_rng(3)
    y = (rng.random(60) < 0.4).astype(np.uint8)
    score, w = np.round(rng.normal(size=60) + y, 1), rng.exponential(1.0, 60) if weighted else np.ones(60)

    def slope(row: int) -> float:
        step = np.where(np.arange(60) == row, 1e-6, 0.0)
        up, down = (sk.average_precision_score(y, score, sample_weight=w + sign * step) for sign in (1, -1))
        return float(up - down) / 2e-6

    added = w * np.array([slope(row) for row in range(60)])
    surface = Surface.of_scores(score, classes=(0, 1))
    area, error = METRICS["pr_auc"].from_rows(y, surface, w if weighted else None)
    positives = w[y == 1].sum() ** 2 / (w[y == 1] ** 2).sum()
    assert error == pytest.approx(np.sqrt((added**2).sum() + 5 * area * (1 - area) / positives**2), rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["logloss", "brier_score"])
def test_losses_have_the_interval_of_the_rows_and_two_more_spread_over_the_classes(name: str, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    p, y = rng.uniform(0.01, 0.2, 40), np.zeros(40, dtype=int)
    w = rng.exponential(1.0, 40) if weighted else np.ones(40)
    found = evaluate(name, y, Surface.of_probabilities(p, classes=(0, 1)), weights=w if weighted else None)
    losses = np.stack([-np.log1p(-p), -np.log(p)] if name == "logloss" else [p**2, (1 - p) ** 2])
    assert found.value == pytest.approx(np.average(losses[0], weights=w))
    values = np.append(losses[0], np.average(losses, axis=1, weights=w))
    weights = np.append(w, np.full(2, (w**2).sum() / w.sum()))
    mean = np.average(values, weights=weights)
    total, away = weights.sum(), values - mean
    lost = 1 - 2 * (weights**3).sum() / total / (weights**2).sum() + (weights**2).sum() / total**2
    error = np.sqrt((weights**2 * away**2).sum() / lost) / total
    skewness = (weights**3 * away**3).sum() / total**3 / error**3
    df = (w**2).sum() ** 2 / (w**4).sum() + 1
    low, high = hall_ends(mean, error, skewness, df, positive=True)
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))
    assert found.high > losses[1].mean() * 0.07  # up to 3 of 40 may be positive although none was seen


def test_a_class_without_rows_has_no_area() -> None:
    surface = Surface.of_probabilities([0.1, 0.2], classes=(0, 1))
    for name in ("auc", "pr_auc"):
        with pytest.raises(NotApplicable, match=r"one class|no positive"):
            METRICS[name].from_rows(np.array([0, 0]), surface, None)


def test_scores_will_do_for_an_area() -> None:
    surface = Surface.of_scores([-3.0, 7.0, 1.0], classes=(0, 1))
    assert evaluate("auc", np.array([0, 1, 1]), surface).value == 1.0


def test_interval_of_an_area_covers() -> None:
    """Nominal 95%; 400 samples put the share within 0.91..0.99 but once in thousands of seeds."""
    rng = np.random.default_rng(11)
    truth = 0.7602499389065233  # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt 2)
    y = np.repeat([0, 1], [60, 40])
    hits = 0
    for _ in range(400):
        surface = Surface.of_scores(rng.normal(y, 1.0), classes=(0, 1))
        estimate = evaluate("auc", y, surface)
        hits += estimate.low <= truth <= estimate.high
    assert 0.91 <= hits / 400 <= 0.99


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["auc", "pr_auc", "ece", "macro_auc"])
def test_prepared_metrics_are_the_same_metrics(name: str, weighted: bool, rng: np.random.Generator) -> None:
    metric = METRICS[name]
    classes = 3 if name == "macro_auc" else 2
    table = rng.dirichlet(np.ones(classes), 300).round(1)
    table[:, -1] = 1 - table[:, :-1].sum(axis=1)
    surface = Surface.of_probabilities(np.clip(table, 0, 1), classes=tuple(range(classes)))
    assert metric.prepared is not None
    assert metric.from_rows is not None
    quick = metric.prepared(surface, {})
    for _ in range(3):
        truth = rng.integers(0, classes, 300)
        weights = rng.integers(0, 3, 300).astype(float) if weighted else None
        assert quick(truth, weights) == pytest.approx(metric.from_rows(truth, surface, weights)[0], abs=1e-12)
    if name != "ece":
        assert np.isnan(quick(np.zeros(300, dtype=int), None))
