"""The sweep against scikit-learn at every threshold, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from isonomia import DataError, Dataset, NotApplicable, SpecError
from isonomia.counting import Codes
from isonomia.metrics import METRICS, ThresholdSets
from isonomia.robustness import threshold_sweep
from isonomia.robustness.stress.threshold_sweep import COMPARED

MakePeople = Callable[..., tuple[Dataset, Any]]


def scored(n: int = 400, seed: int = 0, digits: int = 2, **more: Any) -> Dataset:
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(digits)
    frame = {
        "p": p,
        "y": (rng.random(n) < p).astype(int),
        "sex": rng.choice(["F", "M"], n),
        "w": rng.integers(1, 4, n).astype(float),
        "x": p,
    }
    return Dataset(frame, **{"target": "y", "score": "p", "protected": ["sex"], "features": ["x"], **more})


THEIRS: dict[str, Any] = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
}


@pytest.mark.parametrize("weighted", [False, True])
def test_every_threshold_is_what_scikit_learn_says(weighted: bool) -> None:
    data = scored(weight="w" if weighted else None)
    y, p = data.column("y").to_numpy(), data.column("p").to_numpy()
    w = data.column("w").to_numpy() if weighted else None
    result = threshold_sweep(data, metrics=list(THEIRS), thresholds="all")
    rows = list(result.tables["metrics"].rows())
    assert {row["threshold"] for row in rows} == {*p.tolist(), 0.5}
    for row in rows:
        theirs = THEIRS[row["metric"]](y, p >= row["threshold"], sample_weight=w)
        assert row["value"] == pytest.approx(theirs, abs=1e-12)
        assert row["low"] <= row["value"] <= row["high"]


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), n=st.integers(1, 60), steps=st.integers(1, 12))
def test_the_one_pass_is_the_many_passes(seed: int, n: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    score, truth = rng.integers(0, 6, n) / 5, rng.random(n) < 0.5
    groups = Codes("g", rng.integers(0, 3, n).astype(np.uint8), ("a", "b", "c"))
    w = rng.random(n)
    thresholds = np.unique(rng.integers(0, 11, steps) / 10)
    sets = ThresholdSets.cut(score, truth, thresholds, groups, w)
    counts, squares = (sets.tables(part).reshape(thresholds.size, 3, 2, 2) for part in (sets.counts.w, sets.counts.w2))
    for t, at in enumerate(thresholds):
        for g in range(3):
            for true in (0, 1):
                for said in (0, 1):
                    rows = (groups.codes == g) & (truth == true) & ((score >= at) == said)
                    assert counts[t, g, true, said] == pytest.approx(w[rows].sum(), abs=1e-12)
                    assert squares[t, g, true, said] == pytest.approx((w[rows] ** 2).sum(), abs=1e-12)


def test_gaps_between_groups_are_those_of_a_loop() -> None:
    data = scored()
    y, p, sex = (data.column(name).to_numpy() for name in ("y", "p", "sex"))
    result = threshold_sweep(data, thresholds=[0.2, 0.7], n_boot=50)
    for row in result.tables["gaps"].rows():
        said = p >= row["threshold"]
        rates = {}
        for name, base in (("selection_rate", y >= 0), ("tpr", y == 1), ("fpr", y == 0)):
            rates[name] = [said[(sex == g) & base].mean() for g in ("F", "M")]
        if row["gap"] == "equalized_odds_difference":
            expected = max(abs(rates[n][0] - rates[n][1]) for n in ("tpr", "fpr"))
        else:
            name, _, kind = row["gap"].rpartition("_")
            low, high = sorted(rates[name])
            expected = high - low if kind == "difference" else low / high
        assert row["value"] == pytest.approx(expected, abs=1e-12)
        assert row["low"] <= row["value"] <= row["high"]


def test_limits_are_kept_where_the_table_says() -> None:
    rng = np.random.default_rng(1)
    n = 2000
    sex = rng.choice(["F", "M"], n)
    p = np.clip(rng.beta(2, 2, n) - 0.15 * (sex == "F"), 0, 1)
    frame = {"p": p, "y": (rng.random(n) < p).astype(int), "sex": sex, "x": p}
    data = Dataset(frame, target="y", score="p", protected=["sex"], features=["x"])
    limits = {"selection_rate_ratio": 0.8, "tpr_difference": 0.1, "recall": 0.9}
    result = threshold_sweep(data, limits=limits, n_boot=50)
    gaps = {(row["gap"], row["threshold"]): row["value"] for row in result.tables["gaps"].rows()}
    recall = {row["threshold"]: row["value"] for row in result.tables["metrics"].rows() if row["metric"] == "recall"}
    for name in limits:
        ranges = [row for row in result.tables["limits"].rows() if row["gap"] == name]
        for at, value in recall.items():
            held = value if name == "recall" else gaps[(name, at)]
            kept = any(row["kept_from"] is not None and row["kept_from"] <= at <= row["kept_to"] for row in ranges)
            if held is None:
                assert not kept
            else:
                assert kept == (held >= limits[name] if name != "tpr_difference" else held <= limits[name])
    found = [finding for finding in result.findings if finding.code == "threshold_sweep.limit"]
    assert found
    assert "sex" in str(found[0].message)
    fair = threshold_sweep(scored(3000, digits=6), n_boot=50)
    assert fair.findings == ()


def test_the_best_threshold_is_the_best_there_is_and_nearest_to_the_one_in_use() -> None:
    data = scored(500, digits=6)
    y, p = data.column("y").to_numpy(), data.column("p").to_numpy()
    row = next(threshold_sweep(data, metrics=["accuracy"], thresholds="all").tables["best"].rows())
    every = [np.mean((p >= t) == y) for t in np.unique(p)]
    assert row["value"] == pytest.approx(max(every))
    assert row["gain"] == pytest.approx(max(every) - np.mean((p >= 0.5) == y))


def test_intervals_of_rates_are_wilson_and_hold_the_truth() -> None:
    """Over repeated samples the interval at one threshold covers the true rate as often as it says."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = rng.random(300)
        frame = {"p": p, "y": (rng.random(300) < p).astype(int), "x": p}
        data = Dataset(frame, target="y", score="p", features=["x"])
        row = next(threshold_sweep(data, metrics=["f1"], thresholds=[0.5], n_boot=200).tables["metrics"].rows())
        held += row["low"] <= 0.75 <= row["high"]
    assert held >= 50


