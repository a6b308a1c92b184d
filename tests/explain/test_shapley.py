"""Shapley values against their definition, for pipelines, functions, regressions and several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC
from tests.explain.conftest import brute_force

import isonomia as iso
from isonomia.errors import DataError, NotApplicable, SpecError


@pytest.fixture
def pipeline(people: pd.DataFrame) -> Pipeline:
    encode = make_column_transformer((OneHotEncoder(), ["sex", "job"]), (StandardScaler(), ["age", "debts"]))
    return make_pipeline(encode, LogisticRegression()).fit(people.drop(columns="good"), people["good"])


def in_codes(people: pd.DataFrame) -> np.ndarray[Any, Any]:
    """The features as numbers, categories as codes."""
    return people.drop(columns="good").apply(lambda one: pd.factorize(one)[0] if one.dtype == "O" else one).to_numpy()


def from_codes(people: pd.DataFrame, rows: np.ndarray[Any, Any]) -> pd.DataFrame:
    """The features again."""
    features = people.drop(columns="good")
    parts = {
        name: pd.factorize(features[name])[1][rows[:, at].astype(int)] if features[name].dtype == "O" else rows[:, at]
        for at, name in enumerate(features)
    }
    return pd.DataFrame(parts)


@pytest.mark.parametrize("output", ["probability", "log_odds", "decision"])
def test_a_pipeline_equals_the_definition_over_columns_of_the_dataset(
    people: pd.DataFrame, data: iso.Dataset, pipeline: Pipeline, output: Any
) -> None:
    def f(rows: Any) -> Any:
        p = pipeline.predict_proba(from_codes(people, rows))[:, 1]
        return {"probability": p, "log_odds": np.log(p / (1 - p)), "decision": (p >= 0.5) * 1.0}[output]

    codes = in_codes(people)
    found = iso.explain.shapley(data, pipeline, output=output, rows=[0, 7])
    assert found.columns == ("age", "sex", "job", "debts")
    for at, row in enumerate((0, 7)):
        np.testing.assert_allclose(found.values[at], brute_force(f, codes[row], codes), atol=1e-12)
    assert found.additivity is not None
    assert found.additivity < 1e-12
    assert found.error is None


def test_methods_agree_and_a_function_equals_its_pipeline(data: iso.Dataset, pipeline: Pipeline) -> None:
    quick = iso.explain.shapley(data, pipeline, output="log_odds")
    slow = iso.explain.shapley(data, pipeline, output="log_odds", method="enumeration")
    assert (quick.method, slow.method) == ("linear", "enumeration")
    np.testing.assert_allclose(quick.values, slow.values, atol=1e-10)
    assert quick.model_rows < 500

    def function(frame: pd.DataFrame) -> Any:
        return pipeline.predict_proba(frame)[:, 1]

    np.testing.assert_allclose(
        iso.explain.shapley(data, function).values, iso.explain.shapley(data, pipeline).values, atol=1e-12
    )


def test_encoded_columns_add_up_to_their_column(data: iso.Dataset, pipeline: Pipeline) -> None:
    whole = iso.explain.shapley(data, pipeline, output="log_odds")
    single = iso.explain.shapley(data, pipeline, output="log_odds", by="encoded")
    assert len(single.columns) == 7
    jobs = [at for at, name in enumerate(single.columns) if "job" in name]
    np.testing.assert_allclose(single.values[:, jobs].sum(axis=1), whole.values[:, 2], atol=1e-12)


def test_steps_that_mix_columns_are_asked_through_the_dataset(people: pd.DataFrame) -> None:
    frame = people[["age", "debts", "good"]]
    data = iso.Dataset(frame, target="good")
    model = make_pipeline(PolynomialFeatures(2), LogisticRegression()).fit(frame[["age", "debts"]], frame["good"])
    found = iso.explain.shapley(data, model, rows=[3])
    rows = frame[["age", "debts"]].to_numpy()

    def f(rows: Any) -> Any:
        return model.predict_proba(pd.DataFrame(rows, columns=["age", "debts"]))[:, 1]

    np.testing.assert_allclose(found.values[0], brute_force(f, rows[3], rows), atol=1e-12)


def test_several_classes_and_a_chosen_one(people: pd.DataFrame) -> None:
    data = iso.Dataset(people, target="job", features=["age", "debts"])
    X = people[["age", "debts"]].to_numpy()
    model = iso.Model.of(LogisticRegression().fit(X, people["job"]), features=["age", "debts"])
    whole = iso.explain.shapley(data, model)
    assert whole.values.shape == (60, 2, 3)
    assert whole.classes == ("a", "b", "c")
    np.testing.assert_allclose(whole.values.sum(axis=2), 0, atol=1e-12)  # probabilities sum to 1
    one = iso.explain.shapley(data, model, label="b")
    np.testing.assert_allclose(one.values, whole.values[:, :, 1], atol=1e-13)
    odds = iso.explain.shapley(data, model, output="log_odds")
    every = iso.explain.shapley(data, model, output="log_odds", method="enumeration")
    assert odds.method == "linear"
    np.testing.assert_allclose(odds.values, every.values, atol=1e-10)
    assert {"row", "class", "base", "prediction", "age", "debts"} == set(whole.to_frame().columns)


def test_two_classes_mirror_each_other(data: iso.Dataset, pipeline: Pipeline) -> None:
    positive = iso.explain.shapley(data, pipeline)
    negative = iso.explain.shapley(data, pipeline, label=0)
    np.testing.assert_allclose(negative.values, -positive.values, atol=1e-12)


def test_a_regression_is_explained_as_its_number(people: pd.DataFrame) -> None:
    data = iso.Dataset(people, target="age", features=["debts", "good"])
    X = people[["debts", "good"]].to_numpy(dtype=float)
    model = LinearRegression().fit(X, people["age"])
    found = iso.explain.shapley(data, iso.Model.of(model, features=["debts", "good"]))
    assert (found.output, found.method) == ("number", "linear")
    np.testing.assert_allclose(found.values, model.coef_ * (X - X.mean(axis=0)), atol=1e-12)


def test_weighted_background_and_other_group(people: pd.DataFrame, pipeline: Pipeline) -> None:
    weighted = people.assign(w=np.arange(1.0, 61))
    data = iso.Dataset(weighted, target="good", weight="w", protected=["sex"])
    codes = in_codes(people)

    def f(rows: Any) -> Any:
        return pipeline.predict_proba(from_codes(people, rows))[:, 1]

    found = iso.explain.shapley(data, pipeline, rows=[5])
    np.testing.assert_allclose(found.values[0], brute_force(f, codes[5], codes, weighted["w"].to_numpy()), atol=1e-12)
    other = iso.explain.shapley(data, pipeline, rows=[5, 1], background="other_group")
    back = (people["sex"] != people["sex"][5]).to_numpy()
    expected = brute_force(f, codes[5], codes[back], weighted["w"].to_numpy()[back])
    np.testing.assert_allclose(other.values[0], expected, atol=1e-12)


def test_other_frames_give_the_same(people: pd.DataFrame, pipeline: Pipeline) -> None:
    import polars as pl
    import pyarrow as pa

    def function(frame: Any) -> Any:
        return pipeline.predict_proba(frame if isinstance(frame, pd.DataFrame) else frame.to_pandas())[:, 1]

    ours = iso.explain.shapley(people, function, target="good")
    for frame in (pl.from_pandas(people), pa.Table.from_pandas(people)):
        theirs = iso.explain.shapley(frame, function, target="good")
        np.testing.assert_allclose(ours.values, theirs.values, atol=1e-12)
        assert isinstance(theirs.table, type(frame))
        theirs = iso.explain.shapley(frame, pipeline, target="good", background=frame)
        np.testing.assert_allclose(ours.values, theirs.values, atol=1e-12)
    assert isinstance(ours.to_frame(), pd.DataFrame)


def test_a_matrix_and_missing_numbers(people: pd.DataFrame) -> None:
    """Missing numbers are mixed like any other value."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    x = people[["age", "debts"]].to_numpy(dtype=float)
    x[::7, 0] = np.nan
    model = HistGradientBoostingClassifier(max_iter=20).fit(x, people["good"])
    data = iso.Dataset({"age": x[:, 0], "debts": x[:, 1], "y": people["good"].to_numpy()}, target="y")
    wrapped = iso.Model.of(model, features=["age", "debts"])
    found = iso.explain.shapley(data, wrapped, method="enumeration", rows=[0, 1])
    expected = brute_force(lambda rows: model.predict_proba(rows)[:, 1], x[0], x)
    np.testing.assert_allclose(found.values[0], expected, atol=1e-12)


