"""Sliced overfitting: a model that learnt one corner by heart is found there, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import isonomia as iso
from isonomia import DataError, Dataset, Model, SpecError
from isonomia.metrics import evaluate
from isonomia.robustness import SLICINGS, overfit
from isonomia.subject import Subject

TASKS = ("binary", "multiclass", "regression")


def learnt_by_heart(n: int, task: str, seed: int, *, trained: bool) -> Dataset:
    """Predictions as good on new rows as on old ones, but for incomes above 70, where old rows were learnt."""
    rng = np.random.default_rng(seed)
    frame: dict[str, Any] = {
        "income": rng.uniform(0, 100, n),
        "age": rng.integers(18, 60, n),
        "city": rng.choice(["north", "south"], n),
    }
    by_heart = (frame["income"] > 70) & trained
    if task == "regression":
        frame["y"] = rng.normal(size=n)
        frame["said"] = np.where(by_heart, frame["y"], frame["y"] + rng.normal(0, 1, n))
        return Dataset(frame, target="y", prediction="said")
    k = 2 if task == "binary" else 3
    frame["y"] = rng.integers(0, k, n)
    frame["said"] = np.where((rng.random(n) < 0.3) & ~by_heart, (frame["y"] + 1) % k, frame["y"])
    if task == "binary":
        frame["p"] = np.clip(0.5 + (frame["said"] - 0.5) * rng.uniform(0.1, 0.9, n), 0, 1)
        return Dataset(frame, target="y", prediction="said", score="p")
    return Dataset(frame, target="y", prediction="said")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("slicing", SLICINGS)
def test_overfitting_above_one_income_is_found_there_only(task: str, slicing: Any) -> None:
    train = learnt_by_heart(5000, task, 0, trained=True)
    test = learnt_by_heart(5000, task, 1, trained=False)
    result = overfit(train, test, slicing=slicing)
    worst = list(result.tables["worst"].rows())
    assert {row["feature"] for row in worst} == {"income"}
    lows = [float(row["slice"].split("[")[1].split(",")[0]) for row in worst if row["feature"] == "income"]
    assert min(lows) >= 59  # a uniform or quantile slice may hold a few of them
    assert max(lows) >= 69
    assert all(finding.who.keys() == {"income"} for finding in result.findings if finding.code == "overfit.slice")


def test_a_gap_that_is_everywhere_is_told_once() -> None:
    train, test = (learnt_by_heart(2000, "binary", seed, trained=False) for seed in (0, 1))
    frame = {name: train.column(name).to_numpy() for name in train.columns}
    frame["said"] = frame["y"]
    result = overfit(Dataset(frame, **{**train.options(), "kinds": None}), test)
    assert [finding.code for finding in result.findings] == ["overfit.overall"]
    assert result.values["gap"].value == pytest.approx(0.3, abs=0.03)


def test_noise_is_not_called_overfitting() -> None:
    told = 0
    for seed in range(25):
        train = learnt_by_heart(600, "binary", seed, trained=False)
        test = learnt_by_heart(600, "binary", 1000 + seed, trained=False)
        told += len(overfit(train, test, gap=0.0, pairs=True).tables["worst"])
    assert told <= 5


def test_a_box_is_found_as_a_pair() -> None:
    train, test = (learnt_by_heart(8000, "binary", seed, trained=False) for seed in (3, 4))
    frame = {name: train.column(name).to_numpy() for name in train.columns}
    inside = (frame["income"] > 80) & (frame["city"] == "north")
    frame["said"] = np.where(inside, frame["y"], frame["said"])
    train = Dataset(frame, **{**train.options(), "kinds": None})
    worst = list(overfit(train, test, pairs=True).tables["worst"].rows())
    assert worst[0]["feature"] == "income x city"
    assert "city = north" in worst[0]["slice"]


@pytest.mark.parametrize("metric", ["accuracy", "recall", "auc", "brier_score", "f1", "log_loss"])
def test_any_metric_in_its_direction_equals_brute_force(metric: str) -> None:
    train = learnt_by_heart(1500, "binary", 0, trained=True)
    test = learnt_by_heart(1500, "binary", 1, trained=False)
    result = overfit(train, test, metric=metric, features=["city"])
    name = {"log_loss": "logloss"}.get(metric, metric)
    sign = -1 if metric in ("brier_score", "log_loss") else 1
    for row in result.tables["slices"].rows():
        found = {}
        for side, data in (("train", train), ("test", test)):
            part = data.take(data.column("city").to_numpy() == row["slice"])
            surface = _surface(part)
            found[side] = evaluate(name, Subject.of(part, surface).truth, surface, n_boot=50).value
            assert row[side] == pytest.approx(found[side], abs=1e-12)
        assert row["gap"] == pytest.approx(sign * (found["train"] - found["test"]), abs=1e-12)
        assert row["gap_low"] < row["gap"] < row["gap_high"]


def _surface(data: Dataset) -> Any:
    from isonomia.subject import surface_of

    return surface_of(data)


def test_edges_are_those_of_train_for_both() -> None:
    train = learnt_by_heart(1000, "regression", 0, trained=True)
    test = learnt_by_heart(1000, "regression", 1, trained=False)
    rows = [row for row in overfit(train, test).tables["slices"].rows() if row["feature"] == "income"]
    income = [data.column("income").to_numpy() for data in (train, test)]
    inner = np.quantile(income[0], np.linspace(0, 1, 11))[1:-1]
    for side, values in zip(("n_train", "n_test"), income, strict=True):
        expected = np.bincount(np.searchsorted(inner, values, side="right"), minlength=10)
        assert [row[side] for row in rows] == expected.tolist()


def test_values_seen_on_one_side_only_are_flagged() -> None:
    train = Dataset({"c": ["a", "b"] * 50, "y": [0, 1] * 50, "s": [0, 1] * 50}, target="y", prediction="s")
    test = Dataset({"c": ["a", "new"] * 50, "y": [0, 1] * 50, "s": [0, 1] * 50}, target="y", prediction="s")
    rows = {row["slice"]: row for row in overfit(train, test).tables["slices"].rows()}
    assert rows["(other values)"]["n_test"] == 50
    assert rows["(other values)"]["gap"] is None
    assert rows["(other values)"]["small"]


def test_the_model_is_asked_once_a_side() -> None:
    calls = []

    def say(frame: Any) -> Any:
        calls.append(len(frame))
        return np.full(len(frame), 0.7)

    train, test = (learnt_by_heart(300, "binary", seed, trained=False) for seed in (0, 1))
    overfit(train, test, Model.of(say, frame="pandas"), pairs=True)
    assert calls == [300, 300]


def test_bad_input_is_named() -> None:
    train = learnt_by_heart(100, "binary", 0, trained=True)
    with pytest.raises(DataError, match=r"lacks columns.*'income'"):
        overfit(
            train,
            Dataset({"age": [1, 2], "city": ["a", "b"], "y": [0, 1], "said": [0, 1]}, target="y", prediction="said"),
        )
    other = {"income": ["a", "b"], "age": [1, 2], "city": ["a", "b"], "y": [0, 1], "said": [0, 1], "p": [0.1, 0.9]}
    with pytest.raises(DataError, match="is numeric in `train` and category in `test`"):
        overfit(train, Dataset(other, target="y", prediction="said", score="p"))
    with pytest.raises(DataError, match="Give predictions"):
        overfit(train, None)
    with pytest.raises(SpecError, match="`gap`"):
        overfit(train, train, gap=-1)
    with pytest.raises(SpecError, match="is descriptive"):
        overfit(train, train, metric="selection_rate")


def test_everything_in_one_slice_is_told() -> None:
    data = Dataset({"x": np.ones(80), "y": [0, 1] * 40, "s": [0, 1] * 40}, target="y", prediction="s")
    result = overfit(data, data)
    assert "one slice of: x" in result.notes[0].text()
    assert not result.findings


def test_pairs_by_a_metric_of_ranks(rng: np.random.Generator) -> None:
    """Scores that rank well everywhere, but on new people of one cell no longer."""
    n = 6000
    sides = []
    for known in (True, False):
        x, z = rng.choice(["a", "b"], n), rng.choice(["c", "d"], n)
        y = rng.integers(0, 2, n)
        broken = np.zeros(n, dtype=bool) if known else (x == "b") & (z == "d")
        score = np.where(broken, rng.random(n), 0.6 * rng.random(n) + 0.4 * y)
        frame = {"x": x, "z": z, "y": y, "p": score}
        sides.append((Dataset(frame, target="y", score="p", features=["x", "z"]), frame))
    (train, _), (test, new) = sides
    result = overfit(train, test, metric="auc", pairs=True)
    cells = {row["slice"]: row for row in result.tables["pairs"].rows()}
    first = next(result.tables["worst"].rows())
    assert "x = b" in first["slice"]
    assert "z = d" in first["slice"]
    row = next(row for text, row in cells.items() if text == "x = b, z = d")
    inside = (new["x"] == "b") & (new["z"] == "d")
    assert row["test"] == pytest.approx(roc_auc_score(new["y"][inside], new["p"][inside]))
    fine = [row for text, row in cells.items() if text != "x = b, z = d"]
    assert all(other["p_adjusted"] is None or other["p_adjusted"] > 0.05 for other in fine)


def test_a_gap_everywhere_counts_in_every_slice() -> None:
    """Learnt by heart: no slice is worse than the others, and none keeps the limit."""
    rng = np.random.default_rng(1)

    def rows(errors: float) -> Dataset:
        x, y = rng.random(4000), rng.integers(0, 2, 4000)
        wrong = rng.random(4000) < errors
        return Dataset({"x": x, "y": y, "p": np.where(wrong, 1 - y, y)}, target="y", prediction="p")

    train, test = rows(0.0), rows(0.3)
    found = overfit(train, test, gap=0.1)
    table = found.tables["slices"]
    above = [row["slice"] for row in table.rows() if row["gap"] is not None and table["gap"].low is not None]
    assert found.values["overfitted_slices"] == found.values["beyond_gap"] == len(above) == 10
    assert found.values["beyond_rest"] == 0
    assert sum(bool(value) for value in table["beyond_gap"].values) == 10
    assert len(found.tables["worst"]) == 0, "what is the same everywhere is told once"
    assert [finding.code for finding in found.findings] == ["overfit.overall"]
    rule = {"name": "o", "kind": "check", "check": "overfit", "figure": "overfitted_slices", "at_most": 0}
    policy = {"id": "own", "title": "own", "rules": [rule]}
    report = iso.audit(test, policy=policy, checks=["overfit"], options={"overfit": {"train": train}})
    assert report.exit_code == 1
    assert report.verdict is not None
    assert report.verdict.criteria[0].estimate.value == 10
    within = overfit(train, rows(0.05), gap=0.1)
    assert (within.values["overfitted_slices"], within.values["beyond_gap"]) == (0, 0)
