"""`measure` over every family of row sets: brute force per set, order of rows, doubled data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from isonomia.counting import Cells, Codes
from isonomia.errors import SpecError
from isonomia.metrics import METRICS, Metric, Rows, RowSets, ThresholdSets, TrialMeasure, influence, measure, of_class
from isonomia.models import Surface

SEEDS = st.integers(0, 2**32 - 1)
BINARY = ["accuracy", "tpr", "fpr", "precision", "f1", "matthews_corrcoef", "logloss", "brier_score", "auc"]
MULTICLASS = ["accuracy", "macro_f1", "cohens_kappa", "top_k_accuracy", "logloss", "macro_auc"]
REGRESSION = ["mae", "rmse", "r2", "mean_error", "max_error"]
TASKS = {"binary": BINARY, "multiclass": MULTICLASS, "regression": REGRESSION}


def sample(task: str, rng: np.random.Generator, n: int = 160, *, weighted: bool = False) -> Rows:
    weights = rng.uniform(0.2, 3.0, n) if weighted else None
    if task == "regression":
        y = rng.normal(5, 2, n)
        return Rows(y, Surface.of_numbers(y + rng.normal(0.3, 1, n)), weights)
    k = 2 if task == "binary" else 3
    y = np.concatenate([np.tile(np.arange(k), 8), rng.integers(0, k, n - 8 * k)]).astype(np.uint8)
    table = rng.dirichlet(np.ones(k), n) * 0.7 + 0.3 * np.eye(k)[y]
    return Rows(y, Surface.of_probabilities(table[:, 1] if k == 2 else table, classes=tuple("abc"[:k])), weights)


def alone(name: str, rows: Rows) -> float:
    """The metric of some rows by scikit-learn; NaN where it is undefined."""
    y, w, surface = rows.truth, rows.weights, rows.surface
    if surface.task == "regression":
        errors = surface.continuous - y
        return {
            "mae": sk.mean_absolute_error(y, surface.continuous, sample_weight=w),
            "rmse": sk.root_mean_squared_error(y, surface.continuous, sample_weight=w),
            "r2": sk.r2_score(y, surface.continuous, sample_weight=w),
            "mean_error": np.average(errors, weights=w),
            "max_error": np.abs(errors).max(),
        }[name]
    p, said, codes = surface.probability, surface.label, range(len(surface.classes))
    functions: dict[str, Any] = {
        "accuracy": lambda: sk.accuracy_score(y, said, sample_weight=w),
        "tpr": lambda: sk.recall_score(y, said, sample_weight=w),
        "fpr": lambda: 1 - sk.recall_score(y, said, sample_weight=w, pos_label=0),
        "precision": lambda: sk.precision_score(y, said, sample_weight=w, zero_division=np.nan),
        "f1": lambda: sk.f1_score(y, said, sample_weight=w),
        "matthews_corrcoef": lambda: sk.matthews_corrcoef(y, said, sample_weight=w),
        "macro_f1": lambda: sk.f1_score(y, said, average="macro", sample_weight=w),
        "cohens_kappa": lambda: sk.cohen_kappa_score(y, said, sample_weight=w),
        "top_k_accuracy": lambda: sk.top_k_accuracy_score(y, p, k=2, labels=list(codes), sample_weight=w),
        "logloss": lambda: sk.log_loss(y, p, labels=list(codes), sample_weight=w),
        "brier_score": lambda: sk.brier_score_loss(y, p, sample_weight=w),
        "auc": lambda: sk.roc_auc_score(y, p, sample_weight=w),
        "macro_auc": lambda: np.mean([sk.roc_auc_score(y == c, p[:, c], sample_weight=w) for c in codes]),
    }
    return float(functions[name]())


def overlapping(rng: np.random.Generator, rows: Rows) -> tuple[RowSets, list[Any]]:
    """Groups of two attributes, their intersections and everyone."""
    columns = [Codes.encode(rng.integers(0, 2, len(rows)), name=name) for name in ("sex", "age")]
    cells = RowSets.of(rows, columns)
    labels = cells.counts.axes[0].labels
    tests: list[Any] = [lambda c: c[0] == 0, lambda c: c[1] == 1, lambda c: c == (1, 0), lambda c: True]
    membership = np.array([[float(test(label)) for test in tests] for label in labels])
    a, b = (column.codes for column in columns)
    return cells.of_cells(membership), [a == 0, b == 1, (a == 1) & (b == 0), np.ones(len(rows), dtype=bool)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", list(TASKS))
@given(seed=SEEDS)
@settings(max_examples=4)
def test_groups_intersections_and_slices_are_measured_as_if_alone(task: str, weighted: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = sample(task, rng, weighted=weighted)
    chosen = [METRICS[name] for name in TASKS[task]]
    slices = Codes.encode(np.arange(len(rows)) % 3, name="slice")
    families = [overlapping(rng, rows), (RowSets.of(rows, [slices]), [slices.codes == code for code in range(3)])]
    for sets, masks in families:
        found = measure(chosen, sets, n_boot=20, seed=1)
        for name in TASKS[task]:
            expected = [alone(name, rows.take(mask)) for mask in masks]
            np.testing.assert_allclose(found[name].value, expected, atol=1e-9, err_msg=name)
            if found[name].draws is not None:
                assert found[name].draws.shape == (len(masks), 20)


@given(seed=SEEDS)
@settings(max_examples=6)
def test_thresholds_are_measured_as_if_decided_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = sample("binary", rng, weighted=True)
    score, truth = rows.surface.probability, rows.truth
    assert score is not None
    assert truth is not None
    groups, thresholds = Codes.encode(np.arange(len(rows)) % 2, name="g"), np.array([0.3, 0.5, 0.7])
    sets = ThresholdSets.cut(score, truth == 1, thresholds, groups, rows.weights)
    found = measure([METRICS[name] for name in ("accuracy", "tpr", "f1")], sets, n_boot=10)
    for name, part in found.items():
        for value, (at, group) in zip(part.value, ((t, g) for t in thresholds for g in (0, 1)), strict=True):
            decided = replace(rows.surface, label=(score >= at).astype(np.uint8))
            expected = alone(name, Rows(truth, decided, rows.weights).take(groups.codes == group))
            assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("task", list(TASKS))
def test_trials_are_measured_as_if_alone(task: str, rng: np.random.Generator) -> None:
    base = sample(task, rng)
    column = Codes.encode(np.arange(len(base)) % 2, name="g")
    chosen = [METRICS[name] for name in TASKS[task]]
    trials = [replace(base, weights=rng.uniform(0.5, 2.0, len(base))), sample(task, rng), base]
    meter = TrialMeasure(base, chosen, [column])
    sums = [meter.read(trial) for trial in trials]
    for metric in chosen:
        expected = [alone(metric.id, trial) for trial in trials]
        np.testing.assert_allclose(meter.values(metric, sums), expected, atol=1e-9, err_msg=metric.id)
        if metric.adds_up:
            groups = [[alone(metric.id, trial.take(column.codes == code)) for code in (0, 1)] for trial in trials]
            np.testing.assert_allclose(meter.values(metric, sums, 0), groups, atol=1e-9, err_msg=metric.id)


@pytest.mark.parametrize("task", list(TASKS))
@given(seed=SEEDS)
@settings(max_examples=4)
def test_the_order_of_rows_changes_nothing_and_doubled_rows_keep_the_values(task: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = sample(task, rng, weighted=True)
    column = Codes.encode(np.arange(len(rows)) % 4, name="g")
    chosen = [METRICS[name] for name in TASKS[task]]
    order = rng.permutation(len(rows))
    twice = np.concatenate([np.arange(len(rows))] * 2)
    plain = measure(chosen, RowSets.of(rows, [column]), n_boot=50)
    for which in (order, twice):
        other = measure(chosen, RowSets.of(rows.take(which), [column.take(which)]), n_boot=50)
        for name, part in plain.items():
            np.testing.assert_allclose(other[name].value, part.value, rtol=1e-9, err_msg=name)
            if which is order and METRICS[name].of_decisions:
                np.testing.assert_allclose(other[name].low, part.low, rtol=1e-7, err_msg=name)


def by_removing(metric: Metric, rows: Rows) -> Any:
    """The influence of each row by another route: what a slightly larger weight of it does."""
    step, base = 1e-5, np.ones(len(rows)) if rows.weights is None else rows.weights
    out = []
    for index in range(len(rows)):
        values = []
        for sign in (1, -1):
            weights = base.copy()
            weights[index] *= 1 + sign * step
            values.append(alone(metric.id, replace(rows, weights=weights)))
        out.append((values[0] - values[1]) / (2 * step))
    return np.array(out)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["accuracy", "precision", "f1", "matthews_corrcoef", "logloss", "auc"])
def test_influence_is_what_a_little_more_weight_of_a_row_does(
    name: str, weighted: bool, rng: np.random.Generator
) -> None:
    rows = sample("binary", rng, 40, weighted=weighted)
    everyone = Codes("all", np.zeros(40, dtype=np.uint8), ("all",))
    value, found = influence(METRICS[name], rows, everyone)
    assert value[0] == pytest.approx(alone(name, rows))
    expected = by_removing(METRICS[name], rows)
    if name == "auc":  # DeLong's influences are scaled by sqrt(m / (m - 1)) for the m rows of a class
        assert np.corrcoef(found, expected)[0, 1] > 0.999
    else:
        np.testing.assert_allclose(found, expected, atol=2e-4)


def test_one_class_against_the_rest_is_the_binary_metric() -> None:
    rng = np.random.default_rng(0)
    rows = sample("multiclass", rng)
    tpr = of_class(METRICS["tpr"], 2, "c")
    assert (tpr.id, tpr.base_id, tpr.title.text()) == ("tpr[c]", "tpr", 'True positive rate of "c"')
    found = measure([tpr], RowSets.of(rows), n_boot=0)["tpr[c]"]
    assert rows.surface.label is not None
    assert found.value[0] == pytest.approx(sk.recall_score(rows.truth == 2, rows.surface.label == 2))


def test_cells_without_rows_are_sets_where_they_are_wanted() -> None:
    rows = sample("binary", np.random.default_rng(1), 20)
    column = Codes("g", np.zeros(20, dtype=np.uint8), ("a", "b"))
    assert len(RowSets.of(rows, [column])) == 1
    found = measure([METRICS["accuracy"], METRICS["auc"]], RowSets.of(rows, [column], empty=True), n_boot=0)
    for part in found.values():
        assert np.isnan(part.value).tolist() == [False, True]
        assert part.reasons[0] is None
        assert "no rows" in str(part.reasons[1])


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_alone_are_measured_as_the_rows_behind_them(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    rows = sample("multiclass", rng, weighted=weighted)
    assert rows.surface.label is not None
    columns = [Codes.encode(rng.integers(0, k, len(rows)), name=name) for name, k in (("sex", 2), ("race", 3))]
    codes = [Codes("true", rows.truth, (0, 1, 2)), Codes("predicted", rows.surface.label, (0, 1, 2))]
    cells = Cells.of([*codes, *columns], weights=rows.weights)
    chosen = [METRICS["accuracy"], METRICS["macro_f1"], of_class(METRICS["tpr"], 1, "b")]
    counted = measure(chosen, RowSets.of_counts(cells, rows.surface.classes), n_boot=30)
    for name, part in measure(chosen, RowSets.of(rows, columns), n_boot=30).items():
        assert part.draws is None, "metrics of counts need no replicates"
        for figure in ("value", "low", "high", "n", "size", "error"):
            np.testing.assert_allclose(getattr(counted[name], figure), getattr(part, figure), err_msg=name)
    with pytest.raises(SpecError, match="'logloss' needs rows"):
        measure([METRICS["logloss"]], RowSets.of_counts(cells, rows.surface.classes))