def test_k_means_background_is_snapped_to_seen_values(people: pd.DataFrame, data: iso.Dataset) -> None:
    X = people[["age", "debts"]].to_numpy(dtype=float)
    model = iso.Model.of(LogisticRegression().fit(X, people["good"]), features=["age", "debts"])
    found = iso.explain.shapley(data, model, clusters=5, output="log_odds")
    assert found.notes[0].text().startswith("The background consists of 5 k-means centres")
    assert found.notes[0].text("pt-BR").startswith("A base de comparação é formada por 5 centroides")
    assert found.additivity is not None
    assert found.additivity < 1e-12


def test_importance_is_the_mean_size_with_students_interval(data: iso.Dataset, pipeline: Pipeline) -> None:
    found = iso.explain.shapley(data, pipeline)
    table = found.table.set_index("column")
    size = np.abs(found.values[:, 1])
    half = 2.0009953780882688 * size.std(ddof=1) / np.sqrt(60)  # scipy.stats.t(59).ppf(0.975)
    assert table.loc["sex", "importance"] == pytest.approx(size.mean())
    assert table.loc["sex", "importance_high"] == pytest.approx(size.mean() + half)
    assert found.result.tables["importance"] is found.importance


def test_bad_input(people: pd.DataFrame, data: iso.Dataset, pipeline: Pipeline) -> None:
    hard = make_pipeline(pipeline[:-1], SVC()).fit(people.drop(columns="good"), people["good"])
    with pytest.raises(
        NotApplicable, match="gives no probabilities; explain it with output='decision' or output='score'"
    ):
        iso.explain.shapley(data, hard)
    assert iso.explain.shapley(data, hard, output="score", rows=[0]).additivity == pytest.approx(0, abs=1e-12)
    with pytest.raises(SpecError, match="Did you mean 'sex'"):
        iso.explain.shapley(data, pipeline, columns=["sexx"])
    with pytest.raises(SpecError, match="`background` must be"):
        iso.explain.shapley(data, pipeline, background="train")
    with pytest.raises(SpecError, match="`rows` must be a number of rows, positions"):
        iso.explain.shapley(data, pipeline, rows=[60])
    with pytest.raises(SpecError, match=r"needs [\d,]+ model rows; `max_model_rows` allows 100"):
        iso.explain.shapley(data, pipeline, method="enumeration", max_model_rows=100)
    with pytest.raises(NotApplicable, match="'linear' does not apply: it explains output='log_odds'"):
        iso.explain.shapley(data, pipeline, method="linear")
    with pytest.raises(NotApplicable, match="not only its predictions"):
        iso.explain.shapley(data, people["good"])
    with pytest.raises(DataError, match="lacks the columns"):
        iso.explain.shapley(data, pipeline, background=people[["age"]])
    with pytest.raises(SpecError, match="`label` must be one of the classes"):
        iso.explain.shapley(data, pipeline, label="maybe")
    with pytest.raises(SpecError, match="has no option 'trees'"):
        iso.explain.shapley(data, pipeline, method="enumeration", options={"trees": 3})


