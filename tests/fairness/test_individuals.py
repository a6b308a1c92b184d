"""Individual fairness: against brute force, AIF360's definitions, and laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

import isonomia as iso
from isonomia import fairness
from isonomia.fairness.people.entropy import between_ends


def aif360_consistency(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any], k: int) -> float:
    """AIF360's code: whichever of tied neighbours the tree meets first."""
    found = NearestNeighbors(n_neighbors=k, algorithm="ball_tree").fit(X).kneighbors(X, return_distance=False)
    return float(1 - np.abs(y - y[found].mean(axis=1)).mean())


def by_hand(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any], k: int) -> float:
    """The definition with ties shared, row by row."""
    total = 0.0
    for i in range(len(X)):
        d = np.sqrt(((X - X[i]) ** 2).sum(axis=1)).round(9)
        edge = np.sort(d)[k - 1]
        near, tied = d < edge, d == edge
        mean = (y[near].sum() + (k - near.sum()) * y[tied].mean()) / k
        total += abs(y[i] - mean)
    return 1 - total / len(X)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(20, 120))
def test_consistency_equals_aif360_where_nothing_is_tied(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 4)), rng.integers(0, 2, n)
    found = fairness.consistency(X, y, k=k, standardise="none")
    assert found.value.value == pytest.approx(aif360_consistency(X, y.astype(float), k), abs=1e-12)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_ties_are_shared_and_the_order_of_rows_does_not_matter(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (60, 2)).astype(float), rng.integers(0, 2, 60)
    found = fairness.consistency(X, y, k=k, standardise="none").value.value
    assert found == pytest.approx(by_hand(X, y.astype(float), k), abs=1e-12)
    order = rng.permutation(60)
    assert fairness.consistency(X[order], y[order], k=k, standardise="none").value.value == pytest.approx(found)


def test_the_search_is_the_same_by_tree_and_by_looking_at_everyone(monkeypatch: pytest.MonkeyPatch) -> None:
    from isonomia.fairness.people import neighbours
    from isonomia.fairness.people.encoding import Points

    rng = np.random.default_rng(0)
    points = Points(rng.integers(0, 3, (900, 12)).astype(float), (), 2)
    values = rng.random(900)
    answers = []
    for tree in (True, False):
        monkeypatch.setattr(neighbours, "TRIAL_FROM", 10)
        monkeypatch.setattr(neighbours._Search, "_tree_is_quicker", lambda self, wanted, tree=tree: tree)
        answers.append(neighbours.nearest(points, 5).mean(values))
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-12)
    monkeypatch.undo()
    monkeypatch.setattr(neighbours, "TRIAL_FROM", 10)
    np.testing.assert_allclose(neighbours.nearest(points, 5).mean(values), answers[0], atol=1e-12)


def test_protected_columns_are_left_out_and_kinds_are_mixed() -> None:
    frame = pd.DataFrame({"sex": ["F", "M"] * 4, "job": ["a"] * 4 + ["b"] * 4, "pay": [1.0, 1.1, None, 1.2] * 2})
    said = [1, 1, 1, 1, 0, 0, 0, 0]
    found = fairness.consistency(frame, said, k=3, standardise="none", protected="sex", sensitive_features=frame["sex"])
    assert found.value.value == 1.0
    assert [row["group"] for row in found.tables["by_group"].rows()] == ["sex=F", "sex=M"]
    with pytest.raises(iso.errors.DataError, match="Did you mean 'sex'"):
        fairness.consistency(frame, said, protected="sexx")
    with pytest.raises(iso.NotApplicable, match="8 rows, too few for 9 neighbours"):
        fairness.consistency(frame, said, k=9)
    with pytest.raises(iso.NotApplicable, match="no column is left"):
        fairness.consistency(frame[["sex"]], said, protected="sex")


