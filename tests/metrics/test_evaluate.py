"""Intervals, laws that every metric keeps, and what has no answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia.errors import DataError, SpecError
from isonomia.evidence import Estimate, wilson
from isonomia.languages import translate
from isonomia.metrics import METRICS, check_applicable, confusion, evaluate, evaluate_all
from isonomia.models import Surface

SEEDS = st.integers(0, 2**32 - 1)
TASKS = ["binary", "multiclass", "regression"]


def sample(task: str, rng: np.random.Generator, n: int = 60) -> tuple[Any, Surface]:
    if task == "regression":
        y = rng.normal(0, 2, n)
        return y, Surface.of_numbers(y + rng.normal(0.3, 1, n))
    if task == "binary":
        y = rng.integers(0, 2, n)
        y[:2] = 0, 1
        p = np.round(np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0.01, 0.99), 2)
        return y.astype(np.uint8), Surface.of_probabilities(p, classes=("no", "yes"))
    y = rng.integers(0, 3, n)
    y[:3] = 0, 1, 2
    p = rng.dirichlet(np.ones(3), n) * 0.6 + 0.4 * np.eye(3)[y]
    return y.astype(np.uint8), Surface.of_probabilities(p / p.sum(axis=1, keepdims=True), classes=("a", "b", "c"))


def doubled(y: Any, surface: Surface) -> tuple[Any, Surface]:
    rows = np.concatenate([np.arange(len(y)), np.arange(len(y))])
    return y[rows], surface.take(rows)


@pytest.mark.parametrize("task", TASKS)
def test_every_metric_of_the_task_has_a_value_within_its_range_and_interval(task: str) -> None:
    y, surface = sample(task, np.random.default_rng(0), 200)
    found = evaluate_all(y, surface, n_boot=400)
    assert set(found) == {metric.id for metric in METRICS if task in metric.tasks}
    for name, estimate in found.items():
        low, high = METRICS[name].range
        assert estimate.value is not None, name
        assert low <= estimate.value <= high
        if name == "max_error":
            assert estimate.low is None
        else:
            assert low <= estimate.low <= estimate.value <= estimate.high <= high, (name, estimate)
            assert estimate.method


@pytest.mark.parametrize("task", TASKS)
@given(seed=SEEDS)
@settings(max_examples=8)
def test_the_order_of_rows_changes_nothing(task: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, surface = sample(task, rng)
    order = rng.permutation(len(y))
    before, after = evaluate_all(y, surface, n_boot=0), evaluate_all(y[order], surface.take(order), n_boot=0)
    for name, estimate in before.items():
        assert after[name].value == pytest.approx(estimate.value, rel=1e-9), name


@pytest.mark.parametrize("task", TASKS)
@given(seed=SEEDS)
@settings(max_examples=8)
def test_doubling_the_rows_keeps_the_value_and_a_weight_of_two_does_the_same(task: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, surface = sample(task, rng)
    twice = rng.random(len(y)) < 0.4
    rows = np.concatenate([np.arange(len(y)), np.flatnonzero(twice)])
    whole, weighted = evaluate_all(y, surface, n_boot=0), evaluate_all(y, surface, weights=1.0 + twice, n_boot=0)
    repeated = evaluate_all(y[rows], surface.take(rows), n_boot=0)
    all_doubled = evaluate_all(*doubled(y, surface), n_boot=0)
    for name, estimate in whole.items():
        assert all_doubled[name].value == pytest.approx(estimate.value, rel=1e-9), name
        assert weighted[name].value == pytest.approx(repeated[name].value, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("task", TASKS)
def test_more_rows_narrow_the_interval(task: str) -> None:
    y, surface = sample(task, np.random.default_rng(4), 150)
    few, many = evaluate_all(y, surface, n_boot=800), evaluate_all(*doubled(y, surface), n_boot=800)
    for name, estimate in few.items():
        if estimate.low is not None:
            assert many[name].high - many[name].low < estimate.high - estimate.low, name


@pytest.mark.parametrize("task", TASKS)
def test_equal_weights_are_no_weights(task: str) -> None:
    y, surface = sample(task, np.random.default_rng(6))
    plain, weighted = evaluate_all(y, surface), evaluate_all(y, surface, weights=np.full(len(y), 3.0))
    for name, estimate in plain.items():
        assert weighted[name].value == pytest.approx(estimate.value), name
        if estimate.method in ("wilson", "delong", "logit"):
            assert (weighted[name].low, weighted[name].high) == pytest.approx((estimate.low, estimate.high)), name


def test_rates_have_wilsons_interval_of_their_own_rows() -> None:
    y, surface = sample("binary", np.random.default_rng(8))
    estimate = evaluate("tpr", y, surface, level=0.9)
    hits = int((surface.label[y == 1] == 1).sum())
    assert (estimate.low, estimate.high) == pytest.approx(wilson(hits, int((y == 1).sum()), 0.9))
    assert (estimate.n, estimate.method, estimate.level) == (int((y == 1).sum()), "wilson", 0.9)


def test_the_bootstrap_of_cells_is_the_bootstrap_of_rows() -> None:
    rng = np.random.default_rng(9)
    y, surface = sample("multiclass", rng, 150)
    weights = rng.exponential(1.0, 150)
    found = evaluate_all(y, surface, ["macro_f1", "cohens_kappa", "logloss"], weights=weights, n_boot=4000)
    draws: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(600):
        rows = rng.integers(0, 150, 150)
        for name, estimate in evaluate_all(
            y[rows], surface.take(rows), list(found), weights=weights[rows], n_boot=0
        ).items():
            draws[name].append(float(estimate))
    for name, estimate in found.items():
        width = np.diff(np.quantile(draws[name], [0.025, 0.975]))[0]
        # losses have a longer end on the side of their long tail than a bootstrap gives them
        assert estimate.high - estimate.low == pytest.approx(width, rel=0.35 if name == "logloss" else 0.15), name


@pytest.mark.parametrize("name", ["f1", "matthews_corrcoef", "brier_score"])
def test_bootstrap_intervals_cover(name: str) -> None:
    """Nominal 95% over 300 samples of 300 rows, against the value on 400,000 rows."""
    rng = np.random.default_rng(10)

    def draw(n: int) -> tuple[Any, Surface]:
        y = (rng.random(n) < 0.4).astype(np.uint8)
        return y, Surface.of_probabilities(np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0, 1), classes=(0, 1))

    truth = float(evaluate(name, *draw(400_000), n_boot=0))
    found = [evaluate(name, *draw(300), n_boot=300) for _ in range(300)]
    assert 0.90 <= np.mean([estimate.low <= truth <= estimate.high for estimate in found]) <= 0.985


def test_functions_of_the_table_need_no_seed() -> None:
    y, surface = sample("binary", np.random.default_rng(12))
    for name in ("f1", "matthews_corrcoef", "cohens_kappa", "balanced_accuracy"):
        assert evaluate(name, y, surface, seed=3) == evaluate(name, y, surface, seed=4, n_boot=0)


def test_many_classes_are_worked_out_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    y, surface = sample("multiclass", np.random.default_rng(13))
    whole = evaluate("macro_f1", y, surface)
    monkeypatch.setattr("isonomia.metrics.derivatives.BLOCK_NUMBERS", 9 * 2)
    blocks = evaluate("macro_f1", y, surface)
    assert (blocks.low, blocks.high) == pytest.approx((whole.low, whole.high))


NOTHING = Surface.of_labels([], classes=(0, 1))
YES = Surface.of_probabilities([0.9, 0.8, 0.7], classes=("no", "yes"))
UNDEFINED = [
    ("precision", [1, 0, 1], Surface.of_labels([0, 0, 0], classes=(0, 1)), "no row is predicted positive"),
    ("npv", [1, 0, 1], YES, "no row is predicted negative"),
    ("recall", [0, 0, 0], YES, "there are no positive labels"),
    ("tpr", [0, 0, 0], YES, "there are no positive labels"),
    ("fpr", [1, 1, 1], YES, "there are no negative labels"),
    ("f1", [0, 0, 0], Surface.of_labels([0, 0, 0], classes=(0, 1)), "neither positive labels nor positive pred"),
    ("balanced_accuracy", [1, 1, 1], YES, "the labels are all 'yes', and it needs both classes"),
    ("matthews_corrcoef", [1, 0, 1], YES, "labels or predictions are all of one class"),
    ("cohens_kappa", [1, 1, 1], YES, "all labels and predictions are of the same class"),
    ("auc", [1, 1, 1], YES, "the labels are all 'yes'"),
    ("pr_auc", [0, 0, 0], YES, "the labels are all 'no'"),
    ("auc", [1, 0, 1], Surface.of_labels([0, 1, 1], classes=(0, 1)), "it needs probability or score"),
    ("mae", [1, 0, 1], YES, "it applies to regression, and the task is binary"),
    ("accuracy", None, YES, "there are no labels"),
    ("accuracy", [], NOTHING, "there are no rows"),
    ("r2", [1.5], Surface.of_numbers([2.0]), "it needs at least 2 rows, and there is 1"),
    ("r2", [1.5, 1.5], Surface.of_numbers([2.0, 3.0]), "the labels are all equal"),
    (
        "macro_auc",
        [0, 1, 0],
        Surface.of_probabilities([[0.5, 0.3, 0.2]] * 3, classes=("a", "b", "c")),
        "no label is 'c', and it needs all classes",
    ),
]


@pytest.mark.parametrize(("name", "truth", "surface", "reason"), UNDEFINED)
def test_what_has_no_answer_says_why(name: str, truth: Any, surface: Surface, reason: str) -> None:
    codes = None if truth is None else np.array(truth, dtype=float if surface.task == "regression" else np.uint8)
    estimate = evaluate(name, codes, surface)
    assert estimate.value is None
    assert estimate.note.startswith("not applicable because ")
    assert reason in estimate.note


def test_a_group_of_one_row_never_crashes() -> None:
    for task in TASKS:
        y, surface = sample(task, np.random.default_rng(1), 10)
        one = np.array([0])
        for estimate in evaluate_all(y[one], surface.take(one), n_boot=50).values():
            assert isinstance(estimate, Estimate)


def test_weights_of_zero_are_rows_left_out() -> None:
    y, surface = sample("binary", np.random.default_rng(2))
    weights = np.where(np.arange(len(y)) < 30, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    weighted, without = evaluate_all(y, surface, weights=weights), evaluate_all(y[kept], surface.take(kept))
    for name, estimate in without.items():
        assert weighted[name].value == pytest.approx(estimate.value), name
    assert "all weights are 0" in str(evaluate("accuracy", y, surface, weights=np.zeros(len(y))))


def test_wrong_input_is_an_error() -> None:
    with pytest.raises(DataError, match="2 labels, 3 predictions"):
        evaluate("accuracy", np.array([0, 1]), YES)
    with pytest.raises(DataError, match="Weights must be finite numbers of at least 0; 1 of 3"):
        evaluate("accuracy", np.array([0, 1, 1]), YES, weights=np.array([1.0, -1.0, 2.0]))
    with pytest.raises(SpecError, match="Did you mean 'accuracy'"):
        evaluate("acuracy", np.array([0, 1, 1]), YES)
    with pytest.raises(SpecError, match="level"):
        evaluate("accuracy", np.array([0, 1, 1]), YES, level=95)
    with pytest.raises(SpecError, match="n_boot"):
        evaluate("accuracy", np.array([0, 1, 1]), YES, n_boot=-1)


def test_a_model_without_a_miss_on_few_rows_is_not_certain() -> None:
    y = np.array([0, 1, 0, 1], dtype=np.uint8)
    surface = Surface.of_labels(y, classes=(0, 1))
    for name in ("balanced_accuracy", "f1", "macro_f1", "matthews_corrcoef", "cohens_kappa"):
        estimate = evaluate(name, y, surface)
        assert (estimate.value, estimate.high, estimate.method) == (1.0, 1.0, "delta")
        assert estimate.low < 0.6


def test_numbers_far_from_zero_keep_their_interval() -> None:
    y, surface = sample("regression", np.random.default_rng(14), 200)
    near = evaluate_all(y, surface, ["mean_label", "mean_prediction", "rmse", "r2"])
    moved = evaluate_all(y + 1e9, Surface.of_numbers(surface.continuous + 1e9), list(near))
    for name, estimate in near.items():
        shift = 1e9 if name.startswith("mean") else 0.0
        assert moved[name].high - shift == pytest.approx(estimate.high, abs=1e-5), name
        assert moved[name].low - shift == pytest.approx(estimate.low, abs=1e-5), name


def test_a_mean_over_classes_says_which_it_leaves_out() -> None:
    surface = Surface.of_labels(["a", "a", "b", "a"], classes=("a", "b", "c"))
    precision = evaluate("macro_precision", np.array([0, 0, 1, 2]), surface)
    assert precision.value == pytest.approx((2 / 3 + 1) / 2)
    assert precision.note.startswith("1 of 3 classes were never predicted and are left out; no interval: a class has")
    recall = evaluate("macro_recall", np.array([0, 0, 0, 0]), surface, n_boot=0)
    assert recall.note.startswith("1 of 3 classes do not occur in the labels and are left out; no interval")


def test_confusion_is_weighted() -> None:
    table = confusion(np.array([0, 1, 1]), np.array([1, 1, 0]), 2, np.array([0.5, 2.0, 1.0]))
    assert table.tolist() == [[0.0, 0.5], [1.0, 2.0]]


def test_the_registry_names_every_metric_of_the_map_with_its_direction() -> None:
    better = [
        "accuracy",
        "auc",
        "f1",
        "precision",
        "recall",
        "pr_auc",
        "matthews_corrcoef",
        "macro_f1",
        "weighted_f1",
        "macro_precision",
    ]
    better += ["macro_recall", "macro_auc", "cohens_kappa", "top_k_accuracy", "r2", "balanced_accuracy", "specificity"]
    worse = ["logloss", "brier_score", "ece", "mae", "mse", "rmse", "max_error", "fpr", "fnr"]
    assert [METRICS[name].higher_is_better for name in better] == [True] * len(better)
    assert [METRICS[name].higher_is_better for name in worse] == [False] * len(worse)
    assert METRICS["selection_rate"].higher_is_better is None
    assert check_applicable(METRICS["selection_rate"], None, YES) is None


@pytest.mark.parametrize("metric", list(METRICS), ids=lambda metric: metric.id)
def test_every_metric_is_described_in_both_languages(metric: Any) -> None:
    assert metric.purpose
    for message in (metric.title, metric.undefined):
        same_in_both = message.template in ("F1",)
        assert same_in_both or translate(message.template, "pt-BR") != message.template
