"""Exact answers of every family that can be read, against asking about everyone in a small world."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
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
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from isonomia.discovery import find_pairs
from isonomia.probing import Domain

pandas = pytest.importorskip("pandas")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

JOBS, TOWNS = ["clerk", "cook", "judge", "nurse", "smith"], ["Ake", "Bo", "Cul", "Dun"]
FEATURES: dict[str, Any] = {"job": JOBS, "age": (18, 24), "sex": ["F", "M"], "town": TOWNS, "debt": (-2, 3)}
WORLD = Domain(FEATURES, backend="pandas")
EVERYONE = np.array(
    list(itertools.product(*(np.arange(low, high + 1) for low, high in zip(WORLD.low, WORLD.high, strict=True))))
)
SEX = WORLD.index("sex")
TEXTS, NUMBERS = ["job", "sex", "town"], ["age", "debt"]
LEVELS = [FEATURES[name] for name in TEXTS]


def one_hot() -> Any:
    """One-hot categories, scaled numbers."""
    return make_column_transformer(
        (OneHotEncoder(categories=LEVELS, sparse_output=False), TEXTS), (StandardScaler(), NUMBERS)
    )


def sparse() -> Any:
    """One-hot categories in a sparse matrix, other columns passed through."""
    return make_column_transformer(
        (OneHotEncoder(categories=LEVELS, drop="first"), TEXTS), remainder="passthrough", sparse_threshold=1.0
    )


def ordinal() -> Any:
    """Categories as numbers, numbers imputed and scaled."""
    return make_column_transformer(
        (OrdinalEncoder(categories=LEVELS), TEXTS), remainder=make_pipeline(SimpleImputer(), MinMaxScaler((-1, 2)))
    )


#: Binned models leave out bins with few people otherwise.
LIGHT: dict[str, Any] = {
    "n_estimators": 6,
    "num_leaves": 6,
    "min_child_samples": 3,
    "verbose": -1,
    "random_state": 0,
    "n_jobs": 1,
}
EXTREME: dict[str, Any] = {"n_estimators": 6, "max_depth": 3, "random_state": 0, "n_jobs": 1}
BINNED: dict[str, Any] = {"max_iter": 6, "max_leaf_nodes": 6, "min_samples_leaf": 3, "random_state": 0}

CLASSIFIERS: dict[str, Any] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: RandomForestClassifier(6, max_depth=5, random_state=0),
    "extra": lambda: ExtraTreesClassifier(6, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=6, random_state=0),
    "exponential": lambda: GradientBoostingClassifier(loss="exponential", n_estimators=6, random_state=0),
    "binned": lambda: HistGradientBoostingClassifier(**BINNED),
    "lightgbm": lambda: lightgbm.LGBMClassifier(**LIGHT),
    "xgboost": lambda: xgboost.XGBClassifier(**EXTREME),
    "logistic": LogisticRegression,
}
SEVERAL = ("tree", "forest", "boosting", "binned", "lightgbm", "xgboost")
REGRESSORS: dict[str, Any] = {
    "tree": lambda: DecisionTreeRegressor(max_depth=6, random_state=0),
    "forest": lambda: RandomForestRegressor(5, max_depth=5, random_state=0),
    "extra": lambda: ExtraTreesRegressor(5, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=6, random_state=0),
    "binned": lambda: HistGradientBoostingRegressor(**BINNED),
    "counts": lambda: HistGradientBoostingRegressor(loss="poisson", **BINNED),
    "lightgbm": lambda: lightgbm.LGBMRegressor(**LIGHT),
    "xgboost": lambda: xgboost.XGBRegressor(**EXTREME),
    "line": LinearRegression,
}
ENCODERS = {"one_hot": one_hot, "sparse": sparse, "ordinal": ordinal}


def outcome(seed: int, rows: Any, *, ignore_sex: bool = False) -> Any:
    """Points that depend on everything, on sex in some places."""
    rng = np.random.default_rng(seed)
    by_job, by_town = rng.normal(0, 1.5, len(JOBS)), rng.normal(0, 1, len(TOWNS))
    job, age, sex, town, debt = rows.T
    points = by_job[job.astype(int)] + by_town[town.astype(int)] + (age - 21) * rng.normal(0, 0.5) - 0.4 * debt
    points += rng.normal(0, 0.7, len(rows))
    return points if ignore_sex else points + 2 * sex * (np.isin(job, rng.integers(0, 5, 2)) | (town == 2))


def learn(
    kind: str, encoder: str, seed: int, *, classes: int = 2, number: bool = False, ignore_sex: bool = False
) -> Any:
    """A pipeline fitted to people drawn at random (with everyone's categories among them)."""
    rows = np.concatenate([WORLD.sample(300, np.random.default_rng(seed)), EVERYONE[:: len(EVERYONE) // 60]])
    points = outcome(seed, rows, ignore_sex=ignore_sex)
    if ignore_sex:
        rows[:, SEX] = 0.0  # there is nothing to split on
    frame = WORLD.decode(rows)
    y = np.exp(points / 4) if number else np.digitize(points, np.quantile(points, np.linspace(0, 1, classes + 1)[1:-1]))
    if encoder == "sparse" and kind in ("binned", "counts"):
        encoder = "one_hot"  # it takes no sparse matrix
    maker = (REGRESSORS if number else CLASSIFIERS)[kind]
    if encoder == "own":
        return own_categories(kind, maker, number).fit(categorical(frame), y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM names the columns of a matrix and then misses the names
        return make_pipeline(ENCODERS[encoder](), maker()).fit(frame, y)


def own_categories(kind: str, maker: Any, number: bool) -> Any:
    """A model that takes categories itself."""
    model = maker()
    if kind in ("binned", "counts"):
        return model.set_params(categorical_features="from_dtype")
    if kind == "lightgbm":
        return model.set_params(min_data_per_group=2, cat_smooth=1.0, max_cat_to_onehot=2)
    return model.set_params(enable_categorical=True, max_cat_to_onehot=2)


def categorical(frame: Any) -> Any:
    return frame.assign(**{name: pandas.Categorical(frame[name], categories=FEATURES[name]) for name in TEXTS})


def by_hand(model: Any, world: Domain, gamma: float) -> tuple[float, float]:
    """The share of people treated differently and the widest gap in what is said, by asking about everyone."""
    frame = world.decode(EVERYONE)
    said = np.asarray(model.predict(frame))
    score = np.asarray(model.predict_proba(frame) if hasattr(model, "predict_proba") else said, dtype=float)
    score = score[:, 1:] if score.ndim == 2 and score.shape[1] == 2 else score.reshape(len(EVERYONE), -1)
    order = np.lexsort(EVERYONE[:, [SEX, 4, 3, 1, 0]].T)
    said, score = said[order].reshape(-1, 2), score[order].reshape(-1, 2, score.shape[1])
    gap = np.abs(score[:, 1] - score[:, 0]).max(axis=1)
    numbers = not hasattr(model, "predict_proba")
    floor = gamma if gamma else 1e-9 * np.maximum(1.0, np.abs(score).reshape(len(score), -1).max(axis=1))
    differs = gap > floor if gamma or numbers else said[:, 0] != said[:, 1]
    return float(differs.mean()), float(gap.max())


def agrees(model: Any, world: Domain, gamma: float, kind: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        result = find_pairs(world, model, method="exact", protected="sex", gamma=gamma, n_pairs=200, max_tests=None)
        share, gap = by_hand(model, world, gamma)
    metrics = result.metrics
    assert metrics["share_low"] == pytest.approx(share, abs=1e-12)
    assert metrics["share_high"] == pytest.approx(share, abs=1e-12)
    assert metrics["status"] == ("pair" if share > 0 else "none")
    assert metrics["DSN"] == metrics["TSN"] or share == 0
    assert metrics["max_gap"] == pytest.approx(gap, abs=1e-6)
    assert metrics["max_gap_bound"] == pytest.approx(gap, abs=1e-6)


@settings(max_examples=14)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(sorted(CLASSIFIERS)),
    encoder=st.sampled_from(sorted(ENCODERS)),
    gamma=st.sampled_from([0.0, 0.0, 0.07, 0.3]),
)
def test_classifiers_behind_encoders(seed: int, kind: str, encoder: str, gamma: float) -> None:
    agrees(learn(kind, encoder, seed), WORLD, gamma, kind)


@settings(max_examples=8)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(SEVERAL),
    encoder=st.sampled_from(sorted(ENCODERS)),
    gamma=st.sampled_from([0.0, 0.0, 0.2]),
)
def test_several_classes(seed: int, kind: str, encoder: str, gamma: float) -> None:
    agrees(learn(kind, encoder, seed, classes=3), WORLD, gamma, kind)


@settings(max_examples=9)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(sorted(REGRESSORS)),
    encoder=st.sampled_from(sorted(ENCODERS)),
    gamma=st.sampled_from([0.0, 0.05, 0.5]),
)
def test_regressions_behind_encoders(seed: int, kind: str, encoder: str, gamma: float) -> None:
    agrees(learn(kind, encoder, seed, number=True), WORLD, gamma, kind)


@settings(max_examples=6)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["binned", "lightgbm", "xgboost"]),
    gamma=st.sampled_from([0.0, 0.1]),
    number=st.booleans(),
)
def test_models_that_take_categories_themselves(seed: int, kind: str, gamma: float, number: bool) -> None:
    model = learn(kind, "own", seed, number=number)
    world = Domain.from_data(categorical(WORLD.decode(EVERYONE)))
    assert np.array_equal(world.encode(categorical(WORLD.decode(EVERYONE)))[:, SEX], EVERYONE[:, SEX])
    agrees(model, world, gamma, kind)


@pytest.mark.parametrize("encoder", sorted(ENCODERS))
@pytest.mark.parametrize("kind", sorted({*CLASSIFIERS} - {"logistic"}))
def test_a_model_that_ignores_the_attribute_is_proved_fair(kind: str, encoder: str) -> None:
    model = learn(kind, encoder, 5, ignore_sex=True)
    result = find_pairs(WORLD, model, method="exact", protected="sex")
    assert (result.metrics["status"], result.metrics["share_high"]) == ("none", 0)
    assert result.metrics["max_gap_bound"] == pytest.approx(0, abs=1e-12)
    assert "Proved" in result.notes[-1].text()


def test_a_linear_model_that_is_not_shown_the_attribute_is_proved_fair() -> None:
    rows = WORLD.sample(300, np.random.default_rng(0))
    encoder = make_column_transformer((OneHotEncoder(), ["job", "town"]), (StandardScaler(), NUMBERS))
    model = make_pipeline(encoder, LogisticRegression()).fit(WORLD.decode(rows), outcome(1, rows) > 0)
    result = find_pairs(WORLD, model, method="exact", protected="sex")
    assert (result.metrics["status"], result.metrics["share_high"], result.metrics["max_gap"]) == ("none", 0, 0)
