"""Perturbation: planted truths, a row-by-row loop, direction, every task, bad input."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from isonomia import DataError, Dataset, ModelError, NotApplicable, SpecError
from isonomia.languages import msg
from isonomia.robustness import PERTURBERS, Columns, Perturber, perturb, perturb_rows
from isonomia.robustness.perturbation.altered_rows import Altering
from isonomia.robustness.perturbation.perturbation_trials import Trials

TASKS = ("binary", "multiclass", "regression")


def people(n: int = 1200, task: str = "binary", seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Two numbers, a whole number and a category; the outcome and a model that knows how it came about."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": rng.normal(size=n),
            "age": rng.integers(18, 80, n),
            "city": rng.choice(["a", "b", "c"], n),
        }
    )
    score = frame["x"] + 0.3 * (frame["city"] == "a") + 0.2 * rng.normal(size=n)
    frame["y"] = {
        "binary": (score > 0.1).astype(int),
        "multiclass": np.digitize(score, [-0.5, 0.6]),
        "regression": score,
    }[task]
    return frame, lambda rows: guess(rows, task)


def guess(rows: Any, task: str) -> Any:
    """Reads x and city, and nothing else."""
    score = np.asarray(rows["x"], dtype=float) + 0.3 * (np.asarray(rows["city"]) == "a")
    if task == "regression":
        return score
    if task == "binary":
        return 1 / (1 + np.exp(-4 * (score - 0.1)))
    table = np.exp(-4 * np.abs(score[:, None] - np.array([-1.0, 0.05, 1.1])))
    return table / table.sum(axis=1, keepdims=True)


def rows_of(result: Any, table: str = "levels") -> list[dict[str, Any]]:
    return list(result.tables[table].rows())


@pytest.mark.parametrize("task", TASKS)
def test_level_zero_changes_nothing(task: str) -> None:
    frame, model = people(task=task)
    data = Dataset(frame, target="y", task=task)
    result = perturb(data, model, levels=[0], perturbers=list(PERTURBERS.ids()))
    for table in ("levels", "metrics"):
        for row in rows_of(result, table):
            assert row["drop"] == row["drop_low"] == row["drop_high"] == 0
            assert row["value"] == pytest.approx(row["base"], rel=1e-12)
    assert not result.findings


@pytest.mark.parametrize("task", TASKS)
def test_the_features_that_the_model_reads_matter_and_no_others(task: str) -> None:
    frame, model = people(task=task)
    result = perturb(Dataset(frame, target="y", task=task), model, levels=[0.3], n_trials=4, tolerance=0.01)
    table = rows_of(result, "features")
    assert table[0]["feature"] == "x"
    assert table[0]["p_adjusted"] < 1e-6
    assert {row["feature"] for row in table} == {"x", "z", "age", "city"}
    for row in table:
        if row["feature"] in ("z", "age"):
            assert row["drop"] == row["change"] == 0
            assert row["p_value"] == 1
    assert result.values["most_important"] == "x"
    assert any("x" in str(f.message) and f.code == "perturb.feature" for f in result.findings)


def test_a_feature_the_estimator_was_not_fitted_on_is_not_even_asked_about() -> None:
    frame, _ = people()
    model = LogisticRegression().fit(frame[["x", "age"]], frame["y"])
    from isonomia.models import Model

    asked = Model.of(model)
    result = perturb(Dataset(frame, target="y"), asked, features=["z", "city"], levels=[0.3], n_trials=2)
    assert asked.n_rows == len(frame), "the data alone"
    assert all(row["drop"] == row["drop_high"] == 0 for row in rows_of(result))


@pytest.mark.parametrize("task", TASKS)
def test_more_noise_costs_more_and_the_direction_is_that_of_the_metric(task: str) -> None:
    frame, model = people(3000, task)
    result = perturb(Dataset(frame, target="y", task=task), model, levels=[0.1, 0.5, 1.0], n_trials=4, by_feature=False)
    noise = [row for row in rows_of(result) if str(row["perturber"]) == "Noise"]
    drops = [row["drop"] for row in noise]
    assert drops == sorted(drops)
    assert drops[0] > 0
    by_name = {str(row["metric"]): row for row in rows_of(result, "metrics") if row["level"] == 1.0}
    falls = {"binary": "Area under the ROC curve", "multiclass": "Accuracy", "regression": "Coefficient of"}[task]
    rises = {"binary": "Log loss", "multiclass": "Log loss", "regression": "Mean absolute error"}[task]
    fallen = next(row for name, row in by_name.items() if name.startswith(falls))
    risen = next(row for name, row in by_name.items() if name.startswith(rises))
    assert fallen["value"] < fallen["base"]
    assert risen["value"] > risen["base"]
    assert fallen["drop"] == pytest.approx(fallen["base"] - fallen["value"])
    assert risen["drop"] == pytest.approx(risen["value"] - risen["base"])
    assert fallen["drop"] > 0
    assert risen["drop"] > 0
    assert noise[-1]["drop_low"] < noise[-1]["drop"] < noise[-1]["drop_high"]


def test_the_same_numbers_as_a_loop_row_by_row() -> None:
    frame, _ = people(50)
    inputs = ["x", "z", "age"]
    model = DecisionTreeClassifier(random_state=0).fit(frame[inputs], frame["y"])
    data = Dataset(frame[[*inputs, "y"]], target="y")
    result = perturb(data, model, levels=[0.2], n_trials=3, perturbers=["raw", "quantile"], metrics=["accuracy", "f1"])
    altering = Altering(data, _wrapped(model), inputs)
    for name in ("raw", "quantile"):
        accuracy, f1, flips = [], [], []
        base = np.array([model.predict(frame[inputs].iloc[[i]])[0] for i in range(len(frame))])
        for trial in range(3):
            rng = Trials.generator(_Seed(), PERTURBERS[name], trial)  # type: ignore[arg-type]
            rows = perturb_rows(PERTURBERS[name], altering.rows, altering.columns, 0.2, rng)
            said = np.array(
                [model.predict(pd.DataFrame([row], columns=inputs).astype({"age": int}))[0] for row in rows]
            )
            accuracy.append(accuracy_score(frame["y"], said))
            f1.append(f1_score(frame["y"], said))
            flips.append((said != base).mean())
        title = str(PERTURBERS[name].title)
        row = next(row for row in rows_of(result) if str(row["perturber"]) == title)
        assert row["value"] == pytest.approx(np.mean(accuracy))
        assert row["std"] == pytest.approx(np.std(accuracy, ddof=1))
        assert row["worst"] == pytest.approx(np.min(accuracy))
        assert row["flips"] == pytest.approx(np.mean(flips))
        other = [row for row in rows_of(result, "metrics") if str(row["perturber"]) == title]
        assert any(row["value"] == pytest.approx(np.mean(f1)) for row in other)


class _Seed:
    seed = 0


def _wrapped(model: Any) -> Any:
    from isonomia.models import Model

    return Model.of(model)


def test_intervals_hold_the_loss_of_the_population() -> None:
    """Rows and trials are drawn anew 50 times: the interval of the loss holds the loss of 60,000 rows."""
    big, model = people(60_000, seed=99)
    options: dict[str, Any] = {"levels": [0.5], "perturbers": "raw", "by_feature": False}
    truth = {
        str(row["metric"]): row["drop"]
        for row in rows_of(perturb(Dataset(big, target="y"), model, n_trials=2, **options), "metrics")
    }
    held: dict[str, list[bool]] = {}
    for seed in range(50):
        frame, _ = people(400, seed=seed)
        result = perturb(Dataset(frame, target="y"), model, n_trials=2, seed=seed, **options)
        for row in rows_of(result, "metrics"):
            if str(row["sample"]) == "rows and trials":
                name = str(row["metric"])
                held.setdefault(name, []).append(row["drop_low"] <= truth[name] <= row["drop_high"])
    assert "Area under the ROC curve" in held
    for name, hits in held.items():
        assert np.mean(hits) > 0.83, (name, np.mean(hits))


def test_the_loss_of_calibration_counts_rows_and_not_trials_alone() -> None:
    frame, model = people(400)
    data = Dataset(frame, target="y", task="binary")
    result = perturb(data, model, levels=[0.3], metrics=["accuracy", "ece"], perturbers="raw", n_trials=8, seed=1)
    found = [row for row in rows_of(result, "metrics") if row["metric"].text() == "Expected calibration error"]
    assert found
    for row in found:
        assert row["sample"].text() == "rows and trials"
        assert row["drop_low"] <= row["drop"] <= row["drop_high"]
        assert row["drop_high"] - row["drop_low"] > 2 * 1.96 * 0.2 / np.sqrt(400)  # of the rows' own spread


def test_weights_count_as_copies_do() -> None:
    frame, model = people(300)
    weight = np.where(np.arange(300) < 100, 3, 1)
    copies = frame.loc[np.repeat(np.arange(300), weight)].reset_index(drop=True)
    options: dict[str, Any] = {
        "levels": [0.5],
        "perturbers": "rounding",
        "by_feature": False,
        "keep_valid": False,
        "metrics": ["accuracy"],
    }
    scale = frame["x"].std(ddof=0) / copies["x"].std(ddof=0)
    weighted = rows_of(perturb(Dataset(frame.assign(w=weight), target="y", weight="w"), model, **options))
    options["levels"] = [0.5 * scale]
    copied = rows_of(perturb(Dataset(copies, target="y"), model, **options))
    for name in ("base", "value", "drop", "flips"):
        assert weighted[0][name] == pytest.approx(copied[0][name]), name


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 100), task=st.sampled_from(TASKS))
def test_permuting_rows_changes_nothing_where_nothing_is_drawn(seed: int, task: str) -> None:
    frame, model = people(200, task, seed)
    mixed = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    options: dict[str, Any] = {"levels": [0.4], "perturbers": "rounding", "by_feature": False}
    one, two = (
        rows_of(perturb(Dataset(f, target="y", task=task), model, **options), "metrics") for f in (frame, mixed)
    )
    for a, b in zip(one, two, strict=True):
        for name in ("value", "drop", "drop_low", "drop_high"):
            assert a[name] == pytest.approx(b[name], abs=1e-7, nan_ok=True), (name, str(a["metric"]))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda c: pl.DataFrame(c).to_arrow()])
def test_every_kind_of_frame_and_every_perturber(make: Any) -> None:
    frame, _ = people(300)
    columns = {name: frame[name].to_numpy() for name in frame}
    columns["ok"] = columns["x"] > 0
    data = Dataset(make(columns), target="y", features=["x", "z", "age", "city", "ok"])

    def model(rows: Any) -> Any:
        x = np.array([0.0 if v is None else v for v in np.asarray(rows["x"]).tolist()], dtype=float)
        return np.nan_to_num(x) > 0.1

    result = perturb(data, model, levels=[0.2], n_trials=2, perturbers=list(PERTURBERS.ids()))
    assert len(rows_of(result)) == len(PERTURBERS)
    assert rows_of(result, "features")[0]["feature"] == "x"
    assert type(result.table).__module__.split(".")[0] == type(data.frame).__module__.split(".")[0]
    assert result.to_dict()["tables"]["levels"]["columns"]


def test_results_do_not_depend_on_how_many_rows_fit_in_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, model = people(200)
    data = Dataset(frame, target="y")
    whole = perturb(data, model, levels=[0.3], n_trials=4)
    monkeypatch.setattr("isonomia.robustness.perturbation.altered_rows.CELLS", 4 * 70)
    parts = perturb(data, model, levels=[0.3], n_trials=4)
    for one, two in zip(rows_of(whole), rows_of(parts), strict=True):
        for name in ("value", "std", "drop", "drop_low", "drop_high", "flips", "change"):
            assert one[name] == pytest.approx(two[name], abs=1e-12), name


# --- perturbers of the user ------------------------------------------------------------------------------------------


def older(frame: Any, level: float, rng: np.random.Generator) -> Any:
    return frame.assign(x=frame["x"] + level * rng.normal(size=len(frame)))


def test_a_function_of_frames_and_one_of_rows_are_as_good_as_those_of_the_registry() -> None:
    frame, model = people()
    data = Dataset(frame, target="y")

    def shifted(values: Any, columns: Columns, level: float, rng: np.random.Generator) -> Any:
        return np.where(columns.numeric, values + level, values)

    own = Perturber("shift", "adds the level", msg("Noise"), ("number",), apply=shifted, random=False, valid=False)
    result = perturb(data, model, levels=[0.4], n_trials=3, perturbers=[older, own, "raw"])
    table = {str(row["perturber"]): row for row in rows_of(result)}
    assert table["older"]["drop"] > 0.02
    assert table["older"]["trials"] == 3
    expected = (guess(frame.assign(x=frame["x"] + 0.4), "binary") >= 0.5) == frame["y"]
    by_id = [row for row in rows_of(result) if row["trials"] == 1]
    assert by_id[0]["value"] == pytest.approx(expected.mean())
    named = perturb(data, model, levels=[0.4], n_trials=3, perturbers={"mine": older}, by_feature=False)
    assert rows_of(named)[0]["value"] != table["older"]["value"], "the name is part of the seed"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda frame, level, rng: frame.iloc[:-1], "rows and columns it was given"),
        (lambda frame, level, rng: frame[["x"]], "rows and columns it was given"),
        (lambda frame, level, rng: frame.assign(x="much"), "keep the kind of values of 'x'"),
        (lambda frame, level, rng: 3, "must return a frame; got int"),
    ],
)
def test_a_function_that_returns_something_else_is_refused(wrong: Any, told: str) -> None:
    frame, model = people(50)
    with pytest.raises(DataError, match=told):
        perturb(Dataset(frame, target="y"), model, perturbers={"mine": wrong})


# --- an adversary ----------------------------------------------------------------------------------------------------


def numbers(n: int = 600) -> tuple[pd.DataFrame, Dataset]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": 3 * rng.normal(size=n), "age": rng.integers(18, 80, n)})
    frame["y"] = (frame["x"] - 0.2 * frame["z"] + 0.01 * frame["age"] > 0.5).astype(int)
    return frame, Dataset(frame, target="y")


def test_along_the_gradient_of_a_linear_model_the_worst_case_is_exact() -> None:
    frame, data = numbers()
    inputs = ["x", "z", "age"]
    model = LogisticRegression(max_iter=1000).fit(frame[inputs], frame["y"])
    result = perturb(data, model, levels=[0.1, 0.3], perturbers="raw", n_trials=1, adversarial=True, by_feature=False)
    table = rows_of(result, "adversarial")
    rows, w = frame[inputs].to_numpy(float), model.coef_[0]
    for row in table:
        assert str(row["way"]) == "gradient"
        reach = row["level"] * rows.std(axis=0)
        low, high = np.maximum(rows - reach, rows.min(axis=0)), np.minimum(rows + reach, rows.max(axis=0))
        low[:, 2], high[:, 2] = np.ceil(low[:, 2]), np.floor(high[:, 2])
        up = np.where(w > 0, high, low) @ w + model.intercept_[0]
        down = np.where(w > 0, low, high) @ w + model.intercept_[0]
        flipped = np.where(model.predict(frame[inputs]) == 1, down <= 0, up > 0)
        assert row["flips"] == pytest.approx(flipped.mean(), abs=2 / len(rows))
        assert row["drop"] >= 0


@pytest.mark.parametrize("kind", ["scores", "decisions"])
def test_by_search_a_known_flip_is_found_within_the_box(kind: str) -> None:
    frame, data = numbers(300)

    def model(rows: Any) -> Any:
        score = rows["x"] - 0.2 * rows["z"]
        return 1 / (1 + np.exp(-score)) if kind == "scores" else np.where(score > 0, "yes", "no")

    data = Dataset(frame.assign(y=np.where(frame["y"] == 1, "yes", "no")), target="y", positive="yes")
    study = _attacked(data, model, 0.3)
    rows = frame[["x", "z", "age"]].to_numpy(float)
    margin = rows[:, 0] - 0.2 * rows[:, 1]
    reach = 0.3 * rows.std(axis=0)
    possible = np.abs(margin) < reach[0] + 0.2 * reach[1]
    assert not study.flipped[~possible].any(), "nothing beyond the box"
    assert study.flipped[possible].mean() > (0.97 if kind == "scores" else 0.8)
    assert (np.abs(study.rows - rows) <= reach + 1e-9).all()
    assert (study.rows <= rows.max(axis=0)).all()
    assert (study.rows >= rows.min(axis=0)).all()
    assert (study.rows[:, 2] == np.rint(study.rows[:, 2])).all()
    assert study.queries <= 60


def _attacked(data: Dataset, model: Any, level: float) -> Any:
    from isonomia.robustness.perturbation.adversary import attack
    from isonomia.robustness.perturbation.trial_metrics import TrialMetrics, choose_metrics
    from isonomia.subject import Subject

    wrapped = _wrapped(model)
    subject = Subject.of(data, wrapped)
    said = subject.surface
    chosen = choose_metrics(None, None, subject.truth, said, None)
    altering = Altering(data, wrapped, ["x", "z", "age"], said)
    measures = TrialMetrics(chosen, subject.truth, None)
    trials = Trials(altering, measures, n_trials=1, level=0.95, seed=0, keep_valid=True)
    return attack(trials, [level], budget=60)[0]


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_an_adversary_that_is_worse_than_noise(task: str) -> None:
    frame, model = people(300, task)
    result = perturb(
        Dataset(frame, target="y", task=task),
        model,
        levels=[0.2, 0.4],
        n_trials=2,
        perturbers="raw",
        adversarial=True,
        budget=20,
        by_feature=False,
    )
    table = rows_of(result, "adversarial")
    assert table[0]["drop"] <= table[1]["drop"]
    noise = rows_of(result)
    assert table[1]["drop"] > noise[1]["drop"]
    assert ("flips" in table[0]) == (task != "regression")


def test_with_categories_alone_one_is_exchanged() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["p", "q"], 200), "b": rng.choice(["r", "s", "t"], 200)})
    frame["y"] = (frame["a"] == "p").astype(int)
    result = perturb(
        Dataset(frame, target="y"),
        lambda rows: (rows["a"] == "p").astype(int),
        levels=[0.1],
        perturbers="swap",
        adversarial=True,
    )
    assert rows_of(result, "adversarial")[0]["flips"] == 1.0
    assert rows_of(result, "features")[0]["feature"] == "a"


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"levels": [-0.1]}, "at least 0, or a list of at least 1 of them; got [-0.1]"),
        ({"levels": []}, "a list of at least 1 of them; got []"),
        ({"levels": [1.5]}, "`levels` of the perturber `swap` must be a number in [0, 1]; got 1.5"),
        ({"n_trials": 0}, "`n_trials` must be a whole number of at least 1; got 0"),
        ({"perturbers": "rawr"}, "Did you mean 'raw'"),
        ({"perturbers": []}, "a list of at least 1, each the name of a perturber"),
        ({"perturbers": {}}, "`perturbers` must name at least one; got {}"),
        ({"perturbers": {"mine": 3}}, "a function of (frame, level, rng)"),
        ({"perturbers": ["raw", "raw"]}, "twice"),
        ({"perturbers": [3]}, "the name of a perturber, or a Perturber, or a function"),
        ({"features": ["agee"]}, "Did you mean 'age'"),
        ({"metric": "acuracy"}, "Did you mean 'accuracy'"),
        ({"metric": "selection_rate"}, "is descriptive"),
        ({"metric": "mae", "metrics": "r2"}, "'r2' is for regression"),
        ({"adversarial": True, "budget": 0}, "`budget`"),
        ({"tolerance": -1}, "`tolerance`"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], told: str) -> None:
    frame, model = people(60)
    with pytest.raises(SpecError, match=re.escape(told)):
        perturb(Dataset(frame, target="y"), model, **options)


def test_predictions_alone_and_rows_without_target_are_told() -> None:
    frame, model = people(60)
    with pytest.raises(NotApplicable, match="needs the model"):
        perturb(Dataset(frame.assign(p=frame["y"]), target="y", prediction="p"), None)
    with pytest.raises(NotApplicable, match="no target"):
        perturb(Dataset(frame.drop(columns="y")), model)


def test_a_model_that_says_nothing_is_an_error_on_the_data_and_a_finding_on_disturbed_rows() -> None:
    frame, _ = people(200)
    data = Dataset(frame[["x", "z", "age", "y"]], target="y")
    with pytest.raises((ModelError, DataError), match="missing or infinite"):
        perturb(data, lambda rows: np.full(len(rows), np.nan))
    model = LogisticRegression(max_iter=1000).fit(frame[["x", "z", "age"]], frame["y"])
    result = perturb(data, model, perturbers=["raw", "missing"], levels=[0.2], n_trials=2)
    told = [finding for finding in result.findings if finding.code == "perturb.failure"]
    assert len(told) == 1
    assert "NaN" in str(told[0].message)
    with pytest.raises(NotApplicable, match="NaN"):
        perturb(data, model, perturbers="missing", levels=[0.2])


def test_constant_and_empty_columns_are_flagged() -> None:
    frame, model = people(200)
    frame = frame.assign(same=1.0, empty=np.nan)
    result = perturb(Dataset(frame, target="y"), model, levels=[0.3], n_trials=2)
    notes = " ".join(str(note) for note in result.notes)
    assert "same" in notes
    assert "empty" in notes
    assert {"same", "empty"}.isdisjoint(row["feature"] for row in rows_of(result, "features"))
    with pytest.raises(NotApplicable, match="no column can be perturbed"):
        perturb(Dataset(frame, target="y"), model, features=["empty"])
    with pytest.raises(NotApplicable, match="no column can be perturbed"):
        perturb(Dataset(frame, target="y"), model, features=["same"], perturbers="raw")


def test_a_perfect_regression_has_no_share_to_lose_and_is_told_all_the_same() -> None:
    x = np.linspace(0, 1, 200)
    frame = pd.DataFrame({"x": x, "y": x})
    data = Dataset(frame, target="y", task="regression")
    result = perturb(data, lambda rows: rows["x"].to_numpy(), levels=[0.2], perturbers="raw", n_trials=2)
    row = rows_of(result)[0]
    assert row["base"] == 0
    assert row["loss"] is None
    assert row["drop"] > 0
    assert result.findings


def test_regression_by_an_estimator_agrees_with_its_formula() -> None:
    frame, _ = people(2000, "regression")
    model = LinearRegression().fit(frame[["x", "z"]], frame["y"])
    data = Dataset(frame[["x", "z", "y"]], target="y", task="regression")
    result = perturb(data, model, levels=[0.4], perturbers="raw", n_trials=20, metric="mse", keep_valid=False)
    noise = 0.16 * (model.coef_**2 * frame[["x", "z"]].var(ddof=0)).sum()
    row = rows_of(result)[0]
    assert row["drop"] == pytest.approx(noise, rel=0.05)
    assert row["drop_low"] <= noise <= row["drop_high"]


def test_auc_is_that_of_scikit_learn() -> None:
    frame, _ = people(400)
    inputs = ["x", "z"]
    model = LogisticRegression().fit(frame[inputs], frame["y"])
    data = Dataset(frame[[*inputs, "y"]], target="y")
    result = perturb(data, model, levels=[0.3], perturbers="raw", n_trials=2, metric="auc", by_feature=False)
    altering = Altering(data, _wrapped(model), inputs)
    values = []
    for trial in range(2):
        rng = Trials.generator(_Seed(), PERTURBERS["raw"], trial)  # type: ignore[arg-type]
        rows = perturb_rows(PERTURBERS["raw"], altering.rows, altering.columns, 0.3, rng)
        values.append(roc_auc_score(frame["y"], model.predict_proba(pd.DataFrame(rows, columns=inputs))[:, 1]))
    assert rows_of(result)[0]["value"] == pytest.approx(np.mean(values))
