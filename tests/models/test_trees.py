"""Trees as arrays: routing through them gives the model's own raw predictions, leaf by leaf and to the last bit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from isonomia import NotApplicable
from isonomia.models import TreeEnsemble, read_trees

pandas = pytest.importorskip("pandas")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

RNG = np.random.default_rng(0)
#: Half the values lie on a coarse grid, so that thresholds fall on values of rows.
X = np.where(RNG.random((500, 4)) < 0.5, RNG.integers(-4, 5, (500, 4)) / 2, RNG.normal(0, 1.2, (500, 4)))
POINTS = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + RNG.normal(0, 0.3, 500)
TWO, THREE, NUMBER = (POINTS > 0).astype(int), np.digitize(POINTS, [-1, 1]), np.exp(POINTS / 3)

LIGHT: dict[str, Any] = {"n_estimators": 7, "num_leaves": 8, "verbose": -1, "random_state": 0, "n_jobs": 1}
EXTREME: dict[str, Any] = {"n_estimators": 7, "max_depth": 3, "random_state": 0, "n_jobs": 1}
HISTOGRAM: dict[str, Any] = {"max_iter": 7, "max_leaf_nodes": 8, "random_state": 0}
CLASSIFIERS: dict[str, Any] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: RandomForestClassifier(7, max_depth=5, random_state=0),
    "extra": lambda: ExtraTreesClassifier(7, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=7, random_state=0),
    "histogram": lambda: HistGradientBoostingClassifier(**HISTOGRAM),
    "lightgbm": lambda: lightgbm.LGBMClassifier(**LIGHT),
    "lightgbm forest": lambda: lightgbm.LGBMClassifier(boosting_type="rf", subsample=0.7, subsample_freq=1, **LIGHT),
    "xgboost": lambda: xgboost.XGBClassifier(**EXTREME),
    "xgboost forest": lambda: xgboost.XGBClassifier(num_parallel_tree=3, **EXTREME),
}
TWO_CLASSES: dict[str, Any] = {
    "exponential": lambda: GradientBoostingClassifier(loss="exponential", n_estimators=7, random_state=0),
    "from zero": lambda: GradientBoostingClassifier(init="zero", n_estimators=7, random_state=0),
    "lightgbm sigmoid": lambda: lightgbm.LGBMClassifier(sigmoid=0.7, **LIGHT),
}
REGRESSORS: dict[str, Any] = {
    "tree": lambda: DecisionTreeRegressor(max_depth=6, random_state=0),
    "forest": lambda: RandomForestRegressor(7, max_depth=5, random_state=0),
    "extra": lambda: ExtraTreesRegressor(7, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=7, random_state=0),
    "histogram": lambda: HistGradientBoostingRegressor(**HISTOGRAM),
    "histogram poisson": lambda: HistGradientBoostingRegressor(loss="poisson", **HISTOGRAM),
    "lightgbm": lambda: lightgbm.LGBMRegressor(**LIGHT),
    "lightgbm poisson": lambda: lightgbm.LGBMRegressor(objective="poisson", **LIGHT),
    "xgboost": lambda: xgboost.XGBRegressor(**EXTREME),
    "xgboost poisson": lambda: xgboost.XGBRegressor(objective="count:poisson", **EXTREME),
}


def raw_of(model: Any, table: Any) -> np.ndarray:
    """The model's own raw scores, one column or one per class."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        library = type(model).__module__.split(".")[0]
        if library == "xgboost":
            raw = model.predict(table, output_margin=True)
        elif library == "lightgbm":
            raw = model.predict(table, raw_score=True)
            if model.get_params()["boosting_type"] == "rf":
                raw = raw / model.n_estimators  # predictions are means, "raw" scores sums
        elif hasattr(model, "decision_function"):
            raw = model.decision_function(table)
        elif "HistGradient" in type(model).__name__:
            raw = model._raw_predict(table)  # without the link of a Poisson regression
        elif hasattr(model, "predict_proba"):
            raw = model.predict_proba(table)
            raw = raw[:, 1] if raw.shape[1] == 2 else raw
        else:
            raw = model.predict(table)
    return np.asarray(raw, dtype=float).reshape(len(table), -1)


