"""Trees as an explainer: every library, every output that leaves add up to, one-hot columns as one player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import isonomia as iso
from isonomia import NotApplicable
from isonomia.explain import shapley
from isonomia.explain.trees.values import tree_values
from isonomia.models import read_trees

RNG = np.random.default_rng(3)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 70, 300).astype(float),
        "pay": RNG.normal(0, 1, 300).round(1),
        "job": RNG.choice(["clerk", "cook", "judge"], 300),
        "sex": RNG.choice(["f", "m"], 300),
    }
)
POINTS = (
    PEOPLE["age"] / 20 + PEOPLE["pay"] + (PEOPLE["job"] == "cook") * (PEOPLE["sex"] == "m") + RNG.normal(0, 0.5, 300)
)
PEOPLE["loan"] = np.where(POINTS > 2.4, "yes", "no")
PEOPLE["band"] = np.select([POINTS > 3, POINTS > 2], ["top", "mid"], "low")
PEOPLE["points"] = POINTS
FEATURES = ["age", "pay", "job", "sex"]


def pipeline(last: Any) -> Any:
    return make_pipeline(ColumnTransformer([("o", OneHotEncoder(), ["job", "sex"])], remainder="passthrough"), last)


def dataset(target: str = "loan", **options: Any) -> iso.Dataset:
    chosen = PEOPLE[[*FEATURES, target]]
    return iso.Dataset(chosen, target=target, **options)


def explained(last: Any, target: str = "loan", **options: Any) -> Any:
    model = pipeline(last).fit(PEOPLE[FEATURES], PEOPLE[target])
    positive = {"positive": "yes"} if target == "loan" else {}
    return shapley(dataset(target, **positive), iso.Model.of(model, features=FEATURES), **options)


@pytest.mark.parametrize(
    ("last", "target", "output"),
    [
        (RandomForestClassifier(8, random_state=0), "loan", "probability"),
        (RandomForestClassifier(4, max_depth=4, random_state=0), "band", "probability"),
        (GradientBoostingClassifier(n_estimators=10, random_state=0), "loan", "log_odds"),
        (GradientBoostingClassifier(n_estimators=10, loss="exponential", random_state=0), "loan", "log_odds"),
        (GradientBoostingClassifier(n_estimators=4, random_state=0), "band", "log_odds"),
        (RandomForestRegressor(6, random_state=0), "points", "probability"),
    ],
    ids=["forest", "three classes", "boosting", "exponential loss", "boosting of three classes", "numbers"],
)
def test_trees_agree_with_every_coalition(last: Any, target: str, output: Any) -> None:
    rows, options = np.arange(12), {"background": PEOPLE[FEATURES].head(40)}
    ours = explained(last, target, output=output, rows=rows, **options)
    every = explained(last, target, output=output, rows=rows, method="enumeration", **options)
    assert ours.method == "trees"
    assert ours.columns == tuple(FEATURES)
    assert ours.additivity < 1e-9
    np.testing.assert_allclose(ours.values, every.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.base, every.base, rtol=0, atol=1e-9)


def test_a_class_that_is_named_and_encoded_columns() -> None:
    forest = RandomForestClassifier(8, random_state=0)
    yes, no = (explained(forest, rows=np.arange(9), label=label) for label in ("yes", "no"))
    np.testing.assert_allclose(yes.values, -no.values, rtol=0, atol=1e-12)
    single = explained(forest, rows=np.arange(9), by="encoded")
    assert single.values.shape == (9, 7)
    np.testing.assert_allclose(single.values.sum(axis=1), yes.values.sum(axis=1), rtol=0, atol=1e-12)


def test_rescaled_values_are_margins_scaled_per_background_row() -> None:
    last = GradientBoostingClassifier(n_estimators=12, random_state=0)
    model = pipeline(last).fit(PEOPLE[FEATURES], PEOPLE["loan"])
    ours = explained(last, output="rescaled", rows=np.arange(8), background=PEOPLE[FEATURES].head(30), by="encoded")
    assert ours.additivity < 1e-12
    trees = read_trees(model[-1])
    matrix = np.asarray(model[:-1].transform(PEOPLE[FEATURES]), dtype=float)
    people, expected = matrix[:8], np.zeros((8, 7))
    for row in matrix[:30]:
        values = tree_values(trees, people, row[None], np.arange(7))[:, :, 0]
        rise, run = trees.predict(people) - trees.predict(row[None]), trees.raw(people) - trees.raw(row[None])
        slope = trees.predict(row[None]) * (1 - trees.predict(row[None]))
        expected += values * np.where(run == 0, slope, rise / np.where(run == 0, 1, run)) / 30
    np.testing.assert_allclose(ours.values, expected, rtol=0, atol=1e-12)


def test_path_dependent_values_are_conditional_expectations_of_the_trees() -> None:
    """v(S) by descending the tree by hand; columns of one player are absent together."""
    last = RandomForestClassifier(3, max_depth=4, random_state=0)
    found = explained(last, rows=np.arange(5), method="tree_paths")
    assert found.additivity < 1e-12
    assert found.base == pytest.approx(
        float(np.mean([tree.tree_.value[0, 0, 1] for tree in last.estimators_])), abs=0.05
    )
    model = pipeline(last).fit(PEOPLE[FEATURES], PEOPLE["loan"])
    matrix = np.asarray(model[:-1].transform(PEOPLE[FEATURES]), dtype=float)
    owner = np.array([2, 2, 2, 3, 3, 0, 1])

    def descend(tree: Any, node: int, row: Any, present: set[int]) -> float:
        if tree.children_left[node] < 0:
            return float(tree.value[node, 0, 1])
        left, right = tree.children_left[node], tree.children_right[node]
        if owner[tree.feature[node]] in present:
            return descend(tree, left if row[tree.feature[node]] <= tree.threshold[node] else right, row, present)
        weight = tree.weighted_n_node_samples
        return (
            descend(tree, left, row, present) * weight[left] + descend(tree, right, row, present) * weight[right]
        ) / (weight[left] + weight[right])

    game = np.array(
        [
            np.mean(
                [descend(tree.tree_, 0, matrix[1], {j for j in range(4) if s >> j & 1}) for tree in last.estimators_]
            )
            for s in range(16)
        ]
    )
    from isonomia.explain.methods.enumeration import shapley_matrix

    np.testing.assert_allclose(found.values[1], game @ shapley_matrix(4), rtol=0, atol=1e-12)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost", "histogram"])
def test_other_libraries_with_missing_numbers(library: str) -> None:
    frame = PEOPLE[["age", "pay", "loan"]].assign(pay=PEOPLE["pay"].where(RNG.random(300) < 0.9))
    frame["late"] = RNG.integers(0, 4, 300).astype(float)
    names = ["age", "pay", "late"]
    if library == "lightgbm":
        model = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=8, num_leaves=6, verbose=-1, n_jobs=1)
    elif library == "xgboost":
        model = pytest.importorskip("xgboost").XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1)
    elif library == "catboost":
        model = pytest.importorskip("catboost").CatBoostClassifier(
            iterations=8, depth=3, verbose=0, allow_writing_files=False, thread_count=1
        )
    else:
        model = HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=6)
    model.fit(frame[names], (frame["loan"] == "yes").astype(int))
    data = iso.Dataset(frame.assign(loan=(frame["loan"] == "yes").astype(int)), target="loan")
    options = {"output": "log_odds", "rows": np.arange(10), "background": frame[names].head(25)}
    ours = shapley(data, iso.Model.of(model, features=names), **options)
    every = shapley(data, iso.Model.of(model, features=names), method="enumeration", **options)
    assert ours.method == "trees"
    tolerance = 2e-5 if library == "xgboost" else 1e-9
    np.testing.assert_allclose(ours.values, every.values, rtol=0, atol=tolerance)


def catboost_of(**options: Any) -> tuple[iso.Dataset, iso.Model]:
    """A CatBoost model over two numbers and two categories."""
    kind = pytest.importorskip("catboost").CatBoostClassifier
    settings = {"iterations": 20, "depth": 4, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = kind(cat_features=["job", "sex"], random_seed=0, **settings, **options)
    return dataset(positive="yes"), iso.Model.of(model.fit(PEOPLE[FEATURES], PEOPLE["loan"]), features=FEATURES)


def test_catboost_with_categories_is_exact() -> None:
    data, model = catboost_of(max_ctr_complexity=1)
    options = {"output": "log_odds", "rows": np.arange(10), "background": PEOPLE[FEATURES].head(40)}
    ours, every = shapley(data, model, **options), shapley(data, model, method="enumeration", **options)
    assert ours.method == "trees"
    assert ours.error is None
    assert ours.columns == tuple(FEATURES)
    np.testing.assert_allclose(ours.values, every.values, rtol=0, atol=1e-9)
    assert np.abs(ours.values[:, 2:]).max() > 0.01  # the categories matter


def test_catboost_with_combinations_of_columns_is_sampled_with_its_error() -> None:
    """A number kept for a pair of columns is no test of one column: every coalition, or draws with an error."""
    data, model = catboost_of(max_ctr_complexity=2, one_hot_max_size=1, model_size_reg=0)
    options = {"output": "log_odds", "rows": np.arange(6), "background": PEOPLE[FEATURES].head(30)}
    with pytest.raises(NotApplicable, match="tests combinations of columns"):
        shapley(data, model, method="trees", **options)
    every = shapley(data, model, **options)
    assert every.method == "enumeration"
    drawn = shapley(data, model, max_model_rows=2_000, **options)
    assert drawn.method in ("kernel", "sampling")
    assert drawn.error is not None
    assert np.abs((drawn.values - every.values) / np.maximum(drawn.error, 1e-12)).mean() < 3


def test_what_leaves_do_not_add_up_to_is_refused() -> None:
    with pytest.raises(NotApplicable, match="log odds, not the probability"):
        explained(GradientBoostingClassifier(n_estimators=3), method="trees")
    assert explained(GradientBoostingClassifier(n_estimators=3), rows=np.arange(3)).method != "trees"


def compas(folder: Path, variant: str = "") -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    train, test = (
        pd.read_csv(folder / "study" / f"compas_{part}.csv.gz").drop(columns="Unnamed: 0", errors="ignore")
        for part in (f"train{variant}", "test")
    )
    return train, test, [name for name in test if name != "two_year_recid"]


def test_rows_on_cuts_go_where_the_model_sends_them(shared_data: Path) -> None:
    """The study's COMPAS forest, on which shap 0.51 fails its own check of additivity: standardised columns on cuts."""
    train, test, features = compas(shared_data)
    forest = RandomForestClassifier(10, max_depth=5, min_samples_leaf=2, random_state=0)
    forest.fit(train[features].to_numpy(), train["two_year_recid"])
    trees = read_trees(forest)
    rows, background = test[features].to_numpy(), train[features].to_numpy()
    values = tree_values(trees, rows, background, np.arange(len(features)))[:, :, 0]
    predicted, base = forest.predict_proba(rows)[:, 1], forest.predict_proba(background)[:, 1].mean()
    np.testing.assert_allclose(base + values.sum(axis=1), predicted, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("variant", "low", "high"), [("", 0.005, 0.018), ("_usd-1", 0.145, 0.175)])
def test_rescaled_disparity_of_the_studys_boosting(shared_data: Path, variant: str, low: float, high: float) -> None:
    """Published: 0.0111 and 0.1595 for unseeded models; three seeds gave 0.0111-0.0125 and 0.157-0.165."""
    train, test, features = compas(shared_data, variant)
    model = GradientBoostingClassifier(subsample=0.9, random_state=0)
    model.fit(train[features].to_numpy(), train["two_year_recid"])
    found = shapley(
        iso.Dataset(test, target="two_year_recid"),
        iso.Model.of(model, features=features),
        output="rescaled",
        background=train[features],
        by="encoded",
    )
    assert found.method == "trees"
    assert found.additivity < 1e-10
    race, unprivileged = found.values[:, features.index("race")], test["race"].to_numpy() == 0
    assert low < race[unprivileged].mean() - race[~unprivileged].mean() < high
