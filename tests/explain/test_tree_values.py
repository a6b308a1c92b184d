"""Exact Shapley values of trees against 2^M coalitions of hybrid rows, and their axioms."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from isonomia import NotApplicable
from isonomia.explain.trees import kernel, occurring
from isonomia.explain.trees.values import tree_values
from isonomia.models import TreeEnsemble, read_trees
from isonomia.models.trees.arrays import Builder

RNG = np.random.default_rng(0)
#: Few distinct values, so that people lie on cuts; some are missing.
X = RNG.integers(0, 6, (400, 7)).astype(float)
GAPS = np.where(RNG.random(X.shape) < 0.05, np.nan, X)
POINTS = X[:, 0] + X[:, 1] * X[:, 2] / 3 - X[:, 3] + RNG.normal(0, 2, 400)
TWO, THREE = (POINTS > 2).astype(int), np.digitize(POINTS, [0, 4])
EACH, TOGETHER = np.arange(7), np.array([0, 0, 1, 2, 3, 3, 3])


def lightgbm_model(**options: Any) -> Any:
    library = pytest.importorskip("lightgbm")
    return library.LGBMClassifier(n_estimators=6, num_leaves=12, verbose=-1, random_state=0, n_jobs=1, **options)


def xgboost_model() -> Any:
    library = pytest.importorskip("xgboost")
    return library.XGBClassifier(n_estimators=6, max_depth=4, random_state=0, n_jobs=1)


MODELS: dict[str, tuple[Any, NDArray[Any], NDArray[Any]]] = {
    "forest": (lambda: RandomForestClassifier(4, random_state=0), GAPS, TWO),
    "forest of three classes": (lambda: RandomForestClassifier(3, max_depth=4, random_state=0), GAPS, THREE),
    "extra trees": (lambda: ExtraTreesRegressor(4, max_depth=6, random_state=0), X, POINTS),
    "boosting": (lambda: GradientBoostingClassifier(n_estimators=8, random_state=0), X, TWO),
    "boosting of three classes": (lambda: GradientBoostingClassifier(n_estimators=3, random_state=0), X, THREE),
    "histogram": (lambda: HistGradientBoostingClassifier(max_iter=6, categorical_features=[0, 4]), GAPS, TWO),
    "lightgbm": (lightgbm_model, GAPS, TWO),
    "lightgbm, 0 is missing": (lambda: lightgbm_model(zero_as_missing=True), GAPS, TWO),
    "xgboost": (xgboost_model, GAPS, TWO),
}


def fitted(name: str) -> tuple[TreeEnsemble, NDArray[Any]]:
    build, columns, target = MODELS[name]
    trees = read_trees(build().fit(columns, target))
    return trees, trees.encode(columns)


def coalitions(trees: TreeEnsemble, rows: Any, background: Any, players: Any, weights: Any = None) -> NDArray[Any]:
    """The mean raw output (2^M, n, K) of hybrids with a row's columns for each set of players."""
    count = int(players.max()) + 1
    out = []
    for coalition in range(1 << count):
        own = np.array([player >= 0 and bool(coalition >> player & 1) for player in players])
        hybrids = np.where(own, rows[:, None, :], background[None, :, :]).reshape(-1, rows.shape[1])
        raw = trees.raw(hybrids).reshape(len(rows), len(background), -1)
        out.append(np.average(raw, axis=1, weights=weights))
    return np.array(out)


def brute_force(game: NDArray[Any]) -> NDArray[Any]:
    count = int(np.log2(len(game)))
    out = np.zeros((game.shape[1], count, game.shape[2]))
    for player, coalition in product(range(count), range(1 << count)):
        size = coalition.bit_count()
        if not coalition >> player & 1:
            share = factorial(size) * factorial(count - size - 1) / factorial(count)
            out[:, player] += share * (game[coalition | 1 << player] - game[coalition])
    return out


def brute_force_interactions(game: NDArray[Any], lead: int) -> NDArray[Any]:
    count = int(np.log2(len(game)))
    out = np.zeros((game.shape[1], count, game.shape[2]))
    for player, coalition in product(range(count), range(1 << count)):
        if player == lead or coalition >> player & 1 or coalition >> lead & 1:
            continue
        size, one, other = coalition.bit_count(), 1 << player, 1 << lead
        share = factorial(size) * factorial(count - size - 2) / factorial(count - 1)
        gain = game[coalition | one | other] - game[coalition | one] - game[coalition | other] + game[coalition]
        out[:, player] += share * gain
    return out