def predicted_by(model: Any, table: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        said = np.asarray(model.predict_proba(table) if hasattr(model, "predict_proba") else model.predict(table))
    return said[:, 1:] if said.ndim == 2 and said.shape[1] == 2 else said.reshape(len(table), -1)


def around_thresholds(trees: TreeEnsemble, rows: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
    """Rows set exactly at thresholds, and at the next numbers (of a precision) on both sides."""
    inner = np.flatnonzero((trees.feature >= 0) & (trees.category_set < 0))
    at = trees.threshold[inner].astype(dtype)
    parts = [rows]
    for value in (at, np.nextafter(at, dtype(-np.inf)), np.nextafter(at, dtype(np.inf))):
        some = rows[RNG.integers(len(rows), size=len(inner))].copy()
        some[np.arange(len(inner)), trees.feature[inner]] = value
        parts.append(some)
    return np.concatenate(parts)


def agrees(model: Any, rows: np.ndarray, trees: TreeEnsemble | None = None) -> None:
    trees = read_trees(model) if trees is None else trees
    assert np.array_equal(trees.raw(trees.encode(rows)), raw_of(model, rows))
    assert np.allclose(trees.predict(trees.encode(rows)), predicted_by(model, rows), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["32 bits", "64 bits"])
@pytest.mark.parametrize("kind", [*CLASSIFIERS, *TWO_CLASSES])
def test_two_classes_also_at_thresholds(kind: str, dtype: Any) -> None:
    model = {**CLASSIFIERS, **TWO_CLASSES}[kind]().fit(X, TWO)
    trees = read_trees(model)
    assert trees.value.shape[1] == 1
    agrees(model, around_thresholds(trees, X, dtype), trees)


@pytest.mark.parametrize("kind", sorted(CLASSIFIERS))
def test_several_classes(kind: str) -> None:
    model = CLASSIFIERS[kind]().fit(X, THREE)
    trees = read_trees(model)
    assert trees.value.shape[1] == 3
    agrees(model, around_thresholds(trees, X), trees)


@pytest.mark.parametrize("kind", sorted(REGRESSORS))
def test_numbers(kind: str) -> None:
    model = REGRESSORS[kind]().fit(X, NUMBER)
    trees = read_trees(model)
    assert not trees.classifier
    agrees(model, around_thresholds(trees, X), trees)


@pytest.mark.parametrize("seen", [True, False], ids=["seen in training", "new"])
@pytest.mark.parametrize("kind", ["tree", "forest", "histogram", "lightgbm", "xgboost"])
def test_missing_numbers(kind: str, seen: bool) -> None:
    holes = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    model = CLASSIFIERS[kind]().fit(holes if seen else X, TWO)
    agrees(model, holes)


def test_zero_as_missing() -> None:
    sparse = np.where(RNG.random(X.shape) < 0.4, 0.0, X)
    model = lightgbm.LGBMClassifier(zero_as_missing=True, **LIGHT).fit(sparse, TWO)
    trees = read_trees(model)
    assert trees.zero_missing.any()
    agrees(model, np.concatenate([sparse, np.where(RNG.random(X.shape) < 0.2, np.nan, sparse)]), trees)


def test_a_number_that_means_missing() -> None:
    marked = np.where(RNG.random(X.shape) < 0.2, -999.0, X)
    model = xgboost.XGBClassifier(missing=-999.0, **EXTREME).fit(marked, TWO)
    agrees(model, marked)


JOBS = ["clerk", "cook", "judge", "nurse", "smith", "pilot"]


def with_jobs(seed: int, *, holes: bool) -> Any:
    rng = np.random.default_rng(seed)
    job = rng.integers(-1 if holes else 0, len(JOBS), 600)
    return pandas.DataFrame(
        {
            "pay": rng.normal(0, 1, 600),
            "job": pandas.Categorical.from_codes(job, JOBS),
            "age": rng.integers(18, 60, 600),
        }
    )


@pytest.mark.parametrize("holes", [False, True], ids=["complete", "missing categories"])
@pytest.mark.parametrize("kind", ["histogram", "lightgbm", "xgboost"])
def test_categories(kind: str, holes: bool) -> None:
    frame = with_jobs(1, holes=holes)
    y = (frame["pay"] + np.isin(frame["job"].cat.codes, [1, 3, 4]) + 0.2 * RNG.normal(0, 1, 600) > 0.5).astype(int)
    model = CLASSIFIERS[kind]()
    if kind == "histogram":
        model.set_params(categorical_features="from_dtype")
    elif kind == "lightgbm":
        model.set_params(min_data_per_group=2, cat_smooth=1.0, max_cat_to_onehot=2)
    else:
        model.set_params(enable_categorical=True, max_cat_to_onehot=2)
    model.fit(frame, y)
    trees = read_trees(model)
    assert (trees.category_set >= 0).any()
    assert np.diff(trees.category_offsets).max() > 1  # a set, not one category alone
    fresh = with_jobs(2, holes=True)
    assert np.array_equal(trees.raw(trees.encode(fresh)), raw_of(model, fresh))
    source = np.arange(3) if trees.source is None else trees.source
    assert source[trees.feature[trees.category_set >= 0]].tolist() == [1] * int((trees.category_set >= 0).sum())


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting", "histogram", "lightgbm", "xgboost"])
def test_the_cover_of_a_node_is_that_of_its_children(kind: str) -> None:
    trees = read_trees(CLASSIFIERS[kind]().fit(X, TWO))
    inner = trees.feature >= 0
    both = trees.cover[trees.left[inner]] + trees.cover[trees.right[inner]]
    assert np.allclose(trees.cover[inner], both, rtol=1e-5)
    if kind in ("tree", "boosting", "histogram", "lightgbm"):
        assert (trees.cover[trees.roots] == len(X)).all()


def test_leaves_are_those_that_scikit_learn_names() -> None:
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, TWO)
    trees = read_trees(model)
    assert np.array_equal(trees.leaves(X) - trees.roots, model.apply(X))


def test_early_stopping_counts_the_best_rounds() -> None:
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=3, learning_rate=0.5, n_jobs=1)
    model.fit(X[:300], TWO[:300], eval_set=[(X[300:], TWO[300:])], verbose=False)
    trees = read_trees(model)
    assert len(trees.roots) == model.best_iteration + 1 < 60
    agrees(model, X, trees)


def test_models_without_readable_trees_are_named() -> None:
    regression = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2).fit(X, TWO)
    cases = {
        "LogisticRegression": LogisticRegression().fit(X, TWO),
        "MultiOutputRegressor": MultiOutputRegressor(DecisionTreeRegressor()).fit(X, X[:, :2]),
        "predicts 2 outcomes": DecisionTreeRegressor(max_depth=2).fit(X, X[:, :2]),
        "starts from another model": regression,
        "linear leaves": lightgbm.LGBMRegressor(linear_tree=True, **LIGHT).fit(X, NUMBER),
        "gblinear": xgboost.XGBRegressor(booster="gblinear", n_jobs=1).fit(X, NUMBER),
        "several outcomes": xgboost.XGBRegressor(**EXTREME).fit(X, X[:, :2]),
        "objective 'cross_entropy'": lightgbm.LGBMRegressor(objective="cross_entropy", **LIGHT).fit(X, TWO),
    }
    for word, model in cases.items():
        with pytest.raises(NotApplicable, match=word):
            read_trees(model)
