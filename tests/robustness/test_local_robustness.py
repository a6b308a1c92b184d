"""Local robustness: planted rows, exact distances, a row-by-row loop, groups, every task, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from isonomia import Dataset, NotApplicable, SpecError
from isonomia.models import Model
from isonomia.robustness import PERTURBERS, local_robustness, perturb_rows
from isonomia.robustness.perturbation.altered_rows import Altering

TASKS = ("binary", "multiclass", "regression")


def cloud(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Rows well away from x = 0 on both sides, and other columns."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": rng.choice([-1, 1], n) * rng.uniform(0.6, 3, n),
            "z": rng.normal(size=n),
            "age": rng.integers(18, 80, n),
            "city": rng.choice(["a", "b", "c"], n),
        }
    )


def step(frame: Any) -> Any:
    return (np.asarray(frame["x"], dtype=float) > 0).astype(int)


def told(task: str) -> dict[str, Any]:
    """What a function has to be told beside."""
    return {"task": task} if task == "regression" else {"classes": [0, 1] if task == "binary" else [0, 1, 2]}


def fragile(result: Any) -> list[dict[str, Any]]:
    return list(result.tables["fragile"].rows())


def test_a_row_placed_beside_the_boundary_is_the_most_fragile() -> None:
    frame = cloud()
    frame.loc[137, "x"] = 0.01
    result = local_robustness(Dataset(frame), step, n_iterations=30)
    first = fragile(result)[0]
    assert first["row"] == 137
    assert first["score"] == pytest.approx(0.5, abs=0.3)
    assert first["distance"] == pytest.approx(0.01 / frame["x"].std(ddof=0), rel=0.01)
    assert first["changes"].startswith("x: 0.01 → ")
    assert ";" not in first["changes"], "nothing but x flips it"
    assert (first["prediction"], first["then"]) == ("1", "0")
    assert (result.scores[np.arange(300) != 137] > first["score"]).all()
    assert (np.delete(result.distance, 137) > 0.6 / frame["x"].std(ddof=0) - 1e-6).all()


def test_distances_are_those_of_a_threshold_on_one_number() -> None:
    frame = cloud()
    result = local_robustness(Dataset(frame), step)
    np.testing.assert_allclose(result.distance, frame["x"].abs() / frame["x"].std(ddof=0), rtol=0.01)
    flips = list(result.tables["flips"].rows())
    assert flips[0]["feature"] == "x"
    assert flips[0]["share"] == 1.0
    assert all(row["share"] == 0 for row in flips[1:])


def test_distances_of_a_linear_model_are_exact() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"u": rng.normal(size=400), "v": 5 * rng.normal(size=400)})
    label = (frame["u"] + 0.3 * frame["v"] + 0.2 * rng.normal(size=400) > 0).astype(int)
    model = LogisticRegression().fit(frame, label)
    result = local_robustness(Dataset(frame), model)
    slope = model.coef_[0] * frame.std(ddof=0).to_numpy()
    exact = np.abs(frame.to_numpy() @ model.coef_[0] + model.intercept_[0]) / np.linalg.norm(slope)
    inside = (exact < 1) & (frame.abs() < 0.8 * frame.abs().max()).all(axis=1)
    np.testing.assert_allclose(result.distance[inside], exact[inside], rtol=0.02)
    assert (result.distance >= exact * (1 - 1e-6)).all(), "never nearer than the boundary"


def test_every_flip_told_of_is_one_and_is_valid() -> None:
    frame = cloud(200)
    label = ((frame["x"] > 0) ^ (frame["city"] == "b") ^ (frame["age"] > 60)).astype(int)
    coded = frame.assign(city=frame["city"].map({"a": 0, "b": 1, "c": 2}))
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(coded, label)

    def model(rows: Any) -> Any:
        return tree.predict(rows.assign(city=rows["city"].map({"a": 0, "b": 1, "c": 2})))

    from isonomia.robustness.perturbation.nearest_flip import Judge, Search

    data = Dataset(frame)
    altering = Altering(data, Model.of(model, task="binary", classes=[0, 1]), list(frame.columns))
    found = Search(altering, Judge(altering.predicted), budget=40, seed=0).run()
    assert np.isfinite(found.distance).all()
    assert found.queries <= 40
    after = altering.ask(found.rows, np.arange(200))
    assert after.label is not None
    assert altering.predicted.label is not None
    assert (after.label != altering.predicted.label).all()
    assert (found.rows[:, 2] == np.rint(found.rows[:, 2])).all()
    for place, feature in enumerate(altering.columns.features):
        assert (found.rows[:, place] >= feature.low).all()
        assert (found.rows[:, place] <= feature.high).all()
    moved = (found.rows - altering.rows)[:, :3] / altering.columns.spread[:3]
    expected = np.sqrt((moved**2).sum(axis=1) + (found.rows[:, 3] != altering.rows[:, 3]))
    np.testing.assert_allclose(found.distance, expected)


@pytest.mark.parametrize("task", TASKS)
def test_the_same_scores_as_a_loop_row_by_row(task: str) -> None:
    frame = cloud(40)
    data = Dataset(frame)

    def model(rows: Any) -> Any:
        x = np.asarray(rows["x"], dtype=float) + 0.5 * (np.asarray(rows["city"]) == "a")
        if task == "regression":
            return x
        table = np.exp(-np.abs(x[:, None] - np.array([-1.5, 0, 1.5])[: 2 + (task == "multiclass")]))
        return table / table.sum(axis=1, keepdims=True)

    options: dict[str, Any] = {"regression": {"task": "regression"}}.get(
        task, {"classes": [0, 1, 2][: 2 + (task == "multiclass")]}
    )
    wrapped = Model.of(model, **options)
    result = local_robustness(data, wrapped, strength=0.4, n_iterations=6, seed=5, nearest=False)
    altering = Altering(data, wrapped, list(frame.columns))
    levels = [list(feature.levels) for feature in altering.columns.features]
    base = model(frame)
    tolerance = 0.1 * base.std()
    same = np.zeros(40)
    for copy in range(6):
        rng = np.random.default_rng([5, 3, copy])
        rows = altering.rows
        for name in ("raw", "swap"):
            rows = perturb_rows(PERTURBERS[name], rows, altering.columns, 0.4, rng)
        for i, row in enumerate(rows):
            one = pd.DataFrame([{"x": row[0], "z": row[1], "age": int(row[2]), "city": levels[3][int(row[3])]}])
            said = model(one)[0]
            stays = abs(said - base[i]) <= tolerance if task == "regression" else said.argmax() == base[i].argmax()
            same[i] += stays
    np.testing.assert_allclose(result.scores, same / 6)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_and_every_kind_of_frame(task: str) -> None:
    frame = cloud(120)
    for make in (lambda f: f, pl.from_pandas, lambda f: pl.from_pandas(f).to_arrow()):
        data = Dataset(make(frame), protected=["city"])

        def model(rows: Any) -> Any:
            x = np.asarray(rows["x"], dtype=float)
            if task == "regression":
                return 3 * x
            if task == "binary":
                return 1 / (1 + np.exp(-3 * x))
            table = np.exp(-np.abs(x[:, None] - np.array([-1.5, 0, 1.5])))
            return table / table.sum(axis=1, keepdims=True)

        wrapped = Model.of(model, **told(task))
        result = local_robustness(data, wrapped, strength=0.3)
        assert result.scores.shape == result.distance.shape == (120,)
        assert ((result.scores >= 0) & (result.scores <= 1)).all()
        assert np.isfinite(result.distance).all()
        assert next(iter(result.tables["flips"].rows()))["feature"] == "x"
        assert {row["group"] for row in result.tables["groups"].rows()} == {"a", "b", "c"}
        assert result.to_dict()["tables"]["fragile"]["columns"]
        assert len(result.table) == 20


def test_a_regression_counts_moves_beyond_the_tolerance() -> None:
    frame = cloud(200)
    data = Dataset(frame[["x", "z"]])
    model = Model.of(lambda rows: 2 * rows["x"].to_numpy(), task="regression")
    result = local_robustness(data, model, tolerance=0.5, features=["x"], keep_valid=False, n_iterations=50)
    noise = 2 * 0.1 * frame["x"].std(ddof=0)
    from scipy import stats

    expected = 1 - 2 * stats.norm.sf(0.5 / noise)
    assert result.scores.mean() == pytest.approx(expected, abs=0.01)
    assert result.deviation.mean() == pytest.approx(noise * np.sqrt(2 / np.pi) / 0.5, rel=0.03)
    reachable = np.abs(frame["x"]) < frame["x"].abs().max() - 0.3
    np.testing.assert_allclose(result.distance[reachable], 0.25 / frame["x"].std(ddof=0), rtol=0.02)


# --- groups ----------------------------------------------------------------------------------------------------------


def grouped(n: int, near: float, seed: int = 0) -> Dataset:
    """Group b's rows lie nearer to the boundary than group a's."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n, p=[0.6, 0.4])
    x = rng.choice([-1, 1], n) * rng.uniform(0.02, 2, n) * np.where(group == "b", near, 1.0)
    return Dataset(pd.DataFrame({"x": x, "g": group}), protected=["g"], privileged={"g": "a"}, features=["x"])


