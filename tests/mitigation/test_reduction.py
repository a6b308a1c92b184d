"""Reduction with several groups, two rates, weights and numbers: what it promises, by brute force and Fairlearn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from isonomia.mitigation import Reduce
from isonomia.mitigation.training.prices import _next, _shrunk


def applicants(n: int = 3000, groups: int = 3) -> tuple[Any, Any, Any]:
    """Features, outcomes and groups with different rates; the features tell something of the group."""
    rng = np.random.default_rng(8)
    group = rng.integers(0, groups, n)
    X = np.column_stack([rng.normal(size=(n, 3)), np.eye(groups)[group] + 0.3 * rng.normal(size=(n, groups))])
    y = X[:, :3].sum(axis=1) + 2.4 * group / (groups - 1) + rng.normal(size=n)
    return X, (y > np.median(y)).astype(int), group


def largest_gap(said: Any, y: Any, group: Any, goal: str, weights: Any = None) -> float:
    """Independently of the code: the largest difference of the goal's rates between two groups."""
    masks = {
        "demographic_parity": [y >= 0],
        "equalized_odds": [y == 0, y == 1],
        "equal_opportunity": [y == 1],
        "predictive_equality": [y == 0],
    }[goal]
    w = np.ones(len(y)) if weights is None else weights
    return max(
        float(np.ptp([np.average(said[m & (group == g)], weights=w[m & (group == g)]) for g in np.unique(group)]))
        for m in masks
    )


@pytest.mark.parametrize("goal", ["demographic_parity", "equalized_odds", "equal_opportunity", "predictive_equality"])
@pytest.mark.parametrize("groups", [2, 4])
def test_every_rate_and_number_of_groups_in_a_handful_of_fits(goal: Any, groups: int) -> None:
    X, y, group = applicants(groups=groups)
    plain = LogisticRegression().fit(X, y).predict(X)
    fair = Reduce(LogisticRegression(), goal=goal, eps=0.04).fit(X, y, sensitive_features=group)
    said = fair.predict(X)
    assert largest_gap(plain, y, group, goal) > 0.06
    assert largest_gap(said, y, group, goal) <= 0.04
    assert fair.gap_ == pytest.approx(largest_gap(said, y, group, goal))
    assert fair.error_ == pytest.approx((said != y).mean())
    assert fair.solver_ == "price"
    assert fair.fits_ <= 25


@pytest.mark.parametrize("goal", ["demographic_parity", "equalized_odds"])
def test_several_groups_cost_no_more_than_fairlearns_mixture(goal: Any) -> None:
    pytest.importorskip("fairlearn.reductions")
    X, y, group = applicants(2000)
    ours = Reduce(LogisticRegression(), goal=goal, eps=0.05).fit(X, y, sensitive_features=group)
    theirs = Reduce(LogisticRegression(), goal=goal, eps=0.05, solver="exponentiated_gradient", deterministic=False)
    theirs.fit(X, y, sensitive_features=group)
    assert ours.gap_ <= 0.05
    assert ours.error_ < theirs.error_ + 0.005
    assert ours.fits_ < 25


def test_weights_count_like_repeated_rows() -> None:
    X, y, group = applicants(1500)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    fair = Reduce(LogisticRegression(C=1e6), eps=0.03).fit(X, y, sensitive_features=group, sample_weight=times * 2.5)
    assert largest_gap(fair.predict(X), y, group, "demographic_parity", times) <= 0.03
    again = Reduce(LogisticRegression(C=1e6), eps=0.03).fit(X[rows], y[rows], sensitive_features=group[rows])
    assert fair.error_ == pytest.approx(again.error_, abs=0.003), "errors count by weight too"
    assert (fair.predict(X) == again.predict(X)).mean() > 0.98


@pytest.mark.parametrize(
    ("solver", "goal"), [("exponentiated_gradient", "equalized_odds"), ("grid", "demographic_parity")]
)
def test_fairlearns_searches_take_weights(solver: Any, goal: Any) -> None:
    """A tree trained with weights is the tree of repeated rows, so that Fairlearn has to end at the same mixture."""
    pytest.importorskip("fairlearn.reductions")
    X, y, group = applicants(300, groups=2)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    options: dict[str, Any] = {"goal": goal, "solver": solver, "deterministic": False, "eps": 0.1, "rounds": 5}
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    weighted = Reduce(tree, **options).fit(X, y, sensitive_features=group, sample_weight=times.astype(float))
    repeated = Reduce(tree, **options).fit(X[rows], y[rows], sensitive_features=group[rows])
    assert weighted.gap_ == pytest.approx(repeated.gap_, abs=1e-6)
    assert weighted.error_ == pytest.approx(repeated.error_, abs=1e-6)
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-6)
    plain = Reduce(tree, **options).fit(X, y, sensitive_features=group)
    assert np.abs(plain.predict_proba(X) - weighted.predict_proba(X)).max() > 1e-3, "the weights matter"


def test_sparse_features_give_the_same() -> None:
    X, y, group = applicants(1200)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    options: dict[str, Any] = {"goal": "equal_opportunity", "eps": 0.04}
    dense, sparse = (
        Reduce(LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000), **options).fit(
            rows, y, sensitive_features=group
        )
        for rows in (X, csr_matrix(X))
    )
    assert sparse.gap_ <= 0.04
    assert sparse.error_ == pytest.approx(dense.error_, abs=0.002)