def test_consistency_of_classes_and_numbers() -> None:
    X = {"x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2]}
    assert fairness.consistency(X, list("aabcca"), k=3, task="multiclass").value.value == pytest.approx(10 / 18)
    numbers = fairness.consistency(X, [0.0, 1.5, 0.0, 3.0, 3.0, 3.0], k=3, task="regression")
    assert numbers.value.value == pytest.approx(1 - (0.5 + 1.0 + 0.5) / 3 / 6)


def test_gower_distance_is_the_mean_over_columns() -> None:
    frame = pd.DataFrame({"age": [20, 40, 60], "job": ["a", "b", "a"], "old": [False, False, True]})
    points = fairness.encode_people(frame, metric="gower")
    gap = np.abs(points.matrix[0] - points.matrix[2]).sum() / points.scale
    assert gap == pytest.approx((1 + 0 + 1) / 3)


# awareness -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["spread", "range"])
def test_all_pairs_against_brute_force(unit: Any) -> None:
    rng = np.random.default_rng(1)
    X, p = rng.random((60, 3)), rng.random(60)
    found = fairness.awareness(X, y_score=p, lipschitz=1.5, standardise=unit)
    spread = 4 * X.std(axis=0) if unit == "spread" else X.max(axis=0) - X.min(axis=0)
    bad = sum(
        abs(p[i] - p[j]) > 1.5 * np.mean(np.abs(X[i] - X[j]) / spread) + 1e-9 for i in range(60) for j in range(i)
    )
    assert found.share.value == pytest.approx(bad / (60 * 59 / 2))
    assert found.values["pairs"] == 60 * 59 // 2


def test_a_budget_is_kept_and_a_metric_of_ones_own_is_used() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.random(3000), "sex": rng.choice(["F", "M"], 3000)})
    unfair = np.clip(0.3 + 0.5 * (frame["sex"] == "M"), 0, 1)
    found = fairness.awareness(
        frame,
        y_score=unfair,
        protected="sex",
        sensitive_features=frame["sex"],
        max_pairs=20_000,
        metric=lambda a, b: np.abs(a["x"].to_numpy() - b["x"].to_numpy()),
    )
    assert found.values["pairs"] == 20_000
    assert found.values["same_group"].value == 0
    assert found.values["across_groups"].value == pytest.approx(0.75, abs=0.03), "P(|x - x'| < 0.5)"
    with pytest.raises(iso.errors.SpecError, match="one distance of at least 0 per pair"):
        fairness.awareness(frame, y_score=unfair, metric=lambda a, b: -np.ones(len(a)))


# generalized entropy -------------------------------------------------------------------------------------------


