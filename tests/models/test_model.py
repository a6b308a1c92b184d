"""Anything that predicts gives the same surface as its own predict, whatever the frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import isonomia as iso
from isonomia import Dataset, Model, ModelError
from isonomia.models import Surface
from isonomia.parameters import parameters_of

NUMBERS = ["age", "income"]
FEATURES = ["sex", "age", "income", "job"]


def pipeline(last: Any) -> Any:
    return make_pipeline(make_column_transformer((OneHotEncoder(), ["sex", "job"]), (StandardScaler(), NUMBERS)), last)


def decided(surface: Surface) -> list[Any]:
    assert surface.label is not None
    return [surface.classes[code] for code in surface.label]


def loans(frame: Any, positive: str = "granted") -> Dataset:
    return Dataset(frame, target="loan", positive=positive, protected=["sex"])


@pytest.mark.parametrize("positive", ["granted", "refused"])
@pytest.mark.parametrize(
    "last",
    [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0), SGDClassifier(random_state=0), SVC()],
    ids=lambda last: type(last).__name__,
)
def test_surface_agrees_with_predict(people, as_frame, last, positive):
    estimator = pipeline(last).fit(people[FEATURES], people["loan"])
    surface = Model.of(estimator).surface(loans(as_frame(people), positive))
    assert surface.classes[1] == positive
    assert set(surface.classes) == {"granted", "refused"}
    assert decided(surface) == estimator.predict(people[FEATURES]).tolist()
    column = list(estimator.classes_).index(positive)
    if hasattr(estimator, "predict_proba"):
        np.testing.assert_array_equal(surface.probability, estimator.predict_proba(people[FEATURES])[:, column])
    else:
        sign = 1 if column == 1 else -1
        np.testing.assert_array_equal(surface.score, sign * estimator.decision_function(people[FEATURES]))


@pytest.mark.parametrize("positive", ["granted", "refused"])
def test_ties_are_decided_as_the_model_does(people, positive):
    # depth 1 on shuffled copies makes probabilities of exactly 0.5
    rows = pd.DataFrame({"age": [1, 1, 2, 2]})
    target = ["granted", "refused", "granted", "refused"]
    estimator = DecisionTreeClassifier().fit(rows, target)
    data = Dataset(rows.assign(loan=target), target="loan", positive=positive)
    assert (estimator.predict_proba(rows) == 0.5).all()
    assert decided(Model.of(estimator).surface(data)) == estimator.predict(rows).tolist()
    assert decided(Model.of(estimator, threshold=0.5).surface(data)) == [positive] * 4


@pytest.mark.filterwarnings("ignore:The `probability` parameter was deprecated:FutureWarning")
@pytest.mark.parametrize(
    "last",
    [
        SVC(probability=True, random_state=0),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
    ],
    ids=lambda last: type(last).__name__,
)
def test_models_that_decide_themselves(people, last):
    estimator = pipeline(last).fit(people[FEATURES], people["loan"])
    surface = Model.of(estimator).surface(loans(people))
    assert decided(surface) == estimator.predict(people[FEATURES]).tolist()


def test_a_threshold_of_ones_own(people):
    estimator = pipeline(LogisticRegression()).fit(people[FEATURES], people["loan"])
    surface = Model.of(estimator, threshold=0.8).surface(loans(people))
    assert surface.threshold == 0.8
    np.testing.assert_array_equal(surface.label, estimator.predict_proba(people[FEATURES])[:, 0] >= 0.8)


def test_several_classes(people, as_frame):
    estimator = pipeline(RandomForestClassifier(5, random_state=0)).fit(people[FEATURES], people["band"])
    data = Dataset(as_frame(people), target="band", features=FEATURES)
    surface = Model.of(estimator).surface(data)
    assert (surface.task, surface.classes) == ("multiclass", ("low", "mid", "top"))
    np.testing.assert_array_equal(surface.probability, estimator.predict_proba(people[FEATURES]))
    assert decided(surface) == estimator.predict(people[FEATURES]).tolist()


def test_several_classes_without_probabilities(people):
    estimator = pipeline(SGDClassifier(random_state=0)).fit(people[FEATURES], people["band"])
    surface = Model.of(estimator).surface(Dataset(people, target="band"))
    assert surface.kinds == ("label",)
    assert decided(surface) == estimator.predict(people[FEATURES]).tolist()


def test_regression(people, as_frame):
    estimator = pipeline(LinearRegression()).fit(people[FEATURES], people["limit"])
    surface = Model.of(estimator).surface(Dataset(as_frame(people), target="limit", features=FEATURES))
    assert (surface.task, surface.kinds) == ("regression", ("continuous",))
    np.testing.assert_allclose(surface.continuous, estimator.predict(people[FEATURES]), rtol=1e-12)


def test_calibration_is_noted(people):
    plain = pipeline(LogisticRegression()).fit(people[FEATURES], people["loan"])
    calibrated = pipeline(CalibratedClassifierCV(LogisticRegression(), cv=2)).fit(people[FEATURES], people["loan"])
    assert Model.of(plain).surface(loans(people)).calibrated is None
    assert Model.of(calibrated).surface(loans(people)).calibrated is True


def test_reordered_and_additional_columns_do_not_matter(people):
    estimator = LogisticRegression().fit(people[NUMBERS], people["loan"])
    straight = Model.of(estimator).surface(loans(people))
    turned = people[["loan", "job", "income", "sex", "age"]].assign(extra=1.0)
    np.testing.assert_array_equal(Model.of(estimator).surface(loans(turned)).probability, straight.probability)


def test_missing_columns_are_listed_with_close_matches(people):
    estimator = LogisticRegression().fit(people[NUMBERS], people["loan"])
    renamed = people.rename(columns={"income": "incomes"})
    with pytest.raises(
        ModelError, match=r"Missing: 'income'\..*unknown to the model: .*'incomes'.*is close to 'incomes'"
    ):
        Model.of(estimator).surface(loans(renamed))
    with pytest.raises(ModelError, match="Missing: 'income'"):
        Model.of(estimator).predict_frame(renamed)


def test_a_model_trained_on_the_target_is_refused(people):
    estimator = LinearRegression().fit(people[["age", "limit"]], people["income"])
    with pytest.raises(ModelError, match="trained on the answer"):
        Model.of(estimator).surface(Dataset(people, target="limit"))


def test_an_estimator_fitted_on_a_matrix(people, as_frame):
    estimator = LogisticRegression().fit(people[NUMBERS].to_numpy(), people["loan"])
    data = Dataset(as_frame(people), target="loan", positive="granted", features=NUMBERS)
    surface = Model.of(estimator).surface(data)
    np.testing.assert_allclose(surface.probability, estimator.predict_proba(people[NUMBERS].to_numpy())[:, 0])
    with pytest.raises(ModelError, match="trained on 2 unnamed columns, but the data has 6"):
        Model.of(estimator).surface(Dataset(people, target="loan", positive="granted"))
    assert Model.of(estimator, features=NUMBERS).surface(loans(people)).label is not None


def test_codes_behind_class_names(people):
    codes = (people["loan"] == "granted").astype(int)
    estimator = pipeline(LogisticRegression()).fit(people[FEATURES], codes)
    with pytest.raises(ModelError, match=r"target contains 'granted', 'refused'; the classes .* are 0, 1.*classes="):
        Model.of(estimator).surface(loans(people))
    surface = Model.of(estimator, classes=["refused", "granted"]).surface(loans(people))
    np.testing.assert_array_equal(surface.probability, estimator.predict_proba(people[FEATURES])[:, 1])
    sgd = pipeline(SGDClassifier(random_state=0)).fit(people[FEATURES], codes)
    only = Model.of(sgd, classes=["refused", "granted"], output="label").surface(loans(people))
    np.testing.assert_array_equal(only.label, sgd.predict(people[FEATURES]))
    with pytest.raises(ModelError, match="`classes` names 3 classes"):
        Model.of(estimator, classes=["a", "b", "c"]).surface(loans(people))


def test_clocks(people):
    model = Model.of(pipeline(LogisticRegression()).fit(people[FEATURES], people["loan"]))
    model.surface(loans(people))
    model.predict_frame(people.head(10))
    assert (model.n_calls, model.n_rows) == (2, len(people) + 10)
    assert model.seconds > 0
    model.reset_clocks()
    assert (model.n_calls, model.n_rows, model.seconds) == (0, 0, 0.0)


def test_altered_rows(people):
    estimator = pipeline(LogisticRegression()).fit(people[FEATURES], people["loan"])
    other = people.assign(sex=np.where(people["sex"] == "F", "M", "F")).head(7)
    surface = Model.of(estimator).surface(loans(people), frame=other)
    np.testing.assert_array_equal(surface.probability, estimator.predict_proba(other[FEATURES])[:, 0])


def test_a_matrix_of_rows(people):
    estimator = LogisticRegression().fit(people[NUMBERS], people["loan"])
    matrix = people[NUMBERS].to_numpy(dtype=float)
    np.testing.assert_allclose(Model.of(estimator).predict_frame(matrix), estimator.predict_proba(people[NUMBERS]))
    with pytest.raises(ModelError, match="takes rows of 2 columns"):
        Model.of(estimator).predict_frame(matrix[:, :1])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": [1.0, np.nan], "b": pd.array([True, None], dtype="bool[pyarrow]")}),
        pl.DataFrame({"a": [1, None], "b": [True, None]}),
        pa.table({"a": [1, None], "b": [True, None]}),
    ],
    ids=["nullable", "arrow", "polars", "pyarrow"],
)
def test_missing_numbers_reach_a_matrix_as_nan(frame):
    seen: list[Any] = []
    model = Model.of(lambda rows: seen.append(rows) or np.zeros(len(rows)), frame="numpy")
    model.predict_frame(frame)
    np.testing.assert_array_equal(seen[0], [[1.0, 1.0], [np.nan, np.nan]])


def test_altered_rows_without_a_column(people):
    model = Model.of(lambda rows: np.zeros(len(rows)))
    with pytest.raises(ModelError, match="Missing: 'age'"):
        model.surface(loans(people), frame=people.drop(columns="age"))


# functions ---------------------------------------------------------------------------------------------------------


def test_functions_are_told_apart(people):
    data = loans(people)
    chance = np.linspace(0, 1, len(people))
    probability = Model.of(lambda rows: chance).surface(data)
    assert probability.kinds == ("label", "probability")
    labels = Model.of(lambda rows: np.where(chance > 0.3, "granted", "refused")).surface(data)
    assert labels.kinds == ("label",)
    np.testing.assert_array_equal(labels.label, chance > 0.3)
    score = Model.of(lambda rows: 300 + 500 * chance).surface(data)
    assert score.kinds == ("score",)  # nobody said where to cut
    cut = Model.of(lambda rows: 300 + 500 * chance, threshold=600).surface(data)
    np.testing.assert_array_equal(cut.label, 300 + 500 * chance >= 600)
    both = Model.of(lambda rows: np.column_stack([chance, 1 - chance])).surface(data)  # granted, refused
    np.testing.assert_allclose(both.probability, chance)
    numbers = Model.of(lambda rows: chance).surface(Dataset(people, target="limit"))
    assert numbers.kinds == ("continuous",)
    said = Model.of(lambda rows: chance, output="score").surface(data)
    assert said.kinds == ("score",)


def test_functions_get_the_frame_the_user_gave(people, as_frame):
    frame = as_frame(people)
    seen: list[Any] = []

    def model(rows: Any) -> Any:
        seen.append(type(rows))
        return np.zeros(len(rows))

    Model.of(model, output="probability").surface(loans(frame))
    assert seen == [type(frame)]
    Model.of(model, output="probability", frame="polars").surface(loans(frame))
    assert seen[-1] is pl.DataFrame


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda rows: np.zeros(3), r"asked about 240 rows and returned an array of shape \(3,\)"),
        (lambda rows: 0.5, "returned one float"),
        (lambda rows: None, "returned nothing"),
        (lambda rows: np.zeros((240, 2, 2)), r"shape \(240, 2, 2\)"),
        (lambda rows: np.full(240, np.nan), "missing or infinite"),
        (lambda rows: np.full((240, 2), 0.9), "must sum to 1"),
        (lambda rows: np.full((240, 3), 1 / 3), "3 columns of probabilities, but the data shows 2 classes"),
        (lambda rows: ["maybe"] * 240, "must be among 'refused', 'granted'; got 'maybe'"),
        (lambda rows: rows["no such column"], "failed on 240 rows: KeyError"),
        (lambda rows: [[1], [1, 2]], "not an array"),
    ],
)
def test_bad_answers(people, returned, message):
    with pytest.raises(ModelError, match=message):
        Model.of(returned).surface(loans(people))


def test_a_class_that_the_target_never_has_must_be_named():
    data = Dataset({"x": [1, 2, 3, 4], "y": ["k", "l", "k", "l"]}, target="y", task="multiclass")
    with pytest.raises(ModelError, match=r"predicts 'm', and the target is never that .* Name all classes"):
        Model.of(lambda rows: ["k", "m", "l", "k"]).surface(data)
    named = Model.of(lambda rows: ["k", "m", "l", "k"], classes=["k", "l", "m"]).surface(data)
    assert [named.classes[code] for code in named.label] == ["k", "m", "l", "k"]


def test_probabilities_out_of_bounds(people):
    with pytest.raises(ModelError, match=r"must lie in \[0, 1\]"):
        Model.of(lambda rows: np.full(len(rows), 1.2), output="probability").surface(loans(people))


def test_tasks_that_do_not_go_together(people):
    regressor = LinearRegression().fit(people[NUMBERS], people["limit"])
    with pytest.raises(ModelError, match="made for regression, but the target 'loan' is read as binary"):
        Model.of(regressor).surface(loans(people))
    scores = Model.of(regressor, output="score", threshold=35).surface(loans(people))
    np.testing.assert_array_equal(scores.label, regressor.predict(people[NUMBERS]) >= 35)
    classifier = LogisticRegression().fit(people[NUMBERS], people["band"])
    two = Dataset(people[people["band"] != "mid"], target="band", positive="top")
    with pytest.raises(ModelError, match="has 3 classes"):
        Model.of(classifier).surface(two)


def test_what_is_no_model():
    with pytest.raises(ModelError, match="got the class LogisticRegression, not an instance"):
        Model.of(LogisticRegression)
    with pytest.raises(ModelError, match="got int"):
        Model.of(3)
    with pytest.raises(iso.SpecError, match="`output` must be one of"):
        Model.of(len, output="labels")


def test_an_estimator_that_is_not_fitted(people):
    with pytest.raises(ModelError, match="NotFittedError"):
        Model.of(LogisticRegression()).surface(loans(people))


@settings(max_examples=30, deadline=None)
@given(
    names=st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=5, unique_by=lambda name: name.strip()),
    data=st.data(),
)
def test_class_order_is_a_matter_of_names_only(names, data):
    """Whatever order a model keeps its classes in, each probability stays with its class."""
    order = data.draw(st.permutations(names))
    rng = np.random.default_rng(len(names))
    table = rng.dirichlet(np.ones(len(names)), size=20)
    target = [names[place] for place in rng.integers(0, len(names), 20 - len(names))] + list(names)
    positive = data.draw(st.sampled_from(names)) if len(names) == 2 else None
    dataset = Dataset({"y": target, "x": np.arange(20)}, target="y", positive=positive)
    surface = Model.of(lambda rows: table, classes=order, output="probability").surface(dataset)
    if len(names) == 2:
        assert surface.classes[1] == positive
        np.testing.assert_array_equal(surface.probability, table[:, order.index(positive)])
    else:
        assert surface.classes == tuple(sorted(names))
        for place, name in enumerate(surface.classes):
            np.testing.assert_array_equal(surface.probability[:, place], table[:, order.index(name)])
    assert decided(surface) == [order[place] for place in table.argmax(axis=1)]


def test_a_model_gives_back_what_it_wraps() -> None:
    def decide(frame: Any) -> Any:
        return np.zeros(len(frame))

    model = Model.of(decide, output="label")
    assert model.estimator is decide
    assert Model.of(model, name="again").estimator is decide


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outptu": "label"}, "`Model.of` has no option 'outptu'. Did you mean 'output'"),
        ({"output": "labl"}, "`output` must be one of label, .* got 'labl'. Did you mean 'label'"),
        ({"features": 3}, "`features` must be the name of a column, or a list of them"),
        ({"threshold": "x"}, "`threshold` must be a finite number"),
        ({"frame": "spark"}, "`frame` must be one of native, pandas"),
        ({"classes": "ab"}, "`classes` must be a list of at least 1"),
        ({"name": 3}, "`name` must be a text"),
    ],
)
def test_options_are_declared(options: Any, message: str) -> None:
    with pytest.raises(iso.SpecError, match=message):
        Model.of(lambda frame: np.zeros(len(frame)), **options)
    with pytest.raises(iso.SpecError, match=message.replace("Model.of", "load_model")):
        iso.load_model("model.skops", **options)


def test_options_are_listed() -> None:
    known = {one.name: one for one in parameters_of(Model.of)}
    assert list(known) == ["features", "task", "classes", "positive", "threshold", "output", "frame", "name"]
    assert all(one.help for one in known.values())
    assert known["output"].schema()["anyOf"][0] == {"enum": ["label", "probability", "score", "continuous"]}
