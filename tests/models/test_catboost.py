"""CatBoost models, live and from their own files, with categories, on every task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomia import Dataset, Model, ModelError, NotApplicable, load_model
from isonomia.models import read_trees

catboost = pytest.importorskip("catboost")

FEATURES = ["sex", "age", "income", "job"]
CATEGORIES = ["sex", "job"]


def fitted(kind: str, people: pd.DataFrame, target: str, **options: Any) -> Any:
    settings = {"iterations": 8, "verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}
    model = getattr(catboost, kind)(**settings, **{"cat_features": CATEGORIES, **options})
    return model.fit(people[FEATURES], people[target])


def both(model: Any, tmp_path: Any, **options: Any) -> list[Model]:
    """The live model and the one from its file."""
    model.save_model(str(tmp_path / "model.cbm"))
    return [Model.of(model, **options), load_model(tmp_path / "model.cbm", **options)]


def test_two_classes_with_categories(people, tmp_path, as_frame):
    original = fitted("CatBoostClassifier", people, "loan")
    shuffled = as_frame(people[["loan", "job", "income", "age", "sex"]])
    data = Dataset(shuffled, target="loan", positive="granted", protected=["sex"])
    for model in both(original, tmp_path):
        surface = model.surface(data)
        assert surface.classes == ("refused", "granted")
        place = list(original.classes_).index("granted")
        np.testing.assert_allclose(surface.probability, original.predict_proba(people[FEATURES])[:, place], atol=1e-12)
        assert [surface.classes[code] for code in surface.label] == original.predict(people[FEATURES]).tolist()
        assert model.features == tuple(FEATURES)
        assert model.n_calls == 1
        assert not model.trusted
    assert model.format == "catboost"


@pytest.mark.parametrize("loss", ["MultiClass", "MultiClassOneVsAll"])
def test_several_classes(people, tmp_path, loss):
    original = fitted("CatBoostClassifier", people, "band", loss_function=loss)
    for model in both(original, tmp_path):
        surface = model.surface(Dataset(people, target="band", features=FEATURES))
        assert surface.classes == ("low", "mid", "top")
        decided = [surface.classes[code] for code in surface.label]
        assert decided == original.predict(people[FEATURES]).ravel().tolist()
        if loss == "MultiClass":
            np.testing.assert_allclose(surface.probability, original.predict_proba(people[FEATURES]), atol=1e-12)
        else:
            assert surface.probability is None  # one-vs-all values do not sum to 1


@pytest.mark.parametrize("loss", ["RMSE", "MAE", "Poisson", "Tweedie:variance_power=1.5", "RMSEWithUncertainty"])
def test_numbers(people, tmp_path, loss):
    people = people.assign(limit=people["limit"].abs())
    original = fitted("CatBoostRegressor", people, "limit", loss_function=loss)
    expected = original.predict(people[FEATURES])
    expected = expected[:, 0] if expected.ndim == 2 else expected
    for model in both(original, tmp_path):
        surface = model.surface(Dataset(people, target="limit", features=FEATURES))
        np.testing.assert_allclose(surface.continuous, expected, atol=1e-12)


def test_a_threshold_saved_in_the_model_decides(people, tmp_path):
    original = fitted("CatBoostClassifier", people, "loan")
    original.set_probability_threshold(0.8)
    data = Dataset(people, target="loan", positive="granted", features=FEATURES)
    plain = (original.predict_proba(people[FEATURES])[:, 1] > 0.5).sum()
    for model in both(original, tmp_path):
        decided = [model.surface(data).classes[code] for code in model.surface(data).label]
        assert decided == original.predict(people[FEATURES]).tolist()
        assert decided.count(original.classes_[1]) < plain


def test_scores_and_decisions_on_request(people, tmp_path):
    original = fitted("CatBoostClassifier", people, "loan")
    data = Dataset(people, target="loan", positive=original.classes_[1], features=FEATURES)
    for model in both(original, tmp_path, output="score"):
        raw = original.predict(people[FEATURES], prediction_type="RawFormulaVal")
        np.testing.assert_allclose(model.surface(data).score, raw, atol=1e-12)
    for model in both(original, tmp_path, output="label"):
        assert model.surface(data).kinds == ("label",)


def test_a_model_of_a_matrix_and_categories_that_are_numbers(people, tmp_path):
    frame = people.assign(job=pd.factorize(people["job"])[0])[["age", "job", "income"]]
    original = catboost.CatBoostClassifier(
        iterations=5, verbose=0, allow_writing_files=False, cat_features=[1], thread_count=1
    ).fit(frame.to_numpy(dtype=object), people["loan"])
    as_floats = frame.assign(job=frame["job"].astype(float), loan=people["loan"])
    for model in both(original, tmp_path):
        assert model.features is None
        data = Dataset(as_floats, target="loan", positive="granted", kinds={"job": "numeric"})
        place = list(original.classes_).index("granted")
        expected = original.predict_proba(frame.to_numpy(dtype=object))[:, place]
        np.testing.assert_allclose(model.surface(data).probability, expected, atol=1e-12)


def test_scores_of_a_ranking_are_no_numbers_to_predict(people):
    model = catboost.CatBoostRanker(iterations=3, verbose=0, allow_writing_files=False, loss_function="YetiRank")
    model.fit(people[["age", "income"]], (people["loan"] == "granted").astype(int), group_id=np.arange(240) // 20)
    data = Dataset(people, target="loan", positive="granted", features=["age", "income"])
    surface = Model.of(model, threshold=0.0).surface(data)
    assert surface.kinds == ("label", "score")


def test_what_catboost_cannot_answer(people):
    original = fitted("CatBoostClassifier", people, "loan")
    holes = people.assign(job=people["job"].where(people.index > 2))
    with pytest.raises(ModelError, match="'job' as a category, but 3 of its values are missing"):
        Model.of(original).surface(Dataset(holes, target="loan", positive="granted"))
    with pytest.raises(ModelError, match="'job' as a category, but it contains numbers with decimals"):
        Model.of(original).surface(Dataset(people.assign(job=0.5), target="loan", positive="granted"))
    with pytest.raises(ModelError, match="takes numbers, but 'age' contains texts"):
        Model.of(original).surface(Dataset(people.assign(age="old"), target="loan", positive="granted"))
    with pytest.raises(ModelError, match="not fitted"):
        Model.of(catboost.CatBoostClassifier())
    several = fitted("CatBoostRegressor", people, "limit", loss_function="MultiQuantile:alpha=0.1,0.9")
    with pytest.raises(ModelError, match="several numbers per row"):
        Model.of(several)


@pytest.mark.parametrize("cut", [4, 8, 100, 5000, -300, -10, -1])
def test_a_damaged_file(people, tmp_path, cut):
    fitted("CatBoostClassifier", people, "loan").save_model(str(tmp_path / "whole.cbm"))
    (tmp_path / "cut.cbm").write_bytes((tmp_path / "whole.cbm").read_bytes()[:cut])
    with pytest.raises(ModelError, match=r"'cut.cbm' is not a readable CatBoost model"):
        load_model(tmp_path / "cut.cbm")


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("task", ["two", "three", "number"])
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_trees_as_arrays_give_the_raw_scores_also_at_borders(policy, task, nan_mode):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((400, 4)) < 0.1, np.nan, rng.integers(-4, 5, (400, 4)) / 2)
    points = np.nansum(rows[:, :3], axis=1) + rng.normal(0, 0.3, 400)
    target = {"two": points > 0, "three": np.digitize(points, [-1, 1]), "number": points}[task]
    options = {"iterations": 6, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    kind = catboost.CatBoostRegressor if task == "number" else catboost.CatBoostClassifier
    model = kind(grow_policy=policy, nan_mode=nan_mode, random_seed=0, **options).fit(rows, target)
    trees = read_trees(model)
    inner = np.flatnonzero(trees.feature >= 0)
    borders = rows[rng.integers(400, size=len(inner))].copy()
    borders[np.arange(len(inner)), trees.feature[inner]] = trees.threshold[inner].astype(np.float32)
    asked = np.concatenate([rows, borders])
    raw = np.asarray(model.predict(asked, prediction_type="RawFormulaVal")).reshape(len(asked), -1)
    np.testing.assert_allclose(trees.raw(trees.encode(asked)), raw, rtol=0, atol=1e-12)
    assert trees.classifier == (task != "number")
    roots = trees.cover[trees.roots]
    leaves = np.add.reduceat(np.where(trees.feature < 0, trees.cover, 0.0), trees.roots)
    np.testing.assert_allclose(roots, leaves)


def crowd(n: int = 500) -> tuple[pd.DataFrame, Any]:
    """Numbers, a category with two values (tested one by one), two with many (the model keeps numbers for them)."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "job": rng.choice(list("abcdefg"), n),
            "age": rng.normal(size=n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice([f"t{at}" for at in range(25)], n),
            "late": rng.integers(0, 5, n),
        }
    )
    points = frame["age"] + 2 * (frame["job"] == "b") + (frame["sex"] == "m") + 2 * frame["town"].isin(["t1", "t2"])
    return frame, points + 2 * (frame["job"] == "c") * (frame["sex"] == "m") + rng.normal(size=n)