def aif360_index(b: np.ndarray[Any, Any], alpha: float) -> float:
    """AIF360's code for the index (its division by the mean at alpha = 0 left out)."""
    if alpha == 1:
        return float(np.mean(np.log((b / np.mean(b)) ** b) / np.mean(b)))
    if alpha == 0:
        return float(-np.mean(np.log(b / np.mean(b))))
    return float(np.mean((b / np.mean(b)) ** alpha - 1) / (alpha * (alpha - 1)))


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 1, 2, 3, 1.5]), st.integers(30, 400))
def test_the_index_equals_aif360_and_splits_exactly(seed: int, alpha: float, n: int) -> None:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, n), rng.integers(0, 2, n)
    s = {"sex": rng.choice(["F", "M"], n), "race": rng.choice(["a", "b", "c"], n)}
    found = fairness.generalized_entropy(y, p, sensitive_features=s, alpha=alpha, n_boot=0)
    assert found.total == pytest.approx(aif360_index(1.0 + p - y, alpha), abs=1e-12)
    assert found.within + found.between == pytest.approx(found.total, abs=1e-12)
    for row in found.tables["decomposition"].rows():
        assert row["within"] + row["between"] == pytest.approx(found.total, abs=1e-12)
    b = 1.0 + p - y
    cell = np.array([f"{x}|{z}" for x, z in zip(s["sex"], s["race"], strict=True)])
    means = np.array([b[cell == c].mean() for c in cell])
    assert found.between == pytest.approx(aif360_index(means, alpha), abs=1e-12)
    within = sum(
        (cell == c).mean() * (b[cell == c].mean() / b.mean()) ** alpha * aif360_index(b[cell == c], alpha)
        for c in set(cell)
        if b[cell == c].any()
    )
    assert found.within == pytest.approx(within, abs=1e-12)


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from([-1, 0, 1, 2]))
def test_benefits_of_a_regression_and_weights(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    b, s, w = rng.gamma(2, size=80), rng.choice(["a", "b"], 80), rng.integers(1, 4, 80)
    found = fairness.generalized_entropy(b, b, sensitive_features=s, alpha=alpha, weights=w, task="regression")
    assert found.total == pytest.approx(aif360_index(np.repeat(b, w), alpha), abs=1e-12)
    assert found.within + found.between == pytest.approx(found.total, abs=1e-12)
    total = found.estimates["total"]
    assert total.low < total.value < total.high


def test_what_has_no_index_says_why() -> None:
    with pytest.raises(iso.NotApplicable, match="infinite; use an alpha above 0"):
        fairness.generalized_entropy([1, 0], [0, 0], alpha=0)
    with pytest.raises(iso.NotApplicable, match="every benefit is 0"):
        fairness.generalized_entropy(list("abc"), list("bca"))
    with pytest.raises(iso.NotApplicable, match="no true outcomes"):
        fairness.generalized_entropy(None, list("bca"))
    with pytest.raises(iso.errors.SpecError, match="Give the benefit of each class"):
        fairness.generalized_entropy(list("abc"), list("bcc"), benefit="prediction")
    with pytest.raises(iso.NotApplicable, match="negative"):
        fairness.generalized_entropy([1.5, 2.5], [-1.5, 2.5])
    mapped = fairness.generalized_entropy(list("abc"), list("bcc"), benefit={"a": 0, "b": 0.5, "c": 1}, n_boot=0)
    assert mapped.total == pytest.approx(aif360_index(np.array([1.5, 1.5, 1.0]), 2))
    assert mapped.within is None


def test_several_classes_share_the_benefit_of_being_right() -> None:
    rng = np.random.default_rng(0)
    y, said, s = (rng.choice(list("abc"), 300) for _ in range(3))
    right = (y == said).astype(float)
    found = fairness.generalized_entropy(y, said, sensitive_features={"s": s, "t": np.roll(s, 7)}, n_boot=50)
    assert found.total == pytest.approx(aif360_index(right, 2), abs=1e-12)
    assert found.within + found.between == pytest.approx(found.total, abs=1e-12)
    assert found.estimates["total"].low < found.total < found.estimates["total"].high
    assert "no order of preference" in str(found.notes[0])
    w = rng.integers(1, 4, 300)
    weighted = fairness.generalized_entropy(y, said, weights=w, n_boot=0).total
    assert weighted == pytest.approx(aif360_index(np.repeat(right, w), 2), abs=1e-12)
    two = fairness.generalized_entropy([1, 0, 1, 0], [1, 1, 0, 0], benefit="correct", n_boot=0)
    assert two.total == pytest.approx(aif360_index(np.array([1.0, 0, 0, 1]), 2), abs=1e-12)


def test_the_interval_covers() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    truth = aif360_index(np.repeat([0.0, 1.0, 2.0], [10, 80, 10]), 2)
    for seed in range(60):
        b = rng.choice([0, 1, 2], 500, p=[0.1, 0.8, 0.1])
        found = fairness.generalized_entropy((b == 0).astype(int), (b == 2).astype(int), n_boot=300, seed=seed)
        total = found.estimates["total"]
        inside += total.low <= truth <= total.high
    assert inside >= 51


@pytest.mark.parametrize(("groups", "differ"), [(2, False), (5, False), (2, True), (5, True)])
def test_what_lies_between_groups_covers_also_where_there_is_nothing(groups: int, differ: bool) -> None:
    rng = np.random.default_rng(groups)
    benefit, share = np.array([0.0, 1.0, 2.0]), np.array([[0.12, 0.76, 0.12]] * groups)
    if differ:
        share[0] = [0.25, 0.7, 0.05]

    def between(counts: Any) -> tuple[Any, float]:
        means = counts @ benefit / counts.sum(axis=-1)
        sums = np.stack([counts @ benefit**power for power in (0, 1, 2, 0, 1, 2)], axis=-1)
        return sums, aif360_index(np.repeat(means, 100), 2)  # everyone has the mean benefit of their group

    truth = between(share * 100)[1]
    inside = []
    for _ in range(400):
        sums, value = between(np.stack([rng.multinomial(100, part) for part in share]).astype(float))
        low, high = between_ends(sums, value, 0.95)
        inside.append(low <= truth + 1e-12 and truth <= max(high, value) + 1e-12)
    assert 0.92 <= np.mean(inside) <= 0.99


def test_adult_by_sex(shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "adult.csv.gz", keep_default_na=False)
    true = (frame["income"] == ">50K").astype(int)
    said = (frame["education-num"] >= 13).astype(int)
    found = fairness.generalized_entropy(true, said, sensitive_features=frame[["sex", "race"]], n_boot=100)
    assert found.total == pytest.approx(aif360_index(1.0 + said - true, 2), abs=1e-12)
    assert 0 < found.between < 0.05 * found.total


def test_intervals_of_inequality_hold_their_value() -> None:
    """What lies between groups is next to nothing here, and never below 0: resamples alone would lie above it."""
    rng = np.random.default_rng(5)
    y, said = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    found = fairness.generalized_entropy(
        y, said, sensitive_features={"a": rng.choice(["x", "y", "z"], 600)}, n_boot=200
    )
    for row in found.tables["decomposition"].rows():
        for name in ("within", "between"):
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"], row
