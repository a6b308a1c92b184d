"""The dashboard, sensitivity curves and subgroup diagnostics: directions, sums of parts, planted orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia import Dataset, SpecError
from isonomia.metrics import METRICS, evaluate
from isonomia.robustness import dashboard, scenarios, sensitivity, subgroup_diagnostics
from isonomia.robustness.perturbation.degradation import scale_of, worse_by
from isonomia.robustness.stress.sensitivity import gives_way, slope
from isonomia.subject import Subject

MakePeople = Callable[..., tuple[Dataset, Any]]
TASKS = ("binary", "multiclass", "regression")


@given(value=st.floats(-5, 5), base=st.floats(-5, 5), name=st.sampled_from(METRICS.ids()))
def test_worse_is_down_where_higher_is_better_and_up_where_lower_is(value: float, base: float, name: str) -> None:
    metric = METRICS[name]
    found = float(worse_by(metric, value, base))
    if metric.higher_is_better is None:
        assert np.isnan(found)
        return
    assert found == metric.worse_by(value, base)
    if value != base:
        assert (found > 0) == ((value < base) == metric.higher_is_better)
    assert float(worse_by(metric, base, value)) == pytest.approx(-found)


def test_a_rising_error_is_a_large_drop_and_so_is_a_falling_area(people: MakePeople) -> None:
    numbers, linear = people(800, "regression")
    page = dashboard(
        numbers, linear, [{"type": "label_noise", "level": 0.5}], n_trials=10, metrics=["mae", "rmse", "r2"]
    )
    assert set(page.large_drops) == {"mae", "rmse", "r2"}
    data, model = people(800)
    page = dashboard(data, model, [{"type": "label_noise", "level": 0.2}], n_trials=10, metrics=["auc", "logloss"])
    assert set(page.large_drops) == {"auc", "logloss"}
    still = dashboard(data, model, [{"type": "label_noise", "level": 0}], n_trials=3)
    assert still.large_drops == ()
    assert still.stability.value == 1
    assert still.findings == ()


def test_stability_is_the_mean_of_its_parts_by_hand(people: MakePeople) -> None:
    data, model = people(500)
    played = scenarios(data, model, n_trials=6, metrics=["accuracy", "logloss", "recall", "tpr", "selection_rate"])
    page = dashboard(played)
    parts = []
    for run in played.runs.values():
        lost = []
        for name in ("accuracy", "logloss", "recall"):  # tpr is recall once more; selection_rate only describes
            base = played.baseline[name].value
            assert base is not None
            trials = run.values[:, [m.id for m in played.metrics].index(name)]
            harm = base - trials if METRICS[name].higher_is_better else trials - base
            lost.append(np.clip(harm / (base if name == "logloss" else 1.0), 0, 1))
        parts.append(1 - np.mean(lost, axis=0))
    assert page.stability.value == pytest.approx(np.mean(parts))
    assert (page.stability.low, page.stability.high) == (None, None)  # trials have a spread, not an interval
    rows = list(page.tables["stability"].rows())
    assert [row["score"] for row in rows] == pytest.approx([part.mean() for part in parts])
    for row, part in zip(rows, parts, strict=True):
        assert (row["score_low"], row["score_high"]) == pytest.approx(tuple(np.quantile(part, [0.025, 0.975])))


@pytest.mark.parametrize("task", TASKS)
def test_the_dashboard_names_the_worst_scenario_of_every_metric(task: str, people: MakePeople) -> None:
    data, model = people(400, task)
    played = scenarios(data, model, n_trials=4)
    page = dashboard(played)
    rows = list(page.tables["dashboard"].rows())
    for row in rows:
        harms = {
            name: np.nanmean(worse_by(METRICS[row["metric"]], played.of(name, row["metric"]), row["baseline"]))
            for name in played.runs
            if not np.isnan(played.of(name, row["metric"])).all()
        }
        assert row["degradation"] == pytest.approx(max(harms.values()))
        assert harms[row["worst_scenario"]] == pytest.approx(row["degradation"])
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    relative = [row["relative"] for row in rows if row["relative"] is not None]
    assert relative == sorted(relative, reverse=True)
    assert [row["rank"] for row in page.tables["ranking"].rows()] == list(range(1, len(played.runs) + 1))
    assert page.scenarios is played
    with pytest.raises(SpecError, match="already has its model"):
        dashboard(played, model)


def test_without_any_scenario_that_applies_the_dashboard_says_so(people: MakePeople) -> None:
    data, model = people(100, time=None)
    page = dashboard(data, model, ["temporal_shift"], n_trials=2)
    assert page.stability.value is None
    assert page.findings == ()
    assert page.pictures == ()
    assert page.to_dict()


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.01, 0.5))
def test_giving_way_lies_where_the_line_crosses(rises: list[float], tolerance: float) -> None:
    levels = np.arange(len(rises) + 1.0)
    curve = np.concatenate([[0.0], np.cumsum(rises)])
    at = gives_way(levels, curve, tolerance)
    if curve[-1] <= tolerance:
        assert np.isnan(at)
    else:
        assert np.interp(at, levels, curve) == pytest.approx(tolerance)
    fitted = np.linalg.lstsq(levels[:, None], curve, rcond=None)[0][0]
    assert slope(levels, curve) == pytest.approx(fitted)


@pytest.mark.parametrize("task", TASKS)
def test_curves_start_at_the_baseline_and_fall(task: str, people: MakePeople) -> None:
    data, model = people(600, task)
    result = sensitivity(data, model, "label_noise", levels=[0.1, 0.3], n_trials=6)
    assert result.levels == (0.0, 0.1, 0.3)
    main = {"binary": "auc", "multiclass": "macro_f1", "regression": "mae"}[task]
    rows = [row for row in result.tables["curves"].rows() if row["metric"] == main]
    assert [row["level"] for row in rows] == [0.0, 0.1, 0.3]
    assert rows[0]["degradation"] == 0
    assert rows[0]["degradation"] < rows[1]["degradation"] < rows[2]["degradation"]
    np.testing.assert_array_equal(result.responses["label_noise"][main], [row["mean"] for row in rows])
    played = scenarios(data, model, [{"type": "label_noise", "level": 0.3}], n_trials=6)
    assert rows[2]["mean"] == pytest.approx(played.of("label_noise", main).mean())
    order = [row["slope"] for row in result.tables["metrics"].rows() if row["slope"] is not None]
    assert order == sorted(order, reverse=True)
    assert result.most_sensitive["label_noise"] == next(result.tables["metrics"].rows())["metric"]


def test_every_kind_of_prediction_has_a_sensitivity(people: MakePeople) -> None:
    n = 200
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    wrong = np.where(rng.random(n) < 0.2, (y + 1) % 3, y)
    labels = Dataset({"x": y, "y": y, "p": wrong}, target="y", prediction="p", features=["x"], task="multiclass")
    result = sensitivity(labels, metrics=["macro_f1", "cohens_kappa"], levels=[0.01, 0.05, 0.1], n_trials=10)
    assert set(result.responses["score_noise"]) == {"macro_f1", "cohens_kappa"}
    assert result.most_sensitive["score_noise"] == "cohens_kappa"
    scores = Dataset({"x": y, "y": y > 0, "s": 3.0 * y - 2.5}, target="y", score="s", features=["x"])
    assert sensitivity(scores, levels=[0.5], n_trials=3).responses["score_noise"]["auc"].size == 2
    numbers, linear = people(100, "regression")
    both = sensitivity(numbers, linear, ["score_noise", "label_noise"], metrics=["mae", "rmse"], n_trials=3)
    assert set(both.most_sensitive) == {"score_noise", "label_noise"}
    assert len(both.pictures) == 2


def test_levels_and_scenarios_of_a_sensitivity_are_checked(people: MakePeople) -> None:
    data, model = people(100, time=None)
    for options, message in (
        ({"levels": []}, "at least 1 of them"),
        ({"levels": [0]}, "above 0"),
        ({"levels": [-1]}, "at least 0"),
        ({"levels": None}, "`levels` must be a finite number"),
        ({"seed": -1}, "at least 0"),
        ({"scenarios": "label_noise", "levels": [2]}, r"in \[0, 1\]"),
        ({"n_trials": 0}, "at least 1"),
        ({"metrics": ["selection_rate"]}, "are all descriptive"),
        ({"scenarios": "score_noize"}, "Did you mean"),
    ):
        with pytest.raises(SpecError, match=message):
            sensitivity(data, model, **options)
    absent = sensitivity(data, model, "temporal_shift", levels=[0.5], n_trials=2)
    assert "time" in absent.absent["temporal_shift"]
    assert absent.findings == ()


def test_zero_error_has_no_share_and_is_told() -> None:
    y = np.arange(50.0)
    data = Dataset({"x": y, "y": y, "said": y}, target="y", prediction="said", task="regression", features=["x"])
    result = sensitivity(data, metrics=["mae", "r2"], n_trials=3)
    rows = {row["metric"]: row for row in result.tables["metrics"].rows()}
    assert rows["mae"]["slope"] is None
    assert result.most_sensitive["score_noise"] == "r2"
    assert any("mae" in str(note) for note in result.notes)
    assert np.isnan(scale_of(METRICS["mae"], 0.0))


@pytest.mark.parametrize("task", TASKS)
def test_subgroups_are_what_evaluating_each_alone_gives(task: str, people: MakePeople) -> None:
    data, model = people(300, task)
    result = subgroup_diagnostics(data, model, features=["sex", "z"], n_boot=0)
    X = np.column_stack([data.column(n).to_numpy() for n in data.features]).astype(float)
    y = data.column("y").to_numpy()
    score = None if task == "regression" else model.predict_proba(X)
    if task == "binary":
        assert score is not None
        score = score[:, 1]
    outcome = Subject.of(y, model.predict(X), y_score=score, task=task).outcome  # type: ignore[arg-type]
    checked = 0
    for row in result.tables["subgroups"].rows():
        rows = data.column(row["attribute"]).to_numpy().astype(str) == row["group"]
        part = outcome.take(np.flatnonzero(rows))
        expected = evaluate(row["metric"], part.truth, part.surface, n_boot=0).value
        assert row["n"] == rows.sum()
        if expected is None:
            assert row["value"] is None
            assert row["note"]
        else:
            checked += 1
            assert row["value"] == pytest.approx(expected, abs=1e-10), row
    assert checked > 20


def test_tiny_and_one_class_subgroups_do_not_crash() -> None:
    frame = {
        "g": ["big"] * 80 + ["one"] + ["same"] * 5,
        "y": [0, 1] * 40 + [1] + [0] * 5,
        "p": np.linspace(0, 1, 86),
    }
    data = Dataset(frame, target="y", score="p", protected=["g"], features=["g"])
    result = subgroup_diagnostics(data, min_per_group=10, n_boot=50)
    rows = {(row["group"], row["metric"]): row for row in result.tables["subgroups"].rows()}
    assert rows[("same", "auc")]["value"] is None
    assert rows[("same", "auc")]["note"]
    assert rows[("one", "accuracy")]["value"] in (0.0, 1.0)
    assert rows[("one", "accuracy")]["small"] is True
    assert all(finding.n >= 10 for finding in result.findings)


def test_a_subgroup_that_is_served_worse_is_found(people: MakePeople) -> None:
    data, model = people(3000)
    columns = {name: data.column(name).to_numpy() for name in data.columns}
    turned = np.where((columns["sex"] == 1) & (columns["x"] > 0), 1 - columns["y"], columns["y"])
    broken = data.replace(columns | {"y": turned})
    result = subgroup_diagnostics(broken, model)
    assert [finding.who for finding in result.findings] == [{"sex": "1"}]
    assert subgroup_diagnostics(data, model).findings == ()
    with pytest.raises(SpecError, match="among those measured"):
        subgroup_diagnostics(data, model, metrics=["accuracy"], metric="auc")
    with pytest.raises(SpecError, match="None of the metrics"):
        subgroup_diagnostics(data, model, metrics=["mae"])


def test_a_played_result_is_frozen_and_can_be_shown(people: MakePeople) -> None:
    data, model = people(200)
    played = scenarios(data, model, n_trials=2)
    with pytest.raises(AttributeError):
        played.main = "auc"  # type: ignore[misc]
    assert replace(played, tolerance=0.2).tolerance == 0.2
    for result in (played, dashboard(played), sensitivity(data, model, n_trials=2), subgroup_diagnostics(data, model)):
        assert "<table" in result._repr_html_()
        assert result.to_dict()["code"] == result.code


@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_the_order_of_rows_changes_nothing_where_nothing_is_drawn(seed: int, people: MakePeople) -> None:
    """Shifts of who is there draw a feature or a stretch of time, never rows: a permutation leaves them alone."""
    data, model = people(150)
    order = np.random.default_rng(seed).permutation(150)
    wanted = [
        {"type": "covariate_shift", "features": ["x"]},
        "temporal_shift",
        {"type": "demographic_swap", "level": 1},
    ]
    one, two = (scenarios(part, model, wanted, n_trials=3) for part in (data, data.take(order)))
    for name, run in one.runs.items():
        np.testing.assert_allclose(two.runs[name].values, run.values, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(two.runs[name].gaps, run.gaps, atol=1e-9, err_msg=name)


def test_rows_given_twice_are_rows_of_weight_two(people: MakePeople) -> None:
    data, model = people(150)
    columns = {name: data.column(name).to_numpy() for name in data.columns}
    doubled = data.take(np.repeat(np.arange(150), 2))
    weighted = data.replace(columns | {"w": np.full(150, 2.0)}).with_roles(weight="w")
    for wanted in (["temporal_shift"], [{"type": "demographic_swap", "level": 1}]):
        one, two = (scenarios(part, model, wanted, n_trials=3, min_per_group=1) for part in (doubled, weighted))
        for name, run in one.runs.items():
            np.testing.assert_allclose(two.runs[name].values, run.values, atol=1e-9, err_msg=name)