def pay(n: int = 2000, groups: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(4)
    group = rng.choice(groups, n, p=[0.6, 0.3, 0.1])
    X = np.column_stack([rng.normal(size=(n, 2)) + 0.5 * group[:, None], rng.normal(size=n)])
    return X, 10 + X.sum(axis=1) + group + rng.normal(size=n), group


def test_equal_means_are_the_least_squares_under_the_constraint() -> None:
    """Against scipy: the coefficients that minimise squared error with group means within the limit."""
    X, y, group = pay()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    fair = Reduce(LinearRegression(), eps=0.2).fit(X, y, sensitive_features=group, sample_weight=weights)
    D = np.column_stack([X, np.ones(len(y))])
    means = np.stack([np.average(D[group == g], axis=0, weights=weights[group == g]) for g in range(3)])
    pairs = np.stack([means[a] - means[b] for a, b in ((0, 1), (0, 2), (1, 2))])
    limits = LinearConstraint(pairs, -0.2, 0.2)

    def loss(b: Any) -> Any:
        return np.average((D @ b - y) ** 2, weights=weights)

    start = np.linalg.lstsq(D, y, rcond=None)[0]
    best = minimize(loss, start, method="SLSQP", constraints=limits, options={"ftol": 1e-12})
    assert np.ptp(means @ start) > 1.5
    assert fair.gap_ <= 0.2
    assert fair.error_ == pytest.approx(best.fun, rel=0.001)
    assert fair.fits_ <= 10


@pytest.mark.parametrize(
    "model",
    [Ridge(), make_pipeline(StandardScaler(), LinearRegression()), DecisionTreeRegressor(max_depth=5, random_state=0)],
)
def test_means_of_any_regression_within_the_limit(model: Any) -> None:
    X, y, group = pay()
    fair = Reduce(model, eps=0.3).fit(X, y, sensitive_features=group)
    said = fair.predict(X)
    assert np.ptp([said[group == g].mean() for g in range(3)]) <= 0.3
    assert fair.gap_ == pytest.approx(np.ptp([said[group == g].mean() for g in range(3)]))
    free = Reduce(model, eps=100.0).fit(X, y, sensitive_features=group)
    assert free.fits_ == 1
    assert free.error_ < fair.error_
    near = Reduce(KNeighborsRegressor(), eps=0.3).fit(X, y, sensitive_features=group)
    assert near.gap_ <= 0.3, "shifted targets need no weights"


def test_bounded_losses_are_kept_and_cheap() -> None:
    """The largest error falls to the bound; a bound that all keep changes nothing; an impossible one is missed."""
    rng = np.random.default_rng(2)
    few = (np.arange(2000) < 300).astype(int)
    X = rng.normal(size=(2000, 2))
    y = np.where(few == 1, X[:, 1], X[:, 0]) + 0.3 * rng.normal(size=2000)
    plain = LinearRegression().fit(X, y).predict(X)
    losses = [float(np.mean((plain - y)[few == g] ** 2)) for g in (0, 1)]
    assert losses[1] > 1.3
    fair = Reduce(LinearRegression(), goal="bounded_loss", eps=1.0).fit(X, y, sensitive_features=few)
    said = fair.predict(X)
    assert max(np.mean((said - y)[few == g] ** 2) for g in (0, 1)) == pytest.approx(fair.gap_)
    assert 0.9 < fair.gap_ <= 1.0
    # by brute force over the weight of the small group
    found = []
    for weight in np.linspace(1, 12, 100):
        one = LinearRegression().fit(X, y, sample_weight=np.where(few, weight, 1.0)).predict(X)
        if np.mean((one - y)[few == 1] ** 2) <= 1.0:
            found.append(float(np.mean((one - y) ** 2)))
    assert fair.error_ < min(found) * 1.01
    assert fair.fits_ < 20
    free = Reduce(LinearRegression(), goal="bounded_loss", eps=5.0).fit(X, y, sensitive_features=few)
    assert free.predict(X) == pytest.approx(plain)
    impossible = Reduce(LinearRegression(), goal="bounded_loss", eps=0.01).fit(X, y, sensitive_features=few)
    assert 0.01 < impossible.gap_ < losses[1]


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=6),
    st.floats(0.01, 3),
)
def test_shrunk_prices_are_the_nearest_that_sum_to_0(z: list[float], by: float) -> None:
    """No small change that keeps the sum lowers |q - z|^2 / 2 + by |q|_1."""
    q = _shrunk(np.array([z]), by)[0]
    assert abs(q.sum()) < 1e-9

    def value(at: Any) -> float:
        return float(((at - np.array(z)) ** 2).sum() / 2 + by * np.abs(at).sum())

    for a in range(len(z)):
        for b in range(len(z)):
            moved = q.copy()
            moved[a] += 1e-4
            moved[b] -= 1e-4
            assert value(moved) >= value(q) - 1e-9


def test_a_step_is_the_maximum_of_its_model() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    K, prices, figures = A @ A.T + np.eye(6), np.zeros((2, 3)), rng.random((2, 3))
    q = _next(prices, figures, K, 0.3)
    assert np.abs(q.sum(axis=1)).max() < 1e-8

    def value(at: Any) -> float:
        d = at.ravel()
        return float(figures.ravel() @ d - d @ K @ d / 2 - 0.15 * np.abs(d).sum())

    for _ in range(200):
        change = rng.normal(size=(2, 3)) * 1e-3
        change -= change.mean(axis=1, keepdims=True)
        assert value(q + change) <= value(q) + 1e-9
