"""Weak spots: planted ones are found, first and with the right edges; where nothing is wrong nothing is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia import DataError, Dataset, NotApplicable, SpecError
from isonomia.evidence import wilson
from isonomia.robustness import SLICINGS, change_points, weak_spots

TASKS = ("binary", "multiclass", "regression")


def spots(result: Any) -> list[dict[str, Any]]:
    return list(result.tables["weak_spots"].rows())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("slicing", SLICINGS)
def test_a_model_broken_in_one_slice_is_found_first(make_broken: Any, task: str, slicing: Any) -> None:
    result = weak_spots(make_broken(task=task), slicing=slicing)
    first = spots(result)[0]
    assert first["feature"] == "income"
    assert first["critical"]
    low, high = (float(end) for end in first["slice"].split("[")[1].rstrip(")]").split(","))
    off = 1.5 if slicing in ("adaptive", "tree") else 10.5
    assert low == pytest.approx(30, abs=off)
    assert high == pytest.approx(45, abs=off)
    assert [row["feature"] for row in spots(result)] == ["income"]
    assert result.findings[0].who["income"]
    assert result.findings[0].p_adjusted is not None
    assert result.findings[0].p_adjusted < 1e-6


@pytest.mark.parametrize("task", TASKS)
def test_a_box_of_two_features_is_found_first(make_broken: Any, task: str) -> None:
    data = make_broken(n=12_000, task=task, where=lambda c: (c["income"] < 20) & (c["city"] == "east"))
    result = weak_spots(data, pairs=True)
    first = spots(result)[0]
    assert first["feature"] == "income x city"
    assert "income in [" in first["slice"]
    assert "city = east" in first["slice"]
    assert set(result.findings[0].who) == {"income", "city"}
    assert any(name.startswith("heatmap") for name in result.tables)
    assert not any(row["feature"] in ("income", "city") for row in spots(result)), "left to the pair that explains it"


def test_pairs_add_nothing_to_a_slice_that_is_broken_by_itself(make_broken: Any) -> None:
    result = weak_spots(make_broken(n=12_000), pairs=True, slicing="adaptive")
    assert [row["feature"] for row in spots(result)] == ["income"]


def test_nothing_is_told_where_nothing_is_wrong() -> None:
    rng = np.random.default_rng(1)
    told = 0
    for _ in range(40):
        n = 800
        y = rng.integers(0, 2, n)
        said = np.where(rng.random(n) < 0.3, 1 - y, y)
        columns: dict[str, Any] = {f"x{i}": rng.normal(size=n) for i in range(3)}
        data = Dataset({**columns, "y": y, "said": said}, target="y", prediction="said")
        told += bool(spots(weak_spots(data, severity=0.0, pairs=True)))
    assert told <= 6  # 5% of 40 runs, and what chance adds to it


def test_adaptive_slices_are_measured_on_other_rows(rng: np.random.Generator) -> None:
    """On pure noise the severity of chosen slices averages to nothing."""
    severities = []
    for seed in range(20):
        x, e = rng.normal(size=500), rng.exponential(size=500)
        data = Dataset(
            {"x": x, "y": np.zeros(500) + 0.5 * (np.arange(500) % 7), "said": e},
            target="y",
            prediction="said",
            task="regression",
        )
        result = weak_spots(data, slicing="tree", min_samples=5, seed=seed)
        worst = max(result.tables["slices"].rows(), key=lambda row: row["n"])
        severities.append(worst["severity"])
    assert abs(np.mean(severities)) < 0.05


def test_counts_and_values_equal_brute_force(make_broken: Any) -> None:
    data = make_broken(n=2000)
    frame = {name: data.column(name).to_numpy() for name in data.columns}
    result = weak_spots(data, pairs=True, metric="error_rate")
    wrong = frame["y"] != frame["said"]
    edges = np.quantile(frame["income"], np.linspace(0, 1, 11))
    place = np.clip(np.searchsorted(edges, frame["income"], side="right") - 1, 0, 9)
    rows = [row for row in result.tables["slices"].rows() if row["feature"] == "income"]
    for code, row in enumerate(rows):
        assert row["n"] == int((place == code).sum())
        assert row["value"] == pytest.approx(wrong[place == code].mean())
        assert row["severity"] == pytest.approx(wrong[place == code].mean() / wrong.mean() - 1)


@pytest.mark.parametrize("metric", ["residual", "mae", "mse", "error_rate", "log_loss", "accuracy", "f1", "recall"])
def test_every_metric_finds_it(make_broken: Any, metric: str) -> None:
    first = spots(weak_spots(make_broken(), metric=metric))[0]
    assert first["feature"] == "income"
    assert first["severity_low"] > 0.1


def test_weights_count(make_broken: Any, rng: np.random.Generator) -> None:
    data = make_broken()
    frame = {name: data.column(name).to_numpy() for name in data.columns}
    income = frame["income"]
    frame["w"] = np.where((income >= 30) & (income < 45), 0.0, 1.0)
    light = Dataset(frame, **{**data.options(), "weight": "w", "kinds": None})
    assert not any(row["severity"] > 1 for row in spots(weak_spots(light)))


def test_a_model_is_asked_once(make_broken: Any) -> None:
    from isonomia import Model

    data = make_broken(n=500)
    calls = []

    def say(frame: Any) -> Any:
        calls.append(len(frame))
        return np.full(len(frame), 0.3)

    weak_spots(data, Model.of(say, frame="pandas"), metric="mae", pairs=True)
    assert calls == [500]


def test_no_error_at_all_divides_nothing() -> None:
    y = np.arange(200) % 2
    result = weak_spots(Dataset({"x": np.arange(200.0), "y": y, "s": y}, target="y", prediction="s"), pairs=True)
    assert not result.findings
    assert "no error" in result.notes[0].text()
    assert all(row["severity"] is None for row in result.tables["slices"].rows())


def test_features_without_slices_are_flagged() -> None:
    rng = np.random.default_rng(0)
    n = 300
    frame = {
        "constant": np.ones(n),
        "name": [f"p{i}" for i in range(n)],
        "gap": np.where(rng.random(n) < 0.3, np.nan, 1.5),
        "few": rng.integers(0, 3, n),
        "y": rng.integers(0, 2, n),
        "s": rng.integers(0, 2, n),
    }
    data = Dataset(frame, target="y", prediction="s", features=["constant", "name", "gap", "few"])
    result = weak_spots(data, pairs=True)
    assert "constant, name" in result.notes[0].text()
    slices = [(row["feature"], row["slice"]) for row in result.tables["slices"].rows()]
    assert ("name", "(other values)") in slices
    assert ("gap", "missing") in slices


def test_repeated_quantiles_are_merged() -> None:
    x = np.r_[np.zeros(900), np.linspace(1, 2, 100)]
    y = np.arange(1000) % 2
    result = weak_spots(Dataset({"x": x, "y": y, "s": (y + (x > 0)) % 2}, target="y", prediction="s"))
    rows = list(result.tables["slices"].rows())
    assert sum(row["n"] for row in rows) == 1000
    assert all(row["n"] > 0 for row in rows)


def test_small_slices_are_shown_and_not_told() -> None:
    kind = np.r_[np.repeat("common", 500), np.repeat("other", 100), np.repeat("seldom", 5)]
    y = np.arange(605) % 2
    said = np.where(np.arange(605) >= 600, 1 - y, np.where(np.arange(605) % 10 == 0, 1 - y, y))
    data = Dataset({"kind": kind, "x": np.arange(605.0), "y": y, "s": said}, target="y", prediction="s")
    result = weak_spots(data, features=["kind"])
    small = [row for row in result.tables["slices"].rows() if row["small"]]
    assert [row["n"] for row in small] == [5]
    assert small[0]["p_value"] is None
    assert not result.findings


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"bins": 0}, "`bins` must be a whole number"),
        ({"slicing": "quantiles"}, "Did you mean 'quantile'"),
        ({"features": ["incme"]}, "Did you mean 'income'"),
        ({"min_samples": 0}, "`min_samples`"),
        ({"severity": -1}, "`severity`"),
        ({"alpha": 2}, "`alpha`"),
        ({"metric": "auc"}, "does not add up"),
    ],
)
def test_bad_options_are_named(make_broken: Any, options: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError, match=told):
        weak_spots(make_broken(n=100), **options)


def test_bad_data_is_named() -> None:
    with pytest.raises(DataError, match="There are no predictions: give a model"):
        weak_spots({"x": [1]})
    with pytest.raises(NotApplicable, match="no target"):
        weak_spots(Dataset({"x": [1, 2], "s": [0, 1]}, prediction="s"))
    nothing = {"x": [np.nan, np.nan], "y": [0, 1], "s": [0, 1]}
    with pytest.raises(NotApplicable, match="every feature is an identifier, has no value"):
        weak_spots(Dataset(nothing, target="y", prediction="s"))


def test_every_kind_of_frame(frame_kind: Any, rng: np.random.Generator) -> None:
    n = 400
    frame = {
        "x": rng.normal(size=n),
        "c": rng.choice(["a", "b"], n),
        "y": rng.integers(0, 2, n),
        "s": rng.integers(0, 2, n),
    }
    frame["day"] = np.datetime64("2024-01-01") + rng.integers(0, 300, n).astype("timedelta64[D]")
    result = weak_spots(Dataset(frame_kind(frame), target="y", prediction="s"), pairs=True)
    assert len(result.table.columns) == 11
    assert any(str(row["slice"]).startswith("[2024-") for row in result.tables["slices"].rows())
    assert result.to_dict()["code"] == "weak_spots"


def test_change_points_lie_where_the_error_changes(rng: np.random.Generator) -> None:
    x = rng.normal(size=20_000)
    loss = (rng.random(20_000) < np.where((x > 0.3) & (x <= 0.9), 0.5, 0.1)).astype(float)
    assert change_points(x, loss, bins=10, min_samples=50) == pytest.approx([0.3, 0.9], abs=0.02)
    assert change_points(x, rng.random(20_000), bins=10, min_samples=50) == []
    assert change_points(np.ones(500), rng.random(500), bins=10, min_samples=50) == []


def test_a_spot_worth_telling_is_at_least_at_its_threshold(make_broken: Any) -> None:
    result = weak_spots(make_broken(), severity=0.2, critical=0.8)
    assert result.findings
    for finding in result.findings:
        assert finding.threshold is not None
        assert finding.estimate.value is not None
        assert finding.estimate.value >= finding.threshold > 0.2 * finding.estimate.value  # in the unit of the figure
        assert finding.magnitude >= 1


def with_scores(seed: int, *, extra: float) -> Dataset:
    """The true chances as scores; where b is in its lowest tenth, so many more decisions are wrong."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=4000), rng.random(4000)
    chance = 1 / (1 + np.exp(-2 * a))
    y = (rng.random(4000) < chance).astype(int)
    flipped = (b < 0.1) & ((chance >= 0.5) == y) & (rng.random(4000) < extra)
    frame = {"a": a, "b": b, "chance": chance, "y": np.where(flipped, 1 - y, y)}
    return Dataset(frame, target="y", positive=1, score="chance")