def test_a_group_decided_near_the_boundary_is_found_more_fragile() -> None:
    result = local_robustness(grouped(2000, 0.2), step, nearest=False)
    rows = {row["group"]: row for row in result.tables["groups"].rows()}
    assert rows["b"]["reference"] == "a"
    assert rows["a"]["gap"] is None
    assert rows["b"]["gap"] > 0.05
    assert rows["b"]["gap_low"] > 0
    assert rows["b"]["p_adjusted"] < 1e-6
    own = np.asarray(grouped(2000, 0.2).column("g").to_list()) == "b"
    assert rows["b"]["flips"] == pytest.approx((1 - result.scores)[own].mean())
    found = [finding for finding in result.findings if finding.code == "local_robustness.group"]
    assert [(dict(finding.who), finding.severity) for finding in found] == [({"g": "b"}, "warning")]
    turned = local_robustness(grouped(2000, 0.2).with_roles(privileged={"g": "b"}), step, nearest=False)
    found = [finding for finding in turned.findings if finding.code == "local_robustness.group"]
    assert [(dict(finding.who), finding.severity) for finding in found] == [({"g": "a"}, "notice")]
    assert found[0].estimate.value == pytest.approx(-rows["b"]["gap"])


def test_the_distribution_counts_every_share_once() -> None:
    result = local_robustness(Dataset(cloud(400)), step, strength=1.0, nearest=False)
    shown = np.array([row["share"] for row in result.tables["distribution"].rows()]) * 400
    copies = np.rint(result.scores * 10).astype(int)
    np.testing.assert_allclose(shown, [*np.bincount(copies, minlength=11)[:9], (copies >= 9).sum()])