def of_categories(task: str = "two", **options: Any) -> tuple[Any, pd.DataFrame]:
    frame, points = crowd()
    kind = catboost.CatBoostRegressor if task == "number" else catboost.CatBoostClassifier
    settings = {"iterations": 12, "depth": 4, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = kind(cat_features=["job", "sex", "town"], random_seed=0, **settings, **options)
    target = {"number": points, "two": points > 1, "three": np.digitize(points, [0.5, 1.5])}[task]
    return model.fit(frame, target), frame


@pytest.mark.parametrize("task", ["two", "three", "number"])
@pytest.mark.parametrize("one_hot", [2, 10])
def test_trees_over_categories_route_as_the_model_does(task: str, one_hot: int) -> None:
    model, frame = of_categories(task, max_ctr_complexity=1, one_hot_max_size=one_hot)
    trees = read_trees(model)
    assert trees.source is not None
    tested = set(trees.source[trees.feature[trees.feature >= 0]].tolist())
    assert {0, 2, 3} & tested  # categories are among what is tested
    others = frame.assign(job="never seen", town=frame["town"].to_numpy()[::-1])
    for asked in (frame, others):
        raw = np.asarray(model.predict(asked, prediction_type="RawFormulaVal")).reshape(len(asked), -1)
        np.testing.assert_allclose(trees.raw(trees.encode(asked)), raw, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(trees.encode(asked), trees.encode(asked.to_numpy(dtype=object)))


def test_categories_alone_and_trees_that_are_not_symmetric() -> None:
    """Models that test combinations of columns are refused too: tests/explain/test_tree_explainers.py."""
    frame, points = crowd()
    only = catboost.CatBoostClassifier(cat_features=[0], iterations=3, verbose=0, allow_writing_files=False)
    only.fit(frame[["job"]], points > 1)
    trees = read_trees(only)
    raw = only.predict(frame[["job"]], prediction_type="RawFormulaVal")
    np.testing.assert_allclose(trees.raw(trees.encode(frame[["job"]]))[:, 0], raw, rtol=0, atol=1e-12)
    with pytest.raises(NotApplicable, match="not symmetric"):
        read_trees(of_categories(grow_policy="Depthwise")[0])
