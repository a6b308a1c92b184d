"""Metrics of the confusion table against scikit-learn, on random labels with weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from isonomia.metrics import METRICS, confusion, one_vs_rest

BINARY = {
    "accuracy": lambda y, p, w: sk.accuracy_score(y, p, sample_weight=w),
    "f1": lambda y, p, w: sk.f1_score(y, p, sample_weight=w, zero_division=np.nan),
    "precision": lambda y, p, w: sk.precision_score(y, p, sample_weight=w, zero_division=np.nan),
    "ppv": lambda y, p, w: sk.precision_score(y, p, sample_weight=w, zero_division=np.nan),
    "recall": lambda y, p, w: sk.recall_score(y, p, sample_weight=w, zero_division=np.nan),
    "tpr": lambda y, p, w: sk.recall_score(y, p, sample_weight=w, zero_division=np.nan),
    "specificity": lambda y, p, w: sk.recall_score(y, p, sample_weight=w, zero_division=np.nan, pos_label=0),
    "tnr": lambda y, p, w: sk.recall_score(y, p, sample_weight=w, zero_division=np.nan, pos_label=0),
    "npv": lambda y, p, w: sk.precision_score(y, p, sample_weight=w, zero_division=np.nan, pos_label=0),
    "fpr": lambda y, p, w: 1 - sk.recall_score(y, p, sample_weight=w, zero_division=np.nan, pos_label=0),
    "fnr": lambda y, p, w: 1 - sk.recall_score(y, p, sample_weight=w, zero_division=np.nan),
    "false_discovery_rate": lambda y, p, w: 1 - sk.precision_score(y, p, sample_weight=w, zero_division=np.nan),
    "false_omission_rate": lambda y, p, w: (
        1 - sk.precision_score(y, p, sample_weight=w, zero_division=np.nan, pos_label=0)
    ),
    "selection_rate": lambda y, p, w: np.average(p, weights=w),
    "base_rate": lambda y, p, w: np.average(y, weights=w),
}
CLASSES = {
    "accuracy": lambda y, p, w: sk.accuracy_score(y, p, sample_weight=w),
    "cohens_kappa": lambda y, p, w: sk.cohen_kappa_score(y, p, sample_weight=w),
    "macro_f1": lambda y, p, w: sk.f1_score(y, p, average="macro", sample_weight=w, zero_division=np.nan),
    "weighted_f1": lambda y, p, w: sk.f1_score(y, p, average="weighted", sample_weight=w, zero_division=np.nan),
    "macro_precision": lambda y, p, w: sk.precision_score(y, p, average="macro", sample_weight=w, zero_division=np.nan),
    "macro_recall": lambda y, p, w: sk.recall_score(y, p, average="macro", sample_weight=w, zero_division=np.nan),
}


@st.composite
def rows(draw: Any, n_classes: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any] | None]:
    n = draw(st.integers(1, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    used = draw(st.integers(1, n_classes))  # often some classes are missing
    y, p = rng.integers(0, used, n), rng.integers(0, n_classes, n)
    w = rng.uniform(0.1, 3.0, n) if draw(st.booleans()) else None
    return y.astype(np.uint8), p.astype(np.uint8), w


def check(ids: dict[str, Any], y: Any, p: Any, w: Any, n_classes: int) -> None:
    C = confusion(y, p, n_classes, w)
    for name, peer in ids.items():
        compute = METRICS[name].from_counts
        assert compute is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = float(peer(y, p, w))
        assert float(compute(C)) == pytest.approx(expected, abs=1e-12, nan_ok=True), name


@given(rows(2))
@settings(max_examples=30, deadline=None)
def test_binary_metrics_are_those_of_scikit_learn(data: Any) -> None:
    check(BINARY, *data, 2)


@given(rows(4))
@settings(max_examples=60, deadline=None)
def test_metrics_of_several_classes_are_those_of_scikit_learn(data: Any) -> None:
    check(CLASSES, *data, 4)


@given(rows(3))
@settings(max_examples=40, deadline=None)
def test_correlation_and_balanced_accuracy_where_defined(data: Any) -> None:
    y, p, w = data
    C = confusion(y, p, 3, w)
    correlation = float(METRICS["matthews_corrcoef"].from_counts(C))
    balanced = float(METRICS["balanced_accuracy"].from_counts(C))
    if len(set(y)) == 1 or len(set(p)) == 1:
        assert np.isnan(correlation)  # scikit-learn says 0
    else:
        assert correlation == pytest.approx(sk.matthews_corrcoef(y, p, sample_weight=w), abs=1e-9)
    if len(set(y)) == 3:
        assert balanced == pytest.approx(sk.balanced_accuracy_score(y, p, sample_weight=w), abs=1e-12)
    else:
        assert np.isnan(balanced)


def test_stacks_of_tables_are_computed_at_once() -> None:
    stack = np.random.default_rng(1).integers(0, 9, size=(5, 4, 3, 3))
    for metric in METRICS:
        if metric.family == "counts" and "multiclass" in metric.tasks:
            whole = metric.from_counts(stack)
            assert whole.shape == (5, 4)
            one = [[float(metric.from_counts(stack[b, g])) for g in range(4)] for b in range(5)]
            np.testing.assert_allclose(whole, one, equal_nan=True)


def test_a_rate_is_its_numerator_over_its_denominator() -> None:
    stack = np.random.default_rng(2).integers(0, 9, size=(50, 2, 2))
    for metric in METRICS:
        if metric.rate is not None:
            top, bottom = metric.rate(stack)
            with np.errstate(invalid="ignore"):
                np.testing.assert_allclose(metric.from_counts(stack), top / bottom, equal_nan=True)


def test_selection_needs_no_labels() -> None:
    assert float(METRICS["selection_rate"].from_counts(np.array([[6, 2]]))) == 0.25


def test_one_class_against_the_rest() -> None:
    y, p = np.array([0, 1, 2, 2, 1, 0]), np.array([0, 2, 2, 1, 1, 2])
    C = confusion(y, p, 3)
    assert one_vs_rest(C, 2).tolist() == confusion((y == 2).astype(int), (p == 2).astype(int), 2).tolist()
    assert float(METRICS["recall"].from_counts(one_vs_rest(C, 2))) == sk.recall_score(y == 2, p == 2)
    assert one_vs_rest(C.sum(axis=0, keepdims=True), 2).tolist() == [[3, 3]]