def test_groups_alike_are_seldom_told_apart() -> None:
    found = [
        any(
            f.code == "local_robustness.group"
            for f in local_robustness(grouped(300, 1.0, seed), step, nearest=False, seed=seed, n_iterations=3).findings
        )
        for seed in range(60)
    ]
    assert np.mean(found) < 0.12


def test_weights_count_as_copies_do_for_groups() -> None:
    frame = pd.DataFrame({"x": np.linspace(-1, 1, 200), "g": ["a", "b"] * 100, "w": np.tile([1, 1, 3, 3], 50)})
    result = local_robustness(Dataset(frame, protected=["g"], weight="w", features=["x"]), step, nearest=False)
    rows = {row["group"]: row for row in result.tables["groups"].rows()}
    own = frame["g"] == "b"
    assert rows["b"]["flips"] == pytest.approx(np.average((1 - result.scores)[own], weights=frame["w"][own]))
    mean = result.values["mean_score"].value
    assert mean == pytest.approx(np.average(result.scores, weights=frame["w"]))


# --- laws and limits -------------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 50), strength=st.floats(0.01, 0.9))
def test_more_disturbance_never_makes_the_average_decision_firmer(seed: int, strength: float) -> None:
    data = Dataset(cloud(150, seed)[["x"]])
    weak, strong = (
        local_robustness(data, step, strength=s, nearest=False, seed=seed).scores.mean() for s in (strength, 1.0)
    )
    assert strong <= weak + 0.02
    still = local_robustness(data, step, strength=0.0, nearest=False)
    assert (still.scores == 1).all()
    assert (still.deviation == 0).all()