def test_scores_several_classes_and_numbers(people: MakePeople) -> None:
    scores = scored().replace(
        {n: scored().column(n).to_numpy() for n in ("y", "sex", "w", "x")} | {"p": np.arange(400) - 7.0}
    )
    assert len(threshold_sweep(scores.with_roles(prediction=None), thresholds=11).tables["metrics"]) >= 11
    data, model = people(300, "multiclass")
    with pytest.raises(NotApplicable, match="of_class"):
        threshold_sweep(data, model)
    one = threshold_sweep(data, model, of_class=2, metrics=["recall"], thresholds=[0.5])
    said = model.predict_proba(np.column_stack([data.column(n).to_numpy() for n in data.features]).astype(float))[:, 2]
    y = data.column("y").to_numpy() == 2
    assert next(one.tables["metrics"].rows())["value"] == pytest.approx(np.mean(said[y] >= 0.5))
    with pytest.raises(SpecError, match="one of the classes"):
        threshold_sweep(data, model, of_class=9)
    numbers, linear = people(300, "regression")
    with pytest.raises(NotApplicable, match="no threshold"):
        threshold_sweep(numbers, linear)


def test_small_groups_are_told_and_bad_options_refused() -> None:
    data = scored(80)
    alone = threshold_sweep(data, min_per_group=60)
    assert "gaps" not in alone.tables
    assert any("sex" in str(note) for note in alone.notes)
    labels = Dataset({"y": [0, 1] * 20, "p": [0, 1] * 20, "x": range(40)}, target="y", prediction="p")
    with pytest.raises(NotApplicable, match="no threshold applies"):
        threshold_sweep(labels)
    one_class = Dataset(
        {"y": [1] * 20, "p": np.linspace(0, 1, 20), "x": range(20)}, target="y", score="p", task="binary", positive=1
    )
    with pytest.raises(NotApplicable, match="one class"):
        threshold_sweep(one_class)
    for options, message in (
        ({"thresholds": "some"}, "'all'"),
        ({"thresholds": []}, "finite number"),
        ({"thresholds": ["a"]}, "each a finite number"),
        ({"thresholds": 1}, "at least 2"),
        ({"metrics": ["auc"]}, "two-class decisions"),
        ({"limits": {"selection_rate_ration": 0.8}}, "Did you mean 'selection_rate_ratio'"),
        ({"limits": {"accuracy": "high"}}, "finite number"),
        ({"limits": 3}, "a mapping, each value a finite number"),
        ({"of_class": 1}, "several classes"),
    ):
        with pytest.raises((SpecError, DataError), match=message):
            threshold_sweep(data, **options)
    assert all(METRICS[name].family == "counts" for name in COMPARED)