def test_errors_that_the_scores_let_expect_are_a_notice() -> None:
    border = weak_spots(with_scores(0, extra=0.0))
    assert {tuple(finding.who) for finding in border.findings} == {("a",)}
    assert {finding.severity for finding in border.findings} == {"notice"}
    planted = {tuple(finding.who): finding.severity for finding in weak_spots(with_scores(0, extra=0.3)).findings}
    assert planted[("b",)] in ("warning", "critical")
    assert planted[("a",)] == "notice"


def test_the_interval_of_a_picked_slice_is_that_of_all_slices_at_once() -> None:
    result = weak_spots(with_scores(0, extra=0.3))
    (row,) = (row for row in result.tables["weak_spots"].rows() if row["feature"] == "b")
    k, tests = round(row["value"] * row["n"]), result.values["slices_tested"]
    low, high = wilson(k, row["n"], 0.95 ** (1 / tests))
    assert (row["low"], row["high"]) == pytest.approx((float(low), float(high)))
    assert any("are valid for all of them at once" in note.text() for note in result.notes)


def test_the_worst_cell_of_a_pair_has_the_interval_of_all_slices_at_once() -> None:
    result = weak_spots(with_scores(0, extra=0.3), pairs=True)
    tests = result.values["slices_tested"]
    for row in result.tables["pairs"].rows():
        low, high = wilson(round(row["value"] * row["n"]), row["n"], 0.95 ** (1 / tests))
        assert (row["low"], row["high"]) == pytest.approx((float(low), float(high)))
        overall = row["value"] / (row["severity"] + 1)
        assert row["severity_low"] == pytest.approx(float(low) / overall - 1)


