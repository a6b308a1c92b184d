"""What is read of a model is what it says, to the last bit of a threshold; what cannot be read is named."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from isonomia import Dataset, NotApplicable
from isonomia.discovery import find_pairs
from isonomia.discovery.pairs.exact import domain_trees
from isonomia.discovery.pairs.exact.domain_trees import people_to_check, read_domain_trees
from isonomia.models import Model
from isonomia.probing import Domain, Oracle

pandas = pytest.importorskip("pandas")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

WORLD = Domain(
    {"pay": (-3.0, 5.0), "sex": (0, 1), "wealth": (0, 2_000_000), "job": ["clerk", "cook", "judge"]}, backend="pandas"
)
NUMBERS = Domain({"pay": (-3.0, 5.0), "sex": (0, 1), "wealth": (0, 2_000_000)}, backend="pandas")
SEX = (np.array([1], dtype=np.intp), np.array([[0.0], [1.0]]))

MAKERS: dict[str, Any] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=7, random_state=0),
    "forest": lambda: RandomForestClassifier(8, max_depth=6, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=10, random_state=0),
    "binned": lambda: HistGradientBoostingClassifier(max_iter=10, random_state=0),
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, random_state=0, n_jobs=1),
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=10, max_depth=4, random_state=0, n_jobs=1),
}
SCALERS: dict[str, Any] = {
    "as it is": lambda: None,
    "standard": StandardScaler,
    "between": lambda: MinMaxScaler((-0.3, 0.7)),
    "robust": RobustScaler,
    "logarithm": lambda: make_pipeline(MinMaxScaler((0, 1e4), clip=True), FunctionTransformer(np.log1p)),
}


def decide(rows: Any, seed: int = 0) -> Any:
    noise = np.random.default_rng(seed).normal(0, 0.5, len(rows))
    return (rows[:, 0] + rows[:, 1] * (rows[:, 2] > 800_000) + rows[:, 2] / 1e6 + noise > 2).astype(int)


def learn(kind: str, scaler: str = "as it is") -> Any:
    rows = NUMBERS.sample(800, np.random.default_rng(1))
    step, model = SCALERS[scaler](), MAKERS[kind]()
    return (model if step is None else make_pipeline(step, model)).fit(NUMBERS.decode(rows), decide(rows))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("scaler", sorted(SCALERS))
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_cuts_are_kept_to_the_last_bit(kind: str, scaler: str) -> None:
    model = learn(kind, scaler)
    ensemble = read_domain_trees(Oracle(model, NUMBERS), *SEX)
    rows = people_to_check(ensemble, Oracle(model, NUMBERS), *SEX, count=6000)
    real = ensemble.feature == 0
    for cut in np.unique(ensemble.cut[real])[:200]:  # the very next numbers on both sides as well
        some = NUMBERS.sample(4, np.random.default_rng(0))
        some[:, 0] = [np.nextafter(cut, -9), cut, np.nextafter(cut, 9), np.nextafter(np.nextafter(cut, 9), 9)]
        rows = np.concatenate([rows, NUMBERS.snap(some)])
    said = model.predict_proba(NUMBERS.decode(rows))[:, 1]
    assert np.allclose(ensemble.predicted(ensemble.raw(rows))[:, 0], said, atol=2e-6)
    assert real.sum() > 5
    assert (ensemble.feature == 2).sum() > 5  # two million whole numbers, not listed


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_a_known_box_is_found(kind: str) -> None:
    rows = np.concatenate([WORLD.sample(3000, np.random.default_rng(2))])
    inside = (rows[:, 0] >= 1) & (rows[:, 0] <= 3) & (rows[:, 3] == 1)
    y = np.where(inside, rows[:, 1] == 1, rows[:, 0] > 2).astype(int)
    maker = {
        "forest": lambda: RandomForestClassifier(8, max_features=None, random_state=0),
        "binned": lambda: HistGradientBoostingClassifier(max_iter=30, random_state=0),
        "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=30, verbose=-1, random_state=0, n_jobs=1),
        "xgboost": lambda: xgboost.XGBClassifier(n_estimators=30, random_state=0, n_jobs=1),
        "boosting": lambda: GradientBoostingClassifier(n_estimators=30, max_depth=4, random_state=0),
    }.get(kind, MAKERS[kind])
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    model = make_pipeline(encoder, maker()).fit(WORLD.decode(rows), y)
    result = find_pairs(WORLD, model, method="exact", protected="sex", n_pairs=200)
    assert result.metrics["status"] == "pair"
    assert result.metrics["DSN"] == result.metrics["TSN"] > 50
    first = result.pairs.first
    certain = (first[:, 0] > 1.05) & (first[:, 0] < 2.95) & (first[:, 3] == 1)
    assert certain.mean() > 0.9
    assert result.metrics["share_low"] == pytest.approx(2 / 8 / 3, abs=0.02)
    assert result.metrics["max_gap"] > 0.8


def test_thresholds_of_a_model_are_kept() -> None:
    rows = NUMBERS.sample(600, np.random.default_rng(3))
    frame = NUMBERS.decode(rows).assign(y=decide(rows))
    for positive in (1, 0):
        data = Dataset(frame, target="y", positive=positive, protected=["sex"])
        for kind in ("forest", "boosting", "logistic"):
            estimator = make_pipeline(StandardScaler(), LogisticRegression()) if kind == "logistic" else MAKERS[kind]()
            estimator.fit(frame[list(NUMBERS.names)], frame["y"])
            model = Model.of(estimator, threshold=0.8)
            shares = find_pairs(data, model, method="exact", domain=NUMBERS, max_seconds=None).metrics
            fair = find_pairs(
                data, model, method="themis", domain=NUMBERS, error=None, max_tests=20_000, seed=1
            ).values["share"]
            assert fair.low - 0.005 <= shares["share_high"]
            assert shares["share_low"] <= fair.high + 0.005
            assert shares["share_high"] - shares["share_low"] < 0.01
            assert (shares["DSN"] > 0) == (shares["share_low"] > 0) == (fair.value > 0)


def test_boosters_from_files_and_searches_over_parameters_are_read(tmp_path: Any) -> None:
    rows = NUMBERS.sample(600, np.random.default_rng(3))
    frame = NUMBERS.decode(rows)
    frame["y"] = decide(rows)
    data = Dataset(frame, target="y", positive=1, protected=["sex"])
    for kind in ("xgboost", "lightgbm"):
        fitted = MAKERS[kind]().fit(frame[list(NUMBERS.names)], frame["y"])
        booster = fitted.get_booster() if kind == "xgboost" else fitted.booster_
        ours = find_pairs(data, fitted, method="exact", domain=NUMBERS).metrics
        bare = find_pairs(data, Model.of(booster), method="exact", domain=NUMBERS).metrics
        assert ours["share_low"] == pytest.approx(bare["share_low"])
        assert ours["max_gap"] == pytest.approx(bare["max_gap"])
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, cv=2)
    search.fit(frame[list(NUMBERS.names)], frame["y"])
    found = find_pairs(NUMBERS, search, method="exact", protected="sex").metrics
    best = find_pairs(NUMBERS, search.best_estimator_, method="exact", protected="sex").metrics
    assert found["share_low"] == best["share_low"]


def test_training_that_stopped_early_counts_its_best_rounds() -> None:
    rows = NUMBERS.sample(600, np.random.default_rng(3))
    frame, y = NUMBERS.decode(rows), decide(rows)
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=3, learning_rate=0.5, random_state=0, n_jobs=1)
    model.fit(frame[:300], y[:300], eval_set=[(frame[300:], y[300:])], verbose=False)
    assert model.best_iteration < 50
    ensemble = read_domain_trees(Oracle(model, NUMBERS), *SEX)
    assert len(ensemble.roots) == model.best_iteration + 1


def test_trees_that_say_something_else_give_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    model, reader = learn("forest"), domain_trees.read_trees

    def off_by_one(thing: Any) -> Any:
        return replace(reader(thing), strict=True)  # "below" instead of "at most": differs exactly at cuts alone

    def off_a_little(thing: Any) -> Any:
        trees = reader(thing)
        return replace(trees, value=trees.value * 1.001)

    rows = NUMBERS.sample(300, np.random.default_rng(1))
    rows[:, 0] = np.round(rows[:, 0] * 2) / 2  # cuts at quarters are the same in 32 bits
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(NUMBERS.decode(rows), decide(rows))
    for wrong in (off_by_one, off_a_little):
        monkeypatch.setattr(domain_trees, "read_trees", wrong)
        with pytest.raises(NotApplicable, match="no exact answer"):
            find_pairs(NUMBERS, model, method="exact", protected="sex")


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (PCA(2), "PCA"),
        (PolynomialFeatures(2), "PolynomialFeatures"),
        (FunctionTransformer(lambda frame: frame), "FunctionTransformer"),
        (
            make_column_transformer(
                (KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), ["pay"]),
                remainder="passthrough",
            ),
            "'pay' .* KBinsDiscretizer",
        ),
    ],
)
def test_pipelines_that_are_not_read_are_named(step: Any, word: str) -> None:
    rows = NUMBERS.sample(200, np.random.default_rng(0))
    model = make_pipeline(step, DecisionTreeClassifier()).fit(NUMBERS.decode(rows), decide(rows))
    with pytest.raises(NotApplicable, match=word):
        find_pairs(NUMBERS, model, method="exact", protected="sex")


def test_models_that_are_not_read_are_named() -> None:
    rows = NUMBERS.sample(200, np.random.default_rng(0))
    tree = DecisionTreeClassifier(max_depth=2)
    several = LogisticRegression()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {
            "CalibratedClassifierCV": CalibratedClassifierCV(tree, cv=2).fit(NUMBERS.decode(rows), decide(rows)),
            "VotingClassifier": VotingClassifier([("a", tree)], voting="soft").fit(NUMBERS.decode(rows), decide(rows)),
            "two classes": make_pipeline(StandardScaler(), several).fit(NUMBERS.decode(rows), np.arange(200) % 3),
            "linear leaves": lightgbm.LGBMClassifier(n_estimators=2, linear_tree=True, verbose=-1, n_jobs=1).fit(
                NUMBERS.decode(rows), decide(rows)
            ),
            "gblinear": xgboost.XGBClassifier(booster="gblinear", n_jobs=1).fit(NUMBERS.decode(rows), decide(rows)),
        }
        for word, model in made.items():
            with pytest.raises(NotApplicable, match=word):
                find_pairs(NUMBERS, model, method="exact", protected="sex")