def test_a_linear_margin_is_exact(people: pd.DataFrame, data: iso.Dataset) -> None:
    encode = make_column_transformer((OneHotEncoder(), ["sex", "job"]), (StandardScaler(), ["age", "debts"]))
    model = make_pipeline(encode, LinearSVC()).fit(people.drop(columns="good"), people["good"])
    found = iso.explain.shapley(data, model, output="score")
    assert found.method == "linear"
    assert found.additivity is not None
    assert found.additivity < 1e-12


def test_progress_and_cancellation(data: iso.Dataset, pipeline: Pipeline) -> None:
    paths = []
    iso.explain.shapley(data, pipeline, progress=lambda event: paths.append(event.path))
    assert ("coalitions",) in paths
    progress = iso.Progress(lambda event: progress.cancel() if event.path == ("coalitions",) else None)
    with pytest.raises(iso.Cancelled):
        iso.explain.shapley(data, pipeline, progress=progress)


def test_a_number_of_rows_is_a_sample() -> None:
    """As `isonomia explain --rows 20`: so many people, the same for one seed."""
    rng = np.random.default_rng(0)
    data = iso.Dataset({"a": rng.normal(size=60), "y": rng.integers(0, 2, 60)}, target="y")
    model = iso.Model.of(lambda frame: 1 / (1 + np.exp(-np.asarray(frame["a"]))), classes=(0, 1), output="probability")
    some = iso.explain.shapley(data, model, rows=20, seed=3)
    assert len(some.rows) == len(set(some.rows.tolist())) == 20
    assert some.rows.tolist() == iso.explain.shapley(data, model, rows=20, seed=3).rows.tolist()
    assert some.rows.tolist() != iso.explain.shapley(data, model, rows=20, seed=4).rows.tolist()
    assert len(iso.explain.shapley(data, model, rows=1000).rows) == 60
    for wrong in (0, -3, True, 2.5):
        with pytest.raises(SpecError, match="`rows` must be a number of rows"):
            iso.explain.shapley(data, model, rows=wrong)