@pytest.mark.parametrize("players", [EACH, TOGETHER, np.array([0, -1, 1, 2, -1, 3, 3])], ids=["each", "joint", "fixed"])
@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_all_coalitions(name: str, players: NDArray[Any]) -> None:
    trees, columns = fitted(name)
    rows, background, weights = columns[:6], columns[50:58].copy(), RNG.dirichlet(np.ones(8))
    background[:, players < 0] = rows[0, players < 0]  # a column that never changes
    rows = np.where(players < 0, rows[:1], rows)
    expected = brute_force(coalitions(trees, rows, background, players, weights))
    obtained = tree_values(trees, rows, background, players, background_weights=weights)
    np.testing.assert_allclose(obtained, expected, rtol=0, atol=1e-12 if trees.sum_dtype is np.float64 else 2e-6)


@pytest.mark.parametrize("way", ["matrix", "integral", "pairs", "sorted pairs", "small portions"])
def test_every_way_to_a_table_gives_the_same_values(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trees, columns = fitted("forest")
    rows, background = columns[:40], columns[50:90]
    expected = tree_values(trees, rows, background, EACH)
    pairs = tree_values(trees, rows, background, EACH, lead=2)
    monkeypatch.setattr(kernel, "MATRIX_SIZE", 7 if way == "matrix" else -1)
    monkeypatch.setattr(kernel.Kernel, "_is_dense", lambda *_: way in ("matrix", "integral"))
    if way == "sorted pairs":
        monkeypatch.setattr(occurring, "LOOKUP", 0)
    if way == "small portions":
        monkeypatch.setattr("isonomia.explain.trees.paths.WALK_BYTES", 1)
        monkeypatch.setattr(kernel, "ENTRIES", 50)
        monkeypatch.setattr(kernel, "BLOCK_NODES", 1)
        monkeypatch.setattr(occurring, "PAIRS", 100)
    np.testing.assert_allclose(tree_values(trees, rows, background, EACH), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(tree_values(trees, rows, background, EACH, lead=2), pairs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("players", [EACH, TOGETHER], ids=["each", "joint"])
@pytest.mark.parametrize("name", ["forest", "boosting", "histogram"])
def test_interactions_are_those_of_all_coalitions(name: str, players: NDArray[Any]) -> None:
    trees, columns = fitted(name)
    game = coalitions(trees, columns[:6], columns[50:58], players)
    obtained = tree_values(trees, columns[:6], columns[50:58], players, lead=1)
    np.testing.assert_allclose(obtained, brute_force_interactions(game, 1), rtol=0, atol=1e-12)
    assert np.abs(obtained).max() > 1e-3


def test_several_background_weights_at_once() -> None:
    trees, columns = fitted("boosting")
    weights = RNG.normal(size=(20, 3))
    together = tree_values(trees, columns[:9], columns[100:120], EACH, background_weights=weights)
    for index, one in enumerate(weights.T):
        alone = tree_values(trees, columns[:9], columns[100:120], EACH, background_weights=one)
        np.testing.assert_allclose(together[..., index], alone, rtol=0, atol=1e-13)


def chain(length: int) -> TreeEnsemble:
    """A tree that is 1 where every column is above 0, with one column per level, else 0."""
    inner = np.arange(length)
    leaf = np.full(length + 1, -1)
    builder = Builder()
    builder.add(
        feature=np.concatenate([inner, leaf]),
        threshold=np.zeros(2 * length + 1),
        left=np.concatenate([length + inner, leaf]),
        right=np.concatenate([inner[1:], [2 * length], leaf]),
        value=np.eye(2 * length + 1)[:, -1:],
        cover=np.ones(2 * length + 1),
        missing_left=np.zeros(2 * length + 1, dtype=bool),
    )
    return builder.build(link="identity", classifier=False)


def test_a_path_of_25_columns_has_its_closed_form() -> None:
    """Only both rows together reach the leaf: u columns of one, v of the other."""
    trees, row = chain(25), np.ones((1, 25))
    for shared in (0, 5, 24):
        other = np.where(np.arange(25) < shared, 1.0, -1.0)[None]
        share = np.where(np.arange(25) < shared, 0.0, 1 / (25 - shared))
        np.testing.assert_allclose(tree_values(trees, row, other, np.arange(25))[0, :, 0], share, rtol=0, atol=1e-14)
    u, v = 10, 15
    own = np.where(np.arange(25) < u, 1.0, -1.0)[None]
    gain = factorial(u - 1) * factorial(v) / factorial(u + v)
    loss = factorial(u) * factorial(v - 1) / factorial(u + v)
    expected = np.where(np.arange(25) < u, gain, -loss)
    np.testing.assert_allclose(tree_values(trees, own, -own, np.arange(25))[0, :, 0], expected, rtol=1e-10)


def test_a_full_forest_of_30_columns_adds_up() -> None:
    deep = RandomForestClassifier(3, random_state=0).fit(RNG.normal(size=(600, 30)), RNG.integers(0, 2, 600))
    rows = RNG.normal(size=(40, 30))
    values = tree_values(read_trees(deep), rows[:20], rows[20:], np.arange(30))[:, :, 0]
    expected = deep.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(values.sum(axis=1), expected[:20] - expected[20:].mean(), rtol=0, atol=1e-12)


def test_a_path_of_too_many_columns_is_refused() -> None:
    with pytest.raises(NotApplicable, match="tests 60 different columns"):
        tree_values(chain(60), np.ones((1, 60)), np.zeros((1, 60)), np.arange(60))


def random_trees(seed: int, *, columns: int = 4, count: int = 3) -> TreeEnsemble:
    """Trees with tests and leaves drawn at random: thresholds on values of rows, missing values in both directions."""
    rng, builder = np.random.default_rng(seed), Builder()
    for _ in range(count):
        feature, left, right, todo = [], [], [], [(0, 0)]
        total = 1
        while todo:
            node, depth = todo.pop(0)
            inner = depth < 5 and rng.random() < 0.8
            feature.append(int(rng.integers(columns)) if inner else -1)
            left.append(total if inner else -1)
            right.append(total + 1 if inner else -1)
            if inner:
                todo += [(total, depth + 1), (total + 1, depth + 1)]
                total += 2
            assert node == len(feature) - 1
        builder.add(
            feature=np.array(feature),
            threshold=rng.integers(0, 4, total).astype(float),
            left=np.array(left),
            right=np.array(right),
            value=rng.normal(size=(total, 1)),
            cover=np.ones(total),
            missing_left=rng.random(total) < 0.5,
        )
    return builder.build(link="identity", classifier=False)


def random_rows(seed: int, count: int) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 5, (count, 4)).astype(float)
    return np.where(rng.random(rows.shape) < 0.1, np.nan, rows)


SEEDS = st.integers(0, 10_000)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_axioms(seed: int) -> None:
    trees, rows = random_trees(seed), random_rows(seed, 12)
    people, background, players = rows[:6], rows[6:], np.arange(4)
    values = tree_values(trees, people, background, players)
    # efficiency: values add up to the difference from the mean output of the background
    gap = trees.raw(people) - trees.raw(background).mean(axis=0)
    np.testing.assert_allclose(values.sum(axis=1), gap, rtol=0, atol=1e-12)
    # dummy: a column that no tree tests has the value 0, and changes nothing for the others
    wide = tree_values(trees, np.pad(people, ((0, 0), (0, 1))), np.pad(background, ((0, 0), (0, 1))), np.arange(5))
    np.testing.assert_array_equal(wide, np.pad(values, ((0, 0), (0, 1), (0, 0))))
    # antisymmetry of person and background
    one, other = people[:1], background[:1]
    forth, back = (tree_values(trees, *pair, players) for pair in ((one, other), (other, one)))
    np.testing.assert_allclose(forth, -back, rtol=0, atol=1e-13)
    # linearity over trees
    alone = [replace(trees, roots=trees.roots[[index]]) for index in range(3)]
    parts = [tree_values(part, people, background, players) for part in alone]
    np.testing.assert_allclose(sum(parts), values, rtol=0, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_columns_that_the_trees_treat_alike_have_equal_values(seed: int) -> None:
    trees, rows = random_trees(seed), random_rows(seed, 12)
    swapped = replace(trees, feature=np.array([1, 0, 2, 3, -1])[trees.feature])
    rows[:, 1] = rows[:, 0]
    values = [tree_values(one, rows[:6], rows[6:], np.arange(4)) for one in (trees, swapped)]
    both = values[0] + values[1]
    np.testing.assert_allclose(both[:, 0], both[:, 1], rtol=0, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_random_trees_with_joint_players_are_exact(seed: int) -> None:
    trees, rows, players = random_trees(seed), random_rows(seed, 10), np.array([0, 1, 1, 2])
    expected = brute_force(coalitions(trees, rows[:5], rows[5:], players))
    np.testing.assert_allclose(tree_values(trees, rows[:5], rows[5:], players), expected, rtol=0, atol=1e-12)