def test_features_that_no_search_can_use_are_no_failure() -> None:
    frame = {"x": [np.inf, 1.0] * 40, "g": ["a", "b"] * 40, "y": [0, 1] * 40, "p": [0, 1, 1, 0] * 20}
    data = Dataset(frame, target="y", prediction="p", protected=["g"], features=["x"])
    with pytest.raises(NotApplicable, match="every feature is an identifier, has no value, or has infinite numbers"):
        weak_spots(data)
    assert iso.audit(data, checks="weak_spots").document["weak_spots"].outcome == "not_applicable"


@pytest.mark.parametrize("slicing", ["tree", "adaptive"])
def test_slices_chosen_by_errors_keep_the_minimum_on_the_half_that_measures(slicing: Any) -> None:
    """400 people, errors in one tenth of a skewed column: every slice is large enough to be tested."""
    rng = np.random.default_rng(0)
    years = np.round(rng.gamma(2.0, 6.0, 400), 1)
    few = rng.integers(0, 14, 400)
    y = rng.normal(0, 1, 400)
    p = y + rng.normal(0, 0.2, 400) + 3 * (np.abs(years - 12) < 3)
    frame = {"years": years, "few": few, "y": y, "p": p}
    data = Dataset(frame, target="y", prediction="p", task="regression")
    found = weak_spots(data, slicing=slicing, min_samples=30)
    table = found.tables["slices"]
    assert not any(table["small"].values), dict(zip(table["slice"].values, table["n"].values, strict=True))
    assert min(table["n"].values) >= 30
    assert found.values["weak_spots"] >= 1
    for row in found.tables["features"].rows():
        assert row["severity"] is None or row["severity"] >= 0, "a worst slice is no better than the whole"


def test_the_summary_counts_features_and_severities() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random(4000), rng.random(4000)
    wrong = rng.random(4000) < np.where(a > 0.9, 0.5, np.where(b < 0.1, 0.3, 0.05))
    y = rng.integers(0, 2, 4000)
    frame = {"a": a, "b": b, "c": rng.random(4000), "y": y, "p": np.where(wrong, 1 - y, y)}
    found = weak_spots(Dataset(frame, target="y", prediction="p"))
    severities = [row["severity"] for row in found.tables["weak_spots"].rows()]
    assert found.values["mean_severity"].value == pytest.approx(np.mean(severities))
    assert found.values["max_severity"].value == pytest.approx(max(severities))
    assert found.values["weak_features"] == 2
    none = weak_spots(Dataset({**frame, "p": y}, target="y", prediction="p"))
    assert none.values["weak_features"] == 0
    assert none.values["max_severity"].value is None
    assert none.values["max_severity"].note
