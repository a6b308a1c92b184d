"""Scenarios against closed forms, plain loops, and what must not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression

from isonomia import Dataset, SpecError
from isonomia.evidence import Result
from isonomia.metrics import METRICS, evaluate_all
from isonomia.robustness import SCENARIOS, Scenarios, Situation, scenario, scenarios
from isonomia.robustness.stress import plan
from isonomia.robustness.stress.scenarios import measures_of, situation
from isonomia.robustness.stress.trials import generator, play
from isonomia.subject import Subject

MakePeople = Callable[..., tuple[Dataset, Any]]
#: Scenarios that need no model.
WITHOUT = ("label_noise", "score_noise", "class_imbalance", "threshold_gaming", "covariate_shift", "temporal_shift")
WITH = ("feature_corruption", "missing_features", "demographic_swap")
TASKS = ("binary", "multiclass", "regression")


def value(result: Scenarios, name: str, metric: str, column: str = "mean") -> float:
    rows = [r for r in result.tables["scenarios"].rows() if r["scenario"] == name and r["metric"] == metric]
    return float(rows[0][column])


@pytest.mark.parametrize("task", TASKS)
def test_everything_runs_on_every_task_or_says_why_not(people: MakePeople, task: str) -> None:
    data, model = people(400, task)
    result = scenarios(data, model, n_trials=3)
    assert isinstance(result, Result)
    absent = {
        "binary": set(),
        "multiclass": {"threshold_gaming"},
        "regression": {"threshold_gaming", "class_imbalance"},
    }
    assert set(result.absent) == absent[task]
    assert set(result.runs) | set(result.absent) == set(SCENARIOS.ids())
    for reason in result.absent.values():
        assert f"the task is {task}" in reason
    assert result.to_dict()["tables"]["scenarios"]["columns"]
    assert len(result.trials) == 3 * len(result.runs)


def test_predictions_alone_are_enough_where_no_feature_changes(people: MakePeople) -> None:
    data, model = people(500)
    said = model.predict_proba(np.column_stack([data.column(c).to_numpy() for c in ("x", "z", "sex")]).astype(float))[
        :, 1
    ]
    frame = {name: data.column(name).to_numpy() for name in data.columns} | {"p": said}
    alone = scenarios(data.with_roles(score=None).replace(frame).with_roles(score="p"), n_trials=4)
    assert set(alone.runs) == set(WITHOUT)
    assert set(alone.absent) == set(WITH)
    assert all("needs the model" in reason for reason in alone.absent.values())
    asked = scenarios(data, model, WITHOUT, n_trials=4)
    for name in WITHOUT:
        np.testing.assert_allclose(asked.runs[name].values, alone.runs[name].values, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_level_0_changes_nothing(people: MakePeople, task: str) -> None:
    data, model = people(300, task)
    base = situation(Subject.of(data, model))
    measures, _ = measures_of(base, None)
    before = measures.values([measures.read(base)])[0]
    gaps = measures.gap_values([measures.read(base)])[0]
    for one in SCENARIOS:
        if one.reason(base) is not None:
            continue
        run = play(plan([{"type": one.id, "level": 0}])[0], measures, 3, 0)
        np.testing.assert_array_equal(run.values, np.broadcast_to(before, run.values.shape))
        np.testing.assert_array_equal(run.gaps, np.broadcast_to(gaps, run.gaps.shape))


@pytest.mark.parametrize("task", TASKS)
def test_trials_agree_with_the_registry_trial_by_trial(people: MakePeople, task: str) -> None:
    """Every metric of every trial, measured anew from the rows of that trial."""
    data, model = people(300, task)
    weighted = data.replace({n: data.column(n).to_numpy() for n in data.columns} | {"w": 0.5 + np.arange(300) % 3})
    for subject in (data, weighted.with_roles(weight="w")):
        base = situation(Subject.of(subject, model))
        measures, _ = measures_of(base, None)
        for one in SCENARIOS:
            if one.reason(base) is not None:
                continue
            planned = plan([one.id])[0]
            run = play(planned, measures, 3, 5)
            for trial in range(3):
                now = planned.change(base, generator(5, one.id, trial))
                if now.query is not None:
                    assert base.model is not None
                    now = now.answered(base.model.surface(base.data, frame=now.query.frame))
                found = evaluate_all(now.truth, now.surface, measures.metrics, weights=now.weights, n_boot=0)
                for place, metric in enumerate(measures.metrics):
                    expected = found[metric.id].value
                    got = run.values[trial, place]
                    if expected is None:
                        assert np.isnan(got), (one.id, metric.id)
                    else:
                        assert got == pytest.approx(expected, abs=1e-10), (one.id, metric.id)


def test_gaps_are_those_of_a_plain_loop(people: MakePeople) -> None:
    data, model = people(400)
    base = situation(Subject.of(data, model))
    measures, _ = measures_of(base, None)
    planned = plan(["label_noise"])[0]
    run = play(planned, measures, 4, 1)
    sex = data.column("sex").to_numpy()
    assert base.surface.label is not None
    for trial in range(4):
        now = planned.change(base, generator(1, "label_noise", trial))
        rates = []
        for group in (0, 1):
            rows = (sex == group) & (now.truth == 1)
            rates.append(base.surface.label[rows].mean())
        place = [metric.id for metric in measures.gaps].index("tpr")
        assert run.gaps[trial, 0, place] == pytest.approx(max(rates) - min(rates))


@pytest.mark.parametrize(("task", "classes"), [("binary", 2), ("multiclass", 3)])
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_label_noise_turns_accuracy_as_the_formula_says(
    people: MakePeople, task: str, classes: int, rate: float
) -> None:
    data, model = people(4000, task)
    result = scenarios(data, model, [{"type": "label_noise", "noise_rate": rate}], n_trials=60, metrics=["accuracy"])
    a = result.baseline["accuracy"].value
    assert a is not None
    expected = a * (1 - rate) + (1 - a) * rate / (classes - 1)
    trials = result.of("label_noise", "accuracy")
    error = trials.std(ddof=1) / np.sqrt(trials.size)
    assert abs(trials.mean() - expected) < 4 * error + 1e-12


def test_label_noise_of_numbers_adds_its_variance(people: MakePeople) -> None:
    data, model = people(4000, "regression")
    result = scenarios(data, model, [{"type": "label_noise", "level": 0.5}], n_trials=40, metrics=["mse"])
    spread = float(np.var(data.column("y").to_numpy()))
    before = result.baseline["mse"].value
    assert before is not None
    trials = result.of("label_noise", "mse")
    assert trials.mean() == pytest.approx(before + 0.25 * spread, rel=0.02)


def test_score_noise_of_numbers_adds_its_variance(people: MakePeople) -> None:
    data, model = people(4000, "regression")
    base = situation(Subject.of(data, model))
    result = scenarios(data, model, [{"type": "score_noise", "noise_level": 0.5}], n_trials=40, metrics=["mse"])
    before = result.baseline["mse"].value
    assert before is not None
    assert base.surface.continuous is not None
    extra = 0.25 * float(np.var(base.surface.continuous))
    assert result.of("score_noise", "mse").mean() == pytest.approx(before + extra, rel=0.02)


def test_imbalance_keeps_rates_given_the_class_and_moves_the_others(people: MakePeople) -> None:
    data, model = people(4000)
    result = scenarios(data, model, [{"type": "class_imbalance", "level": 0.8, "of_class": 1}], n_trials=80)
    for metric in ("recall", "fpr", "auc", "balanced_accuracy"):
        trials = result.of("class_imbalance", metric)
        error = trials.std(ddof=1) / np.sqrt(trials.size)
        assert abs(trials.mean() - result.baseline[metric].value) < 4 * error + 1e-12, metric
    base, tpr, fpr = (result.baseline[name].value for name in ("base_rate", "recall", "fpr"))
    assert base is not None
    assert tpr is not None
    assert fpr is not None
    rarer = 0.2 * base / (0.2 * base + 1 - base)
    assert result.of("class_imbalance", "base_rate").mean() == pytest.approx(rarer, abs=1e-3)
    precision = rarer * tpr / (rarer * tpr + (1 - rarer) * fpr)
    assert result.of("class_imbalance", "precision").mean() == pytest.approx(precision, abs=0.01)


def test_a_scenario_that_empties_a_class_is_flagged_and_does_not_crash(people: MakePeople) -> None:
    data, model = people(300)
    result = scenarios(data, model, [{"type": "class_imbalance", "level": 1.0, "of_class": 1}], n_trials=3)
    row = {r["metric"]: r for r in result.tables["scenarios"].rows()}
    assert row["auc"]["mean"] is None
    assert row["auc"]["trials"] == 0
    assert row["recall"]["mean"] is None
    assert row["fpr"]["mean"] == pytest.approx(result.baseline["fpr"].value)
    assert any("auc" in str(note) for note in result.notes)


def test_gaming_picks_the_best_threshold_of_the_sample(people: MakePeople) -> None:
    """By trying every threshold with scikit-learn on the same bootstrap sample."""
    data, model = people(250)
    base = situation(Subject.of(data, model))
    p = base.surface.probability
    assert p is not None
    for trial in range(3):
        rng = generator(0, "threshold_gaming", trial)
        drawn = np.bincount(rng.integers(0, 250, 250), minlength=250)
        now = plan([{"type": "threshold_gaming", "level": 0.3, "target": "f1"}])[0].change(
            base, generator(0, "threshold_gaming", trial)
        )
        tried = [t for t in np.unique(p) if abs(t - 0.5) <= 0.3]
        best = max(sk.f1_score(base.truth, p >= t, sample_weight=drawn) for t in [*tried, 0.5])
        got = sk.f1_score(base.truth, now.surface.label, sample_weight=drawn)
        assert got == pytest.approx(best)
        assert abs(now.surface.threshold - 0.5) <= 0.3
        np.testing.assert_array_equal(now.surface.label, p >= now.surface.threshold)


def test_a_covariate_shift_moves_the_mean_by_its_level(people: MakePeople) -> None:
    data, model = people(5000)
    base = situation(Subject.of(data, model))
    x = data.column("x").to_numpy()
    from scipy.stats import norm, rankdata

    z = norm.ppf((rankdata(x) - 0.5) / x.size)
    moved = []
    for trial in range(6):
        now = plan([{"type": "covariate_shift", "level": 0.5, "features": ["x"]}])[0].change(
            base, generator(0, "covariate_shift", trial)
        )
        assert now.weights is not None
        assert now.weights.mean() == pytest.approx(1)
        moved.append(float(now.weights @ z / now.weights.sum()))
    assert {round(abs(value), 1) for value in moved} == {0.5}
    assert min(moved) < 0 < max(moved)


def test_a_stretch_of_time_holds_its_share_and_no_other_rows(people: MakePeople) -> None:
    data, model = people(1000)
    base = situation(Subject.of(data, model))
    for trial in range(5):
        now = plan([{"type": "temporal_shift", "level": 0.6}])[0].change(base, generator(0, "temporal_shift", trial))
        assert now.weights is not None
        assert now.weights.sum() == pytest.approx(400)
        assert ((now.weights >= 0) & (now.weights <= 1)).all()
        periods = np.unique(data.column("when").to_numpy()[now.weights > 0])
        assert np.array_equal(periods, np.arange(periods[0], periods[-1] + 1))


def test_swapping_everyone_is_the_flip_of_counterfactual_fairness(people: MakePeople) -> None:
    from isonomia.fairness import counterfactual

    data, model = people(800)
    base = situation(Subject.of(data, model))
    now = plan([{"type": "demographic_swap", "level": 1.0}])[0].change(base, generator(0, "demographic_swap", 0))
    assert now.surface.label is not None
    assert now.surface.probability is not None
    assert base.surface.probability is not None
    flipped = counterfactual(data, model)
    assert flipped.rate["flip:sex"].value == pytest.approx(float((now.surface.label != base.surface.label).mean()))
    change = np.abs(now.surface.probability - base.surface.probability).mean()
    assert flipped.change["flip:sex"].value == pytest.approx(float(change))


def test_corruption_replaces_the_share_of_cells_it_says_and_keeps_values_that_occur(people: MakePeople) -> None:
    data, model = people(3000)
    base = situation(Subject.of(data, model))
    now = plan([{"type": "feature_corruption", "level": 0.2}])[0].change(base, generator(0, "feature_corruption", 0))
    assert now.query is not None
    frame, rows = Dataset(now.query.frame), now.query.rows
    kept = 1 - 0.8**3
    assert len(rows) / 3000 == pytest.approx(kept, abs=0.03)
    x = data.column("x").to_numpy()
    changed = frame.column("x").to_numpy() != x[rows]
    assert changed.sum() / 3000 == pytest.approx(0.2, abs=0.03)
    assert np.isin(frame.column("x").to_numpy(), x).all()


def test_missing_cells_are_filled_with_the_usual_value(people: MakePeople) -> None:
    data, model = people(1001)
    base = situation(Subject.of(data, model))
    planned = plan([{"type": "missing_features", "level": 1.0, "features": ["x"]}])[0]
    now = planned.change(base, generator(0, "missing_features", 0))
    assert now.query is not None
    frame = Dataset(now.query.frame)
    np.testing.assert_allclose(frame.column("x").to_numpy(), np.median(data.column("x").to_numpy()))
    np.testing.assert_array_equal(frame.column("z").to_numpy(), data.column("z").to_numpy())


def test_a_trial_does_not_depend_on_how_many_there_are_nor_on_the_others(people: MakePeople) -> None:
    data, model = people(300)
    few, many = (scenarios(data, model, n_trials=n, seed=3) for n in (2, 4))
    alone = scenarios(data, model, ["score_noise"], n_trials=2, seed=3)
    for name, run in few.runs.items():
        np.testing.assert_array_equal(run.values, many.runs[name].values[:2])
    np.testing.assert_array_equal(alone.runs["score_noise"].values, few.runs["score_noise"].values)
    other = scenarios(data, model, ["score_noise"], n_trials=2, seed=4)
    assert (other.runs["score_noise"].values != alone.runs["score_noise"].values).any()
    assert few.to_dict() == scenarios(data, model, n_trials=2, seed=3).to_dict()


@settings(max_examples=8)
@given(seed=st.integers(0, 50), rate=st.floats(0.05, 0.45))
def test_wrong_labels_harm_a_good_model_in_every_direction(people: MakePeople, seed: int, rate: float) -> None:
    data, model = people(400, seed=seed)
    result = scenarios(data, model, [{"type": "label_noise", "level": rate}], n_trials=5, seed=seed)
    for metric in ("accuracy", "auc", "logloss", "brier_score", "fpr"):
        assert value(result, "label_noise", metric, "degradation") > 0, metric
    higher, lower = (METRICS[name].higher_is_better for name in ("auc", "logloss"))
    assert higher
    assert not lower
    assert value(result, "label_noise", "auc") < value(result, "label_noise", "auc", "baseline")
    assert value(result, "label_noise", "logloss") > value(result, "label_noise", "logloss", "baseline")


def test_functions_and_registered_scenarios_of_users_are_played(people: MakePeople) -> None:
    def turned(now: Situation, rng: np.random.Generator, level: float) -> Situation:
        assert now.surface.label is not None
        return now.with_surface(replace(now.surface, label=1 - now.surface.label))

    @scenario("only_first_half", purpose="only the first half of the rows", tasks=("binary",))
    def only_first_half(now: Situation, rng: np.random.Generator, level: float) -> Situation:
        return now.with_rows(np.arange(len(now) // 2))

    try:
        data, model = people(300)
        result = scenarios(data, model, [turned, "only_first_half"], n_trials=2, metrics=["accuracy"])
        assert value(result, "turned", "accuracy") == pytest.approx(1 - result.baseline["accuracy"].value)
        assert set(result.runs) == {"turned", "only_first_half"}
        other, linear = people(300, "regression")
        absent = scenarios(other, linear, ["only_first_half"], n_trials=2).absent
        assert absent == {"only_first_half": "it applies to binary, and the task is regression"}
    finally:
        SCENARIOS._entries.pop("only_first_half")


BAD: list[tuple[Any, str]] = [
    ("label_noize", "Did you mean 'label_noise'"),
    ({"type": "label_noise", "levle": 0.1}, "Did you mean 'level'"),
    ({"type": "label_noise", "level": 1.5}, r"in \[0, 1\]"),
    ({"type": "label_noise", "level": float("nan")}, "must be a number"),
    ({"type": "label_noise", "level": 0.1, "noise_rate": 0.2}, "must be given once"),
    ({"level": 0.1}, "named once"),
    ([], "at least one"),
    (3, "ids, mappings"),
    ([None], "ids, mappings"),
    (lambda now: now, r"\(now, rng, level\)"),
    (lambda now, rng, level: None, "must return a Situation"),
    (lambda now, rng, level: 1 / 0, "failed in trial 0: ZeroDivisionError"),
    (lambda now, rng, level: now.with_labels(now.truth[:5]), r"labels of shape \(\d+,\), got \(5,\)"),
    (lambda now, rng, level: now.with_labels(now.truth + 7), "labels as codes from 0 to 1"),
    (lambda now, rng, level: now.with_weights(np.ones(3)), r"weights of shape \(\d+,\), got \(3,\)"),
    (lambda now, rng, level: now.with_weights(np.full(len(now), -1.0)), "weights of at least 0"),
    (
        lambda now, rng, level: now.with_surface(now.surface.take(np.arange(4))),
        r"predictions of shape \(\d+,\), got \(4,\)",
    ),
    (lambda now, rng, level: now.with_rows(np.array([10_000])), "indices from 0"),
    (
        lambda now, rng, level: now.with_surface(replace(now.surface, probability=np.full(len(now), np.nan))),
        "missing or infinite",
    ),
    (
        lambda now, rng, level: now.with_features(now.data.take(np.arange(3)).frame),
        "one row of features per row: .*got 3",
    ),
    ({"type": "threshold_gaming", "target": "auc"}, "metric of decisions"),
    ({"type": "class_imbalance", "of_class": "maybe"}, "one of the classes"),
    ({"type": "covariate_shift", "features": ["xx"]}, "must name columns"),
    ({"type": "feature_corruption", "features": ["when"]}, "columns the model reads"),
    ({"type": "demographic_swap", "attribute": "x"}, "protected attribute"),
]


@pytest.mark.parametrize(("wanted", "message"), BAD)
def test_what_makes_no_sense_is_told(people: MakePeople, wanted: Any, message: str) -> None:
    data, model = people(100)
    with pytest.raises(SpecError, match=message):
        scenarios(data, model, wanted if isinstance(wanted, list) else [wanted] if wanted != 3 else wanted, n_trials=1)


def test_numbers_of_trials_and_metrics_are_checked(people: MakePeople) -> None:
    data, model = people(100)
    with pytest.raises(SpecError, match="`n_trials` must be a whole number of at least 1; got 0"):
        scenarios(data, model, n_trials=0)
    with pytest.raises(SpecError, match="`seed` must be a whole number of at least 0; got -1"):
        scenarios(data, model, seed=-1)
    with pytest.raises(SpecError, match="Did you mean 'accuracy'"):
        scenarios(data, model, metrics=["acuracy"], n_trials=1)
    with pytest.raises(SpecError, match="None of the metrics"):
        scenarios(data, model, metrics=["mae"], n_trials=1)
    with pytest.raises(SpecError, match="among those measured"):
        scenarios(data, model, metrics=["accuracy"], metric="auc", n_trials=1)


def test_without_time_or_attributes_the_reason_is_told(people: MakePeople) -> None:
    data, model = people(200, time=None, protected=[])
    result = scenarios(data, model, ["temporal_shift", "demographic_swap"], n_trials=2)
    assert "no time column" in result.absent["temporal_shift"]
    assert "no protected attribute" in result.absent["demographic_swap"]
    assert result.findings == ()
    assert result.pictures == ()


def test_constant_features_and_a_model_without_errors() -> None:
    n = 200
    y = np.arange(n) % 2
    frame = {"c": np.ones(n), "y": y, "p": y}
    result = scenarios(Dataset(frame, target="y", prediction="p", features=["c"]), n_trials=3)
    assert "constant" in result.absent["covariate_shift"]
    assert result.baseline["accuracy"].value == 1.0
    numbers = Dataset({"c": np.arange(n), "y": y * 1.5, "p": y * 1.5}, target="y", prediction="p", task="regression")
    perfect = scenarios(numbers, scenarios=["score_noise"], n_trials=3)
    row = next(r for r in perfect.tables["scenarios"].rows() if r["metric"] == "mae")
    assert row["baseline"] == 0
    assert row["degradation"] > 0
    assert row["relative"] is None


@pytest.mark.parametrize("task", TASKS)
def test_all_kinds_of_frames_give_the_same(people: MakePeople, task: str, frame_kind: Any) -> None:
    data, model = people(120, task)
    columns = {name: data.column(name).to_numpy() for name in data.columns}
    roles = data.options()
    again = scenarios(Dataset(frame_kind(columns), **roles), model, n_trials=2, metrics=None)
    expected = scenarios(data, model, n_trials=2)
    for name, run in expected.runs.items():
        np.testing.assert_allclose(again.runs[name].values, run.values, atol=1e-9)


@pytest.mark.parametrize("perturber", ["raw", "quantile", "correlated", "swap", "rounding", "units"])
def test_features_are_corrupted_by_any_perturber_as_perturb_does_it(people: MakePeople, perturber: str) -> None:
    from isonomia.probing import Feature
    from isonomia.robustness import PERTURBERS, Columns, perturb_rows

    data, model = people(300, kinds={"z": "category"})
    base = situation(Subject.of(data, model))
    planned = plan([{"type": "feature_corruption", "level": 0.3, "perturber": perturber}])[0]
    now = planned.change(base, generator(0, "feature_corruption", 0))
    assert now.query is not None
    names = ("x", "z", "sex")
    features = [Feature.from_column(data.column(n), as_category=data.kinds[n] == "category") for n in names]
    rows = np.stack([feature.encode(data.column(feature.name)) for feature in features], axis=1)
    entry = PERTURBERS[perturber]
    expected = perturb_rows(entry, rows, Columns(tuple(features), rows), 0.3, generator(0, "feature_corruption", 0))
    frame = Dataset(now.query.frame)
    got = np.stack([np.asarray(frame.column(n).to_numpy(), dtype=float) for n in names], axis=1)
    changed = np.flatnonzero((expected != rows).any(axis=1))
    np.testing.assert_array_equal(now.query.rows, changed)
    np.testing.assert_allclose(got, expected[changed], atol=1e-9)
    assert len(scenarios(data, model, [planned], n_trials=3).runs) == 1


def test_missing_values_can_be_handed_to_a_model_that_takes_them(people: MakePeople, frame_kind: Any) -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    data, _ = people(120)
    columns = {name: data.column(name).to_numpy() for name in data.columns}
    X = np.column_stack([columns[name] for name in ("x", "z", "sex")]).astype(float)
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, columns["y"])
    wanted = [{"type": "missing_features", "level": 0.02, "fill": "none"}]
    result = scenarios(Dataset(frame_kind(columns), **data.options()), model, wanted, n_trials=6)
    assert result.runs["missing_features"].values.shape[0] == 6
    with pytest.raises(SpecError, match="`fill` must be one of usual, none"):
        scenarios(data, model, [{"type": "missing_features", "fill": "zero"}], n_trials=1)


def test_a_function_that_sounds_different_on_few_rows_is_understood(people: MakePeople) -> None:
    """Probabilities of a few rows can all be 0 or 1, and would be taken for decisions."""
    data, _ = people(200)

    def rule(frame: Any) -> Any:
        x = np.asarray(frame["x"])
        return np.where(np.abs(x) < 0.01, 0.5, (x > 0).astype(float))

    frame = {name: data.column(name).to_numpy() for name in data.columns}
    frame["x"] = np.where(np.arange(200) == 0, 0.001, np.where(frame["x"] > 0, 1.0, -1.0))
    result = scenarios(data.replace(frame), rule, [{"type": "feature_corruption", "level": 0.004}], n_trials=8)
    assert not np.isnan(result.of("feature_corruption", "auc")).any()


def test_adult_by_a_pipeline_over_texts(shared_data: Path) -> None:
    """Texts, missing values and a model that takes a frame: everything plays, and the swap is the flip once more."""
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from isonomia.fairness import counterfactual

    frame = pd.read_csv(shared_data / "adult.csv.gz").sample(1500, random_state=0)
    X = frame.drop(columns=["income"])
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), texts), (StandardScaler(), [n for n in X if n not in texts])
    )
    model = make_pipeline(encoder, LogisticRegression(max_iter=200)).fit(X, frame["income"])
    data = Dataset(frame, target="income", positive=">50K", protected=["sex", "race"])
    result = scenarios(data, model, n_trials=3)
    assert set(result.absent) == {"temporal_shift"}
    swap = [{"type": "demographic_swap", "level": 1.0, "attribute": "sex"}]
    base = situation(Subject.of(data, model))
    now = plan(swap)[0].change(base, generator(0, "demographic_swap", 0))
    assert now.surface.label is not None
    flipped = counterfactual(data, model, attributes=["sex"])
    assert flipped.rate["flip:sex"].value == pytest.approx(float((now.surface.label != base.surface.label).mean()))
    wrong = [{"type": "label_noise", "level": 0.2}]
    trials = scenarios(data, model, wrong, n_trials=40, metrics=["accuracy"]).of("label_noise", "accuracy")
    a = result.baseline["accuracy"].value
    assert a is not None
    assert abs(trials.mean() - (a * 0.8 + (1 - a) * 0.2)) < 4 * trials.std(ddof=1) / np.sqrt(40)