def test_results_do_not_depend_on_how_many_rows_fit_in_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset(cloud(100))
    whole = local_robustness(data, step, strength=0.5)
    monkeypatch.setattr("isonomia.robustness.perturbation.altered_rows.CELLS", 4 * 130)
    parts = local_robustness(data, step, strength=0.5)
    np.testing.assert_array_equal(whole.scores, parts.scores)
    np.testing.assert_allclose(whole.distance, parts.distance)


def test_a_function_of_frames_disturbs_too() -> None:
    def flipped(frame: Any, level: float, rng: np.random.Generator) -> Any:
        return frame.assign(x=-frame["x"])

    result = local_robustness(Dataset(cloud(50)), step, perturbers=flipped)
    assert (result.scores == 0).all()
    assert np.isfinite(result.distance).all()
    with pytest.raises(SpecError, match="cannot be combined"):
        local_robustness(Dataset(cloud(50)), step, perturbers=[flipped, "raw"])


def test_a_model_that_always_says_the_same_has_no_flip_to_find() -> None:
    result = local_robustness(Dataset(cloud(50)), Model.of(lambda rows: np.zeros(len(rows), int), classes=[0, 1]))
    assert np.isnan(result.distance).all()
    assert (result.scores == 1).all()
    assert any("No flip was found for 50 rows" in str(note) for note in result.notes)
    assert "flips" not in result.tables
    assert not result.findings


def test_missing_values_stay_missing() -> None:
    frame = cloud(100)
    frame.loc[::4, "z"] = np.nan

    def model(rows: Any) -> Any:
        assert np.isnan(rows["z"]).mean() > 0.1 or len(rows) < 60
        return step(rows)

    result = local_robustness(Dataset(frame), model)
    assert np.isfinite(result.distance).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_iterations": 0}, "`n_iterations`"),
        ({"strength": -0.1}, "at least 0; got -0.1"),
        ({"budget": 0}, "`budget`"),
        ({"perturbers": "swop"}, "Did you mean 'swap'"),
        ({"features": ["zz"]}, "`features` must name columns"),
        ({"tolerance": -1}, "`tolerance`"),
        ({"fragile": -1}, "`fragile`"),
        ({"most_rows": 0}, "`most_rows`"),
        ({"level": 2}, "`level`"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        local_robustness(Dataset(cloud(50)), step, **options)


def test_what_cannot_be_disturbed_or_asked_is_told() -> None:
    with pytest.raises(NotApplicable, match="needs the model"):
        local_robustness(Dataset(cloud(50)), None)
    with pytest.raises(NotApplicable, match="no column can be perturbed"):
        local_robustness(Dataset({"x": np.ones(20)}), step)
    assert local_robustness(cloud(50), step, n_iterations=2, nearest=False).scores.shape == (50,)  # a plain frame
    with pytest.raises(Exception, match="missing or infinite"):
        local_robustness(Dataset(cloud(50)), lambda rows: np.full(len(rows), np.nan))
